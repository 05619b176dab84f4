//! LinkGuardian's report: the counts of all protections, and its own.

use super::{Counters, RetransmissionDelay};
use crate::net::report::EgressCounters;
use crate::net::{Ends, Figure, Report, Traffic};
use lossylink_core::engine::linkguardian::{
    Acknowledgement, Backpressure, OrderState, PausingState, Receiver, ReceivingState, Sender, SendingState,
    TimerState,
};
use lossylink_core::engine::report::{Counter, Group};
use lossylink_core::time::Instant;
use lossylink_core::units::Bytes;

/// Picoseconds in a microsecond.
const PS_PER_US: f64 = 1e6;

/// The state of both ends, for a report.
pub(super) struct Seen<'a> {
    pub(super) counters: Counters,
    pub(super) sender: &'a Sender,
    pub(super) receiver: &'a Receiver,
    pub(super) register: Acknowledgement,
    pub(super) backpressure: Option<&'a Backpressure>,
    pub(super) delays: &'a RetransmissionDelay,
    pub(super) control_copies: u8,
    /// Copies that the sender keeps, and their bytes.
    pub(super) tx_copies: u64,
    pub(super) tx_bytes: u64,
    /// Bytes in the reorder buffer.
    pub(super) rx_bytes: u64,
    /// Whether a pause holds the sender's queue.
    pub(super) is_paused: bool,
    /// Positions given up because more than a window waited, whatever the time (LG-33).
    pub(super) overrun: u64,
    /// Frames on their way to the receiver.
    pub(super) in_flight: u64,
}

impl Seen<'_> {
    /// Returns the report of the link, for the row of a run.
    pub(super) fn report(&self, egress: EgressCounters) -> Report {
        Report {
            recovered: self.counters.receiver.recovered,
            given_up: self.counters.timeouts,
            egress,
            tx_buffer_max_bytes: self.counters.tx_high_water_bytes,
            rx_buffer_max_bytes: self.counters.rx_high_water_bytes,
            figures: self.figures(),
            ..Report::default()
        }
    }

    /// Returns the state of both ends at `now`.
    pub(super) fn ends(&self, now: Instant, reverse: Traffic) -> Ends {
        Ends {
            is_on: true,
            near: vec![self.sending_end()],
            far: vec![self.receiving_end(now)],
            in_flight: Some(self.in_flight),
            reverse,
        }
    }

    fn sending_end(&self) -> Group {
        let state = SendingState {
            kept: self.tx_copies,
            held: Bytes(self.tx_bytes),
            most_held: Bytes(self.counters.tx_high_water_bytes),
            evicted: self.counters.tx_buffer_dropped,
            ..SendingState::of(self.sender)
        };
        let mut group = state.group();
        if self.backpressure.is_some() {
            group.counters.extend([
                Counter::new("queue_paused", "Whether a pause holds the queue.", self.is_paused),
                Counter::new(
                    "pauses_expired",
                    "Pauses that ran out without a resume.",
                    self.counters.expired_pauses,
                ),
            ]);
        }
        group
    }

    fn receiving_end(&self, now: Instant) -> Group {
        let side = self.receiver.as_ordered();
        let order = side.map(|side| OrderState {
            given_up: side.skipped(),
            held: Bytes(self.rx_bytes),
            most_held: Bytes(self.counters.rx_high_water_bytes),
            overflowed: self.counters.rx_buffer_dropped,
        });
        let timer = side.map(|side| TimerState {
            time_remaining: side.time_remaining(now, self.receiver.expected()),
            passed: side.timer_packets(now) - (side.skipped() - self.overrun),
        });
        let state = ReceivingState {
            order,
            pausing: self.backpressure.map(PausingState::from),
            timer,
            control_copies: self.control_copies,
            ..ReceivingState::of(self.receiver, &self.register)
        };
        state.group()
    }

    /// Returns LinkGuardian's own figures. A loss that stays and is in none of the counts lost all of its copies, or its
    /// notification (LG-35).
    fn figures(&self) -> Vec<Figure> {
        let counters = &self.counters;
        let (sender, receiver) = (counters.sender, counters.receiver);
        let delays = self.delays.histogram();
        let copies = u64::from(self.sender.config().copies);
        vec![
            Figure::setting("copies", copies, "copies of each retransmission (LG-19)"),
            Figure::setting(
                "control_copies",
                u64::from(self.control_copies),
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
                sender.beyond_cap + receiver.unreported,
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
