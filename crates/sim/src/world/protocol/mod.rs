//! What a transport protocol must offer to be put into a [`Network`](super::Network).

mod gro;
mod outside;
mod rdma;
mod tcp;

pub use outside::{Arrival, Carried, Mailbox, Outside};
pub use rdma::Rdma;
pub use tcp::{Tcp, TcpPacket};

use crate::net::Frame;
use lossylink_core::time::Instant;

/// One end of a conversation. The owner hands it packets and expired timers, and after either
/// polls packets until there are none.
pub trait Endpoint {
    /// What the two ends exchange.
    type Packet;

    /// A packet arrives; `marked` says that a queue marked it.
    fn handle_packet(&mut self, now: Instant, packet: &Self::Packet, marked: bool);

    /// The timer is due.
    fn handle_timeout(&mut self, now: Instant);

    /// The next packet to leave at this instant.
    fn poll_transmit(&mut self, now: Instant) -> Option<Self::Packet>;

    /// When the timer is due; [`Instant::NEVER`] without one.
    fn poll_timeout(&self) -> Instant;
}

/// A protocol: its packets, its two ends, and what its packets weigh.
pub trait Protocol {
    /// What the two ends exchange.
    type Packet: Copy + Default;
    /// The end that sends the data.
    type Near: Endpoint<Packet = Self::Packet>;
    /// The end that receives it.
    type Far: Endpoint<Packet = Self::Packet>;

    /// The frame that carries a packet.
    fn frame(&self, packet: Self::Packet) -> Frame<Self::Packet>;

    /// Adds `next`, which arrived right behind `held`, to it; whether the two are one packet now, as
    /// generic receive offload makes them.
    fn merge(&self, _held: &mut Self::Packet, _next: &Self::Packet) -> bool {
        false
    }

    /// Cuts what the network interface does not send whole: hands each packet to `send`.
    fn cut(&self, packet: Self::Packet, send: &mut impl FnMut(Self::Packet)) {
        send(packet);
    }
}
