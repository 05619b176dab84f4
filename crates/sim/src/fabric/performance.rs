//! The performance of a protection on a corrupting link: points at which the protection was tried, and values
//! between the points.

/// A point at which a protection was tried: a loss ratio, the loss that remained, and the rate of the link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// The loss ratio of the link.
    pub loss: f64,
    /// The loss ratio that remained behind the protection.
    pub effective_loss: f64,
    /// The rate that the link carried, in hundredths of Gb/s.
    pub carried: u32,
}

/// The values for a link whose loss ratio lies between two points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Between {
    /// The point whose loss ratio is the nearest, as in the published evaluation; the first of equally near
    /// points.
    Nearest,
    /// A power of the loss ratio for the loss that remains, and a line over the logarithm of the loss ratio for
    /// the rate that is carried. Beyond the first and the last point, the values are those of that point.
    Interpolated,
}

/// The points of a protection, and the rule for the values between them.
#[derive(Clone, Debug, PartialEq)]
pub struct Performance {
    points: Vec<Point>,
    between: Between,
}

impl Performance {
    /// Takes the `points` at which a protection was tried, which ascend in loss ratio.
    ///
    /// # Panics
    /// If there is no point.
    pub fn new(points: Vec<Point>, between: Between) -> Self {
        assert!(!points.is_empty(), "a protection was tried once at least");
        Self { points, between }
    }

    /// Returns the loss ratio that remains of `loss`, and the rate that the link carries, in hundredths of Gb/s.
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
        let share = libm::log(loss / low.loss) / libm::log(high.loss / low.loss);
        let carried = f64::from(low.carried) + share * (f64::from(high.carried) - f64::from(low.carried));
        let effective = low.effective_loss * libm::pow(high.effective_loss / low.effective_loss, share);
        (effective, carried.round() as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn point(loss: f64, effective_loss: f64, carried: u32) -> Point {
        Point { loss, effective_loss, carried }
    }

    /// The published points at 100G: the values change half way between two points.
    #[test]
    fn the_nearest_point_wins_and_the_first_of_two() {
        let points = vec![point(1.0, 0.1, 90), point(3.0, 0.3, 70)];
        let performance = Performance::new(points, Between::Nearest);
        assert_eq!(performance.at(1.9), (0.1, 90));
        assert_eq!(performance.at(2.0), (0.1, 90));
        assert_eq!(performance.at(2.1), (0.3, 70));
        assert_eq!(performance.at(9.0), (0.3, 70));
    }

    /// The loss that remains is the square of the loss at both points, so it is the square between them.
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
