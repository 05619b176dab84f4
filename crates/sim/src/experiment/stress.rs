//! The stress experiment: frames as fast as they come, and what becomes of them.

use super::capturing::Capture;
use super::row::Row;
use super::setup::Setup;
use crate::capture::NumberedDatagrams;
use crate::config::{Config, ProtectionKind, TrafficSource};
use crate::measure::Description;
use crate::net::coded::{EgressCounters, Latency};
use crate::net::{AnyLink, Ecn, Frame, LinkGuardianLink, ProtectedLink, Traffic};
use crate::world::stress::{self, BufferSample, Source, Stress, StressResult};
use crate::{ConfigError, Control, Outcome};
use lossylink_core::rng::Streams;
use lossylink_core::time::Duration;
use serde_json::Value;

pub(super) fn run(config: &Config, control: &Control) -> Result<Outcome, ConfigError> {
    let setup = Setup::new(config)?;
    let stress = stress_of(config)?;
    let capture = Capture::open(&setup, || NumberedDatagrams)?;
    let mut link = setup.link(&Streams::new(config.seed))?.tapped(capture.tap());
    // Each kind of link gets a loop of its own, in which nothing asks again what link it is.
    let result = match &mut link {
        AnyLink::Plain(link) => stress::run(link, stress, control),
        AnyLink::LinkGuardian(link) => stress::run(link, stress, control),
        AnyLink::Fec(link) => stress::run(link, stress, control),
        AnyLink::FecModel(link) => stress::run(link, stress, control),
    };
    let mut row = Row::new(&setup);
    let egress = link.egress();
    // A frame that only the queue had no room for has entered the code, and may come back.
    set_traffic(&mut row, &stress, &result, link.traffic(), egress.data_dropped);
    match &link {
        AnyLink::LinkGuardian(link) => {
            row.set("copies", setup.linkguardian().sender.copies);
            set_linkguardian(&mut row, link, &result);
        }
        AnyLink::Plain(_) => set_unprotected(&mut row, &result),
        AnyLink::Fec(link) => {
            set_unprotected(&mut row, &result);
            set_fec(&mut row, &setup, link.counters().decoder.recovered, link.latency(), egress);
            set_buffers(&mut row, &result.samples, link.high_water_bytes());
        }
        AnyLink::FecModel(link) => {
            set_unprotected(&mut row, &result);
            set_fec(&mut row, &setup, link.counters().recovered, link.latency(), egress);
            set_buffers(&mut row, &result.samples, (0, link.most_circulating_bytes()));
        }
    }
    capture.finish()?;
    Ok(outcome(row, &result))
}

fn stress_of(config: &Config) -> Result<Stress, ConfigError> {
    let traffic = config.require(&config.traffic, "traffic")?;
    let source = match traffic.source {
        TrafficSource::Saturated => Source::Saturated,
        TrafficSource::Generator => Source::Generator {
            period: Duration::from_ps(config.switch.generator_period_ps),
            queue_packets: room_for_data(config),
        },
        _ => return Err(ConfigError("stress has the sources generator and saturated".into())),
    };
    let packets = *config.require(&traffic.packets, "traffic.packets")?;
    Ok(Stress { packets, frame_bytes: traffic.frame_bytes, source })
}

/// Frames that the generator keeps waiting: as many as the queue holds, less the parity that a block
/// adds at its end. Without that room every burst of parity would find the queue full, and the test
/// would measure the queue instead of the code.
fn room_for_data(config: &Config) -> usize {
    let protection = &config.protection;
    let has_parity = matches!(protection.kind, ProtectionKind::Fec | ProtectionKind::FecModel);
    let parity = if has_parity { protection.fec_h.unwrap_or(0) as usize } else { 0 };
    config.switch.sender_queue_packets.saturating_sub(parity).max(1)
}

/// What every protection reports.
fn set_traffic(row: &mut Row, stress: &Stress, result: &StressResult, traffic: &Traffic, dropped: u64) {
    let sent = traffic.data_frames + dropped;
    let delivered = result.delivered.received() - result.delivered.duplicated();
    row.set("packets_sent", sent)
        .set("packets_delivered", delivered)
        .set("actual_loss_rate", ratio(traffic.lost, traffic.frames))
        .set("effective_lost_packets", sent - delivered)
        .set("effective_loss_rate", ratio(sent - delivered, sent))
        .set("effective_link_speed_gbps", speed_gbps(stress, result))
        .set("reordered_packets", result.delivered.reordered())
        .set("duplicates_delivered", result.delivered.duplicated())
        .set("simulated_seconds", result.end.as_secs_f64())
        .set("frames_simulated", traffic.frames)
        .set("frames_skipped", 0)
        .set("octets_data", traffic.data_octets)
        .set("octets_header", traffic.header_octets)
        .set("octets_copies", traffic.copy_octets)
        .set("octets_parity", traffic.parity_octets)
        .set("octets_control", traffic.control_octets);
}

