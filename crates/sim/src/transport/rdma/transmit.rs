//! The order in which the requester sends: packets to repeat first, then the packets in line.

use super::operation::Posted;
use super::packet::Packet;
use super::requester::Requester;
use crate::transport::Departure;
use lossylink_core::time::Instant;

/// A packet that may leave: the positions `start..end` of an operation.
#[derive(Clone, Copy, Debug)]
struct Span {
    start: u64,
    end: u64,
    /// Place of the operation among the operations in progress.
    operation: usize,
    is_repair: bool,
}

impl Requester {
    /// Returns the next packet for a line that is free, if there is one and it may leave at this instant.
    pub fn poll_transmit(&mut self, now: Instant) -> Option<Packet> {
        self.poll_at_line(now, true).packet()
    }

    /// Returns the next packet at an interface whose line is free for this end, or is not. Requests wait for the line; a
    /// congestion notification does not. (RDMA-19)
    #[inline]
    pub fn poll_at_line(&mut self, now: Instant, is_free: bool) -> Departure<Packet> {
        self.pacer.reset();
        if self.notification.take() {
            return Departure::AtOnce(Packet::Cnp);
        }
        let Some(span) = self.next_hole().or_else(|| self.next_in_line()) else { return Departure::Nothing };
        match (self.pacer.may_send(now), is_free) {
            (true, true) => Departure::Formed(self.send(now, span)),
            (true, false) => Departure::AwaitsLine,
            (false, _) => Departure::Nothing,
        }
    }

    /// Forms the packet of a span and updates cursor, counters, timer and pacer.
    #[inline]
    fn send(&mut self, now: Instant, span: Span) -> Packet {
        let operation = self.operations.get(span.operation).expect("a span belongs to an operation");
        let (is_last, is_read) = (span.end == operation.end, operation.is_read());
        // RDMA-5: the end of a message, every `ack_interval`-th packet, and every repaired packet.
        let ack_request =
            is_last || is_read || span.is_repair || span.end.is_multiple_of(self.config.ack_interval());
        let packet = operation.packet(span.start, span.end - span.start, self.config.mtu, ack_request);
        let again = match &mut self.selective {
            Some(selective) if span.is_repair => {
                selective.note_repaired(span.end);
                1
            }
            _ => self.cursor.advance(span.end, is_last),
        };
        self.statistics.packets_sent += 1;
        self.statistics.retransmissions += u64::from(again > 0);
        if ack_request {
            self.timer.note_asked(now, span.end);
        }
        self.pacer.note_sent(now, packet.ip_bytes());
        packet
    }

    /// Returns the next packet in line, if the window has room for it.
    #[inline]
    fn next_in_line(&self) -> Option<Span> {
        let start = self.cursor.position;
        let operation = self.operations.get(self.cursor.operation)?;
        let run = if operation.is_read() { self.read_run(operation)? } else { 1 };
        let end = start + run;
        let fits = end <= self.acknowledged + self.config.window();
        fits.then_some(Span { start, end, operation: self.cursor.operation, is_repair: false })
    }

    /// Returns how many responses to ask for at the cursor: all that are left, or the number that the window holds if that
    /// is worth a request (RDMA-17).
    fn read_run(&self, operation: &Posted) -> Option<u64> {
        let window = self.config.window();
        let left = operation.end - self.cursor.position;
        let room = (self.acknowledged + window).saturating_sub(self.cursor.position);
        let is_worth_it = room >= left.min(window / 2);
        (self.may_read(operation) && is_worth_it).then_some(left.min(room))
    }

    /// Returns the next packet that selective repeat sends again (RDMA-22, RDMA-23).
    #[inline]
    fn next_hole(&mut self) -> Option<Span> {
        loop {
            let start = self.selective.as_ref()?.next_hole()?;
            let (place, operation) = self.operation_at(start)?;
            if operation.is_read() {
                let end = self.selective.as_ref()?.hole_end(start, operation.end);
                return Some(Span { start, end, operation: place, is_repair: true });
            }
            if start >= self.confirmed {
                return Some(Span { start, end: start + 1, operation: place, is_repair: true });
            }
            // The requests of the hole were executed, though an older READ keeps the window from moving past them.
            let end = self.confirmed.min(operation.end);
            self.selective.as_mut()?.note_repaired(end);
        }
    }

    /// Returns the operation in progress that contains `position`, and its place.
    pub(super) fn operation_at(&self, position: u64) -> Option<(usize, Posted)> {
        (0..self.operations.len())
            .filter_map(|place| Some((place, *self.operations.get(place)?)))
            .find(|(_, operation)| position < operation.end)
    }
}
