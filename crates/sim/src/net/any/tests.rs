//! Links that are switched on and off while frames are under way.

use super::*;
use crate::config::switch_profile;
use crate::net::{Ecn, LineRate};
use lossylink_core::engine::llr::FrameAction;
use lossylink_core::loss::LossModel;
use lossylink_core::protection::{Fec, FecModel, LinkGuardian, Llr};
use lossylink_core::time::Duration;
use lossylink_core::units::BitRate;
use std::sync::Arc;

const ONE_COPY: Advice = Advice { copies: 1, control_copies: 1 };

fn plan(protection: Protection) -> Blueprint {
    Blueprint {
        switch: Arc::new(switch_profile("tofino1")),
        rates: LineRate::new(BitRate::from_gbps(100)).into(),
        propagation: Duration::ZERO,
        law: 1e-3.into(),
        control_law: 0.0.into(),
        frame_octets: 1538,
        protection,
        is_switched: false,
        is_fast: true,
    }
}

fn guarded(ordered: bool) -> Protection {
    let mode = if ordered { LinkGuardian::ORDERED } else { LinkGuardian::NON_BLOCKING };
    Protection::LinkGuardian(mode)
}

/// Builds a link that waits for its protection and loses the frames at these positions.
fn waiting(protection: Protection, lost: &[u64]) -> AnyLink<u64> {
    let streams = Streams::new(1);
    let mut link = AnyLink::waiting(&plan(protection), &streams).unwrap();
    if !lost.is_empty() {
        let model = LossModel::at(lost.to_vec()).unwrap();
        link.set_loss(LossProcess::new(&model, streams.stream("loss")));
    }
    link
}

fn offer(link: &mut AnyLink<u64>, count: u64) {
    (0..count).for_each(|number| {
        link.offer(Instant::ZERO, Frame::of_frame_bytes(1514, Ecn::NotCapable, number));
    });
}

/// Lets every frame under way arrive.
fn drain(link: &mut AnyLink<u64>) -> Vec<(Instant, u64)> {
    while !link.poll_timeout().is_never() {
        link.advance(link.poll_timeout());
    }
    let delivered = link.delivered();
    std::iter::from_fn(|| delivered.pop()).map(|(at, frame)| (at, frame.payload)).collect()
}

/// Offers ten frames at once, protects the link while the fourth frame is in service, and lets all of them arrive.
fn arrivals(lost: &[u64], ordered: bool) -> Vec<(Instant, u64)> {
    let mut link = waiting(guarded(ordered), lost);
    offer(&mut link, 10);
    let switch_on = Instant::from_ps(400_000);
    while link.poll_timeout() <= switch_on {
        link.advance(link.poll_timeout());
    }
    assert_eq!(link.backlog(), 6, "three frames have left and one is leaving");
    link.protect(switch_on, ONE_COPY);
    assert_eq!(link.backlog(), 6);
    drain(&mut link)
}

// LG-30
#[test]
fn frames_in_flight_and_in_the_queue_survive_the_change_of_protection() {
    for ordered in [true, false] {
        let arrivals = arrivals(&[], ordered);
        assert!(arrivals.iter().map(|&(_, number)| number).eq(0..10));
        // Full frames, then full frames with a header of three octets.
        for (pair, number) in arrivals.windows(2).zip(1..) {
            let octets = if number < 4 { 1538 } else { 1541 };
            assert_eq!(pair[1].0 - pair[0].0, Duration::from_ps(octets * 80), "frame {number}");
        }
    }
}

// LG-30
#[test]
fn only_what_is_lost_after_the_change_is_repaired() {
    // The second frame leaves before the change, the seventh after it.
    let numbers: Vec<_> = arrivals(&[1, 6], true).into_iter().map(|(_, number)| number).collect();
    assert_eq!(numbers, [0, 2, 3, 4, 5, 6, 7, 8, 9]);
}

/// Returns when `frames` full frames with a header have left the link's near end.
fn after(frames: u64) -> Instant {
    Instant::ZERO + Duration::from_ps(frames * 1541 * 80)
}

/// Protects a link to which ten frames are offered at once, takes the protection off as soon as it can leave after `frames` of
/// them, and lets all arrive. Also returns when the protection left.
fn departures(lost: &[u64], frames: u64, ordered: bool) -> (Vec<(Instant, u64)>, Instant) {
    let mut link = waiting(guarded(ordered), lost);
    link.protect(Instant::ZERO, ONE_COPY);
    offer(&mut link, 10);
    let mut now = after(frames);
    link.advance(now - Duration::from_ps(1));
    while !link.leave(now) {
        now += Duration::from_ns(100);
        link.advance(now);
    }
    assert_eq!(link.backlog() as u64, 10 - frames);
    (drain(&mut link), now)
}

// LG-36: six frames leave with a header; then the sender waits for its dummies, no longer.
#[test]
fn protection_leaves_when_all_that_is_numbered_has_gone_on() {
    for ordered in [true, false] {
        let (arrivals, left_at) = departures(&[], 6, ordered);
        assert!(arrivals.iter().map(|&(_, number)| number).eq(0..10));
        assert!(left_at - after(6) < Duration::from_us(3), "left at {left_at}");
        let flight = Duration::from_ns(659);
        assert_eq!(arrivals[5].0, after(6) + flight);
        assert_eq!(arrivals[6].0, left_at + Duration::from_ps(1538 * 80) + flight);
    }
}

