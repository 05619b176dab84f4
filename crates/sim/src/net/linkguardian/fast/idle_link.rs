//! An idle link carries frames in closed form, as long as each frame is known when it comes and none is lost.
//!
//! A frame is forwarded as it arrives. The other frames on the wires follow from the data frames and from the phases of the two
//! circulating packets: dummies on an idle line, and explicit acknowledgements on the way back. Every copy is freed before a
//! notification could ask for it, so no look at a copy changes anything. The closed form does not give the depth of the Tx buffer.
//!
//! ```text
//!  frames --------> [line] == data, dummies ==> arrivals --> register
//!  returned <====== ACKs, frames of the hosts [line] <--------'
//! ```

use super::FastLinkGuardianLink;
use super::circulating::Circulating;
use super::timing::{HEADER_OCTETS, Timing};
use crate::fast::{Path as Fast, takes};
use crate::net::frame::MINIMUM_OCTETS;
use crate::net::{Direction, LineRate, Payload, ProtectedLink, Traffic};
use lossylink_core::engine::linkguardian::{AckUpdate, Acknowledgement, Position};
use lossylink_core::time::{Duration, Instant};

/// A link with no frame in flight and no frame kept, and the frames that the link has carried since then.
#[derive(Clone, Debug)]
pub struct IdleLink {
    near: SendingPort,
    far: ReturnPort,
}

/// The port of the sending switch.
#[derive(Clone, Debug)]
struct SendingPort {
    rate: LineRate,
    /// The time for which a dummy occupies the line.
    control: Duration,
    pipeline: Duration,
    busy_since: Instant,
    busy_until: Instant,
    dummy: Circulating,
    /// The number of dummies that a data frame arms, and the number that is still to be sent.
    dummies: u8,
    dummies_due: u8,
    next: Position,
    carried: Traffic,
}

/// The port of the receiving switch toward the sender.
#[derive(Clone, Debug)]
struct ReturnPort {
    rate: LineRate,
    /// The time for which an explicit ACK occupies the line.
    control: Duration,
    /// The time from the arrival of a frame to the update of the register.
    to_register: Duration,
    pipeline: Duration,
    /// The time from the end of an acknowledgement on the line to its effect at the sending switch.
    control_return: Duration,
    busy_until: Instant,
    register: Acknowledgement,
    /// The time of the last update of the register.
    updated: Instant,
    /// The time at which the last frame of the hosts left. The frame carries the register as of its arrival at the port.
    sent: Instant,
    /// Whether the register was updated while a frame of the hosts waited for the line. Then the closed form does not hold.
    is_overtaken: bool,
    packet: Circulating,
    /// The time at which the explicit ACK leaves, if no other frame leaves before.
    ack_due: Instant,
    acks: u64,
    /// The time at which the last acknowledgement took effect.
    acknowledged: Instant,
    carried: Traffic,
}

impl IdleLink {
    /// Carries a data frame of `octets` that comes to the sending switch at `at`, no sooner than the frame before. Returns when the
    /// frame leaves the receiving switch.
    #[inline]
    pub fn forward(&mut self, at: Instant, octets: u32) -> Instant {
        self.send_dummies(at);
        let near = &mut self.near;
        near.begin_service(at.max(near.busy_until));
        near.busy_until = at.max(near.busy_until) + near.rate.serialisation(octets + HEADER_OCTETS);
        near.dummies_due = near.dummies;
        near.carried.count_data(octets, HEADER_OCTETS);
        let arrival = near.busy_until + near.pipeline;
        let position = near.next;
        near.next = position.next();
        self.update(arrival + self.far.to_register, position);
        arrival
    }

