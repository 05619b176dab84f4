//! Hosts outside of the simulation: their frames are real, and the network sees only how long they are.

use super::{Endpoint, Protocol};
use crate::net::{Ecn, Frame, Payload};
use lossylink_core::time::Instant;
use std::collections::VecDeque;

/// Frames of hosts outside of the simulation.
#[derive(Clone, Copy, Debug)]
pub struct Outside;

/// A frame of a host outside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Carried {
    /// What its owner calls it.
    pub number: u64,
    /// Ethernet header and payload, without check sequence.
    pub bytes: u32,
    /// Congestion marking when it set out.
    pub ecn: Ecn,
}

impl Payload for Carried {}

/// A frame that has come out at a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// When the host handles it.
    pub at: Instant,
    /// What its owner calls it.
    pub number: u64,
    /// Whether a queue on the way marked it.
    pub marked: bool,
}

/// What a host outside has sent, and what has come for it.
#[derive(Clone, Debug, Default)]
pub struct Mailbox {
    sent: VecDeque<Carried>,
    arrived: VecDeque<Arrival>,
}

impl Mailbox {
    /// Sends a frame.
    pub fn send(&mut self, frame: Carried) {
        self.sent.push_back(frame);
    }

    /// Whether a frame has come.
    pub fn has_arrivals(&self) -> bool {
        !self.arrived.is_empty()
    }

    /// The next frame that has come.
    pub fn take(&mut self) -> Option<Arrival> {
        self.arrived.pop_front()
    }
}

impl Protocol for Outside {
    type Packet = Carried;
    type Near = Mailbox;
    type Far = Mailbox;

    fn frame(&self, packet: Carried) -> Frame<Carried> {
        Frame::of_frame_bytes(packet.bytes, packet.ecn, packet)
    }
}

impl Endpoint for Mailbox {
    type Packet = Carried;

    fn handle_packet(&mut self, now: Instant, packet: &Carried, marked: bool) {
        self.arrived.push_back(Arrival { at: now, number: packet.number, marked });
    }

    /// What the host does by itself happens outside.
    fn handle_timeout(&mut self, _now: Instant) {}

    fn poll_transmit(&mut self, _now: Instant) -> Option<Carried> {
        self.sent.pop_front()
    }

    fn poll_timeout(&self) -> Instant {
        Instant::NEVER
    }
}
