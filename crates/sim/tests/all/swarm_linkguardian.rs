//! Swarm: every seed is another world around a protected link, and some properties hold in all of
//! them.
//!
//! `LOSSYLINK_SWARM_SEED=17` runs one seed, `LOSSYLINK_SWARM_SEEDS=5000` the first 5000 seeds.

use crate::swarm::every_seed;
use crate::swarm::linkguardian::{Evidence, World, check, run};
use lossylink_core::loss::LossModel;

/// The number of seeds that every run of the tests takes.
const SEEDS: u64 = 64;
/// Further seeds that once found a defect: numbers that ran past the window at either end, held
/// frames that outlived a restart, copies in a loop that outlived their positions.
const FINDERS: [u64; 6] = [90, 116, 124, 134, 78, 693];

// LG-8, LG-10, LG-20, LG-26, LG-28, LG-30, LG-33, LG-34, LG-35, LG-46
#[test]
fn every_seed_is_safe_and_drains() {
    let judge = |world: &World| run(world).and_then(|evidence| check(world, &evidence));
    every_seed("swarm_linkguardian", (SEEDS, &FINDERS), World::draw, judge);
}

/// The swarm is worth its time only if the seeds meet the events for which it was made.
#[test]
fn the_seeds_cover_the_faults() {
    let worlds: Vec<World> = (0..SEEDS).map(World::draw).collect();
    let some = |what: &str, holds: &dyn Fn(&World) -> bool| {
        assert!(worlds.iter().filter(|world| holds(world)).count() >= 3, "hardly any world has {what}");
    };
    some("order", &|world| world.options.ordered);
    some("no order", &|world| !world.options.ordered);
    some("a wrap of both eras", &|world| world.scene.frames > 131_072);
    some("a restart", &|world| !world.restarts.is_empty());
    some("a blackout", &|world| !world.scene.blackouts.is_empty());
    some("frames on the way back", &|world| world.scene.back.is_some());
    some("copies of control frames that are lost", &|world| {
        world.options.control_copies > 1 && world.scene.reverse != LossModel::None
    });
    some("recirculation", &|world| world.scene.profile.recirculates);
    some("memory", &|world| !world.scene.profile.recirculates);
}

/// The canary: evidence that has been tampered with does not pass.
#[test]
fn the_checker_finds_what_is_wrong() {
    let world = (0..SEEDS).map(World::draw).find(|world| {
        world.options.ordered
            && world.restarts.is_empty()
            && world.scene.blackouts.is_empty()
            && world.scene.back.is_some()
    });
    let world = world.expect("some seed is ordered");
    let sound = run(&world).unwrap();
    check(&world, &sound).unwrap();
    let tampered = |what: &str, tamper: &dyn Fn(&mut Evidence)| {
        let mut evidence = sound.clone();
        tamper(&mut evidence);
        let complaint = check(&world, &evidence).expect_err(what);
        assert!(complaint.contains(what), "{complaint}");
    };
    tampered("came out after", &|evidence| evidence.record.delivered.swap(10, 11));
    tampered("came out after", &|evidence| {
        evidence.record.delivered.insert(11, evidence.record.delivered[10])
    });
    tampered("octets", &|evidence| evidence.record.delivered[9].octets += 1);
    tampered("delivered = forwarded", &|evidence| evidence.record.delivered.truncate(9));
    tampered("not delivered = given up", &|evidence| evidence.counters.timeouts += 1);
    tampered("offered = sent", &|evidence| evidence.record.queue_drops += 1);
    tampered("came back", &|evidence| evidence.record.returned.push(0));
    tampered("asked for once", &|evidence| evidence.counters.sender.retransmitted += 1);
    tampered("left", &|evidence| evidence.copies_held = 1);
    tampered("healed link", &|evidence| {
        evidence.record.delivered.pop();
        evidence.counters.receiver.forwarded -= 1;
        evidence.counters.timeouts += 1;
        evidence.record.traffic.data_lost += 1;
        evidence.counters.receiver.data -= 1;
        evidence.counters.receiver.lost += 1;
    });
    let mut lenient = world.clone();
    lenient.options.ordered = false;
    lenient.options.deduplicate = true;
    let mut twice = sound.clone();
    twice.record.delivered.push(twice.record.delivered[10]);
    assert!(check(&lenient, &twice).unwrap_err().contains("2 times"));
}
