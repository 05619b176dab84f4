//! Captures on behalf of an experiment: which hops it has, and the file of the one that is recorded.

use super::setup::Setup;
use crate::ConfigError;
use crate::capture::{Description, PcapngFile, Place, Recorder};
use crate::config::{Config, ProtectionKind};
use std::fs::File;
use std::io::{self, BufWriter};

/// The file that a capture goes to.
pub(super) type Output = BufWriter<File>;

/// Refuses a capture that the experiment cannot make, before anything runs.
pub(super) fn check(config: &Config) -> Result<(), ConfigError> {
    let Some(capture) = &config.pcap else { return Ok(()) };
    let refuse = |why: String| Err(ConfigError(format!("--pcap {}: {why}", capture.hop)));
    let hops = hops(config);
    if hops.is_empty() {
        return refuse(format!("{} has no captures; take tcp-fct or stress", config.experiment));
    }
    if !hops.contains(&capture.hop.as_str()) {
        return refuse(format!("{} has no such hop; its hops: {}", config.experiment, hops.join(", ")));
    }
    let is_fec = matches!(config.protection.kind, ProtectionKind::Fec | ProtectionKind::FecModel);
    if is_fec && Place::named(&capture.hop) == Some(Place::Link) {
        return refuse("forward error correction has no captures; take another protection or hop".into());
    }
    Ok(())
}

/// The hops that can be recorded, in the order of the path.
fn hops(config: &Config) -> Vec<&'static str> {
    let is_direct = config.path.is_some_and(|path| path.rtt_ps.is_some());
    match config.experiment.as_str() {
        "stress" => vec![Place::LINK_NAME],
        "tcp-fct" | "rdma-fct" | "throughput" | "mathis" if is_direct => vec![Place::LINK_NAME],
        "tcp-fct" | "rdma-fct" | "throughput" | "mathis" => Place::names(),
        _ => Vec::new(),
    }
}

/// Opens the capture that the configuration asks for, if it does.
pub(super) fn recorder<C>(
    setup: &Setup<'_>,
    carries: impl FnOnce() -> C,
) -> Result<Option<Recorder<C, Output>>, ConfigError> {
    let Some(capture) = &setup.config.pcap else { return Ok(None) };
    let Some(place) = Place::named(&capture.hop) else { return Ok(None) };
    let file = File::create(&capture.path).map_err(failed)?;
    let description = Description {
        hop: &capture.hop,
        experiment: &setup.config.experiment,
        rate: setup.config.link.rate(),
    };
    let file = PcapngFile::begin(BufWriter::new(file), &description);
    Ok(Some(Recorder::new(place, setup.linkguardian().ordered, carries(), file)))
}

/// Completes the file, once the world that was recorded is gone.
pub(super) fn finish<C>(recorder: Recorder<C, Output>) -> Result<(), ConfigError> {
    recorder.finish().map(drop).map_err(failed)
}

fn failed(error: io::Error) -> ConfigError {
    ConfigError(format!("--pcap: the capture cannot be written: {error}"))
}
