//! One trial of the flow, and the fates of its packets.

use super::watch::{Seen, World};
use crate::measure::Delays;
use crate::net::{AnyLink, Latency, Payload, ProtectedLink, Report};
use crate::transport::tcp;
use lossylink_core::time::Instant;
use serde_json::Value;

/// The result of one trial.
#[derive(Clone, Debug)]
pub(super) struct Trial {
    pub(super) gbps: f64,
    /// The statistics of the TCP flow; `None` for datagrams.
    pub(super) flow: Option<tcp::Statistics>,
    pub(super) delays: Delays,
    /// Latencies by the fate of the packet (intact or recovered), where the link tells it.
    pub(super) latency: Option<Latency>,
    pub(super) seen: Seen,
    pub(super) losses: Losses,
    /// The inspected states of the link of the first trial.
    pub(super) states: Vec<Value>,
}

/// Counts of the packets by their fate, by the time when no packet was under way any more.
#[derive(Clone, Debug, Default)]
pub(super) struct Losses {
    pub(super) queue_bytes_max: u64,
    pub(super) data_frames: u64,
    pub(super) parity_frames: u64,
    /// Data frames lost on the wire.
    pub(super) data_lost: u64,
    /// The counters of the protection.
    pub(super) report: Report,
}

impl Losses {
    /// Returns how many data packets entered the link's near switch and never left the far one.
    pub(super) const fn never_came(&self) -> u64 {
        let egress = &self.report.egress;
        self.residual() + egress.data_dropped + egress.meter_dropped
    }

    /// Returns how many data frames were lost on the wire and not recovered. No frame is under way any more, so that parity of an
    /// open block comes no more.
    pub(super) const fn residual(&self) -> u64 {
        debug_assert!(self.report.recovered <= self.data_lost, "more frames were recovered than lost");
        self.data_lost.saturating_sub(self.report.recovered)
    }
}

impl Trial {
    /// Takes the figures of a world that has run from time zero to `end`.
    pub(super) fn new(world: &impl World, seen: Seen, end: Instant, flow: Option<tcp::Statistics>) -> Self {
        Self {
            gbps: world.received_bytes() as f64 * 8.0 / end.as_secs_f64() / 1e9,
            flow,
            delays: world.delays().clone(),
            latency: world.latency().cloned(),
            seen,
            losses: Losses::default(),
            states: Vec::new(),
        }
    }

    /// Returns this trial with the counters of the link, which was drained at `now`.
    pub(super) fn with_losses<P: Payload>(self, now: Instant, link: &mut AnyLink<P>) -> Self {
        let report = link.report(now);
        let traffic = link.traffic();
        let losses = Losses {
            queue_bytes_max: link.queue().high_water_bytes(),
            data_frames: traffic.data_frames,
            parity_frames: traffic.parity_frames,
            data_lost: traffic.data_lost,
            report,
        };
        Self { losses, ..self }
    }
}

/// Returns a table with a row for each trial, and the series of the first trial.
pub(super) fn columns(trials: &[Trial]) -> Vec<(String, crate::Columns)> {
    let column = |name: &str, of: fn(&Trial) -> f64| (name.to_owned(), trials.iter().map(of).collect());
    let window = |trial: &Trial| trial.flow.and_then(|flow| flow.window_mean()).unwrap_or(f64::NAN);
    let columns = vec![
        column("throughput_gbps", |trial| trial.gbps),
        column("cwnd_packets_mean", window),
        column("latency_us_mean", |trial| trial.delays.mean_us().unwrap_or(f64::NAN)),
        column("queue_bytes_mean", |trial| trial.seen.queue_bytes_mean),
        column("queue_bytes_max", |trial| trial.losses.queue_bytes_max as f64),
    ];
    let mut tables = vec![("trials".to_owned(), columns)];
    tables.extend(trials.first().map(|trial| ("series".to_owned(), trial.seen.columns())));
    tables
}
