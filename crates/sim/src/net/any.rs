//! Any of the links: chosen when a run starts, and switched on and off while traffic runs.
//!
//! This file is the one list of the families in the simulator: who they are, and how each is built.

use super::blueprint::{Blueprint, Losses, clean};
use super::{
    Advice, FecLink, FecModelLink, Frame, FrameQueue, GivesUp, Handover, Latency, LinkGuardianLink, LlrLink,
    PlainLink, ProtectedLink, Report, Tap, Traffic,
};
use crate::ConfigError;
use crate::kernel::Pipe;
use lossylink_core::loss::LossProcess;
use lossylink_core::protection::Protection;
use lossylink_core::rng::Streams;
use lossylink_core::time::Instant;

/// A link under one of the protections.
#[derive(Clone, Debug)]
pub struct AnyLink<P: Copy + Default> {
    line: Line<P>,
    /// What it takes to switch the protection on again; only on a link that was built waiting.
    standby: Option<Box<Standby<P>>>,
}

/// The families.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "one a world, and looked at for every frame")]
enum Line<P: Copy + Default> {
    Plain(PlainLink<P>),
    LinkGuardian(LinkGuardianLink<P>),
    Fec(FecLink<P>),
    FecModel(FecModelLink<P>),
    Llr(LlrLink<P>),
}

/// Calls the same method on whichever link it is.
macro_rules! each {
    ($line:expr, $link:ident => $call:expr) => {
        match $line {
            Line::Plain($link) => $call,
            Line::LinkGuardian($link) => $call,
            Line::Fec($link) => $call,
            Line::FecModel($link) => $call,
            Line::Llr($link) => $call,
        }
    };
}

/// Builds the link that the blueprint's protection asks for.
fn build<P: Copy + Default>(
    plan: &Blueprint,
    losses: Losses,
    streams: &Streams,
) -> Result<Line<P>, ConfigError> {
    Ok(match &plan.protection {
        Protection::None => Line::Plain(PlainLink::new(plan.direct(), losses.0, losses.1)),
        Protection::LinkGuardian(options) => {
            Line::LinkGuardian(LinkGuardianLink::on(plan, options, losses, streams))
        }
        Protection::Fec(options) => Line::Fec(FecLink::on(plan, options, losses)?),
        Protection::FecModel(options) => Line::FecModel(FecModelLink::on(plan, options, losses)?),
        Protection::Llr(options) => Line::Llr(LlrLink::on(plan, options, losses)?),
    })
}

#[derive(Clone, Debug)]
struct Standby<P> {
    plan: Blueprint,
    streams: Streams,
    tap: Tap<P>,
    /// What earlier turns of the protection did, if it was on before.
    earlier: Option<Report>,
}

/// Something that is done with a link, compiled anew for each kind of it.
pub trait Visit<P: Copy + Default> {
    /// What comes of it.
    type Output;

    /// Does it.
    fn visit(self, link: &mut impl ProtectedLink<P>) -> Self::Output;
}

impl<P: Copy + Default> AnyLink<P> {
    /// The link of `plan` with these losses; `streams` are its random streams.
    ///
    /// # Errors
    /// If the protection does not go with the link: one line that says why, and the mend.
    pub fn new(plan: &Blueprint, losses: Losses, streams: &Streams) -> Result<Self, ConfigError> {
        Ok(Self { line: build(plan, losses, streams)?, standby: None })
    }

    /// The link of `plan` without losses and without its protection.
    pub fn bare(plan: &Blueprint, streams: &Streams) -> Self {
        let (forward, reverse) = clean(streams);
        PlainLink::new(plan.direct(), forward, reverse).into()
    }

    /// The link of `plan` without losses; its protection waits to be switched on.
    ///
    /// # Errors
    /// As [`AnyLink::new`].
    pub fn waiting(plan: &Blueprint, streams: &Streams) -> Result<Self, ConfigError> {
        let standby = Standby { plan: plan.clone(), streams: *streams, tap: Tap::default(), earlier: None };
        let line = build(plan, clean(streams), streams)?;
        let mut link = Self { line, standby: Some(Box::new(standby)) };
        assert!(link.leave(Instant::ZERO), "a link that has carried nothing has nothing to finish");
        if let Some(standby) = &mut link.standby {
            standby.earlier = None;
        }
        Ok(link)
    }

    /// Puts an unprotected link in the place of one that hands over, and keeps what that one did.
    fn become_plain(&mut self, now: Instant) {
        let Some(from) = each!(&self.line, link => link.hand_over()) else { return };
        let Some(standby) = &mut self.standby else { return };
        let report = each!(&mut self.line, link => link.report(now));
        standby.earlier = Some(match standby.earlier.take() {
            Some(earlier) => report.after(&earlier),
            None => report,
        });
        let (forward, reverse) = clean(&standby.streams);
        let mut plain = PlainLink::new(standby.plan.direct(), forward, reverse);
        plain.take_over(now, from);
        plain.set_tap(standby.tap.clone());
        self.line = Line::Plain(plain);
    }

