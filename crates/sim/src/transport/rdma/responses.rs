//! The responder's stream of READ responses.

use super::config::Mtu;
use super::operation::Posted;
use super::packet::{Packet, Place, ReadResponse};
use super::psn::Psn;
use crate::kernel::Ring;

/// A READ in progress: responses `next..end` are still to be sent, and the last has a payload of
/// `last_payload` bytes.
#[derive(Clone, Copy, Debug, Default)]
struct Job {
    first: u64,
    next: u64,
    end: u64,
    last_payload: u16,
}

/// The READs in the order in which they are answered.
#[derive(Clone, Debug, Default)]
pub(super) struct Responses {
    jobs: Ring<Job>,
}

impl Responses {
    /// Queues the responses to a READ of `bytes` from position `first` on. Returns the number of
    /// responses.
    pub(super) fn push(&mut self, first: u64, bytes: u32, mtu: Mtu) -> u64 {
        let packets = Posted::packets(u64::from(bytes), mtu);
        let last_payload = (u64::from(bytes) - (packets - 1) * mtu.bytes()) as u16;
        self.jobs.push(Job { first, next: first, end: first + packets, last_payload });
        packets
    }

    /// Whether no response is queued.
    #[inline]
    pub(super) const fn is_empty(&self) -> bool {
        self.jobs.is_empty()
    }

    /// Whether the responses `first..end` are queued.
    pub(super) fn are_queued(&self, first: u64, end: u64) -> bool {
        (0..self.jobs.len())
            .filter_map(|index| self.jobs.get(index))
            .any(|job| job.next <= first && end <= job.end)
    }

    /// Drops the READs of which a response has the number `first` or a later one.
    pub(super) fn drop_from(&mut self, first: u64) {
        for _ in 0..self.jobs.len() {
            let kept = self.jobs.pop().filter(|job| job.end <= first);
            kept.into_iter().for_each(|job| self.jobs.push(job));
        }
    }

    /// Drops all queued responses.
    pub(super) fn clear(&mut self) {
        self.jobs.clear();
    }

    /// Returns the next response packet.
    #[inline]
    pub(super) fn pop(&mut self, mtu: Mtu) -> Option<Packet> {
        let job = self.jobs.front_mut()?;
        let position = job.next;
        let place = Place::new(position == job.first, position + 1 == job.end);
        let payload = if place.is_last() { job.last_payload } else { mtu.bytes() as u16 };
        job.next += 1;
        if place.is_last() {
            self.jobs.pop();
        }
        Some(Packet::ReadResponse(ReadResponse { psn: Psn::of(position), place, payload }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // RDMA-4, RDMA-16
    #[test]
    fn a_request_is_answered_packet_by_packet() {
        let mut responses = Responses::default();
        assert_eq!(responses.push(40, 2500, Mtu::default()), 3);
        let all: Vec<_> = std::iter::from_fn(|| responses.pop(Mtu::default()))
            .map(|packet| match packet {
                Packet::ReadResponse(response) => (response.psn.value(), response.place, response.payload),
                other => panic!("{other:?} is no response"),
            })
            .collect();
        assert_eq!(all, [(40, Place::First, 1024), (41, Place::Middle, 1024), (42, Place::Last, 452)]);
        assert!(responses.is_empty());
    }

    // RDMA-9
    #[test]
    fn going_back_drops_no_answer_to_an_earlier_request() {
        let mut responses = Responses::default();
        let mtu = Mtu::default();
        for first in [10, 14, 18] {
            responses.push(first, 4 * 1024, mtu);
        }
        responses.pop(mtu);
        assert!(
            responses.are_queued(11, 14) && !responses.are_queued(10, 14) && !responses.are_queued(12, 18)
        );
        responses.drop_from(14);
        assert!(responses.are_queued(11, 14) && !responses.are_queued(14, 18));
        responses.push(14, 4 * 1024, mtu);
        let left = std::iter::from_fn(|| responses.pop(mtu)).count();
        assert_eq!(left, 7);
    }

    #[test]
    fn an_empty_read_has_one_empty_response() {
        let mut responses = Responses::default();
        assert_eq!(responses.push(7, 0, Mtu::default()), 1);
        let expected = ReadResponse { psn: Psn::of(7), place: Place::Only, payload: 0 };
        assert_eq!(responses.pop(Mtu::default()), Some(Packet::ReadResponse(expected)));
    }
}
