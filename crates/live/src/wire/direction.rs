//! One direction of an emulated link: exact serialisation and propagation, and frames that corrupt.
//!
//! Times are computed, not read: a frame arrives at start + size / rate + propagation even when the
//! process woke up late, so lateness never adds up along a burst.

use lossylink_core::engine::guard::Frame;
use lossylink_core::loss::{LossModel, LossProcess};
use lossylink_core::rng::Streams;
use lossylink_core::time::{Duration, Instant};
use lossylink_core::units::{BitRate, Bytes};
use lossylink_core::wire::{FCS, padded, wire_octets};
use serde::Serialize;
use std::collections::VecDeque;

/// What a direction has carried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DirectionCounters {
    /// Frames that began to be sent.
    pub frames_offered: u64,
    /// Bytes of those frames, without FCS.
    pub bytes_offered: u64,
    /// Frames that the loss model corrupted.
    pub frames_lost: u64,
    /// Frames that arrived.
    pub frames_delivered: u64,
    /// The longest frame seen, without FCS.
    pub longest_frame_bytes: u64,
}

/// A frame on its way.
#[derive(Debug)]
struct Flying {
    arrival: Instant,
    frame: Frame,
}

/// One direction of a link.
#[derive(Debug)]
pub struct Direction {
    rate: BitRate,
    propagation: Duration,
    loss: LossProcess,
    free_from: Instant,
    sending: bool,
    flying: VecDeque<Flying>,
    counters: DirectionCounters,
}

impl Direction {
    /// An idle direction.
    pub fn new(rate: BitRate, propagation: Duration, loss: LossProcess) -> Self {
        Self {
            rate,
            propagation,
            loss,
            free_from: Instant::ZERO,
            sending: false,
            flying: VecDeque::new(),
            counters: DirectionCounters::default(),
        }
    }

    /// Corrupts frames by another model from now on.
    pub fn set_loss(&mut self, model: &LossModel, streams: &Streams, name: &str) {
        self.loss = LossProcess::new(model, streams.stream(name));
    }

    /// Whether the transmitter is free.
    pub fn is_idle(&self) -> bool {
        !self.sending
    }

    /// Starts to send a frame; hands it back if it will be corrupted.
    ///
    /// # Panics
    /// While another frame is being sent.
    pub fn start(&mut self, now: Instant, frame: Frame) -> Option<Frame> {
        assert!(!self.sending, "a transmitter sends one frame at a time");
        let bytes = frame.len() as u64;
        self.free_from = now + wire_octets(Bytes(bytes)) / self.rate;
        self.sending = true;
        self.counters.frames_offered += 1;
        self.counters.bytes_offered += bytes;
        self.counters.longest_frame_bytes = self.counters.longest_frame_bytes.max(bytes);
        // A flipped bit in the padding or in the FCS corrupts the frame as well.
        if self.loss.is_lost((padded(Bytes(bytes)) + FCS).0 as u32) {
            self.counters.frames_lost += 1;
            return Some(frame);
        }
        self.flying.push_back(Flying { arrival: self.free_from + self.propagation, frame });
        None
    }

    /// When something happens next: the transmitter becomes free, or a frame arrives.
    pub fn next_event(&self) -> Instant {
        let free = if self.sending { self.free_from } else { Instant::NEVER };
        self.flying.front().map_or(free, |flying| flying.arrival.min(free))
    }

    /// Frees the transmitter when its frame has left.
    pub fn finish_sending(&mut self, now: Instant) -> bool {
        let finished = self.sending && self.free_from <= now;
        self.sending &= !finished;
        finished
    }

    /// Takes the next frame that has arrived.
    pub fn arrive(&mut self, now: Instant) -> Option<Frame> {
        let due = self.flying.front().is_some_and(|flying| flying.arrival <= now);
        let flying = if due { self.flying.pop_front()? } else { return None };
        self.counters.frames_delivered += 1;
        Some(flying.frame)
    }

    /// What has been carried so far.
    pub fn counters(&self) -> DirectionCounters {
        self.counters
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn direction(loss: &str) -> Direction {
        let model: LossModel = loss.parse().unwrap();
        let process = LossProcess::new(&model, Streams::new(1).stream("test"));
        Direction::new(BitRate::from_gbps(1), Duration::from_us(100), process)
    }

    #[test]
    fn a_full_frame_takes_1538_octets_and_the_propagation() {
        let mut link = direction("none");
        assert_eq!(link.start(Instant::ZERO, vec![0; 1514]), None);
        let serialised = Instant::from_ps(12_304_000);
        assert_eq!(link.next_event(), serialised);
        assert!(link.finish_sending(serialised));
        let arrival = serialised + Duration::from_us(100);
        assert_eq!(link.next_event(), arrival);
        assert_eq!(link.arrive(arrival - Duration::from_ps(1)), None);
        assert_eq!(link.arrive(arrival).map(|frame| frame.len()), Some(1514));
        assert!(link.next_event().is_never());
    }

    #[test]
    fn a_short_frame_takes_84_octets() {
        let mut link = direction("none");
        link.start(Instant::ZERO, vec![0; 20]);
        assert_eq!(link.next_event(), Instant::from_ps(672_000));
    }

    #[test]
    fn a_corrupted_frame_takes_its_time_and_comes_back() {
        let mut link = direction("at:0");
        assert_eq!(link.start(Instant::ZERO, vec![7; 60]), Some(vec![7; 60]));
        assert!(!link.is_idle());
        assert!(link.finish_sending(link.next_event()));
        assert!(link.next_event().is_never());
        assert_eq!((link.counters().frames_lost, link.counters().frames_delivered), (1, 0));
    }
}
