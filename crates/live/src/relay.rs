//! How a real-time thread that never sleeps stays on time: it moves from processor to processor.
//!
//! The kernel stops real-time threads on a processor once they have used 95 % of a second of it
//! (`sched_rt_runtime_us`): 50 ms, five thousand full frames at 1 Gb/s. It counts each processor
//! apart. A thread that stays on none for long is never stopped, and whoever waits for a processor
//! gets every one of them in turn. Resting instead ([`crate::rest`]) costs 60 us at a time.

use lossylink_core::time::Duration;

/// Time awake on one processor before the next takes over: with two of them, each is used for at
/// most 0.8 s of any second.
const LEG: Duration = Duration::from_ms(400);

/// The processors that take turns, and for how long the present one has been at work.
#[derive(Clone, Debug)]
pub struct Relay {
    processors: Vec<usize>,
    present: usize,
    worked: Duration,
}

impl Relay {
    /// A relay over `processors`; `None` when there is nobody to take over.
    pub fn over(processors: Vec<usize>) -> Option<Self> {
        (processors.len() > 1).then_some(Self { processors, present: 0, worked: Duration::ZERO })
    }

    /// The processor on which the relay begins.
    pub fn first(&self) -> usize {
        self.processors[0]
    }

    /// The thread was awake for so long.
    pub fn worked(&mut self, span: Duration) {
        self.worked += span;
    }

    /// The processor to move to, when it is time.
    pub fn poll_move(&mut self) -> Option<usize> {
        if self.worked < LEG {
            return None;
        }
        self.worked = Duration::ZERO;
        self.present = (self.present + 1) % self.processors.len();
        Some(self.processors[self.present])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_processor_has_nobody_to_take_over() {
        assert!(Relay::over(vec![3]).is_none());
    }

    #[test]
    fn no_processor_is_used_for_most_of_a_second() {
        let step = Duration::from_ms(10);
        let mut relay = Relay::over(vec![2, 5]).unwrap();
        let mut present = relay.first();
        let mut used = Vec::new();
        for _ in 0..500 {
            relay.worked(step);
            used.push(present);
            present = relay.poll_move().unwrap_or(present);
        }
        for second in used.windows(100) {
            let share = second.iter().filter(|processor| **processor == 2).count();
            assert!((20..=80).contains(&share), "{share} %");
        }
    }
}
