//! Dialogues with the model, at explicit times.

use super::*;
use crate::config::switch_profile as profile;
use crate::net::{Ecn, LineRate, ProtectedLink};
use lossylink_core::engine::fec::Code;
use lossylink_core::loss::LossModel;
use lossylink_core::rng::Streams;
use lossylink_core::units::BitRate;

/// The time that a packet of 1514 B with its two headers lasts at 10 Gb/s; its clone lasts equally long.
const PACKET: Duration = Duration::from_ps(1545 * 800);
/// The time that the profile gives from the queue to the decoder.
const FLIGHT: Duration = Duration::from_ns(100);

fn published(size: u32, rows: u32) -> FecModelOptions {
    FecModelOptions::published(Code::new(size, rows).unwrap())
}

fn link_on(switch: &str, options: &FecModelOptions, lost: &[u64]) -> FecModelLink<u32> {
    let process = |model: &LossModel| LossProcess::new(model, Streams::new(1).stream("test"));
    let forward = if lost.is_empty() { LossModel::None } else { LossModel::at(lost.to_vec()).unwrap() };
    let rate = LineRate::new(BitRate::from_gbps(10));
    let losses = (process(&forward), process(&LossModel::None));
    FecModelLink::new(&profile(switch), rate, Duration::ZERO, options, losses)
}

fn link(options: &FecModelOptions, lost: &[u64]) -> FecModelLink<u32> {
    link_on("ideal", options, lost)
}

fn offer(link: &mut FecModelLink<u32>, now: Instant, sizes: impl IntoIterator<Item = (u32, u32)>) {
    link.advance(now);
    for (number, bytes) in sizes {
        link.offer(now, Frame::of_frame_bytes(bytes, Ecn::NotCapable, number));
    }
}

fn full(numbers: std::ops::Range<u32>) -> impl Iterator<Item = (u32, u32)> {
    numbers.map(|number| (number, 1514))
}

fn drain(link: &mut FecModelLink<u32>) -> Vec<(Instant, u32)> {
    while !link.poll_timeout().is_never() {
        link.advance(link.poll_timeout());
    }
    std::iter::from_fn(|| link.delivered().pop()).map(|(at, frame)| (at, frame.payload)).collect()
}

fn at(packets: u64) -> Instant {
    Instant::ZERO + PACKET * packets + FLIGHT
}

// FEC-25, FEC-26: unlike a real decoder, the model waits for the last parity packet.
#[test]
fn a_marked_packet_goes_on_when_its_block_has_ended() {
    let mut link = link(&published(3, 2), &[1]);
    offer(&mut link, Instant::ZERO, full(0..3));
    assert_eq!(drain(&mut link), [(at(1), 0), (at(3), 2), (at(5), 1)]);
    assert_eq!(link.counters().recovered, 1);
    assert_eq!(link.circulating_bytes(), 0);
}

// FEC-25
#[test]
fn too_many_marks_drop_all_of_them() {
    for (lost, left) in [(vec![0, 3], 2), (vec![0, 1], 1), (vec![2, 3], 2), (vec![0], 3)] {
        let mut link = link(&published(3, 1), &lost);
        offer(&mut link, Instant::ZERO, full(0..3));
        assert_eq!(drain(&mut link).len(), left, "lost {lost:?}");
        assert_eq!(link.circulating_bytes(), 0);
    }
}

// FEC-24
#[test]
fn parity_is_as_long_as_the_last_packet() {
    for (parity_size, octets) in [(ParitySize::LastPacket, 95), (ParitySize::LongestPacket, 1545)] {
        let mut link = link(&FecModelOptions { parity_size, ..published(2, 1) }, &[]);
        offer(&mut link, Instant::ZERO, [(0, 1514), (1, 64)]);
        drain(&mut link);
        assert_eq!(link.traffic().parity_octets, octets);
        // 6 octets of header and one of the corruption header on each of the two packets.
        assert_eq!(link.traffic().header_octets, 2 * 7);
    }
}

