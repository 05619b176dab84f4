//! The counters of link-level retry in the words of the report, by the names of S1 (LLR-19).
//!
//! Left out is what cannot happen live: poisoned frames, and frames with a wrong check sequence, which the
//! network card drops.

use super::super::{ReceiverState, SenderState};
use super::receiving::Receiving;
use super::sending::SendingState;
use crate::engine::guard::{Counter, Group};
use alloc::vec;
use alloc::vec::Vec;

/// Both ends; a sending end that never was has nothing to tell.
pub(super) fn group(sending: Option<&SendingState>, receiving: &Receiving) -> Group {
    let mut counters = sending.map(sender).unwrap_or_default();
    counters.extend(receiver(receiving));
    Group { name: "llr", counters }
}

fn sender(sending: &SendingState) -> Vec<Counter> {
    let engine = &sending.counters;
    vec![
        Counter::new(
            "tx_state",
            "Sending end: 0 off, 1 INIT sent, 2 sends new frames, 3 replays, 4 flushed.",
            match sending.state {
                SenderState::Off => 0,
                SenderState::Init => 1,
                SenderState::Advance => 2,
                SenderState::Replay => 3,
                SenderState::Flush => 4u64,
            },
        ),
        Counter::new("tx_next", "Number that the next frame takes.", u64::from(sending.next.bits())),
        Counter::new(
            "outstanding_frames",
            "Frames sent and not acknowledged.",
            u64::from(sending.outstanding),
        ),
        Counter::new("outstanding_bytes", "Their bytes, which are kept.", sending.held.0),
        Counter::new("outstanding_max_bytes", "The most bytes ever kept.", sending.most_held.0),
        Counter::new("window_bytes", "Bytes that may be outstanding at present.", sending.window.0),
        Counter::new(
            "replay_timer_ns",
            "The replay timer in force, in nanoseconds.",
            sending.timer.as_ps() / 1_000,
        ),
        Counter::new(
            "timer_raised",
            "Whether the chosen timer is too short for the loop.",
            sending.is_raised,
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
    ]
}

fn receiver(receiving: &Receiving) -> Vec<Counter> {
    let engine = receiving.engine().counters();
    vec![
        Counter::new(
            "rx_state",
            "Receiving end: 0 off, 1 sends ACKs, 2 is to send a NACK, 3 waits for what it asked for.",
            match receiving.engine().state() {
                ReceiverState::Off => 0,
                ReceiverState::SendAcks => 1,
                ReceiverState::SendNack => 2,
                ReceiverState::NackSent => 3u64,
            },
        ),
        Counter::new(
            "rx_expected",
            "Number that is let through next.",
            u64::from(receiving.engine().expected().bits()),
        ),
        Counter::new("rx_init", "INITs taken in.", engine.rx_init),
        Counter::new("rx_stale_init", "INITs older than the one in force, dropped.", receiving.stale_inits()),
        Counter::new("tx_init_echo", "INIT_ECHOes sent.", engine.tx_init_echo),
        Counter::new("tx_ack", "ACKs sent.", engine.tx_ack),
        Counter::new("tx_nack", "NACKs sent.", engine.tx_nack),
        Counter::new("rx_ok", "Numbered frames that arrived.", engine.rx_ok),
        Counter::new(
            "rx_expected_seq_good",
            "Those with the expected number, handed on.",
            engine.rx_expected_seq_good,
        ),
        Counter::new("rx_missing_seq", "Those beyond the expected number, dropped.", engine.rx_missing_seq),
        Counter::new("rx_duplicate_seq", "Those that came before, dropped.", engine.rx_duplicate_seq),
        Counter::new("rx_replay", "Replays that brought the missing frame.", engine.rx_replay),
        Counter::new("rx_discard", "Numbered frames that came before any INIT, dropped.", engine.rx_discard),
    ]
}
