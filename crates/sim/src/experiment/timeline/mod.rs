//! The time line: a link starts to corrupt under a long flow and may heal again, and its protection
//! is switched on while traffic runs, at a set time or as a monitor of the link's counters asks.

mod bins;
mod schedule;
mod switching;

use super::capturing::Capture;
use super::inspecting::{inspected, states};
use super::long_flow::{TcpNetwork, open_flows};
use super::row::Row;
use super::setup::Setup;
use crate::capture::TcpConnections;
use crate::config::Config;
use crate::net::{ProtectedLink, Report};
use crate::transport::tcp;
use crate::{ConfigError, Control, Outcome};
use lossylink_core::rng::Streams;
use lossylink_core::time::{Duration, Instant};

pub(super) use schedule::Schedule;

/// A time line in progress.
struct Timeline<'a> {
    setup: &'a Setup<'a>,
    network: TcpNetwork,
    schedule: Schedule,
}

pub(super) fn run(config: &Config, control: &Control) -> Result<Outcome, ConfigError> {
    let setup = Setup::new(config);
    let (tcp, _) = setup.tcp()?;
    let capture = Capture::open(&setup, || TcpConnections::new(tcp, None))?;
    let mut timeline = Timeline::new(&setup, &capture)?;
    timeline.network = timeline.network.stopping(control.stop());
    let end = Duration::from_ps(config.require(&config.run, "run")?.duration_ps);
    control.set_total(end.as_ps());
    timeline.run_until(Instant::ZERO + end, control);
    capture.finish()?;
    timeline.outcome(control.is_cancelled())
}

impl<'a> Timeline<'a> {
    fn new(setup: &'a Setup<'a>, capture: &Capture<TcpConnections>) -> Result<Self, ConfigError> {
        let streams = Streams::new(setup.config.seed);
        let mut link = inspected(setup, setup.waiting_link(&streams)?);
        let schedule = Schedule::new(setup, &streams, Instant::ZERO, &link)?;
        link.set_tap(capture.tap());
        let network = open_flows(setup, link, &streams, capture.tap())?;
        Ok(Self { setup, network, schedule })
    }

    fn run_until(&mut self, end: Instant, control: &Control) {
        while self.network.now() < end && !control.is_cancelled() {
            let from = self.network.now();
            let moment = self.schedule.poll_timeout();
            self.network.run_until(moment);
            if self.network.is_stopped() {
                return;
            }
            control.add_done((moment - from).as_ps());
            let retransmissions = self.sum(|flow| flow.retransmissions);
            self.schedule.act(moment, &mut self.network.link, retransmissions);
        }
    }

    fn sum(&self, of: fn(&tcp::Statistics) -> u64) -> u64 {
        self.network.conversations().iter().map(|ends| of(ends.near.statistics())).sum()
    }

    fn outcome(&mut self, interrupted: bool) -> Result<Outcome, ConfigError> {
        let report = self.network.link.report(self.network.now());
        let columns = vec![("timeline".to_owned(), self.schedule.columns())];
        let row = self.row(&report).finish();
        let now = self.network.now();
        let states = states(self.setup, &mut self.network.link, now, interrupted)?;
        Ok(Outcome { row, columns, states, interrupted, ..Outcome::default() })
    }

    fn row(&self, report: &Report) -> Row {
        let flows = self.network.conversations();
        let bytes: u64 = flows.iter().map(|ends| ends.far.bytes_in_order()).sum();
        let seconds = (self.network.now() - Instant::ZERO).as_secs_f64();
        let tcp = &self.network.protocol().config;
        let mut row = Row::new(self.setup);
        row.set("congestion_control", tcp.congestion_control.name())
            .set("flows", flows.len())
            .set("average_throughput_gbps", bytes as f64 * 8.0 / seconds / 1e9)
            .set("retransmissions", self.sum(|flow| flow.retransmissions))
            .set("timeouts", self.sum(|flow| flow.timeouts));
        self.schedule.set(&mut row, report, &self.network.link);
        row.set("mss_bytes", tcp.payload_bytes()).set("simulated_seconds", seconds);
        row
    }
}
