//! Acknowledgements in congestion avoidance, each of which lets as many segments leave as it acknowledges. The last of
//! them alone leaves the state that all of them leave, but for the samples of the round trip.

use crate::kernel::Train;
use crate::transport::tcp::Sender;
use crate::transport::tcp::clock::Clock;
use crate::transport::tcp::congestion::Algorithm;
use crate::transport::tcp::scoreboard::Segment;

impl Sender {
    /// Returns how many acknowledgements of a [predicted](Self::is_predicted) train let as many segments leave as each of them
    /// acknowledges: the window is full, and neither grows nor meets another limit. (TCP-20, TCP-46)
    pub(super) fn constant_window_acks(&self, acks: Train) -> u32 {
        let outstanding = self.board.outstanding();
        if outstanding != self.window.size {
            return 0;
        }
        let (jiffies, hertz) = (self.clock.jiffies(), self.clock.hertz());
        let per_growth = self.congestion.segments_per_growth(&self.window, jiffies, hertz);
        // All acknowledged segments are outstanding now: segments that leave with the first acknowledgements are
        // acknowledged later.
        let by_window = self.window.segments_without_growth(per_growth).min(outstanding.saturating_sub(1));
        let by_flow = self.flow.leaves_in_full(by_window, outstanding, self.board.next());
        let by_flow = if acks.step == 1 { by_flow } else { by_flow / acks.step };
        self.clock.within_tick(acks).min(by_flow)
    }

    /// Takes these acknowledgements and sends the segments that they let leave. Returns the state of the last acknowledged
    /// segment. (TCP-9, TCP-20)
    pub(super) fn take_constant_window_acks(&mut self, acks: Train) -> Segment {
        self.enter(acks.last());
        self.note_even_round_trips(acks);
        let count = acks.count * acks.step;
        let latest = *self.board.get(self.board.una() + u64::from(count) - 1);
        self.board.exchange(acks, self.statistics.segments_delivered);
        self.window.note_without_growth(count);
        self.congestion.note_without_growth(count);
        self.statistics.note_delivered(u64::from(count), false);
        self.statistics.segments_sent += u64::from(count);
        self.bursts.note_sent(self.clock.micros());
        latest
    }

    /// Takes the round trips of these acknowledgements. (TCP-7)
    fn note_even_round_trips(&mut self, acks: Train) {
        let step = u64::from(acks.step);
        let (board, mut rtt) = (&self.board, self.rtt);
        let (mut number, mut at) = (board.una(), acks.first);
        let (mut sum_us, mut least_us, mut least_of_last_us) = (0, u64::MAX, u64::MAX);
        rtt.sample_train(acks.count, step, (board.una(), board.next()), || {
            let now_us = Clock::micros_at(at);
            let first_us = now_us - board.get(number).sent_us;
            if step > 1 {
                let last_us = now_us - board.get(number + step - 1).sent_us;
                least_of_last_us = least_of_last_us.min(last_us);
            }
            (number, at) = (number + step, at + acks.spacing);
            (sum_us, least_us) = (sum_us + first_us, least_us.min(first_us));
            first_us
        });
        self.rtt = rtt;
        let least_of_last_us = if step > 1 { least_of_last_us } else { least_us };
        self.statistics.note_round_trips(u64::from(acks.count), sum_us, least_us);
        if self.rtt.may_lower_minimum(least_of_last_us, &self.clock) {
            self.note_even_minima(acks);
        }
        // Past slow start an algorithm looks for the least round trip only.
        self.watch_round_trip(least_of_last_us);
    }

