//! The start of a sender, its flush, and its end (LLR-15..18).

use super::super::{Control, Init, Number};
use super::{Sender, SenderState};
use crate::time::Instant;

impl Sender {
    /// Returns an INIT whose numbers go on after all frames sent so far, so that frames still under
    /// way are told from those to come (LLR-15).
    pub fn next_init(&self) -> Init {
        Init { number: self.next(), data: self.init.data.wrapping_add(1) }
    }

    /// Starts the protection, or starts it over. Outstanding frames are given up, and INIT(`init`) is
    /// sent until it is echoed (LLR-15). `init.data` differs from the last one's, and `init.number`
    /// lies at or beyond [`next`](Self::next) while frames are under way.
    pub fn start(&mut self, _now: Instant, init: Init) {
        self.give_up(init.number);
        self.is_leaving = false;
        self.begin_init(init);
    }

    /// Stops numbering. New frames wait until no frame is outstanding; from then on they go without a
    /// number. Returns whether that is so (LLR-18).
    pub fn leave(&mut self, _now: Instant) -> bool {
        self.is_leaving = true;
        self.leave_if_drained();
        self.state == SenderState::Off
    }

    /// Takes back [`leave`](Self::leave), if the sender still numbers frames (LLR-18).
    pub fn stay(&mut self) {
        self.is_leaving = false;
    }

    /// Whether an INIT waits to be sent.
    #[inline]
    pub(in super::super) const fn wants_init(&self) -> bool {
        self.wants_init
    }

    /// Takes the INIT that waits. The sender repeats it if no echo comes (LLR-15).
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

    /// Takes in an echo, which says that the receiver is ready (LLR-15). Only the echo of the INIT
    /// that was sent last counts.
    pub(super) fn handle_echo(&mut self, echo: Init) {
        self.counters.rx_init_echo += 1;
        if self.state == SenderState::Init && echo == self.init {
            self.state = SenderState::Advance;
            (self.wants_init, self.retry, self.tries) = (false, Instant::NEVER, 0);
        }
    }

    /// Gives up the outstanding frames, and starts over or stops (LLR-16).
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

    /// Gives up the outstanding frames. The next number is `next`.
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

    /// Turns a sender that leaves off as soon as no frame is outstanding (LLR-18).
    #[inline]
    pub(super) fn leave_if_drained(&mut self) {
        if self.is_leaving && self.outstanding.is_empty() {
            self.give_up(self.outstanding.next());
            self.state = SenderState::Off;
        }
    }
}
