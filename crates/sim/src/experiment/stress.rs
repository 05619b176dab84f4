//! The stress experiment: its links, and the row that the world's results become.

use super::row::Row;
use crate::config::{Config, ProtectionKind, TrafficSource};
use crate::measure::Description;
use crate::net::linkguardian::timing::queue_limits;
use crate::net::plain::PlainConfig;
use crate::net::{LineRate, LinkGuardianLink, PlainLink, ProtectedLink, Traffic};
use crate::world::stress::{self, BufferSample, Source, Stress, StressResult};
use crate::{ConfigError, Control, Outcome};
use lossylink_core::loss::{LossModel, LossProcess};
use lossylink_core::rng::Streams;
use lossylink_core::time::Duration;

/// Octets of a full frame on the wire per byte of it: the published measure counts frames of
/// 1518 B and scales them by 1538 / 1518.
const BITS_PER_OCTET: f64 = 8.0;

/// What every stress run needs.
struct Setup<'a> {
    config: &'a Config,
    rate: LineRate,
    stress: Stress,
    forward: LossModel,
    streams: Streams,
}

pub(super) fn run(config: &Config, control: &Control) -> Result<Outcome, ConfigError> {
    let setup = Setup::new(config)?;
    match config.protection.kind {
        ProtectionKind::None => setup.run_plain(control),
        ProtectionKind::Lg | ProtectionKind::LgNb => setup.run_linkguardian(control),
        ProtectionKind::Fec | ProtectionKind::FecModel => {
            Err(ConfigError("this simulator has no forward error correction".into()))
        }
    }
}

impl<'a> Setup<'a> {
    fn new(config: &'a Config) -> Result<Self, ConfigError> {
        let traffic = config.require(&config.traffic, "traffic")?;
        let source = match traffic.source {
            TrafficSource::Saturated => Source::Saturated,
            TrafficSource::Generator => Source::Generator {
                period: Duration::from_ps(config.switch.generator_period_ps),
                queue_packets: config.switch.sender_queue_packets,
            },
        };
        Ok(Self {
            config,
            rate: LineRate::new(config.link.rate()),
            stress: Stress { packets: traffic.packets, frame_bytes: traffic.frame_bytes, source },
            forward: config.loss.forward.model()?,
            streams: Streams::new(config.seed),
        })
    }

    fn losses(&self) -> Result<(LossProcess, LossProcess), ConfigError> {
        let reverse = self.config.loss.reverse.model()?;
        Ok((
            LossProcess::new(&self.forward, self.streams.stream("link/0/loss")),
            LossProcess::new(&reverse, self.streams.stream("link/0/reverse-loss")),
        ))
    }

    fn run_plain(&self, control: &Control) -> Result<Outcome, ConfigError> {
        let (forward, reverse) = self.losses()?;
        let plain = PlainConfig {
            rate: self.rate,
            flight: Duration::from_ns_f64(self.config.switch.data_pipeline_ns)
                + self.config.link.propagation(),
            queue: queue_limits(&self.config.switch),
        };
        let mut link = PlainLink::new(plain, forward, reverse);
        let result = stress::run(&mut link, self.stress, control);
        let row = self.row(&result, link.traffic());
        Ok(outcome(row, &result))
    }

    fn run_linkguardian(&self, control: &Control) -> Result<Outcome, ConfigError> {
        // A rule from the loss of a full frame, as the control daemon estimates it.
        let frame_bytes = self.stress.frame_bytes + crate::net::frame::FCS_OCTETS;
        let loss_rate = self.forward.mean_loss_rate(frame_bytes);
        let mut link = LinkGuardianLink::new(
            &self.config.switch,
            self.rate,
            self.config.link.propagation(),
            &self.config.protection.linkguardian(loss_rate),
            self.losses()?,
            &mut self.streams.stream("link/0/phases"),
        );
        let result = stress::run(&mut link, self.stress, control);
        let mut row = self.row(&result, link.traffic());
        self.add_protection(&mut row, &link, &result);
        Ok(outcome(row, &result))
    }

