//! What a guard holds, whatever protects its link: the pool, the queues, the counters.

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
    /// What goes ahead of them: messages, control, retransmissions, parity.
    pub(super) urgent: VecDeque<Frame>,
    pub(super) to_lan: VecDeque<Frame>,
    /// What a line protocol wants the peer to be told.
    pub(super) pause: Option<PauseMessage>,
    pub(super) counters: GuardCounters,
    /// Frames that reached the link's port and were dropped before we saw them.
    pub(super) missed: u64,
    /// Frames that the link's port did not take from us.
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

    /// The EtherType of a frame; one that is too short to have any is counted.
    pub(super) fn ethertype(&mut self, bytes: &[u8]) -> Option<EtherType> {
        let ethertype = envelope::ethertype(bytes);
        self.counters.no_room += u64::from(ethertype.is_none());
        ethertype
    }

    /// A frame of the LAN, for the link.
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

    /// A frame of the link that is the LAN's as it is.
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

    /// Drops frames of the LAN that wait: nothing may go out unsealed (RT-1).
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

    /// Drops what waits in front of the LAN's frames.
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
