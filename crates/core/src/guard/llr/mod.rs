//! Link-level retry as a line protocol of a guard: the engine on whole frames, session by session.
//!
//! ```text
//!   handle_lan --> [Sending: number, keep] --to_link-->      to_lan <-- [Receiving: in order] <-- handle_link
//!                      | poll_fill: replay                                   | ACK, NACK, INIT_ECHO
//!                      +--- INIT ------------> [Outlet] <--------------------+
//! ```
//!
//! Control sets leave ahead of all other frames. A replay leaves frame by frame as the transmitter is free, so
//! that an ACK on the way still shortens it. New frames wait meanwhile (LLR-23).

mod frames;
mod pace;
mod receiving;
mod sending;

use super::{Frame, LineProtocol, Origin, Surroundings};
use crate::engine::llr::{Control, Outlet, ReceiverCounters, SenderState, report};
use crate::engine::report::Group;
use crate::loss::LossLaw;
use crate::protection::{Llr, Protection};
use crate::time::Instant;
use crate::units::{BitRate, Bytes};
use crate::wire::ethernet::EtherType;
use crate::wire::llr::{self, ControlSet, LlrFrame};
use crate::wire::wire_octets;
use alloc::vec::Vec;
use pace::Link;
use receiving::Receiving;
use sending::Sending;

/// Both ends of link-level retry on whole frames.
#[derive(Debug)]
pub struct LlrLine {
    link: Link,
    outlet: Outlet,
    /// Whether the frames that this end sends are protected by this protocol.
    is_sending: bool,
    /// The sending end of the options that were chosen last; it is off while our frames use another protocol.
    sending: Option<(Llr, Sending)>,
    receiving: Receiving,
}

impl LlrLine {
    /// Returns two ends on a link of this rate whose frames are no longer than `longest` without FCS. Waits
    /// and sizes are computed from both.
    pub fn new(rate: BitRate, longest: Bytes) -> Self {
        Self {
            link: Link { rate, full_frame: wire_octets(longest) },
            outlet: Outlet::new(pace::control_interval(rate, None)),
            is_sending: false,
            sending: None,
            receiving: Receiving::default(),
        }
    }

    /// Returns the sending end, while our frames use it.
    fn sending(&self) -> Option<&Sending> {
        self.sending.as_ref().filter(|_| self.is_sending).map(|(_, sending)| sending)
    }

    /// Returns the sending end, after telling it the loop as measured at present.
    fn sending_mut(&mut self, around: &Surroundings<'_>) -> Option<&mut Sending> {
        let is_sending = self.is_sending;
        let (_, sending) = self.sending.as_mut().filter(|_| is_sending)?;
        sending.note(around.loop_time);
        Some(sending)
    }

    /// Returns the counters of both ends. A sending end that never was has no counters.
    fn group(&self, sending: Option<&report::SendingState>) -> Group {
        let mut counters = sending.map(report::SendingState::counters).unwrap_or_default();
        counters.extend(self.receiving.state().counters());
        Group { name: report::GROUP, counters }
    }

    /// Sends the most urgent control set if the outlet is free (LLR-24). A control set for which no frame is
    /// free is lost as on the link.
    fn speak(&mut self, around: &mut Surroundings<'_>) {
        let is_sending = self.is_sending;
        let sender = self.sending.as_mut().filter(|_| is_sending).map(|(_, sending)| sending.engine_mut());
        let receiver = Some(self.receiving.engine_mut());
        let Some(control) = self.outlet.poll_control(around.now, sender, receiver) else { return };
        let Some(mut frame) = around.empty_frame() else { return };
        around.counters.explicit_acks += u64::from(matches!(control, Control::Ack(_)));
        frames::write_control(&mut frame, control, around.seal);
        around.to_link.push_back(frame);
    }

    fn handle_set(&mut self, around: &mut Surroundings<'_>, set: ControlSet) {
        let control = Control::from_set(set);
        self.receiving.handle_control(around.now, control);
        if let Some(sending) = self.sending_mut(around) {
            sending.handle_control(around.now, control, around.pool);
        }
    }
}

