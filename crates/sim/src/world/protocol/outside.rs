//! Hosts outside of the simulation. Their frames are real, and the network sees only how long each
//! frame is.

use super::{Endpoint, Protocol};
use crate::net::{Ecn, Frame, Payload};
use lossylink_core::time::Instant;
use std::collections::VecDeque;

/// Frames of hosts outside of the simulation.
#[derive(Clone, Copy, Debug)]
pub struct Outside;

/// A frame of a host outside of the simulation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Carried {
    /// The owner's number of the frame.
    pub number: u64,
    /// Octets of Ethernet header and payload, without check sequence.
    pub bytes: u32,
    /// Congestion marking of the frame when it set out.
    pub ecn: Ecn,
}

impl Payload for Carried {}

/// A frame that has come out at a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// The time at which the host handles the frame.
    pub at: Instant,
    /// The owner's number of the frame.
    pub number: u64,
    /// Whether a queue on the way marked the frame.
    pub marked: bool,
}

/// The frames that a host outside has sent, and the frames that have come for it.
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

    /// Takes the next frame that has come.
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

    /// Does nothing: a host outside handles its own timers.
    fn handle_timeout(&mut self, _now: Instant) {}

    fn poll_transmit(&mut self, _now: Instant) -> Option<Carried> {
        self.sent.pop_front()
    }

    fn poll_timeout(&self) -> Instant {
        Instant::NEVER
    }
}
