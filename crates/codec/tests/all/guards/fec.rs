//! Guards whose line is forward error correction: dialogues.

use super::pair::{self, NONE, Pair, at, frame};
use super::swarm::ids;
use super::{LONGEST, RATE, fec, lines};
use lossylink_codec::FecLine;
use lossylink_core::guard::{Guard, GuardConfig, Peer, QueueLimits, Side};
use lossylink_core::protection::Protection;
use lossylink_core::rng::Streams;
use lossylink_core::time::{Duration, Instant};
use lossylink_core::units::Bytes;
use lossylink_core::wire::ethernet::{EtherType, EthernetHeader};
use lossylink_core::wire::wire_octets;

fn guard(name: &str, protection: Protection) -> Guard {
    guard_of(LONGEST, name, protection)
}

/// Returns a guard whose LAN has frames of up to `longest`.
fn guard_of(longest: Bytes, name: &str, protection: Protection) -> Guard {
    let queue = QueueLimits { capacity: Bytes(560_000), mark_from: None };
    let config = GuardConfig { queue, longest_frame: longest.0 as usize, frames: 5_000, secret: None };
    let line = Box::new(FecLine::new(RATE, longest));
    Guard::new(config, vec![line], protection, 0.0, Streams::new(1).stream(name))
}

fn is_coded(frame: &[u8]) -> bool {
    EthernetHeader::parse(frame).is_ok_and(|(header, _)| header.ethertype == EtherType::FEC)
}

/// Carries frames both ways until no frame moves, but for the frames whose place is in `lost`.
fn settle(ends: &mut [Guard; 2], now: Instant, lost: &[u64], count: &mut u64) -> Vec<Vec<u8>> {
    let mut delivered = Vec::new();
    loop {
        let mut moved = false;
        for end in [0, 1] {
            while let Some(frame) = ends[end].poll_transmit(now, Side::Link) {
                moved = true;
                let counted = end == 0 && is_coded(&frame);
                if !(counted && lost.contains(count)) {
                    ends[1 - end].handle_frame(now, Side::Link, &frame);
                }
                *count += u64::from(counted);
                ends[end].recycle(frame);
            }
            while let Some(frame) = ends[end].poll_transmit(now, Side::Lan) {
                delivered.push(frame.clone());
                ends[end].recycle(frame);
            }
        }
        if !moved {
            return delivered;
        }
    }
}

/// Lets two guards find each other: question and answer, the session, and a long message each way.
fn meet(ends: &mut [Guard; 2]) {
    for _ in 0..5 {
        ends.iter_mut().for_each(|end| end.handle_timeout(Instant::ZERO));
        settle(ends, Instant::ZERO, &[], &mut 0);
    }
    assert!(ends.iter().all(|end| end.session().is_some_and(|session| session.peer == Peer::Agreed)));
}

// G-19
#[test]
fn parity_brings_lost_frames_back_in_their_order() {
    let mut ends = [guard("near", fec(5, 2)), guard("far", fec(5, 2))];
    meet(&mut ends);
    let mut count = 0;
    let sent: Vec<Vec<u8>> = (0..10u8).map(|id| vec![id; 100]).collect();
    // Two of the first seven coded frames (five data, two parity) are lost, and one data frame of the next
    // block.
    let mut delivered = Vec::new();
    for frame in &sent {
        ends[0].handle_frame(Instant::ZERO, Side::Lan, frame);
        delivered.extend(settle(&mut ends, Instant::ZERO, &[1, 3, 9], &mut count));
    }
    assert_eq!(delivered, sent);
    let pair = |name| count_of(&ends[1], name);
    assert_eq!((pair("recovered"), pair("unrecovered")), (3, 0));
    assert_eq!(ends.each_ref().map(Guard::frames_held), [0, 0]);
}

