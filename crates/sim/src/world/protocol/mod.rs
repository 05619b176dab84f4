//! The interface of a transport protocol that can be put into a [`Network`](super::Network).

mod gro;
mod outside;
mod rdma;
mod tcp;

pub use outside::{Arrival, Carried, Mailbox, Outside};
pub use rdma::Rdma;
pub use tcp::{Tcp, TcpPacket};

#[cfg(feature = "fast")]
use crate::kernel::Train;
use crate::net::{Frame, LineRate, Payload};
use crate::transport::Departure;
#[cfg(feature = "fast")]
use lossylink_core::time::Duration;
use lossylink_core::time::Instant;

/// One end of a conversation. The owner hands the end packets and expired timers, and after either polls packets until there
/// are none.
pub trait Endpoint {
    /// The packets that the two ends exchange.
    type Packet;

    /// Handles a packet that arrives; `marked` says that a queue marked the packet.
    fn handle_packet(&mut self, now: Instant, packet: &Self::Packet, marked: bool);

    /// Handles the timer, which is due.
    fn handle_timeout(&mut self, now: Instant);

    /// Returns the next packet to leave at this instant.
    fn poll_transmit(&mut self, now: Instant) -> Option<Self::Packet>;

    /// Returns the next packet at an interface whose line is free for this end, or is not ([`Protocol::line`]). An end whose
    /// packets wait in the interface's queue never asks for the line.
    #[inline]
    fn poll_at_line(&mut self, now: Instant, _is_free: bool) -> Departure<Self::Packet> {
        self.poll_transmit(now).map_or(Departure::Nothing, Departure::AtOnce)
    }

    /// Returns when the timer is due; [`Instant::NEVER`] without a timer.
    fn poll_timeout(&self) -> Instant;

    /// Sends the packets that leave behind `packet`, which was polled at `now`, as long as each is the next of its kind
    /// ([`Payload::follow`]). They leave at the same instant, or by timers and as an interface takes them `spacing` apart, up
    /// to `horizon`, until when the owner hands this end nothing. Returns when the packets leave, `packet` included. The
    /// owner polls on at the instant of the last packet.
    #[cfg(feature = "fast")]
    #[inline]
    fn repeat(
        &mut self,
        _packet: &Self::Packet,
        now: Instant,
        _spacing: Duration,
        _horizon: Instant,
    ) -> Train {
        Train::of_one(now)
    }

    /// Sends the only packet that comes of the timer, which is due at `now`, if that packet leaves by itself. Equals
    /// [`Endpoint::handle_timeout`] and polling. Returns `None` and does nothing if that is not certain, or if another packet
    /// leaves by `horizon`.
    #[cfg(feature = "fast")]
    #[inline]
    fn send_paced(&mut self, _now: Instant, _horizon: Instant) -> Option<Self::Packet> {
        None
    }

    /// Takes packets of `train`, `packet` first and then the packets that follow it ([`Payload::follow`]), none of them
    /// marked. Equals [`Endpoint::handle_packet`] of each. Stops before a packet that this end cannot take like the others,
    /// and before a timer. Hands the packets that leave to `send`, each train with its first packet. Returns how many packets
    /// it has taken; the owner polls on at the instant of the last.
    #[cfg(feature = "fast")]
    #[inline]
    fn take_train(
        &mut self,
        _train: Train,
        _packet: &Self::Packet,
        _send: impl FnMut(Train, Self::Packet),
    ) -> u32 {
        0
    }
}

/// A protocol: its packets, its two ends, and the frames that carry its packets.
pub trait Protocol {
    /// The packets that the two ends exchange.
    type Packet: Payload;
    /// The end that sends the data.
    type Near: Endpoint<Packet = Self::Packet>;
    /// The end that receives the data.
    type Far: Endpoint<Packet = Self::Packet>;

    /// Returns the frame that carries a packet.
    fn frame(&self, packet: Self::Packet) -> Frame<Self::Packet>;

    /// Returns the line of each host's interface, if ends form packets as the line takes them. Without a line packets wait in
    /// a queue.
    fn line(&self) -> Option<LineRate> {
        None
    }

    /// Adds to `held` the packet `next`, which arrived right behind it, and the packets that follow `next`
    /// ([`Payload::follow`]), up to `count` in all, as generic receive offload does. Returns how many of them are part of
    /// `held` now.
    fn merge(&self, _held: &mut Self::Packet, _next: &Self::Packet, _count: u32) -> u32 {
        0
    }

    /// Cuts a packet that the network interface does not send whole, and hands each part to `send`.
    fn cut(&self, packet: Self::Packet, send: &mut impl FnMut(Self::Packet)) {
        send(packet);
    }
}
