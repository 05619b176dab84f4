//! The receiving end: forwards frames in order, and asks once for a missing frame (LLR-5, LLR-9,
//! LLR-10).

use super::{Control, Init, Number, ReceiverCounters};
use crate::time::Instant;

/// The state of the receiver; the transitions stand in `docs/protocols/llr.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReceiverState {
    /// No INIT has come: the receiver knows no number.
    Off,
    /// Frames come in order and are acknowledged (LLR-9).
    SendAcks,
    /// A frame is missing, and the NACK waits for the outlet (LLR-10).
    SendNack,
    /// The NACK has been sent, and the receiver awaits the missing frame without a further control set
    /// (LLR-10).
    NackSent,
}

/// The condition in which a frame arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// Arrived whole.
    Good,
    /// Marked as corrupted by a switch before the link: sending the frame again would not repair it
    /// (LLR-5).
    Poisoned,
    /// Corrupted on the link.
    Bad,
}

/// The decision about a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The frame is forwarded.
    Forward,
    /// The frame is dropped; if it is needed, the sender replays it.
    Discard,
}

/// The receiving engine of one direction.
/// The driver calls [`handle_frame`](Self::handle_frame) and [`handle_control`](Self::handle_control) in
/// the order of arrival, and after either asks the [`Outlet`](super::Outlet) for a control set.
#[derive(Clone, Debug)]
pub struct Receiver {
    state: ReceiverState,
    expected: Number,
    /// The INIT in force.
    init: Init,
    echo: Option<Init>,
    wants_ack: bool,
    counters: ReceiverCounters,
}

impl Receiver {
    /// Returns a receiver that is off.
    pub fn new() -> Self {
        Self {
            state: ReceiverState::Off,
            expected: Number::ZERO,
            init: Init::default(),
            echo: None,
            wants_ack: false,
            counters: ReceiverCounters::default(),
        }
    }

    /// Returns a receiver that took INIT(`init`) before the run began.
    pub fn established(init: Init) -> Self {
        Self { state: ReceiverState::SendAcks, expected: init.number, init, ..Self::new() }
    }

    /// Returns the state of the receiver.
    pub const fn state(&self) -> ReceiverState {
        self.state
    }

    /// Returns the number of the frame to be forwarded next.
    pub const fn expected(&self) -> Number {
        self.expected
    }

    /// Returns the counters of the receiver.
    pub const fn counters(&self) -> &ReceiverCounters {
        &self.counters
    }

    /// Forgets all state but the counters, as after a restart: off until the next INIT.
    pub fn stop(&mut self, _now: Instant) {
        *self = Self { counters: self.counters, ..Self::new() };
    }

    /// Decides about an arriving frame, with its number if it has one. A driver that cannot see
    /// corrupted frames leaves them out, and the gap in the numbers shows the loss (LLR-10).
    #[inline]
    pub fn handle_frame(&mut self, _now: Instant, number: Option<Number>, condition: Condition) -> Verdict {
        let Some(number) = number else {
            return self.handle_unnumbered(condition);
        };
        let counters = &mut self.counters;
        match condition {
            Condition::Good => counters.rx_ok += 1,
            Condition::Poisoned => counters.rx_poisoned += 1,
            Condition::Bad => counters.rx_bad += 1,
        }
        if self.state == ReceiverState::Off {
            self.counters.rx_discard += 1;
            return Verdict::Discard;
        }
        if number != self.expected {
            return self.handle_out_of_sequence(number);
        }
        match condition {
            Condition::Good => self.counters.rx_expected_seq_good += 1,
            Condition::Poisoned => self.counters.rx_expected_seq_poisoned += 1,
            Condition::Bad => {
                self.counters.rx_expected_seq_bad += 1;
                self.ask();
                return Verdict::Discard;
            }
        }
        self.counters.rx_replay += u64::from(self.state != ReceiverState::SendAcks);
        self.state = ReceiverState::SendAcks;
        self.expected = number.next();
        self.wants_ack = true;
        Verdict::Forward
    }

    /// Takes in a control set. Control sets for the sender of the other direction are ignored.
    pub fn handle_control(&mut self, _now: Instant, control: Control) {
        let Control::Init(init) = control else { return };
        self.counters.rx_init += 1;
        self.echo = Some(init);
        // A repetition of the INIT in force must not turn the expected number back (LLR-15).
        if self.state == ReceiverState::Off || init != self.init {
            self.state = ReceiverState::SendAcks;
            (self.init, self.expected, self.wants_ack) = (init, init.number, false);
        }
    }

    /// Whether a control set waits to be sent.
    #[inline]
    pub(super) const fn wants_control(&self) -> bool {
        matches!(self.state, ReceiverState::SendNack) || self.echo.is_some() || self.wants_ack
    }

    /// Takes the most urgent control set that waits. A NACK is first, because frames wait for it. An
    /// echo is next, because frames go unprotected until it comes. An ACK is last, because the next ACK
    /// repeats its content (LLR-8).
    #[inline]
    pub(super) fn poll_control(&mut self, _now: Instant) -> Option<Control> {
        let last_good = self.expected.previous();
        if self.state == ReceiverState::SendNack {
            self.state = ReceiverState::NackSent;
            self.counters.tx_nack += 1;
            return Some(Control::Nack(last_good));
        }
        if let Some(init) = self.echo.take() {
            self.counters.tx_init_echo += 1;
            return Some(Control::InitEcho(init));
        }
        if !core::mem::take(&mut self.wants_ack) {
            return None;
        }
        self.counters.tx_ack += 1;
        Some(Control::Ack(last_good))
    }

    /// Decides about a frame that the sender did not number: it is forwarded unless it is corrupted
    /// (LLR-17).
    fn handle_unnumbered(&mut self, condition: Condition) -> Verdict {
        self.counters.unnumbered += 1;
        if condition == Condition::Bad { Verdict::Discard } else { Verdict::Forward }
    }

