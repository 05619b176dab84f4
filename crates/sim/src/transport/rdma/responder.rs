//! The responding end: executes requests in order, acknowledges, reports gaps, and answers READs.

use super::config::{Config, Recovery};
use super::dcqcn::RateLimiter;
use super::notification::NotificationPoint;
use super::operation::Posted;
use super::pacer::Pacer;
use super::packet::Packet;
use super::psn::{self, Psn};
use super::reassembly::{Body, Reassembly};
use super::responses::Responses;
use super::statistics::ResponderStatistics;
use crate::transport::Departure;
use lossylink_core::time::Instant;

/// An answer that waits to be sent. A newer answer takes its place (coalescing, RDMA-10).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reply {
    Ack,
    Nak,
    SelectiveNak { received: u64 },
}

/// The responder of one queue pair.
///
/// The responder does no I/O and reads no clock. The driver calls [`handle_packet`](Self::handle_packet) for every packet that
/// arrives, then asks for packets as the driver asks the requester, and again when [`poll_timeout`](Self::poll_timeout) is due.
#[derive(Clone, Debug)]
pub struct Responder {
    pub(super) config: Config,
    /// The position of the next request to execute.
    pub(super) expected: u64,
    /// One past the last WRITE or SEND packet executed: the end of the positions that an acknowledgement may name.
    pub(super) acknowledgeable: u64,
    /// Whether the gap at `expected` was reported (go-back-N).
    has_reported: bool,
    pub(super) reply: Option<Reply>,
    pub(super) responses: Responses,
    pub(super) reassembly: Option<Reassembly>,
    pacer: Pacer,
    notification: NotificationPoint,
    statistics: ResponderStatistics,
}

impl Responder {
    /// Returns the responder of a fresh connection.
    pub fn new(config: &Config) -> Self {
        let start = psn::start(config.first_psn);
        let reassembly = match config.recovery {
            Recovery::GoBackN => None,
            Recovery::SelectiveRepeat { window_packets } => Some(Reassembly::new(window_packets)),
        };
        Self {
            config: *config,
            expected: start,
            acknowledgeable: start,
            has_reported: false,
            reply: None,
            responses: Responses::default(),
            reassembly,
            pacer: Pacer::new(config),
            notification: NotificationPoint::new(config.dcqcn.as_ref()),
            statistics: ResponderStatistics::default(),
        }
    }

    /// Opens a new connection after a failure, and keeps the memory of this one.
    pub fn reconnect(&mut self) {
        let config = self.config;
        let mut responses = std::mem::take(&mut self.responses);
        let mut reassembly = self.reassembly.take();
        responses.clear();
        reassembly.iter_mut().for_each(Reassembly::clear);
        let recovery = Recovery::GoBackN;
        let fresh = Self::new(&Config { recovery, ..config });
        *self = Self { config, responses, reassembly, ..fresh };
    }

    /// Takes a packet from the requester. `is_marked` tells whether the packet met congestion.
    pub fn handle_packet(&mut self, now: Instant, packet: &Packet, is_marked: bool) {
        self.notification.note(now, is_marked);
        match *packet {
            Packet::Request(request) => {
                let (payload, is_last) = (request.payload, request.place.is_last());
                self.take_request(request.psn, Body::Data { payload, is_last }, request.ack_request);
            }
            Packet::ReadRequest(read) => self.take_request(read.psn, Body::Read { bytes: read.bytes }, false),
            Packet::Cnp => {
                if let Some(limiter) = &mut self.pacer.limiter {
                    limiter.handle_notification(now);
                }
            }
            _ => {}
        }
    }

    /// Returns the next packet for a free line, if a packet may leave at this instant.
    pub fn poll_transmit(&mut self, now: Instant) -> Option<Packet> {
        self.poll_at_line(now, true).packet()
    }

    /// Returns the next packet at an interface. `is_free` tells whether the line is free for this end. READ responses wait for
    /// the line; acknowledgements and notifications do not (RDMA-19). READ responses go before the acknowledgement of requests
    /// that came after the READ (RDMA-16).
    #[inline]
    pub fn poll_at_line(&mut self, now: Instant, is_free: bool) -> Departure<Packet> {
        self.pacer.reset();
        if self.notification.take() {
            self.statistics.congestion_notifications += 1;
            return Departure::AtOnce(Packet::Cnp);
        }
        if !self.responses.is_empty() {
            return self.next_response(now, is_free);
        }
        let Some(reply) = self.reply.take() else { return Departure::Nothing };
        Departure::AtOnce(self.form(reply))
    }

    /// Returns when a response that was held back may leave; [`Instant::NEVER`] without one.
    pub const fn poll_timeout(&self) -> Instant {
        self.pacer.poll_timeout()
    }

    /// Returns the bytes of WRITEs and SENDs executed, in order and once.
    pub const fn bytes_in_order(&self) -> u64 {
        self.statistics.bytes_in_order
    }

    /// Returns the rate limiter of the responses, if DCQCN is on.
    pub const fn limiter(&mut self) -> Option<&mut RateLimiter> {
        self.pacer.limiter.as_mut()
    }

    /// Returns the counters of this responder.
    pub const fn statistics(&self) -> &ResponderStatistics {
        &self.statistics
    }

