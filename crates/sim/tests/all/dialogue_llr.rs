//! Dialogues of the two ends of a link with link-level retry, with explicit times: every row of the
//! table in `docs/protocols/llr.md`.
//!
//! At 100G a full frame takes 123.04 ns and a control set 0.64. In the `ideal` profile every flight
//! takes 100 ns and decisions take nothing, so a frame sent at `t` is delivered at `t` + 223.04, and
//! the sender knows of a loss that the frame reveals 100.64 after that. The replay timer here is 5000
//! ns.

use crate::profiles;
use lossylink_core::engine::llr::{FrameAction, Init, ReceiverState, SenderConfig, SenderState};
use lossylink_core::loss::{LossModel, LossProcess};
use lossylink_core::rng::Streams;
use lossylink_core::time::{Duration, Instant};
use lossylink_core::units::{BitRate, Bytes};
use lossylink_sim::net::llr::LlrOptions;
use lossylink_sim::net::{Ecn, Frame, LineRate, LlrLink, ProtectedLink};
use profiles::profile;

/// Returns a time in nanoseconds, exact to the picosecond.
fn ns(ns: f64) -> Instant {
    Instant::from_ps((ns * 1000.0).round() as u64)
}

fn rate() -> LineRate {
    LineRate::new(BitRate::from_gbps(100))
}

/// Returns the default options with a timer of 5000 ns.
fn options() -> LlrOptions {
    let sized = LlrOptions::sized(&profile("ideal"), rate(), Duration::ZERO, 1538);
    let sender = SenderConfig { replay_timer: Duration::from_us(5), ..sized.sender };
    LlrOptions { sender, ..sized }
}

fn with_sender(change: impl FnOnce(&mut SenderConfig)) -> LlrOptions {
    let mut options = options();
    change(&mut options.sender);
    options
}

/// Two switches, the link between them, and a clock.
struct Pair {
    link: LlrLink<u64>,
    offered: u64,
    delivered: Vec<(u64, Instant)>,
}

impl Pair {
    /// Returns a protected link. The given frames and control sets are lost on the forward and on the
    /// reverse line, counted from zero in the order in which they are sent.
    fn new(options: LlrOptions, forward: &[u64], reverse: &[u64]) -> Self {
        let losses = (losses(forward), losses(reverse));
        let init = Init::default();
        let link = LlrLink::new(&profile("ideal"), rate(), Duration::ZERO, &options, losses, init);
        Self { link, offered: 0, delivered: Vec::new() }
    }

    /// Returns a link like that of [`new`](Self::new) whose ends are off.
    fn unprotected(options: LlrOptions, forward: &[u64], reverse: &[u64]) -> Self {
        let losses = (losses(forward), losses(reverse));
        let link = LlrLink::unprotected(&profile("ideal"), rate(), Duration::ZERO, &options, losses);
        Self { link, offered: 0, delivered: Vec::new() }
    }

    /// Offers the next frame at `at_ns`.
    fn offer(&mut self, at_ns: f64) {
        self.run_until(at_ns);
        self.link.offer(ns(at_ns), Frame::of_frame_bytes(1514, Ecn::NotCapable, self.offered));
        self.offered += 1;
    }

    /// Offers `count` frames, one each microsecond from `first_ns` on.
    fn offer_each(&mut self, count: u64, first_ns: f64) {
        (0..count).for_each(|step| self.offer(first_ns + step as f64 * 1000.0));
    }

    /// Lets every event happen up to and including `end_ns`.
    fn run_until(&mut self, end_ns: f64) {
        self.advance(ns(end_ns));
    }

    fn advance(&mut self, end: Instant) {
        self.link.advance(end);
        self.link.delivered().drain_due(end, |at, frame| self.delivered.push((frame.payload, at)));
    }

    /// Lets every event happen. Returns when each frame from `first` on was delivered, in order.
    fn finish(&mut self, first: u64) -> Vec<(u64, Instant)> {
        self.advance(Instant::NEVER);
        assert_eq!((self.link.kept(), self.link.backlog()), (0, 0));
        self.delivered.iter().copied().filter(|&(number, _)| number >= first).collect()
    }
}

fn losses(lost: &[u64]) -> LossProcess {
    let model = if lost.is_empty() { Ok(LossModel::None) } else { LossModel::at(lost.to_vec()) };
    LossProcess::new(&model.expect("positions differ"), Streams::new(1).stream("unused"))
}

