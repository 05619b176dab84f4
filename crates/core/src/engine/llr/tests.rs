//! Dialogues of a sender with explicit times.

use super::*;
use crate::time::{Duration, Instant};
use crate::units::Bytes;
use alloc::vec::Vec;

const TIMER: Duration = Duration::from_us(5);
pub(super) const SPACING: Duration = Duration::from_ns(164);
pub(super) const FRAME: Option<Bytes> = Some(Bytes(1518));

pub(super) fn us(us: u64) -> Instant {
    Instant::ZERO + Duration::from_us(us)
}

pub(super) fn number(bits: u32) -> Number {
    Number::new(bits)
}

/// Returns parameters with a window of eight frames, and the defaults: three replays, then INIT.
pub(super) fn config() -> SenderConfig {
    SenderConfig {
        outstanding_frames_max: 8,
        outstanding_bytes_max: Bytes(100_000),
        replay_timer: TIMER,
        replay_count_max: SenderConfig::SAMPLE_REPLAY_COUNT,
        pcs_lost_timeout: None,
        data_age_timeout: None,
        init_action: FrameAction::BestEffort,
        flush_action: FrameAction::BestEffort,
        re_init_on_flush: true,
    }
}

/// Returns a sender after `frames` new frames, one each microsecond.
fn sender_after(frames: u64, config: SenderConfig) -> Sender {
    let mut sender = Sender::established(config, Init::default());
    for frame in 0..frames {
        assert_eq!(sender.poll_transmit(us(frame), FRAME), Some(Transmit::Numbered(number(frame as u32))));
    }
    sender
}

/// Returns the numbers of the frames that the sender replays at `now`, until it would take a new
/// frame.
fn replayed(sender: &mut Sender, now: Instant) -> Vec<u32> {
    let next = |sender: &mut Sender| match sender.poll_transmit(now, None) {
        Some(Transmit::Replay(number)) => Some(number.bits()),
        other => {
            assert_eq!(other, None);
            None
        }
    };
    core::iter::from_fn(|| next(sender)).collect()
}

pub(super) fn control(sender: &mut Sender, now: Instant) -> Option<Control> {
    Outlet::new(SPACING).poll_control(now, Some(sender), None)
}

// LLR-3, LLR-9, LLR-12
#[test]
fn frames_are_numbered_in_turn_and_freed_by_an_acknowledgement() {
    let mut sender = sender_after(4, config());
    assert_eq!(sender.poll_timeout(), us(0) + TIMER);
    sender.handle_control(us(4), Control::Ack(number(2)));
    assert_eq!((sender.poll_release(), sender.poll_release(), sender.oldest()), (3, 0, number(3)));
    assert_eq!(sender.poll_timeout(), us(4) + TIMER);
    sender.handle_control(us(5), Control::Ack(number(3)));
    assert_eq!((sender.outstanding_bytes(), sender.poll_timeout()), (Bytes::ZERO, Instant::NEVER));
}

// LLR-2, LLR-4
#[test]
fn a_full_window_lets_new_frames_wait() {
    let mut sender = sender_after(8, config());
    assert!(!sender.wants_transmit(FRAME));
    assert_eq!(sender.poll_transmit(us(8), FRAME), None);
    sender.handle_control(us(9), Control::Ack(number(0)));
    assert!(sender.wants_transmit(FRAME) && !sender.wants_transmit(None));
    assert_eq!(sender.poll_transmit(us(9), FRAME), Some(Transmit::Numbered(number(8))));
}

// LLR-10, LLR-11, LLR-19
#[test]
fn a_nack_replays_all_that_follows_before_new_frames() {
    let mut sender = sender_after(5, config());
    sender.handle_control(us(5), Control::Nack(number(1)));
    assert_eq!((sender.state(), sender.poll_release()), (SenderState::Replay, 2));
    assert_eq!(sender.poll_transmit(us(5), FRAME), Some(Transmit::Replay(number(2))));
    assert_eq!(replayed(&mut sender, us(6)), [3, 4]);
    assert_eq!(sender.poll_transmit(us(7), FRAME), Some(Transmit::Numbered(number(5))));
    let counters = sender.counters();
    assert_eq!((counters.tx_replay, counters.replayed_frames, counters.tx_ok), (1, 3, 6));
}

// LLR-11
#[test]
fn an_acknowledgement_shortens_the_replay() {
    let mut sender = sender_after(6, config());
    sender.handle_control(us(6), Control::Nack(number(0)));
    assert_eq!(sender.poll_transmit(us(6), None), Some(Transmit::Replay(number(1))));
    sender.handle_control(us(7), Control::Ack(number(3)));
    assert_eq!(replayed(&mut sender, us(7)), [4, 5]);
    sender.handle_control(us(8), Control::Nack(number(4)));
    sender.handle_control(us(8), Control::Ack(number(5)));
    assert_eq!((sender.state(), replayed(&mut sender, us(8))), (SenderState::Advance, Vec::new()));
}

