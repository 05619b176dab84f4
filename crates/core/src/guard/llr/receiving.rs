//! The receiving end on whole frames: delivers frames in order, and late frames of the session before (LLR-5,
//! LLR-26).

use crate::engine::llr::report::ReceivingState;
use crate::engine::llr::{Condition, Control, Init, Number, Receiver, ReceiverState, Verdict};
use crate::guard::Surroundings;
use crate::guard::envelope;
use crate::time::Instant;
use crate::wire::llr::Shim;

/// The receiving engine, and the position that the session before had reached.
#[derive(Debug, Default)]
pub(super) struct Receiving {
    engine: Receiver,
    /// The INIT in force.
    init: Option<Init>,
    /// The number of the frame that the session before would have delivered next.
    former: Option<Number>,
    stale_inits: u64,
}

impl Receiving {
    pub(super) fn engine(&self) -> &Receiver {
        &self.engine
    }

    pub(super) fn engine_mut(&mut self) -> &mut Receiver {
        &mut self.engine
    }

    /// Returns the figures of the receiving end. Frames with a wrong check sequence are left out, because the
    /// network card drops them.
    pub(super) fn state(&self) -> ReceivingState {
        ReceivingState { stale_inits: Some(self.stale_inits), ..ReceivingState::of(&self.engine) }
    }

    /// Begins a new session: the engine is off until its INIT comes (LLR-26).
    pub(super) fn start_over(&mut self, now: Instant) {
        let was_on = self.engine.state() != ReceiverState::Off;
        self.former = was_on.then(|| self.engine.expected());
        self.engine.stop(now);
        self.init = None;
    }

    /// Takes in a control set. A link of software may hand over a frame late, or twice: an INIT older than the one
    /// in force must not turn the expected number back (LLR-27).
    pub(super) fn handle_control(&mut self, now: Instant, control: Control) {
        if let Control::Init(init) = control {
            let is_stale = |force: &Init| (init.data.wrapping_sub(force.data) as i16) < 0;
            if self.init.as_ref().is_some_and(is_stale) {
                self.stale_inits += 1;
                return;
            }
            self.init = Some(init);
        }
        self.engine.handle_control(now, control);
    }

    /// Takes in a frame of this session. A frame for which no memory is free counts as lost on the link (LLR-27).
    pub(super) fn handle_data(
        &mut self,
        around: &mut Surroundings<'_>,
        bytes: &[u8],
        shim: Shim,
        payload: &[u8],
    ) {
        around.counters.contents += 1;
        let Some(mut frame) = around.empty_frame() else { return };
        let number = Number::new(shim.number);
        match self.engine.handle_frame(around.now, Some(number), Condition::Good) {
            Verdict::Forward => {
                envelope::restore(&mut frame, bytes, shim.ethertype, payload);
                around.to_lan.push_back(frame);
            }
            Verdict::Discard => around.pool.give_back(frame),
        }
    }

    /// Takes in a frame of the session before. It is delivered if no frame at or behind its number has been, so that
    /// order and uniqueness hold whichever frames are missing (LLR-26).
    pub(super) fn handle_former(
        &mut self,
        around: &mut Surroundings<'_>,
        bytes: &[u8],
        shim: Shim,
        payload: &[u8],
    ) {
        let number = Number::new(shim.number);
        if self.former.is_none_or(|next| number.ahead_of(next) < 0) {
            return;
        }
        let Some(mut frame) = around.empty_frame() else { return };
        self.former = Some(number.next());
        envelope::restore(&mut frame, bytes, shim.ethertype, payload);
        around.to_lan.push_back(frame);
    }
}
