//! Any of the links, chosen when a run starts.

use super::{
    FecLink, FecModelLink, Frame, FrameQueue, LinkGuardianLink, PlainLink, ProtectedLink, Tap, Traffic,
};
use crate::kernel::Pipe;
use crate::net::coded::{EgressCounters, Latency};
use lossylink_core::engine::fec::Code;
use lossylink_core::loss::LossProcess;
use lossylink_core::time::Instant;

/// A link under one of the protections.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "one a world, and looked at for every frame")]
pub enum AnyLink<P: Copy + Default> {
    /// No protection.
    Plain(PlainLink<P>),
    /// LinkGuardian, ordered or non-blocking.
    LinkGuardian(LinkGuardianLink<P>),
    /// Forward error correction.
    Fec(FecLink<P>),
    /// The switch model of forward error correction.
    FecModel(FecModelLink<P>),
}

/// Calls the same method on whichever link it is.
macro_rules! each {
    ($link:expr, $inner:ident => $call:expr) => {
        match $link {
            Self::Plain($inner) => $call,
            Self::LinkGuardian($inner) => $call,
            Self::Fec($inner) => $call,
            Self::FecModel($inner) => $call,
        }
    };
}

impl<P: Copy + Default> AnyLink<P> {
    /// Lets `tap` look at the wires; forward error correction shows nothing.
    #[must_use]
    pub fn tapped(self, tap: Tap<P>) -> Self {
        match self {
            Self::Plain(link) => Self::Plain(link.tapped(tap)),
            Self::LinkGuardian(link) => Self::LinkGuardian(link.tapped(tap)),
            other => other,
        }
    }

    /// Replaces the forward loss process.
    pub fn set_loss(&mut self, loss: LossProcess) {
        each!(self, link => link.set_loss(loss));
    }

    /// Puts LinkGuardian on a link without protection while traffic runs (LG-30).
    ///
    /// # Panics
    /// If the link has a protection already.
    pub fn protect(&mut self, guarded: LinkGuardianLink<P>) {
        let before = std::mem::replace(self, Self::LinkGuardian(guarded));
        match (self, before) {
            (Self::LinkGuardian(link), Self::Plain(plain)) => link.take_over(plain.hand_over()),
            _ => panic!("the link is protected already"),
        }
    }

    /// Takes LinkGuardian off while traffic runs: stops numbering frames, and lets `plain` take over
    /// if everything numbered has gone on; else the caller tries again (LG-36).
    ///
    /// # Panics
    /// If the link is under another protection, or none.
    pub fn unprotect(&mut self, now: Instant, plain: impl FnOnce() -> PlainLink<P>) -> bool {
        let guarded = self.as_linkguardian_mut().expect("LinkGuardian protects the link");
        guarded.set_leaving(true);
        let is_quiet = guarded.is_quiet();
        if is_quiet {
            let before = std::mem::replace(self, Self::Plain(plain()));
            if let (Self::Plain(link), Self::LinkGuardian(guarded)) = (self, before) {
                link.take_over(now, guarded.hand_over());
            }
        }
        is_quiet
    }

    /// Changes the code of forward error correction at the next block boundary (FEC-8); other
    /// links stay as they are. A code without parity leaves frames as they come (FEC-1).
    pub fn set_code(&mut self, code: Code) {
        match self {
            Self::Fec(link) => link.set_code(code),
            Self::FecModel(link) => link.set_code(code),
            Self::Plain(_) | Self::LinkGuardian(_) => {}
        }
    }

    /// The LinkGuardian link, to be changed, if it is one.
    pub const fn as_linkguardian_mut(&mut self) -> Option<&mut LinkGuardianLink<P>> {
        match self {
            Self::LinkGuardian(link) => Some(link),
            _ => None,
        }
    }

    /// The LinkGuardian link, if it is one.
    pub const fn as_linkguardian(&self) -> Option<&LinkGuardianLink<P>> {
        match self {
            Self::LinkGuardian(link) => Some(link),
            _ => None,
        }
    }

    /// The link with forward error correction, if it is one.
    pub const fn as_fec(&self) -> Option<&FecLink<P>> {
        match self {
            Self::Fec(link) => Some(link),
            _ => None,
        }
    }

