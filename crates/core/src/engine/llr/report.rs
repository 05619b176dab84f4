//! The counters of link-level retry in the words of the report, by the names of S1 (LLR-19).
//!
//! Left out are the counters of poisoned frames, which nobody sends.

use super::{Number, Receiver, ReceiverCounters, ReceiverState, Sender, SenderCounters, SenderState};
use crate::engine::report::Counter;
use crate::time::Duration;
use crate::units::Bytes;
use alloc::vec;
use alloc::vec::Vec;

/// The name of the group that has the counters of both ends.
pub const GROUP: &str = "llr";

/// Figures of the sending end.
#[derive(Clone, Copy, Debug)]
pub struct SendingState {
    /// The engine's counters.
    pub counters: SenderCounters,
    /// The state of the sending engine.
    pub state: SenderState,
    /// The number that the next frame takes.
    pub next: Number,
    /// Frames sent and not acknowledged.
    pub outstanding: u32,
    /// Bytes of the outstanding frames.
    pub held: Bytes,
    /// The most bytes ever outstanding.
    pub most_held: Bytes,
    /// Bytes that may be outstanding.
    pub window: Bytes,
    /// The replay timer in force.
    pub timer: Duration,
    /// Whether the timer was too short and has been raised; `None` where a timer is never raised.
    pub is_raised: Option<bool>,
}

impl SendingState {
    /// Returns the figures that the engine knows, on a link whose sizes are the engine's own.
    pub fn of(engine: &Sender, most_held: Bytes) -> Self {
        Self {
            counters: *engine.counters(),
            state: engine.state(),
            next: engine.next(),
            outstanding: engine.outstanding_frames(),
            held: engine.outstanding_bytes(),
            most_held,
            window: engine.config().outstanding_bytes_max,
            timer: engine.config().replay_timer,
            is_raised: None,
        }
    }

    /// Returns the counters of the sending end in the words of the report.
    pub fn counters(&self) -> Vec<Counter> {
        let engine = &self.counters;
        let mut counters = vec![
            Counter::level(
                "tx_state",
                "Sending end: 0 off, 1 INIT sent, 2 sends new frames, 3 replays, 4 flushed.",
                match self.state {
                    SenderState::Off => 0,
                    SenderState::Init => 1,
                    SenderState::Advance => 2,
                    SenderState::Replay => 3,
                    SenderState::Flush => 4u64,
                },
            ),
            Counter::level("tx_next", "Number that the next frame takes.", u64::from(self.next.bits())),
            Counter::level(
                "outstanding_frames",
                "Frames sent and not acknowledged.",
                u64::from(self.outstanding),
            ),
            Counter::level("outstanding_bytes", "Their bytes, which are kept.", self.held.0),
            Counter::level("outstanding_max_bytes", "The most bytes ever kept.", self.most_held.0),
            Counter::level("window_bytes", "Bytes that may be outstanding at present.", self.window.0),
            Counter::level(
                "replay_timer_ns",
                "The replay timer in force, in nanoseconds.",
                self.timer.as_ps() / 1_000,
            ),
            Counter::new("tx_init", "INITs sent.", engine.tx_init),
            Counter::new("rx_init_echo", "INIT_ECHOes taken in.", engine.rx_init_echo),
            Counter::new("rx_ack", "ACKs taken in.", engine.rx_ack),
            Counter::new("rx_nack", "NACKs taken in.", engine.rx_nack),
            Counter::new(
                "rx_ack_nack_seq_error",
                "ACKs and NACKs for numbers that are not outstanding.",
                engine.rx_ack_nack_seq_error,
            ),
            Counter::new("tx_ok", "New frames sent with a number.", engine.tx_ok),
            Counter::new("tx_discard", "New frames dropped while nothing is numbered.", engine.tx_discard),
            Counter::new("tx_unnumbered", "New frames sent without a number.", engine.unnumbered),
            Counter::new("tx_replay", "Replays begun.", engine.tx_replay),
            Counter::new("tx_replayed_frames", "Frames sent again.", engine.replayed_frames),
            Counter::new("tx_timer_replays", "Replays that the timer began.", engine.timer_replays),
            Counter::new("tx_flushes", "Times that what was outstanding was given up.", engine.flushes),
            Counter::new("tx_given_up", "Outstanding frames given up.", engine.given_up),
        ];
        counters.extend(Counter::level_of(
            "timer_raised",
            "Whether the chosen timer is too short for the loop.",
            self.is_raised,
        ));
        counters
    }
}

/// Figures of the receiving end.
#[derive(Clone, Copy, Debug)]
pub struct ReceivingState {
    /// The engine's counters.
    pub counters: ReceiverCounters,
    /// The state of the receiving engine.
    pub state: ReceiverState,
    /// The number of the frame to be forwarded next.
    pub expected: Number,
    /// INITs older than the INIT in force, where such INITs can come.
    pub stale_inits: Option<u64>,
    /// Frames with a wrong check sequence, where the receiving end sees them.
    pub bad: Option<u64>,
}

impl ReceivingState {
    /// Returns the figures that the engine knows.
    pub fn of(engine: &Receiver) -> Self {
        Self {
            counters: *engine.counters(),
            state: engine.state(),
            expected: engine.expected(),
            stale_inits: None,
            bad: None,
        }
    }

    /// Returns the counters of the receiving end in the words of the report.
    pub fn counters(&self) -> Vec<Counter> {
        let engine = &self.counters;
        let mut counters = vec![
            Counter::level(
                "rx_state",
                "Receiving end: 0 off, 1 sends ACKs, 2 is to send a NACK, 3 waits for what it asked for.",
                match self.state {
                    ReceiverState::Off => 0,
                    ReceiverState::SendAcks => 1,
                    ReceiverState::SendNack => 2,
                    ReceiverState::NackSent => 3u64,
                },
            ),
            Counter::level(
                "rx_expected",
                "Number that is let through next.",
                u64::from(self.expected.bits()),
            ),
            Counter::new("rx_init", "INITs taken in.", engine.rx_init),
            Counter::new("tx_init_echo", "INIT_ECHOes sent.", engine.tx_init_echo),
            Counter::new("tx_ack", "ACKs sent.", engine.tx_ack),
            Counter::new("tx_nack", "NACKs sent.", engine.tx_nack),
            Counter::new("rx_ok", "Numbered frames that arrived.", engine.rx_ok),
            Counter::new(
                "rx_expected_seq_good",
                "Those with the expected number, handed on.",
                engine.rx_expected_seq_good,
            ),
            Counter::new(
                "rx_missing_seq",
                "Those beyond the expected number, dropped.",
                engine.rx_missing_seq,
            ),
            Counter::new("rx_duplicate_seq", "Those that came before, dropped.", engine.rx_duplicate_seq),
            Counter::new("rx_replay", "Replays that brought the missing frame.", engine.rx_replay),
            Counter::new(
                "rx_discard",
                "Numbered frames that came before any INIT, dropped.",
                engine.rx_discard,
            ),
        ];
        counters.extend(Counter::of(
            "rx_stale_init",
            "INITs older than the one in force, dropped.",
            self.stale_inits,
        ));
        counters.extend(Counter::of("rx_bad", "Numbered frames whose check sequence was wrong.", self.bad));
        counters
    }
}
