//! Dialogues with the whole link, at explicit times.

use super::*;
use crate::config::switch_profile as profile;
use crate::net::coded::{CodedLine, EgressOptions};
use crate::net::meter::{MeterAction, MeterOptions};
use crate::net::{Ecn, LineRate, ProtectedLink};
use lossylink_core::engine::fec::Release;
use lossylink_core::loss::LossModel;
use lossylink_core::rng::Streams;
use lossylink_core::units::BitRate;

/// The time that a data frame of 1514 B with its header lasts at 10 Gb/s.
const DATA: Duration = Duration::from_ps(1544 * 800);
/// The time that the frame's parity lasts.
const PARITY: Duration = Duration::from_ps((1514 + 26 + 24) * 800);
/// The time that the profile gives from the queue to the decoder.
const FLIGHT: Duration = Duration::from_ns(100);

fn rate() -> LineRate {
    LineRate::new(BitRate::from_gbps(10))
}

fn line() -> CodedLine {
    CodedLine { rate: rate(), full_octets: 1538 }
}

fn options(size: u32, rows: u32) -> FecOptions {
    FecOptions::new(Code::new(size, rows).unwrap(), EgressOptions::default(), line(), Bytes(1_000_000))
}

fn link(options: &FecOptions, lost: &[u64]) -> FecLink<u32> {
    let process = |model: &LossModel| LossProcess::new(model, Streams::new(1).stream("test"));
    let forward = if lost.is_empty() { LossModel::None } else { LossModel::at(lost.to_vec()).unwrap() };
    let losses = (process(&forward), process(&LossModel::None));
    FecLink::new(&profile("ideal"), rate(), Duration::ZERO, options, losses)
}

fn offer(link: &mut FecLink<u32>, now: Instant, numbers: impl IntoIterator<Item = u32>) {
    link.advance(now);
    for number in numbers {
        link.offer(now, Frame::of_frame_bytes(1514, Ecn::Capable, number));
    }
}

/// Returns the frames that leave the link until it has no event any more, with their times.
fn drain(link: &mut FecLink<u32>) -> Vec<(Instant, u32)> {
    while !link.poll_timeout().is_never() {
        link.advance(link.poll_timeout());
    }
    std::iter::from_fn(|| link.delivered().pop()).map(|(at, frame)| (at, frame.payload)).collect()
}

fn numbers(left: &[(Instant, u32)]) -> Vec<u32> {
    left.iter().map(|&(_, number)| number).collect()
}

// FEC-2, FEC-6, FEC-14
#[test]
fn data_leave_at_once_and_a_lost_frame_follows_the_first_parity() {
    let mut link = link(&options(3, 1), &[1]);
    offer(&mut link, Instant::ZERO, 0..3);
    let at = |frames: u64, parity: u64| Instant::ZERO + DATA * frames + PARITY * parity + FLIGHT;
    assert_eq!(drain(&mut link), [(at(1, 0), 0), (at(3, 0), 2), (at(3, 1), 1)]);
    assert_eq!(link.counters().decoder.recovered, 1);
    let traffic = link.traffic();
    assert_eq!((traffic.parity_frames, traffic.parity_octets, traffic.header_octets), (1, 1564, 18));
}

// FEC-15
#[test]
fn in_order_a_frame_behind_the_hole_waits() {
    let in_order = FecOptions { release: Release::InOrder, decode: Duration::from_us(5), ..options(3, 1) };
    let mut link = link(&in_order, &[1]);
    offer(&mut link, Instant::ZERO, 0..6);
    let left = drain(&mut link);
    assert_eq!(numbers(&left), [0, 1, 2, 3, 4, 5]);
    let rebuilt = Instant::ZERO + DATA * 3 + PARITY + FLIGHT + Duration::from_us(5);
    assert_eq!((left[1].0, left[2].0), (rebuilt, rebuilt));
}

// FEC-7: a lost frame of a partial block comes back when the flush timer has sent its parity.
#[test]
fn the_flush_timer_bounds_the_wait() {
    let mut link = link(&options(25, 2), &[0]);
    let flush = options(25, 2).flush;
    offer(&mut link, Instant::ZERO, [7]);
    assert_eq!(drain(&mut link), [(Instant::ZERO + flush + PARITY + FLIGHT, 7)]);
}