    /// What every protection reports.
    fn row(&self, result: &StressResult, traffic: &Traffic) -> Row {
        let sent = traffic.data_frames;
        let delivered = result.delivered.received() - result.delivered.duplicated();
        let lost = sent - delivered;
        let mut row = Row::default();
        row.set("loss_rate", self.forward.mean_loss_rate(self.stress.frame_bytes))
            .set("link_gbps", self.config.link.rate().as_gbps_f64())
            .set("packets_sent", sent)
            .set("packets_delivered", delivered)
            .set("actual_loss_rate", ratio(traffic.lost, traffic.frames))
            .set("effective_lost_packets", lost)
            .set("effective_loss_rate", ratio(lost, sent))
            .set("effective_link_speed_gbps", self.speed_gbps(result))
            .set("reordered_packets", result.delivered.reordered())
            .set("duplicates_delivered", result.delivered.duplicated())
            .set("simulated_seconds", result.end.as_secs_f64())
            .set("frames_simulated", traffic.frames)
            .set("frames_skipped", 0)
            .set("octets_data", traffic.data_octets)
            .set("octets_header", traffic.header_octets)
            .set("octets_copies", traffic.copy_octets)
            .set("octets_control", traffic.control_octets);
        for key in ["retransmissions", "duplicates_dropped", "timeouts"] {
            row.set(key, 0);
        }
        for key in ["retx_delay_us_p50", "retx_delay_us_max"] {
            row.set(key, serde_json::Value::Null);
        }
        row.set("pause_seconds", 0.0);
        set_buffers(&mut row, &result.samples, (0, 0));
        row
    }

    /// What a protection with buffers and retransmissions reports.
    fn add_protection(&self, row: &mut Row, link: &LinkGuardianLink<u64>, result: &StressResult) {
        let counters = link.counters(result.end);
        let delays = link.retransmission_delay().histogram();
        let us = |ps: f64| ps / 1e6;
        row.set(
            "copies",
            self.config.protection.linkguardian(self.forward.mean_loss_rate(1518)).sender.copies,
        )
        .set("retransmissions", counters.sender.retransmitted)
        .set("duplicates_dropped", counters.receiver.duplicates)
        .set("timeouts", counters.timeouts)
        .set("retx_delay_us_p50", delays.percentile(0.5).map(us))
        .set("retx_delay_us_max", delays.max().map(|max| us(max as f64)))
        .set("pause_seconds", counters.paused.as_secs_f64())
        .set("pauses", counters.pauses)
        .set("pauses_expired", counters.expired_pauses)
        .set("losses_beyond_cap", counters.sender.beyond_cap)
        .set("rx_buffer_drops", counters.rx_buffer_dropped)
        .set("dummies", counters.sender.dummies)
        .set("acks", counters.sender.acks)
        .set("notifications", counters.sender.notifications);
        let maxima = (counters.tx_high_water_bytes, counters.rx_high_water_bytes);
        set_buffers(row, &result.samples, maxima);
    }

    /// Octets delivered, as they came to the link, over the time from the first delivery to the
    /// last.
    fn speed_gbps(&self, result: &StressResult) -> Option<f64> {
        let (first, last) = result.first_and_last?;
        let intervals = result.delivered.received() - result.delivered.duplicated() - 1;
        let octets =
            crate::net::Frame::of_frame_bytes(self.stress.frame_bytes, Default::default(), ()).octets;
        let seconds = (last - first).as_secs_f64();
        (seconds > 0.0).then(|| intervals as f64 * f64::from(octets) * BITS_PER_OCTET / seconds / 1e9)
    }
}

fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// Depths of the buffers: minimum and median of the samples, maximum by high-water mark.
fn set_buffers(row: &mut Row, samples: &[BufferSample], maxima: (u64, u64)) {
    let sides = [
        ("tx", samples.iter().map(|sample| sample.tx_bytes).collect::<Vec<_>>(), maxima.0),
        ("rx", samples.iter().map(|sample| sample.rx_bytes).collect(), maxima.1),
    ];
    for (side, depths, maximum) in sides {
        let described = Description::new(depths.iter().map(|&bytes| bytes as f64 / 1e3).collect());
        let of = |fraction| described.as_ref().map(|depths| depths.percentile(fraction));
        row.set(&format!("{side}_buffer_kb_min"), of(0.0))
            .set(&format!("{side}_buffer_kb_p50"), of(0.5))
            .set(&format!("{side}_buffer_kb_max"), maximum as f64 / 1e3);
    }
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
