//! Tail-loss probe (RFC 8985 section 7): asks about an unacknowledged tail before the timeout does.

use super::clock::Clock;
use super::progress::Progress;
use super::rack::TIMER_SLACK;
use super::recovery_state::State;
use super::rtt::RoundTrip;
use lossylink_core::time::Duration;

/// The longest delay of a lone segment's acknowledgement (Linux `TCP_RTO_MIN`).
const LONE_SEGMENT_WAIT: Duration = Duration::from_ms(200);
/// The wait before any round-trip sample (Linux `TCP_TIMEOUT_INIT`).
const FIRST_WAIT: Duration = Duration::from_secs(1);

/// The content of a probe. (TCP-28)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    /// A new segment.
    New,
    /// The last segment, sent again.
    Last,
}

/// A probe that has no answer yet.
#[derive(Clone, Copy, Debug)]
struct Outstanding {
    /// One past the highest segment that had been sent when the probe left.
    end: u64,
    content: Content,
}

/// The only probe that may be outstanding, and whether its timer is to be armed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Probe {
    outstanding: Option<Outstanding>,
    /// Whether the present acknowledgement calls for a timer, unless new segments do.
    restarts: bool,
}

impl Probe {
    /// Whether a probe may be scheduled: segments are outstanding and none is known to be missing.
    /// (TCP-27)
    pub(super) const fn is_allowed(state: State, outstanding: u32) -> bool {
        outstanding > 0 && matches!(state, State::Open | State::Reduced)
    }

    /// Lets the timer be armed once all packets of this instant, which may move the timer, have left.
    pub(super) const fn restart(&mut self) {
        self.restarts = true;
    }

    /// Whether the timer was to be restarted since the last call.
    pub(super) fn take_restart(&mut self) -> bool {
        std::mem::take(&mut self.restarts)
    }

    /// Returns the jiffies until the probe leaves with `outstanding` segments outstanding: two round
    /// trips, two jiffies, and the delayed acknowledgement of a lone segment, but not beyond the
    /// timeout. (TCP-27)
    ///
    /// The timeout runs from now, or from `head_sent_us`, when the first outstanding segment left.
    pub(super) fn wait(outstanding: u32, head_sent_us: Option<u64>, rtt: &RoundTrip, clock: &Clock) -> u64 {
        let wait = match rtt.two_round_trips() {
            Some(round_trips) if outstanding == 1 => round_trips + clock.jiffies_in(LONE_SEGMENT_WAIT),
            Some(round_trips) => round_trips + TIMER_SLACK,
            None => clock.jiffies_in(FIRST_WAIT),
        };
        let until_timeout = match head_sent_us {
            Some(sent_us) => rtt.left_of_timeout_within(wait, sent_us, clock),
            None => Some(rtt.timeout()),
        };
        until_timeout.map_or(wait, |left| left.min(wait))
    }

    /// Returns the content of the probe that is due; `None` while another probe has no answer. (TCP-28)
    pub(super) fn due(&self, has_new_data: bool) -> Option<Content> {
        let content = if has_new_data { Content::New } else { Content::Last };
        self.outstanding.is_none().then_some(content)
    }

    /// Notes that a probe left, when the highest segment sent ended before `end`.
    pub(super) const fn note_sent(&mut self, content: Content, end: u64) {
        self.outstanding = Some(Outstanding { end, content });
    }

    /// Whether no probe is outstanding.
    #[cfg(feature = "fast")]
    pub(super) const fn is_idle(&self) -> bool {
        self.outstanding.is_none()
    }

    /// Forgets a probe that is answered or superseded.
    pub(super) const fn forget(&mut self) {
        self.outstanding = None;
    }

    /// Whether a probe that repeated a segment is outstanding.
    pub(super) fn is_retransmission(&self) -> bool {
        self.outstanding.is_some_and(|probe| probe.content == Content::Last)
    }

    /// Whether a duplicate of the segment before `end` would answer the probe.
    pub(super) fn is_answered_by_duplicate(&self, end: u64) -> bool {
        self.outstanding.is_some_and(|probe| probe.end == end)
    }

    /// Takes an acknowledgement of `next`. Returns whether it shows that the probe repaired a loss, of
    /// which nothing else would have told. (TCP-29)
    pub(super) fn take_answer(&mut self, next: u64, progress: &Progress) -> bool {
        let Some(Outstanding { end, content }) = self.outstanding.filter(|probe| next >= probe.end) else {
            return false;
        };
        let was_needless = content == Content::New || progress.probe_duplicated;
        let is_repair = !was_needless && next > end;
        if was_needless || is_repair || !(progress.advanced || progress.data_sacked) {
            self.forget();
        }
        is_repair
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(content: Content, next: u64, progress: Progress) -> (bool, bool) {
        let mut probe = Probe::default();
        probe.note_sent(content, 10);
        let repaired = probe.take_answer(next, &progress);
        (repaired, probe.due(false).is_none())
    }

    /// TCP-28
    #[test]
    fn one_probe_is_outstanding_at_most() {
        let mut probe = Probe::default();
        assert_eq!((probe.due(true), probe.due(false)), (Some(Content::New), Some(Content::Last)));
        probe.note_sent(Content::Last, 10);
        assert_eq!(probe.due(true), None);
        probe.forget();
        assert_eq!(probe.due(true), Some(Content::New));
    }

    /// TCP-29
    #[test]
    fn only_an_answer_beyond_a_repeated_probe_shows_a_repair() {
        let advanced = Progress { advanced: true, ..Progress::default() };
        let duplicated = Progress { probe_duplicated: true, ..advanced };
        assert_eq!(answered(Content::Last, 9, advanced), (false, true), "not answered yet");
        assert_eq!(answered(Content::Last, 10, advanced), (false, true), "by the original or the probe");
        assert_eq!(answered(Content::Last, 10, Progress::default()), (false, false), "by a pure repetition");
        assert_eq!(answered(Content::Last, 11, advanced), (true, false));
        assert_eq!(answered(Content::Last, 11, duplicated), (false, false));
        assert_eq!(answered(Content::New, 11, advanced), (false, false));
    }
}
