//! What LinkGuardian did, in the words of all protections and in its own.

use super::{Counters, LinkGuardianLink};
use crate::net::report::EgressCounters;
use crate::net::{Figure, Report};
use lossylink_core::time::Instant;

/// Picoseconds in a microsecond.
const PS_PER_US: f64 = 1e6;

impl<P: Copy + Default> LinkGuardianLink<P> {
    pub(super) fn described(&self, now: Instant) -> Report {
        let counters = self.counters(now);
        Report {
            recovered: counters.receiver.retransmissions - counters.receiver.duplicates,
            given_up: counters.timeouts,
            egress: EgressCounters::of(&self.sending.normal),
            tx_buffer_max_bytes: counters.tx_high_water_bytes,
            rx_buffer_max_bytes: counters.rx_high_water_bytes,
            figures: self.figures(&counters),
            ..Report::default()
        }
    }

    /// Every cause of a loss that stays has a count of its own (LG-35).
    fn figures(&self, counters: &Counters) -> Vec<Figure> {
        let (sender, receiver) = (counters.sender, counters.receiver);
        let delays = self.retransmission_delay().histogram();
        let copies = u64::from(self.sending.engine.config().copies);
        vec![
            Figure::setting("copies", copies, "copies of each retransmission (LG-19)"),
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
