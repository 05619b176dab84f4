//! A path as a plane: the link emulator, alone or with a guard at each end.

use super::guard_config;
use crate::clock::Clock;
use crate::config::{Config, PathConfig};
use crate::emulator::{Direction, DirectionCounters, ENDS, Path, Station};
use crate::error::{Error, Result};
use crate::histogram::Lateness;
use crate::lines;
use crate::port::PortCounters;
use crate::report;
use crate::runner::Plane;
use crate::values;
use lossylink_core::guard::{Guard, GuardConfig};
use lossylink_core::loss::{LossLaw, LossModel, LossProcess};
use lossylink_core::protection::Protection;
use lossylink_core::rng::Streams;
use lossylink_core::time::Instant;
use lossylink_core::units::{BitRate, Bytes};
use serde_json::{Value, json};
use std::mem;
use std::os::fd::BorrowedFd;

/// The names of the two directions, in the order of the stations from which they lead away.
const DIRECTIONS: [&str; 2] = ["forward", "reverse"];
/// The names of the random streams of the two guards, in the order of the stations.
const GUARDS: [&str; 2] = ["guard/near", "guard/far"];

/// A path and the random streams of its losses.
#[derive(Debug)]
pub(super) struct PathPlane {
    path: Path,
    streams: Streams,
    loss: [LossModel; 2],
    /// The protection of the guards; absent in a plain wire, which has no guards.
    protection: Option<Protection>,
    longest_frame: u32,
    rate: BitRate,
    /// How often loss or protection was changed: every change draws from streams of its own.
    changes: u64,
}

impl PathPlane {
    pub(super) fn build(config: &Config, path: &PathConfig, clock: Clock) -> Result<Self> {
        let streams = Streams::new(config.seed);
        let rate = values::rate(path.rate_bps)?;
        let loss = [path.loss_forward.clone(), path.loss_reverse.clone()];
        let directions = ENDS.map(|end| {
            let process = LossProcess::on_line(&loss[end], rate, streams.stream(DIRECTIONS[end]));
            Direction::new(rate, path.propagation(), process)
        });
        let longest_frame = config.mtu_bytes as u32;
        let limits = guard_config(config, rate * path.propagation())?;
        let station = |end: usize, port: &str| -> Result<Station> {
            let lines = lines::lines(Some(rate), Bytes(limits.longest_frame as u64));
            let law = loss[end].law(longest_frame, rate);
            let guard = match &path.protection {
                Some(Protection::None) => Guard::silent(limits.clone(), lines),
                Some(wanted) => {
                    lines::check(wanted)?;
                    Guard::new(limits.clone(), lines, wanted.clone(), law, streams.stream(GUARDS[end]))
                }
                // The guards at the ends of a wire send longer frames than the wire was told of.
                None => Guard::wire(GuardConfig {
                    longest_frame: limits.longest_frame + lines::headroom(&lines),
                    ..limits.clone()
                }),
            };
            let port = values::port(port)?.open(config.mtu_bytes, config.super_frames)?;
            Ok(Station::new(port, guard))
        };
        let stations = [station(0, &path.near)?, station(1, &path.far)?];
        let emulated = Path::new(stations, directions, clock);
        Ok(Self {
            path: emulated,
            streams,
            loss,
            protection: path.protection.clone(),
            longest_frame,
            rate,
            changes: 0,
        })
    }

    fn laws(&self) -> [LossLaw; 2] {
        [0, 1].map(|end: usize| self.loss[end].law(self.longest_frame, self.rate))
    }

    /// Makes both guards protect by `wanted` from now on, with the numbers of copies that the losses of the link ask
    /// for.
    fn protect_by(&mut self, now: Instant, wanted: &Protection) {
        let (laws, streams) = (self.laws(), self.changed());
        for end in ENDS {
            let rng = streams.stream(GUARDS[end]);
            self.path.stations[end].guard.protect(now, wanted.clone(), laws[end], rng);
        }
    }

    /// Returns the random streams after one more change.
    fn changed(&mut self) -> Streams {
        self.changes += 1;
        self.streams.trial(self.changes)
    }
}

impl Plane for PathPlane {
    fn receive(&mut self) -> Result<bool> {
        self.path.receive()
    }

    fn advance(&mut self, now: Instant) -> Result<()> {
        self.path.advance(now);
        Ok(())
    }

    fn flush(&mut self) {
        self.path.flush();
    }

    fn next_event(&self) -> Instant {
        self.path.next_event()
    }

    fn readable(&self) -> [Option<BorrowedFd<'_>>; 2] {
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

    fn describe(&self) -> Value {
        let [near, far] = &self.path.stations;
        let [direction, lateness, port] =
            [&DirectionCounters::HELP[..], &Lateness::HELP, &PortCounters::HELP].map(report::texts);
        json!({
            "directions": { "forward": direction, "reverse": direction },
            "lateness": { "forward": lateness, "reverse": lateness },
            "ports": { "near": port, "far": port },
            "guards": { "near": report::help(&near.guard), "far": report::help(&far.guard) },
        })
    }

    /// Sets other loss models. A protection whose copies follow the loss, those of control frames included, begins a
    /// new session if a number of copies changes.
    fn set_loss(&mut self, now: Instant, models: [&mut Option<LossModel>; 2]) -> Result<()> {
        let protection = self.protection.clone();
        let copies =
            |plane: &Self| protection.as_ref().map(|one| plane.laws().map(|law| lines::copies(one, law)));
        let before = copies(self);
        let streams = self.changed();
        for (end, model) in models.into_iter().enumerate() {
            if let Some(model) = model {
                self.path.directions[end].set_loss(model, &streams, DIRECTIONS[end]);
                mem::swap(&mut self.loss[end], model);
            }
        }
        match &protection {
            Some(protection) if copies(self) != before => self.protect_by(now, protection),
            _ => {}
        }
        Ok(())
    }

    fn protect(&mut self, now: Instant, protection: Option<&Protection>) -> Result<()> {
        if self.protection.is_none() {
            let mend = "run a guard at each of its ends, or `lossylink lab up`";
            return Err(Error::Usage(format!("a plain wire protects nothing: {mend}")));
        }
        let wanted = protection.unwrap_or(&Protection::None);
        lines::check(wanted)?;
        self.protect_by(now, wanted);
        self.protection = Some(wanted.clone());
        Ok(())
    }

    fn clear(&mut self) {
        self.path.stations.iter_mut().for_each(|station| station.lateness.clear());
    }

    fn retire(&mut self, _now: Instant) {
        self.path.retire();
    }

    fn is_drained(&self) -> bool {
        self.path.stations.iter().all(|station| station.guard.frames_held() == 0)
    }
}
