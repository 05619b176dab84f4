//! What a protection makes of a corrupting link: points at which it was tried, and the nearest of them.

/// A link that was tried under a protection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// The ratio that it lost.
    pub loss: f64,
    /// The ratio that remained.
    pub effective_loss: f64,
    /// What it carried, in hundredths of Gb/s.
    pub carried: u32,
}

/// The points of a protection, and what a link without corruption carries.
#[derive(Clone, Debug, PartialEq)]
pub struct Performance {
    full: u32,
    points: Vec<Point>,
}

impl Performance {
    /// A protection that was tried at `points` on links that carry `full` hundredths of Gb/s.
    ///
    /// # Panics
    /// If there is no point.
    pub fn new(full: u32, points: Vec<Point>) -> Self {
        assert!(!points.is_empty(), "a protection was tried once at least");
        Self { full, points }
    }

    /// What a link without corruption carries, in hundredths of Gb/s.
    pub const fn full(&self) -> u32 {
        self.full
    }

    /// The ratio that remains of `loss`, and what the link carries: those of the point whose loss is the least apart, as
    /// published; the first of equal ones.
    pub fn at(&self, loss: f64) -> (f64, u32) {
        let apart = |point: &&Point| (point.loss - loss).abs();
        let nearest = self.points.iter().min_by(|a, b| apart(a).total_cmp(&apart(b)));
        let nearest = nearest.expect("there is a point");
        (nearest.effective_loss, nearest.carried)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The published points at 100G change over half way between them.
    #[test]
    fn the_nearest_point_wins_and_the_first_of_two() {
        let point = |loss, effective_loss, carried| Point { loss, effective_loss, carried };
        let points = vec![point(1.0, 0.1, 90), point(3.0, 0.3, 70)];
        let performance = Performance::new(100, points);
        assert_eq!(performance.at(1.9), (0.1, 90));
        assert_eq!(performance.at(2.0), (0.1, 90));
        assert_eq!(performance.at(2.1), (0.3, 70));
        assert_eq!(performance.at(9.0), (0.3, 70));
    }
}
