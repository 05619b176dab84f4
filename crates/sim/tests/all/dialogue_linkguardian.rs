//! Dialogues of the two ends of a protected link, with explicit times: a single loss, and every
//! failure of the table in `docs/protocols/linkguardian.md`.
//!
//! At 100G a frame takes 123.28 ns. In the `ideal` profile every flight takes 100 ns and decisions take nothing, so a frame
//! offered at `t` is delivered at `t` + 223.28, and the repair of a loss that the frame reveals comes 330 after that: 106.72
//! for the notification, 223.28 for the retransmission. The ordered side gives up at the 71st multiple of 100 ns after its
//! wait began.

use crate::dialogue;
use crate::profiles;
use dialogue::{NON_BLOCKING, ORDERED, Pair, at_ns, ns};
use lossylink_core::engine::linkguardian::SenderConfig;
use lossylink_core::time::Instant;
use lossylink_sim::config::SwitchProfile;
use lossylink_sim::net::ProtectedLink;
use lossylink_sim::net::linkguardian::Options;
use profiles::profile;

fn copies(copies: u8, options: Options) -> Options {
    Options { sender: SenderConfig { copies, ..options.sender }, ..options }
}

fn control_copies(control_copies: u8, options: Options) -> Options {
    Options { control_copies, ..options }
}

fn dummies(dummies: u8, options: Options) -> Options {
    Options { sender: SenderConfig { dummies, ..options.sender }, ..options }
}

// LG-6, LG-7, LG-11, LG-20
#[test]
fn one_loss_between_ideal_switches() {
    let mut pair = Pair::new("ideal", ORDERED, &[17], &[]);
    pair.offer_each(21, 0.0, 1000.0);
    let expected = [(16, 16_223.28), (17, 18_553.28), (18, 18_553.28), (19, 19_223.28), (20, 20_223.28)];
    assert_eq!(pair.finish(16), at_ns(&expected));
    assert_eq!(pair.counters().receiver.lost, 1);
}

// LG-27
#[test]
fn one_loss_without_order() {
    let mut pair = Pair::new("ideal", NON_BLOCKING, &[17], &[]);
    pair.offer_each(20, 0.0, 1000.0);
    let expected = [(16, 16_223.28), (18, 18_223.28), (17, 18_553.28), (19, 19_223.28)];
    assert_eq!(pair.finish(16), at_ns(&expected));
}

/// The recirculating switch: frame 18 arrives at 18000 + 123.28 + 659 and reveals the loss; 932 later
/// the sender knows. The copy of 17 was looked at first 660 after its dequeue, then each 123.28 + 740:
/// at 17660, 18523.28, 19386.56 and 20249.84, when it is sent again, 289 later, to arrive after
/// 123.28 + 459. Held frames come round each 123.28 + 650 after their arrival.
// LG-5, LG-6, LG-20
#[test]
fn one_loss_between_recirculating_switches() {
    let tofino = SwitchProfile { notification_port_ns: 560.0, ..profile("tofino1") };
    let mut pair = Pair::with_profile(&tofino, ORDERED, &[17], &[]);
    pair.offer_each(24, 0.0, 1000.0);
    let expected = [
        (16, 16_782.28),
        (17, 21_121.12),
        (18, 18_782.28 + 4.0 * 773.28),
        (19, 19_782.28 + 3.0 * 773.28),
        (20, 20_782.28 + 2.0 * 773.28),
        (21, 21_782.28 + 773.28),
        (22, 22_782.28),
        (23, 23_782.28),
    ];
    assert_eq!(pair.finish(16), at_ns(&expected));
    let delays = pair.link.retransmission_delay().histogram();
    assert_eq!(delays.max(), Some(2_338_840));
}

