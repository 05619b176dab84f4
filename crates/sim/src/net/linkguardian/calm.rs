//! Carries frames over a link at rest by arithmetic, as long as all of them are known when they come and none is lost.
//!
//! Then each frame is forwarded as it arrives. What else leaves follows from the frames and from where the circulating
//! packets are: dummies while the line is idle, and explicit acknowledgements on the way back. Copies are freed before
//! anybody asks for one, so that no look at them matters. What a run without copies cannot tell is how full their
//! buffer was.
//!
//! ```text
//!  frames --------> [line] == data, dummies ==> arrivals --> register
//!  returned <====== ACKs, frames of the hosts [line] <--------'
//! ```

use super::LinkGuardianLink;
use super::circulating::Circulating;
use super::timing::{HEADER_OCTETS, Timing};
use crate::net::frame::MINIMUM_OCTETS;
use crate::net::{LineRate, Payload, ProtectedLink, Traffic};
use lossylink_core::engine::linkguardian::{AckUpdate, Acknowledgement, Position};
use lossylink_core::time::{Duration, Instant};

/// A link at rest, and what it has carried since.
#[derive(Clone, Debug)]
pub struct Calm {
    rate: LineRate,
    /// What a control frame occupies a line for.
    control: Duration,
    near: SendingPort,
    far: ReturnPort,
}

/// The port of the sending switch.
#[derive(Clone, Debug)]
struct SendingPort {
    pipeline: Duration,
    busy_since: Instant,
    busy_until: Instant,
    dummy: Circulating,
    /// Dummies that follow a data frame, and those that are still to follow the last.
    dummies: u8,
    dummies_due: u8,
    next: Position,
    carried: Traffic,
}

/// The port of the receiving switch toward the sender.
#[derive(Clone, Debug)]
struct ReturnPort {
    /// From the arrival of a frame until the register has it.
    to_register: Duration,
    pipeline: Duration,
    /// From the end of a frame until its acknowledgement takes effect.
    control_return: Duration,
    busy_until: Instant,
    register: Acknowledgement,
    /// When it changed last.
    updated: Instant,
    packet: Circulating,
    /// When the explicit ACK leaves, if nothing else does before.
    ack_due: Instant,
    acks: u64,
    /// When the last of them took effect.
    acknowledged: Instant,
    carried: Traffic,
}

impl Calm {
    /// A data frame of `octets` comes to the link at `at`, no sooner than any before it; says when it leaves the far switch.
    #[inline]
    pub fn forward(&mut self, at: Instant, octets: u32) -> Instant {
        self.send_dummies(at);
        let near = &mut self.near;
        near.begin_service(at.max(near.busy_until));
        near.busy_until = at.max(near.busy_until) + self.rate.serialisation(octets + HEADER_OCTETS);
        near.dummies_due = near.dummies;
        near.carried.count_data(octets, HEADER_OCTETS);
        let arrival = near.busy_until + near.pipeline;
        let position = near.next;
        near.next = position.next();
        self.update(arrival + self.far.to_register, position);
        arrival
    }

    /// A frame of the hosts comes to the far switch at `at`, and none has come forward whose arrival it does not know by then; says
    /// when the frame leaves the near switch. `None` if that is not so.
    #[inline]
    pub fn back(&mut self, at: Instant, octets: u32) -> Option<Instant> {
        if self.far.updated > at {
            return None;
        }
        self.send_acks(at);
        let far = &mut self.far;
        let start = at.max(far.busy_until);
        // LG-17
        let header_octets = if far.register.poll().is_some() { HEADER_OCTETS } else { 0 };
        far.busy_until = start + self.rate.serialisation(octets + header_octets);
        far.carried.count_data(octets, header_octets);
        if header_octets > 0 {
            far.acks += 1;
            far.acknowledged = far.busy_until + far.control_return;
        }
        far.schedule_ack(start);
        Some(far.busy_until + far.pipeline)
    }

    /// When a frame of `octets` that comes at `at` leaves a link without protection, either way, whose line is busy until then,
    /// and is from now on until that frame is sent.
    #[inline]
    pub fn unprotected(&self, at: Instant, busy_until: &mut Instant, octets: u32) -> Instant {
        *busy_until = at.max(*busy_until) + self.rate.serialisation(octets);
        *busy_until + self.near.pipeline.min(self.far.pipeline)
    }

    /// Everything has left that follows the frames; says when the last of it has taken effect.
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
            near.busy_until = departs + self.control;
            near.dummies_due -= 1;
            near.carried.count_control(MINIMUM_OCTETS);
        }
    }

    /// The register takes in the position of a frame that arrived. (LG-15)
    #[inline]
    fn update(&mut self, at: Instant, position: Position) {
        self.send_acks(at.just_before());
        let far = &mut self.far;
        far.register.apply(AckUpdate::Advance(position));
        far.updated = at;
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
                far.busy_until = at + self.control;
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
    /// When the circulating ACK finds something to say from `now` on.
    #[inline]
    fn schedule_ack(&mut self, now: Instant) {
        self.ack_due = if self.register.is_pending() {
            self.packet.next_return(now).max(self.busy_until)
        } else {
            Instant::NEVER
        };
    }
}

impl<P: Payload> LinkGuardianLink<P> {
    /// The link, if it is at rest and nobody looks at it.
    pub(super) fn at_rest(&self) -> Option<Calm> {
        let Self { sending, receiving, .. } = self;
        let Timing { rate, ack_register, data_pipeline, reverse_pipeline, control_return, .. } =
            sending.timing;
        let is_idle = self.poll_timeout().is_never() && self.forward.is_settled();
        let is_at_rest = is_idle && sending.is_at_rest() && receiving.is_at_rest();
        let (busy_since, busy_until, dummy) = sending.port_at_rest();
        let (register, packet) = receiving.back.at_rest()?;
        is_at_rest.then(|| Calm {
            rate,
            control: rate.serialisation(MINIMUM_OCTETS),
            near: SendingPort {
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
                to_register: ack_register,
                pipeline: reverse_pipeline,
                control_return,
                busy_until: receiving.back.busy_until,
                register,
                updated: Instant::ZERO,
                packet,
                ack_due: Instant::NEVER,
                acks: 0,
                acknowledged: Instant::ZERO,
                carried: Traffic::default(),
            },
        })
    }

    /// Carries what `calm` has carried since it was this link at rest, if none of it is lost and the link is at rest again by
    /// `end`; false, and nothing has happened, if not.
    pub(super) fn carry_calmly(&mut self, mut calm: Calm, end: Instant) -> bool {
        let last = calm.finish();
        let Calm { near, far, .. } = calm;
        let data = near.carried.data_frames;
        let (forward, backward) = (&mut self.forward.wire, &mut self.backward.wire);
        let fits = last <= end && data < u64::from(Position::WINDOW / 2);
        if !(fits && forward.is_clear(&near.carried) && backward.is_clear(&far.carried)) {
            return false;
        }
        forward.carry_all(&near.carried);
        backward.carry_all(&far.carried);
        let dummies = near.carried.frames - data;
        self.sending.engine.pass_acknowledged(data as u32, dummies, far.acks);
        self.sending.rest(near.busy_since, near.busy_until, near.dummy);
        self.receiving.engine.pass_in_sequence(last, data as u32);
        self.receiving.engine.pass_dummies(dummies);
        self.receiving.back.rest(far.busy_until, far.register, far.packet);
        true
    }
}