    #[inline]
    fn take_request(&mut self, psn: Psn, body: Body, ack_request: bool) {
        self.statistics.packets_received += 1;
        let position = psn.near(self.expected);
        if position == self.expected {
            self.take_expected(body, ack_request);
        } else if position < self.expected {
            self.take_duplicate(position, body);
        } else {
            self.take_early(position, body);
        }
    }

    /// Executes the request whose turn it is, and the requests that were kept behind it (RDMA-6).
    #[inline]
    fn take_expected(&mut self, body: Body, ack_request: bool) {
        self.execute(body);
        self.has_reported = false;
        if self.execute_kept() || ack_request {
            self.reply = Some(Reply::Ack);
        } else if self.reply == Some(Reply::Nak) {
            self.reply = None; // The packet that the NAK asks for is here.
        }
    }

    /// Takes `count` packets in the middle of a message whose turn it is, each with `payload` bytes. None asks for an
    /// acknowledgement.
    #[inline]
    #[cfg(feature = "fast")]
    pub(super) fn take_plain(&mut self, count: u32, payload: u16) {
        self.statistics.packets_received += u64::from(count);
        self.expected += u64::from(count);
        self.acknowledgeable = self.expected;
        self.statistics.bytes_in_order += u64::from(count) * u64::from(payload);
        self.has_reported = false;
    }

    /// Executes the requests that selective repeat kept and whose turn it is. Returns true if there was any, of which the
    /// requester then learns (RDMA-21).
    #[inline]
    fn execute_kept(&mut self) -> bool {
        let mut has_executed = false;
        while let Some(kept) = self.reassembly.as_mut().and_then(|window| window.take(self.expected)) {
            self.execute(kept);
            has_executed = true;
        }
        has_executed
    }

    /// Executes the request at `expected`.
    #[inline]
    fn execute(&mut self, body: Body) {
        match body {
            Body::Data { payload, is_last } => {
                self.expected += 1;
                self.acknowledgeable = self.expected;
                self.statistics.bytes_in_order += u64::from(payload);
                self.statistics.messages += u64::from(is_last);
            }
            Body::Read { bytes } => {
                let packets = self.responses.push(self.expected, bytes, self.config.mtu);
                self.expect_after_read(self.expected + packets);
            }
        }
    }

    /// Expects the request behind a READ that covers every position up to `end`.
    fn expect_after_read(&mut self, end: u64) {
        if let Some(window) = &mut self.reassembly {
            window.discard(self.expected, end);
        }
        self.expected = end;
    }

    /// Acknowledges or answers again a request that was executed before (RDMA-9).
    fn take_duplicate(&mut self, position: u64, body: Body) {
        self.statistics.duplicates += 1;
        match body {
            Body::Data { .. } if self.reply.is_none() => self.reply = Some(Reply::Ack),
            Body::Data { .. } => {}
            Body::Read { bytes } => self.read_again(position, bytes),
        }
    }

    /// Answers a READ that is asked for again, perhaps for more bytes than before. Responses that are queued are not queued
    /// twice. A requester that goes back asks again for all requests that follow, so the responses from `position` on make room.
    /// A requester that repairs selectively does not, so all responses stay. (RDMA-9)
    fn read_again(&mut self, position: u64, bytes: u32) {
        let end = position + Posted::packets(u64::from(bytes), self.config.mtu);
        if !self.responses.are_queued(position, end) {
            if self.reassembly.is_none() {
                self.responses.drop_from(position);
            }
            self.responses.push(position, bytes, self.config.mtu);
        }
        if end > self.expected {
            self.has_reported = false;
            self.expect_after_read(end);
            if self.execute_kept() {
                self.reply = Some(Reply::Ack);
            }
        }
    }

    /// Keeps or reports a request that came before its turn (RDMA-7, RDMA-8, RDMA-20).
    fn take_early(&mut self, position: u64, body: Body) {
        self.statistics.out_of_order += 1;
        let Some(window) = &mut self.reassembly else { return self.report_once() };
        if window.keep(self.expected, position, body) {
            self.reply = Some(Reply::SelectiveNak { received: position });
        }
    }

    /// Reports the gap at `expected`, once (RDMA-7).
    fn report_once(&mut self) {
        if !self.has_reported {
            self.has_reported = true;
            self.reply = Some(Reply::Nak);
        }
    }

    fn next_response(&mut self, now: Instant, is_free: bool) -> Departure<Packet> {
        if !self.pacer.may_send(now) {
            return Departure::Nothing;
        }
        if !is_free {
            return Departure::AwaitsLine;
        }
        let Some(packet) = self.responses.pop(self.config.mtu) else { return Departure::Nothing };
        self.statistics.responses_sent += 1;
        self.pacer.note_sent(now, packet.ip_bytes());
        Departure::Formed(packet)
    }

    /// Returns the packet of a reply, with the numbers that hold when the packet leaves.
    #[inline]
    fn form(&mut self, reply: Reply) -> Packet {
        let expected = Psn::of(self.expected);
        match reply {
            Reply::Ack => {
                self.statistics.acks_sent += 1;
                // RDMA-10: never the number of a READ response.
                Packet::Ack { psn: Psn::of(self.acknowledgeable - 1) }
            }
            Reply::Nak => {
                self.statistics.naks_sent += 1;
                Packet::Nak { expected }
            }
            Reply::SelectiveNak { received } => {
                self.statistics.naks_sent += 1;
                Packet::SelectiveNak { expected, received: Psn::of(received) }
            }
        }
    }
}