/// A second copy takes the multicast engine, 400 more; it is dropped.
// LG-7, LG-28
#[test]
fn several_copies_take_longer() {
    let tofino = SwitchProfile { notification_port_ns: 560.0, ..profile("tofino1") };
    let mut pair = Pair::with_profile(&tofino, copies(2, NON_BLOCKING), &[17], &[]);
    pair.offer_each(19, 0.0, 1000.0);
    assert_eq!(pair.finish(17), at_ns(&[(18, 18_782.28), (17, 21_521.12)]));
    assert_eq!(pair.counters().receiver.duplicates, 1);
}

/// Returns when each frame of the hosts is back at the near side.
fn back(pair: &mut Pair) -> Vec<(u64, Instant)> {
    std::iter::from_fn(|| pair.link.returned().pop()).map(|(at, frame)| (frame.payload, at)).collect()
}

/// Frame 18 reveals the loss at 18223.28, while a full frame is on the line back from 18200 to 18323.04 and a
/// second one waits. The notification leaves between them, until 18329.76.
// LG-29, LG-37
#[test]
fn a_notification_waits_for_the_frame_in_transmission_only() {
    let mut pair = Pair::new("ideal", NON_BLOCKING, &[17], &[]);
    pair.offer_each(19, 0.0, 1000.0);
    pair.offer_back(2, 1514, ns(18_200.0));
    let repaired = 18_329.76 + 100.0 + 223.28;
    assert_eq!(pair.finish(17), at_ns(&[(18, 18_223.28), (17, repaired)]));
    let second = 18_329.76 + 123.04;
    assert_eq!(back(&mut pair), at_ns(&[(0, 18_323.04 + 100.0), (1, second + 100.0)]));
}

/// Control frames wait for each other: the losses before frames 18 and 19, back to back, are told of one
/// after the other, behind a full frame back.
// LG-26, LG-37
#[test]
fn control_frames_leave_one_after_the_other() {
    let mut pair = Pair::new("ideal", dummies(0, NON_BLOCKING), &[16, 18], &[]);
    pair.offer_each(16, 0.0, 1000.0);
    (0..4).for_each(|_| pair.offer(ns(16_000.0)));
    // Frames 17 and 19 arrive at 16346.56 and 16593.12; the line back is busy until 16723.04.
    pair.run_until(ns(16_300.0));
    pair.offer_back(1, 5_264, ns(16_300.0));
    let told = 16_300.0 + 5_288.0 * 0.08;
    let repaired = |notifications: f64| told + notifications * 6.72 + 100.0;
    // The second copy waits for the first on the line forward.
    let copies = [(16, repaired(1.0) + 223.28), (18, repaired(1.0) + 2.0 * 123.28 + 100.0)];
    let copied: Vec<_> = pair.finish(16).into_iter().filter(|(number, _)| number % 2 == 0).collect();
    assert_eq!(copied, at_ns(&copies));
}

/// Frame 0 arrives at 223.28, and its explicit ACK takes the line until 230. A TCP ACK that comes at 225 waits
/// for it, goes before the second explicit ACK and takes its place: it is 3 octets longer.
// LG-15, LG-17, LG-29, LG-37
#[test]
fn a_tcp_ack_waits_for_an_explicit_ack_and_takes_the_next_along() {
    // The explicit ACK is lost, so that the frame is freed by the one that rides.
    let mut pair = Pair::new("ideal", ORDERED, &[], &[0]);
    pair.offer(ns(0.0));
    pair.offer_back(1, 54, ns(225.0));
    let rides_until = 230.0 + 87.0 * 0.08;
    assert_eq!(pair.copies_at(ns(rides_until + 99.99)), 1);
    assert_eq!(pair.copies_at(ns(rides_until + 100.0)), 0);
    pair.finish(0);
    assert_eq!(back(&mut pair), at_ns(&[(0, rides_until + 100.0)]));
    let traffic = pair.link.reverse_traffic();
    assert_eq!((traffic.control_octets, traffic.data_octets, traffic.header_octets), (84, 84, 3));
}

