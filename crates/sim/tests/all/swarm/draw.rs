//! The drawing of a world from a seed.

use crate::profiles::profile;
use lossylink_core::engine::linkguardian::{Position, SenderConfig};
use lossylink_core::loss::LossModel;
use lossylink_core::rng::{RngCore, Stream, Streams, uniform};
use lossylink_core::time::Duration;
use lossylink_core::units::BitRate;
use lossylink_sim::config::SwitchProfile;
use lossylink_sim::net::linkguardian::Options;
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

/// A world: all values that a seed draws.
#[derive(Clone, Debug)]
pub(crate) struct World {
    pub(crate) seed: u64,
    pub(crate) rate: BitRate,
    pub(crate) propagation: Duration,
    pub(crate) profile: SwitchProfile,
    pub(crate) options: Options,
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
    pub(crate) start: Position,
    /// Restarts of the protection, each with the offered frame before which it happens, and with
    /// the jump ahead.
    pub(crate) restarts: Vec<(u64, u32)>,
}

impl World {
    /// Returns the world of `seed`.
    pub(crate) fn draw(seed: u64) -> Self {
        let streams = Streams::new(seed);
        let mut dice = Dice(streams.stream("swarm/world"));
        let rate = BitRate::from_gbps(dice.one_of(&[10, 25, 40, 100, 100, 200, 400, 800]));
        let (profile, options) = (dice.profile(), dice.options());
        // The control copies have a stream of their own, so that the worlds that once found a
        // defect stay as they are.
        let control_copies = Dice(streams.stream("swarm/control-copies")).one_of(&[1, 1, 2, 3, 7]);
        let options = Options { control_copies, ..options };
        // A recirculating reorder buffer is simulated round by round, so a long wait costs much
        // time there.
        let is_dear = profile.recirculates && options.ordered;
        let is_long = dice.chance(0.25);
        let frames = if is_long { dice.between(140_000, 280_000) } else { dice.between(200, 12_000) };
        let frame_bytes = dice.frame_bytes();
        let mean_bytes = frame_bytes.iter().sum::<u32>() / frame_bytes.len() as u32;
        let service = Duration::from_ps(u64::from(mean_bytes + 27) * 8_000_000_000_000 / rate.as_bps());
        Self {
            seed,
            rate,
            propagation: Duration::from_ns(dice.between(0, 500)),
            profile,
            options,
            forward: dice.loss(if is_dear && is_long { 0.01 } else { 0.5 }),
            reverse: dice.loss(0.5),
            blackouts: if dice.chance(0.5) { dice.blackouts(frames, is_dear) } else { Vec::new() },
            frame_bytes,
            frames,
            arrivals: dice.arrivals(service),
            back: dice.chance(0.4).then(|| dice.stretched(service, 1.0, 20.0)),
            start: dice.start(),
            restarts: if dice.chance(0.25) { dice.restarts(frames) } else { Vec::new() },
        }
    }

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

    /// Draws a profile of this repository, whole or with every delay off by up to a factor of two.
    fn profile(&mut self) -> SwitchProfile {
        let mut profile = profile(self.one_of(&["tofino1", "ideal"]));
        if self.chance(0.6) {
            let SwitchProfile {
                data_pipeline_ns,
                retransmission_pipeline_ns,
                notification_port_ns,
                ack_register_ns,
                ack_cycle_ns,
                control_return_ns,
                copy_first_check_ns,
                tx_loop_fixed_ns,
                retransmit_ns,
                multicast_extra_ns,
                rx_loop_fixed_ns,
                timer_packet_ns,
                resume_flight_ns,
                pause_reaction_ns,
                ..
            } = &mut profile;
            let forward =
                [data_pipeline_ns, retransmission_pipeline_ns, copy_first_check_ns, tx_loop_fixed_ns];
            let back = [notification_port_ns, ack_register_ns, ack_cycle_ns, control_return_ns];
            let sides = [retransmit_ns, multicast_extra_ns, rx_loop_fixed_ns];
            let pauses = [timer_packet_ns, resume_flight_ns, pause_reaction_ns];
            for delay in forward.into_iter().chain(back).chain(sides).chain(pauses) {
                *delay *= self.scale(0.5, 2.0);
            }
        }
        if self.chance(0.4) {
            self.squeeze(&mut profile);
        }
        profile
    }

    /// Draws small buffers, small thresholds, short pauses and short waits for missing frames.
    fn squeeze(&mut self, profile: &mut SwitchProfile) {
        let pause_bytes = self.scale(2_000.0, 60_000.0) as u64;
        let resume_bytes = (pause_bytes as f64 * uniform(&mut self.0)) as u64;
        for threshold in &mut profile.threshold {
            threshold.pause_bytes = pause_bytes;
            threshold.resume_bytes = resume_bytes.min(pause_bytes - 1);
        }
        if self.chance(0.5) {
            let ticks = self.between(5, 300) as u32;
            profile.threshold.iter_mut().for_each(|threshold| threshold.ack_no_timeout_ticks = ticks);
        }
        profile.pause_quanta = self.one_of(&[65_535, 5_000, 200]);
        profile.rx_buffer_max_bytes = self.one_of(&[20_000, 100_000, 8_000_000]);
        profile.queue_bytes = self.one_of(&[30_000, 560_000]);
    }

    fn options(&mut self) -> Options {
        Options {
            sender: SenderConfig {
                copies: self.one_of(&[1, 1, 2, 3, 7]),
                dummies: self.one_of(&[0, 1, 3, 3, 10]),
                hole_cap: self.one_of(&[Some(5), Some(5), Some(1), Some(40), None]),
            },
            control_copies: 1,
            ordered: self.chance(0.6),
            backpressure: self.chance(0.7),
            deduplicate: self.chance(0.8),
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

    /// Draws a blackout of one direction. Forward the blackout stays below the window, beyond which
    /// a receiver cannot tell how many frames it has missed (LG-2, LG-11); on the way back a
    /// blackout may have any length (LG-33).
    fn blackouts(&mut self, frames: u64, is_dear: bool) -> Vec<Blackout> {
        let (direction, longest) =
            self.one_of(&[(Direction::Forward, 20_000), (Direction::Reverse, 140_000)]);
        let longest = if is_dear { 1_000 } else { longest };
        let start = self.between(0, frames / 2);
        let end = frames.min(start + self.between(1, longest));
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
            1 => Arrivals::Periodic(self.stretched(service, 0.5, 5.0)),
            _ => {
                let burst = self.between(1, 64);
                Arrivals::Bursty { burst, gap: self.stretched(service * burst, 1.0, 10.0) }
            }
        }
    }

    /// Draws the start of the numbering, often where the numbers or the eras are about to wrap.
    fn start(&mut self) -> Position {
        let anywhere = self.between(0, Position::COUNT as u64 - 1) as u32;
        let place = self.one_of(&[0, 65_535 - 50, Position::COUNT as u32 - 50, anywhere]);
        Position::ZERO.plus(place)
    }

    fn restarts(&mut self, frames: u64) -> Vec<(u64, u32)> {
        let mut restarts: Vec<_> =
            (0..2).map(|_| (self.between(1, frames - 1), self.between(0, 30_000) as u32)).collect();
        restarts.sort_unstable();
        restarts
    }
}