    /// Carries a frame of the hosts that comes to the receiving switch at `at`. Returns when the frame leaves the sending switch.
    ///
    /// Returns `None` if the register is updated after `at`, because the ACK on the frame then depends on later frames.
    #[inline]
    pub fn back(&mut self, at: Instant, octets: u32) -> Option<Instant> {
        if self.far.updated > at {
            return None;
        }
        self.send_acks(at);
        let far = &mut self.far;
        let start = at.max(far.busy_until);
        far.sent = start;
        // LG-17
        let header_octets = if far.register.poll().is_some() { HEADER_OCTETS } else { 0 };
        far.busy_until = start + far.rate.serialisation(octets + header_octets);
        far.carried.count_data(octets, header_octets);
        if header_octets > 0 {
            far.acks += 1;
            far.acknowledged = far.busy_until + far.control_return;
        }
        far.schedule_ack(start);
        Some(far.busy_until + far.pipeline)
    }

    /// Returns when a frame of `octets` that comes at `at` leaves a link of these rates without protection. The line is busy until
    /// `busy_until`, which becomes the end of this frame.
    #[inline]
    pub fn unprotected(
        &self,
        direction: Direction,
        at: Instant,
        busy_until: &mut Instant,
        octets: u32,
    ) -> Instant {
        let (rate, pipeline) = match direction {
            Direction::Forward => (self.near.rate, self.near.pipeline),
            Direction::Backward => (self.far.rate, self.far.pipeline),
        };
        *busy_until = at.max(*busy_until) + rate.serialisation(octets);
        *busy_until + pipeline
    }

    /// Sends every dummy and every acknowledgement that is still due. Returns when the last of these frames has taken effect.
    fn finish(&mut self) -> Instant {
        self.send_dummies(Instant::NEVER);
        self.send_acks(Instant::NEVER);
        self.far.acknowledged.max(self.near.busy_until + self.near.pipeline).max(self.far.updated)
    }

    /// Sends the dummies that leave by `until`. (LG-18)
    #[inline]
    fn send_dummies(&mut self, until: Instant) {
        let near = &mut self.near;
        while near.dummies_due > 0 {
            let departs = near.dummy.departure(near.busy_since, near.busy_until);
            if departs > until {
                return;
            }
            near.begin_service(departs);
            near.dummy.depart(departs);
            near.busy_until = departs + near.control;
            near.dummies_due -= 1;
            near.carried.count_control(MINIMUM_OCTETS);
        }
    }

    /// Writes the position of an arrived frame to the register at `at`. (LG-15)
    #[inline]
    fn update(&mut self, at: Instant, position: Position) {
        self.send_acks(at.just_before());
        let far = &mut self.far;
        far.register.apply(AckUpdate::Advance(position));
        far.updated = at;
        far.is_overtaken |= at <= far.sent;
        if far.ack_due.is_never() {
            far.schedule_ack(at);
        }
    }

    /// Sends the explicit ACKs that leave by `until`. (LG-17)
    #[inline]
    fn send_acks(&mut self, until: Instant) {
        let far = &mut self.far;
        while far.ack_due <= until && !far.ack_due.is_never() {
            let at = far.ack_due;
            if far.busy_until > at {
                far.ack_due = far.busy_until;
                continue;
            }
            if far.register.poll().is_some() {
                far.packet.depart(at);
                far.busy_until = at + far.control;
                far.carried.count_control(MINIMUM_OCTETS);
                far.acks += 1;
                far.acknowledged = far.busy_until + far.control_return;
            }
            far.schedule_ack(at);
        }
    }
}

impl SendingPort {
    #[inline]
    fn begin_service(&mut self, now: Instant) {
        if now > self.busy_until {
            self.busy_since = now;
        }
    }
}

impl ReturnPort {
    /// Finds when the circulating ACK next leaves, from `now` on.
    #[inline]
    fn schedule_ack(&mut self, now: Instant) {
        self.ack_due = if self.register.is_pending() {
            self.packet.next_return(now).max(self.busy_until)
        } else {
            Instant::NEVER
        };
    }
}

