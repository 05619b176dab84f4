//! Guards that have every line protocol: any protection beside any other, behind any other, and under faults. The dialogues of
//! single line protocols are below, those of LinkGuardian in the tests of the core.
#![allow(missing_docs, unreachable_pub, dead_code)]

mod fec;
mod llr;
#[path = "../../../../core/tests/all/guard/pair.rs"]
mod pair;
#[path = "../../../../core/tests/checks/guard.rs"]
mod script;
#[path = "../../../../core/tests/all/guard/swarm.rs"]
mod swarm;

use lossylink_codec::FecLine;
use lossylink_core::engine::llr::FrameAction;
use lossylink_core::guard::{Guard, LineProtocol, LinkGuardianLine, LlrLine};
use lossylink_core::protection::{Fec, LinkGuardian, Llr, Protection};
use lossylink_core::time::Duration;
use lossylink_core::units::{BitRate, Bytes};
use pair::{NONE, Pair, frame, ratio};
use proptest::prelude::*;
use swarm::{ids, swarm};

/// The rate of the link.
const RATE: BitRate = BitRate::from_gbps(1);
/// The longest frame of the LAN, without FCS.
const LONGEST: Bytes = Bytes(1514);
/// Full frames back to back take 12.3 us at that rate.
const SPACING: Duration = Duration::from_us(13);

fn lines() -> Vec<Box<dyn LineProtocol>> {
    vec![
        Box::new(LinkGuardianLine::new()),
        Box::new(FecLine::new(RATE, LONGEST)),
        Box::new(LlrLine::new(RATE, LONGEST)),
    ]
}

fn fec(size: u32, rows: u32) -> Protection {
    Protection::Fec(Fec::new(size, rows))
}

fn llr() -> Protection {
    Protection::Llr(Llr::default())
}

/// Returns LLR that never gives a frame up, and lets no frame leave without a number.
fn stubborn() -> Protection {
    Protection::Llr(Llr { replays: 255, init: FrameAction::Block, ..Llr::default() })
}

/// Returns LinkGuardian with two copies and no cap on holes.
fn linkguardian(mode: LinkGuardian) -> Protection {
    Protection::LinkGuardian(LinkGuardian { copies: Some(2), dummies: Some(3), holes: None, ..mode })
}

fn ordered() -> Protection {
    linkguardian(LinkGuardian::ORDERED)
}

fn non_blocking() -> Protection {
    linkguardian(LinkGuardian::NON_BLOCKING)
}

// G-6, LLR-26: no frame under way when the protection changes is lost, repeated or reordered.
#[test]
fn any_protection_follows_any_other_while_frames_pass() {
    let kinds =
        [Protection::None, ordered(), non_blocking(), fec(5, 2), fec(1, 1), fec(25, 5), llr(), stubborn()];
    // Parity as long as the frames has room on the line.
    for (length, spacing) in [(700, SPACING), (1514, SPACING * 2)] {
        let mut pair = Pair::agreed(2, lines, [llr(), ordered()], [NONE, NONE]);
        let mut ids_sent = 0..;
        for (first, second) in kinds.iter().flat_map(|first| kinds.iter().map(move |second| (first, second)))
        {
            for next in [first, second] {
                [0, 1].into_iter().for_each(|end| pair.protect(end, next.clone()));
                for id in ids_sent.by_ref().take(100) {
                    pair.send(0, &frame(id, length));
                    pair.run_for(spacing);
                }
            }
        }
        pair.run_for(Duration::from_ms(10));
        let seen = ids(&pair.delivered[1]);
        let wrong = (0..ids_sent.start).zip(&seen).find(|(id, came)| id != *came);
        assert_eq!((wrong, seen.len()), (None, ids_sent.start as usize), "frames of {length} bytes");
    }
}

