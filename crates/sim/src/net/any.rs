//! Any of the links, chosen when a run starts.

use super::{
    FecLink, FecModelLink, Frame, FrameQueue, LinkGuardianLink, PlainLink, ProtectedLink, Tap, Traffic,
};
use crate::kernel::Pipe;
use crate::net::coded::Latency;
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

    #[test]
    #[should_panic(expected = "protected already")]
    fn a_link_is_protected_once() {
        let mut link = plain(&LossModel::None);
        link.protect(guarded(true));
        link.protect(guarded(true));
    }
}
