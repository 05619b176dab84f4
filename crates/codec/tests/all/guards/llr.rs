//! Guards whose line is link-level retry: dialogues.

use super::pair::{NONE, Pair, at, frame, ratio};
use super::swarm::ids;
use super::{LONGEST, RATE, SPACING, lines, llr, stubborn};
use lossylink_core::engine::llr::FrameAction;
use lossylink_core::guard::{Guard, LineProtocol, LlrLine, Peer, Side};
use lossylink_core::loss::LossModel;
use lossylink_core::protection::{Llr, Protection};
use lossylink_core::rng::{RngCore, Streams};
use lossylink_core::time::Duration;

const LLR_ETHERTYPE: [u8; 2] = [0x88, 0xb6];

/// Returns a pair that protects both directions by `protection`, has found each other, has measured the loop,
/// and numbers frames.
fn settled(protection: Protection) -> Pair {
    let mut pair = Pair::agreed(1, lines, [protection.clone(), protection], [NONE, NONE]);
    pair.run_for(Duration::from_ms(60));
    for end in [0, 1] {
        assert_eq!((pair.count(end, "llr", "tx_state"), pair.count(end, "llr", "rx_state")), (2, 1));
    }
    pair
}

/// Sends these frames from the near end at equal intervals.
fn stream(pair: &mut Pair, ids: core::ops::Range<u32>, length: usize) {
    for id in ids {
        pair.send(0, &frame(id, length));
        pair.run_for(SPACING);
    }
}

/// Returns a settled pair after ten frames, of which `loss` loses some. A lone frame would behave as a tail
/// does.
fn ten_frames(loss: [LossModel; 2]) -> Pair {
    let mut pair = settled(llr());
    pair.set_loss(loss);
    stream(&mut pair, 0..10, 1514);
    pair
}

fn llr_count(pair: &Pair, end: usize, name: &str) -> u64 {
    pair.count(end, "llr", name)
}

// LLR-3, LLR-15, LLR-22, LLR-26
#[test]
fn on_a_clean_link_everything_is_numbered_and_arrives_as_it_was() {
    let mut pair = settled(llr());
    stream(&mut pair, 0..500, 1514);
    stream(&mut pair, 500..600, 60);
    pair.run_for(Duration::from_ms(10));
    let sent: Vec<_> = (0..600).map(|id| frame(id, if id < 500 { 1514 } else { 60 })).collect();
    assert_eq!(pair.delivered[1], sent);
    assert_eq!((llr_count(&pair, 0, "tx_ok"), llr_count(&pair, 0, "tx_unnumbered")), (600, 0));
    assert_eq!((llr_count(&pair, 0, "tx_init"), llr_count(&pair, 0, "tx_replay")), (1, 0));
    assert_eq!(llr_count(&pair, 0, "outstanding_frames"), 0);
    assert_eq!(pair.guards.each_ref().map(Guard::frames_held), [0, 0]);
}

// LLR-22: a numbered frame is ten bytes longer, and no control set is longer than the shortest frame.
#[test]
fn the_shim_takes_six_bytes_beside_the_seal() {
    let mut pair = settled(llr());
    assert_eq!(LlrLine::new(RATE, LONGEST).headroom(), 6);
    let sent = frame(0, 1514);
    pair.guards[0].handle_frame(pair.now, Side::Lan, &sent);
    let seen = pair.guards[0].poll_transmit(pair.now, Side::Link).unwrap();
    assert_eq!((seen.len(), &seen[12..14]), (1524, &LLR_ETHERTYPE[..]));
    assert_eq!((seen[14], &seen[18..20]), (0, &sent[12..14]));
}

