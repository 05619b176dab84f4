//! How a sender starts, gives up, and leaves (LLR-15..18).

use super::super::{Control, Init, Number};
use super::{Sender, SenderState};
use crate::time::Instant;

impl Sender {
    /// An INIT that goes on after everything sent so far, so that frames still under way are told
    /// from those to come (LLR-15).
    pub fn next_init(&self) -> Init {
        Init { number: self.next(), data: self.init.data.wrapping_add(1) }
    }

    /// Starts the protection, or starts it over: what is outstanding is given up, and INIT(`init`) is
    /// sent until it is echoed (LLR-15). `init.data` differs from the last one's, and `init.number`
    /// lies at or beyond [`next`](Self::next) while frames are under way.
    pub fn start(&mut self, _now: Instant, init: Init) {
        self.give_up(init.number);
        self.is_leaving = false;
        self.begin_init(init);
    }

    /// Stops numbering. New frames wait until nothing is outstanding; from then on they go without a
    /// number, and this is true (LLR-18).
    pub fn leave(&mut self, _now: Instant) -> bool {
        self.is_leaving = true;
        self.leave_if_drained();
        self.state == SenderState::Off
    }

    /// Goes on numbering after all, if it has not stopped yet (LLR-18).
    pub fn stay(&mut self) {
        self.is_leaving = false;
    }

    /// Whether an INIT waits to be sent.
    #[inline]
    pub(in super::super) const fn wants_init(&self) -> bool {
        self.wants_init
    }

    /// Takes the INIT that waits; it is repeated if no echo comes (LLR-15).
    #[inline]
    pub(in super::super) fn poll_init(&mut self, now: Instant) -> Option<Control> {
        if !self.wants_init {
            return None;
        }
        self.wants_init = false;
        self.tries = self.tries.saturating_add(1);
        self.retry = now + self.config.wait(self.tries);
        self.counters.tx_init += 1;
        Some(Control::Init(self.init))
    }

    /// The receiver is ready (LLR-15). Only the echo of the INIT that was sent last counts.
    pub(super) fn handle_echo(&mut self, echo: Init) {
        self.counters.rx_init_echo += 1;
        if self.state == SenderState::Init && echo == self.init {
            self.state = SenderState::Advance;
            (self.wants_init, self.retry, self.tries) = (false, Instant::NEVER, 0);
        }
    }

    /// Gives up what is outstanding, and starts over or stops (LLR-16).
    #[cold]
    pub(super) fn flush(&mut self, _now: Instant) {
        self.counters.flushes += 1;
        self.give_up(self.outstanding.next());
        self.state = SenderState::Flush;
        if self.is_leaving {
            self.state = SenderState::Off;
        } else if self.config.re_init_on_flush {
            self.begin_init(self.next_init());
        }
    }

    /// Nothing is outstanding any more; the next number is `next`.
    fn give_up(&mut self, next: Number) {
        let frames = self.outstanding.restart(next);
        self.counters.given_up += u64::from(frames);
        self.released += frames;
        (self.replayed, self.replays, self.wants_init) = (0, 0, false);
        (self.retry, self.line_down) = (Instant::NEVER, Instant::NEVER);
    }

    fn begin_init(&mut self, init: Init) {
        self.state = SenderState::Init;
        self.init = init;
        self.wants_init = true;
        self.tries = 0;
    }

    /// A sender that leaves is off as soon as nothing is outstanding (LLR-18).
    #[inline]
    pub(super) fn leave_if_drained(&mut self) {
        if self.is_leaving && self.outstanding.is_empty() {
            self.give_up(self.outstanding.next());
            self.state = SenderState::Off;
        }
    }
}
