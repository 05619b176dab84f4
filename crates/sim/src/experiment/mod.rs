//! The experiments: each builds a world from a configuration, runs it, and reports a row.

mod blocks;
mod capturing;
mod counted_flow;
mod depths;
mod emulated;
mod fabric;
mod fairness;
mod fec;
mod foreseen;
mod inspecting;
mod interval;
mod long_flow;
mod long_writes;
mod rare;
mod rdma_fct;
mod row;
mod serial;
mod setup;
mod slowdown;
mod stress;
mod tails;
mod tcp_fct;
mod timeline;
mod workload;

pub use blocks::TRIALS_PER_BLOCK;
pub use emulated::EmulatedPath;

use crate::config::{CaptureConfig, CaptureOutput, Config, PartConfig, Recording};
use crate::measure::DesignEffect;
use crate::net::{ProtectedLink, linkguardian};
use crate::{ConfigError, Control, Outcome};
use lossylink_core::engine::linkguardian::{effective_loss, effective_loss_on_line};
use lossylink_core::loss::{LossLaw, LossModel};
use lossylink_core::rng::Streams;
use setup::Setup;

/// One experiment under one protection, which has been read once and whose parts can be built.
#[derive(Clone, Debug)]
pub struct Simulation {
    config: Config,
}

impl Simulation {
    /// Reads a configuration (JSON, see [`crate::config`]), and builds its link, protection, path and transport once, without
    /// running anything.
    ///
    /// # Errors
    /// If one of them cannot be simulated: one line that says what is wrong.
    pub fn new(config: &str) -> Result<Self, ConfigError> {
        let config = Config::from_json(config)?;
        capturing::check(&config)?;
        inspecting::check(&config)?;
        fabric::check(&config)?;
        Setup::new(&config).check(&Streams::new(config.seed))?;
        Ok(Self { config })
    }

    /// Returns the simulation with another number of threads.
    pub fn on_threads(self, threads: usize) -> Self {
        Self { config: Config { threads, ..self.config } }
    }

    /// Returns the simulation of some of its blocks of flows, which gives a part for [`with_parts`](Self::with_parts).
    pub fn of_blocks(self, part: PartConfig) -> Self {
        Self { config: Config { part: Some(part), ..self.config } }
    }

    /// Returns the simulation that puts these parts together, which begin with the first block.
    pub fn with_parts(self, parts: Vec<String>) -> Self {
        Self { config: Config { parts, ..self.config } }
    }

    /// Returns the hops that can be recorded, in the order of the path.
    pub fn hops(&self) -> Vec<&'static str> {
        capturing::hops(&self.config)
    }

    /// Returns the simulation that records the frames of `hop` in `recording`, as a pcapng file.
    ///
    /// # Errors
    /// If the experiment has no such hop.
    pub fn recorded(self, hop: &str, recording: &Recording) -> Result<Self, ConfigError> {
        let capture = CaptureConfig { hop: hop.to_owned(), output: CaptureOutput::Memory(recording.clone()) };
        let config = Config { pcap: Some(capture), ..self.config };
        capturing::check(&config)?;
        Ok(Self { config })
    }

    /// Returns the shares of codewords of the line in the direction of the data with no wrong symbol, with one, and so on up to as many
    /// as the code corrects, and last the share with more. `None` if the losses are no line's, or the code has no symbols.
    pub fn wrong_symbols(&self) -> Option<Vec<f64>> {
        let LossModel::Phy(line) = &self.config.loss.forward else { return None };
        line.wrong_symbols()
    }

    /// Returns the share of the frames of the traffic that the link loses in the direction of the data.
    pub fn frame_loss(&self) -> f64 {
        self.config.loss.forward.mean_loss_rate(Setup::new(&self.config).traffic_frame_bytes())
    }

    /// Runs the experiment.
    ///
    /// # Errors
    /// If the experiment cannot be run: one line that says what is wrong.
    pub fn run(&self, control: &Control) -> Result<Outcome, ConfigError> {
        let config = &self.config;
        let runs_in_blocks = matches!(config.experiment.as_str(), "tcp-fct" | "rdma-fct");
        if !runs_in_blocks && (config.part.is_some() || !config.parts.is_empty()) {
            return Err(ConfigError(format!("{} does not run in parts", config.experiment)));
        }
        match config.experiment.as_str() {
            "stress" => match config.rare {
                Some(asked) => rare::run(config, asked, control),
                None => stress::run(config, control),
            },
            "tcp-fct" => tcp_fct::run(config, control),
            "rdma-fct" => rdma_fct::run(config, control),
            "workload" => workload::run(config, control),
            "timeline" => timeline::run(config, control),
            "fec" => fec::run(config, control),
            "fabric" => fabric::run(config, control),
            "throughput" | "mathis" => long_flow::run(config, control),
            other => Err(ConfigError(format!("the simulator has no experiment '{other}'"))),
        }
    }
}

/// Runs the experiment that `config` (JSON, see [`crate::config`]) describes.
///
/// # Errors
/// As [`Simulation::new`] and [`Simulation::run`].
pub fn simulate(config: &str, control: &Control) -> Result<Outcome, ConfigError> {
    Simulation::new(config)?.run(control)
}

/// Returns how many copies of a retransmission the link of `config` needs, so that a share of at most `target` of its frames
/// stays lost (LG-19).
///
/// # Errors
/// If the configuration cannot be read.
pub fn copies_for(config: &str, target: f64) -> Result<u8, ConfigError> {
    let config = Config::from_json(config)?;
    Ok(linkguardian::advised_copies(&Setup::new(&config).plan, target))
}

/// Returns the share of frames that stay lost on the link of `config`, whose losses come in bursts. The link sends `copies`
/// copies of each retransmission. One notification asks for at most `holes` frames of a run of losses, or for as long a run as
/// there is if `holes` is `None`.
///
/// # Errors
/// If the configuration cannot be read, or the losses are independent.
pub fn copies_leave(config: &str, copies: u8, holes: Option<u8>) -> Result<f64, ConfigError> {
    let config = Config::from_json(config)?;
    let plan = Setup::new(&config).plan;
    match plan.law {
        LossLaw::Independent(_) => {
            Err(ConfigError("independent losses have a closed form, not a chain".into()))
        }
        LossLaw::Bursts(chain) => {
            Ok(effective_loss(&chain, copies, &linkguardian::gaps(&plan, copies > 1), holes))
        }
        LossLaw::Line(line) => Ok(effective_loss_on_line(&line, copies, holes)),
    }
}

/// Returns by how much the lost frames of the link of `config` come together. The estimate takes how many frames were lost and
/// sent in each batch of consecutive frames, and the clusters that the loss model and the protection let expect.
///
/// # Errors
/// If the configuration cannot be read.
pub fn loss_design_effect(config: &str, batches: &[(u64, u64)]) -> Result<DesignEffect, ConfigError> {
    let config = Config::from_json(config)?;
    let setup = Setup::new(&config);
    let link = setup.link::<u64>(&Streams::new(config.seed))?;
    Ok(DesignEffect::of(batches, foreseen::of(&setup.traffic_law(), link.gives_up())))
}
