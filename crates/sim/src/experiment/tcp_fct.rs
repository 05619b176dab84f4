//! Completion times of TCP flows, one after another over the same link.
//!
//! Measured by the published rule: from the first data packet to the first acknowledgement that
//! covers all bytes, both seen at the sender.

use super::serial::{Counters, Repair, Serial, SerialProtocol};
use super::setup::Setup;
use crate::capture::TcpConnections;
use crate::config::{Config, HostProfile};
use crate::transport::tcp;
use crate::world::network::Conversation;
use crate::world::protocol::TcpPacket;
use crate::world::{Protocol, Reception, Tcp};
use crate::{ConfigError, Control, Outcome};
use lossylink_core::time::{Duration, Instant};

pub(super) fn run(config: &Config, control: &Control) -> Result<Outcome, ConfigError> {
    let setup = Setup::new(config);
    let (tcp_config, cuts_bursts) = setup.tcp()?;
    let one_way_ns = setup.host()?.network_one_way_ns;
    let flows = Serial::new(setup, Tcp { config: tcp_config, cuts_bursts }, one_way_ns)?;
    flows.run(
        control,
        |tcp, row| {
            row.set("congestion_control", tcp.config.congestion_control.name());
        },
        |tcp, totals, row| {
            row.set("repaired_fast", totals.repaired(Repair::Fast))
                .set("repaired_reordering_timer", totals.repaired(Repair::ReorderingTimer))
                .set("repaired_probe", totals.repaired(Repair::Probe))
                .set("repaired_timeout", totals.repaired(Repair::Timeout))
                .set("mss_bytes", tcp.config.payload_bytes());
        },
    )
}

/// A flow is a connection of its own.
impl SerialProtocol for Tcp {
    type Carries = TcpConnections;

    fn carries(&self, flow_bytes: u64) -> TcpConnections {
        TcpConnections::new(self.config.clone(), Some(flow_bytes))
    }

    fn full_packet(&self) -> (u32, u32) {
        let payload = self.config.payload_bytes();
        let data = tcp::Data {
            first: 0,
            payload,
            segments: 1,
            retransmission: false,
            ecn_capable: false,
            window_reduced: false,
            timestamp: 0,
        };
        (payload, self.frame(TcpPacket(tcp::Packet::Data(data))).octets)
    }

    fn conversation(&self, flow_bytes: u64) -> Conversation<Self> {
        Conversation {
            near: tcp::Sender::new(&self.config, Some(flow_bytes), Duration::ZERO),
            far: tcp::Receiver::new(&self.config, Duration::ZERO),
        }
    }

    const CONNECTS: bool = true;

    fn start(now: Instant, ends: &mut Conversation<Self>, flow_bytes: u64, phases: (Duration, Duration)) {
        ends.near.reopen(Some(flow_bytes), phases.0);
        ends.far.reopen(phases.1);
        ends.near.open(now);
    }

    /// Starts a flow on a connection of a pool. The connection stands when the flow comes: no host waits for
    /// a handshake.
    fn resume(
        now: Instant,
        ends: &mut Conversation<Self>,
        flow_bytes: u64,
        phases: (Duration, Duration),
        round_trip: Duration,
    ) {
        let round_trip_us = round_trip.as_us_f64() as u64;
        ends.near.reopen(Some(flow_bytes), phases.0);
        ends.far.reopen(phases.1);
        ends.near.resume(now, round_trip_us);
        ends.far.resume(now, round_trip_us);
    }

    /// Opens both ends anew: TCP never gives up a flow by itself.
    fn abandon(ends: &mut Conversation<Self>) {
        ends.near.reopen(None, Duration::ZERO);
        ends.far.reopen(Duration::ZERO);
    }

    fn round_trip(ends: &Conversation<Self>) -> Duration {
        let statistics = ends.near.statistics();
        Duration::from_us(statistics.rtt_sum_us / statistics.rtt_samples.max(1))
    }

    fn unsent_bytes(ends: &Conversation<Self>) -> u64 {
        ends.near.bytes_unsent().unwrap_or(u64::MAX)
    }

    #[inline]
    fn has_ended(ends: &Conversation<Self>) -> bool {
        ends.near.completed_at().is_some()
    }

    fn completion(ends: &mut Conversation<Self>) -> Option<Duration> {
        let (completed, first) = ends.near.completed_at().zip(ends.near.first_data_at())?;
        Some(completed - first)
    }

    fn counters(ends: &Conversation<Self>) -> Counters {
        let counted = ends.near.statistics();
        let mut repairs = [0; Repair::COUNT];
        repairs[Repair::Fast as usize] = counted.fast_recoveries;
        repairs[Repair::ReorderingTimer as usize] = counted.reordering_timer_recoveries;
        repairs[Repair::Probe as usize] = counted.loss_probes;
        repairs[Repair::Timeout as usize] = counted.timeouts;
        Counters { retransmissions: counted.retransmissions, repairs }
    }

    fn reception(host: &HostProfile) -> Reception {
        Reception::of(host)
    }

    #[cfg(feature = "fast")]
    fn timing_invariant_for(&self, flow_bytes: u64) -> Option<Duration> {
        self.config.timing_invariant_for(flow_bytes)
    }
}
