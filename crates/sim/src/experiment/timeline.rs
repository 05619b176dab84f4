//! The time line: a link starts to corrupt under a long flow, and LinkGuardian is switched on while
//! traffic runs, at a set time or when a monitor of the link's counters asks for it.

use super::long_flow::{TcpNetwork, open_flows};
use super::row::Row;
use super::setup::Setup;
use crate::config::{Config, ProtectionKind, TimelineConfig};
use crate::net::{ProtectedLink, Tap};
use crate::transport::tcp;
use crate::{ConfigError, Control, Outcome};
use lossylink_core::engine::linkguardian::{DEFAULT_TARGET_LOSS, copies_for};
use lossylink_core::engine::monitor::{Decision, Monitor, MonitorConfig};
use lossylink_core::rng::Streams;
use lossylink_core::time::{Duration, Instant};

/// What one bin shows.
#[derive(Clone, Copy, Debug)]
struct Bin {
    start: Instant,
    send_gbps: f64,
    queue_bytes: u64,
    rx_buffer_bytes: u64,
    retransmissions: u64,
}

/// Totals at the start of the bin in progress.
#[derive(Clone, Copy, Debug, Default)]
struct Totals {
    data_octets: u64,
    retransmissions: u64,
}

/// A run in progress.
struct Timeline<'a> {
    setup: &'a Setup<'a>,
    streams: Streams,
    config: TimelineConfig,
    network: TcpNetwork,
    bins: Vec<Bin>,
    bin_start: Instant,
    before: Totals,
    corruption: Instant,
    /// When the protection is to be switched on; never, if a monitor decides or nothing protects.
    protection: Instant,
    monitor: Option<Monitor>,
    poll: Instant,
    protected_at: Option<Instant>,
    copies: Option<u8>,
}

pub(super) fn run(config: &Config, control: &Control) -> Result<Outcome, ConfigError> {
    let setup = Setup::new(config)?;
    let mut timeline = Timeline::new(&setup)?;
    let end = Duration::from_ps(config.require(&config.run, "run")?.duration_ps);
    control.set_total(end.as_ps());
    timeline.run_until(Instant::ZERO + end, control);
    Ok(timeline.outcome(control.is_cancelled()))
}

/// Refuses moments in the wrong order, and protections that cannot be switched on.
fn check(timeline: &TimelineConfig, kind: ProtectionKind) -> Result<(), ConfigError> {
    let refuse = |message: &str| Err(ConfigError(message.into()));
    if timeline.protection_ps.is_some_and(|at| at < timeline.corruption_ps) {
        return refuse(
            "timeline.protection comes before timeline.corruption; switch it on after the corruption",
        );
    }
    if timeline.bin_ps == 0 || timeline.poll_ps == 0 {
        return refuse("timeline.bin and timeline.poll must be above zero");
    }
    if matches!(kind, ProtectionKind::Fec | ProtectionKind::FecModel) {
        return refuse("a time line switches LinkGuardian on and no code; use none, lg or lg-nb");
    }
    Ok(())
}

impl<'a> Timeline<'a> {
    fn new(setup: &'a Setup<'a>) -> Result<Self, ConfigError> {
        let config = *setup.config.require(&setup.config.timeline, "timeline")?;
        let kind = setup.config.protection.kind;
        check(&config, kind)?;
        let streams = Streams::new(setup.config.seed);
        let network = open_flows(setup, setup.clean_link(&streams), &streams, Tap::default())?;
        let at = |ps| Instant::from_ps(ps);
        let protects = kind != ProtectionKind::None;
        let monitor = (protects && config.protection_ps.is_none())
            .then(|| Monitor::new(MonitorConfig::default()).expect("the published thresholds work together"));
        Ok(Self {
            setup,
            streams,
            config,
            network,
            bins: Vec::new(),
            bin_start: Instant::ZERO,
            before: Totals::default(),
            corruption: at(config.corruption_ps),
            protection: config.protection_ps.filter(|_| protects).map_or(Instant::NEVER, at),
            poll: if monitor.is_some() { Instant::ZERO } else { Instant::NEVER },
            monitor,
            protected_at: None,
            copies: None,
        })
    }

    fn run_until(&mut self, end: Instant, control: &Control) {
        while self.network.now() < end && !control.is_cancelled() {
            let from = self.network.now();
            let bin_end = (self.bin_start + Duration::from_ps(self.config.bin_ps)).min(end);
            let moment = bin_end.min(self.corruption).min(self.protection).min(self.poll);
            self.network.run_until(moment);
            control.add_done((moment - from).as_ps());
            self.act(moment, bin_end);
        }
    }

