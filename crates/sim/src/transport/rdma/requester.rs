//! The requesting end: posts operations, sends their packets, and repairs losses.

use super::config::{Config, Recovery};
use super::cursor::Cursor;
use super::dcqcn::RateLimiter;
use super::notification::NotificationPoint;
use super::operation::{Completion, Operation, Posted, Status};
use super::pacer::Pacer;
use super::packet::Packet;
use super::psn;
use super::selective::Selective;
use super::statistics::RequesterStatistics;
use super::timer::AckTimer;
use crate::kernel::Ring;
use lossylink_core::time::{Duration, Instant};

/// The requester of one queue pair.
///
/// The requester does no I/O and reads no clock. The driver [`post`](Self::post)s operations, calls
/// [`handle_packet`](Self::handle_packet) for every packet that arrives and
/// [`handle_timeout`](Self::handle_timeout) when [`poll_timeout`](Self::poll_timeout) is due. After
/// each of these, and whenever its line is free, the driver asks for a packet: with
/// [`poll_at_line`](Self::poll_at_line), or with [`poll_transmit`](Self::poll_transmit) (RDMA-19).
/// Completions come out of [`poll_completion`](Self::poll_completion) in the order of posting
/// (RDMA-15).
#[derive(Clone, Debug)]
pub struct Requester {
    pub(super) config: Config,
    /// The operations in progress, the oldest first. `acknowledged` is a position of the oldest.
    pub(super) operations: Ring<Posted>,
    completions: Ring<Completion>,
    /// The number of operations posted since the start.
    posted: u64,
    reads_posted: u64,
    reads_completed: u64,
    /// The position at which the next operation starts.
    pub(super) posted_end: u64,
    pub(super) cursor: Cursor,
    /// The oldest position that is still open.
    pub(super) acknowledged: u64,
    /// The position before which the responder is known to have executed every request.
    pub(super) confirmed: u64,
    /// The position before which every READ response has arrived (go-back-N).
    pub(super) responses_end: u64,
    pub(super) timer: AckTimer,
    /// The number of retries since the last progress.
    retries: u32,
    has_failed: bool,
    pub(super) selective: Option<Selective>,
    pub(super) pacer: Pacer,
    pub(super) notification: NotificationPoint,
    pub(super) statistics: RequesterStatistics,
}

impl Requester {
    /// Returns the requester of a fresh connection.
    pub fn new(config: &Config) -> Self {
        let start = psn::start(config.first_psn);
        let selective = match config.recovery {
            Recovery::GoBackN => None,
            Recovery::SelectiveRepeat { window_packets } => Some(Selective::new(window_packets, start)),
        };
        Self {
            config: *config,
            operations: Ring::new(),
            completions: Ring::new(),
            posted: 0,
            reads_posted: 0,
            reads_completed: 0,
            posted_end: start,
            cursor: Cursor::new(start),
            acknowledged: start,
            confirmed: start,
            responses_end: start,
            timer: AckTimer::new(config.timeout),
            retries: 0,
            has_failed: false,
            selective,
            pacer: Pacer::new(config),
            notification: NotificationPoint::new(config.dcqcn.as_ref()),
            statistics: RequesterStatistics::default(),
        }
    }

    /// Opens a new connection after a failure, and keeps the memory of this one.
    pub fn reconnect(&mut self) {
        let config = self.config;
        let mut operations = std::mem::take(&mut self.operations);
        let mut completions = std::mem::take(&mut self.completions);
        let selective = self.selective.take().map(|mut selective| {
            selective.clear(psn::start(config.first_psn));
            selective
        });
        operations.clear();
        completions.clear();
        let recovery = Recovery::GoBackN;
        let fresh = Self::new(&Config { recovery, ..config });
        *self = Self { config, operations, completions, selective, ..fresh };
    }

    /// Posts an operation and returns its index. After a failure the operation ends at once,
    /// flushed.
    pub fn post(&mut self, now: Instant, operation: Operation) -> u64 {
        let first = self.posted_end;
        let end = first + Posted::packets(operation.bytes(), self.config.mtu);
        let index = self.posted;
        let reads_before = self.reads_posted;
        let posted = Posted { index, operation, posted_at: now, first, end, reads_before };
        self.posted += 1;
        self.reads_posted += u64::from(posted.is_read());
        self.posted_end = end;
        self.operations.push(posted);
        if self.has_failed {
            self.finish_first(now, Status::Flushed);
        }
        index
    }

    /// Takes a packet from the responder. `is_marked` tells whether the packet met congestion.
    pub fn handle_packet(&mut self, now: Instant, packet: &Packet, is_marked: bool) {
        self.notification.note(now, is_marked);
        match *packet {
            Packet::Ack { psn } => self.take_ack(now, psn),
            Packet::Nak { expected } => self.take_nak(now, expected),
            Packet::SelectiveNak { expected, received } => self.take_selective_nak(now, expected, received),
            Packet::ReadResponse(response) => self.take_response(now, response.psn),
            Packet::Cnp => self.take_notification(now),
            Packet::Request(_) | Packet::ReadRequest(_) => {}
        }
    }

