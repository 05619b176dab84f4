//! What LinkGuardian did, in the words of all protections and in its own.

use super::{Counters, LinkGuardianLink};
use crate::net::report::EgressCounters;
use crate::net::{Ends, Figure, Payload, Report};
use lossylink_core::engine::linkguardian::{
    OrderState, PausingState, ReceivingState, SendingState, TimerState,
};
use lossylink_core::engine::report::{Counter, Group};
use lossylink_core::time::Instant;
use lossylink_core::units::Bytes;

/// Picoseconds in a microsecond.
const PS_PER_US: f64 = 1e6;

impl<P: Payload> LinkGuardianLink<P> {
    pub(super) fn described(&mut self, now: Instant) -> Report {
        let counters = self.counters(now);
        Report {
            recovered: counters.receiver.recovered,
            given_up: counters.timeouts,
            egress: EgressCounters::of(&self.sending.normal),
            tx_buffer_max_bytes: counters.tx_high_water_bytes,
            rx_buffer_max_bytes: counters.rx_high_water_bytes,
            figures: self.figures(&counters),
            ..Report::default()
        }
    }

    pub(super) fn both_ends(&mut self, now: Instant) -> Ends {
        let in_flight = self.forward.arrivals.len() + self.forward.copies.len();
        Ends {
            is_on: true,
            near: vec![self.sending_end(now)],
            far: vec![self.receiving_end(now)],
            in_flight: Some(in_flight as u64),
            reverse: *self.backward.wire.traffic(),
        }
    }

    fn sending_end(&mut self, now: Instant) -> Group {
        let (held, sending) = (self.sending.tx_buffer_bytes(now), &self.sending);
        let state = SendingState {
            kept: sending.copies.len() as u64,
            held: Bytes(held),
            most_held: Bytes(sending.copies.high_water_bytes()),
            evicted: sending.copies.dropped(),
            ..SendingState::of(&sending.engine)
        };
        let mut group = state.group();
        if self.receiving.backpressure.is_some() {
            group.counters.extend([
                Counter::new("queue_paused", "Whether a pause holds the queue.", sending.is_paused()),
                Counter::new(
                    "pauses_expired",
                    "Pauses that ran out without a resume.",
                    sending.expired_pauses(),
                ),
            ]);
        }
        group
    }

    fn receiving_end(&mut self, now: Instant) -> Group {
        let receiving = &mut self.receiving;
        let held = receiving.rx_buffer_bytes(now);
        let register = receiving.back.register(now);
        let (engine, side) = (&receiving.engine, receiving.engine.as_ordered());
        let order = side.map(|side| OrderState {
            given_up: side.skipped(),
            held: Bytes(held),
            most_held: Bytes(receiving.rx_high_water_bytes()),
            overflowed: receiving.rx_dropped(),
        });
        let timer = side.map(|side| TimerState {
            time_remaining: side.time_remaining(now, engine.expected()),
            passed: side.timer_packets(now) - (side.skipped() - receiving.overrun),
        });
        let state = ReceivingState {
            order,
            pausing: receiving.backpressure.as_ref().map(PausingState::from),
            timer,
            control_copies: receiving.back.control_copies,
            ..ReceivingState::of(engine, &register)
        };
        state.group()
    }

    /// Every cause of a loss that stays has a count of its own (LG-35).
    fn figures(&self, counters: &Counters) -> Vec<Figure> {
        let (sender, receiver) = (counters.sender, counters.receiver);
        let delays = self.retransmission_delay().histogram();
        let copies = u64::from(self.sending.engine.config().copies);
        vec![
            Figure::setting("copies", copies, "copies of each retransmission (LG-19)"),
            Figure::setting(
                "control_copies",
                u64::from(self.receiving.back.control_copies),
                "copies of each loss notification, pause and resume (LG-46)",
            ),
            Figure::count(
                "retransmissions",
                sender.retransmitted,
                "lost frames sent again, each in all its copies",
            ),
            Figure::count("duplicates_dropped", receiver.duplicates, "copies that were not needed"),
            Figure::count("timeouts", counters.timeouts, "positions that the ordered side gave up (LG-21)"),
            Figure::measure(
                "retx_delay_us_p50",
                delays.percentile(0.5).map(|ps| ps / PS_PER_US),
                "from the detection of a loss to the first copy, median",
            ),
            Figure::measure(
                "retx_delay_us_max",
                delays.max().map(|ps| ps as f64 / PS_PER_US),
                "the same, longest",
            ),
            Figure::measure(
                "pause_seconds",
                Some(counters.paused.as_secs_f64()),
                "time for which the sender's normal queue was paused (LG-25)",
            ),
            Figure::count("pauses", counters.pauses, "pause frames sent (LG-23)"),
            Figure::count("pauses_expired", counters.expired_pauses, "pauses that ran out without a resume"),
            Figure::count(
                "losses_beyond_cap",
                sender.beyond_cap,
                "losses of a run that is too long to ask for (LG-9)",
            ),
            Figure::count(
                "late_retransmissions",
                receiver.late,
                "copies that came after their position was given up",
            ),
            Figure::count(
                "tx_buffer_drops",
                counters.tx_buffer_dropped,
                "copies not kept, the Tx buffer being full",
            ),
            Figure::count(
                "rx_buffer_drops",
                counters.rx_buffer_dropped,
                "frames dropped, the reorder buffer being full",
            ),
            Figure::count("dummies", sender.dummies, "dummies sent (LG-18)"),
            Figure::count("acks", sender.acks, "acknowledgements taken in"),
            Figure::count("notifications", sender.notifications, "loss notifications taken in"),
        ]
    }
}