impl<P: Payload> FastLinkGuardianLink<P> {
    /// Returns the closed form of this link, if the link is idle and has no tap.
    pub(in crate::net) fn idle(&self) -> Option<IdleLink> {
        if !takes(Fast::CleanSums) {
            return None;
        }
        let Self { sending, receiving, .. } = self;
        let Timing { rate, rate_back, ack_register, data_pipeline, reverse_pipeline, control_return, .. } =
            sending.timing;
        let has_no_event = self.poll_timeout().is_never() && self.forward.has_no_undetected_loss();
        let is_idle = has_no_event && sending.is_idle() && receiving.is_idle();
        let (busy_since, busy_until, dummy) = sending.port_state();
        let (register, packet) = receiving.back.idle_state()?;
        is_idle.then(|| IdleLink {
            near: SendingPort {
                rate,
                control: rate.serialisation(MINIMUM_OCTETS),
                pipeline: data_pipeline,
                busy_since,
                busy_until,
                dummy,
                dummies: sending.engine.config().dummies,
                dummies_due: 0,
                next: sending.engine.next(),
                carried: Traffic::default(),
            },
            far: ReturnPort {
                rate: rate_back,
                control: rate_back.serialisation(MINIMUM_OCTETS),
                to_register: ack_register,
                pipeline: reverse_pipeline,
                control_return,
                busy_until: receiving.back.busy_until,
                register,
                updated: Instant::ZERO,
                sent: Instant::ZERO,
                is_overtaken: false,
                packet,
                ack_due: Instant::NEVER,
                acks: 0,
                acknowledged: Instant::ZERO,
                carried: Traffic::default(),
            },
        })
    }

    /// Carries at once the frames that `idle` has carried since it was this link.
    ///
    /// Equals [`crate::net::linkguardian::LinkGuardianLink`], event by event, if four conditions hold: no frame is lost, the
    /// register was not updated while a frame of the hosts waited, fewer than half a window of data frames were carried, and the
    /// last effect comes by `end`. Otherwise returns false, and nothing has happened.
    pub(in crate::net) fn carry_in_closed_form(&mut self, mut idle: IdleLink, end: Instant) -> bool {
        let last = idle.finish();
        let IdleLink { near, far, .. } = idle;
        let data = near.carried.data_frames;
        let (forward, backward) = (&mut self.forward.wire, &mut self.backward.wire);
        let fits = last <= end && !far.is_overtaken && (1..u64::from(Position::WINDOW / 2)).contains(&data);
        if !(fits && forward.is_clear(&near.carried, last) && backward.is_clear(&far.carried, last)) {
            return false;
        }
        forward.carry_all(&near.carried);
        backward.carry_all(&far.carried);
        let dummies = near.carried.frames - data;
        self.sending.engine.pass_acknowledged(data as u32, dummies, far.acks);
        self.sending.restore_port(near.busy_since, near.busy_until, near.dummy);
        self.receiving.engine.pass_in_sequence(far.updated - far.to_register, data as u32);
        self.receiving.engine.pass_dummies(dummies);
        self.receiving.back.restore(far.busy_until, far.register, far.packet);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Counters, Options};
    use super::*;
    use crate::config::switch_profile;
    use crate::net::{Ecn, Frame, LineRates};
    use lossylink_core::engine::linkguardian::SenderConfig;
    use lossylink_core::loss::{LossModel, LossProcess};
    use lossylink_core::rng::Streams;
    use lossylink_core::units::BitRate;
    use proptest::prelude::*;

    /// Builds a link that loses one frame in 300 in each direction.
    fn link(
        profile: &str,
        (gbps, back_gbps): (u64, u64),
        ordered: bool,
        dummies: u8,
        seed: u64,
    ) -> FastLinkGuardianLink<u64> {
        let sender = SenderConfig { copies: 1, dummies, hole_cap: Some(5) };
        let options = Options { sender, control_copies: 1, ordered, backpressure: true, deduplicate: true };
        let streams = Streams::new(seed);
        let loss = |name| LossProcess::new(&LossModel::bernoulli(1.0 / 300.0).unwrap(), streams.stream(name));
        let rate = |gbps| LineRate::new(BitRate::from_gbps(gbps));
        let rates = LineRates { forward: rate(gbps), back: rate(back_gbps) };
        let losses = (loss("forward"), loss("back"));
        let mut phases = streams.stream("phases");
        FastLinkGuardianLink::new(
            &switch_profile(profile),
            rates,
            Duration::ZERO,
            &options,
            losses,
            &mut phases,
        )
    }

