//! How evenly flows share a link.

/// Returns Jain's fairness index: one for equal shares, 1 / n if one of n flows takes all (Jain, Chiu, Hawe, 1984).
/// `None` if there was nothing to share.
pub(super) fn jain(shares: impl Iterator<Item = u64>) -> Option<f64> {
    let (mut count, mut sum, mut squares) = (0.0, 0.0, 0.0);
    for share in shares.map(|share| share as f64) {
        count += 1.0;
        sum += share;
        squares += share * share;
    }
    (squares > 0.0).then(|| sum * sum / (count * squares))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_shares_are_fair_and_one_taker_of_four_is_a_quarter() {
        assert_eq!(jain([7, 7, 7].into_iter()), Some(1.0));
        assert_eq!(jain([0, 0, 5, 0].into_iter()), Some(0.25));
    }

    #[test]
    fn nothing_is_shared_neither_evenly_nor_unevenly() {
        assert_eq!(jain([0, 0].into_iter()), None);
        assert_eq!(jain(std::iter::empty()), None);
    }
}