    /// Drops a frame with another number than the expected one. A number beyond it shows a missing
    /// frame. A number before it shows that an ACK was lost, and the ACK is sent again.
    #[cold]
    fn handle_out_of_sequence(&mut self, number: Number) -> Verdict {
        if number.ahead_of(self.expected) > 0 {
            self.counters.rx_missing_seq += 1;
            self.ask();
        } else {
            self.counters.rx_duplicate_seq += 1;
            self.wants_ack = self.state == ReceiverState::SendAcks;
        }
        Verdict::Discard
    }

    /// Asks for the missing frame at the first error. The receiver is then silent until that frame comes
    /// (LLR-10).
    fn ask(&mut self) {
        if self.state == ReceiverState::SendAcks {
            self.state = ReceiverState::SendNack;
            self.wants_ack = false;
        }
    }
}

impl Default for Receiver {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::Outlet;
    use super::super::tests::{SPACING, number, us};
    use super::*;

    pub(in super::super) fn answer(receiver: &mut Receiver, now: Instant) -> Option<Control> {
        Outlet::new(SPACING).poll_control(now, None, Some(receiver))
    }

    fn good(receiver: &mut Receiver, bits: u32) -> Verdict {
        receiver.handle_frame(us(0), Some(number(bits)), Condition::Good)
    }

    // LLR-15
    #[test]
    fn a_repeated_init_changes_nothing_and_is_echoed() {
        let mut receiver = Receiver::new();
        let init = Init { number: number(5), data: 1 };
        assert_eq!(good(&mut receiver, 5), Verdict::Discard);
        receiver.handle_control(us(0), Control::Init(init));
        assert_eq!(answer(&mut receiver, us(0)), Some(Control::InitEcho(init)));
        assert_eq!(good(&mut receiver, 5), Verdict::Forward);
        receiver.handle_control(us(0), Control::Init(init));
        assert_eq!(answer(&mut receiver, us(0)), Some(Control::InitEcho(init)));
        assert_eq!((receiver.expected(), good(&mut receiver, 5)), (number(6), Verdict::Discard));
        receiver.handle_control(us(0), Control::Init(Init { data: 2, ..init }));
        assert_eq!((receiver.expected(), receiver.counters().rx_discard), (number(5), 1));
        receiver.stop(us(0));
        assert_eq!((receiver.state(), receiver.counters().rx_init), (ReceiverState::Off, 3));
    }

    // LLR-10
    #[test]
    fn one_nack_and_then_silence_until_the_missing_frame_comes() {
        let mut receiver = Receiver::established(Init::default());
        assert_eq!(good(&mut receiver, 0), Verdict::Forward);
        assert_eq!(good(&mut receiver, 2), Verdict::Discard);
        assert_eq!(receiver.state(), ReceiverState::SendNack);
        assert_eq!(answer(&mut receiver, us(0)), Some(Control::Nack(number(0))));
        for bits in [3, 0, 4] {
            assert_eq!(good(&mut receiver, bits), Verdict::Discard);
            assert_eq!(answer(&mut receiver, us(1)), None);
        }
        assert_eq!(good(&mut receiver, 1), Verdict::Forward);
        assert_eq!(answer(&mut receiver, us(2)), Some(Control::Ack(number(1))));
        let counters = receiver.counters();
        assert_eq!((counters.rx_missing_seq, counters.rx_duplicate_seq, counters.rx_replay), (3, 1, 1));
    }

    // LLR-9, LLR-10
    #[test]
    fn a_nack_that_waits_is_dropped_when_the_frame_comes_first() {
        let mut receiver = Receiver::established(Init::default());
        good(&mut receiver, 1);
        good(&mut receiver, 0);
        assert_eq!(answer(&mut receiver, us(0)), Some(Control::Ack(number(0))));
        assert_eq!(good(&mut receiver, 0), Verdict::Discard);
        assert_eq!(answer(&mut receiver, us(1)), Some(Control::Ack(number(0))));
        assert_eq!(answer(&mut receiver, us(2)), None);
    }

    // LLR-5, LLR-10, LLR-19
    #[test]
    fn a_bad_frame_asks_and_a_poisoned_one_passes() {
        let mut receiver = Receiver::established(Init::default());
        let mut arrives = |bits, condition| receiver.handle_frame(us(0), Some(number(bits)), condition);
        assert_eq!(arrives(0, Condition::Poisoned), Verdict::Forward);
        assert_eq!(arrives(1, Condition::Bad), Verdict::Discard);
        assert_eq!(arrives(2, Condition::Poisoned), Verdict::Discard);
        assert_eq!(answer(&mut receiver, us(0)), Some(Control::Nack(number(0))));
        let counters = receiver.counters();
        assert_eq!((counters.rx_poisoned, counters.rx_bad), (2, 1));
        assert_eq!((counters.rx_expected_seq_poisoned, counters.rx_expected_seq_bad), (1, 1));
    }

    // LLR-17
    #[test]
    fn frames_without_a_number_pass_in_every_state() {
        let mut receiver = Receiver::new();
        let unnumbered = |receiver: &mut Receiver, condition| receiver.handle_frame(us(0), None, condition);
        assert_eq!(unnumbered(&mut receiver, Condition::Good), Verdict::Forward);
        receiver.handle_control(us(0), Control::Init(Init::default()));
        good(&mut receiver, 3);
        assert_eq!(unnumbered(&mut receiver, Condition::Good), Verdict::Forward);
        assert_eq!(unnumbered(&mut receiver, Condition::Bad), Verdict::Discard);
        assert_eq!(receiver.counters().unnumbered, 3);
    }
}
