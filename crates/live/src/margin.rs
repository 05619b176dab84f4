//! The time before a deadline at which the loop stops sleeping: as long as wake-ups were late recently.

use lossylink_core::time::Duration;

/// The longest margin. Beyond it a wake-up was late because another process had the processor: spinning would
/// not have helped, and a longer margin at the next wake-ups does not make up for it.
const LONGEST: Duration = Duration::from_us(300);
/// The divisor that gives the part of the margin that is forgotten at each wake-up: half of the margin is
/// forgotten in 180 wake-ups.
const FORGOTTEN: u64 = 256;

/// The margin in front of a deadline.
#[derive(Clone, Copy, Debug)]
pub struct Margin {
    least: Duration,
    late: Duration,
}

impl Margin {
    /// Begins with a margin of `least`, which is also the least. A margin of zero stays zero: such a loop
    /// gives punctuality up for its processor.
    pub fn new(least: Duration) -> Self {
        Self { least, late: least }
    }

    /// Returns how long before a deadline to be awake.
    pub fn ahead(&self) -> Duration {
        self.late
    }

    /// Takes the lateness of a timed sleep: it ended `by` after its time.
    pub fn woke_late(&mut self, by: Duration) {
        if self.least == Duration::ZERO {
            return;
        }
        // A quarter more than the latest wake-up: the latest of hundreds is not the latest of all.
        let wanted = (by + by / 4).min(LONGEST);
        self.late = (self.late - self.late / FORGOTTEN).max(wanted).max(self.least);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEAST: Duration = Duration::from_us(60);

    #[test]
    fn a_late_wake_up_widens_the_margin_for_a_while() {
        let mut margin = Margin::new(LEAST);
        margin.woke_late(Duration::from_us(100));
        assert_eq!(margin.ahead(), Duration::from_us(125));
        (0..180).for_each(|_| margin.woke_late(Duration::ZERO));
        assert!(margin.ahead() > LEAST && margin.ahead() < Duration::from_us(63), "{}", margin.ahead());
        (0..180).for_each(|_| margin.woke_late(Duration::ZERO));
        assert_eq!(margin.ahead(), LEAST);
    }

    #[test]
    fn the_margin_is_bounded_and_none_stays_none() {
        let mut margin = Margin::new(LEAST);
        margin.woke_late(Duration::from_ms(20));
        assert_eq!(margin.ahead(), LONGEST);
        let mut none = Margin::new(Duration::ZERO);
        none.woke_late(Duration::from_us(50));
        assert_eq!(none.ahead(), Duration::ZERO);
    }
}
