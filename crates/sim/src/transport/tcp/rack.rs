//! RACK (RFC 8985): a segment is lost when a segment that was sent later was delivered, and a reordering window has
//! passed since.

use super::clock::Clock;
use super::reordering::Reordering;
use super::rtt::RoundTrip;
use super::scoreboard::Sent;

/// Number of recoveries after which a widened reordering window shrinks again (RFC 8985 section 6.2 step 4).
const PERSISTENCE: u32 = 16;
/// The greatest reordering window in quarters of the minimum round-trip time (Linux).
const MOST_STEPS: u64 = 0xff;
/// Jiffies added to timers so that they do not fire before they are due (Linux `TCP_TIMEOUT_MIN`).
pub(super) const TIMER_SLACK: u64 = 2;

/// The verdict on an outstanding segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// No segment sent after it was delivered: the segment and all sent later are on their way.
    Underway,
    /// The segment was overtaken, and may arrive for this number of microseconds more.
    Late(u64),
    /// The segment was overtaken long enough ago to be lost.
    Lost,
}

/// The deliveries that RACK remembers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rack {
    /// The transmission of the delivered segment that was sent last.
    latest: Sent,
    /// Round-trip time of the last delivery, microseconds.
    rtt_us: u64,
    /// Whether deliveries changed anything since the last search for losses.
    advanced: bool,
    /// Reordering window in quarters of the minimum round-trip time.
    steps: u64,
    persistence: u32,
    /// Whether a duplicate was reported that may come from reordering.
    duplicate_seen: bool,
    /// Number of segments delivered when the window was last widened.
    widened_at: u64,
    reordering: Reordering,
}

impl Rack {
    pub(super) const fn new() -> Self {
        Self {
            latest: Sent::new(0, 0),
            rtt_us: 0,
            advanced: false,
            steps: 1,
            persistence: 0,
            duplicate_seen: false,
            widened_at: 0,
            reordering: Reordering::new(),
        }
    }

    /// Notes that a segment of this transmission was delivered. (TCP-21)
    ///
    /// If the delivery took less than the minimum round-trip time, an earlier copy of the segment arrived.
    pub(super) fn deliver(&mut self, now_us: u64, sent: Sent, resent: bool, least_us: u64) {
        let rtt_us = now_us - sent.at_us;
        if resent && rtt_us < least_us {
            return;
        }
        self.advanced = true;
        self.rtt_us = rtt_us;
        self.latest = self.latest.max(sent);
    }

    /// Returns how long ago the round trip of a segment sent at `sent_us` ended; negative if it goes on.
    pub(super) const fn overdue_us(&self, now_us: u64, sent_us: u64) -> i64 {
        (now_us - sent_us) as i64 - self.rtt_us as i64
    }

    /// Returns how much later than its successor a segment may arrive, microseconds, when `sacked` segments have
    /// arrived out of order. (TCP-22)
    ///
    /// Returns zero while no reordering was ever seen and loss is plausible; otherwise a quarter of the minimum
    /// round-trip time, more after duplicates, at most the smoothed round-trip time.
    pub(super) fn window_us(&self, is_repairing: bool, sacked: u32, rtt: &RoundTrip) -> u64 {
        let loss_is_plausible = is_repairing || self.reordering.is_exceeded(sacked);
        if !self.reordering.is_seen() && loss_is_plausible {
            return 0;
        }
        ((rtt.minimum_us() / 4) * self.steps).min(rtt.smoothed_us())
    }

    /// Judges a segment whose last transmission was `sent`. (TCP-24)
    pub(super) fn judge(&self, window_us: u64, now_us: u64, sent: Sent) -> Verdict {
        if self.latest <= sent {
            return Verdict::Underway;
        }
        let remaining_us = window_us as i64 - self.overdue_us(now_us, sent.at_us);
        if remaining_us <= 0 { Verdict::Lost } else { Verdict::Late(remaining_us as u64) }
    }

    /// Returns the jiffies after which segments that may arrive for `wait_us` more are lost. (TCP-24)
    pub(super) fn wait(wait_us: u64, rtt: &RoundTrip, clock: &Clock) -> u64 {
        (clock.jiffies_in_micros(wait_us) + TIMER_SLACK).min(rtt.timeout())
    }

    /// Whether deliveries changed anything since the last call.
    pub(super) fn take_news(&mut self) -> bool {
        std::mem::take(&mut self.advanced)
    }

    /// Returns the known reordering of the path.
    pub(super) const fn reordering(&self) -> &Reordering {
        &self.reordering
    }

    /// Returns the known reordering of the path, to add to it.
    pub(super) const fn reordering_mut(&mut self) -> &mut Reordering {
        &mut self.reordering
    }

    /// Notes that a duplicate was reported: once the path is known to reorder, the window may be too narrow. (TCP-23)
    pub(super) fn note_duplicate(&mut self) {
        self.duplicate_seen |= self.reordering.is_seen();
    }

    /// Looks for losses again even without a new delivery.
    pub(super) fn reconsider(&mut self) {
        self.advanced = true;
    }

    /// Keeps the wide window longer after a recovery that D-SACKs undid.
    pub(super) fn recovery_undone(&mut self) {
        self.persistence = (self.persistence + 1).min(PERSISTENCE);
    }

    /// Notes the end of a recovery that was not needless.
    pub(super) fn recovery_without_undo(&mut self) {
        self.persistence = self.persistence.saturating_sub(1);
    }