/// What a link without protection reports in the columns of one that has it.
fn set_unprotected(row: &mut Row, result: &StressResult) {
    for key in ["retransmissions", "duplicates_dropped", "timeouts", "pauses"] {
        row.set(key, 0);
    }
    for key in ["copies", "retx_delay_us_p50", "retx_delay_us_max"] {
        row.set(key, Value::Null);
    }
    row.set("pause_seconds", 0.0);
    set_buffers(row, &result.samples, (0, 0));
}

/// What forward error correction reports on top of that.
fn set_fec(row: &mut Row, setup: &Setup<'_>, recovered: u64, latency: &Latency, egress: EgressCounters) {
    let protection = &setup.config.protection;
    row.set("fec_k", protection.fec_k)
        .set("fec_h", protection.fec_h)
        .set("recovered_packets", recovered)
        .set("latency_us_intact_mean", latency.intact().mean_us())
        .set("latency_us_recovered_mean", latency.recovered().mean_us())
        .set("latency_us_recovered_max", latency.recovered().max_us())
        .set("queue_drops_data", egress.data_dropped)
        .set("queue_drops_parity", egress.parity_dropped)
        .set("meter_drops", egress.meter_dropped);
}

/// What a protection with buffers and retransmissions reports; what it loses, by cause (LG-35).
fn set_linkguardian(row: &mut Row, link: &LinkGuardianLink<u64>, result: &StressResult) {
    let counters = link.counters(result.end);
    let delays = link.retransmission_delay().histogram();
    let us = |ps: f64| ps / 1e6;
    row.set("retransmissions", counters.sender.retransmitted)
        .set("duplicates_dropped", counters.receiver.duplicates)
        .set("timeouts", counters.timeouts)
        .set("retx_delay_us_p50", delays.percentile(0.5).map(us))
        .set("retx_delay_us_max", delays.max().map(|max| us(max as f64)))
        .set("pause_seconds", counters.paused.as_secs_f64())
        .set("pauses", counters.pauses)
        .set("pauses_expired", counters.expired_pauses)
        .set("losses_beyond_cap", counters.sender.beyond_cap)
        .set("late_retransmissions", counters.receiver.late)
        .set("tx_buffer_drops", counters.tx_buffer_dropped)
        .set("rx_buffer_drops", counters.rx_buffer_dropped)
        .set("dummies", counters.sender.dummies)
        .set("acks", counters.sender.acks)
        .set("notifications", counters.sender.notifications);
    set_buffers(row, &result.samples, (counters.tx_high_water_bytes, counters.rx_high_water_bytes));
}

/// Octets delivered, as they came to the link, over the time from the first delivery to the last.
fn speed_gbps(stress: &Stress, result: &StressResult) -> Option<f64> {
    let seconds = result.last.saturating_since(result.first).as_secs_f64();
    let intervals = (result.delivered.received() - result.delivered.duplicated()).checked_sub(1)?;
    let octets = Frame::of_frame_bytes(stress.frame_bytes, Ecn::NotCapable, ()).octets;
    (seconds > 0.0).then(|| intervals as f64 * f64::from(octets) * 8.0 / seconds / 1e9)
}

pub(super) fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// Depths of the buffers: minimum and median of the samples, maximum by high-water mark.
fn set_buffers(row: &mut Row, samples: &[BufferSample], maxima: (u64, u64)) {
    set_buffer(row, "tx", samples.iter().map(|sample| sample.tx_bytes), maxima.0);
    set_buffer(row, "rx", samples.iter().map(|sample| sample.rx_bytes), maxima.1);
}

fn set_buffer(row: &mut Row, side: &str, bytes: impl Iterator<Item = u64>, maximum: u64) {
    let depths = Description::new(bytes.map(|bytes| bytes as f64 / 1e3).collect());
    let of = |fraction| depths.as_ref().map(|depths| depths.percentile(fraction));
    row.set(&format!("{side}_buffer_kb_min"), of(0.0))
        .set(&format!("{side}_buffer_kb_p50"), of(0.5))
        .set(&format!("{side}_buffer_kb_max"), maximum as f64 / 1e3);
}

fn outcome(row: Row, result: &StressResult) -> Outcome {
    let column = |of: fn(&BufferSample) -> f64| result.samples.iter().map(of).collect::<Vec<_>>();
    let series = vec![
        ("time_s".to_owned(), column(|sample| sample.at.as_secs_f64())),
        ("tx_buffer_kb".to_owned(), column(|sample| sample.tx_bytes as f64 / 1e3)),
        ("rx_buffer_kb".to_owned(), column(|sample| sample.rx_bytes as f64 / 1e3)),
    ];
    Outcome {
        row: row.finish(),
        columns: vec![("series".to_owned(), series)],
        interrupted: result.interrupted,
    }
}
