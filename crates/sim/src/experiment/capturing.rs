//! Captures of frames for an experiment: which hops the experiment has, and the file of the hop that is
//! recorded.

use super::setup::Setup;
use crate::ConfigError;
use crate::capture::{Carries, Description, PcapngFile, Place, Recorder};
use crate::config::{CaptureOutput, Config};
use crate::net::Tap;
use std::fs::File;
use std::io::{self, BufWriter, Write};

/// The experiments that can be recorded.
const CAPTURED: &str = "stress, tcp-fct, rdma-fct, throughput, timeline";

/// The capture of an experiment, if it was asked for; `C` knows how to read the payload of a frame.
pub(super) struct Capture<C>(Option<Recorder<C, Box<dyn Write>>>);

impl<C: 'static> Capture<C> {
    /// Returns no capture.
    pub(super) const fn none() -> Self {
        Self(None)
    }

    /// Opens the capture that the configuration asks for, if it asks for one.
    pub(super) fn open(setup: &Setup<'_>, carries: impl FnOnce() -> C) -> Result<Self, ConfigError> {
        let Some(capture) = &setup.config.pcap else { return Ok(Self::none()) };
        let Some(place) = Place::named(&capture.hop) else { return Ok(Self::none()) };
        let output: Box<dyn Write> = match &capture.output {
            CaptureOutput::File(path) => Box::new(BufWriter::new(File::create(path).map_err(failed)?)),
            CaptureOutput::Memory(recording) => Box::new(recording.clone()),
        };
        let description = Description {
            hop: &capture.hop,
            experiment: &setup.config.experiment,
            rate: setup.config.link.rate(),
        };
        let file = PcapngFile::begin(output, &description);
        Ok(Self(Some(Recorder::new(place, carries(), file))))
    }

    /// Whether a capture was asked for.
    pub(super) const fn is_on(&self) -> bool {
        self.0.is_some()
    }

    /// Returns the tap through which the capture sees frames.
    pub(super) fn tap<P>(&self) -> Tap<P>
    where
        C: Carries<P>,
    {
        self.0.as_ref().map(Recorder::tap).unwrap_or_default()
    }

    /// Completes the file of the capture, when no more frames will pass.
    pub(super) fn finish(self) -> Result<(), ConfigError> {
        self.0.map_or(Ok(()), |recorder| recorder.finish().map(drop).map_err(failed))
    }
}

/// Refuses a capture that the experiment cannot make, before anything runs.
pub(super) fn check(config: &Config) -> Result<(), ConfigError> {
    let Some(capture) = &config.pcap else { return Ok(()) };
    let refuse = |why: String| Err(ConfigError(format!("--pcap {}: {why}", capture.hop)));
    let hops = hops(config);
    if hops.is_empty() {
        return refuse(format!("{} has no captures; take one of {CAPTURED}", config.experiment));
    }
    if !hops.contains(&capture.hop.as_str()) {
        return refuse(format!("{} has no such hop; its hops: {}", config.experiment, hops.join(", ")));
    }
    Ok(())
}

/// Returns the hops that can be recorded, in the order of the path.
pub(super) fn hops(config: &Config) -> Vec<&'static str> {
    let is_direct = config.path.as_ref().is_some_and(|path| path.rtt_ps.is_some());
    match config.experiment.as_str() {
        "stress" => vec![Place::LINK_NAME],
        "tcp-fct" | "rdma-fct" | "throughput" | "timeline" | "mathis" if is_direct => vec![Place::LINK_NAME],
        "tcp-fct" | "rdma-fct" | "throughput" | "timeline" | "mathis" => Place::names(),
        _ => Vec::new(),
    }
}

fn failed(error: io::Error) -> ConfigError {
    ConfigError(format!("--pcap: the capture cannot be written: {error}"))
}
