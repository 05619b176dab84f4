//! Tests of a sender and a receiver on a link that loses frames and control sets at random.

use super::receiver::tests::answer;
use super::tests::{FRAME, config, control, number};
use super::*;
use crate::time::{Duration, Instant};
use alloc::vec::Vec;
use proptest::prelude::*;

/// A link between a sender and a receiver that loses frames and control sets at its caller's choice, and reorders none.
struct Link {
    sender: Sender,
    receiver: Receiver,
    now: Instant,
    kept: Vec<u32>,
    offered: u32,
    delivered: Vec<u32>,
}

impl Link {
    /// Lets the line carry one frame, or the timer end. Then one control set goes each way.
    fn step(&mut self, lost: [bool; 3], bad: bool) {
        self.now += Duration::from_us(1);
        let waiting = FRAME;
        match self.sender.poll_transmit(self.now, waiting) {
            Some(Transmit::Numbered(number)) => {
                self.kept.push(self.offered);
                self.arrive(Some(number), self.offered, lost[0], bad);
                self.offered += 1;
            }
            Some(Transmit::Replay(number)) => {
                let frame = self.kept[number.steps_after(self.sender.oldest()) as usize];
                self.arrive(Some(number), frame, lost[0], bad);
            }
            Some(Transmit::Unnumbered) => {
                self.arrive(None, self.offered, lost[0], bad);
                self.offered += 1;
            }
            Some(Transmit::Discard) => self.offered += 1,
            None => self.sender.handle_timeout(self.now),
        }
        if let Some(set) = answer(&mut self.receiver, self.now).filter(|_| !lost[1]) {
            self.sender.handle_control(self.now, set);
        }
        if let Some(set) = control(&mut self.sender, self.now).filter(|_| !lost[2]) {
            self.receiver.handle_control(self.now, set);
        }
        let freed = self.sender.poll_release();
        self.kept.drain(..freed as usize);
    }

    fn arrive(&mut self, number: Option<Number>, frame: u32, lost: bool, bad: bool) {
        if lost && !bad {
            return;
        }
        let condition = if lost { Condition::Bad } else { Condition::Good };
        if self.receiver.handle_frame(self.now, number, condition) == Verdict::Forward {
            self.delivered.push(frame);
        }
    }
}

proptest! {
    /// Whichever frames are lost, none is reordered or doubled, and the driver is told to free
    /// exactly the frames that it keeps.
    // LLR-5, LLR-11, LLR-15, LLR-16
    #[test]
    fn order_is_kept_whatever_is_lost(
        script in proptest::collection::vec((any::<[bool; 3]>(), any::<bool>()), 0..600),
        replay_count_max in prop::sample::select(alloc::vec![1u8, 2, 255]),
        start in prop::sample::select(alloc::vec![0u32, (1 << 20) - 20, (1 << 19) - 20]),
    ) {
        let init = Init { number: number(start), data: 0 };
        let mut link = Link {
            sender: Sender::established(SenderConfig { replay_count_max, ..config() }, init),
            receiver: Receiver::established(init),
            now: Instant::ZERO,
            kept: Vec::new(),
            offered: 0,
            delivered: Vec::new(),
        };
        for (lost, bad) in script {
            link.step(lost, bad);
            prop_assert_eq!(link.kept.len() as u32, link.sender.outstanding_frames());
        }
        prop_assert!(link.delivered.is_sorted_by(|a, b| a < b));
    }
}