    /// Does `visit` with the link as what it is, so that nothing in it asks again what link it is.
    pub fn visit<V: Visit<P>>(&mut self, visit: V) -> V::Output {
        each!(&mut self.line, link => visit.visit(link))
    }
}

impl<P: Copy + Default> From<PlainLink<P>> for AnyLink<P> {
    fn from(link: PlainLink<P>) -> Self {
        Self { line: Line::Plain(link), standby: None }
    }
}

impl<P: Copy + Default> From<LinkGuardianLink<P>> for AnyLink<P> {
    fn from(link: LinkGuardianLink<P>) -> Self {
        Self { line: Line::LinkGuardian(link), standby: None }
    }
}

impl<P: Copy + Default> ProtectedLink<P> for AnyLink<P> {
    #[inline]
    fn offer(&mut self, now: Instant, frame: Frame<P>) {
        each!(&mut self.line, link => link.offer(now, frame));
    }

    #[inline]
    fn offer_back(&mut self, now: Instant, frame: Frame<P>) {
        each!(&mut self.line, link => link.offer_back(now, frame));
    }

    #[inline]
    fn poll_timeout(&self) -> Instant {
        each!(&self.line, link => link.poll_timeout())
    }

    #[inline]
    fn advance(&mut self, until: Instant) {
        each!(&mut self.line, link => link.advance(until));
    }

    fn run(&mut self, until: Instant, forward: &mut Pipe<Frame<P>>, backward: &mut Pipe<Frame<P>>) {
        each!(&mut self.line, link => link.run(until, forward, backward));
    }

    #[inline]
    fn delivered(&mut self) -> &mut Pipe<Frame<P>> {
        each!(&mut self.line, link => link.delivered())
    }

    #[inline]
    fn returned(&mut self) -> &mut Pipe<Frame<P>> {
        each!(&mut self.line, link => link.returned())
    }

    #[inline]
    fn backlog(&self) -> usize {
        each!(&self.line, link => link.backlog())
    }

    fn waiting_bytes(&self) -> u64 {
        each!(&self.line, link => link.waiting_bytes())
    }

    #[inline]
    fn traffic(&self) -> &Traffic {
        each!(&self.line, link => link.traffic())
    }

    fn queue(&self) -> &FrameQueue<P> {
        each!(&self.line, link => link.queue())
    }

    fn queue_mut(&mut self) -> &mut FrameQueue<P> {
        each!(&mut self.line, link => link.queue_mut())
    }

    fn set_loss(&mut self, loss: LossProcess) {
        each!(&mut self.line, link => link.set_loss(loss));
    }

    fn losses_mut(&mut self) -> (&mut LossProcess, &mut LossProcess) {
        each!(&mut self.line, link => link.losses_mut())
    }

    fn gives_up(&self) -> GivesUp {
        each!(&self.line, link => link.gives_up())
    }

    fn set_tap(&mut self, tap: Tap<P>) {
        if let Some(standby) = &mut self.standby {
            standby.tap = tap.clone();
        }
        each!(&mut self.line, link => link.set_tap(tap));
    }

    /// A link that handed over to an unprotected one when its protection left is built anew, and takes
    /// over from that one in turn.
    fn protect(&mut self, now: Instant, advice: Advice) {
        if let (Line::Plain(plain), Some(standby)) = (&self.line, &self.standby) {
            let from = plain.hand_over().expect("an unprotected link gives all that it has");
            let mut line = build(&standby.plan, clean(&standby.streams), &standby.streams)
                .expect("it has been built before");
            each!(&mut line, link => {
                link.take_over(now, from);
                link.set_tap(standby.tap.clone());
            });
            self.line = line;
        }
        each!(&mut self.line, link => link.protect(now, advice));
    }

    fn leave(&mut self, now: Instant) -> bool {
        let has_left = each!(&mut self.line, link => link.leave(now));
        if has_left && !matches!(self.line, Line::Plain(_)) {
            self.become_plain(now);
        }
        has_left
    }

    fn hand_over(&self) -> Option<Handover<P>> {
        each!(&self.line, link => link.hand_over())
    }

    fn take_over(&mut self, now: Instant, from: Handover<P>) {
        each!(&mut self.line, link => link.take_over(now, from));
    }

    fn buffer_bytes(&mut self, now: Instant) -> (u64, u64) {
        each!(&mut self.line, link => link.buffer_bytes(now))
    }