// G-19: a block of jumbo frames, back to back, fills before its time is over.
#[test]
fn blocks_of_jumbo_frames_fill_at_line_rate() {
    let longest = Bytes(9014);
    let mut ends = ["near", "far"].map(|name| guard_of(longest, name, fec(25, 5)));
    meet(&mut ends);
    let mut now = Instant::ZERO;
    for id in 0..50u8 {
        now += wire_octets(longest) / RATE;
        ends.iter_mut().filter(|end| end.poll_timeout() <= now).for_each(|end| end.handle_timeout(now));
        ends[0].handle_frame(now, Side::Lan, &vec![id; longest.0 as usize]);
        settle(&mut ends, now, &[], &mut 0);
    }
    assert_eq!((count_of(&ends[0], "full_blocks"), count_of(&ends[0], "partial_blocks")), (2, 0));
}

fn count_of(guard: &Guard, name: &str) -> u64 {
    pair::count(guard, "coder", name)
}

// G-8
#[test]
fn frames_pass_as_they_are_before_the_ends_agree() {
    let mut near = guard("near", fec(5, 2));
    let frame = vec![9; 100];
    near.handle_frame(Instant::ZERO, Side::Lan, &frame);
    assert_eq!(near.poll_transmit(Instant::ZERO, Side::Link), Some(frame));
}

// G-4: the longest frame of a guard is parity.
#[test]
fn parity_is_thirty_bytes_longer() {
    let mut pair = Pair::agreed(1, lines, [fec(1, 1), fec(1, 1)], [NONE, NONE]);
    assert_eq!(pair.guards[0].headroom(), 30);
    pair.guards[0].handle_frame(pair.now, Side::Lan, &frame(0, 1514));
    let sent: Vec<_> = std::iter::from_fn(|| pair.guards[0].poll_transmit(pair.now, Side::Link)).collect();
    let coded = sent.iter().filter(|frame| is_coded(frame));
    assert_eq!(coded.map(|frame| frame.len()).collect::<Vec<_>>(), [1514 + 10, 1514 + 30]);
}

// G-3: hosts cannot speak for a coder, even when no frame is coded.
#[test]
fn the_lan_cannot_forge_coded_frames() {
    let mut pair = Pair::agreed(4, lines, [Protection::None, Protection::None], [NONE, NONE]);
    let mut forged = frame(1, 60);
    forged[12..14].copy_from_slice(&EtherType::FEC.0.to_be_bytes());
    pair.send(0, &forged);
    pair.run_for(Duration::from_ms(1));
    assert_eq!(pair.guards[0].counters().reserved, 1);
    pair.inject(1, &forged);
    assert_eq!(pair.guards[1].counters().foreign, 1);
    assert!(pair.delivered[1].is_empty());
}

// G-19: a lone frame is lost; its block is closed after four full ones, and parity brings it back.
#[test]
fn a_partial_block_is_closed_in_time() {
    let mut pair = Pair::agreed(1, lines, [fec(5, 1), Protection::None], [at(&[0]), NONE]);
    pair.send(0, &frame(7, 1514));
    // Twenty full frames at 12.3 us are 246 us; the parity takes 13 us and the way 100 us.
    pair.run_for(Duration::from_us(355));
    assert!(pair.delivered[1].is_empty());
    pair.run_for(Duration::from_us(10));
    assert_eq!(ids(&pair.delivered[1]), [7]);
}

// G-18: the parity of a block arrives in the session after its data.
#[test]
fn parity_of_an_earlier_session_rebuilds_nothing() {
    for end in [0, 1] {
        let mut pair = Pair::agreed(3, lines, [fec(3, 3), Protection::None], [NONE, NONE]);
        (0..10).for_each(|number| pair.send(0, &frame(number, 1514)));
        // Ten data frames and nine parity frames take 237 us, and 100 us to arrive.
        pair.run_for(Duration::from_us(150));
        pair.protect(end, [fec(3, 3), Protection::None][end].clone());
        pair.run_for(Duration::from_ms(100));
        assert_eq!(ids(&pair.delivered[1]), Vec::from_iter(0..10), "end {end} began a session");
        (10..20).for_each(|number| pair.send(0, &frame(number, 1514)));
        pair.run_for(Duration::from_ms(100));
        assert_eq!(ids(&pair.delivered[1]), Vec::from_iter(0..20), "end {end} began a session");
    }
}
