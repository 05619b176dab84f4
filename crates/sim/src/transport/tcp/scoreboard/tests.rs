//! Counters, order and growth of the scoreboard.

use super::segment::{LISTED, LOST, RETRANSMITTED, SACKED};
use super::*;
use proptest::prelude::*;

fn with_segments(count: u64) -> Scoreboard {
    let mut board = Scoreboard::new();
    for sent_us in 0..count {
        board.send_new(sent_us, 0);
    }
    board
}

fn by_transmission(board: &Scoreboard) -> Vec<u64> {
    std::iter::successors(board.oldest_sent(), |&number| board.sent_after(number)).collect()
}

#[test]
fn counters_follow_a_segment_through_loss_and_repair() {
    let mut board = with_segments(4);
    assert_eq!(board.in_flight(), 4);
    board.mark_sacked(1);
    assert!(board.mark_lost(0));
    assert_eq!((board.left(), board.in_flight(), board.next_lost()), (2, 2, Some(0)));
    board.resend(0, 9, 1);
    assert_eq!((board.in_flight(), board.next_lost()), (3, None));
    assert_eq!(by_transmission(&board), [2, 3, 0]);
    let repaired = board.pop_acknowledged();
    assert!(repaired.was_retransmitted() && repaired.is_lost());
    assert_eq!((board.lost(), board.retransmitted(), board.sacked(), board.in_flight()), (0, 0, 1, 2));
}

/// TCP-14
#[test]
fn a_reported_duplicate_has_left_the_network() {
    let mut board = with_segments(2);
    board.mark_lost(0);
    board.resend(0, 5, 0);
    assert_eq!(board.in_flight(), 2);
    board.retransmission_arrived(0);
    assert_eq!((board.in_flight(), board.next_lost()), (1, Some(0)));
}

#[test]
fn a_lost_retransmission_is_resent_again() {
    let mut board = with_segments(2);
    board.mark_lost(0);
    board.resend(0, 5, 0);
    assert!(board.mark_lost(0), "the retransmission is lost");
    assert!(!board.mark_lost(0), "already marked");
    assert_eq!((board.lost(), board.retransmitted(), board.next_lost()), (1, 0, Some(0)));
}

#[test]
fn lost_segments_are_found_in_order_wherever_they_appear() {
    let mut board = with_segments(10);
    board.mark_lost(7);
    board.mark_lost(3);
    assert_eq!(board.next_lost(), Some(3));
    board.resend(3, 20, 0);
    assert_eq!(board.next_lost(), Some(7));
    board.mark_lost(1);
    assert_eq!(board.next_lost(), Some(1));
    board.resend(1, 21, 0);
    board.resend(7, 22, 0);
    assert_eq!(board.next_lost(), None);
}

#[test]
fn the_ring_grows_and_keeps_its_order() {
    let mut board = with_segments(FIRST_SLOTS as u64);
    for _ in 0..5 {
        board.pop_acknowledged();
    }
    board.mark_lost(6);
    board.resend(6, 99, 0);
    for sent_us in 0..20 {
        board.send_new(100 + sent_us, 0);
    }
    let order = by_transmission(&board);
    let first_slots = FIRST_SLOTS as u64;
    let expected: Vec<u64> =
        std::iter::once(5).chain(7..first_slots).chain([6]).chain(first_slots..first_slots + 20).collect();
    assert_eq!(order, expected);
}

/// TCP-38
#[test]
fn undone_losses_are_in_flight_again_and_oldest() {
    let mut board = with_segments(4);
    board.mark_lost(0);
    board.mark_lost(1);
    board.resend(0, 9, 0);
    board.unmark_all_lost();
    assert_eq!(by_transmission(&board), [1, 2, 3, 0]);
    assert_eq!((board.lost(), board.in_flight(), board.next_lost()), (0, 5, None));
}

/// Checks the counters against a count of all segments.
fn assert_consistent(board: &Scoreboard) {
    let outstanding = || (board.una..board.next).map(|number| board.get(number));
    let count = |flag| outstanding().filter(|segment| segment.flags & flag != 0).count() as u32;
    assert_eq!(
        (board.sacked, board.lost, board.retransmitted),
        (count(SACKED), count(LOST), count(RETRANSMITTED))
    );
    let order = by_transmission(board);
    assert_eq!(order.len() as u32, count(LISTED));
    assert!(order.windows(2).all(|pair| board.get(pair[0]).sent_us <= board.get(pair[1]).sent_us));
    let highest = (board.una..board.next).filter(|&number| board.get(number).is_sacked()).max();
    assert_eq!(board.sacked_end(), highest.map_or(board.una, |number| number + 1));
}

/// Checks that segments removed in sequence equal those removed one by one, and that the rest is equal.
fn assert_popped_as_one_by_one(board: &mut Scoreboard, end: u64) {
    let (mut one_by_one, first) = (board.clone(), board.una);
    let Some(span) = board.pop_in_sequence(end) else {
        return assert_eq!((board.una, board.outstanding()), (first, one_by_one.outstanding()));
    };
    let popped: Vec<_> = (first..end).map(|_| one_by_one.pop_acknowledged()).collect();
    assert!(popped.iter().all(|segment| segment.flags == LISTED));
    let seen = |segment: &Segment| (segment.sent_us, segment.delivered);
    assert_eq!((span.0, seen(&span.1)), (popped[0].sent_us, seen(&popped[popped.len() - 1])));
    assert_eq!(by_transmission(board), by_transmission(&one_by_one));
}

/// Only segments that were sent once and are in the order of their numbers are removed in sequence.
#[test]
fn only_plain_segments_are_removed_in_sequence() {
    let mut board = with_segments(8);
    let span = board.pop_in_sequence(2).unwrap();
    assert_eq!((span.0, span.1.sent_us, board.una), (0, 1, 2));
    board.mark_lost(3);
    assert!(board.pop_in_sequence(3).is_none(), "one is lost");
    board.resend(3, 9, 0);
    (2..4).for_each(|_| _ = board.pop_acknowledged());
    assert!(board.pop_in_sequence(6).is_none(), "one that was sent again was among them");
    (4..8).for_each(|_| _ = board.pop_acknowledged());
    (8..12).for_each(|sent_us| _ = board.send_new(sent_us, 0));
    assert!(board.pop_in_sequence(12).is_some() && board.outstanding() == 0);
}

proptest! {
    #[test]
    fn counters_and_order_agree_with_the_segments(steps in prop::collection::vec((0u8..8, 0u64..40), 1..300)) {
        let mut board = Scoreboard::new();
        for (now_us, (step, choice)) in (0..).zip(steps) {
            let number = board.una + choice % u64::from(board.outstanding()).max(1);
            let lowest_lost = (board.una..board.next).find(|&number| board.is_waiting(number));
            match step {
                0 | 1 => { board.send_new(now_us, now_us); }
                _ if board.outstanding() == 0 => {}
                2 => { board.pop_acknowledged(); }
                3 if !board.get(number).is_sacked() => { board.mark_sacked(number); }
                4 => { board.mark_lost(number); }
                5 => if let Some(number) = board.next_lost() {
                    prop_assert_eq!(Some(number), lowest_lost);
                    board.resend(number, now_us, now_us);
                },
                6 => board.retransmission_arrived(number),
                7 => assert_popped_as_one_by_one(&mut board, number + 1),
                _ => {}
            }
            assert_consistent(&board);
        }
    }
}
