//! The time line: a link starts to corrupt under a long flow and may heal again, and its protection
//! is switched on while traffic runs, at a set time or as a monitor of the link's counters asks.

mod bins;
mod switching;

use super::capturing::Capture;
use super::inspecting::{inspected, states};
use super::long_flow::{TcpNetwork, open_flows};
use super::row::Row;
use super::setup::Setup;
use crate::capture::TcpConnections;
use crate::config::{Config, TimelineConfig};
use crate::net::{Advice, Losses, ProtectedLink, Report, Traffic};
use crate::transport::tcp;
use crate::{ConfigError, Control, Outcome};
use bins::Bins;
use lossylink_core::engine::monitor::{Decision, Monitor, MonitorConfig};
use lossylink_core::rng::Streams;
use lossylink_core::time::{Duration, Instant};
use switching::Switching;

/// A run in progress.
struct Timeline<'a> {
    setup: &'a Setup<'a>,
    streams: Streams,
    config: TimelineConfig,
    network: TcpNetwork,
    bins: Bins,
    switching: Switching,
    /// When the link starts to corrupt, and when it heals; never, when that is past.
    corruption: Instant,
    healing: Instant,
    /// When the protection is to be switched on; never, if a monitor decides or nothing protects.
    protection: Instant,
    /// Data frames that entered the link while it corrupted, and how many had entered when that last began.
    at_risk: u64,
    at_risk_since: Option<u64>,
    /// Read the counters of the two switches: of the data, and of the way back (LG-47).
    monitors: Option<[Monitor; 2]>,
    poll: Instant,
}

pub(super) fn run(config: &Config, control: &Control) -> Result<Outcome, ConfigError> {
    let setup = Setup::new(config)?;
    let (tcp, _) = setup.tcp()?;
    let moments = *config.require(&config.timeline, "timeline")?;
    check(&moments)?;
    let capture = Capture::open(&setup, || TcpConnections::new(tcp, None))?;
    let mut timeline = Timeline::new(&setup, moments, &capture)?;
    let end = Duration::from_ps(config.require(&config.run, "run")?.duration_ps);
    control.set_total(end.as_ps());
    timeline.run_until(Instant::ZERO + end, control);
    capture.finish()?;
    timeline.outcome(control.is_cancelled())
}

/// Refuses moments in the wrong order.
fn check(timeline: &TimelineConfig) -> Result<(), ConfigError> {
    let refuse = |message: &str| Err(ConfigError(message.into()));
    if timeline.protection_ps.is_some_and(|at| at < timeline.corruption_ps) {
        return refuse(
            "timeline.protection comes before timeline.corruption; switch it on after the corruption",
        );
    }
    if timeline.corruption_end_ps.is_some_and(|at| at <= timeline.corruption_ps) {
        return refuse(
            "timeline.corruption_end does not come after timeline.corruption; let the corruption last",
        );
    }
    if timeline.bin_ps == 0 || timeline.poll_ps == 0 {
        return refuse("timeline.bin and timeline.poll must be above zero");
    }
    Ok(())
}

impl<'a> Timeline<'a> {
    fn new(
        setup: &'a Setup<'a>,
        config: TimelineConfig,
        capture: &Capture<TcpConnections>,
    ) -> Result<Self, ConfigError> {
        let streams = Streams::new(setup.config.seed);
        let mut link = inspected(setup, setup.waiting_link(&streams)?);
        link.set_tap(capture.tap());
        let network = open_flows(setup, link, &streams, capture.tap())?;
        let monitors = if setup.protects() && config.protection_ps.is_none() {
            Some([monitor(setup.config)?, monitor(setup.config)?])
        } else {
            None
        };
        let at = |ps: Option<u64>| ps.map_or(Instant::NEVER, Instant::from_ps);
        Ok(Self {
            setup,
            streams,
            config,
            network,
            bins: Bins::default(),
            corruption: Instant::from_ps(config.corruption_ps),
            healing: at(config.corruption_end_ps),
            protection: at(config.protection_ps.filter(|_| setup.protects())),
            at_risk: 0,
            at_risk_since: None,
            poll: if monitors.is_some() { Instant::ZERO } else { Instant::NEVER },
            monitors,
            switching: Switching::default(),
        })
    }

    fn run_until(&mut self, end: Instant, control: &Control) {
        while self.network.now() < end && !control.is_cancelled() {
            let from = self.network.now();
            let bin_end = (self.bins.start() + Duration::from_ps(self.config.bin_ps)).min(end);
            let moments = [
                bin_end,
                self.corruption,
                self.healing,
                self.protection,
                self.poll,
                self.switching.poll_timeout(),
            ];
            let moment = moments.into_iter().min().expect("there is an end");
            self.network.run_until(moment);
            control.add_done((moment - from).as_ps());
            self.act(moment, bin_end);
        }
    }

