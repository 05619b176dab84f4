//! The simulated path of an experiment, for hosts outside of the simulation.

use super::depths::Depths;
use super::row::Row;
use super::setup::Setup;
use super::stress::{ratio, set_buffers, set_retransmissions, set_wire};
use super::timeline::Schedule;
use crate::config::Config;
use crate::net::frame::{FCS_OCTETS, GAP_OCTETS};
use crate::net::{AnyLink, Frame, Hop, LineRate, LineRates, ProtectedLink};
use crate::world::network::{Addressed, Conversation};
use crate::world::protocol::{Arrival, Carried, Mailbox, Outside};
use crate::world::{End, Network, Reception};
use crate::{Columns, ConfigError};
use lossylink_core::rng::Streams;
use lossylink_core::time::{Duration, Instant};
use lossylink_core::units::Bytes;
use serde_json::{Map, Value};

/// A frame that is under way for longer than twice the round trip and this is taken for lost: no queue and no repair takes so
/// long.
const PATIENCE: Duration = Duration::from_ms(100);

/// The most bytes that may wait in front of a way back that is slower than the data: ACKs of 84 octets for 290 MB of
/// segments, one for each.
const WAITING_BACK: Bytes = Bytes(16 << 20);

/// The least bytes of the frame with which a time line begins: shorter frames of TCP carry no data.
const DATA_FROM_BYTES: u32 = 128;

/// The interfaces of two hosts, and the simulated path between them.
///
/// The path does to frames what it does in a simulated run: interfaces, hops, queues, the protected link with its losses, and
/// the delays of the hosts for a packet on its way up. Frames are known by number and length; their owner keeps the bytes.
pub struct EmulatedPath {
    config: Config,
    network: Network<Outside, AnyLink<Addressed<Carried>>>,
    /// When the interface of each host will have sent the frames that it was given; `None` where a host has no interface.
    interfaces: Option<[Hop; 2]>,
    /// The events of the link on a time line, once data is under way.
    schedule: Option<Schedule>,
    /// The samples of the buffers of a stress test, once its frames are under way.
    depths: Option<Depths>,
    patience: Duration,
    handed_over: u64,
    late_max: Duration,
}

impl EmulatedPath {
    /// Builds the path that `config` (JSON, see [`crate::config`]) describes.
    ///
    /// # Errors
    /// If the configuration cannot be simulated: one line that says what is wrong.
    pub fn new(config: &str) -> Result<Self, ConfigError> {
        let config = Config::from_json(config)?;
        let setup = Setup::new(&config);
        let streams = Streams::new(config.seed);
        let host = setup.host()?;
        let path = setup.impaired(setup.path(host.network_one_way_ns)?, &streams)?;
        let patience =
            PATIENCE + (round_trip(&setup)? + longest_jitter(&setup)) * 2 + longest_wait_back(&setup);
        let ends = Conversation { near: Mailbox::default(), far: Mailbox::default() };
        let link =
            if config.timeline.is_some() { setup.waiting_link(&streams)? } else { setup.link(&streams)? };
        let mut link = link;
        if is_stress(&config) {
            link.queue_mut().lift_limit();
        }
        let mut network = Network::new(Outside, link, path, vec![ends]);
        network.set_reception(&Reception::of(host));
        network.set_draws(streams.stream("hosts/near"), streams.stream("hosts/far"));
        let has_interface =
            config.path.as_ref().and_then(|path| path.rtt_ps).is_none() || host.nic_rate_bps > 0;
        let interfaces =
            has_interface.then(|| [interface(setup.interface_rate(host)), interface(setup.rate)]);
        let (schedule, depths) = (None, None);
        let (handed_over, late_max) = (0, Duration::ZERO);
        let path = Self { network, interfaces, schedule, depths, patience, handed_over, late_max, config };
        // A mistake in a time line is told before anything runs.
        path.schedule_from(Instant::ZERO)?;
        Ok(path)
    }

    /// Builds the time line that begins at `begin`, if the experiment has one.
    fn schedule_from(&self, begin: Instant) -> Result<Option<Schedule>, ConfigError> {
        if self.config.timeline.is_none() {
            return Ok(None);
        }
        let setup = Setup::new(&self.config);
        Schedule::new(&setup, &Streams::new(self.config.seed), begin, &self.network.link).map(Some)
    }

    /// Sends a frame of a host at `now`; returns when the host's interface has sent it.
    pub fn send(&mut self, now: Instant, end: End, frame: Carried) -> Instant {
        if self.schedule.is_none() && end == End::Near && frame.bytes >= DATA_FROM_BYTES {
            // The time line begins no earlier than the events that have already happened on the link.
            let begin = self.network.reach(now);
            self.schedule = self.schedule_from(begin).expect("the configuration has built this path");
        }
        if self.depths.is_none() && is_stress(&self.config) {
            self.depths = Some(Depths::from(self.network.reach(now)));
        }
        self.follow_course(now);
        self.look_at_buffers(now);
        self.network.send(now, end, frame);
        let Some(interfaces) = &mut self.interfaces else { return now };
        let hop = &mut interfaces[end as usize];
        hop.pass(now, &Frame::of_frame_bytes(frame.bytes, frame.ecn, ())).unwrap_or(now)
    }

