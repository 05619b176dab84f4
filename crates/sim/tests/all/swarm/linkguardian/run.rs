//! The run of a world: the storm, the drain, and a while on a healed link.

use super::World;
use crate::swarm::check::PROBES;
use crate::swarm::storm::{Limits, Record, Storm};
use lossylink_core::engine::linkguardian::Position;
use lossylink_core::rng::Streams;
use lossylink_core::time::{Duration, Instant};
use lossylink_sim::net::linkguardian::Counters;
use lossylink_sim::net::{LineRate, LinkGuardianLink, ProtectedLink};

const LIMITS: Limits = Limits { most_steps: 1_000_000_000, patience: None };
/// The time from the last event to the last look at a copy: more than any round of a loop.
const SETTLING: Duration = Duration::from_ms(50);

/// The evidence of a run.
#[derive(Clone, Debug)]
pub(crate) struct Evidence {
    pub(crate) record: Record,
    pub(crate) counters: Counters,
    /// The copies, and the bytes in the reorder buffer, when no event is due any more.
    pub(crate) copies_held: usize,
    pub(crate) rx_bytes: u64,
    /// The time of the last event.
    pub(crate) end: Instant,
}

/// Runs `world` to the end.
///
/// # Errors
/// If it does not end.
pub(crate) fn run(world: &World) -> Result<Evidence, String> {
    let mut storm = Storm::new(&world.scene, link(world), LIMITS);
    let mut restarts = world.restarts.iter().peekable();
    storm.rage(|link, now, number| {
        while let Some((_, jump)) = restarts.next_if(|(at, _)| *at == number) {
            link.synchronise(now, link.next_position().plus(*jump));
        }
    })?;
    storm.drain()?;
    storm.heal();
    // The first probe reveals the losses that the storm hid.
    storm.offer();
    storm.drain()?;
    for _ in 1..PROBES {
        storm.make_room()?;
        storm.offer();
    }
    storm.drain()?;
    let end = storm.now;
    let (mut link, record) = storm.finish();
    let settled = end + SETTLING;
    Ok(Evidence {
        record,
        counters: link.counters(settled),
        copies_held: link.copies_held(settled),
        rx_bytes: link.buffer_bytes(settled).1,
        end,
    })
}

fn link(world: &World) -> LinkGuardianLink<u64> {
    let scene = &world.scene;
    let mut link = LinkGuardianLink::new(
        &scene.profile,
        LineRate::new(scene.rate),
        scene.propagation,
        &world.options,
        scene.losses(),
        &mut Streams::new(scene.seed).stream("swarm/phases"),
    );
    if world.start != Position::ZERO {
        link.synchronise(Instant::ZERO, world.start);
    }
    link
}
