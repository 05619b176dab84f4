//! The row of an experiment with forward error correction: all trials together.

use super::trial::Trial;
use crate::ConfigError;
use crate::config::TrafficSource;
use crate::experiment::row::Row;
use crate::experiment::setup::Setup;
use crate::experiment::stress::ratio;
use crate::measure::Delays;
use crate::transport::tcp;

pub(super) fn row(setup: &Setup<'_>, trials: &[Trial]) -> Result<Row, ConfigError> {
    let mut row = Row::new(setup);
    let mean = |of: fn(&Trial) -> f64| trials.iter().map(of).sum::<f64>() / trials.len() as f64;
    row.set("traffic_source", source(setup)).set("trials", trials.len());
    let code = |key| trials.first().and_then(|trial| trial.losses.report.count(key));
    row.set("fec_k", code("fec_k")).set("fec_h", code("fec_h"));
    row.set("throughput_gbps", mean(|trial| trial.gbps));
    set_flow(&mut row, setup, trials)?;
    set_latency(&mut row, trials);
    row.set("queue_bytes_mean", mean(|trial| trial.seen.queue_bytes_mean));
    set_losses(&mut row, trials);
    Ok(row)
}

fn source(setup: &Setup<'_>) -> &'static str {
    match setup.config.traffic.map(|traffic| traffic.source) {
        Some(TrafficSource::UdpSmooth) => "udp-smooth",
        Some(TrafficSource::UdpBursty) => "udp-bursty",
        _ => "tcp",
    }
}

/// Adds the figures of TCP; nulls for datagrams.
fn set_flow(row: &mut Row, setup: &Setup<'_>, trials: &[Trial]) -> Result<(), ConfigError> {
    let flows: Vec<tcp::Statistics> = trials.iter().filter_map(|trial| trial.flow).collect();
    let is_tcp = source(setup) == "tcp";
    let (config, _) = setup.tcp()?;
    let windows: f64 = flows.iter().map(|flow| flow.window_mean().unwrap_or_default()).sum();
    let sum = |of: fn(&tcp::Statistics) -> u64| is_tcp.then(|| flows.iter().map(of).sum::<u64>());
    row.set("congestion_control", is_tcp.then(|| config.congestion_control.name()))
        .set("cwnd_packets_mean", is_tcp.then_some(windows / flows.len() as f64))
        .set("retransmissions", sum(|flow| flow.retransmissions))
        .set("timeouts", sum(|flow| flow.timeouts))
        .set("mss_bytes", is_tcp.then(|| config.payload_bytes()));
    Ok(())
}

/// Adds the times of packets across the link, and apart those of packets that came intact and of packets that
/// were recovered.
fn set_latency(row: &mut Row, trials: &[Trial]) {
    let merged = |of: fn(&Trial) -> Option<&Delays>| {
        let mut all = Delays::default();
        trials.iter().filter_map(of).for_each(|delays| all.merge(delays));
        all
    };
    let all = merged(|trial| Some(&trial.delays));
    let lost = trials.iter().map(|trial| trial.losses.never_came()).sum();
    set_delays(row, "latency_us", &all);
    for (name, fraction) in [("p50", 0.5), ("p99", 0.99), ("p99_9", 0.999), ("p99_99", 0.9999)] {
        row.set(&format!("latency_us_{name}"), all.percentile_among_us(fraction, lost));
    }
    let intact = merged(|trial| trial.latency.as_ref().map(|latency| latency.intact()));
    let recovered = merged(|trial| trial.latency.as_ref().map(|latency| latency.recovered()));
    set_delays(row, "latency_intact_us", &intact);
    set_delays(row, "latency_recovered_us", &recovered);
    let tells = trials.iter().any(|trial| trial.latency.is_some());
    row.set("packets_intact", tells.then(|| intact.len()))
        .set("packets_recovered", tells.then(|| recovered.len()));
}

fn set_delays(row: &mut Row, name: &str, delays: &Delays) {
    row.set(&format!("{name}_mean"), delays.mean_us())
        .set(&format!("{name}_p50"), delays.percentile_us(0.5))
        .set(&format!("{name}_p99"), delays.percentile_us(0.99))
        .set(&format!("{name}_max"), delays.max_us());
}

/// Adds the losses: frames that the queue, the meter and the wire took, and packets that stayed lost.
fn set_losses(row: &mut Row, trials: &[Trial]) {
    let sum = |of: fn(&Trial) -> u64| trials.iter().map(of).sum::<u64>();
    let (data, parity) = (
        sum(|trial| trial.losses.report.egress.data_dropped),
        sum(|trial| trial.losses.report.egress.parity_dropped),
    );
    let (offered, residual) = (sum(|trial| trial.losses.data_frames), sum(|trial| trial.losses.residual()));
    row.set("queue_bytes_max", trials.iter().map(|trial| trial.losses.queue_bytes_max).max())
        .set("queue_drops", data + parity)
        .set("queue_drops_data", data)
        .set("queue_drops_parity", parity)
        .set("meter_drops", sum(|trial| trial.losses.report.egress.meter_dropped))
        .set("meter_marks", sum(|trial| trial.losses.report.egress.meter_marked))
        .set("frames_offered", offered)
        .set("parity_frames", sum(|trial| trial.losses.parity_frames))
        .set("frames_lost", sum(|trial| trial.losses.data_lost))
        .set("residual_lost_packets", residual)
        .set("residual_loss_rate", ratio(residual, offered));
}
