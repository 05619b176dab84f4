//! The drawing of a world from a seed.

use crate::profiles::profile;
use crate::swarm::scene::{Dice, Scene};
use lossylink_core::engine::linkguardian::{Position, SenderConfig};
use lossylink_core::rng::Streams;
use lossylink_core::time::Duration;
use lossylink_core::units::BitRate;
use lossylink_sim::config::SwitchProfile;
use lossylink_sim::net::linkguardian::Options;

/// A world: all values that a seed draws.
#[derive(Clone, Debug)]
pub(crate) struct World {
    pub(crate) scene: Scene,
    pub(crate) options: Options,
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
        let (profile, options) = (drawn_profile(&mut dice), options(&mut dice));
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
        // Forward a blackout stays below the window, beyond which a receiver cannot tell how many frames it has missed (LG-2,
        // LG-11). On the way back a blackout may have any length (LG-33).
        let longest = if is_dear { (1_000, 1_000) } else { (20_000, 140_000) };
        let scene = Scene {
            seed,
            rate,
            propagation: Duration::from_ns(dice.between(0, 500)),
            profile,
            forward: dice.loss(if is_dear && is_long { 0.01 } else { 0.5 }),
            reverse: dice.loss(0.5),
            blackouts: if dice.chance(0.5) { vec![dice.blackout(frames, longest)] } else { Vec::new() },
            frame_bytes,
            frames,
            arrivals: dice.arrivals(service, 5.0),
            back: dice.chance(0.4).then(|| dice.stretched(service, 1.0, 20.0)),
        };
        Self {
            scene,
            options,
            start: start(&mut dice),
            restarts: if dice.chance(0.25) { restarts(&mut dice, frames) } else { Vec::new() },
        }
    }
}

/// Draws a profile of this repository, whole or with every delay off by up to a factor of two.
fn drawn_profile(dice: &mut Dice) -> SwitchProfile {
    let mut profile = profile(dice.one_of(&["tofino1", "ideal"]));
    if dice.chance(0.6) {
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
        let forward = [data_pipeline_ns, retransmission_pipeline_ns, copy_first_check_ns, tx_loop_fixed_ns];
        let back = [notification_port_ns, ack_register_ns, ack_cycle_ns, control_return_ns];
        let sides = [retransmit_ns, multicast_extra_ns, rx_loop_fixed_ns];
        let pauses = [timer_packet_ns, resume_flight_ns, pause_reaction_ns];
        for delay in forward.into_iter().chain(back).chain(sides).chain(pauses) {
            *delay *= dice.scale(0.5, 2.0);
        }
    }
    if dice.chance(0.4) {
        squeeze(dice, &mut profile);
    }
    profile
}

/// Draws small buffers, small thresholds, short pauses and short waits for missing frames.
fn squeeze(dice: &mut Dice, profile: &mut SwitchProfile) {
    let pause_bytes = dice.scale(2_000.0, 60_000.0) as u64;
    let resume_bytes = (pause_bytes as f64 * dice.share()) as u64;
    for threshold in &mut profile.threshold {
        threshold.pause_bytes = pause_bytes;
        threshold.resume_bytes = resume_bytes.min(pause_bytes - 1);
    }
    if dice.chance(0.5) {
        let ticks = dice.between(5, 300) as u32;
        profile.threshold.iter_mut().for_each(|threshold| threshold.ack_no_timeout_ticks = ticks);
    }
    profile.pause_quanta = dice.one_of(&[65_535, 5_000, 200]);
    profile.rx_buffer_max_bytes = dice.one_of(&[20_000, 100_000, 8_000_000]);
    profile.queue_bytes = dice.one_of(&[30_000, 560_000]);
}

fn options(dice: &mut Dice) -> Options {
    Options {
        sender: SenderConfig {
            copies: dice.one_of(&[1, 1, 2, 3, 7]),
            dummies: dice.one_of(&[0, 1, 3, 3, 10]),
            hole_cap: dice.one_of(&[Some(5), Some(5), Some(1), Some(40), None]),
        },
        control_copies: 1,
        ordered: dice.chance(0.6),
        backpressure: dice.chance(0.7),
        deduplicate: dice.chance(0.8),
    }
}

/// Draws the start of the numbering, often where the numbers or the eras are about to wrap.
fn start(dice: &mut Dice) -> Position {
    let anywhere = dice.between(0, Position::COUNT as u64 - 1) as u32;
    let place = dice.one_of(&[0, 65_535 - 50, Position::COUNT as u32 - 50, anywhere]);
    Position::ZERO.plus(place)
}

fn restarts(dice: &mut Dice, frames: u64) -> Vec<(u64, u32)> {
    let mut restarts: Vec<_> =
        (0..2).map(|_| (dice.between(1, frames - 1), dice.between(0, 30_000) as u32)).collect();
    restarts.sort_unstable();
    restarts
}