// FEC-21: a frame that the queue drops is rebuilt like a frame that the wire loses.
#[test]
fn a_frame_dropped_by_the_queue_is_rebuilt() {
    let mut small = profile("ideal");
    small.queue_bytes = 3 * 1524;
    let process = |name| LossProcess::new(&LossModel::None, Streams::new(1).stream(name));
    let losses = (process("a"), process("b"));
    let mut link = FecLink::new(&small, rate(), Duration::ZERO, &options(6, 1), losses);
    // One is sent, three wait, the fifth finds no room; the sixth and the parity come later.
    offer(&mut link, Instant::ZERO, 0..5);
    offer(&mut link, Instant::ZERO + DATA * 4, [5]);
    let left = drain(&mut link);
    assert_eq!(numbers(&left), [0, 1, 2, 3, 5, 4]);
    assert_eq!((link.egress_counters().data_dropped, link.counters().decoder.recovered), (1, 1));
}

// FEC-8
#[test]
fn the_code_changes_between_blocks() {
    let mut link = link(&options(4, 1), &[0, 6]);
    offer(&mut link, Instant::ZERO, 0..2);
    link.set_code(Code::new(2, 2).unwrap());
    offer(&mut link, Instant::ZERO, 2..6);
    // On the wire: 0 1 2 3 P, then 4 5 P P of the next code. Lost: 0 and 5.
    assert_eq!(numbers(&drain(&mut link)), [1, 2, 3, 0, 4, 5]);
    assert_eq!(link.traffic().parity_frames, 3);
}

// FEC-1
#[test]
fn without_parity_frames_pass_untouched() {
    let mut link = link(&options(5, 0), &[1]);
    offer(&mut link, Instant::ZERO, 0..3);
    let last = Instant::ZERO + rate().serialisation(1538) * 3 + FLIGHT;
    assert_eq!(drain(&mut link).last(), Some(&(last, 2)));
    assert_eq!(link.traffic().header_octets, 0);
}

// FEC-22
#[test]
fn a_meter_keeps_the_queue_short() {
    let share = |action| {
        let meter = MeterOptions { rate: BitRate::from_gbps(10), burst: Bytes(20_000), action };
        let egress = EgressOptions { meter: Some(meter), ..EgressOptions::default() };
        let mut link = link(&FecOptions { egress, ..options(5, 5) }, &[]);
        // Twice the load for which the code leaves room.
        for number in 0..20_000 {
            offer(&mut link, Instant::ZERO + DATA * u64::from(number), [number]);
        }
        let passed = drain(&mut link).len() as f64 / 20_000.0;
        (passed, link.queue().high_water_bytes(), link.egress_counters())
    };
    // A data frame and its share of parity take DATA + PARITY of the line.
    let expected = DATA.as_ns_f64() / (DATA + PARITY).as_ns_f64();
    let (passed, depth, counters) = share(MeterAction::Police);
    assert!((passed - expected).abs() < 1e-3, "{passed} of {expected}");
    assert!(depth < 40_000 && counters.data_dropped + counters.parity_dropped == 0, "{depth}");
    let (passed, _, counters) = share(MeterAction::Mark { threshold: Bytes(10_000) });
    assert!(passed > expected && counters.meter_marked > 0 && counters.meter_dropped == 0);
}

// FEC-11, FEC-23: parity that later data have passed still rebuilds.
#[test]
fn data_first_delays_recovery_but_loses_nothing() {
    for release in [Release::Eager, Release::InOrder] {
        let egress = EgressOptions { data_first: true, ..EgressOptions::default() };
        let mut link = link(&FecOptions { egress, release, ..options(3, 1) }, &[1]);
        offer(&mut link, Instant::ZERO, 0..9);
        let left = drain(&mut link);
        let last = Instant::ZERO + DATA * 9 + PARITY + FLIGHT;
        if release == Release::Eager {
            assert_eq!(numbers(&left), [0, 2, 3, 4, 5, 6, 7, 8, 1]);
            assert_eq!(left[8].0, last);
        } else {
            assert_eq!(numbers(&left), [0, 1, 2, 3, 4, 5, 6, 7, 8]);
            assert_eq!(left[1].0, last);
        }
    }
}
