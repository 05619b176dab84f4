//! The requester's handling of acknowledgements, NAKs, responses and notifications.

use super::psn::Psn;
use super::requester::Requester;
use lossylink_core::time::Instant;

impl Requester {
    /// Takes an acknowledgement: every request up to `psn` was executed.
    pub(super) fn take_ack(&mut self, now: Instant, psn: Psn) {
        let end = psn.near(self.acknowledged) + 1;
        if self.confirm(now, end) {
            self.note_read_gap(now, end);
        }
    }

    /// Takes a NAK: the responder waits for `expected` (RDMA-11). That packet may be late rather
    /// than lost, but this end cannot tell (RDMA-18).
    pub(super) fn take_nak(&mut self, now: Instant, expected: Psn) {
        let expected = expected.near(self.acknowledged);
        if !self.confirm(now, expected) || expected < self.acknowledged {
            return;
        }
        if self.cursor.is_new_gap(self.acknowledged) {
            self.statistics.naks += 1;
            self.retry(now);
        }
    }

    /// Takes a selective NAK: the responder waits for `expected` and keeps `received` (RDMA-21).
    pub(super) fn take_selective_nak(&mut self, now: Instant, expected: Psn, received: Psn) {
        let expected = expected.near(self.acknowledged);
        let received = received.near(self.acknowledged);
        if expected > received || received >= self.cursor.sent_end {
            return;
        }
        self.statistics.selective_naks += 1;
        let is_read = self.operation_at(received).is_some_and(|(_, operation)| operation.is_read());
        let Some(selective) = &mut self.selective else { return };
        // A READ ends with its responses, not with its request.
        if !is_read {
            selective.held.set(received);
        }
        selective.note_evidence(received);
        self.confirm(now, expected);
    }

    /// Takes a READ response, which also says that every request before it was executed (RDMA-16).
    pub(super) fn take_response(&mut self, now: Instant, psn: Psn) {
        let position = psn.near(self.acknowledged);
        if position < self.acknowledged || position >= self.cursor.sent_end {
            self.statistics.responses_dropped += 1;
            return;
        }
        self.confirm(now, position);
        match &mut self.selective {
            Some(selective) => {
                self.statistics.responses_dropped += u64::from(!selective.held.set(position));
                self.settle(now);
            }
            None if position == self.acknowledged => {
                self.responses_end = position + 1;
                self.settle(now);
            }
            None => self.statistics.responses_dropped += 1,
        }
        self.note_read_gap(now, position);
    }

    /// Takes a congestion notification.
    pub(super) fn take_notification(&mut self, now: Instant) {
        self.statistics.congestion_notifications += 1;
        if let Some(limiter) = &mut self.pacer.limiter {
            limiter.handle_notification(now);
        }
    }

    /// Notes that every request before `end` was executed. Returns false if some of these requests
    /// were never sent.
    #[inline]
    fn confirm(&mut self, now: Instant, end: u64) -> bool {
        if end > self.cursor.sent_end {
            return false;
        }
        self.confirmed = self.confirmed.max(end);
        self.settle(now);
        true
    }

    /// Counts READ responses as lost that are missing before `evidence`, to which a later answer
    /// has come. Each gap counts as a NAK, once (RDMA-16).
    fn note_read_gap(&mut self, now: Instant, evidence: u64) {
        if self.acknowledged >= evidence {
            return;
        }
        match &mut self.selective {
            Some(selective) => selective.note_evidence(evidence),
            None if self.cursor.is_new_gap(self.acknowledged) => {
                self.statistics.implied_naks += 1;
                self.retry(now);
            }
            None => {}
        }
    }
}