    fn note_even_minima(&mut self, acks: Train) {
        let mut last = self.board.una();
        for index in 0..acks.count {
            last += u64::from(acks.step);
            let now_us = Clock::micros_at(acks.nth(index));
            let last_us = now_us - self.board.get(last - 1).sent_us;
            self.rtt.note_minimum_at(now_us, last_us, &self.clock);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::tcp::config::Config;
    use crate::transport::tcp::congestion::CongestionControl;
    use crate::transport::tcp::packet::{Ack, Packet, SackBlocks};
    use lossylink_core::time::{Duration, Instant};
    use proptest::prelude::*;

    type Sent = Vec<(Instant, Packet)>;

    /// Returns a sender in congestion avoidance whose window of `window` segments is outstanding.
    fn sender(congestion_control: CongestionControl, bytes: Option<u64>, window: u32) -> (Sender, Sent) {
        let config = Config { congestion_control, ..Config::default() };
        let mut sender = Sender::new(&config, bytes, Duration::from_us(300));
        let now = Instant::from_ps(100_000_000);
        sender.resume(now, 50);
        (sender.window.size, sender.window.threshold) = (window, window);
        let mut sent = Sent::new();
        poll(&mut sender, now, &mut sent);
        (sender, sent)
    }

    fn poll(sender: &mut Sender, now: Instant, sent: &mut Sent) {
        while let Some(packet) = sender.poll_transmit(now) {
            sent.push((now, packet));
        }
    }

    const fn ack(next: u64) -> Packet {
        let sack = SackBlocks::NONE;
        Packet::Ack(Ack { next, sack, ecn_echo: false, ecn_capable: false, echo: 0 })
    }

    fn take_together(sender: &mut Sender, train: Train, sent: &mut Sent) -> u32 {
        let first = sender.board.una() + u64::from(train.step);
        let taken = sender.take_train(train, &ack(first), |train, mut packet| {
            for index in 0..train.count {
                sent.push((train.nth(index), packet));
                packet.advance(train.step);
            }
        });
        if taken > 0 {
            poll(sender, train.nth(taken - 1), sent);
        }
        taken
    }

    fn take_apart(sender: &mut Sender, train: Train, sent: &mut Sent) {
        for index in 0..train.count {
            let next = sender.board.una() + u64::from(train.step);
            sender.handle_packet(train.nth(index), &ack(next));
            poll(sender, train.nth(index), sent);
        }
    }

    proptest! {
        /// TCP-9, TCP-20, TCP-46
        #[test]
        fn acknowledgements_of_a_constant_window_equal_one_by_one(
            algorithm in prop::sample::select(vec![CongestionControl::Reno, CongestionControl::Cubic]),
            bytes in prop::option::of(100_000u64..2_000_000),
            window in 4u32..120,
            flights in prop::collection::vec((1u32..4, 0u64..3_000, 1u64..100, 1u32..100), 1..20),
        ) {
            let open = || sender(algorithm, bytes, window);
            let ((mut together, mut sent), (mut apart, mut sent_apart)) = (open(), open());
            let mut now = together.clock.now();
            for (step, spacing_ns, gap_us, most) in flights {
                let count = most.min(together.board.outstanding().saturating_sub(1) / step);
                let first = now + Duration::from_us(gap_us);
                let train = Train { first, spacing: Duration::from_ns(spacing_ns), count, step };
                if count > 0 {
                    let taken = take_together(&mut together, train, &mut sent);
                    if taken < count {
                        take_apart(&mut together, train.behind(taken), &mut sent);
                    }
                    take_apart(&mut apart, train, &mut sent_apart);
                    now = train.last();
                }
            }
            prop_assert_eq!(sent, sent_apart);
            prop_assert_eq!(format!("{together:?}"), format!("{apart:?}"));
        }
    }

    /// TCP-46: a window of ten grows with the tenth segment, whether they are acknowledged by ones or by twos.
    #[test]
    fn the_window_is_constant_until_it_grows_or_something_ends() {
        let acks = |bytes, train| sender(CongestionControl::Reno, bytes, 10).0.constant_window_acks(train);
        let train = |step, count| Train { count, step, ..Train::of_one(Instant::from_ps(150_000_000)) };
        assert_eq!([acks(None, train(1, 20)), acks(None, train(2, 20))], [9, 4]);
        assert_eq!(acks(None, train(1, 5)), 5, "the train ends");
        assert_eq!(acks(Some(16 * 1460), train(1, 20)), 5, "the last segment may be short");
        let spread = Train { spacing: Duration::from_us(50), ..train(1, 20) };
        assert_eq!(acks(None, spread), 3, "a tick comes at 300 us");
        assert_eq!(acks(Some(8 * 1460), train(1, 20)), 0, "the window is not full");
    }
}