// LLR-10, LLR-11, LLR-23
#[test]
fn a_loss_in_the_middle_is_replayed_from_there() {
    let mut pair = ten_frames([at(&[2]), NONE]);
    // The next frame reveals the loss after 13 us; the NACK and the replay take 100 us each.
    pair.run_for(Duration::from_us(400));
    assert_eq!(ids(&pair.delivered[1]), Vec::from_iter(0..10));
    assert_eq!((llr_count(&pair, 0, "tx_replay"), llr_count(&pair, 0, "tx_timer_replays")), (1, 0));
    assert_eq!((llr_count(&pair, 1, "tx_nack"), llr_count(&pair, 1, "rx_replay")), (1, 1));
    assert!(llr_count(&pair, 1, "rx_missing_seq") >= 7);
}

// LLR-12, LLR-25: the timer is four loops of 200 us, of the control interval and of two frames, and 1 ms.
#[test]
fn a_lost_tail_costs_the_replay_timer() {
    let mut pair = settled(llr());
    let timer = Duration::from_ns(llr_count(&pair, 0, "replay_timer_ns"));
    assert!(timer > Duration::from_us(2_090) && timer < Duration::from_us(2_300), "{timer}");
    pair.set_loss([at(&[0]), NONE]);
    pair.send(0, &frame(7, 1514));
    pair.run_for(timer);
    assert!(pair.delivered[1].is_empty());
    pair.run_for(Duration::from_us(120));
    assert_eq!(ids(&pair.delivered[1]), [7]);
    assert_eq!(llr_count(&pair, 0, "tx_timer_replays"), 1);
}

// LLR-10, LLR-12: the first control sets of the far end are ACKs of frames 0 and 1, then comes the NACK.
#[test]
fn a_lost_nack_costs_the_replay_timer() {
    let mut pair = ten_frames([at(&[1]), ratio(1.0)]);
    pair.run_for(Duration::from_us(300));
    assert_eq!(llr_count(&pair, 1, "tx_nack"), 1);
    pair.set_loss([NONE, NONE]);
    pair.run_for(Duration::from_ms(1));
    assert_eq!(ids(&pair.delivered[1]), [0]);
    pair.run_for(Duration::from_ms(2));
    assert_eq!(ids(&pair.delivered[1]), Vec::from_iter(0..10));
    assert_eq!((llr_count(&pair, 0, "rx_nack"), llr_count(&pair, 0, "tx_timer_replays")), (0, 1));
}

// LLR-7, LLR-24
#[test]
fn acknowledgements_are_paced() {
    let mut pair = settled(llr());
    let before = llr_count(&pair, 1, "tx_ack");
    stream(&mut pair, 0..1000, 1514);
    pair.run_for(Duration::from_ms(1));
    // 13 ms have one ACK each 50 us, and one for the last frame.
    let acks = llr_count(&pair, 1, "tx_ack") - before;
    assert!((250..=262).contains(&acks), "{acks} ACKs");
}

// LLR-4, LLR-25: the window that follows from the loop is enough to keep the line busy, and no more is kept.
#[test]
fn the_window_fills_the_loop() {
    let mut pair = settled(llr());
    for number in 0..4000 {
        pair.send(0, &frame(number, 1514));
        pair.send(0, &frame(4000 + number, 1514));
        pair.run_for(Duration::from_us(13));
    }
    let arrived = pair.delivered[1].len();
    // 52 ms of line carry 4200 frames of 1548 B on the wire.
    assert!(arrived > 4130, "{arrived} frames arrived");
    let most = llr_count(&pair, 0, "outstanding_max_bytes");
    assert!(most <= llr_count(&pair, 0, "window_bytes"), "{most} B were outstanding");
}

// LLR-4, LLR-25: a window of two frames holds the line back, and loses no frame.
#[test]
fn a_small_window_is_slow_and_loses_nothing() {
    let small = Protection::Llr(Llr { frames: Some(2), bytes: Some(100), ..Llr::default() });
    let mut pair = settled(small);
    stream(&mut pair, 0..100, 1514);
    assert!(pair.delivered[1].len() < 20, "one frame a loop");
    pair.run_for(Duration::from_ms(100));
    assert_eq!(ids(&pair.delivered[1]), Vec::from_iter(0..100));
    assert!(llr_count(&pair, 0, "outstanding_max_bytes") <= 1514);
}