    fn take_rx_high_water(&mut self, now: Instant) -> u64 {
        each!(&mut self.line, link => link.take_rx_high_water(now))
    }

    fn burst_frames(&self) -> usize {
        each!(&self.line, link => link.burst_frames())
    }

    fn skip_clean(&mut self, frames: u64, octets: u32) -> bool {
        each!(&mut self.line, link => link.skip_clean(frames, octets))
    }

    fn latency(&self) -> Option<&Latency> {
        each!(&self.line, link => link.latency())
    }

    fn report(&mut self, now: Instant) -> Report {
        let report = each!(&mut self.line, link => link.report(now));
        match self.standby.as_ref().and_then(|standby| standby.earlier.as_ref()) {
            Some(earlier) => report.after(earlier),
            None => report,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::switch_profile;
    use crate::net::{Ecn, LineRate};
    use lossylink_core::engine::llr::FrameAction;
    use lossylink_core::loss::LossModel;
    use lossylink_core::protection::{Fec, FecModel, LinkGuardian, Llr};
    use lossylink_core::time::Duration;
    use lossylink_core::units::BitRate;
    use std::sync::Arc;

    const ONE_COPY: Advice = Advice { copies: 1 };

    fn plan(protection: Protection) -> Blueprint {
        Blueprint {
            switch: Arc::new(switch_profile("tofino1")),
            rate: LineRate::new(BitRate::from_gbps(100)),
            propagation: Duration::ZERO,
            loss_rate: 1e-3,
            frame_octets: 1538,
            protection,
            is_switched: false,
        }
    }

    fn guarded(ordered: bool) -> Protection {
        let mode = if ordered { LinkGuardian::ORDERED } else { LinkGuardian::NON_BLOCKING };
        Protection::LinkGuardian(mode)
    }

    /// A link that waits for its protection and loses the frames at these positions.
    fn waiting(protection: Protection, lost: &[u64]) -> AnyLink<u64> {
        let streams = Streams::new(1);
        let mut link = AnyLink::waiting(&plan(protection), &streams).unwrap();
        if !lost.is_empty() {
            let model = LossModel::at(lost.to_vec()).unwrap();
            link.set_loss(LossProcess::new(&model, streams.stream("loss")));
        }
        link
    }

    fn offer(link: &mut AnyLink<u64>, count: u64) {
        (0..count).for_each(|number| {
            link.offer(Instant::ZERO, Frame::of_frame_bytes(1514, Ecn::NotCapable, number));
        });
    }

    /// Lets everything under way arrive.
    fn drain(link: &mut AnyLink<u64>) -> Vec<(Instant, u64)> {
        while !link.poll_timeout().is_never() {
            link.advance(link.poll_timeout());
        }
        let delivered = link.delivered();
        std::iter::from_fn(|| delivered.pop()).map(|(at, frame)| (at, frame.payload)).collect()
    }

    /// Offers ten frames at once, protects the link while the fourth is in service, and lets all
    /// of them arrive.
    fn arrivals(lost: &[u64], ordered: bool) -> Vec<(Instant, u64)> {
        let mut link = waiting(guarded(ordered), lost);
        offer(&mut link, 10);
        let switch_on = Instant::from_ps(400_000);
        while link.poll_timeout() <= switch_on {
            link.advance(link.poll_timeout());
        }
        assert_eq!(link.backlog(), 6, "three frames have left and one is leaving");
        link.protect(switch_on, ONE_COPY);
        assert_eq!(link.backlog(), 6);
        drain(&mut link)
    }

    // LG-30
    #[test]
    fn frames_in_flight_and_in_the_queue_survive_the_change_of_protection() {
        for ordered in [true, false] {
            let arrivals = arrivals(&[], ordered);
            assert!(arrivals.iter().map(|&(_, number)| number).eq(0..10));
            // Full frames, then full frames with a header of three octets.
            for (pair, number) in arrivals.windows(2).zip(1..) {
                let octets = if number < 4 { 1538 } else { 1541 };
                assert_eq!(pair[1].0 - pair[0].0, Duration::from_ps(octets * 80), "frame {number}");
            }
        }
    }

    // LG-30
    #[test]
    fn only_what_is_lost_after_the_change_is_repaired() {
        // The second frame leaves before the change, the seventh after it.
        let numbers: Vec<_> = arrivals(&[1, 6], true).into_iter().map(|(_, number)| number).collect();
        assert_eq!(numbers, [0, 2, 3, 4, 5, 6, 7, 8, 9]);
    }

    /// When so many full frames with a header have left the link's near end.
    fn after(frames: u64) -> Instant {
        Instant::ZERO + Duration::from_ps(frames * 1541 * 80)
    }

    /// Protects a link to which ten frames are offered at once, takes the protection off as soon as
    /// it can leave after `frames` of them, and lets all arrive; also returns when it left.
    fn departures(lost: &[u64], frames: u64, ordered: bool) -> (Vec<(Instant, u64)>, Instant) {
        let mut link = waiting(guarded(ordered), lost);
        link.protect(Instant::ZERO, ONE_COPY);
        offer(&mut link, 10);
        let mut now = after(frames);
        link.advance(now - Duration::from_ps(1));
        while !link.leave(now) {
            now += Duration::from_ns(100);
            link.advance(now);
        }
        assert_eq!(link.backlog() as u64, 10 - frames);
        (drain(&mut link), now)
    }

    // LG-36: six frames leave with a header; then the sender waits for its dummies, no longer.
    #[test]
    fn protection_leaves_when_all_that_is_numbered_has_gone_on() {
        for ordered in [true, false] {
            let (arrivals, left_at) = departures(&[], 6, ordered);
            assert!(arrivals.iter().map(|&(_, number)| number).eq(0..10));
            assert!(left_at - after(6) < Duration::from_us(3), "left at {left_at}");
            let flight = Duration::from_ns(659);
            assert_eq!(arrivals[5].0, after(6) + flight);
            assert_eq!(arrivals[6].0, left_at + Duration::from_ps(1538 * 80) + flight);
        }
    }

    // LG-36: whether the loss is known when the protection is asked to leave (frame 1 of nine, since
    // 3 * 123.28 + 659 ns) or nobody knows of it yet, it is repaired first.
    #[test]
    fn protection_leaves_after_the_last_repair() {
        for (lost, frames) in [(1, 9), (5, 6)] {
            let (arrivals, _) = departures(&[lost], frames, true);
            assert!(arrivals.iter().map(|&(_, number)| number).eq(0..10), "{lost}: {arrivals:?}");
            let (arrivals, _) = departures(&[lost], frames, false);
            let mut numbers: Vec<_> = arrivals.into_iter().map(|(_, number)| number).collect();
            numbers.sort_unstable();
            assert!(numbers.into_iter().eq(0..10));
        }
    }

    // LG-36
    #[test]
    fn protection_that_is_wanted_again_stays() {
        let mut link = waiting(guarded(true), &[]);
        link.protect(Instant::ZERO, ONE_COPY);
        offer(&mut link, 3);
        assert!(!link.leave(Instant::ZERO));
        link.advance(Instant::ZERO + Duration::from_us(10));
        assert_eq!(link.backlog(), 2);
        link.protect(Instant::ZERO + Duration::from_us(10), ONE_COPY);
        link.advance(Instant::ZERO + Duration::from_us(20));
        assert_eq!((link.backlog(), link.delivered().len()), (0, 3));
    }

    // LG-30, LG-36, FEC-8
    #[test]
    fn every_protection_goes_on_and_off_and_on_and_reports_all_its_turns() {
        let families = [
            guarded(true),
            guarded(false),
            Protection::Fec(Fec::new(5, 2)),
            Protection::FecModel(FecModel::new(5, 2)),
            // Frames that come before both ends are ready would go unprotected.
            Protection::Llr(Llr { init: FrameAction::Block, ..Llr::default() }),
        ];
        for protection in families {
            let mut link = waiting(protection.clone(), &[]);
            let mut delivered = 0;
            for turn in 0..2 {
                let now = Instant::ZERO + Duration::from_ms(turn);
                // Of each turn the second of ten frames is lost.
                let model = LossModel::at(vec![1]).unwrap();
                link.set_loss(LossProcess::new(&model, Streams::new(1).stream("loss")));
                link.protect(now, ONE_COPY);
                (0..10).for_each(|number| {
                    link.offer(now, Frame::of_frame_bytes(1514, Ecn::NotCapable, number));
                });
                delivered += drain(&mut link).len();
                let mut later = now + Duration::from_us(500);
                link.advance(later);
                while !link.leave(later) {
                    later += Duration::from_us(1);
                    link.advance(later);
                }
                delivered += drain(&mut link).len();
            }
            assert_eq!(delivered, 20, "{protection}");
            let report = link.report(Instant::ZERO + Duration::from_ms(3));
            assert_eq!((report.recovered, report.given_up), (2, 0), "{protection}");
        }
    }

    #[test]
    fn the_number_of_copies_is_advised_unless_it_is_chosen() {
        for (chosen, copies) in [(None, 4), (Some(2), 2)] {
            let options = LinkGuardian { copies: chosen, ..LinkGuardian::ORDERED };
            let mut link = waiting(Protection::LinkGuardian(options), &[]);
            link.protect(Instant::ZERO, Advice { copies: 4 });
            assert_eq!(link.report(Instant::ZERO).count("copies"), Some(copies));
        }
    }
}
