//! The report of link-level retry, in the words of all protections and in those of S1 (LLR-19).

use super::label::Label;
use super::{LlrCounters, LlrLink};
use crate::net::report::EgressCounters;
use crate::net::{Ends, Figure, Payload, ProtectedLink, Report};
use lossylink_core::engine::llr::SenderState;
use lossylink_core::engine::llr::report::{self, ReceivingState, SendingState};
use lossylink_core::engine::report::{Counter, Group};
use lossylink_core::units::Bytes;

impl<P: Payload> LlrLink<P> {
    /// Returns the report so far. A lost frame counts as recovered when as many frames as were sent have been delivered: the
    /// receiver takes frames in order, so no other frame is delivered in place of a lost one.
    pub(super) fn described(&self) -> Report {
        let counters = self.counters();
        let LlrCounters { sender, receiver, high_water_bytes } = counters;
        let traffic = self.traffic();
        let delivered = receiver.rx_expected_seq_good + receiver.unnumbered;
        let missing = traffic.data_frames - delivered.min(traffic.data_frames);
        Report {
            recovered: traffic.data_lost.saturating_sub(missing),
            given_up: sender.given_up,
            // Frames that the action for the state drops have left the queue, and are never on the wire (LLR-17).
            dropped_within: sender.tx_discard,
            egress: EgressCounters::of(self.queue()),
            tx_buffer_max_bytes: high_water_bytes,
            figures: figures(&counters),
            ..Report::default()
        }
    }

    /// Returns the state of both ends. The sizes are the engine's own: a simulated link knows its loop. INITs come in their order.
    pub(super) fn both_ends(&self) -> Ends {
        let sender = &self.sending.engine;
        let sending = SendingState::of(sender, Bytes(self.sending.high_water_bytes()));
        let receiver = &self.receiving.engine;
        let bad = self.forward.errors_seen.then_some(receiver.counters().rx_bad);
        let receiving = ReceivingState { bad, ..ReceivingState::of(receiver) };
        Ends {
            is_on: matches!(sender.state(), SenderState::Advance | SenderState::Replay),
            near: group(sending.counters()),
            far: group(receiving.counters()),
            in_flight: Some(self.whole_in_flight()),
            reverse: *self.reverse_traffic(),
        }
    }

    fn whole_in_flight(&self) -> u64 {
        let mut frames = self.forward.frames.clone();
        let frames = std::iter::from_fn(|| frames.pop());
        let whole = frames.filter(|(_, arrival)| !matches!(arrival.label, Label::Bad(_))).count();
        (whole + self.forward.controls.len()) as u64
    }
}

fn group(counters: Vec<Counter>) -> Vec<Group> {
    vec![Group { name: report::GROUP, counters }]
}

fn figures(counters: &LlrCounters) -> Vec<Figure> {
    let LlrCounters { sender, receiver, .. } = counters;
    vec![
        Figure::count("retransmissions", sender.replayed_frames, "frames sent again in replays"),
        Figure::count("duplicates_dropped", receiver.rx_duplicate_seq, "frames before the expected one"),
        Figure::count("timeouts", sender.given_up, "outstanding frames that were given up (LLR-16)"),
        Figure::count("llr_flushes", sender.flushes, "times that the link gave up (LLR-16)"),
        Figure::count("llr_timer_replays", sender.timer_replays, "replays that the timer began (LLR-12)"),
        Figure::count("llr_unnumbered", sender.unnumbered, "frames sent without a number (LLR-17)"),
        Figure::count("llr_tx_replay", sender.tx_replay, "replays begun (LLR-11)"),
        Figure::count("llr_tx_init", sender.tx_init, "INITs sent (LLR-15)"),
        Figure::count("llr_rx_init_echo", sender.rx_init_echo, "INIT_ECHOes taken in (LLR-15)"),
        Figure::count("llr_rx_ack", sender.rx_ack, "ACKs taken in (LLR-9)"),
        Figure::count("llr_rx_nack", sender.rx_nack, "NACKs taken in (LLR-10)"),
        Figure::count(
            "llr_rx_ack_nack_seq_error",
            sender.rx_ack_nack_seq_error,
            "ACKs and NACKs of no outstanding frame",
        ),
        Figure::count("llr_tx_ok", sender.tx_ok, "frames sent with a number (LLR-3)"),
        Figure::count("llr_tx_discard", sender.tx_discard, "frames dropped by the action for the state"),
        Figure::count("llr_tx_ack", receiver.tx_ack, "ACKs sent (LLR-9)"),
        Figure::count("llr_tx_nack", receiver.tx_nack, "NACKs sent (LLR-10)"),
        Figure::count("llr_rx_missing_seq", receiver.rx_missing_seq, "frames beyond the expected one"),
        Figure::count("llr_rx_bad", receiver.rx_bad, "frames whose check sequence was wrong"),
        Figure::count("llr_rx_replay", receiver.rx_replay, "replays that brought the missing frame"),
    ]
}