/// Returns the expected deliveries, whose times are given in nanoseconds.
fn at_ns(deliveries: &[(u64, f64)]) -> Vec<(u64, Instant)> {
    deliveries.iter().map(|&(number, at)| (number, ns(at))).collect()
}

/// Frame 18 arrives at 18223.04 and reveals the loss. The sender knows at 18323.68, and replays both.
// LLR-3, LLR-5, LLR-10, LLR-11
#[test]
fn a_gap_costs_two_flights_and_the_frames_that_followed() {
    let mut pair = Pair::new(options(), &[17], &[]);
    pair.offer_each(20, 0.0);
    let expected = [(16, 16_223.04), (17, 18_546.72), (18, 18_669.76), (19, 19_223.04)];
    assert_eq!(pair.finish(16), at_ns(&expected));
    let counters = pair.link.counters();
    assert_eq!((counters.receiver.tx_nack, counters.receiver.rx_missing_seq), (1, 1));
    assert_eq!((counters.sender.tx_replay, counters.sender.replayed_frames), (1, 2));
    assert_eq!(pair.link.traffic().header_octets, 0);
}

/// The broken frame itself reveals the loss, at 17223.04.
// LLR-10
#[test]
fn an_error_that_is_seen_costs_two_flights() {
    let mut pair = Pair::new(LlrOptions { errors_seen: true, ..options() }, &[17], &[]);
    pair.offer_each(19, 0.0);
    assert_eq!(pair.finish(16), at_ns(&[(16, 16_223.04), (17, 17_546.72), (18, 18_223.04)]));
    let counters = pair.link.counters().receiver;
    assert_eq!((counters.rx_expected_seq_bad, counters.rx_missing_seq), (1, 0));
}

// LLR-12
#[test]
fn a_lost_tail_costs_the_replay_timer() {
    let mut pair = Pair::new(options(), &[17], &[]);
    pair.offer_each(18, 0.0);
    assert_eq!(pair.finish(16), at_ns(&[(16, 16_223.04), (17, 22_223.04)]));
    assert_eq!(pair.link.counters().sender.timer_replays, 1);
}

/// Each frame was acknowledged, so the NACK is set 17 of the way back. Frames 17 to 21 are
/// outstanding when the timer of frame 17 ends; frame 22 waits for them.
// LLR-10, LLR-12
#[test]
fn a_lost_nack_costs_the_replay_timer() {
    let mut pair = Pair::new(options(), &[17], &[17]);
    pair.offer_each(23, 0.0);
    let replayed = (17..=22).map(|number| (number, 22_223.04 + (number - 17) as f64 * 123.04));
    assert_eq!(pair.finish(17), at_ns(&replayed.collect::<Vec<_>>()));
    let counters = pair.link.counters();
    assert_eq!((counters.receiver.tx_nack, counters.sender.rx_nack), (1, 0));
    assert_eq!((counters.sender.timer_replays, counters.sender.replayed_frames), (1, 5));
}

/// The replay of 17 is frame 19 on the line. Only one NACK is sent, so its loss costs the timer,
/// which the NACK had set anew at 18323.68.
// LLR-10, LLR-12
#[test]
fn a_lost_replay_costs_the_replay_timer() {
    let mut pair = Pair::new(options(), &[17, 19], &[]);
    pair.offer_each(19, 0.0);
    assert_eq!(pair.finish(17), at_ns(&[(17, 23_546.72), (18, 23_669.76)]));
    let counters = pair.link.counters();
    assert_eq!((counters.receiver.tx_nack, counters.sender.tx_replay), (1, 2));
}

/// The ACK of frame 3 is lost; the ACK of frame 4 covers frame 3.
// LLR-9
#[test]
fn a_later_acknowledgement_covers_a_lost_one() {
    let mut pair = Pair::new(options(), &[], &[3]);
    pair.offer_each(5, 0.0);
    pair.run_until(4_323.67);
    assert_eq!(pair.link.kept(), 2);
    pair.run_until(4_323.68);
    assert_eq!((pair.link.kept(), pair.link.poll_timeout()), (0, Instant::NEVER));
}

