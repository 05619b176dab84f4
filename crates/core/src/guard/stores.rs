//! The stores of a guard, under any protection of its link: the pool, the queues, the counters.

use super::envelope;
use super::line::PauseMessage;
use super::{DropTail, Frame, FramePool, GuardConfig, GuardCounters};
use crate::wire::ethernet::EtherType;
use alloc::collections::VecDeque;

/// Frames on their way through a guard.
#[derive(Debug)]
pub(super) struct Stores {
    pub(super) pool: FramePool,
    /// Frames of the LAN that wait for the link.
    pub(super) normal: DropTail,
    /// Frames that leave ahead of the LAN's frames: messages, control, retransmissions, parity.
    pub(super) urgent: VecDeque<Frame>,
    pub(super) to_lan: VecDeque<Frame>,
    /// A pause or resume that a line protocol wants the peer to be told.
    pub(super) pause: Option<PauseMessage>,
    pub(super) counters: GuardCounters,
    /// Frames that reached the link's port and were dropped before the guard saw them.
    pub(super) missed: u64,
    /// Frames that the link's port did not take from the guard.
    pub(super) refused: u64,
    /// Frames for the LAN that the guard itself has made (RT-12).
    pub(super) answered: u64,
}

impl Stores {
    pub(super) fn new(config: &GuardConfig, headroom: usize) -> Self {
        Self {
            pool: FramePool::new(config.frames, config.longest_frame + headroom),
            normal: DropTail::new(config.queue),
            urgent: VecDeque::new(),
            to_lan: VecDeque::new(),
            pause: None,
            counters: GuardCounters::default(),
            missed: 0,
            refused: 0,
            answered: 0,
        }
    }

    /// Returns the EtherType of a frame. Counts a frame that is too short to have one.
    pub(super) fn ethertype(&mut self, bytes: &[u8]) -> Option<EtherType> {
        let ethertype = envelope::ethertype(bytes);
        self.counters.no_room += u64::from(ethertype.is_none());
        ethertype
    }

    /// Queues a frame of the LAN for the link.
    pub(super) fn enqueue(&mut self, bytes: &[u8]) {
        if let Some(frame) = self.copy(bytes)
            && let Err(frame) = self.normal.push(frame)
        {
            self.pool.give_back(frame);
        }
    }

    /// Takes the next frame of the LAN.
    pub(super) fn dequeue(&mut self) -> Option<Frame> {
        self.normal.pop().inspect(|_| self.counters.to_link_first += 1)
    }

    /// Hands a frame of the link to the LAN as it is.
    pub(super) fn hand_on(&mut self, bytes: &[u8]) {
        let frame = self.copy(bytes);
        self.to_lan.extend(frame);
    }

    /// Puts a message of the guard's own in front of the LAN's frames.
    pub(super) fn send(&mut self, write: impl FnOnce(&mut Frame)) {
        match self.pool.empty() {
            Some(mut frame) => {
                write(&mut frame);
                self.urgent.push_back(frame);
            }
            None => self.counters.no_room += 1,
        }
    }

    /// Drops the frames of the LAN that wait, because no frame may leave unsealed (RT-1).
    pub(super) fn drop_normal(&mut self) {
        while let Some(frame) = self.normal.pop() {
            self.counters.unsent += 1;
            self.pool.give_back(frame);
        }
    }

    /// Puts a frame of the guard's own among those for the LAN, if `write` makes one.
    pub(super) fn answer(&mut self, write: impl FnOnce(&mut Frame) -> bool) {
        let Some(mut frame) = self.pool.empty() else { return };
        if write(&mut frame) {
            self.answered += 1;
            self.to_lan.push_back(frame);
        } else {
            self.pool.give_back(frame);
        }
    }

    /// Drops the frames that wait in front of the LAN's frames.
    pub(super) fn drop_urgent(&mut self) {
        let Self { urgent, pool, .. } = self;
        urgent.drain(..).for_each(|frame| pool.give_back(frame));
    }

    fn copy(&mut self, bytes: &[u8]) -> Option<Frame> {
        let frame = self.pool.copy(bytes);
        self.counters.no_room += u64::from(frame.is_none());
        frame
    }
}
