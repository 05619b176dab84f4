//! What a transport protocol must offer to be put into a [`Network`](super::Network).

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

    /// The next packet at an interface whose line is free for this end, or is not ([`Protocol::line`]). An end whose packets
    /// wait in the interface's queue never asks.
    #[inline]
    fn poll_at_line(&mut self, now: Instant, _is_free: bool) -> Departure<Self::Packet> {
        self.poll_transmit(now).map_or(Departure::Nothing, Departure::AtOnce)
    }

    /// When the timer is due; [`Instant::NEVER`] without one.
    fn poll_timeout(&self) -> Instant;

    /// Sends what leaves behind `packet`, which was polled at `now`, as long as it is the next of its kind
    /// ([`Payload::follow`]): at the same instant, or by timers and as an interface takes them `spacing` apart, up to
    /// `horizon`, until when the owner hands this end nothing. Returns when they leave, `packet` included. The owner polls on
    /// at the instant of the last.
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

    /// The timer is due at `now`, and all that comes of it is one packet, which leaves by itself: sends it as this end would
    /// with [`Endpoint::handle_timeout`] and polling. `None`, and nothing has happened, if that is not certain, or if another
    /// one leaves by `horizon`.
    #[cfg(feature = "fast")]
    #[inline]
    fn send_paced(&mut self, _now: Instant, _horizon: Instant) -> Option<Self::Packet> {
        None
    }

    /// Takes packets of `train`, `packet` first and those that follow it ([`Payload::follow`]), none of them marked, as
    /// this end would one by one. It stops before one that it cannot take like the others, and before a timer. Hands what
    /// leaves to `send`, each train with its first packet. Returns how many packets it has taken; the owner polls on at
    /// the instant of the last.
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

/// A protocol: its packets, its two ends, and what its packets weigh.
pub trait Protocol {
    /// What the two ends exchange.
    type Packet: Payload;
    /// The end that sends the data.
    type Near: Endpoint<Packet = Self::Packet>;
    /// The end that receives it.
    type Far: Endpoint<Packet = Self::Packet>;

    /// The frame that carries a packet.
    fn frame(&self, packet: Self::Packet) -> Frame<Self::Packet>;

    /// The line of each host's interface, if ends form packets as it takes them; without one packets wait in a queue.
    fn line(&self) -> Option<LineRate> {
        None
    }

    /// Adds `next`, which arrived right behind `held`, to it, and those that follow it ([`Payload::follow`]) up to
    /// `count` in all; returns how many of them are part of it now, as generic receive offload makes them.
    fn merge(&self, _held: &mut Self::Packet, _next: &Self::Packet, _count: u32) -> u32 {
        0
    }

    /// Cuts what the network interface does not send whole: hands each packet to `send`.
    fn cut(&self, packet: Self::Packet, send: &mut impl FnMut(Self::Packet)) {
        send(packet);
    }
}
