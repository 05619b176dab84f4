//! The news of one acknowledgement, gathered while it is processed.

use super::scoreboard::Segment;

/// The news of one acknowledgement.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Progress {
    /// Whether the cumulative acknowledgement advanced.
    pub(super) advanced: bool,
    /// Whether segments were SACKed for the first time.
    pub(super) data_sacked: bool,
    /// Whether the receiver reported a duplicate that a retransmission explains.
    pub(super) duplicate_reported: bool,
    /// Whether the duplicate is that of the tail-loss probe.
    pub(super) probe_duplicated: bool,
    /// Whether a segment of the current recovery arrived without having been retransmitted.
    pub(super) original_delivered: bool,
    /// Whether a retransmitted segment was cumulatively acknowledged.
    pub(super) retransmission_acked: bool,
    /// Whether a retransmission was found lost.
    pub(super) retransmission_lost: bool,
    /// Whether the receiver echoed a congestion mark.
    pub(super) congestion_echoed: bool,
    /// Timestamp echo in milliseconds; zero for none.
    pub(super) echo: u32,
    /// Whether the acknowledgement has nothing new at all.
    pub(super) is_duplicate: bool,
    /// Whether the retransmission timer restarts.
    pub(super) set_timer: bool,
    /// The send times of the first and the last segment that were newly SACKed and never retransmitted.
    pub(super) sacked_sent_us: Option<(u64, u64)>,
    /// The send times of the first and the last segment that were cumulatively acknowledged and never
    /// retransmitted.
    pub(super) acked_sent_us: Option<(u64, u64)>,
    /// The lowest segment that arrived after a higher one without being retransmitted.
    pub(super) reordered_from: Option<u64>,
    /// Of the delivered segment that was sent last: send time, one past its number, and deliveries
    /// before it was sent.
    pub(super) latest: Option<(u64, u64, u32)>,
    /// The round-trip time of the last segment delivered, microseconds.
    pub(super) rtt_us: Option<u64>,
}

impl Progress {
    /// Whether the acknowledgement is anything but plain progress in sequence.
    pub(super) const fn is_dubious(&self) -> bool {
        !self.advanced || self.data_sacked || self.duplicate_reported || self.congestion_echoed
    }

    /// Whether the timestamp tells that the original of a retransmitted segment arrived.
    pub(super) fn is_needless(&self, segment: &Segment) -> bool {
        segment.was_retransmitted() && self.echo != 0 && self.echo < (segment.sent_us / 1000) as u32 + 1
    }

    /// Notes a segment that arrived late though never retransmitted.
    pub(super) fn note_reordered(&mut self, number: u64) {
        self.reordered_from = Some(self.reordered_from.map_or(number, |lowest| lowest.min(number)));
    }

    /// Notes a segment, never retransmitted, that was SACKed; `recovering` says that it was outstanding
    /// when the recovery state began.
    pub(super) fn note_sacked(&mut self, sent_us: u64, recovering: bool) {
        extend(&mut self.sacked_sent_us, sent_us);
        self.original_delivered |= recovering;
    }

    /// Notes a segment, never retransmitted, that was cumulatively acknowledged.
    pub(super) fn note_acknowledged(&mut self, sent_us: u64, recovering: bool) {
        extend(&mut self.acked_sent_us, sent_us);
        self.original_delivered |= recovering;
    }

    /// Notes a delivery, for samples over the round trip of the last segment sent.
    pub(super) fn note_delivered(&mut self, number: u64, segment: &Segment) {
        let sample = (segment.sent_us, number + 1, segment.delivered);
        if self.latest.is_none_or(|latest| (sample.0, sample.1) > (latest.0, latest.1)) {
            self.latest = Some(sample);
        }
    }
}

/// Widens a span of send times.
fn extend(span: &mut Option<(u64, u64)>, sent_us: u64) {
    *span = Some((span.map_or(sent_us, |(first, _)| first), sent_us));
}