/// The explicit ACK is of the lowest priority: two full frames offered at 200 keep it off the line, and take
/// it along, the second in place of its second sending.
// LG-17, LG-29
#[test]
fn an_explicit_ack_leaves_only_when_nothing_else_waits() {
    let mut pair = Pair::new("ideal", ORDERED, &[], &[]);
    pair.offer(ns(0.0));
    pair.offer_back(3, 1514, ns(200.0));
    pair.finish(0);
    let first = 200.0 + 1538.0 * 0.08;
    let ends = [first, first + 1541.0 * 0.08, first + 2.0 * 1541.0 * 0.08];
    let expected: Vec<_> = (0..).zip(ends.map(|end| end + 100.0)).collect();
    assert_eq!(back(&mut pair), at_ns(&expected));
    assert_eq!(pair.link.reverse_traffic().control_octets, 0);
}

/// Frames whose turn is known when they come leave as frames do that wait for an event: alone, behind an explicit ACK, and
/// around a notification that reaches the port at 18223.28 or, where that takes 50, at 18273.28.
// LG-29, LG-37
#[test]
fn a_turn_that_is_known_ahead_is_the_turn_that_comes() {
    for (port_ns, leaves) in [(0.0, 18_223.28), (50.0, 18_273.28)] {
        let ideal = profile("ideal");
        let ideal = SwitchProfile { notification_port_ns: port_ns, timer_packet_ns: port_ns, ..ideal };
        let mut pair = Pair::with_profile(&ideal, NON_BLOCKING, &[17], &[]);
        pair.offer_each(19, 0.0, 1000.0);
        // Twelve frames of 6.72 take from 18220 to 18300.64, with the notification in between.
        pair.offer_back(12, 54, ns(18_220.0));
        pair.finish(0);
        let before = ((leaves - 18_220.0) / 6.72_f64).ceil();
        let ends = (0..12).map(|number| {
            let place = f64::from(number) + 1.0;
            18_220.0 + 6.72 * if place <= before { place } else { place + 1.0 }
        });
        let expected: Vec<_> = (0..).zip(ends.map(|end| end + 100.0)).collect();
        assert_eq!(back(&mut pair), at_ns(&expected), "{port_ns} ns to the port");
    }
}

/// Backlog of both kinds: control first, frames of the hosts in their order, the line never idle between.
// LG-29, LG-37
#[test]
fn a_pause_goes_before_frames_that_wait() {
    let mut dialogue = PauseDialogue::new(&small_buffers(), &[0, 4], &[]);
    // The timer packet of 900 finds the line back taken by the first of three full frames until 1003.04.
    dialogue.pair.run_until(ns(880.0));
    dialogue.pair.offer_back(3, 1514, ns(880.0));
    dialogue.pair.run_until(ns(1_500.0));
    let paused_since = 880.0 + 123.04 + 6.72 + 100.0;
    assert_eq!(dialogue.pair.counters().paused, ns(1_500.0) - ns(paused_since));
    let returned: Vec<_> = back(&mut dialogue.pair).into_iter().map(|(number, _)| number).collect();
    assert_eq!(returned, [0, 1, 2]);
}

/// Each frame in sequence was acknowledged twice, so the notification is frame 34 of the way back.
// LG-21, LG-31
#[test]
fn a_lost_notification_costs_one_wait() {
    let mut pair = Pair::new("ideal", ORDERED, &[17], &[34]);
    pair.offer_each(27, 0.0, 1000.0);
    let released = (18..=25).map(|number| (number, 25_300.0));
    let expected: Vec<_> = [(16, 16_223.28)].into_iter().chain(released).chain([(26, 26_223.28)]).collect();
    assert_eq!(pair.finish(16), at_ns(&expected));
    assert_eq!((pair.counters().timeouts, pair.counters().sender.retransmitted), (1, 0));

    let mut pair = Pair::new("ideal", NON_BLOCKING, &[17], &[34]);
    pair.offer_each(20, 0.0, 1000.0);
    assert_eq!(pair.finish(16), at_ns(&[(16, 16_223.28), (18, 18_223.28), (19, 19_223.28)]));
}

