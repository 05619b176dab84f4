//! The drawing of a world from a seed.

use crate::profiles::profile;
use lossylink_core::engine::llr::{FrameAction, Init, Number, SenderConfig};
use lossylink_core::loss::LossModel;
use lossylink_core::rng::{RngCore, Stream, Streams, uniform};
use lossylink_core::time::Duration;
use lossylink_core::units::{BitRate, Bytes};
use lossylink_sim::config::SwitchProfile;
use lossylink_sim::net::llr::LlrOptions;
use lossylink_sim::net::{Ecn, Frame, LineRate};
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

/// An action of an operator, or a crash, at the ends of the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    RestartSender,
    RestartReceiver,
    RestartBoth,
    /// The protection is taken off; a later restart of the sender puts it on again.
    Leave,
}

/// A world: all values that a seed draws.
#[derive(Clone, Debug)]
pub(crate) struct World {
    pub(crate) seed: u64,
    pub(crate) rate: BitRate,
    pub(crate) propagation: Duration,
    pub(crate) profile: SwitchProfile,
    pub(crate) options: LlrOptions,
    /// Whether the ends know each other when the run begins.
    pub(crate) is_established: bool,
    pub(crate) forward: LossModel,
    pub(crate) reverse: LossModel,
    pub(crate) blackouts: Vec<Blackout>,
    /// The sizes that frames take in a fixed disorder, Ethernet header included.
    pub(crate) frame_bytes: Vec<u32>,
    pub(crate) frames: u64,
    pub(crate) arrivals: Arrivals,
    /// The period of frames on the way back.
    pub(crate) back: Option<Duration>,
    /// The place at which the numbering starts.
    pub(crate) start: Init,
    /// Faults, each with the offered frame before which it happens.
    pub(crate) faults: Vec<(u64, Fault)>,
}

impl World {
    /// Returns the world of `seed`.
    pub(crate) fn draw(seed: u64) -> Self {
        let streams = Streams::new(seed);
        let mut dice = Dice(streams.stream("swarm/world"));
        let rate = BitRate::from_gbps(dice.one_of(&[10, 25, 100, 100, 200, 400, 800]));
        let propagation = Duration::from_ns(dice.between(0, 500));
        let profile = dice.profile();
        let frames = if dice.chance(0.1) { dice.between(20_000, 60_000) } else { dice.between(200, 8_000) };
        let frame_bytes = dice.frame_bytes();
        let largest = frame_bytes.iter().max().copied().unwrap_or(1514) + 24;
        let mean_bytes = frame_bytes.iter().sum::<u32>() / frame_bytes.len() as u32;
        let service = LineRate::new(rate).serialisation(mean_bytes + 24);
        let sized = LlrOptions::sized(&profile, LineRate::new(rate), propagation, largest);
        Self {
            seed,
            rate,
            propagation,
            options: dice.options(sized),
            profile,
            is_established: dice.chance(0.8),
            forward: dice.loss(0.5),
            reverse: dice.loss(0.5),
            blackouts: if dice.chance(0.4) { dice.blackouts(frames) } else { Vec::new() },
            frame_bytes,
            frames,
            arrivals: dice.arrivals(service),
            back: dice.chance(0.4).then(|| dice.stretched(service, 1.0, 20.0)),
            start: dice.start(),
            faults: if dice.chance(0.5) { dice.faults(frames) } else { Vec::new() },
        }
    }