// LLR-25
#[test]
fn a_timer_that_is_too_short_is_raised() {
    let mut pair = settled(Protection::Llr(Llr { timer_ns: Some(5_000), ..Llr::default() }));
    let timer = Duration::from_ns(llr_count(&pair, 0, "replay_timer_ns"));
    assert!(timer >= Duration::from_us(1_400) && timer < Duration::from_us(1_450), "{timer}");
    stream(&mut pair, 0..1000, 1514);
    assert_eq!(llr_count(&pair, 0, "tx_replay"), 0);
}

// LLR-13, LLR-16, LLR-26: outstanding frames are given up, and numbering starts over in the same session.
#[test]
fn an_outage_flushes_and_a_new_init_follows() {
    let mut pair = settled(llr());
    pair.cut(true);
    stream(&mut pair, 0..10, 1514);
    pair.run_for(Duration::from_ms(20));
    assert_eq!((llr_count(&pair, 0, "tx_flushes"), llr_count(&pair, 0, "tx_given_up")), (1, 10));
    pair.cut(false);
    pair.run_for(Duration::from_ms(10));
    stream(&mut pair, 10..20, 1514);
    pair.run_for(Duration::from_ms(10));
    assert_eq!(ids(&pair.delivered[1]), Vec::from_iter(10..20));
    assert_eq!(llr_count(&pair, 0, "tx_ok"), 20);
    assert_eq!(pair.guards[0].counters().sessions, 1);
}

// LLR-13, LLR-17: with unlimited replays an outage that ends before the guards give each other up loses no
// frame.
#[test]
fn a_stubborn_sender_brings_everything_through_an_outage() {
    let mut pair = settled(stubborn());
    pair.cut(true);
    stream(&mut pair, 0..50, 1514);
    pair.run_for(Duration::from_ms(200));
    pair.cut(false);
    pair.run_for(Duration::from_ms(10));
    assert_eq!(ids(&pair.delivered[1]), Vec::from_iter(0..50));
    assert_eq!(pair.guards[0].session().unwrap().peer, Peer::Agreed);
}

// LLR-16, LLR-17: after a flush the echo of INIT is lost for a while; the line itself works.
#[test]
fn the_actions_until_init_is_echoed() {
    let actions = [
        (FrameAction::BestEffort, [vec![0, 1, 2], vec![0, 1, 2]]),
        (FrameAction::Block, [vec![], vec![0, 1, 2]]),
        (FrameAction::Discard, [vec![], vec![]]),
    ];
    for (init, [at_once, healed]) in actions {
        let mut pair = settled(Protection::Llr(Llr { init, ..Llr::default() }));
        pair.cut(true);
        stream(&mut pair, 90..91, 1514);
        pair.run_for(Duration::from_ms(12));
        assert_eq!((llr_count(&pair, 0, "tx_given_up"), llr_count(&pair, 0, "tx_state")), (1, 1));
        pair.cut(false);
        pair.set_loss([NONE, ratio(1.0)]);
        stream(&mut pair, 0..3, 1514);
        pair.run_for(Duration::from_ms(5));
        assert_eq!(ids(&pair.delivered[1]), at_once, "{init:?}");
        pair.set_loss([NONE, NONE]);
        pair.run_for(Duration::from_ms(5));
        assert_eq!(ids(&pair.delivered[1]), healed, "{init:?}");
        assert_eq!(llr_count(&pair, 0, "tx_state"), 2);
    }
}

