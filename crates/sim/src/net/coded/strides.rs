//! Lets the sending end of a code run ahead of the receiving end, of which it hears nothing.

use super::{CodedLink, Coder};
use crate::net::Payload;
use crate::net::source::Source;
use lossylink_core::time::Instant;

#[expect(private_bounds, reason = "the two codes are what others see")]
impl<P: Payload, C: Coder<P>> CodedLink<P, C> {
    /// The sending end takes the frames that `source` has up to and including `until`, each at its time. Says when the last
    /// of what it did happened.
    #[inline]
    pub(super) fn take_near(&mut self, until: Instant, source: &mut impl Source<P>) -> Instant {
        let mut latest = Instant::ZERO;
        loop {
            let entry = source.poll_timeout(self.port.backlog());
            let sending = self.port.poll_timeout().min(self.coder.poll_flush());
            let next = if source.waits_for_room() { entry.min(sending) } else { entry };
            if next > until || next.is_never() {
                return latest;
            }
            latest = latest.max(next);
            self.run_near(latest);
            if entry <= latest {
                source.take(self.port.backlog(), |at, frame| self.enter(at.max(latest), frame));
            }
        }
    }

    /// The sending end does what is due up to and including `until`. It hears nothing of the receiving end, so that it may
    /// run ahead. Says when the last of it happened.
    #[inline]
    pub(super) fn run_near(&mut self, until: Instant) -> Instant {
        let mut latest = Instant::ZERO;
        loop {
            let flush = self.coder.poll_flush();
            latest = latest.max(self.port.serve(until.min(flush), &mut self.line));
            if flush > until || flush.is_never() {
                return latest;
            }
            self.flush(flush);
            latest = latest.max(flush);
        }
    }

