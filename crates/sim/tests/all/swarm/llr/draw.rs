//! The drawing of a world from a seed.

use crate::profiles::profile;
use crate::swarm::scene::{Dice, Scene};
use lossylink_core::engine::llr::{FrameAction, Init, Number, SenderConfig};
use lossylink_core::rng::Streams;
use lossylink_core::time::Duration;
use lossylink_core::units::{BitRate, Bytes};
use lossylink_sim::config::SwitchProfile;
use lossylink_sim::net::LineRate;
use lossylink_sim::net::llr::LlrOptions;

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
    pub(crate) scene: Scene,
    pub(crate) options: LlrOptions,
    /// Whether the ends know each other when the run begins.
    pub(crate) is_established: bool,
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
        let profile = drawn_profile(&mut dice);
        let frames = if dice.chance(0.1) { dice.between(20_000, 60_000) } else { dice.between(200, 8_000) };
        let frame_bytes = dice.frame_bytes();
        let largest = frame_bytes.iter().max().copied().unwrap_or(1514) + 24;
        let mean_bytes = frame_bytes.iter().sum::<u32>() / frame_bytes.len() as u32;
        let service = LineRate::new(rate).serialisation(mean_bytes + 24);
        let sized = LlrOptions::sized(&profile, LineRate::new(rate), propagation, largest);
        let (options, is_established) = (options(&mut dice, sized), dice.chance(0.8));
        let scene = Scene {
            seed,
            rate,
            propagation,
            profile,
            forward: dice.loss(0.5),
            reverse: dice.loss(0.5),
            blackouts: if dice.chance(0.4) {
                vec![dice.blackout(frames, (2_000, 2_000))]
            } else {
                Vec::new()
            },
            frame_bytes,
            frames,
            arrivals: dice.arrivals(service, 20.0),
            back: dice.chance(0.4).then(|| dice.stretched(service, 1.0, 20.0)),
        };
        Self {
            scene,
            options,
            is_established,
            start: start(&mut dice),
            faults: if dice.chance(0.5) { faults(&mut dice, frames) } else { Vec::new() },
        }
    }

    /// Whether the numbers of frames wrap.
    pub(crate) fn wraps(&self) -> bool {
        self.is_established
            && u64::from(self.start.number.bits()) + self.scene.frames > u64::from(Number::COUNT)
    }
}

/// Draws a profile of this repository, with a small queue now and then.
fn drawn_profile(dice: &mut Dice) -> SwitchProfile {
    let mut profile = profile(dice.one_of(&["tofino1", "ideal"]));
    profile.data_pipeline_ns *= dice.scale(0.3, 3.0);
    profile.queue_bytes = dice.one_of(&[30_000, 560_000]);
    profile
}

fn options(dice: &mut Dice, sized: LlrOptions) -> LlrOptions {
    LlrOptions {
        sender: sender(dice, sized.sender),
        control_spacing: Bytes(dice.one_of(&[2_048, 2_048, 400, 16_384])),
        return_pipeline: dice.stretched(sized.return_pipeline, 0.3, 3.0),
        errors_seen: dice.chance(0.4),
    }
}

/// Draws windows from one frame to more than enough, and timers from less than a loop to many
/// loops.
fn sender(dice: &mut Dice, sized: SenderConfig) -> SenderConfig {
    let action =
        |dice: &mut Dice| dice.one_of(&[FrameAction::BestEffort, FrameAction::Discard, FrameAction::Block]);
    let age = dice.stretched(sized.replay_timer, 2.0, 20.0);
    SenderConfig {
        outstanding_frames_max: dice.one_of(&[1, 2, 7, 64, sized.outstanding_frames_max]),
        outstanding_bytes_max: dice.one_of(&[
            Bytes(1_600),
            Bytes(20_000),
            sized.outstanding_bytes_max,
            sized.outstanding_bytes_max * 2,
        ]),
        replay_timer: dice.stretched(sized.replay_timer, 0.2, 4.0),
        replay_count_max: dice.one_of(&[1, 2, 3, 3, SenderConfig::UNLIMITED_REPLAYS]),
        pcs_lost_timeout: None,
        data_age_timeout: dice.chance(0.3).then_some(age),
        init_action: action(dice),
        flush_action: action(dice),
        re_init_on_flush: dice.chance(0.7),
    }
}

/// Draws the start of the numbering, often where the numbers are about to wrap or to pass their
/// middle.
fn start(dice: &mut Dice) -> Init {
    let anywhere = dice.between(0, u64::from(Number::COUNT) - 1) as u32;
    let place = dice.one_of(&[0, Number::COUNT - 50, Number::WINDOW - 50, anywhere]);
    Init { number: Number::new(place), data: dice.between(0, 0xffff) as u16 }
}

fn faults(dice: &mut Dice, frames: u64) -> Vec<(u64, Fault)> {
    let kinds = [Fault::RestartSender, Fault::RestartReceiver, Fault::RestartBoth, Fault::Leave];
    let count = dice.between(1, 4);
    let mut faults: Vec<_> = (0..count).map(|_| (dice.between(1, frames - 1), dice.one_of(&kinds))).collect();
    faults.sort_unstable_by_key(|&(at, _)| at);
    faults
}
