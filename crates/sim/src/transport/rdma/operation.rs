//! Operations that an application posts, the sequence numbers that they take, and their completions.

use super::config::Mtu;
use super::packet::{Packet, Place, ReadRequest, Request, Verb};
use super::psn::Psn;
use lossylink_core::time::Instant;

/// Length of the longest message (InfiniBand 9.7.7, maximum message size): 2^31 bytes.
const LONGEST: u64 = 1 << 31;

/// An operation for a queue pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Write this number of bytes into the responder's memory.
    Write(u64),
    /// Send this number of bytes to the responder.
    Send(u64),
    /// Read this number of bytes from the responder's memory.
    Read(u64),
}

impl Operation {
    /// Returns the number of bytes that the operation moves.
    pub const fn bytes(self) -> u64 {
        match self {
            Self::Write(bytes) | Self::Send(bytes) | Self::Read(bytes) => bytes,
        }
    }
}

impl Default for Operation {
    fn default() -> Self {
        Self::Write(0)
    }
}

/// The outcome of an operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Status {
    /// The operation is done.
    #[default]
    Success,
    /// The transport's retries ran out.
    RetryExceeded,
    /// The operation was given up because an earlier one failed.
    Flushed,
}

/// The completion of an operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Completion {
    /// Number of operations that were posted before this one.
    pub index: u64,
    /// The operation that was posted.
    pub operation: Operation,
    /// The outcome of the operation.
    pub status: Status,
    /// The time when the operation was posted.
    pub posted_at: Instant,
    /// The time when the operation ended.
    pub completed_at: Instant,
}

/// An operation in progress and the positions that it takes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Posted {
    pub index: u64,
    pub operation: Operation,
    pub posted_at: Instant,
    /// The first position of the operation.
    pub first: u64,
    /// One past the last position of the operation.
    pub end: u64,
    /// Number of READs posted before this operation.
    pub reads_before: u64,
}

impl Posted {
    /// Returns the number of packets, hence of positions, that `bytes` take: an empty message takes
    /// one packet (RDMA-4).
    pub(super) fn packets(bytes: u64, mtu: Mtu) -> u64 {
        assert!(bytes <= LONGEST, "a message of {bytes} bytes exceeds 2^31");
        bytes.div_ceil(mtu.bytes()).max(1)
    }

    #[inline]
    pub(super) const fn is_read(&self) -> bool {
        matches!(self.operation, Operation::Read(_))
    }

    /// Returns the number of bytes of the message before `position`.
    #[inline]
    pub(super) fn bytes_before(&self, position: u64, mtu: Mtu) -> u64 {
        ((position - self.first) * mtu.bytes()).min(self.operation.bytes())
    }

    /// Returns the packet at `position` of a WRITE or SEND, or the READ request for `run` packets
    /// from `position` on.
    #[inline]
    pub(super) fn packet(&self, position: u64, run: u64, mtu: Mtu, ack_request: bool) -> Packet {
        let bytes = self.bytes_before(position + run, mtu) - self.bytes_before(position, mtu);
        let psn = Psn::of(position);
        let verb = match self.operation {
            Operation::Write(_) => Verb::Write,
            Operation::Send(_) => Verb::Send,
            Operation::Read(_) => return Packet::ReadRequest(ReadRequest { psn, bytes: bytes as u32 }),
        };
        let place = Place::new(position == self.first, position + 1 == self.end);
        Packet::Request(Request { psn, verb, place, ack_request, payload: bytes as u16 })
    }

    /// Returns the completion of this operation.
    pub(super) const fn completion(&self, completed_at: Instant, status: Status) -> Completion {
        Completion {
            index: self.index,
            operation: self.operation,
            status,
            posted_at: self.posted_at,
            completed_at,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn posted(operation: Operation) -> Posted {
        let packets = Posted::packets(operation.bytes(), Mtu::default());
        Posted { operation, first: 100, end: 100 + packets, ..Posted::default() }
    }

    // RDMA-2, RDMA-4
    #[test]
    fn a_message_is_cut_into_full_packets_and_a_rest() {
        let write = posted(Operation::Write(24_387));
        assert_eq!(write.end - write.first, 24);
        let payloads: Vec<_> = (write.first..write.end)
            .map(|position| match write.packet(position, 1, Mtu::default(), false) {
                Packet::Request(request) => (request.place, request.payload),
                other => panic!("{other:?} is no part of a WRITE"),
            })
            .collect();
        assert_eq!(payloads[0], (Place::First, 1024));
        assert_eq!(payloads[22], (Place::Middle, 1024));
        assert_eq!(payloads[23], (Place::Last, 835));
    }

    // RDMA-4
    #[test]
    fn an_empty_message_is_one_packet() {
        let send = posted(Operation::Send(0));
        assert_eq!(send.end - send.first, 1);
        let Packet::Request(request) = send.packet(100, 1, Mtu::default(), true) else {
            panic!("no request")
        };
        assert_eq!((request.place, request.payload), (Place::Only, 0));
    }

    // RDMA-16
    #[test]
    fn a_read_can_be_asked_for_again_from_the_middle() {
        let read = posted(Operation::Read(3000));
        let request = |position, run| read.packet(position, run, Mtu::default(), true);
        assert_eq!(request(100, 3), Packet::ReadRequest(ReadRequest { psn: Psn::of(100), bytes: 3000 }));
        assert_eq!(request(101, 2), Packet::ReadRequest(ReadRequest { psn: Psn::of(101), bytes: 1976 }));
        assert_eq!(request(101, 1), Packet::ReadRequest(ReadRequest { psn: Psn::of(101), bytes: 1024 }));
    }
}
