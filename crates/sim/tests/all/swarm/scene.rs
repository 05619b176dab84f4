//! The scene of a world: a line, its losses, and the frames that are offered, whatever protects them.

use lossylink_core::loss::{LossModel, LossProcess};
use lossylink_core::rng::{RngCore, Stream, Streams, uniform};
use lossylink_core::time::Duration;
use lossylink_core::units::BitRate;
use lossylink_sim::config::SwitchProfile;
use lossylink_sim::net::{Ecn, Frame};
use std::ops::Range;

/// The times at which frames are offered.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Arrivals {
    /// One frame a period.
    Periodic(Duration),
    /// A source that always has one frame more than the port can send.
    Saturated,
    /// `burst` frames at once, then none for `gap`.
    Bursty { burst: u64, gap: Duration },
}

/// The direction in which a fault strikes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Forward,
    Reverse,
}

/// A time, counted in offered frames, in which one direction loses every frame.
#[derive(Clone, Debug)]
pub(crate) struct Blackout {
    pub(crate) direction: Direction,
    pub(crate) frames: Range<u64>,
}

#[derive(Clone, Debug)]
pub(crate) struct Scene {
    pub(crate) seed: u64,
    pub(crate) rate: BitRate,
    pub(crate) propagation: Duration,
    pub(crate) profile: SwitchProfile,
    pub(crate) forward: LossModel,
    pub(crate) reverse: LossModel,
    pub(crate) blackouts: Vec<Blackout>,
    /// The sizes that frames take in a fixed disorder, Ethernet header included.
    pub(crate) frame_bytes: Vec<u32>,
    pub(crate) frames: u64,
    pub(crate) arrivals: Arrivals,
    /// The period of frames on the way back.
    pub(crate) back: Option<Duration>,
}

impl Scene {
    /// Returns the frame with this number. The size of the frame follows from its number, so that
    /// the checker knows the size too.
    pub(crate) fn frame(&self, number: u64) -> Frame<u64> {
        let index = (number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize % self.frame_bytes.len();
        Frame::of_frame_bytes(self.frame_bytes[index], Ecn::NotCapable, number)
    }

    /// Returns the loss of `direction` while frame `number` is offered.
    pub(crate) fn loss_at(&self, direction: Direction, number: u64) -> LossModel {
        let strikes =
            |blackout: &Blackout| blackout.direction == direction && blackout.frames.contains(&number);
        if self.blackouts.iter().any(strikes) {
            return LossModel::bernoulli(1.0).expect("one is a probability");
        }
        if direction == Direction::Forward { self.forward.clone() } else { self.reverse.clone() }
    }

    /// Returns the losses of both directions at the beginning.
    pub(crate) fn losses(&self) -> (LossProcess, LossProcess) {
        let streams = Streams::new(self.seed);
        let loss = |direction, name| LossProcess::new(&self.loss_at(direction, 0), streams.stream(name));
        (loss(Direction::Forward, "swarm/forward"), loss(Direction::Reverse, "swarm/reverse"))
    }
}

/// A random stream with the distributions that worlds need.
pub(crate) struct Dice(pub(crate) Stream);

impl Dice {
    pub(crate) fn share(&mut self) -> f64 {
        uniform(&mut self.0)
    }

    pub(crate) fn chance(&mut self, p: f64) -> bool {
        self.share() < p
    }

    pub(crate) fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.0.next_u64() % (high - low + 1)
    }

    /// Draws a value between `low` and `high`, as likely in each decade as in any other.
    pub(crate) fn scale(&mut self, low: f64, high: f64) -> f64 {
        low * (high / low).powf(self.share())
    }

    pub(crate) fn one_of<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.between(0, values.len() as u64 - 1) as usize]
    }

    pub(crate) fn stretched(&mut self, duration: Duration, low: f64, high: f64) -> Duration {
        Duration::from_ps((duration.as_ps() as f64 * self.scale(low, high)) as u64 + 1)
    }

    /// Draws losses from a clean link to a link that loses `most` of its frames.
    pub(crate) fn loss(&mut self, most: f64) -> LossModel {
        let model = match self.between(0, 5) {
            0 => Ok(LossModel::None),
            1 => LossModel::at((0..20).map(|step| 3 + step * step * step).collect()),
            2 => {
                let (into, out) = (self.scale(1e-4, most / 5.0), self.scale(0.05, 1.0));
                LossModel::gilbert_elliott(into, out, 0.0, self.scale(0.1, 1.0))
            }
            _ => LossModel::bernoulli(self.scale(1e-4, most)),
        };
        model.expect("the arguments are in range")
    }

    /// Draws a blackout of one direction, of at most so many frames forward and on the way back.
    pub(crate) fn blackout(&mut self, frames: u64, longest: (u64, u64)) -> Blackout {
        let directions = [(Direction::Forward, longest.0), (Direction::Reverse, longest.1)];
        let (direction, longest) = self.one_of(&directions);
        let start = self.between(0, frames / 2);
        let end = frames.min(start + self.between(1, longest));
        Blackout { direction, frames: start..end }
    }

    pub(crate) fn frame_bytes(&mut self) -> Vec<u32> {
        match self.between(0, 3) {
            0 => vec![60],
            1 => vec![1514],
            2 => vec![60, 60, 60, 1514, 1514, 576],
            _ => (0..8).map(|_| self.between(60, 9_014) as u32).collect(),
        }
    }

    /// Draws arrivals by the time in which the line sends a frame. Periods are up to `slowest` times as long.
    pub(crate) fn arrivals(&mut self, service: Duration, slowest: f64) -> Arrivals {
        match self.between(0, 2) {
            0 => Arrivals::Saturated,
            1 => Arrivals::Periodic(self.stretched(service, 0.5, slowest)),
            _ => {
                let burst = self.between(1, 64);
                Arrivals::Bursty { burst, gap: self.stretched(service * burst, 1.0, 10.0) }
            }
        }
    }
}