// LG-36: the loss is repaired first, whether the loss is known when the protection is asked to leave (frame 1 of nine, since 3 *
// 123.28 + 659 ns) or not yet.
#[test]
fn protection_leaves_after_the_last_repair() {
    for (lost, frames) in [(1, 9), (5, 6)] {
        let (arrivals, _) = departures(&[lost], frames, true);
        assert!(arrivals.iter().map(|&(_, number)| number).eq(0..10), "{lost}: {arrivals:?}");
        let (arrivals, _) = departures(&[lost], frames, false);
        let mut numbers: Vec<_> = arrivals.into_iter().map(|(_, number)| number).collect();
        numbers.sort_unstable();
        assert!(numbers.into_iter().eq(0..10));
    }
}

// LG-28, LG-36: the second frame is lost for good, and nothing is held back for it.
#[test]
fn protection_out_of_order_does_not_wait_for_a_frame_that_is_lost_for_good() {
    // Frames 0 and 2 arrive. Every later frame is lost, the copy of frame 1 included.
    let lost: Vec<u64> = [1].into_iter().chain(3..100).collect();
    let mut link = waiting(guarded(false), &lost);
    link.protect(Instant::ZERO, ONE_COPY);
    offer(&mut link, 3);
    let left = (0..100).map(|tick| after(3) + Duration::from_ns(100 * tick)).find(|&now| {
        link.advance(now);
        link.leave(now)
    });
    assert!(left.is_some(), "the protection waits for a frame that never comes");
    let numbers: Vec<_> = drain(&mut link).into_iter().map(|(_, number)| number).collect();
    assert_eq!(numbers, [0, 2]);
}

// LG-36
#[test]
fn protection_that_is_wanted_again_stays() {
    let mut link = waiting(guarded(true), &[]);
    link.protect(Instant::ZERO, ONE_COPY);
    offer(&mut link, 3);
    assert!(!link.leave(Instant::ZERO));
    link.advance(Instant::ZERO + Duration::from_us(10));
    assert_eq!(link.backlog(), 2);
    link.protect(Instant::ZERO + Duration::from_us(10), ONE_COPY);
    link.advance(Instant::ZERO + Duration::from_us(20));
    assert_eq!((link.backlog(), link.delivered().len()), (0, 3));
}

// LG-30, LG-36, FEC-8
#[test]
fn every_protection_goes_on_and_off_and_on_and_reports_all_its_turns() {
    let families = [
        guarded(true),
        guarded(false),
        Protection::Fec(Fec::new(5, 2)),
        Protection::FecModel(FecModel::new(5, 2)),
        // Frames that come before both ends are ready would go unprotected.
        Protection::Llr(Llr { init: FrameAction::Block, ..Llr::default() }),
    ];
    for protection in families {
        let mut link = waiting(protection.clone(), &[]);
        let mut delivered = 0;
        for turn in 0..2 {
            let now = Instant::ZERO + Duration::from_ms(turn);
            // Of each turn the second of ten frames is lost.
            let model = LossModel::at(vec![1]).unwrap();
            link.set_loss(LossProcess::new(&model, Streams::new(1).stream("loss")));
            link.protect(now, ONE_COPY);
            (0..10).for_each(|number| {
                link.offer(now, Frame::of_frame_bytes(1514, Ecn::NotCapable, number));
            });
            delivered += drain(&mut link).len();
            let mut later = now + Duration::from_us(500);
            link.advance(later);
            while !link.leave(later) {
                later += Duration::from_us(1);
                link.advance(later);
            }
            delivered += drain(&mut link).len();
        }
        assert_eq!(delivered, 20, "{protection}");
        let report = link.report(Instant::ZERO + Duration::from_ms(3));
        assert_eq!((report.recovered, report.given_up), (2, 0), "{protection}");
    }
}

#[test]
fn the_number_of_copies_is_advised_unless_it_is_chosen() {
    for (chosen, copies) in [(None, 4), (Some(2), 2)] {
        let options = LinkGuardian { copies: chosen, ..LinkGuardian::ORDERED };
        let mut link = waiting(Protection::LinkGuardian(options), &[]);
        link.protect(Instant::ZERO, Advice { copies: 4, control_copies: 1 });
        assert_eq!(link.report(Instant::ZERO).count("copies"), Some(copies));
    }
}

// LG-46, LG-47
#[test]
fn the_number_of_control_copies_is_advised_unless_it_is_chosen() {
    for (chosen, copies) in [(None, 4), (Some(2), 2)] {
        let options = LinkGuardian { control_copies: chosen, ..LinkGuardian::ORDERED };
        let mut link = waiting(Protection::LinkGuardian(options), &[]);
        link.protect(Instant::ZERO, Advice { copies: 1, control_copies: 4 });
        assert_eq!(link.report(Instant::ZERO).count("control_copies"), Some(copies));
    }
}
