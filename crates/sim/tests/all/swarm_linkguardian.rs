//! Swarm: every seed is another world around a protected link, and some properties hold in all of
//! them.
//!
//! `LOSSYLINK_SWARM_SEED=17` runs one seed, `LOSSYLINK_SWARM_SEEDS=5000` the first 5000 seeds.

use crate::swarm;
use lossylink_core::loss::LossModel;
use std::any::Any;
use std::panic::catch_unwind;
use swarm::{Evidence, World, check, run};

/// The number of seeds that every run of the tests takes.
const SEEDS: u64 = 64;
/// Further seeds that once found a defect: numbers that ran past the window at either end, held
/// frames that outlived a restart, copies in a loop that outlived their positions.
const FINDERS: [u64; 6] = [90, 116, 124, 134, 78, 693];

fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable}={text} is no number")))
}

/// Runs and checks one world. Returns one line if the world fails.
fn verdict(seed: u64) -> Result<(), String> {
    let world = World::draw(seed);
    let outcome = catch_unwind(|| run(&world).and_then(|evidence| check(&world, &evidence)));
    let complaint = match outcome {
        Ok(result) => result.err(),
        Err(panic) => Some(format!("panic: {}", words(panic.as_ref()))),
    };
    complaint.map_or(Ok(()), |what| {
        Err(format!(
            "LOSSYLINK_SWARM_SEED={seed} cargo test -p lossylink-sim --test all swarm_linkguardian: {what}"
        ))
    })
}

/// Returns the message of a panic.
fn words(panic: &(dyn Any + Send)) -> &str {
    let literal = panic.downcast_ref::<&str>().copied();
    literal.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("without words")
}

// LG-8, LG-10, LG-20, LG-26, LG-28, LG-30, LG-33, LG-34, LG-35, LG-46
#[test]
fn every_seed_is_safe_and_drains() {
    if let Some(seed) = number("LOSSYLINK_SWARM_SEED") {
        println!("{:#?}", World::draw(seed));
        verdict(seed).unwrap();
        return;
    }
    let seeds = number("LOSSYLINK_SWARM_SEEDS").unwrap_or(SEEDS);
    let failures: Vec<String> = (0..seeds).chain(FINDERS).filter_map(|seed| verdict(seed).err()).collect();
    assert!(failures.is_empty(), "{} of {seeds} seeds fail\n{}", failures.len(), failures.join("\n"));
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
    some("a wrap of both eras", &|world| world.frames > 131_072);
    some("a restart", &|world| !world.restarts.is_empty());
    some("a blackout", &|world| !world.blackouts.is_empty());
    some("frames on the way back", &|world| world.back.is_some());
    some("copies of control frames that are lost", &|world| {
        world.options.control_copies > 1 && world.reverse != LossModel::None
    });
    some("recirculation", &|world| world.profile.recirculates);
    some("memory", &|world| !world.profile.recirculates);
}

/// The canary: evidence that has been tampered with does not pass.
#[test]
fn the_checker_finds_what_is_wrong() {
    let world = (0..SEEDS).map(World::draw).find(|world| {
        world.options.ordered
            && world.restarts.is_empty()
            && world.blackouts.is_empty()
            && world.back.is_some()
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
    tampered("came out after", &|evidence| evidence.delivered.swap(10, 11));
    tampered("came out after", &|evidence| evidence.delivered.insert(11, evidence.delivered[10]));
    tampered("octets", &|evidence| evidence.delivered[9].octets += 1);
    tampered("delivered = forwarded", &|evidence| evidence.delivered.truncate(9));
    tampered("not delivered = given up", &|evidence| evidence.counters.timeouts += 1);
    tampered("offered = sent", &|evidence| evidence.queue_drops += 1);
    tampered("came back", &|evidence| evidence.returned.push(0));
    tampered("asked for once", &|evidence| evidence.counters.sender.retransmitted += 1);
    tampered("left", &|evidence| evidence.copies_held = 1);
    tampered("healed link", &|evidence| {
        evidence.delivered.pop();
        evidence.counters.receiver.forwarded -= 1;
        evidence.counters.timeouts += 1;
        evidence.traffic.data_lost += 1;
        evidence.counters.receiver.data -= 1;
        evidence.counters.receiver.lost += 1;
    });
    let mut lenient = world.clone();
    lenient.options.ordered = false;
    lenient.options.deduplicate = true;
    let mut twice = sound.clone();
    twice.delivered.push(twice.delivered[10]);
    assert!(check(&lenient, &twice).unwrap_err().contains("2 times"));
}