/// Of three copies of the notification two are lost: the third takes 6.72 more for each. Where all copies arrive, or some, the
/// frame is sent again once.
// LG-31, LG-37, LG-46
#[test]
fn a_copy_of_a_notification_takes_the_place_of_a_lost_one() {
    for (reverse, late) in [(&[][..], 0.0), (&[35, 36], 0.0), (&[34], 6.72), (&[34, 35], 2.0 * 6.72)] {
        for (options, then) in [(ORDERED, 18_553.28 + late), (NON_BLOCKING, 18_223.28)] {
            let mut pair = Pair::new("ideal", control_copies(3, options), &[17], reverse);
            pair.offer_each(20, 0.0, 1000.0);
            let mut expected: Vec<(u64, f64)> = vec![(17, 18_553.28 + late), (18, then)];
            expected.sort_by(|one, other| one.1.total_cmp(&other.1));
            assert_eq!(pair.finish(17), at_ns(&[&expected[..], &[(19, 19_223.28)]].concat()), "{reverse:?}");
            once(&mut pair, 3 - reverse.len() as u64);
            // Two acknowledgements of each of 19 frames that come in sequence.
            assert_eq!(pair.link.reverse_traffic().control_octets, (3 + 2 * 18) * 84);
        }
    }
}

/// With two copies of each control frame, recirculating switches lose no data to the loss of any single frame of the way back.
/// Two of the frames are copies of the notification.
// LG-6, LG-46
#[test]
fn no_single_loss_on_the_way_back_costs_a_frame_with_two_copies() {
    for options in [ORDERED, NON_BLOCKING] {
        let arrived: Vec<u64> = (0..60)
            .map(|lost| {
                let mut pair = Pair::new("tofino1", control_copies(2, options), &[17], &[lost]);
                pair.offer_each(30, 0.0, 1000.0);
                assert_eq!(pair.finish(0).len(), 30, "frame {lost} of the way back");
                let arrived = pair.counters().sender.notifications;
                once(&mut pair, arrived);
                arrived
            })
            .collect();
        let times = |count| arrived.iter().filter(|&&arrived| arrived == count).count();
        assert_eq!((times(1), times(2)), (2, 58), "{arrived:?}");
    }
}

/// Checks that one frame was lost and sent again once, upon `notifications` notifications.
fn once(pair: &mut Pair, notifications: u64) {
    let counters = pair.counters();
    assert_eq!((counters.sender.retransmitted, counters.receiver.retransmissions), (1, 1));
    assert_eq!((counters.receiver.duplicates, counters.timeouts), (0, 0));
    assert_eq!(counters.receiver.notifications, 1);
    assert_eq!((counters.sender.notifications, counters.sender.repeated), (notifications, notifications - 1));
}

/// The notifications of two holes do not mix: all copies of the first leave before those of the second, and an acknowledgement
/// of later frames waits for all of them.
// LG-26, LG-46
#[test]
fn nothing_overtakes_the_last_copy_of_a_notification() {
    // The first two copies of the first notification are lost. A frame before the third copy would free the frame for which
    // the third copy asks.
    let mut pair = Pair::new("ideal", control_copies(3, NON_BLOCKING), &[16, 18], &[33, 34]);
    pair.offer_each(16, 0.0, 1000.0);
    (0..4).for_each(|_| pair.offer(ns(16_000.0)));
    pair.run_until(ns(16_300.0));
    // A frame back that takes an acknowledgement along; the notifications wait for it.
    pair.offer_back(3, 5_264, ns(16_300.0));
    assert_eq!(pair.finish(0).len(), 20);
    assert_eq!(pair.counters().sender.retransmitted, 2);
}