/// Asserts that the direction away from `end` did its repairs by `protection` and by no other protocol.
fn assert_repaired_by(pair: &Pair, end: usize, protection: &Protection) {
    // An end reports on the protocols of its own two directions alone.
    let count = |end: usize, group: &str, name: &str| {
        let groups = pair.guards[end].report();
        let counters = groups.iter().filter(|found| found.name == group).flat_map(|found| &found.counters);
        counters.filter(|counter| counter.name == name).map(|_| pair.count(end, group, name)).sum::<u64>()
    };
    let [retransmitted, numbered] = ["retransmitted", "data"].map(|name| count(end, "sender", name));
    let [replayed, retried] = ["tx_replay", "tx_ok"].map(|name| count(end, "llr", name));
    let (recovered, coded) = (count(1 - end, "coder", "recovered"), count(end, "coder", "sent_data"));
    let protocols = [
        (matches!(protection, Protection::LinkGuardian(_)), retransmitted, numbered),
        (matches!(protection, Protection::Llr(_)), replayed, retried),
        (matches!(protection, Protection::Fec(_)), recovered, coded),
    ];
    for (is_meant, repaired, sent) in protocols {
        assert_eq!(sent > 0, is_meant, "{protection}: {protocols:?}");
        assert_eq!(repaired > 10, is_meant, "{protection}: {protocols:?}");
    }
}

// G-1, G-5, G-6, G-9, LLR-13: each direction follows the protection of its sender, and both lose frames if they are protected.
#[test]
fn the_two_directions_go_by_different_protocols() {
    const FRAMES: u32 = 5000;
    let kinds = [Protection::None, ordered(), non_blocking(), fec(5, 3), stubborn()];
    let beside =
        |first| kinds.iter().filter(move |second| *second != first).map(move |second| [first, second]);
    for protections in kinds.iter().flat_map(beside).map(|pair| pair.map(Protection::clone)) {
        let mut pair = Pair::agreed(5, lines, protections.clone(), [NONE, NONE]);
        pair.run_for(Duration::from_ms(5));
        pair.set_loss(
            protections.each_ref().map(|kind| if *kind == Protection::None { NONE } else { ratio(0.01) }),
        );
        for number in 0..FRAMES {
            [0, 1].into_iter().for_each(|end| pair.send(end, &frame(number, 300)));
            pair.run_for(SPACING);
        }
        pair.run_for(Duration::from_ms(100));
        for (end, protection) in protections.iter().enumerate() {
            let mut seen = ids(&pair.delivered[1 - end]);
            if *protection == non_blocking() {
                seen.sort_unstable();
            }
            assert!(seen.windows(2).all(|pair| pair[0] < pair[1]), "{protections:?}: reordered or twice");
            // Four losses of eight frames are 3.4 blocks in a million, and a lost notification is one loss in a hundred. What
            // loses nothing, or sends again without an end, delivers every frame.
            let missing = FRAMES as usize - seen.len();
            let most = if *protection == Protection::None || *protection == stubborn() { 0 } else { 8 };
            assert!(missing <= most, "{protections:?}: {missing} missing from end {end}");
            assert_repaired_by(&pair, end, protection);
        }
        assert_eq!(pair.guards.each_ref().map(Guard::frames_held), [0, 0]);
        let told = pair.guards[0].session().unwrap();
        assert_eq!(told.peer_protection.to_string(), protections[1].to_string());
    }
}

// G-3, G-6, G-8, G-18, LLR-5, LLR-13, LLR-16, LLR-26: restarts, cuts, garbage and losses up to a half.
#[test]
fn whatever_happens_nothing_is_wrong_and_all_heals() {
    let worlds = [
        [fec(5, 2), fec(5, 2)],
        [fec(1, 1), fec(25, 5)],
        [fec(3, 3), ordered()],
        [Protection::None, fec(5, 5)],
        [fec(5, 0), ordered()],
        [llr(), llr()],
        [stubborn(), llr()],
        [llr(), ordered()],
        [fec(5, 3), stubborn()],
        [Protection::None, llr()],
        [ordered(), Protection::None],
        [Protection::None, non_blocking()],
    ];
    let seeds = std::env::var("LOSSYLINK_SEEDS").ok().and_then(|text| text.parse().ok()).unwrap_or(96);
    for seed in 0..seeds {
        let world = worlds[seed as usize % worlds.len()].clone();
        let is_llr = world.iter().all(|protection| matches!(protection, Protection::Llr(_)));
        let pair = swarm(seed, lines, world);
        let is_in_order = || pair.delivered.iter().all(|frames| ids(frames).is_sorted());
        assert!(!is_llr || is_in_order(), "seed {seed}: reordered");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    // G-1, G-3, G-18, LLR-5, LLR-27
    #[test]
    fn guards_survive_whatever_the_link_does(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
        script::receive_path_of(|| Box::new(FecLine::new(RATE, LONGEST)), &fec(3, 2), &bytes);
        script::receive_path_of(|| Box::new(LlrLine::new(RATE, LONGEST)), &llr(), &bytes);
    }
}