    /// A burst of frames, each with its distance from the frame before in ns, and one answer `answered_us` after the last frame.
    #[derive(Clone, Debug)]
    struct Turn {
        frames: Vec<(u64, u32)>,
        answered_us: u64,
        answer_bytes: u32,
    }

    fn turns() -> impl Strategy<Value = Vec<Turn>> {
        let distance = prop_oneof![Just(0u64), 0u64..300, 0u64..2_000];
        let frames = prop::collection::vec((distance, 60u32..1515), 1..12);
        let turn = (frames, 1u64..30, 60u32..1515).prop_map(|(frames, answered_us, answer_bytes)| Turn {
            frames,
            answered_us,
            answer_bytes,
        });
        prop::collection::vec(turn, 1..5)
    }

    fn frame(bytes: u32, number: u64) -> Frame<u64> {
        Frame::of_frame_bytes(bytes, Ecn::NotCapable, number)
    }

    /// Runs the link up to `until`, and takes the frames that have come out.
    fn out(link: &mut FastLinkGuardianLink<u64>, until: Instant) -> Vec<(Instant, Frame<u64>)> {
        link.advance(until);
        let mut out = Vec::new();
        link.delivered().take_all(|at, frame| out.push((at, *frame)));
        link.returned().take_all(|at, frame| out.push((at, *frame)));
        out
    }

    /// Carries the frames of `turns`. Returns the times at which each frame came out, in closed form and event by event, and when
    /// all frames are out. Returns `None` if an answer comes before the register is known.
    fn carried(
        link: &mut FastLinkGuardianLink<u64>,
        idle: &mut IdleLink,
        turns: &[Turn],
    ) -> Option<(Vec<(Instant, Instant)>, Instant)> {
        let (mut now, mut times) = (Instant::ZERO + Duration::from_us(5), Vec::new());
        for turn in turns {
            for &(distance, bytes) in &turn.frames {
                now += Duration::from_ns(distance);
                link.advance(now);
                link.offer(now, frame(bytes, 0));
                let octets = frame(bytes, 0).octets;
                times.push((idle.forward(now, octets), Instant::ZERO));
            }
            now += Duration::from_us(turn.answered_us);
            link.advance(now);
            link.offer_back(now, frame(turn.answer_bytes, 1));
            times.push((idle.back(now, frame(turn.answer_bytes, 1).octets)?, Instant::ZERO));
            now += Duration::from_us(2);
        }
        let end = now + Duration::from_us(40);
        let mut came = out(link, end);
        came.sort_by_key(|&(at, _)| at);
        times.sort_unstable();
        times.iter_mut().zip(came).for_each(|(times, (at, _))| times.1 = at);
        Some((times, end))
    }

    proptest! {
        // LG-15, LG-17, LG-18, LG-29
        #[test]
        fn an_idle_link_carries_frames_as_event_by_event(
            profile in prop::sample::select(vec!["tofino1", "ideal"]),
            rates in prop::sample::select(vec![
                (10, 10), (25, 25), (100, 100), (400, 400), (10, 1), (100, 10), (100, 1), (10, 100),
            ]),
            ordered: bool,
            dummies in 0u8..5,
            seed in 0u64..1_000,
            turns in turns(),
            later in prop::collection::vec((0u64..1_000, 60u32..1515, any::<bool>()), 1..300),
        ) {
            let mut each = link(profile, rates, ordered, dummies, seed);
            let mut together = each.clone();
            let mut idle = together.idle().expect("nothing has happened");
            let Some((times, end)) = carried(&mut each, &mut idle, &turns) else { return Ok(()) };
            let lost = each.traffic().lost + each.reverse_traffic().lost;
            let is_known = lost == 0 && !idle.far.is_overtaken;
            prop_assert_eq!(together.carry_in_closed_form(idle, end), is_known);
            if !is_known {
                return Ok(());
            }
            prop_assert!(times.iter().all(|(said, came)| said == came), "{:?}", times);
            prop_assert_eq!(format!("{:?}", together.idle()), format!("{:?}", each.idle()));
            let engines = |link: &FastLinkGuardianLink<u64>| (format!("{:?}", link.sending.engine), format!("{:?}", link.receiving.engine));
            prop_assert_eq!(engines(&together), engines(&each));
            prop_assert_eq!(together.traffic(), each.traffic());
            prop_assert_eq!(together.reverse_traffic(), each.reverse_traffic());
            // Later frames find both links in one state, and so do later losses.
            let mut now = end;
            for (number, (distance, bytes, is_back)) in (0..).zip(later) {
                now += Duration::from_ns(distance);
                prop_assert_eq!(out(&mut together, now), out(&mut each, now));
                for link in [&mut together, &mut each] {
                    let frame = frame(bytes, number);
                    if is_back { link.offer_back(now, frame) } else { link.offer(now, frame) }
                }
            }
            now += Duration::from_us(100);
            prop_assert_eq!(out(&mut together, now), out(&mut each, now));
            let Counters { sender, receiver, .. } = each.counters(now);
            let found = together.counters(now);
            prop_assert_eq!((found.sender, found.receiver), (sender, receiver));
        }
    }