// FEC-26: without a timer a marked packet of a partial block waits for the next traffic, however
// long that takes.
#[test]
fn without_a_timer_the_wait_has_no_bound() {
    let mut link = link(&published(2, 1), &[0]);
    offer(&mut link, Instant::ZERO, full(0..1));
    let pause = Instant::ZERO + Duration::from_ms(9);
    assert_eq!(drain(&mut link), []);
    offer(&mut link, pause, full(1..2));
    assert_eq!(drain(&mut link), [(pause + PACKET + FLIGHT, 1), (pause + PACKET * 2 + FLIGHT, 0)]);
}

// FEC-26: the flush timer is the remedy.
#[test]
fn a_flush_timer_bounds_the_wait() {
    let flush = Duration::from_us(100);
    let mut link = link(&FecModelOptions { flush: Some(flush), ..published(2, 1) }, &[0]);
    offer(&mut link, Instant::ZERO, full(0..1));
    assert_eq!(drain(&mut link), [(Instant::ZERO + flush + PACKET + FLIGHT, 0)]);
}

// FEC-26: the last index is marked but read; lost in the queue, the next block ends this one.
#[test]
fn a_block_ends_in_three_ways() {
    let ends = |last_index, newer_block, timer| {
        let block_end = BlockEnd { last_index, newer_block, timer };
        let mut link = link(&FecModelOptions { block_end, ..published(2, 1) }, &[0]);
        offer(&mut link, Instant::ZERO, full(0..3));
        drain(&mut link).into_iter().find(|&(_, number)| number == 0).map(|(at, _)| at)
    };
    assert_eq!(ends(true, true, None), Some(at(3)));
    assert_eq!(ends(false, true, None), Some(at(4)));
    assert_eq!(ends(false, false, None), None);
    let timer = Duration::from_us(3);
    assert_eq!(ends(false, true, Some(timer)), Some(at(1) + timer));
}

// FEC-27
#[test]
fn recirculation_lets_packets_go_at_the_end_of_a_round() {
    let mut link = link_on("tofino1", &published(3, 1), &[0]);
    offer(&mut link, Instant::ZERO, full(0..3));
    // The recirculation port runs at 100 Gb/s.
    let round = Duration::from_ns(650) + PACKET / 10;
    let marked = Instant::ZERO + PACKET + Duration::from_ns(659);
    // The block ends three packets later, in the fifth round.
    assert!(PACKET * 3 > round * 4 && PACKET * 3 <= round * 5);
    assert_eq!(drain(&mut link).last(), Some(&(marked + round * 5, 0)));
}

// FEC-25: a packet that the queue drops does not come back, but counts as missing.
#[test]
fn the_queue_drops_for_good() {
    let mut small = profile("ideal");
    small.queue_bytes = 3 * 1525;
    let process = |name| LossProcess::new(&LossModel::None, Streams::new(1).stream(name));
    let rate = LineRate::new(BitRate::from_gbps(10));
    let mut link =
        FecModelLink::new(&small, rate, Duration::ZERO, &published(6, 1), (process("a"), process("b")));
    offer(&mut link, Instant::ZERO, full(0..6));
    assert_eq!(drain(&mut link).len(), 4);
    let egress = link.egress_counters();
    assert_eq!((egress.data_dropped, egress.parity_dropped), (2, 1));
}

// FEC-1, FEC-8: without parity packets carry no header, and marked ones are lost at once.
#[test]
fn the_code_changes_at_the_next_block_boundary() {
    let mut link = link(&published(3, 1), &[1, 2]);
    link.set_code(Code::new(3, 0).unwrap());
    offer(&mut link, Instant::ZERO, full(0..2));
    // Two bare packets, of which the second is lost; then a block, of which the first is.
    link.set_code(Code::new(3, 1).unwrap());
    offer(&mut link, Instant::ZERO, full(2..3));
    link.set_code(Code::new(3, 0).unwrap());
    offer(&mut link, Instant::ZERO, full(3..6));
    let bare = Duration::from_ps(1538 * 800);
    let after = |packets: u64, bares: u64| Instant::ZERO + PACKET * packets + bare * bares + FLIGHT;
    let expected = [(after(0, 1), 0), (after(2, 2), 3), (after(3, 2), 4), (after(4, 2), 2), (after(4, 3), 5)];
    assert_eq!(drain(&mut link), expected);
    assert_eq!((link.counters().blocks, link.counters().recovered), (1, 1));
}
