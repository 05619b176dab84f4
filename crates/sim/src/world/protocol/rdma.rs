//! RDMA in a [`Network`](crate::world::Network): RoCEv2 over IPv4 and Ethernet.

use super::{Endpoint, Protocol};
#[cfg(feature = "fast")]
use crate::kernel::Train;
use crate::net::{Ecn, Frame, LineRate};
use crate::transport::Departure;
use crate::transport::rdma::{Config, Packet, Requester, Responder};
#[cfg(feature = "fast")]
use lossylink_core::time::Duration;
use lossylink_core::time::Instant;

/// A reliable connection whose requester is the near end.
#[derive(Clone, Debug)]
pub struct Rdma {
    /// The connection's settings.
    pub config: Config,
    /// The line of each host's interface, for which packets are formed (RDMA-19). Without a line all packets leave at
    /// once.
    pub line: Option<LineRate>,
}

impl Protocol for Rdma {
    type Packet = Packet;
    type Near = Requester;
    type Far = Responder;

    /// Returns the frame of a packet. Data is ECN-capable when DCQCN listens to the marks.
    #[inline]
    fn frame(&self, packet: Packet) -> Frame<Packet> {
        let is_capable = self.config.dcqcn.is_some() && packet.is_data();
        let ecn = if is_capable { Ecn::Capable } else { Ecn::NotCapable };
        Frame::of_ip_bytes(packet.ip_bytes(), ecn, packet)
    }

    #[inline]
    fn line(&self) -> Option<LineRate> {
        self.line
    }
}

impl Endpoint for Requester {
    type Packet = Packet;

    #[inline]
    fn handle_packet(&mut self, now: Instant, packet: &Packet, marked: bool) {
        Self::handle_packet(self, now, packet, marked);
    }

    fn handle_timeout(&mut self, now: Instant) {
        Self::handle_timeout(self, now);
    }

    #[inline]
    fn poll_transmit(&mut self, now: Instant) -> Option<Packet> {
        Self::poll_transmit(self, now)
    }

    #[inline]
    fn poll_timeout(&self) -> Instant {
        Self::poll_timeout(self)
    }

    #[inline]
    fn poll_at_line(&mut self, now: Instant, is_free: bool) -> Departure<Packet> {
        Self::poll_at_line(self, now, is_free)
    }

    #[cfg(feature = "fast")]
    #[inline]
    fn repeat(&mut self, packet: &Packet, now: Instant, spacing: Duration, horizon: Instant) -> Train {
        Self::repeat(self, packet, now, spacing, horizon)
    }
}

impl Endpoint for Responder {
    type Packet = Packet;

    #[inline]
    fn handle_packet(&mut self, now: Instant, packet: &Packet, marked: bool) {
        Self::handle_packet(self, now, packet, marked);
    }

    /// Does nothing: the responder has no timer but its pacing, and polling the responder serves that.
    fn handle_timeout(&mut self, _now: Instant) {}

    #[inline]
    fn poll_transmit(&mut self, now: Instant) -> Option<Packet> {
        Self::poll_transmit(self, now)
    }

    #[inline]
    fn poll_timeout(&self) -> Instant {
        Self::poll_timeout(self)
    }

    #[inline]
    fn poll_at_line(&mut self, now: Instant, is_free: bool) -> Departure<Packet> {
        Self::poll_at_line(self, now, is_free)
    }

    #[cfg(feature = "fast")]
    #[inline]
    fn take_train(&mut self, train: Train, packet: &Packet, _send: impl FnMut(Train, Packet)) -> u32 {
        Self::take_train(self, train, packet)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::Cells;
    use crate::net::PlainLink;
    use crate::net::direct::DirectConfig;
    use crate::net::queue::QueueLimits;
    use crate::transport::rdma::Operation;
    use crate::world::network::{Addressed, Conversation};
    use crate::world::{Network, Path};
    use lossylink_core::loss::{LossModel, LossProcess};
    use lossylink_core::rng::Streams;
    use lossylink_core::time::Duration;
    use lossylink_core::units::BitRate;

    const RATE: BitRate = BitRate::from_gbps(100);
    const RTT: Duration = Duration::from_us(15);
    const LINK_DELAY: Duration = Duration::from_ns(659);

    fn network(
        (config, line): (Config, Option<LineRate>),
        forward: LossModel,
    ) -> Network<Rdma, PlainLink<Addressed<Packet>>> {
        let process = |model| LossProcess::new(&model, Streams::new(1).stream("loss"));
        let queue = QueueLimits {
            limit_bytes: u64::MAX >> 16,
            ecn_threshold_bytes: u64::MAX,
            cells: Cells::new(80),
            header_bytes: 0,
        };
        let plain = DirectConfig { rates: LineRate::new(RATE).into(), flight: LINK_DELAY, queue };
        let link = PlainLink::new(plain, process(forward), process(LossModel::None));
        let path = Path::direct(RTT, LINK_DELAY, None).unwrap();
        let conversation = Conversation { near: Requester::new(&config), far: Responder::new(&config) };
        Network::new(Rdma { config, line }, link, path, vec![conversation])
    }

    /// Returns the completion time of a write of `bytes`, and the number of packets that it took.
    fn write(line: Option<LineRate>, bytes: u64, forward: LossModel) -> (Duration, u64) {
        let mut network = network((Config::default(), line), forward);
        let mut done = None;
        network.act(0, |now, ends| {
            ends.near.post(now, Operation::Write(bytes));
        });
        while done.is_none() && network.step(Instant::NEVER) {
            network.act(0, |_, ends| done = ends.near.poll_completion());
        }
        let packets = network.conversation(0).near.statistics().packets_sent;
        (done.expect("a write completes").completed_at - Instant::ZERO, packets)
    }

    // RDMA-19
    #[test]
    fn a_short_write_takes_as_long_wherever_its_packets_wait() {
        // Octets on the wire: first, middle and last packet, acknowledgement.
        let octets = 1122 + 22 * 1106 + 918 + 86;
        let floor = Duration::from_ps(octets * 80) + RTT;
        for line in [None, Some(LineRate::new(RATE))] {
            assert_eq!(write(line, 24_387, LossModel::None), (floor, 24));
        }
    }

    // RDMA-11, RDMA-19: a NAK finds the rest of a long message unsent only if packets are formed as they leave.
    #[test]
    fn a_message_formed_packet_by_packet_repeats_only_what_left_before_the_nak() {
        let packets = 1000;
        let sent = |line| write(line, packets * 1024, LossModel::at(vec![1]).unwrap()).1;
        assert_eq!(sent(None), packets + 999);
        // A round trip and two packets at 88.48 ns each are some 173 packets.
        let repeated = sent(Some(LineRate::new(RATE))) - packets;
        assert!((170..=176).contains(&repeated), "{repeated} packets were repeated");
    }
}