// LLR-12
#[test]
fn silence_replays_when_the_timer_ends() {
    let mut sender = sender_after(2, config());
    sender.handle_timeout(us(0) + TIMER - Duration::from_ps(1));
    assert_eq!(sender.state(), SenderState::Advance);
    sender.handle_timeout(us(5));
    assert_eq!(replayed(&mut sender, us(5)), [0, 1]);
    assert_eq!((sender.poll_timeout(), sender.counters().timer_replays), (us(10), 1));
}

// LLR-13, LLR-16
#[test]
fn replays_without_progress_end_in_a_flush() {
    let mut sender = sender_after(2, config());
    for round in 1..=3 {
        sender.handle_timeout(us(5 * round));
        assert_eq!(replayed(&mut sender, us(5 * round)), [0, 1]);
    }
    sender.handle_timeout(us(20));
    assert_eq!((sender.state(), sender.poll_release()), (SenderState::Init, 2));
    let counters = *sender.counters();
    assert_eq!((counters.given_up, counters.flushes, counters.tx_replay), (2, 1, 3));
    let init = Init { number: number(2), data: 1 };
    assert_eq!(control(&mut sender, us(20)), Some(Control::Init(init)));
    sender.handle_control(us(22), Control::InitEcho(init));
    assert_eq!(sender.poll_transmit(us(22), FRAME), Some(Transmit::Numbered(number(2))));
}

// LLR-13
#[test]
fn progress_resets_the_count() {
    let mut sender = sender_after(4, config());
    for round in 0..4 {
        (0..3).for_each(|_| sender.handle_timeout(sender.poll_timeout()));
        sender.handle_control(us(20 * (round + 1)), Control::Ack(number(round as u32)));
    }
    assert_eq!((sender.counters().flushes, sender.counters().tx_replay), (0, 12));
}

// LLR-13
#[test]
fn a_nack_with_progress_is_the_first_replay_of_its_count() {
    let mut sender = sender_after(4, config());
    (0..3).for_each(|_| sender.handle_timeout(sender.poll_timeout()));
    sender.handle_control(us(20), Control::Nack(number(0)));
    (0..2).for_each(|_| sender.handle_timeout(sender.poll_timeout()));
    assert_eq!((sender.state(), sender.counters().flushes), (SenderState::Replay, 0));
    sender.handle_control(us(40), Control::Nack(number(0)));
    assert_eq!((sender.state(), sender.counters().flushes), (SenderState::Init, 1));
}

// LLR-13
#[test]
fn an_unlimited_count_never_flushes() {
    let unlimited = SenderConfig { replay_count_max: SenderConfig::UNLIMITED_REPLAYS, ..config() };
    let mut sender = sender_after(1, unlimited);
    (0..1000).for_each(|_| sender.handle_timeout(sender.poll_timeout()));
    assert_eq!((sender.counters().flushes, sender.counters().tx_replay), (0, 1000));
}

// LLR-14
#[test]
fn old_data_and_a_line_that_stays_down_flush() {
    let aging = SenderConfig { data_age_timeout: Some(Duration::from_us(7)), ..config() };
    let mut sender = sender_after(2, aging);
    sender.handle_timeout(us(5));
    sender.handle_control(us(6), Control::Ack(number(0)));
    assert_eq!(sender.poll_timeout(), us(8));
    sender.handle_timeout(us(8));
    assert_eq!((sender.counters().flushes, sender.counters().given_up), (1, 1));

    let losing = SenderConfig { pcs_lost_timeout: Some(Duration::from_us(2)), ..config() };
    let mut sender = sender_after(1, losing);
    sender.handle_line(us(1), false);
    sender.handle_line(us(2), true);
    assert_eq!(sender.poll_timeout(), us(5));
    sender.handle_line(us(2), false);
    sender.handle_line(us(3), false);
    assert_eq!(sender.poll_timeout(), us(4));
    sender.handle_timeout(us(4));
    assert_eq!(sender.counters().flushes, 1);
}

// LLR-15
#[test]
fn init_is_repeated_until_its_own_echo_comes() {
    let mut sender = Sender::new(config());
    let init = Init { number: number(77), data: 9 };
    sender.start(us(0), init);
    assert_eq!(control(&mut sender, us(1)), Some(Control::Init(init)));
    assert_eq!((control(&mut sender, us(2)), sender.poll_timeout()), (None, us(6)));
    sender.handle_timeout(us(6));
    assert_eq!(control(&mut sender, us(6)), Some(Control::Init(init)));
    for wrong in [Init { data: 8, ..init }, Init { number: number(76), ..init }] {
        sender.handle_control(us(7), Control::InitEcho(wrong));
        assert_eq!(sender.state(), SenderState::Init);
    }
    sender.handle_control(us(8), Control::InitEcho(init));
    assert_eq!((sender.state(), sender.next()), (SenderState::Advance, number(77)));
    assert!(sender.poll_timeout().is_never());
}