    /// Does what is due at `now`; a bin ends before what happens at its end.
    fn act(&mut self, now: Instant, bin_end: Instant) {
        if now == bin_end {
            self.close_bin(now);
        }
        if now == self.corruption {
            self.corruption = Instant::NEVER;
            self.network.link.set_loss(self.setup.forward_loss(&self.streams));
        }
        if now == self.protection {
            self.protection = Instant::NEVER;
            self.protect(now, copies_for(self.setup.loss_rate(), DEFAULT_TARGET_LOSS));
        }
        if now == self.poll {
            self.poll = now + Duration::from_ps(self.config.poll_ps);
            self.ask_monitor(now);
        }
    }

    fn protect(&mut self, now: Instant, copies: u8) {
        let guarded = self.setup.late_guard(copies, &self.streams);
        self.copies = Some(self.setup.config.protection.copies.unwrap_or(copies));
        self.network.link.protect(guarded);
        self.protected_at = Some(now);
    }

    /// Reads the counters of the far switch. A link that corrupts goes on corrupting, so that only
    /// the first decision is carried out.
    fn ask_monitor(&mut self, now: Instant) {
        let traffic = *self.network.link.traffic();
        let Some(monitor) = &mut self.monitor else { return };
        let decision = monitor.observe(now, traffic.frames - traffic.lost, traffic.frames);
        if let Some(Decision::Protect { copies }) = decision {
            self.monitor = None;
            self.poll = Instant::NEVER;
            self.protect(now, copies);
        }
    }

    fn totals(&self) -> Totals {
        let flows = self.network.conversations().iter();
        Totals {
            data_octets: self.network.link.traffic().data_octets,
            retransmissions: flows.map(|ends| ends.near.statistics().retransmissions).sum(),
        }
    }

    fn close_bin(&mut self, now: Instant) {
        let totals = self.totals();
        let seconds = (now - self.bin_start).as_secs_f64();
        let octets = totals.data_octets - self.before.data_octets;
        let link = &mut self.network.link;
        let rx_buffer_bytes = link.as_linkguardian_mut().map_or(0, |guarded| {
            let bytes = guarded.counters(now).rx_high_water_bytes;
            guarded.reset_rx_high_water(now);
            bytes
        });
        self.bins.push(Bin {
            start: self.bin_start,
            send_gbps: octets as f64 * 8.0 / seconds / 1e9,
            queue_bytes: link.queue().high_water_bytes(),
            rx_buffer_bytes,
            retransmissions: totals.retransmissions - self.before.retransmissions,
        });
        link.queue_mut().reset_high_water();
        (self.bin_start, self.before) = (now, totals);
    }

    fn outcome(&self, interrupted: bool) -> Outcome {
        let column = |name: &str, of: fn(&Bin) -> f64| (name.to_owned(), self.bins.iter().map(of).collect());
        let columns = vec![
            column("time_s", |bin| bin.start.as_secs_f64()),
            column("send_gbps", |bin| bin.send_gbps),
            column("queue_kb", |bin| bin.queue_bytes as f64 / 1e3),
            column("rx_buffer_kb", |bin| bin.rx_buffer_bytes as f64 / 1e3),
            column("retransmissions", |bin| bin.retransmissions as f64),
        ];
        Outcome { row: self.row().finish(), columns: vec![("timeline".to_owned(), columns)], interrupted }
    }

    fn row(&self) -> Row {
        let flows = self.network.conversations();
        let sum = |of: fn(&tcp::Statistics) -> u64| flows.iter().map(|ends| of(ends.near.statistics())).sum();
        let (retransmissions, timeouts): (u64, u64) =
            (sum(|flow| flow.retransmissions), sum(|flow| flow.timeouts));
        let bytes: u64 = flows.iter().map(|ends| ends.far.bytes_in_order()).sum();
        let seconds = (self.network.now() - Instant::ZERO).as_secs_f64();
        let traffic = self.network.link.traffic();
        let tcp = &self.network.protocol().config;
        let guarded = self.network.link.as_linkguardian().map(|link| link.counters(self.network.now()));
        let mut row = Row::new(self.setup);
        row.set("congestion_control", tcp.congestion_control.name())
            .set("flows", flows.len())
            .set("average_throughput_gbps", bytes as f64 * 8.0 / seconds / 1e9)
            .set("retransmissions", retransmissions)
            .set("timeouts", timeouts)
            .set("protected_at_s", self.protected_at.map(Instant::as_secs_f64))
            .set("copies", self.copies)
            .set("frames_offered", traffic.data_frames)
            .set("frames_lost", traffic.data_lost)
            .set("rx_buffer_drops", guarded.map(|counters| counters.rx_buffer_dropped))
            .set("reorder_timeouts", guarded.map(|counters| counters.timeouts))
            .set("mss_bytes", tcp.payload_bytes())
            .set("simulated_seconds", seconds);
        row
    }
}