    /// Acts on the local ACK timer if it is due (RDMA-13).
    pub fn handle_timeout(&mut self, now: Instant) {
        if self.timer.poll_timeout() <= now {
            self.statistics.timeouts += 1;
            self.cursor.forget_gap();
            self.retry(now);
        }
    }

    /// Returns when [`handle_timeout`](Self::handle_timeout) is due or a packet that was held back
    /// may leave; [`Instant::NEVER`] without either.
    pub fn poll_timeout(&self) -> Instant {
        self.timer.poll_timeout().min(self.pacer.poll_timeout())
    }

    /// Returns the next operation that ended.
    pub fn poll_completion(&mut self) -> Option<Completion> {
        self.completions.pop()
    }

    /// Returns the number of operations that were posted and have not ended.
    pub const fn outstanding(&self) -> usize {
        self.operations.len()
    }

    /// Whether the connection has failed; only [`reconnect`](Self::reconnect) revives it.
    pub const fn has_failed(&self) -> bool {
        self.has_failed
    }

    /// Whether the connection may fail before `span` has passed (RDMA-14).
    pub fn may_fail_within(&self, span: Duration) -> bool {
        self.has_failed || self.config.retries_last(self.retries) <= span
    }

    /// Returns the rate limiter, if DCQCN is on.
    pub const fn limiter(&mut self) -> Option<&mut RateLimiter> {
        self.pacer.limiter.as_mut()
    }

    /// Returns the counters of this requester.
    pub const fn statistics(&self) -> &RequesterStatistics {
        &self.statistics
    }

    /// Whether another READ may wait for responses (RDMA-17).
    #[inline]
    pub(super) fn may_read(&self, operation: &Posted) -> bool {
        operation.reads_before - self.reads_completed < u64::from(self.config.outstanding_reads)
    }

    /// Moves the window up as far as confirmed requests and arrived responses allow.
    #[inline]
    pub(super) fn settle(&mut self, now: Instant) {
        let before = self.acknowledged;
        while let Some(&operation) = self.operations.front() {
            let reach = self.reach(&operation);
            if operation.is_read() {
                let mtu = self.config.mtu;
                self.statistics.bytes_read +=
                    operation.bytes_before(reach, mtu) - operation.bytes_before(self.acknowledged, mtu);
            }
            self.acknowledged = reach;
            if reach < operation.end {
                break;
            }
            self.finish_first(now, Status::Success);
        }
        if self.acknowledged > before {
            self.note_progress(now);
        }
    }

    /// Returns the position before which the first operation in progress is known to be done. All
    /// operations before that one are done, so the responder has also executed every request that
    /// it keeps right behind.
    #[inline]
    fn reach(&self, operation: &Posted) -> u64 {
        let known = if operation.is_read() { self.responses_end } else { self.confirmed };
        let known = known.clamp(self.acknowledged, operation.end);
        match &self.selective {
            None => known,
            Some(selective) => selective.held.next_clear(known, operation.end),
        }
    }

    /// Resets the retries and the timer after the window has moved.
    fn note_progress(&mut self, now: Instant) {
        self.retries = 0; // RDMA-14
        self.timer.note_progress(now, self.acknowledged);
        self.cursor.skip_to(self.acknowledged);
        if let Some(selective) = &mut self.selective {
            selective.advance(self.acknowledged);
        }
    }

    /// Sends every open packet again, or gives up (RDMA-14).
    pub(super) fn retry(&mut self, now: Instant) {
        self.timer.rewind();
        if self.retries == self.config.retry_count {
            return self.fail(now);
        }
        self.retries += 1;
        match &mut self.selective {
            None => self.cursor.go_back(self.acknowledged),
            Some(selective) => selective.restart(self.acknowledged, self.cursor.sent_end),
        }
    }

    /// Fails the oldest operation and flushes the others, because the retries ran out (RDMA-14).
    fn fail(&mut self, now: Instant) {
        self.has_failed = true;
        self.finish_first(now, Status::RetryExceeded);
        while !self.operations.is_empty() {
            self.finish_first(now, Status::Flushed);
        }
    }

    /// Ends the oldest operation (RDMA-15).
    fn finish_first(&mut self, now: Instant, status: Status) {
        let Some(operation) = self.operations.pop() else { return };
        self.completions.push(operation.completion(now, status));
        self.cursor.forget_operation();
        self.reads_completed += u64::from(operation.is_read());
        let is_done = status == Status::Success;
        self.statistics.completed += u64::from(is_done);
        self.statistics.failed += u64::from(!is_done);
    }
}