/// Returns how long the sender waits after the last of `tries` INITs, or replays, in a row without an
/// answer.
fn wait_after(sender: &mut Sender, tries: u32) -> Duration {
    let mut now = Instant::ZERO;
    for attempt in 0..tries {
        if attempt > 0 {
            now = sender.poll_timeout();
            sender.handle_timeout(now);
        }
        if sender.state() == SenderState::Init {
            assert!(control(sender, now).is_some());
        } else {
            replayed(sender, now);
        }
    }
    sender.poll_timeout() - now
}

// LLR-12, LLR-15: the timer up to the 4096th try, twice as long after the next, and 100 ms in the end.
#[test]
fn a_sender_that_hears_nothing_for_long_tries_less_and_less_often() {
    let unlimited = || SenderConfig { replay_count_max: SenderConfig::UNLIMITED_REPLAYS, ..config() };
    let starting = || {
        let mut sender = Sender::new(config());
        sender.start(us(0), Init { number: number(0), data: 1 });
        sender
    };
    // The first transmission of a frame is no replay.
    for (sender, more) in [(&starting as &dyn Fn() -> Sender, 0), (&|| sender_after(1, unlimited()), 1)] {
        for (tries, wait) in [(1, TIMER), (4096, TIMER), (4097, TIMER * 2), (4099, TIMER * 8)] {
            assert_eq!(wait_after(&mut sender(), tries + more), wait, "{tries} tries");
        }
        assert_eq!(wait_after(&mut sender(), 4096 + 40), Duration::from_ms(100));
    }
    let mut sender = sender_after(2, unlimited());
    wait_after(&mut sender, 4099);
    let now = sender.poll_timeout();
    sender.handle_timeout(now);
    sender.handle_control(now, Control::Ack(number(0)));
    assert_eq!(sender.poll_timeout() - now, TIMER, "it has been heard of");
}

// LLR-17
#[test]
fn the_actions_for_new_frames_while_nothing_is_numbered() {
    let actions = [
        (FrameAction::Discard, Some(Transmit::Discard)),
        (FrameAction::Block, None),
        (FrameAction::BestEffort, Some(Transmit::Unnumbered)),
    ];
    for (action, expected) in actions {
        let config = SenderConfig {
            init_action: action,
            flush_action: action,
            re_init_on_flush: false,
            replay_count_max: 1,
            ..config()
        };
        let mut sender = sender_after(1, config);
        sender.handle_timeout(us(5));
        sender.handle_timeout(us(10));
        assert_eq!(sender.state(), SenderState::Flush);
        assert_eq!(sender.wants_transmit(FRAME), expected.is_some());
        assert_eq!(sender.poll_transmit(us(10), FRAME), expected);
        sender.start(us(11), sender.next_init());
        assert_eq!(sender.poll_transmit(us(11), FRAME), expected);
        assert_eq!(sender.poll_transmit(us(11), None), None);
    }
}

// LLR-18
#[test]
fn leaving_waits_for_what_is_outstanding() {
    let mut sender = sender_after(2, config());
    assert!(!sender.leave(us(2)));
    assert_eq!(sender.poll_transmit(us(2), FRAME), None);
    sender.handle_control(us(3), Control::Nack(number(0)));
    assert_eq!(replayed(&mut sender, us(3)), [1]);
    sender.handle_control(us(4), Control::Ack(number(1)));
    assert_eq!((sender.state(), sender.leave(us(4))), (SenderState::Off, true));
    assert_eq!(sender.poll_transmit(us(4), FRAME), Some(Transmit::Unnumbered));
    assert_eq!(sender.poll_release(), 2);
}

// LLR-18
#[test]
fn a_flush_ends_the_wait_of_one_that_leaves() {
    let mut sender = sender_after(1, SenderConfig { replay_count_max: 1, ..config() });
    assert!(!sender.leave(us(1)));
    sender.handle_timeout(us(5));
    sender.handle_timeout(us(10));
    assert_eq!((sender.state(), control(&mut sender, us(10))), (SenderState::Off, None));
}

// LLR-9
#[test]
fn numbers_that_were_not_sent_are_counted_and_ignored() {
    let mut sender = sender_after(3, config());
    sender.handle_control(us(3), Control::Ack(number(0)));
    for stray in [Control::Ack(number(3)), Control::Nack(number(7)), Control::Ack(Number::ZERO.previous())] {
        sender.handle_control(us(3), stray);
    }
    assert_eq!((sender.counters().rx_ack_nack_seq_error, sender.outstanding_frames()), (3, 2));
    assert_eq!(sender.state(), SenderState::Advance);
}

// LLR-5
#[test]
fn a_poisoned_frame_is_sent_as_any_other_and_counted() {
    let mut sender = sender_after(1, config());
    sender.note_poisoned();
    assert_eq!((sender.counters().tx_poisoned, sender.outstanding_frames()), (1, 1));
}