    /// The receiving end does what is due up to and including `until`: takes what arrives, before its own timer. Says when
    /// the last of it happened.
    #[inline]
    pub(super) fn run_far(&mut self, until: Instant) -> Instant {
        let mut latest = Instant::ZERO;
        let Self { coder, line, exit, .. } = self;
        loop {
            let (arrival, timer) = (line.arrivals.poll_timeout(), coder.poll_timeout());
            let due = arrival.min(timer);
            if due > until || due.is_never() {
                return latest;
            }
            latest = due;
            if arrival == due {
                line.arrivals.take(|at, arrival| coder.receive(at, *arrival, exit));
            } else {
                coder.advance(due, exit);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::config::switch_profile;
    use crate::kernel::Trains;
    use crate::net::coded::EgressOptions;
    use crate::net::fec::{FecLink, FecOptions};
    use crate::net::fec_model::{FecModelLink, FecModelOptions};
    use crate::net::source::Saturated;
    use crate::net::source::filling::step_filling;
    use crate::net::{Ecn, Frame, LineRate, ProtectedLink};
    use lossylink_core::engine::fec::{Code, Release};
    use lossylink_core::loss::{LossModel, LossProcess};
    use lossylink_core::rng::Streams;
    use lossylink_core::time::{Duration, Instant};
    use lossylink_core::units::{BitRate, Bytes};
    use proptest::prelude::*;

    /// A block code of 5/2 on a link of 10 Gb/s that loses one frame in ten, behind a queue of some fifty frames.
    fn egress(data_first: bool) -> (Code, LineRate, EgressOptions) {
        let rate = LineRate::new(BitRate::from_gbps(10));
        (Code::new(5, 2).unwrap(), rate, EgressOptions { data_first, ..EgressOptions::default() })
    }

    fn losses(seed: u64) -> (LossProcess, LossProcess) {
        let streams = Streams::new(seed);
        // By the seed losses come for themselves, or in bursts that last some frames.
        let fades = LossModel::fades(Duration::from_us(27), Duration::from_us(3));
        let model = if seed.is_multiple_of(2) { LossModel::bernoulli(0.1) } else { fades }.unwrap();
        let loss = |name| LossProcess::new(&model, streams.stream(name));
        (loss("forward"), loss("back"))
    }

    fn engine(in_order: bool, data_first: bool, seed: u64) -> FecLink<u64> {
        let (code, rate, egress) = egress(data_first);
        let options = FecOptions::new(code, egress, rate, Bytes(80_000));
        let release = if in_order { Release::InOrder } else { Release::Eager };
        let options = FecOptions { release, decode: Duration::from_us(3), ..options };
        FecLink::new(&switch_profile("tofino1"), rate, Duration::ZERO, &options, losses(seed))
    }

    fn model(data_first: bool, seed: u64) -> FecModelLink<u64> {
        let (code, rate, egress) = egress(data_first);
        let flush = Some(Duration::from_us(20));
        let options = FecModelOptions { flush, egress, ..FecModelOptions::published(code) };
        FecModelLink::new(&switch_profile("tofino1"), rate, Duration::ZERO, &options, losses(seed))
    }

    /// All that has come out of the link, and what it tells about itself.
    fn seen(link: &mut impl ProtectedLink<u64>, now: Instant) -> String {
        let delivered: Vec<_> = std::iter::from_fn(|| link.delivered().pop()).collect();
        let returned: Vec<_> = std::iter::from_fn(|| link.returned().pop()).collect();
        let (timeout, waiting) = (link.poll_timeout(), link.waiting_bytes());
        let (report, traffic) = (link.report(now), *link.traffic());
        format!("{timeout:?} {waiting} {delivered:?} {returned:?} {report:?} {traffic:?}")
    }

    /// Runs one link in strides and the other event by event; what of the two differs.
    fn compare<L: ProtectedLink<u64>>(
        (mut ahead, mut stepped): (L, L),
        offers: &[(u64, u32, u8)],
        turn_ns: u64,
    ) -> Result<(), TestCaseError> {
        let (mut forward, mut backward) = (Trains::new(), Trains::new());
        let (mut at, mut until, mut last) = (Instant::ZERO, Instant::ZERO, Instant::ZERO);
        let step_to = |link: &mut L, until| {
            let mut last = Instant::ZERO;
            while link.poll_timeout() <= until {
                last = link.advance(link.poll_timeout());
            }
            last
        };
        for (number, &(wait, bytes, kind)) in (0..).zip(offers) {
            at += Duration::from_ns(if kind == 0 { 20 * wait } else { wait });
            while until < at {
                let latest = ahead.run(until, &mut forward, &mut backward);
                prop_assert_eq!(latest, last.max(step_to(&mut stepped, until)));
                prop_assert_eq!(seen(&mut ahead, until), seen(&mut stepped, until));
                (until, last) = (until + Duration::from_ns(turn_ns), Instant::ZERO);
            }
            let frame = Frame::of_frame_bytes(bytes, Ecn::NotCapable, number);
            last = last.max(step_to(&mut stepped, at)).max(at);
            if kind == 1 {
                backward.push(at, &frame);
                stepped.offer_back(at, frame);
            } else {
                forward.push(at, &frame);
                stepped.offer(at, frame);
            }
        }
        Ok(())
    }

    /// The same with a source that fills what room there is.
    fn compare_filled<L: ProtectedLink<u64>>(
        (mut ahead, mut stepped): (L, L),
        frame_bytes: u32,
        turns_ns: &[u64],
    ) -> Result<(), TestCaseError> {
        let source = Saturated { frame_bytes, offered: 0, packets: 300 };
        let (mut ahead_source, mut stepped_source) = (source, source);
        let mut until = Instant::ZERO;
        for &turn_ns in turns_ns {
            until += Duration::from_ns(turn_ns);
            let last = ahead.feed(until, &mut ahead_source).max(ahead.advance(until));
            prop_assert_eq!(last, step_filling(&mut stepped, &mut stepped_source, until));
            prop_assert_eq!(ahead_source.offered, stepped_source.offered);
            prop_assert_eq!(seen(&mut ahead, until), seen(&mut stepped, until));
        }
        Ok(())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn running_ahead_changes_nothing(
            offers in prop::collection::vec((0u64..2_000, 60u32..1515, 0u8..8), 1..200),
            turn_ns in 100u64..100_000,
            in_order: bool,
            data_first: bool,
            seed in 0u64..1000,
        ) {
            let engine = || engine(in_order, data_first, seed);
            compare((engine(), engine()), &offers, turn_ns)?;
            compare((model(data_first, seed), model(data_first, seed)), &offers, turn_ns)?;
        }

        #[test]
        fn a_source_that_fills_what_room_there_is_finds_it_as_it_comes(
            turns_ns in prop::collection::vec(100u64..50_000, 1..20),
            frame_bytes in 60u32..1515,
            in_order: bool,
            data_first: bool,
            seed in 0u64..1000,
        ) {
            let engine = || engine(in_order, data_first, seed);
            compare_filled((engine(), engine()), frame_bytes, &turns_ns)?;
            compare_filled((model(data_first, seed), model(data_first, seed)), frame_bytes, &turns_ns)?;
        }
    }
}
