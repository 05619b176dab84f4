//! The local ACK timer: runs while a packet that asks for an answer has none.

use lossylink_core::time::{Duration, Instant};

/// The transport timer of a requester (RDMA-12).
#[derive(Clone, Copy, Debug)]
pub(super) struct AckTimer {
    timeout: Duration,
    deadline: Instant,
    /// One past the highest position whose packet asked for an answer since the last rewind.
    asked_end: u64,
}

impl AckTimer {
    pub(super) const fn new(timeout: Duration) -> Self {
        Self { timeout, deadline: Instant::NEVER, asked_end: 0 }
    }

    /// Returns when the timer fires.
    #[inline]
    pub(super) const fn poll_timeout(&self) -> Instant {
        self.deadline
    }

    /// Notes that a packet that asks for an answer and ends before `end` left.
    #[inline]
    pub(super) fn note_asked(&mut self, now: Instant, end: u64) {
        self.asked_end = self.asked_end.max(end);
        if self.deadline.is_never() {
            self.deadline = now + self.timeout;
        }
    }

    /// Notes that all packets before `acknowledged` were answered. Starts the timer anew if a later
    /// packet waits for an answer, else stops it.
    #[inline]
    pub(super) fn note_progress(&mut self, now: Instant, acknowledged: u64) {
        let is_waiting = self.asked_end > acknowledged;
        self.deadline = if is_waiting { now + self.timeout } else { Instant::NEVER };
    }

    /// Stops the timer before packets are sent again. The next packet that asks for an answer
    /// starts it.
    pub(super) const fn rewind(&mut self) {
        self.deadline = Instant::NEVER;
        self.asked_end = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMEOUT: Duration = Duration::from_ms(1);

    fn at(us: u64) -> Instant {
        Instant::ZERO + Duration::from_us(us)
    }

    // RDMA-12
    #[test]
    fn runs_from_the_first_question_and_anew_from_each_progress() {
        let mut timer = AckTimer::new(TIMEOUT);
        timer.note_asked(at(0), 10);
        timer.note_asked(at(5), 20);
        assert_eq!(timer.poll_timeout(), at(1000));
        timer.note_progress(at(7), 10);
        assert_eq!(timer.poll_timeout(), at(1007));
        timer.note_progress(at(9), 20);
        assert!(timer.poll_timeout().is_never());
    }

    // RDMA-12
    #[test]
    fn stops_at_a_rewind_until_the_next_question() {
        let mut timer = AckTimer::new(TIMEOUT);
        timer.note_asked(at(0), 10);
        timer.rewind();
        assert!(timer.poll_timeout().is_never());
        timer.note_asked(at(3), 4);
        assert_eq!(timer.poll_timeout(), at(1003));
    }
}