/// No frame follows: the timer replays the frame, which the receiver has. The receiver acknowledges it
/// again.
// LLR-9, LLR-12
#[test]
fn a_lost_last_acknowledgement_costs_a_replay_that_is_dropped() {
    let mut pair = Pair::new(options(), &[], &[4]);
    pair.offer_each(5, 0.0);
    pair.run_until(9_323.67);
    assert_eq!(pair.link.kept(), 1);
    pair.run_until(9_323.68);
    assert_eq!((pair.link.kept(), pair.link.poll_timeout()), (0, Instant::NEVER));
    assert_eq!(pair.delivered.len(), 5);
    assert_eq!(pair.link.counters().receiver.rx_duplicate_seq, 1);
}

/// INIT is the first control set on the line. It is sent again after the timer, at 6000, and is echoed
/// at 6201.28; until then frames leave without a number.
// LLR-15, LLR-17
#[test]
fn a_lost_init_is_repeated() {
    let mut pair = Pair::unprotected(options(), &[0], &[]);
    pair.run_until(1_000.0);
    pair.link.start_over(ns(1_000.0));
    pair.offer_each(5, 2_000.0);
    pair.run_until(6_201.27);
    assert_eq!(pair.link.states(), (SenderState::Init, ReceiverState::SendAcks));
    pair.run_until(6_201.28);
    assert_eq!(pair.link.states().0, SenderState::Advance);
    pair.offer_each(3, 7_000.0);
    assert_eq!(pair.finish(0).len(), 8);
    let counters = pair.link.counters();
    assert_eq!((counters.sender.tx_init, counters.sender.unnumbered), (2, 5));
    assert_eq!((counters.receiver.unnumbered, counters.receiver.rx_expected_seq_good), (5, 3));
}

// LLR-15
#[test]
fn a_lost_echo_is_asked_for_again() {
    let mut pair = Pair::unprotected(options(), &[], &[0]);
    pair.link.start_over(ns(0.0));
    pair.run_until(5_201.27);
    assert_eq!(pair.link.states().0, SenderState::Init);
    pair.run_until(5_201.28);
    assert_eq!(pair.link.states(), (SenderState::Advance, ReceiverState::SendAcks));
    let counters = pair.link.counters();
    assert_eq!((counters.receiver.rx_init, counters.receiver.tx_init_echo), (2, 2));
}

/// One replay is allowed. The lone frame is lost twice and given up at 10000. INIT and its echo take
/// 201.28, and frames that are offered meanwhile leave without a number.
// LLR-13, LLR-16, LLR-17
#[test]
fn too_many_replays_flush_and_start_over() {
    let mut pair = Pair::new(with_sender(|sender| sender.replay_count_max = 1), &[0, 1], &[]);
    pair.offer(0.0);
    pair.offer(10_100.0);
    pair.run_until(10_201.27);
    assert_eq!(pair.link.states().0, SenderState::Init);
    pair.run_until(10_201.28);
    assert_eq!(pair.link.states().0, SenderState::Advance);
    pair.offer(11_000.0);
    // The unnumbered frame waits for the eight octets of the INIT no more: they passed at 10000.64.
    assert_eq!(pair.finish(0), at_ns(&[(1, 10_323.04), (2, 11_223.04)]));
    let counters = pair.link.counters();
    assert_eq!((counters.sender.flushes, counters.sender.given_up, counters.sender.unnumbered), (1, 1, 1));
}

/// Frames that wait while nothing is numbered leave when the echo comes; dropped frames do not.
// LLR-17
#[test]
fn block_waits_and_discard_drops() {
    let mut pair = Pair::unprotected(with_sender(|sender| sender.init_action = FrameAction::Block), &[], &[]);
    pair.link.start_over(ns(0.0));
    pair.offer(50.0);
    pair.offer(60.0);
    assert_eq!(pair.finish(0), at_ns(&[(0, 201.28 + 223.04), (1, 201.28 + 346.08)]));
    let mut pair =
        Pair::unprotected(with_sender(|sender| sender.init_action = FrameAction::Discard), &[], &[]);
    pair.link.start_over(ns(0.0));
    pair.offer(50.0);
    pair.offer(300.0);
    assert_eq!(pair.finish(0), at_ns(&[(1, 523.04)]));
    assert_eq!(pair.link.counters().sender.tx_discard, 1);
}

