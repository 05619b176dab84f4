//! Swarm: every seed is another world around a link with link-level retry, and some properties hold
//! in all of them.
//!
//! `LOSSYLINK_SWARM_SEED=17` runs one seed, `LOSSYLINK_SWARM_SEEDS=5000` the first 5000 seeds.

use crate::swarm::every_seed;
use crate::swarm::llr::{Evidence, Fault, World, check, run};
use lossylink_core::engine::llr::{FrameAction, SenderConfig};

/// The number of seeds that every run of the tests takes.
const SEEDS: u64 = 300;
/// Further seeds that find a sender which after a flush continues the numbers of its oldest frame:
/// frames of the old numbering are still under way when the new numbering begins.
const FINDERS: [u64; 2] = [549, 1592];

// LLR-1, LLR-2, LLR-4, LLR-5, LLR-9..18
#[test]
fn every_seed_is_safe_and_drains() {
    let judge = |world: &World| run(world).and_then(|evidence| check(world, &evidence));
    every_seed("swarm_llr", (SEEDS, &FINDERS), World::draw, judge);
}

/// The swarm is worth its time only if the seeds meet the events for which it was made.
#[test]
fn the_seeds_cover_the_faults() {
    let worlds: Vec<World> = (0..SEEDS).map(World::draw).collect();
    let some = |what: &str, holds: &dyn Fn(&World) -> bool| {
        let count = worlds.iter().filter(|world| holds(world)).count();
        assert!(count >= 10, "hardly any world has {what}: {count}");
    };
    let has = |world: &World, wanted: Fault| world.faults.iter().any(|(_, fault)| *fault == wanted);
    some("errors that are seen", &|world| world.options.errors_seen);
    some("a window of one frame", &|world| world.options.sender.outstanding_frames_max == 1);
    some("unlimited replays", &|world| {
        world.options.sender.replay_count_max == SenderConfig::UNLIMITED_REPLAYS
    });
    some("a wrap of the numbers", &|world| world.wraps());
    some("a blackout", &|world| !world.scene.blackouts.is_empty());
    some("frames on the way back", &|world| world.scene.back.is_some());
    some("data that grow too old", &|world| world.options.sender.data_age_timeout.is_some());
    for fault in [Fault::RestartSender, Fault::RestartReceiver, Fault::RestartBoth, Fault::Leave] {
        some("this fault", &|world| has(world, fault));
    }
    for action in [FrameAction::Discard, FrameAction::Block, FrameAction::BestEffort] {
        some("this action", &|world| world.options.sender.init_action == action);
        some("this action for good", &|world| {
            world.options.sender.flush_action == action && !world.options.sender.re_init_on_flush
        });
    }
    let outcomes: Vec<Evidence> = worlds[..100].iter().filter_map(|world| run(world).ok()).collect();
    let met = |what: &str, count: &dyn Fn(&Evidence) -> u64| {
        let count = outcomes.iter().filter(|evidence| count(evidence) > 0).count();
        assert!(count >= 5, "hardly any of a hundred worlds meets {what}: {count}");
    };
    met("flushes", &|evidence| evidence.counters.sender.flushes);
    met("timer replays", &|evidence| evidence.counters.sender.timer_replays);
    met("duplicates", &|evidence| evidence.counters.receiver.rx_duplicate_seq);
    met("frames for a receiver that is off", &|evidence| evidence.counters.receiver.rx_discard);
    met("discarded frames", &|evidence| evidence.counters.sender.tx_discard);
    met("unnumbered frames", &|evidence| evidence.counters.sender.unnumbered);
}

/// The canary: evidence that has been tampered with does not pass.
#[test]
fn the_checker_finds_what_is_wrong() {
    let is_plain = |world: &World| {
        world.faults.is_empty()
            && world.scene.back.is_some()
            && world.options.sender.replay_count_max == SenderConfig::UNLIMITED_REPLAYS
            && world.options.sender.data_age_timeout.is_none()
    };
    let world = (0..SEEDS).map(World::draw).find(is_plain).expect("some seed is plain");
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
    tampered("numbered = delivered", &|evidence| {
        evidence.counters.receiver.rx_expected_seq_good -= 1;
        evidence.counters.receiver.unnumbered += 1;
    });
    tampered("offered = taken", &|evidence| evidence.record.queue_drops += 1);
    tampered("NACKs", &|evidence| evidence.counters.receiver.tx_nack = 1 << 40);
    tampered("came back", &|evidence| evidence.record.returned.push(0));
    tampered("left", &|evidence| evidence.kept = 1);
    tampered("bound", &|evidence| evidence.counters.high_water_bytes = 1 << 40);
    tampered("healed link", &|evidence| {
        evidence.record.delivered.pop();
        evidence.counters.receiver.rx_expected_seq_good -= 1;
        evidence.counters.sender.given_up += 1;
    });
}
