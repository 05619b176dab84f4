//! What a protection makes of a corrupting link: points at which it was tried, and what lies between them.

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

/// What is taken for a link whose loss lies between two points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Between {
    /// The point whose loss is the least apart, as in the published evaluation; the first of equal ones.
    Nearest,
    /// A power of the loss for what remains, a line over its logarithm for what is carried; the first and the last
    /// point beyond them.
    Interpolated,
}

/// The points of a protection.
#[derive(Clone, Debug, PartialEq)]
pub struct Performance {
    points: Vec<Point>,
    between: Between,
}

impl Performance {
    /// A protection that was tried at `points`, which ascend in loss.
    ///
    /// # Panics
    /// If there is no point.
    pub fn new(points: Vec<Point>, between: Between) -> Self {
        assert!(!points.is_empty(), "a protection was tried once at least");
        Self { points, between }
    }

    /// The ratio that remains of `loss`, and what the link carries.
    pub fn at(&self, loss: f64) -> (f64, u32) {
        match self.between {
            Between::Nearest => self.nearest(loss),
            Between::Interpolated => self.interpolated(loss),
        }
    }

    fn nearest(&self, loss: f64) -> (f64, u32) {
        let apart = |point: &&Point| (point.loss - loss).abs();
        let nearest = self.points.iter().min_by(|a, b| apart(a).total_cmp(&apart(b)));
        let nearest = nearest.expect("there is a point");
        (nearest.effective_loss, nearest.carried)
    }

    fn interpolated(&self, loss: f64) -> (f64, u32) {
        let above = self.points.partition_point(|point| point.loss <= loss);
        let at = |point: &Point| (point.effective_loss, point.carried);
        let (Some(low), Some(high)) =
            (above.checked_sub(1).map(|low| &self.points[low]), self.points.get(above))
        else {
            return at(&self.points[above.min(self.points.len() - 1)]);
        };
        let share = (loss / low.loss).ln() / (high.loss / low.loss).ln();
        let carried = f64::from(low.carried) + share * (f64::from(high.carried) - f64::from(low.carried));
        let effective = low.effective_loss * (high.effective_loss / low.effective_loss).powf(share);
        (effective, carried.round() as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn point(loss: f64, effective_loss: f64, carried: u32) -> Point {
        Point { loss, effective_loss, carried }
    }

    /// The published points at 100G change over half way between them.
    #[test]
    fn the_nearest_point_wins_and_the_first_of_two() {
        let points = vec![point(1.0, 0.1, 90), point(3.0, 0.3, 70)];
        let performance = Performance::new(points, Between::Nearest);
        assert_eq!(performance.at(1.9), (0.1, 90));
        assert_eq!(performance.at(2.0), (0.1, 90));
        assert_eq!(performance.at(2.1), (0.3, 70));
        assert_eq!(performance.at(9.0), (0.3, 70));
    }

    /// What remains is the square of the loss at both points, so it is the square between them.
    #[test]
    fn a_power_stays_a_power_between_two_points() {
        let points = vec![point(1e-4, 1e-8, 10_000), point(1e-2, 1e-4, 9_000)];
        let performance = Performance::new(points, Between::Interpolated);
        let (effective, carried) = performance.at(1e-3);
        assert!((effective / 1e-6 - 1.0).abs() < 1e-12, "{effective}");
        assert_eq!(carried, 9_500);
        assert_eq!(performance.at(1e-6), (1e-8, 10_000));
        assert_eq!(performance.at(1e-4), (1e-8, 10_000));
        assert_eq!(performance.at(0.5), (1e-4, 9_000));
    }
}
