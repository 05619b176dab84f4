//! How evenly flows share a link.

/// Jain's fairness index: one for equal shares, 1 / n if one of n takes all (Jain, Chiu, Hawe, 1984).
pub(super) fn jain(shares: impl Iterator<Item = u64>) -> f64 {
    let (mut count, mut sum, mut squares) = (0.0, 0.0, 0.0);
    for share in shares.map(|share| share as f64) {
        count += 1.0;
        sum += share;
        squares += share * share;
    }
    if squares == 0.0 { 1.0 } else { sum * sum / (count * squares) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_shares_are_fair_and_one_taker_of_four_is_a_quarter() {
        assert_eq!(jain([7, 7, 7].into_iter()), 1.0);
        assert_eq!(jain([0, 0, 5, 0].into_iter()), 0.25);
        assert_eq!(jain([0, 0].into_iter()), 1.0, "who gets nothing shares nothing unevenly");
    }
}