/// The copies are frames 19 and 20 on the wire.
// LG-21, LG-31
#[test]
fn lost_copies_cost_one_wait() {
    let lost = [17, 19, 20];
    let mut pair = Pair::new("ideal", copies(2, ORDERED), &lost, &[]);
    pair.offer_each(20, 0.0, 1000.0);
    assert_eq!(pair.finish(17), at_ns(&[(18, 25_300.0), (19, 25_300.0)]));
    assert_eq!((pair.counters().timeouts, pair.counters().sender.retransmitted), (1, 1));

    let mut pair = Pair::new("ideal", copies(2, NON_BLOCKING), &lost, &[]);
    pair.offer_each(20, 0.0, 1000.0);
    assert_eq!(pair.finish(17), at_ns(&[(18, 18_223.28), (19, 19_223.28)]));
    assert_eq!(pair.counters().sender.retransmitted, 1);
}

/// Copies are freed 330 after their frame was offered, or 6.72 later by the second acknowledgement.
// LG-8, LG-15
#[test]
fn a_later_acknowledgement_covers_a_lost_one() {
    let both: Vec<u64> = (0..20).collect();
    let mut pair = Pair::new("ideal", ORDERED, &[], &both);
    pair.offer_each(11, 0.0, 1000.0);
    assert_eq!(pair.copies_at(ns(10_329.99)), 11);
    assert_eq!(pair.copies_at(ns(10_330.0)), 0);

    let first: Vec<u64> = (0..20).step_by(2).collect();
    let mut pair = Pair::new("ideal", ORDERED, &[], &first);
    pair.offer_each(10, 0.0, 1000.0);
    assert_eq!(pair.copies_at(ns(9_336.71)), 1);
    assert_eq!(pair.copies_at(ns(9_336.72)), 0);
}

/// The last frame is lost. Three dummies of 6.72 ns follow it from 17123.28 on.
// LG-4, LG-12, LG-18
#[test]
fn a_dummy_reveals_the_tail() {
    let mut pair = Pair::new("ideal", dummies(3, ORDERED), &(17..17 + 3).collect::<Vec<_>>(), &[]);
    let mut earlier = Pair::new("ideal", dummies(3, ORDERED), &[17], &[]);
    // The dummies of frames 0 to 16 must not count: offered back to back, only the last has some.
    for pair in [&mut pair, &mut earlier] {
        (0..18).for_each(|_| pair.offer(ns(0.0)));
    }
    let end_of_last = 18.0 * 123.28;
    let revealed = |dummy: f64| at_ns(&[(17, end_of_last + dummy * 6.72 + 100.0 + 330.0)]);
    assert_eq!(pair.finish(17), revealed(3.0));
    assert_eq!(earlier.finish(17), revealed(1.0));
}

/// The last frame of a burst is lost with its dummies; the next comes 50 us later.
// LG-11, LG-12
#[test]
fn without_dummies_the_next_frame_reveals_the_tail() {
    let mut pair = Pair::new("ideal", dummies(3, ORDERED), &[17, 18, 19, 20], &[]);
    (0..18).for_each(|_| pair.offer(ns(0.0)));
    pair.offer(ns(50_000.0));
    assert_eq!(pair.finish(17), at_ns(&[(17, 50_553.28), (18, 50_553.28)]));
}

/// Frames 10 to 16 are lost, 17 reveals it at 17223.28, and 10 to 14 come back to back. The wait for 15
/// begins with the arrival of 14 at 18046.40 and ends at 25100; the one for 16 ends 7.1 us later.
// LG-9, LG-21
#[test]
fn a_sixth_loss_in_a_row_is_waited_for_in_vain() {
    let mut pair = Pair::new("ideal", ORDERED, &(10..=16).collect::<Vec<_>>(), &[]);
    pair.offer_each(19, 0.0, 1000.0);
    let back = (10..=14).map(|number| (number, 17_553.28 + (number - 10) as f64 * 123.28));
    let expected: Vec<_> = back.chain([(17, 32_200.0), (18, 32_200.0)]).collect();
    assert_eq!(pair.finish(10), at_ns(&expected));
    assert_eq!((pair.counters().timeouts, pair.counters().sender.beyond_cap), (2, 2));
}

