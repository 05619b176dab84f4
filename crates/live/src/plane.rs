//! Builds what a configuration asks for and runs it.

use crate::clock::Clock;
use crate::config::{self, Config, PathConfig, Role};
use crate::control::Control;
use crate::error::{Attempt, Result};
use crate::report;
use crate::runner::{Pace, Plane, Runner};
use crate::sys::process::termination;
use crate::wire::{Direction, Path, Station};
use lossylink_core::engine::guard::{Guard, GuardConfig};
use lossylink_core::loss::LossProcess;
use lossylink_core::rng::Streams;
use lossylink_core::time::{Duration, Instant};
use lossylink_core::units::Bytes;
use serde_json::{Value, json};
use std::os::fd::BorrowedFd;

/// Bytes of an Ethernet header with two VLAN tags.
const LONGEST_HEADER: usize = 22;
/// Frames beyond the queue and the flight that a guard may hold: buffers and control frames.
const SPARE_FRAMES: u64 = 16_384;
/// Bytes by which the number of frames in a queue is estimated; short frames make it fewer bytes.
const SMALL_FRAME: u64 = 256;
/// The two directions, in the order of the stations they lead away from.
const DIRECTIONS: [&str; 2] = ["forward", "reverse"];

/// Runs the data plane that `text` (JSON, see [`Config`]) describes until it is told to stop.
///
/// # Errors
/// When the configuration makes no sense or the system refuses a port.
pub fn run(text: &str) -> Result<()> {
    let config = Config::parse(text)?;
    let pace = Pace { fifo_priority: config.fifo_priority, spin: Duration::from_us(config.spin_us) };
    // Signals first: the control thread must not catch them.
    let termination = termination().attempting("take over SIGTERM")?;
    let clock = Clock::start();
    match &config.role {
        Role::Path(path) => {
            let plane = Wire::build(&config, path, clock)?;
            let control = Control::listen(&config.control)?;
            Runner::new(plane, clock, control, termination, pace).run()
        }
        Role::Guard(_) => Err(crate::error::Error::Usage("not yet".to_owned())),
    }
}

/// A path and the random streams of its losses.
#[derive(Debug)]
struct Wire {
    path: Path,
    streams: Streams,
    /// How often the losses were changed: every change draws from a stream of its own.
    changes: u64,
}

impl Wire {
    fn build(config: &Config, path: &PathConfig, clock: Clock) -> Result<Self> {
        let streams = Streams::new(config.seed);
        let rate = config::rate(path.rate_bps)?;
        let direction = |name: &str, loss: &str| -> Result<Direction> {
            let process = LossProcess::new(&config::loss(loss)?, streams.stream(name));
            Ok(Direction::new(rate, path.propagation(), process))
        };
        let in_flight = rate * path.propagation();
        let station = |port: &str| -> Result<Station> {
            let port = config::port(port)?.open(config.mtu_bytes)?;
            Ok(Station::new(port, Guard::new(guard_config(config, in_flight))))
        };
        let directions =
            [direction("forward", &path.loss_forward)?, direction("reverse", &path.loss_reverse)?];
        let path = Path::new([station(&path.near)?, station(&path.far)?], directions, clock);
        Ok(Self { path, streams, changes: 0 })
    }
}

/// The guard that a configuration asks for; `in_flight` bytes may be on the link.
fn guard_config(config: &Config, in_flight: Bytes) -> GuardConfig {
    let frames = SPARE_FRAMES + (in_flight.0 + config.queue.bytes) / SMALL_FRAME;
    GuardConfig {
        queue: config.queue_limits(),
        longest_frame: config.mtu_bytes + LONGEST_HEADER,
        frames: usize::try_from(frames).unwrap_or(usize::MAX),
    }
}

impl Plane for Wire {
    fn receive(&mut self) -> Result<bool> {
        self.path.receive()
    }

    fn advance(&mut self, now: Instant) {
        self.path.advance(now);
    }

    fn next_event(&self) -> Instant {
        self.path.next_event()
    }

    fn readable(&self) -> [BorrowedFd<'_>; 2] {
        self.path.readable()
    }

    fn counters(&mut self) -> Value {
        let [near, far] = &mut self.path.stations;
        json!({
            "kind": "path",
            "directions": {
                "forward": self.path.directions[0].counters(),
                "reverse": self.path.directions[1].counters(),
            },
            "lateness": { "forward": far.lateness.lateness(), "reverse": near.lateness.lateness() },
            "ports": { "near": near.port.counters(), "far": far.port.counters() },
            "guards": { "near": report::guard(&near.guard), "far": report::guard(&far.guard) },
        })
    }

    fn set_loss(&mut self, forward: Option<&str>, reverse: Option<&str>) -> Result<()> {
        // Both are read before either is changed: a mistake changes nothing.
        let models = [forward, reverse].map(|text| text.map(config::loss).transpose());
        let [forward, reverse] = models;
        let models = [forward?, reverse?];
        self.changes += 1;
        for ((direction, model), name) in self.path.directions.iter_mut().zip(models).zip(DIRECTIONS) {
            if let Some(model) = model {
                direction.set_loss(&model, &self.streams, &format!("{name}/{}", self.changes));
            }
        }
        Ok(())
    }

    fn clear(&mut self) {
        self.path.stations.iter_mut().for_each(|station| station.lateness.clear());
    }

    fn retire(&mut self, _now: Instant) {}

    fn is_drained(&self) -> bool {
        self.path.next_event().is_never()
    }
}
