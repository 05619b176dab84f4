//! The stress experiment: frames as fast as the source makes them, and how many of them arrive.

use super::capturing::Capture;
use super::foreseen;
use super::inspecting::{inspected, states};
use super::row::Row;
use super::setup::Setup;
use crate::capture::NumberedDatagrams;
use crate::config::{Config, TrafficSource};
use crate::measure::{Description, DesignEffect};
use crate::net::{Ecn, Frame, ProtectedLink, Traffic, Visit, queue_limits};
use crate::world::journeys::{self, Journeys};
use crate::world::samples::BufferSample;
use crate::world::stress::{self, Source, Stress, StressResult};
use crate::{Column, ConfigError, Control, Outcome};
use lossylink_core::rng::Streams;
use lossylink_core::time::Duration;
use serde_json::Value;

pub(super) fn run(config: &Config, control: &Control) -> Result<Outcome, ConfigError> {
    let setup = Setup::new(config);
    let capture = Capture::open(&setup, || NumberedDatagrams)?;
    let mut link = inspected(&setup, setup.link(&Streams::new(config.seed))?);
    link.set_tap(capture.tap());
    let stress = stress_of(config, link.burst_frames())?;
    let (result, journeys) = if is_followed(config)? {
        let (result, journeys) = journeys::run(&mut link, stress, control);
        (result, Some(journeys))
    } else {
        (link.visit(Drive { stress, control }), None)
    };
    let report = link.report(result.end);
    let mut row = Row::new(&setup);
    // Frames that never left the queue have not been on the wire.
    let waiting = if result.limit.is_some() { link.backlog() as u64 } else { 0 };
    set_traffic(&mut row, &stress, &result, link.traffic(), report.dropped_within + waiting);
    let foreseen = foreseen::of(&setup.traffic_law(), link.gives_up());
    set_design_effect(
        &mut row,
        DesignEffect::of(&result.delivered.missing_by_batch(result.offered), foreseen),
    );
    if let Some(limit) = result.limit {
        row.set("limit", limit.to_string());
    }
    set_wire(&mut row, link.traffic());
    set_retransmissions(&mut row);
    row.set_figures(&report.figures);
    set_buffers(&mut row, result.samples.kept(), (report.tx_buffer_max_bytes, report.rx_buffer_max_bytes));
    let states = states(&setup, &mut link, result.end, result.interrupted)?;
    if let Some(journeys) = &journeys {
        set_journeys(&mut row, journeys);
    }
    capture.finish()?;
    Ok(Outcome { states, ..outcome(row, &result) })
}

/// Returns the speed of the link alone, in Gb/s; `None` if no frame came through.
pub(super) fn speed_of(config: &Config, control: &Control) -> Result<Option<f64>, ConfigError> {
    let setup = Setup::new(config);
    let mut link = setup.link(&Streams::new(config.seed))?;
    let stress = stress_of(config, link.burst_frames())?;
    Ok(speed_gbps(&stress, &link.visit(Drive { stress, control })))
}

/// The stress test, as a visitor of a link: each kind of link gets a loop of its own.
struct Drive<'a> {
    stress: Stress,
    control: &'a Control,
}

impl Visit<u64> for Drive<'_> {
    type Output = StressResult;

    fn visit(self, link: &mut impl ProtectedLink<u64>) -> StressResult {
        stress::run(link, self.stress, self.control)
    }
}

/// Returns the settings of the stress test; the protection adds up to `burst` frames to the queue at once.
pub(super) fn stress_of(config: &Config, burst: usize) -> Result<Stress, ConfigError> {
    let traffic = config.require(&config.traffic, "traffic")?;
    let source = match traffic.source {
        TrafficSource::Saturated => Source::Saturated,
        TrafficSource::Generator => Source::Generator {
            period: Duration::from_ps(config.switch.generator_period_ps),
            queue_packets: room_for_data(config, traffic.frame_bytes, burst),
        },
        _ => return Err(ConfigError("stress has the sources generator and saturated".into())),
    };
    let packets = *config.require(&traffic.packets, "traffic.packets")?;
    Ok(Stress { packets, frame_bytes: traffic.frame_bytes, source })
}

/// Whether every frame is to be followed from offer to delivery.
fn is_followed(config: &Config) -> Result<bool, ConfigError> {
    let traffic = config.require(&config.traffic, "traffic")?;
    let refuse = |why: &str| Err(ConfigError(format!("following frames: {why}")));
    match traffic.follow {
        true if traffic.source != TrafficSource::Saturated => refuse("the source must be saturated"),
        true if config.pcap.is_some() => refuse("there is no capture at the same time"),
        is_followed => Ok(is_followed),
    }
}

/// Returns how many frames the generator keeps waiting: as many as the queue holds, less the `burst` that the
/// protection adds at once. Without that room every burst of parity would find the queue full, and the test
/// would measure the queue instead of the code. The number never exceeds the frames that fit in the queue.
fn room_for_data(config: &Config, frame_bytes: u32, burst: usize) -> usize {
    let octets = Frame::of_frame_bytes(frame_bytes, Ecn::NotCapable, ()).octets;
    let fit = queue_limits(&config.switch).frames(octets);
    config.switch.sender_queue_packets.min(fit).saturating_sub(burst).max(1)
}