// LG-13
#[test]
fn a_hole_of_three_hundred_is_reported_as_255() {
    let unlimited = SenderConfig { hole_cap: None, ..NON_BLOCKING.sender };
    let options = Options { sender: unlimited, ..NON_BLOCKING };
    let mut pair = Pair::new("ideal", options, &(10..310).collect::<Vec<_>>(), &[]);
    pair.offer_each(311, 0.0, 200.0);
    assert_eq!(pair.finish(0).len(), 11 + 255);
    assert_eq!((pair.counters().receiver.lost, pair.counters().sender.retransmitted), (300, 255));
}

/// Thresholds of four and two frames, and room for thirteen. Frame 0 is lost, and frames come back to back. Frame 1 reveals
/// the loss at 346.56; the copy leaves at 493.12, before frame 4 (LG-29). Frame 4 is the fourth to be held, at 839.68; the
/// timer packet of 900 takes the pause along, as frame 7 on the way back behind a notification and three times two
/// acknowledgements. The pause stops the queue at 1006.72, after frame 7, which was begun at 986.24. The wait for frame 0 ends
/// at 7400.
struct PauseDialogue {
    pair: Pair,
}

/// The places of the pause and of the resume on the way back.
const PAUSE: u64 = 7;
const RESUME: u64 = 14;
/// The time at which frame 8 is delivered if a resume frees the queue at 7506.72.
const AFTER_RESUME: f64 = 7_506.72 + 223.28;

fn small_buffers() -> SwitchProfile {
    let mut ideal = profile("ideal");
    ideal.rx_buffer_max_bytes = 20_000;
    for threshold in &mut ideal.threshold {
        (threshold.pause_bytes, threshold.resume_bytes) = (6_000, 3_100);
    }
    ideal
}

impl PauseDialogue {
    fn new(profile: &SwitchProfile, forward: &[u64], reverse: &[u64]) -> Self {
        let options = Options { backpressure: true, ..ORDERED };
        let mut pair = Pair::with_profile(profile, options, forward, reverse);
        (0..40).for_each(|_| pair.offer(ns(0.0)));
        Self { pair }
    }

    /// Returns the first frames delivered, by the time of delivery.
    fn deliveries(&mut self, count: usize) -> Vec<(u64, Instant)> {
        let mut all = self.pair.finish(0);
        all.truncate(count);
        all
    }
}

// LG-23, LG-24, LG-25, LG-29
#[test]
fn a_pause_stops_the_queue_and_a_resume_frees_it() {
    let mut dialogue = PauseDialogue::new(&small_buffers(), &[0, 4], &[]);
    let released = (1..=7).map(|number| (number, 7_400.0));
    let expected: Vec<_> = released.chain([(8, AFTER_RESUME)]).collect();
    assert_eq!(dialogue.deliveries(8), at_ns(&expected));
    let counters = dialogue.pair.counters();
    assert_eq!((counters.pauses, counters.expired_pauses, counters.rx_buffer_dropped), (1, 0, 0));
    assert_eq!(counters.paused.as_ps(), 6_500_000);
}

/// The copy leaves at 2453.28, long after the pause.
// LG-25
#[test]
fn a_retransmission_leaves_during_a_pause() {
    let slow = SwitchProfile { retransmit_ns: 2_000.0, ..small_buffers() };
    let mut dialogue = PauseDialogue::new(&slow, &[0], &[]);
    let back = 2_453.28 + 223.28;
    assert_eq!(dialogue.deliveries(2), at_ns(&[(0, back), (1, back)]));
    assert_eq!(dialogue.pair.counters().timeouts, 0);
}