    /// The switch model of forward error correction, if it is one.
    pub const fn as_fec_model(&self) -> Option<&FecModelLink<P>> {
        match self {
            Self::FecModel(link) => Some(link),
            _ => None,
        }
    }

    /// Latencies across a code, if the link has one.
    pub const fn code_latency(&self) -> Option<&Latency> {
        match self {
            Self::Fec(link) => Some(link.latency()),
            Self::FecModel(link) => Some(link.latency()),
            _ => None,
        }
    }

    /// What a code's queue and meter dropped; nothing without a code.
    pub fn egress(&self) -> EgressCounters {
        match self {
            Self::Fec(link) => link.egress_counters(),
            Self::FecModel(link) => link.egress_counters(),
            _ => EgressCounters::default(),
        }
    }

    /// The unprotected link, if it is one.
    pub const fn as_plain_mut(&mut self) -> Option<&mut PlainLink<P>> {
        match self {
            Self::Plain(link) => Some(link),
            _ => None,
        }
    }
}

impl<P: Copy + Default> ProtectedLink<P> for AnyLink<P> {
    #[inline]
    fn offer(&mut self, now: Instant, frame: Frame<P>) {
        each!(self, link => link.offer(now, frame));
    }

    #[inline]
    fn offer_back(&mut self, now: Instant, frame: Frame<P>) {
        each!(self, link => link.offer_back(now, frame));
    }

    #[inline]
    fn deadline(&self) -> Instant {
        each!(self, link => link.deadline())
    }

    #[inline]
    fn advance(&mut self, until: Instant) {
        each!(self, link => link.advance(until));
    }

    fn run(&mut self, until: Instant, forward: &mut Pipe<Frame<P>>, backward: &mut Pipe<Frame<P>>) {
        each!(self, link => link.run(until, forward, backward));
    }

    #[inline]
    fn delivered(&mut self) -> &mut Pipe<Frame<P>> {
        each!(self, link => link.delivered())
    }

    #[inline]
    fn returned(&mut self) -> &mut Pipe<Frame<P>> {
        each!(self, link => link.returned())
    }

    #[inline]
    fn backlog(&self) -> usize {
        each!(self, link => link.backlog())
    }

    fn waiting_bytes(&self) -> u64 {
        each!(self, link => link.waiting_bytes())
    }

    #[inline]
    fn traffic(&self) -> &Traffic {
        each!(self, link => link.traffic())
    }

    fn queue(&self) -> &FrameQueue<P> {
        each!(self, link => link.queue())
    }

    fn queue_mut(&mut self) -> &mut FrameQueue<P> {
        each!(self, link => link.queue_mut())
    }