    /// Whether no reported duplicate is about to widen the window.
    #[cfg(feature = "fast")]
    pub(super) const fn has_no_duplicate(&self) -> bool {
        !self.duplicate_seen
    }

    /// Widens the reordering window once a round trip when duplicates were reported. (TCP-23)
    pub(super) fn adapt(&mut self, prior_delivered: u64, delivered: u64) {
        if prior_delivered < self.widened_at {
            self.duplicate_seen = false;
        }
        if self.duplicate_seen {
            self.steps = (self.steps + 1).min(MOST_STEPS);
            self.duplicate_seen = false;
            self.widened_at = delivered;
            self.persistence = PERSISTENCE;
        } else if self.persistence == 0 {
            self.steps = 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::scoreboard::Scoreboard;
    use super::*;
    use lossylink_core::time::{Duration, Instant};

    /// TCP-23
    #[test]
    fn duplicates_widen_the_window_once_a_round_trip() {
        let mut rack = Rack::new();
        rack.note_duplicate();
        rack.adapt(0, 100);
        assert_eq!(rack.steps, 1, "no reordering was seen");
        rack.reordering_mut().note(0, 1);
        rack.note_duplicate();
        rack.adapt(0, 100);
        assert_eq!(rack.steps, 2);
        rack.note_duplicate();
        rack.adapt(99, 150);
        assert_eq!(rack.steps, 2, "sent before the last step");
        rack.note_duplicate();
        rack.adapt(100, 200);
        assert_eq!(rack.steps, 3);
    }

    /// TCP-23
    #[test]
    fn the_window_shrinks_after_sixteen_recoveries() {
        let mut rack = Rack { steps: 3, persistence: PERSISTENCE, ..Rack::new() };
        for _ in 0..PERSISTENCE - 1 {
            rack.recovery_without_undo();
            rack.adapt(1, 1);
        }
        assert_eq!(rack.steps, 3);
        rack.recovery_without_undo();
        rack.adapt(1, 1);
        assert_eq!(rack.steps, 1);
    }

    /// TCP-21
    #[test]
    fn a_retransmission_answered_too_fast_is_no_evidence() {
        let mut rack = Rack::new();
        rack.deliver(1_000, Sent::new(4, 990), true, 20);
        assert!(!rack.advanced);
        rack.deliver(1_000, Sent::new(4, 980), true, 20);
        assert!(rack.advanced && rack.latest == Sent::new(4, 980));
    }

    /// TCP-24: the last delivery, of a segment sent at 900 us, took 100 us.
    #[test]
    fn what_was_overtaken_is_lost_when_round_trip_and_window_are_over() {
        let mut rack = Rack::new();
        rack.deliver(1_000, Sent::new(4, 900), false, 100);
        assert_eq!(rack.judge(25, 1_000, Sent::new(0, 901)), Verdict::Underway, "sent later");
        assert_eq!(rack.judge(25, 1_000, Sent::new(4, 900)), Verdict::Underway, "the delivered one itself");
        assert_eq!(rack.judge(25, 1_000, Sent::new(3, 900)), Verdict::Late(25));
        assert_eq!(rack.judge(25, 1_024, Sent::new(3, 900)), Verdict::Late(1));
        assert_eq!(rack.judge(25, 1_025, Sent::new(3, 900)), Verdict::Lost);
    }

    /// TCP-21, TCP-24: two acknowledgements are answered in one microsecond, by new segments and then by the lost one.
    #[test]
    fn of_transmissions_stamped_alike_the_order_decides() {
        let mut board = Scoreboard::new();
        for number in 0..8 {
            board.send_new(if number < 5 { 100 } else { 200 }, 0);
        }
        board.mark_lost(2);
        board.resend(2, 200, 0);
        board.send_new(200, 0);
        let mut rack = Rack::new();
        let sent = |number| board.get(number).sent(number);
        rack.deliver(300, sent(7), false, 50);
        assert_eq!(rack.judge(0, 300, sent(2)), Verdict::Underway, "it left after what arrived");
        assert_eq!(rack.judge(0, 300, sent(6)), Verdict::Lost);
        rack.deliver(300, sent(8), false, 50);
        assert_eq!(rack.judge(0, 300, sent(2)), Verdict::Lost, "what left after it arrived");
    }

    /// TCP-22
    #[test]
    fn the_window_opens_with_reordering_or_while_loss_is_not_plausible() {
        let mut clock = Clock::new(Duration::from_ms(1), Duration::ZERO);
        clock.refresh(Instant::ZERO);
        let mut rtt = RoundTrip::new(Duration::from_ms(200), &clock);
        rtt.begin(Some(1_000), &clock);
        let mut rack = Rack::new();
        assert_eq!(rack.window_us(false, 2, &rtt), 250);
        assert_eq!(rack.window_us(false, 3, &rtt), 0);
        assert_eq!(rack.window_us(true, 0, &rtt), 0);
        rack.reordering_mut().note(0, 1);
        rack.steps = 3;
        assert_eq!(rack.window_us(true, 3, &rtt), 750);
        rack.steps = 5;
        assert_eq!(rack.window_us(true, 3, &rtt), 1_000, "the smoothed round trip");
        assert_eq!((Rack::wait(1_000, &rtt, &clock), Rack::wait(1_001, &rtt, &clock)), (3, 4));
    }
}
