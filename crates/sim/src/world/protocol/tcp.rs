//! TCP over IPv4 and Ethernet.

use super::gro::merge_data;
use super::{Endpoint, Protocol};
#[cfg(feature = "fast")]
use crate::kernel::Train;
use crate::net::{Ecn, Frame, Payload};
use crate::transport::tcp;
#[cfg(feature = "fast")]
use lossylink_core::time::Duration;
use lossylink_core::time::Instant;

/// TCP over IPv4 and Ethernet.
#[derive(Clone, Debug)]
pub struct Tcp {
    /// The connection's settings.
    pub config: tcp::Config,
    /// Whether the interface cuts bursts into segments; otherwise bursts cross the path whole.
    pub cuts_bursts: bool,
}

/// A TCP packet in flight. The default value is never sent.
#[derive(Clone, Copy, Debug)]
pub struct TcpPacket(pub tcp::Packet);

impl Default for TcpPacket {
    fn default() -> Self {
        Self(tcp::Packet::Syn)
    }
}

impl Payload for TcpPacket {
    #[inline]
    fn distance(&self, next: &Self, _count: u32) -> Option<u32> {
        self.0.distance(&next.0)
    }

    #[inline]
    fn follow(&mut self, count: u32, step: u32) {
        self.0.advance(count * step);
    }
}

impl Protocol for Tcp {
    type Packet = TcpPacket;
    type Near = tcp::Sender;
    type Far = tcp::Receiver;

    #[inline]
    fn frame(&self, packet: TcpPacket) -> Frame<TcpPacket> {
        let ecn = if packet.0.is_ecn_capable() { Ecn::Capable } else { Ecn::NotCapable };
        Frame::of_ip_bytes(packet.0.ip_bytes(&self.config), ecn, packet)
    }

    fn merge(&self, held: &mut TcpPacket, next: &TcpPacket, count: u32) -> u32 {
        match (&mut held.0, &next.0) {
            (tcp::Packet::Data(held), tcp::Packet::Data(next)) => merge_data(held, next, count, &self.config),
            _ => 0,
        }
    }

    #[inline]
    fn cut(&self, packet: TcpPacket, send: &mut impl FnMut(TcpPacket)) {
        match packet.0 {
            tcp::Packet::Data(data) if self.cuts_bursts && data.segments > 1 => self.cut_burst(data, send),
            _ => send(packet),
        }
    }
}

impl Tcp {
    #[inline(never)]
    fn cut_burst(&self, burst: tcp::Data, send: &mut impl FnMut(TcpPacket)) {
        let payload = self.config.payload_bytes();
        burst.frames(payload).for_each(|frame| send(TcpPacket(tcp::Packet::Data(frame))));
    }
}

impl Endpoint for tcp::Sender {
    type Packet = TcpPacket;

    #[inline]
    fn handle_packet(&mut self, now: Instant, packet: &TcpPacket, _marked: bool) {
        Self::handle_packet(self, now, &packet.0);
    }

    fn handle_timeout(&mut self, now: Instant) {
        Self::handle_timeout(self, now);
    }

    #[inline]
    fn poll_transmit(&mut self, now: Instant) -> Option<TcpPacket> {
        Self::poll_transmit(self, now).map(TcpPacket)
    }

    #[inline]
    fn poll_timeout(&self) -> Instant {
        Self::poll_timeout(self)
    }

    #[cfg(feature = "fast")]
    #[inline]
    fn repeat(&mut self, packet: &TcpPacket, now: Instant, _spacing: Duration, horizon: Instant) -> Train {
        let (more, spacing) = Self::repeat(self, &packet.0, horizon);
        Train { spacing, count: 1 + more, ..Train::of_one(now) }
    }

    #[cfg(feature = "fast")]
    #[inline]
    fn send_paced(&mut self, now: Instant, horizon: Instant) -> Option<TcpPacket> {
        Self::send_paced(self, now, horizon).map(TcpPacket)
    }

    #[cfg(feature = "fast")]
    #[inline]
    fn take_train(
        &mut self,
        train: Train,
        packet: &TcpPacket,
        mut send: impl FnMut(Train, TcpPacket),
    ) -> u32 {
        Self::take_train(self, train, &packet.0, |train, packet| send(train, TcpPacket(packet)))
    }
}

impl Endpoint for tcp::Receiver {
    type Packet = TcpPacket;

    #[inline]
    fn handle_packet(&mut self, now: Instant, packet: &TcpPacket, marked: bool) {
        Self::handle_packet(self, now, &packet.0, marked);
    }

    fn handle_timeout(&mut self, now: Instant) {
        Self::handle_timeout(self, now);
    }

    #[inline]
    fn poll_transmit(&mut self, now: Instant) -> Option<TcpPacket> {
        Self::poll_transmit(self, now).map(TcpPacket)
    }

    #[inline]
    fn poll_timeout(&self) -> Instant {
        Self::poll_timeout(self)
    }

    #[cfg(feature = "fast")]
    #[inline]
    fn take_train(
        &mut self,
        train: Train,
        packet: &TcpPacket,
        mut send: impl FnMut(Train, TcpPacket),
    ) -> u32 {
        Self::take_train(self, train, &packet.0, |train, packet| send(train, TcpPacket(packet)))
    }
}