/// The receiver forgets its state at 500, and drops numbered frames. The sender tries three times, at
/// 6000, 11000 and 16000, gives up at 21000, and starts over.
// LLR-13, LLR-16
#[test]
fn a_receiver_that_restarts_is_initialised_again() {
    let mut pair = Pair::new(options(), &[], &[]);
    pair.offer(0.0);
    pair.run_until(500.0);
    pair.link.restart_receiver(ns(500.0));
    pair.offer(1_000.0);
    pair.run_until(21_201.27);
    assert_eq!(pair.link.states(), (SenderState::Init, ReceiverState::SendAcks));
    pair.offer(21_201.28);
    assert_eq!(pair.finish(0), at_ns(&[(0, 223.04), (2, 21_424.32)]));
    assert_eq!(pair.link.counters().receiver.rx_discard, 4);
}

/// Frame 0 is acknowledged at 323.68. Frame 1, offered before, waits until then and goes unprotected.
// LLR-18
#[test]
fn leaving_waits_for_the_last_acknowledgement() {
    let mut pair = Pair::new(options(), &[], &[]);
    pair.offer(0.0);
    assert!(!pair.link.leave(ns(0.0)));
    pair.offer(200.0);
    assert!(!pair.link.leave(ns(200.0)));
    assert_eq!(pair.finish(0), at_ns(&[(0, 223.04), (1, 323.68 + 223.04)]));
    assert!(pair.link.leave(ns(1_000.0)));
    assert_eq!(pair.link.counters().sender.unnumbered, 1);
    // The protection is put on again, while frames go on.
    pair.link.start_over(ns(1_000.0));
    pair.offer(1_100.0);
    pair.offer(1_201.28);
    // The first was on the line until 1223.68: INIT had taken 0.64 of it.
    assert_eq!(pair.finish(2), at_ns(&[(2, 1_323.04), (3, 1_446.08)]));
    assert_eq!((pair.link.counters().sender.unnumbered, pair.link.counters().sender.tx_ok), (2, 2));
}

/// A window of two frames: the third waits for the first ACK, at 323.68. The ACK of the second waits
/// for the spacing of 163.84 after the first, which left at 223.04.
// LLR-2, LLR-4, LLR-7
#[test]
fn a_small_window_waits_for_acknowledgements() {
    let mut pair = Pair::new(with_sender(|sender| sender.outstanding_frames_max = 2), &[], &[]);
    (0..3).for_each(|_| pair.offer(0.0));
    pair.run_until(323.67);
    assert_eq!(
        (pair.link.kept(), pair.link.backlog(), pair.link.buffer_bytes(ns(323.67))),
        (2, 1, (3036, 0))
    );
    pair.run_until(487.51);
    assert_eq!(pair.link.kept(), 2);
    pair.run_until(487.52);
    assert_eq!(pair.link.kept(), 1);
    assert_eq!(pair.finish(2), at_ns(&[(2, 323.68 + 223.04)]));
    assert_eq!(pair.link.counters().high_water_bytes, 3036);
    let bytes = with_sender(|sender| sender.outstanding_bytes_max = Bytes(3035));
    let mut pair = Pair::new(bytes, &[], &[]);
    (0..2).for_each(|_| pair.offer(0.0));
    assert_eq!(pair.finish(1), at_ns(&[(1, 323.68 + 223.04)]));
}

/// A frame on the way back waits for the eight octets of the ACK in front of it, and the ACK waits for
/// no frame: the second one leaves inside the frame that went first.
// LLR-6, LLR-8
#[test]
fn control_sets_take_eight_octets_and_wait_for_no_frame() {
    let mut pair = Pair::new(options(), &[], &[]);
    pair.offer(0.0);
    pair.offer(123.04);
    pair.run_until(223.04);
    let back = |payload| Frame::of_frame_bytes(1514, Ecn::NotCapable, payload);
    pair.link.offer_back(ns(223.04), back(7));
    pair.run_until(386.88 + 100.64);
    assert_eq!(pair.link.kept(), 0);
    pair.link.offer_back(ns(487.52), back(8));
    let returned: Vec<_> = std::iter::from_fn(|| pair.link.returned().pop()).collect();
    let returned: Vec<_> = returned.iter().map(|(at, frame)| (frame.payload, *at)).collect();
    assert_eq!(returned, at_ns(&[(7, 223.68 + 223.04), (8, 487.52 + 223.04)]));
    let traffic = pair.link.reverse_traffic();
    assert_eq!((traffic.control_octets, traffic.data_frames, traffic.frames), (16, 2, 4));
}
