//! One run of the flow, and what became of its packets.

use super::watch::{Seen, World};
use crate::measure::Delays;
use crate::net::coded::{EgressCounters, Latency};
use crate::net::{AnyLink, ProtectedLink};
use crate::transport::tcp;
use lossylink_core::time::Instant;

/// One run.
#[derive(Clone, Debug)]
pub(super) struct Trial {
    pub(super) gbps: f64,
    /// Of TCP.
    pub(super) flow: Option<tcp::Statistics>,
    pub(super) delays: Delays,
    /// Latencies by what became of the packet, where the link tells.
    pub(super) latency: Option<Latency>,
    pub(super) seen: Seen,
    pub(super) losses: Losses,
}

/// What became of the packets, by the time nothing was under way any more.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Losses {
    pub(super) queue_bytes_max: u64,
    pub(super) egress: EgressCounters,
    pub(super) data_frames: u64,
    pub(super) parity_frames: u64,
    /// Data frames lost on the wire.
    pub(super) data_lost: u64,
    /// Those of them that came back.
    pub(super) recovered: u64,
    /// Those that wait for traffic that never comes: the model has no timer.
    pub(super) undecided: u64,
}

impl Losses {
    /// Data frames lost on the wire that did not come back.
    pub(super) const fn residual(&self) -> u64 {
        (self.data_lost - self.undecided).saturating_sub(self.recovered)
    }
}

impl Trial {
    /// A world that has run from time zero to `end`.
    pub(super) fn new(world: &impl World, seen: Seen, end: Instant, flow: Option<tcp::Statistics>) -> Self {
        Self {
            gbps: world.received_bytes() as f64 * 8.0 / end.as_secs_f64() / 1e9,
            flow,
            delays: world.delays().clone(),
            latency: world.latency().cloned(),
            seen,
            losses: Losses::default(),
        }
    }

    /// The same with what the drained link has counted.
    pub(super) fn with_losses<P: Copy + Default>(self, link: &AnyLink<P>) -> Self {
        let traffic = link.traffic();
        let (recovered, undecided) = decided(link);
        let mut egress = link.egress();
        if link.code_latency().is_none() {
            egress.data_dropped = link.queue().dropped();
        }
        let losses = Losses {
            queue_bytes_max: link.queue().high_water_bytes(),
            egress,
            data_frames: traffic.data_frames,
            parity_frames: traffic.parity_frames,
            data_lost: traffic.data_lost,
            recovered,
            undecided,
        };
        Self { losses, ..self }
    }
}

/// Data frames that the wire lost and the protection brought back, and those that still wait.
fn decided<P: Copy + Default>(link: &AnyLink<P>) -> (u64, u64) {
    match link {
        AnyLink::Plain(_) => (0, 0),
        AnyLink::LinkGuardian(link) => {
            let receiver = link.counters(Instant::ZERO).receiver;
            (receiver.retransmissions - receiver.duplicates, 0)
        }
        AnyLink::Fec(link) => (link.recovered_from_wire(), 0),
        AnyLink::FecModel(link) => (link.counters().recovered, link.circulating_packets()),
    }
}

/// One row a trial, and the series of the first.
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