    /// Returns when to ask for arrivals again.
    pub fn poll_timeout(&self) -> Instant {
        let next = self.schedule.as_ref().map_or(Instant::NEVER, Schedule::poll_timeout);
        self.network.poll_outside().min(self.network.asked_for(next))
    }

    /// Carries out the events of the time line that are due before the link runs on, as far as it may at `now`.
    fn follow_course(&mut self, now: Instant) {
        let Some(schedule) = &mut self.schedule else { return };
        let reach = self.network.reach(now);
        while schedule.poll_timeout() <= reach {
            let moment = schedule.poll_timeout();
            self.network.run_link(now, moment);
            // The hosts outside count their own retransmissions.
            schedule.act(moment, &mut self.network.link, 0);
        }
    }

    /// Takes the samples of the buffers that are due, as far as the link may run at `now`.
    fn look_at_buffers(&mut self, now: Instant) {
        let Some(depths) = &mut self.depths else { return };
        while depths.poll_timeout() < self.network.reach(now) {
            self.network.run_link(now, depths.poll_timeout());
            let is_busy = self.network.is_link_busy();
            depths.look(&mut self.network.link, is_busy);
        }
    }

    /// Takes the next frame that has come out of the path by `now`, and returns it with the end at which it came out.
    pub fn take_arrival(&mut self, now: Instant) -> Option<(End, Arrival)> {
        self.follow_course(now);
        self.look_at_buffers(now);
        let (end, arrival) = self.network.take_arrival(now)?;
        self.handed_over += 1;
        self.late_max = self.late_max.max(now - arrival.at);
        Some((end, arrival))
    }

    /// Returns how long a frame may be under way before its owner forgets it.
    pub const fn patience(&self) -> Duration {
        self.patience
    }

    /// Returns the counters of the path up to `now`, as keys of a row.
    pub fn report(&mut self, now: Instant) -> Map<String, Value> {
        self.follow_course(now);
        self.look_at_buffers(now);
        self.network.run_link(now, self.network.reach(now));
        let setup = Setup::new(&self.config);
        let link = &mut self.network.link;
        let (traffic, back) = (*link.traffic(), *link.reverse_traffic());
        let largest = u64::from(traffic.largest_octets).saturating_sub(u64::from(GAP_OCTETS + FCS_OCTETS));
        let mut row = Row::new(&setup);
        row.set("frames_offered", traffic.data_frames)
            .set("frames_lost", traffic.data_lost)
            .set("realised_loss_ratio", ratio(traffic.data_lost, traffic.data_frames))
            .set("frames_offered_back", back.data_frames)
            .set("frames_lost_back", back.data_lost)
            .set("largest_frame_bytes", largest)
            .set("queue_bytes_max", link.queue().high_water_bytes())
            .set("queue_drops", link.queue().dropped() + self.network.hop_drops())
            .set("frames_handed_over", self.handed_over)
            .set("lateness_ns_max", self.late_max.as_ps() as f64 / 1e3)
            .set("simulated_seconds", now.as_secs_f64());
        let report = self.network.link.report(now);
        if let Some(depths) = &self.depths {
            set_wire(&mut row, &traffic);
            set_retransmissions(&mut row);
            set_buffers(&mut row, depths.samples(), (report.tx_buffer_max_bytes, report.rx_buffer_max_bytes));
        }
        row.set("frames_unrecovered", traffic.data_lost.saturating_sub(report.recovered))
            .set_figures(&report.figures);
        if let Some(schedule) = &self.schedule {
            schedule.set(&mut row, &report, &self.network.link);
        }
        row.finish()
    }

    /// Returns the bins of a time line, column by column, without the retransmissions of the hosts; empty without a time
    /// line.
    pub fn timeline(&self) -> Columns {
        let columns = self.schedule.iter().flat_map(Schedule::columns);
        columns.filter(|(name, _)| name != "retransmissions").collect()
    }
}

/// Whether the hosts send as fast as they can, and learn from the frames that arrive how far they may go.
fn is_stress(config: &Config) -> bool {
    config.experiment == "stress"
}

/// Builds an interface that computes when frames leave it; the path of the network has an interface of its own.
fn interface(rate: LineRate) -> Hop {
    Hop::new(rate, Duration::ZERO, u64::MAX >> 16)
}

fn round_trip(setup: &Setup<'_>) -> Result<Duration, ConfigError> {
    let rtt = setup.config.path.as_ref().and_then(|path| path.rtt_ps).map(Duration::from_ps);
    Ok(rtt.unwrap_or(Duration::from_ns_f64(setup.host()?.network_one_way_ns) * 2))
}

/// Returns the most by which jitter delays a frame there and back.
fn longest_jitter(setup: &Setup<'_>) -> Duration {
    let jitter = setup.config.path.as_ref().map(|path| path.jitter).unwrap_or_default();
    Duration::from_ps(jitter.forward_ps) + Duration::from_ps(jitter.back_ps)
}

/// Returns how long a frame may wait in front of the way back; zero where that way is as fast as the data.
fn longest_wait_back(setup: &Setup<'_>) -> Duration {
    let LineRates { forward, back } = setup.plan.rates;
    if back.bit_rate() < forward.bit_rate() { WAITING_BACK / back.bit_rate() } else { Duration::ZERO }
}
