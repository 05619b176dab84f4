//! The rules by which a queue marks frames as they leave: all frames behind a threshold, or more frames the deeper the queue is.

use crate::ConfigError;
use lossylink_core::probability::Probability;
use lossylink_core::rng::Stream;

/// Marking whose chance rises with the depth of the queue, as DCQCN wants it (RDMA-35). No frame is marked up to `from_bytes`.
/// From there the chance rises to `most` at `full_bytes`. Every frame beyond is marked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Red {
    /// Depth up to which no frame is marked, Kmin.
    pub from_bytes: u64,
    /// Depth beyond which every frame is marked, Kmax.
    pub full_bytes: u64,
    /// Chance of a mark at `full_bytes`, Pmax.
    pub most: f64,
}

impl Red {
    /// The marking of the published switch: 1250 and 3000 cells of 80 B, a chance of at most 0.2.
    pub const PUBLISHED: Self = Self { from_bytes: 100_000, full_bytes: 240_000, most: 0.2 };

    /// Builds marking that starts at `from_bytes` and reaches the chance `most` at `full_bytes`.
    ///
    /// # Errors
    /// If the depths are in the wrong order, or `most` is no chance.
    pub fn new(from_bytes: u64, full_bytes: u64, most: f64) -> Result<Self, ConfigError> {
        if from_bytes >= full_bytes {
            return Err(ConfigError(format!(
                "marking from {from_bytes} B on is not below {full_bytes} B, where all is marked; lower it"
            )));
        }
        if !(most > 0.0 && most <= 1.0) {
            return Err(ConfigError(format!(
                "the marking probability {most} is out of range; write a number above 0 and up to 1"
            )));
        }
        Ok(Self { from_bytes, full_bytes, most })
    }

    /// Returns the chance of a mark at a depth of the queue.
    pub fn chance(&self, depth_bytes: u64) -> f64 {
        if depth_bytes <= self.from_bytes {
            0.0
        } else if depth_bytes > self.full_bytes {
            1.0
        } else {
            let above = (depth_bytes - self.from_bytes) as f64;
            self.most * above / (self.full_bytes - self.from_bytes) as f64
        }
    }
}

/// The marking rule of a queue.
#[derive(Clone, Debug)]
pub struct Marker {
    rule: Rule,
}

#[derive(Clone, Debug)]
enum Rule {
    Threshold(u64),
    Red(Red, Stream),
}

impl Marker {
    /// Builds a rule that marks every frame that leaves at least `bytes` behind in the queue.
    pub const fn threshold(bytes: u64) -> Self {
        Self { rule: Rule::Threshold(bytes) }
    }

    /// Builds a rule that marks by `red`, and draws from the queue's own stream.
    pub const fn red(red: Red, rng: Stream) -> Self {
        Self { rule: Rule::Red(red, rng) }
    }

    /// Returns the depth from which frames are marked: no frame is marked that leaves fewer bytes behind in the queue.
    #[inline]
    pub const fn marks_from(&self) -> u64 {
        match &self.rule {
            Rule::Threshold(bytes) => *bytes,
            Rule::Red(red, _) => red.from_bytes,
        }
    }

    /// Whether a frame that leaves `depth_bytes` behind in the queue is marked.
    #[inline]
    pub fn marks(&mut self, depth_bytes: u64) -> bool {
        match &mut self.rule {
            Rule::Threshold(bytes) => depth_bytes >= *bytes,
            Rule::Red(red, rng) => {
                let chance = Probability::new(red.chance(depth_bytes)).unwrap_or(Probability::ALWAYS);
                !chance.is_never() && chance.draw(rng)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lossylink_core::rng::Streams;

    #[test]
    fn a_threshold_marks_from_itself_on() {
        let mut marker = Marker::threshold(100_000);
        assert!(!marker.marks(99_999));
        assert!(marker.marks(100_000));
    }

    // RDMA-35
    #[test]
    fn the_chance_rises_between_the_two_depths() {
        let red = Red::PUBLISHED;
        assert_eq!(red.chance(100_000), 0.0);
        assert!((red.chance(170_000) - 0.1).abs() < 1e-12);
        assert!((red.chance(240_000) - 0.2).abs() < 1e-12);
        assert_eq!(red.chance(240_001), 1.0);
    }

    #[test]
    fn depths_in_the_wrong_order_are_refused() {
        assert_eq!(Red::new(100_000, 240_000, 0.2).unwrap(), Red::PUBLISHED);
        assert!(Red::new(100_000, 100_000, 0.2).unwrap_err().to_string().contains("is not below 100000 B"));
        for most in [0.0, 1.1, f64::NAN] {
            assert!(Red::new(0, 1, most).unwrap_err().to_string().contains("out of range"));
        }
    }

    /// Of n draws with chance p, the marks lie within four standard deviations of n p.
    #[test]
    fn marks_come_as_often_as_they_should() {
        let n = 100_000;
        let mut marker = Marker::red(Red::PUBLISHED, Streams::new(1).stream("link/0/marking"));
        let mut count = |depth| (0..n).filter(|_| marker.marks(depth)).count() as f64;
        assert_eq!(count(100_000), 0.0);
        assert_eq!(count(300_000), f64::from(n));
        let (mean, variance) = (f64::from(n) * 0.1, f64::from(n) * 0.09);
        let marks = count(170_000);
        assert!((marks - mean).abs() < 4.0 * variance.sqrt(), "{marks} marks, expected {mean}");
    }
}