/// Thirteen frames find room, the other 26 of the 39 are dropped and given up one by one.
// LG-34
#[test]
fn a_lost_pause_fills_the_buffer() {
    let mut dialogue = PauseDialogue::new(&small_buffers(), &[0, 4], &[PAUSE]);
    let expected: Vec<_> = (1..=13).map(|number| (number, 7_400.0)).collect();
    assert_eq!(dialogue.deliveries(100), at_ns(&expected));
    let counters = dialogue.pair.counters();
    assert_eq!((counters.rx_buffer_dropped, counters.timeouts), (26, 27));
    assert_eq!(dialogue.pair.link.buffer_bytes(ns(1e9)).1, 0);
}

/// 65535 quanta of 512 bit times from 1006.72 on.
// LG-25
#[test]
fn a_lost_resume_lasts_as_long_as_the_quanta() {
    let mut dialogue = PauseDialogue::new(&small_buffers(), &[0, 4], &[RESUME]);
    let quanta = 65_535.0 * 5.12;
    let deliveries = dialogue.deliveries(40);
    assert_eq!(deliveries[6..8], at_ns(&[(7, 7_400.0), (8, 1_006.72 + quanta + 223.28)]));
    assert_eq!(deliveries.len(), 39);
    assert_eq!(dialogue.pair.counters().expired_pauses, 1);
}

/// Of two copies of the pause the first is lost, and of two copies of the resume: each takes effect 6.72 later, and no other
/// time changes. The notification is also sent twice.
// LG-25, LG-46
#[test]
fn a_copy_takes_the_place_of_a_lost_pause_and_of_a_lost_resume() {
    let (pause, resume) = (PAUSE + 1, RESUME + 2);
    for (reverse, late) in [(&[][..], 0.0), (&[pause], 0.0), (&[resume], 6.72), (&[pause, resume], 6.72)] {
        let options = Options { backpressure: true, control_copies: 2, ..ORDERED };
        let mut pair = Pair::with_profile(&small_buffers(), options, &[0, 4], reverse);
        (0..40).for_each(|_| pair.offer(ns(0.0)));
        let deliveries = pair.finish(0);
        assert_eq!(deliveries[6..8], at_ns(&[(7, 7_400.0), (8, AFTER_RESUME + late)]), "{reverse:?}");
        let counters = pair.counters();
        assert_eq!((counters.pauses, counters.expired_pauses, counters.rx_buffer_dropped), (1, 0, 0));
    }
}

/// A pause that takes 20 us to act does so before the resume that was sent after it.
// LG-26
#[test]
fn a_resume_does_not_overtake_its_pause() {
    let slow = SwitchProfile { pause_reaction_ns: 20_000.0, ..small_buffers() };
    let mut dialogue = PauseDialogue::new(&slow, &[0, 4], &[]);
    dialogue.deliveries(1);
    let counters = dialogue.pair.counters();
    assert_eq!((counters.pauses, counters.expired_pauses, counters.paused.as_ps()), (1, 0, 0));
}

/// Frame 10 is on the wire when protection starts over a thousand positions further on.
// LG-30, LG-32
#[test]
fn a_start_in_mid_stream_loses_only_what_is_in_flight() {
    for (options, survives) in [(ORDERED, false), (NON_BLOCKING, true)] {
        let mut pair = Pair::new("ideal", options, &[], &[]);
        pair.offer_each(11, 0.0, 1000.0);
        pair.run_until(ns(10_100.0));
        let position = pair.link.next_position().plus(1000);
        pair.link.synchronise(ns(10_100.0), position);
        pair.offer_each(2, 11_000.0, 1000.0);
        let in_flight = survives.then_some((10, 10_223.28));
        let expected: Vec<_> = in_flight.into_iter().chain([(11, 11_223.28), (12, 12_223.28)]).collect();
        assert_eq!(pair.finish(10), at_ns(&expected));
        assert_eq!((pair.counters().receiver.stale, pair.counters().receiver.lost), (1, 0));
    }
}