    /// Does what is due at `now`; a bin ends before what happens at its end.
    fn act(&mut self, now: Instant, bin_end: Instant) {
        if now == bin_end {
            self.bins.close(now, &mut self.network, &mut self.switching);
        }
        if now == self.corruption {
            self.corruption = Instant::NEVER;
            self.at_risk_since = Some(self.network.link.traffic().data_frames);
            self.set_losses(self.setup.setting_in(&self.streams));
        }
        if now == self.healing {
            self.healing = Instant::NEVER;
            self.at_risk = self.frames_at_risk();
            self.at_risk_since = None;
            self.set_losses(Setup::healed(&self.streams));
        }
        if now == self.protection {
            self.protection = Instant::NEVER;
            self.switching.protect(now, self.setup.advice(), &mut self.network);
        }
        if now == self.poll {
            self.poll = now + Duration::from_ps(self.config.poll_ps);
            self.ask_monitors(now);
        }
        if now == self.switching.poll_timeout() {
            self.switching.advance(now, &mut self.network);
        }
    }

    /// Data frames that entered the link while it corrupted, until now.
    fn frames_at_risk(&self) -> u64 {
        let open = self.at_risk_since.map_or(0, |since| self.network.link.traffic().data_frames - since);
        self.at_risk + open
    }

    /// Both directions begin or cease to corrupt.
    fn set_losses(&mut self, (forward, reverse): Losses) {
        self.network.link.set_loss(forward);
        *self.network.link.losses_mut().1 = reverse;
    }

    /// Reads the counters of both switches, and does what the monitors make of them (LG-47).
    fn ask_monitors(&mut self, now: Instant) {
        let (traffic, reverse) = (*self.network.link.traffic(), *self.network.link.reverse_traffic());
        let Some([forward, back]) = &mut self.monitors else { return };
        let read = |monitor: &mut Monitor, traffic: Traffic| {
            monitor.observe(now, traffic.frames - traffic.lost, traffic.frames)
        };
        let decisions = (read(forward, traffic), read(back, reverse));
        let advice =
            forward.copies().map(|copies| Advice { copies, control_copies: back.copies().unwrap_or(1) });
        match (decisions, advice) {
            ((None, None), _) => {}
            ((Some(Decision::Unprotect), _), _) => self.switching.unprotect(now),
            (_, Some(advice)) => self.switching.protect(now, advice, &mut self.network),
            (_, None) => {}
        }
    }

    fn outcome(&mut self, interrupted: bool) -> Result<Outcome, ConfigError> {
        let report = self.network.link.report(self.network.now());
        let columns = vec![("timeline".to_owned(), self.bins.columns())];
        let row = self.row(&report).finish();
        let now = self.network.now();
        let states = states(self.setup, &mut self.network.link, now, interrupted)?;
        Ok(Outcome { row, columns, states, interrupted, ..Outcome::default() })
    }

    fn row(&self, report: &Report) -> Row {
        let flows = self.network.conversations();
        let sum = |of: fn(&tcp::Statistics) -> u64| flows.iter().map(|ends| of(ends.near.statistics())).sum();
        let (retransmissions, timeouts): (u64, u64) =
            (sum(|flow| flow.retransmissions), sum(|flow| flow.timeouts));
        let bytes: u64 = flows.iter().map(|ends| ends.far.bytes_in_order()).sum();
        let now = self.network.now();
        let seconds = (now - Instant::ZERO).as_secs_f64();
        let traffic = self.network.link.traffic();
        let tcp = &self.network.protocol().config;
        let switched = self.switching.switched();
        let mut row = Row::new(self.setup);
        row.set("congestion_control", tcp.congestion_control.name())
            .set("flows", flows.len())
            .set("average_throughput_gbps", bytes as f64 * 8.0 / seconds / 1e9)
            .set("retransmissions", retransmissions)
            .set("timeouts", timeouts)
            .set("protected_at_s", switched.first_on.map(Instant::as_secs_f64))
            .set("unprotected_at_s", switched.last_off.map(Instant::as_secs_f64))
            .set("protection_changes", switched.changes)
            .set("copies", report.count("copies"))
            .set("control_copies", report.count("control_copies"))
            .set("frames_offered", traffic.data_frames)
            .set("frames_at_risk", self.frames_at_risk())
            .set("frames_lost", traffic.data_lost)
            .set("rx_buffer_drops", report.count("rx_buffer_drops"))
            .set("reorder_timeouts", report.count("timeouts"))
            .set("mss_bytes", tcp.payload_bytes())
            .set("simulated_seconds", seconds);
        row
    }
}

/// The monitor with the scenario's thresholds, or the published ones.
fn monitor(config: &Config) -> Result<Monitor, ConfigError> {
    let settings = config.monitor.map_or_else(MonitorConfig::default, |section| section.settings());
    Monitor::new(settings).map_err(|error| ConfigError(format!("monitor: {error}")))
}