// LLR-17: waiting frames are dropped all at once, not one frame an event.
#[test]
fn the_queue_is_discarded_whole() {
    let mut pair = settled(Protection::Llr(Llr { init: FrameAction::Discard, ..Llr::default() }));
    pair.cut(true);
    stream(&mut pair, 90..91, 1514);
    pair.run_for(Duration::from_ms(12));
    assert_eq!(llr_count(&pair, 0, "tx_state"), 1);
    let (guard, now) = (&mut pair.guards[0], pair.now);
    (0..10).for_each(|id| guard.handle_frame(now, Side::Lan, &frame(id, 1514)));
    while let Some(frame) = guard.poll_transmit(now, Side::Link) {
        guard.recycle(frame);
    }
    assert_eq!(llr_count(&pair, 0, "tx_discard"), 10);
}

// LLR-4, LLR-26: one end changes its protection, and the session goes on.
#[test]
fn new_options_of_one_end_leave_room_for_the_longest_frame() {
    let mut pair = settled(llr());
    pair.protect(0, Protection::Llr(Llr { bytes: Some(3000), ..Llr::default() }));
    (0..50).for_each(|id| pair.send(0, &frame(id, 1514)));
    pair.run_for(Duration::from_ms(100));
    assert_eq!(ids(&pair.delivered[1]), Vec::from_iter(0..50));
    assert!(llr_count(&pair, 0, "outstanding_max_bytes") <= 3000);
}

// G-3 for the control sets of LLR-22: hosts cannot speak for the line, and garbage changes nothing.
#[test]
fn garbage_changes_nothing() {
    let mut pair = settled(llr());
    pair.set_loss([ratio(1e-2), NONE]);
    let mut rng = Streams::new(4).stream("garbage");
    for id in 0..5000 {
        let mut bytes = frame(0, 60 + (rng.next_u32() % 200) as usize);
        bytes[12..14].copy_from_slice(&LLR_ETHERTYPE);
        pair.send(0, &bytes);
        rng.fill_bytes(&mut bytes[14..]);
        bytes[14] &= 0x87;
        pair.inject(1, &bytes);
        pair.inject(0, &bytes);
        pair.send(0, &frame(id, 500));
        pair.run_for(SPACING);
    }
    pair.run_for(Duration::from_ms(50));
    assert_eq!(ids(&pair.delivered[1]), Vec::from_iter(0..5000));
    assert_eq!((pair.guards[1].counters().foreign, pair.guards[0].counters().reserved), (5000, 5000));
    assert!(pair.delivered[0].is_empty());
}

// LLR-26: the receiving end begins a session amid losses; no frame of the session before comes twice or late.
#[test]
fn frames_of_the_session_before_keep_their_order() {
    for seed in 0..40 {
        let mut pair = Pair::agreed(seed, lines, [llr(), llr()], [ratio(0.2), ratio(0.2)]);
        for id in 0..2000 {
            if id % 40 == 17 {
                pair.protect((id / 40) as usize % 2, llr());
            }
            pair.send(0, &frame(id, 700));
            pair.run_for(SPACING);
        }
        pair.run_for(Duration::from_ms(100));
        let seen = ids(&pair.delivered[1]);
        assert!(seen.windows(2).all(|pair| pair[0] < pair[1]), "seed {seed}: reordered or twice");
        assert!(seen.len() > 1000, "seed {seed}: {} arrived", seen.len());
    }
}

// LLR-1, LLR-2: more frames than there are numbers, with losses on the way.
#[test]
fn the_numbers_wrap_under_load() {
    const FRAMES: u32 = 1_100_000;
    let mut pair = settled(llr());
    pair.set_loss([ratio(1e-4), ratio(1e-4)]);
    for id in 0..FRAMES {
        pair.send(0, &frame(id, 60));
        pair.run_for(Duration::from_us(1));
    }
    pair.run_for(Duration::from_ms(100));
    let seen = ids(&pair.delivered[1]);
    assert!(seen.windows(2).all(|pair| pair[0] < pair[1]), "reordered or twice");
    let dropped = pair.guards[0].queue().dropped + llr_count(&pair, 0, "tx_given_up");
    assert_eq!(seen.len() as u64 + dropped, u64::from(FRAMES));
    assert!(llr_count(&pair, 0, "tx_ok") > 1 << 20, "the numbers did not wrap");
}