    // LG-17, LG-29: at the same instant the explicit ACK goes first, and one that leaves holds the line.
    #[test]
    fn an_answer_meets_an_explicit_acknowledgement_as_on_a_link() {
        let sent = Instant::ZERO + Duration::from_us(5);
        for seed in 0..50 {
            let mut each = link("tofino1", (100, 100), true, 3, seed);
            let mut idle = each.idle().expect("nothing has happened");
            let data = frame(1514, 0);
            each.offer(sent, data);
            idle.forward(sent, data.octets);
            let due = idle.far.ack_due.as_ps();
            for (distance, first) in
                (0..9).flat_map(|step| [(step * 1_000, due), (step * 75_000, due - 300_000)])
            {
                for at in [first + distance, (first + distance).saturating_sub(1)].map(Instant::from_ps) {
                    let (mut each, mut idle) = (each.clone(), idle.clone());
                    each.advance(at);
                    each.offer_back(at, frame(60, 1));
                    let Some(said) = idle.back(at, frame(60, 1).octets) else { continue };
                    let end = at + Duration::from_us(20);
                    let came = out(&mut each, end).into_iter().find(|(_, frame)| frame.payload == 1);
                    if each.traffic().lost + each.reverse_traffic().lost > 0 {
                        continue;
                    }
                    assert_eq!(came.map(|(at, _)| at), Some(said), "{seed} {distance}");
                    let mut together = link("tofino1", (100, 100), true, 3, seed);
                    assert!(together.carry_in_closed_form(idle, end));
                    assert_eq!(format!("{:?}", together.idle()), format!("{:?}", each.idle()));
                }
            }
        }
    }

    /// The canary: the closed form refuses frames that may be lost, and an `end` before the last effect.
    #[test]
    fn nothing_is_carried_that_is_not_certain() {
        let end = Instant::ZERO + Duration::from_ms(1);
        let idle = |frames: u64| {
            let link = link("tofino1", (100, 100), true, 3, 1);
            let mut idle = link.idle().unwrap();
            for place in 0..frames {
                idle.forward(Instant::from_ps(place * 1_000_000), 1538);
            }
            (link, idle)
        };
        let (mut few, few_carried) = idle(5);
        assert!(!few.carry_in_closed_form(few_carried.clone(), Instant::ZERO + Duration::from_us(5)));
        assert!(few.carry_in_closed_form(few_carried, end));
        let (mut many, many_carried) = idle(900);
        assert!(!many.carry_in_closed_form(many_carried, end));
        assert_eq!(many.traffic().frames, 0);
    }

    #[test]
    fn a_link_with_frames_in_flight_is_not_idle() {
        let mut link = link("tofino1", (100, 100), true, 3, 1);
        link.offer(Instant::ZERO, frame(1514, 0));
        assert!(link.idle().is_none());
        out(&mut link, Instant::ZERO + Duration::from_us(100));
        assert!(link.idle().is_some());
    }
}