    fn buffer_bytes(&mut self, now: Instant) -> (u64, u64) {
        each!(self, link => link.buffer_bytes(now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::SwitchProfile;
    use crate::net::linkguardian::timing::queue_limits;
    use crate::net::plain::PlainConfig;
    use crate::net::{Ecn, LineRate, linkguardian};
    use lossylink_core::engine::linkguardian::SenderConfig;
    use lossylink_core::loss::LossModel;
    use lossylink_core::rng::Streams;
    use lossylink_core::time::Duration;
    use lossylink_core::units::BitRate;

    fn losses(model: &LossModel) -> (LossProcess, LossProcess) {
        let streams = Streams::new(1);
        let process = |model| LossProcess::new(model, streams.stream("loss"));
        (process(model), process(&LossModel::None))
    }

    fn tofino() -> SwitchProfile {
        toml::from_str(include_str!("../../../../scenarios/switch/tofino1.toml")).unwrap()
    }

    fn plain(model: &LossModel) -> AnyLink<u64> {
        let flight = Duration::from_ns_f64(tofino().data_pipeline_ns);
        let rate = LineRate::new(BitRate::from_gbps(100));
        let (forward, reverse) = losses(model);
        let config = PlainConfig { rate, flight, queue: queue_limits(&tofino()) };
        AnyLink::Plain(PlainLink::new(config, forward, reverse))
    }

    fn guarded(ordered: bool) -> LinkGuardianLink<u64> {
        let sender = SenderConfig { copies: 1, dummies: 3, hole_cap: Some(5) };
        let options = linkguardian::Options { sender, ordered, backpressure: true, deduplicate: true };
        let rate = LineRate::new(BitRate::from_gbps(100));
        let mut phases = Streams::new(1).stream("phases");
        let clean = losses(&LossModel::None);
        LinkGuardianLink::new(&tofino(), rate, Duration::ZERO, &options, clean, &mut phases)
    }

    /// Offers ten frames at once, protects the link while the fourth is in service, and lets all
    /// of them arrive.
    fn arrivals(model: &LossModel, ordered: bool) -> Vec<(Instant, u64)> {
        let mut link = plain(model);
        (0..10).for_each(|number| {
            link.offer(Instant::ZERO, Frame::of_frame_bytes(1514, Ecn::NotCapable, number))
        });
        let switch_on = Instant::from_ps(400_000);
        while link.deadline() <= switch_on {
            link.advance(link.deadline());
        }
        assert_eq!(link.backlog(), 6, "three frames have left and one is leaving");
        link.protect(guarded(ordered));
        assert_eq!(link.backlog(), 6);
        while !link.deadline().is_never() {
            link.advance(link.deadline());
        }
        let delivered = link.delivered();
        std::iter::from_fn(|| delivered.pop()).map(|(at, frame)| (at, frame.payload)).collect()
    }

    // LG-30
    #[test]
    fn frames_in_flight_and_in_the_queue_survive_the_change_of_protection() {
        for ordered in [true, false] {
            let arrivals = arrivals(&LossModel::None, ordered);
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
        let loss = LossModel::at(vec![1, 6]).unwrap();
        let numbers: Vec<_> = arrivals(&loss, true).into_iter().map(|(_, number)| number).collect();
        assert_eq!(numbers, [0, 2, 3, 4, 5, 6, 7, 8, 9]);
    }

    /// When so many full frames with a header have left the link's near end.
    fn after(frames: u64) -> Instant {
        Instant::ZERO + Duration::from_ps(frames * 1541 * 80)
    }

    /// Protects a link to which ten frames are offered at once, takes the protection off as soon as
    /// it can leave after `frames` of them, and lets all arrive; also returns when it left.
    fn departures(lost: &[u64], frames: u64, ordered: bool) -> (Vec<(Instant, u64)>, Instant) {
        let model = if lost.is_empty() { LossModel::None } else { LossModel::at(lost.to_vec()).unwrap() };
        let mut link = plain(&model);
        link.protect(guarded(ordered));
        (0..10).for_each(|number| {
            link.offer(Instant::ZERO, Frame::of_frame_bytes(1514, Ecn::NotCapable, number))
        });
        let mut now = after(frames);
        link.advance(now - Duration::from_ps(1));
        let bare = || match plain(&LossModel::None) {
            AnyLink::Plain(plain) => plain,
            _ => unreachable!("it is plain"),
        };
        while !link.unprotect(now, bare) {
            now += Duration::from_ns(100);
            link.advance(now);
        }
        assert_eq!(link.backlog() as u64, 10 - frames);
        while !link.deadline().is_never() {
            link.advance(link.deadline());
        }
        let delivered = link.delivered();
        (std::iter::from_fn(|| delivered.pop()).map(|(at, frame)| (at, frame.payload)).collect(), now)
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
        let mut link = plain(&LossModel::None);
        link.protect(guarded(true));
        (0..3).for_each(|number| {
            link.offer(Instant::ZERO, Frame::of_frame_bytes(1514, Ecn::NotCapable, number))
        });
        let guarded = link.as_linkguardian_mut().unwrap();
        guarded.set_leaving(true);
        guarded.advance(Instant::ZERO + Duration::from_us(10));
        assert_eq!(guarded.backlog(), 2);
        guarded.set_leaving(false);
        guarded.advance(Instant::ZERO + Duration::from_us(20));
        assert_eq!((guarded.backlog(), guarded.delivered().len()), (0, 3));
    }

    #[test]
    #[should_panic(expected = "protected already")]
    fn a_link_is_protected_once() {
        let mut link = plain(&LossModel::None);
        link.protect(guarded(true));
        link.protect(guarded(true));
    }
}
