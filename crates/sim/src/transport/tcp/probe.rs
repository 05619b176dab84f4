//! Tail-loss probe (RFC 8985 section 7): asks about a silent tail before the timeout does.

use super::progress::Progress;
use super::rack::TIMER_SLACK;
use super::recovery::State;
use super::sender::Sender;
use super::timers::SenderTimer;
use lossylink_core::time::Duration;

/// A lone segment's acknowledgement may be delayed this long (Linux `TCP_RTO_MIN`).
const LONE_SEGMENT_WAIT: Duration = Duration::from_ms(200);
/// Wait before any round-trip sample (Linux `TCP_TIMEOUT_INIT`).
const FIRST_WAIT: Duration = Duration::from_secs(1);

/// The one probe that may be outstanding.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Probe {
    /// One past the highest segment sent when the probe left; `None` without a probe.
    end: Option<u64>,
    /// Whether the probe repeated the last segment instead of sending a new one.
    retransmission: bool,
}

impl Probe {
    /// A probe is answered or superseded.
    pub(super) fn forget(&mut self) {
        self.end = None;
    }

    /// Whether a probe that repeated a segment is outstanding.
    pub(super) const fn is_retransmission(&self) -> bool {
        self.end.is_some() && self.retransmission
    }

    /// Whether a duplicate of the segment before `end` would answer the probe.
    pub(super) fn is_answered_by_duplicate(&self, end: u64) -> bool {
        self.end == Some(end)
    }

    /// Whether any probe is outstanding.
    pub(super) const fn is_outstanding(&self) -> bool {
        self.end.is_some()
    }
}

impl Sender {
    /// Whether a probe may be scheduled: something is out and nothing is known to be missing.
    pub(super) fn may_probe(&self) -> bool {
        self.board.outstanding() > 0 && matches!(self.state, State::Open | State::Reduced)
    }

    /// Arms the probe timer. With `advancing` the timeout restarts now, else it runs from the
    /// first outstanding segment. (TCP-27)
    pub(super) fn schedule_probe(&mut self, advancing: bool) {
        let wait = self.probe_wait();
        let until_timeout = match self.board.head() {
            Some(head) if !advancing => self.rtt.left_of_timeout_within(wait, head.sent_us, &self.clock),
            _ => Some(self.rtt.timeout()),
        };
        self.arm(SenderTimer::LossProbe, until_timeout.map_or(wait, |left| left.min(wait)));
    }

    /// Two round trips, two jiffies, and the delayed acknowledgement of a lone segment.
    fn probe_wait(&self) -> u64 {
        let Some(round_trips) = self.rtt.two_round_trips() else {
            return self.clock.jiffies_in(FIRST_WAIT);
        };
        let lone = self.board.outstanding() == 1;
        round_trips + if lone { self.clock.jiffies_in(LONE_SEGMENT_WAIT) } else { TIMER_SLACK }
    }

    /// Sends the probe: a new segment if there is one, else the last one again. (TCP-28)
    pub(super) fn handle_probe_timer(&mut self) {
        let nothing_outstanding = self.board.outstanding() == 0;
        if !self.probe.is_outstanding() && !nothing_outstanding {
            self.outbox = Some(if self.has_new_data() {
                self.probe.retransmission = false;
                self.send_new(1)
            } else {
                self.probe.retransmission = true;
                self.repeat_last()
            });
            self.probe.end = Some(self.board.next());
            self.statistics.loss_probes += 1;
            // The timeout runs from now.
            self.timer.disarm();
        }
        self.arm_retransmission_timer();
    }

    /// What an acknowledgement of `next` tells about the probe. (TCP-29)
    pub(super) fn take_probe_answer(&mut self, next: u64, progress: &Progress) {
        let Some(end) = self.probe.end else { return };
        if next < end {
            return;
        }
        if !self.probe.retransmission || progress.probe_duplicated {
            self.probe.forget();
        } else if next > end {
            // The probe repaired a loss that nothing else would have told of.
            self.begin_reduction();
            self.set_state(State::Reduced);
            self.end_reduction();
            self.keep_open();
            self.statistics.loss_probe_recoveries += 1;
        } else if !(progress.advanced || progress.data_sacked) {
            self.probe.forget();
        }
    }
}