/// Adds the frames that went into the link and came out of it; `dropped` frames had come to the link and were
/// never on the wire.
fn set_traffic(row: &mut Row, stress: &Stress, result: &StressResult, traffic: &Traffic, dropped: u64) {
    let sent = traffic.data_frames + dropped;
    let delivered = result.delivered.received() - result.delivered.duplicated();
    row.set("packets_sent", sent)
        .set("packets_delivered", delivered)
        .set("effective_lost_packets", sent - delivered)
        .set("effective_loss_rate", ratio(sent - delivered, sent))
        .set("effective_link_speed_gbps", speed_gbps(stress, result))
        .set("reordered_packets", result.delivered.reordered())
        .set("duplicates_delivered", result.delivered.duplicated())
        .set("simulated_seconds", result.end.as_secs_f64());
}

/// Adds the design effect, by which the interval of the loss is widened.
fn set_design_effect(row: &mut Row, found: DesignEffect) {
    row.set("effective_loss_design_effect", found.factor).set("effective_loss_batches", found.batches);
}

/// Adds the frames and octets that have been on the wire.
pub(super) fn set_wire(row: &mut Row, traffic: &Traffic) {
    row.set("actual_loss_rate", ratio(traffic.lost, traffic.frames))
        .set("frames_simulated", traffic.frames)
        .set("frames_skipped", 0)
        .set("octets_data", traffic.data_octets)
        .set("octets_header", traffic.header_octets)
        .set("octets_copies", traffic.copy_octets)
        .set("octets_parity", traffic.parity_octets)
        .set("octets_control", traffic.control_octets);
}

/// Adds the latencies of frames from offer to delivery.
fn set_journeys(row: &mut Row, journeys: &Journeys) {
    let us = |ps: u64| ps as f64 / 1e6;
    let (all, corrupted) = (&journeys.latency, &journeys.corrupted);
    row.set("latency_us_min", all.min().map(us))
        .set("latency_us_max", all.max().map(us))
        .set("latency_us_corrupted_mean", corrupted.mean().map(|ps| ps / 1e6))
        .set("latency_us_corrupted_p50", corrupted.percentile(0.5).map(|ps| ps / 1e6))
        .set("latency_us_corrupted_max", corrupted.max().map(us))
        .set("corrupted_delivered", corrupted.len());
}

/// Adds the columns of retransmission, with the values of a link that sends nothing again.
pub(super) fn set_retransmissions(row: &mut Row) {
    for key in ["retransmissions", "duplicates_dropped", "timeouts", "pauses"] {
        row.set(key, 0);
    }
    for key in ["copies", "control_copies", "retx_delay_us_p50", "retx_delay_us_max"] {
        row.set(key, Value::Null);
    }
    row.set("pause_seconds", 0.0);
}

/// Returns the octets delivered, as they came to the link, over the time from the first delivery to the last,
/// in Gb/s.
fn speed_gbps(stress: &Stress, result: &StressResult) -> Option<f64> {
    let seconds = result.last.saturating_since(result.first).as_secs_f64();
    let intervals = (result.delivered.received() - result.delivered.duplicated()).checked_sub(1)?;
    let octets = Frame::of_frame_bytes(stress.frame_bytes, Ecn::NotCapable, ()).octets;
    (seconds > 0.0).then(|| intervals as f64 * f64::from(octets) * 8.0 / seconds / 1e9)
}

pub(super) fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// Adds the depths of the buffers: minimum and median of the samples, maximum by high-water mark.
pub(super) fn set_buffers(row: &mut Row, samples: &[BufferSample], maxima: (u64, u64)) {
    set_buffer(row, "tx", samples.iter().map(|sample| sample.tx_bytes), maxima.0);
    set_buffer(row, "rx", samples.iter().map(|sample| sample.rx_bytes), maxima.1);
}

fn set_buffer(row: &mut Row, side: &str, bytes: impl Iterator<Item = u64>, maximum: u64) {
    let depths = Description::of(bytes.map(|bytes| bytes as f64 / 1e3).collect());
    let of = |fraction| depths.as_ref().map(|depths| depths.percentile(fraction));
    row.set(&format!("{side}_buffer_kb_min"), of(0.0))
        .set(&format!("{side}_buffer_kb_p50"), of(0.5))
        .set(&format!("{side}_buffer_kb_max"), maximum as f64 / 1e3);
}

fn outcome(row: Row, result: &StressResult) -> Outcome {
    let column = |of: fn(&BufferSample) -> f64| result.samples.kept().iter().map(of).collect::<Column>();
    let series = vec![
        ("time_s".to_owned(), column(|sample| sample.at.as_secs_f64())),
        ("tx_buffer_kb".to_owned(), column(|sample| sample.tx_bytes as f64 / 1e3)),
        ("rx_buffer_kb".to_owned(), column(|sample| sample.rx_bytes as f64 / 1e3)),
    ];
    Outcome {
        row: row.finish(),
        columns: vec![("series".to_owned(), series)],
        interrupted: result.interrupted,
        ..Outcome::default()
    }
}