impl LineProtocol for LlrLine {
    fn carries(&self, protection: &Protection) -> bool {
        matches!(protection, Protection::Llr(_))
    }

    fn ethertypes(&self) -> &'static [EtherType] {
        &[llr::ETHERTYPE]
    }

    fn headroom(&self) -> usize {
        frames::HEADROOM
    }

    /// Chooses the options of the sending end. Its counters stay while the options do.
    fn protect(&mut self, protection: &Protection, _law: LossLaw) {
        let chosen = match protection {
            Protection::Llr(options) => Some(options),
            _ => None,
        };
        self.is_sending = chosen.is_some();
        self.outlet = Outlet::new(pace::control_interval(self.link.rate, chosen));
        if let Some(options) = chosen
            && self.sending.as_ref().is_none_or(|(before, _)| before != options)
        {
            self.sending = Some((*options, Sending::new(self.link, options)));
        }
    }

    fn start_over(&mut self, around: &mut Surroundings<'_>, _peer: &Protection) {
        self.receiving.start_over(around.now);
        if let Some((_, sending)) = &mut self.sending {
            sending.close(around.now, around.pool);
        }
    }

    fn may_send(&self, _now: Instant) -> bool {
        self.sending().is_some_and(Sending::may_send)
    }

    /// Sends a frame of the LAN. INIT leaves behind the first frame, so that no frame waits for it in
    /// `to_link` (LLR-26).
    fn handle_lan(&mut self, around: &mut Surroundings<'_>, frame: Frame) {
        let sending = self.sending_mut(around).expect("our frames go by this protocol");
        sending.open(around.now, around.pool);
        sending.transmit(around, frame);
        self.speak(around);
    }

    fn handle_link(&mut self, around: &mut Surroundings<'_>, frame: &[u8]) -> Origin {
        let Some((inner, origin)) = frames::read(frame, around.seal) else { return Origin::Foreign };
        match (origin, inner) {
            (Origin::Session, LlrFrame::Data(shim, payload)) => {
                self.receiving.handle_data(around, frame, shim, payload);
            }
            (Origin::Session, LlrFrame::Control(set)) => self.handle_set(around, set),
            (Origin::Former, LlrFrame::Data(shim, payload)) => {
                self.receiving.handle_former(around, frame, shim, payload);
            }
            (Origin::Former, LlrFrame::Control(_)) | (Origin::Repeated | Origin::Foreign, _) => {
                return origin;
            }
        }
        if origin == Origin::Session {
            self.speak(around);
        }
        origin
    }

    fn fill_at(&self) -> Instant {
        if self.sending().is_some_and(Sending::has_fill) { Instant::ZERO } else { Instant::NEVER }
    }

    /// Returns the first INIT of a session, or the next frame of a replay.
    fn poll_fill(&mut self, around: &mut Surroundings<'_>) -> Option<Frame> {
        let sending = self.sending_mut(around)?;
        if let Some(frame) = sending.replay(around) {
            return Some(frame);
        }
        sending.open(around.now, around.pool);
        self.speak(around);
        around.to_link.pop_front()
    }

    fn poll_timeout(&self) -> Instant {
        let sending = self.sending();
        let set = self.outlet.poll_timeout(sending.map(Sending::engine), Some(self.receiving.engine()));
        set.min(sending.map_or(Instant::NEVER, Sending::due))
    }

    fn handle_timeout(&mut self, around: &mut Surroundings<'_>) {
        if let Some(sending) = self.sending_mut(around) {
            sending.handle_timeout(around.now, around.pool);
        }
        self.speak(around);
    }

    /// Returns the counters; none if no frame was ever numbered here.
    fn report(&self) -> Vec<Group> {
        let state = self.sending.as_ref().map(|(_, sending)| sending.state());
        let is_used = self.is_sending
            || state.is_some_and(|state| state.counters.tx_init > 0 || state.state != SenderState::Off)
            || *self.receiving.engine().counters() != ReceiverCounters::default();
        is_used.then(|| self.group(state.as_ref())).into_iter().collect()
    }
}
