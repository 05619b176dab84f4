//! The run of a world: the storm, the healing, the drain, and a while on a healed link.

use super::{Fault, World};
use crate::swarm::check::PROBES;
use crate::swarm::storm::{Limits, Record, Storm};
use lossylink_core::engine::llr::{ReceiverState, SenderState};
use lossylink_core::time::{Duration, Instant};
use lossylink_sim::net::llr::LlrCounters;
use lossylink_sim::net::{LineRate, LlrLink, ProtectedLink};

/// A link that is stuck, or blocked, is offered the next frame all the same.
const LIMITS: Limits = Limits { most_steps: 10_000_000, patience: Some(Duration::from_us(5)) };
/// The time for which the storm goes on after the last frame.
const AFTERMATH: Duration = Duration::from_us(200);

/// The evidence of a run.
#[derive(Clone, Debug)]
pub(crate) struct Evidence {
    pub(crate) record: Record,
    pub(crate) counters: LlrCounters,
    /// The number of frames in the replay buffer when no event is due any more.
    pub(crate) kept: usize,
}

/// Runs `world` to the end.
///
/// # Errors
/// If it does not end.
pub(crate) fn run(world: &World) -> Result<Evidence, String> {
    let mut storm = Storm::new(&world.scene, link(world), LIMITS);
    let mut faults = world.faults.iter().peekable();
    storm.rage(|link, now, number| {
        while let Some(&(_, fault)) = faults.next_if(|(at, _)| *at == number) {
            strike(link, now, fault);
        }
    })?;
    storm.run_until(storm.now + AFTERMATH)?;
    storm.heal();
    // A sender that never gives up does not find out that its receiver restarted, so the operator starts it again.
    let (sender, receiver) = storm.link.states();
    if receiver == ReceiverState::Off && sender != SenderState::Off {
        storm.link.start_over(storm.now);
    }
    drain(&mut storm)?;
    for _ in 0..PROBES {
        storm.offer();
        drain(&mut storm)?;
    }
    let (link, record) = storm.finish();
    Ok(Evidence { record, counters: link.counters(), kept: link.kept() })
}

fn link(world: &World) -> LlrLink<u64> {
    let scene = &world.scene;
    let (profile, rate, options) = (&scene.profile, LineRate::new(scene.rate), &world.options);
    if world.is_established {
        LlrLink::new(profile, rate, scene.propagation, options, scene.losses(), world.start)
    } else {
        LlrLink::unprotected(profile, rate, scene.propagation, options, scene.losses())
    }
}

fn strike(link: &mut LlrLink<u64>, now: Instant, fault: Fault) {
    if matches!(fault, Fault::RestartReceiver | Fault::RestartBoth) {
        link.restart_receiver(now);
    }
    match fault {
        Fault::RestartSender | Fault::RestartBoth => link.start_over(now),
        Fault::Leave => drop(link.leave(now)),
        Fault::RestartReceiver => {}
    }
}

/// Lets every event happen that needs no new frame. A protection that has given up for good is
/// started again, as an operator does.
fn drain(storm: &mut Storm<'_, LlrLink<u64>>) -> Result<(), String> {
    loop {
        storm.drain()?;
        if storm.link.states().0 != SenderState::Flush {
            return Ok(());
        }
        storm.link.start_over(storm.now);
    }
}