    /// Returns the frame with this number. The size of the frame follows from its number, so that
    /// the checker knows the size too.
    pub(crate) fn frame(&self, number: u64) -> Frame<u64> {
        let index = (number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize % self.frame_bytes.len();
        Frame::of_frame_bytes(self.frame_bytes[index], Ecn::NotCapable, number)
    }

    /// Whether the numbers of frames wrap.
    pub(crate) fn wraps(&self) -> bool {
        self.is_established && u64::from(self.start.number.bits()) + self.frames > u64::from(Number::COUNT)
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
}

/// A random stream with the distributions that worlds need.
struct Dice(Stream);

impl Dice {
    fn chance(&mut self, p: f64) -> bool {
        uniform(&mut self.0) < p
    }

    fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.0.next_u64() % (high - low + 1)
    }

    /// Draws a value between `low` and `high`, as likely in each decade as in any other.
    fn scale(&mut self, low: f64, high: f64) -> f64 {
        low * (high / low).powf(uniform(&mut self.0))
    }

    fn one_of<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.between(0, values.len() as u64 - 1) as usize]
    }

    fn stretched(&mut self, duration: Duration, low: f64, high: f64) -> Duration {
        Duration::from_ps((duration.as_ps() as f64 * self.scale(low, high)) as u64 + 1)
    }

    /// Draws a profile of this repository, with a small queue now and then.
    fn profile(&mut self) -> SwitchProfile {
        let mut profile = profile(self.one_of(&["tofino1", "ideal"]));
        profile.data_pipeline_ns *= self.scale(0.3, 3.0);
        profile.queue_bytes = self.one_of(&[30_000, 560_000]);
        profile
    }

    fn options(&mut self, sized: LlrOptions) -> LlrOptions {
        LlrOptions {
            sender: self.sender(sized.sender),
            control_spacing: Bytes(self.one_of(&[2_048, 2_048, 400, 16_384])),
            return_pipeline: self.stretched(sized.return_pipeline, 0.3, 3.0),
            errors_seen: self.chance(0.4),
        }
    }

    /// Draws windows from one frame to more than enough, and timers from less than a loop to many
    /// loops.
    fn sender(&mut self, sized: SenderConfig) -> SenderConfig {
        let action = |dice: &mut Self| {
            dice.one_of(&[FrameAction::BestEffort, FrameAction::Discard, FrameAction::Block])
        };
        let age = self.stretched(sized.replay_timer, 2.0, 20.0);
        SenderConfig {
            outstanding_frames_max: self.one_of(&[1, 2, 7, 64, sized.outstanding_frames_max]),
            outstanding_bytes_max: self.one_of(&[
                Bytes(1_600),
                Bytes(20_000),
                sized.outstanding_bytes_max,
                sized.outstanding_bytes_max * 2,
            ]),
            replay_timer: self.stretched(sized.replay_timer, 0.2, 4.0),
            replay_count_max: self.one_of(&[1, 2, 3, 3, SenderConfig::UNLIMITED_REPLAYS]),
            pcs_lost_timeout: None,
            data_age_timeout: self.chance(0.3).then_some(age),
            init_action: action(self),
            flush_action: action(self),
            re_init_on_flush: self.chance(0.7),
        }
    }

    /// Draws losses from a clean link to a link that loses `most` of its frames.
    fn loss(&mut self, most: f64) -> LossModel {
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

    fn blackouts(&mut self, frames: u64) -> Vec<Blackout> {
        let direction = self.one_of(&[Direction::Forward, Direction::Reverse]);
        let start = self.between(0, frames / 2);
        let end = frames.min(start + self.between(1, 2_000));
        vec![Blackout { direction, frames: start..end }]
    }

    fn frame_bytes(&mut self) -> Vec<u32> {
        match self.between(0, 3) {
            0 => vec![60],
            1 => vec![1514],
            2 => vec![60, 60, 60, 1514, 1514, 576],
            _ => (0..8).map(|_| self.between(60, 9_014) as u32).collect(),
        }
    }

    fn arrivals(&mut self, service: Duration) -> Arrivals {
        match self.between(0, 2) {
            0 => Arrivals::Saturated,
            1 => Arrivals::Periodic(self.stretched(service, 0.5, 20.0)),
            _ => {
                let burst = self.between(1, 64);
                Arrivals::Bursty { burst, gap: self.stretched(service * burst, 1.0, 10.0) }
            }
        }
    }

    /// Draws the start of the numbering, often where the numbers are about to wrap or to pass their
    /// middle.
    fn start(&mut self) -> Init {
        let anywhere = self.between(0, u64::from(Number::COUNT) - 1) as u32;
        let place = self.one_of(&[0, Number::COUNT - 50, Number::WINDOW - 50, anywhere]);
        Init { number: Number::new(place), data: self.between(0, 0xffff) as u16 }
    }

    fn faults(&mut self, frames: u64) -> Vec<(u64, Fault)> {
        let kinds = [Fault::RestartSender, Fault::RestartReceiver, Fault::RestartBoth, Fault::Leave];
        let count = self.between(1, 4);
        let mut faults: Vec<_> =
            (0..count).map(|_| (self.between(1, frames - 1), self.one_of(&kinds))).collect();
        faults.sort_unstable_by_key(|&(at, _)| at);
        faults
    }
}
