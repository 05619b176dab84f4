//! The RDMA transport in dialogue, with every packet and every instant given.

use crate::rdma_script;
use lossylink_core::time::Duration;
use lossylink_core::units::BitRate;
use lossylink_sim::transport::Departure;
use lossylink_sim::transport::rdma::{Config, Dcqcn, Operation, Packet, Status};
use rdma_script::{Script, at, at_ns};

/// The local ACK timeout of the default settings, microseconds.
const TIMEOUT_US: u64 = 1070;

// RDMA-4, RDMA-5, RDMA-6, RDMA-10
#[test]
fn a_clean_write_costs_one_acknowledgement() {
    let mut script = Script::new(Config::default());
    script.post(at(0), Operation::Write(3_000));
    assert_eq!(script.requests(at(0)), "w0 w1 w2?");
    assert_eq!(script.deliver(at(8), "w0 w1 w2?"), "ack2");
    script.answer(at(16), "ack2");
    assert_eq!(script.completion(), Some((0, Status::Success, at(16))));
    assert_eq!(script.responder.bytes_in_order(), 3_000);
    assert!(script.requester.poll_timeout().is_never());
}

// RDMA-7, RDMA-8, RDMA-11
#[test]
fn a_gap_is_reported_once_and_everything_from_it_goes_again() {
    let mut script = Script::new(Config::default());
    script.post(at(0), Operation::Write(5_000));
    assert_eq!(script.requests(at(0)), "w0 w1 w2 w3 w4?");
    assert_eq!(script.deliver(at(8), "w0"), "");
    assert_eq!(script.deliver(at(8), "w2"), "nak1");
    assert_eq!(script.deliver(at(8), "w3 w4?"), "");
    assert_eq!(script.responder.statistics().out_of_order, 3);
    script.answer(at(16), "nak1");
    assert_eq!(script.requests(at(16)), "w1 w2 w3 w4?");
    assert_eq!(script.deliver(at(24), "w1 w2 w3 w4?"), "ack4");
    script.answer(at(32), "ack4");
    assert_eq!(script.completion(), Some((0, Status::Success, at(32))));
    assert_eq!(script.requester.statistics().retransmissions, 4);
    assert_eq!(script.responder.bytes_in_order(), 5_000);
}

// RDMA-11: the network card forms packets as they leave, so a NAK finds the rest unsent.
#[test]
fn a_nak_in_mid_message_interrupts_it() {
    let mut script = Script::new(Config::default());
    script.post(at(0), Operation::Write(5_000));
    assert_eq!(script.some_requests(at(0), 3), "w0 w1 w2");
    assert_eq!(script.deliver(at(1), "w1"), "nak0");
    script.answer(at(2), "nak0");
    assert_eq!(script.requests(at(2)), "w0 w1 w2 w3 w4?");
    assert_eq!(script.requester.statistics().retransmissions, 3);
}

// RDMA-12, RDMA-24: however long a packet waits for the line, the timer runs from its departure.
#[test]
fn the_timer_does_not_count_the_wait_for_the_line() {
    let mut script = Script::new(Config::default());
    script.post(at(0), Operation::Write(1_000));
    for us in [0, TIMEOUT_US, 5 * TIMEOUT_US] {
        assert_eq!(script.requester.poll_at_line(at(us), false), Departure::AwaitsLine);
        assert!(script.requester.poll_timeout().is_never());
    }
    let left = 7 * TIMEOUT_US;
    assert_eq!(script.requests(at(left)), "w0?");
    assert_eq!(script.requester.poll_timeout(), at(left + TIMEOUT_US));
    assert_eq!(script.requester.poll_at_line(at(left), true), Departure::Nothing);
}

// RDMA-11, RDMA-24: a repetition that waits for its turn, and is acknowledged before, is not sent.
#[test]
fn an_acknowledgement_spares_a_repetition_that_waits_for_the_line() {
    let mut script = Script::new(Config::default());
    script.post(at(0), Operation::Write(5_000));
    assert_eq!(script.some_requests(at(0), 4), "w0 w1 w2 w3");
    script.answer(at(16), "nak1");
    assert_eq!(script.requester.poll_at_line(at(16), false), Departure::AwaitsLine);
    script.answer(at(20), "ack3");
    assert_eq!(script.requests(at(24)), "w4?");
    assert_eq!(script.requester.statistics().retransmissions, 0);
}

// RDMA-19: a READ's responses wait for the line; an acknowledgement does not.
#[test]
fn only_data_waits_for_the_line() {
    let mut script = Script::new(Config::default());
    script.post(at(0), Operation::Write(1_000));
    script.post(at(0), Operation::Read(2_000));
    assert_eq!(script.requests(at(0)), "w0? read1x2000");
    script.bring(at(8), "w0?", false);
    let ack = script.responder.poll_at_line(at(8), false);
    assert!(matches!(ack, Departure::AtOnce(Packet::Ack { .. })), "{ack:?}");
    script.bring(at(9), "read1x2000", false);
    assert_eq!(script.responder.poll_at_line(at(9), false), Departure::AwaitsLine);
    let response = script.responder.poll_at_line(at(10), true);
    assert!(matches!(response, Departure::Formed(Packet::ReadResponse(_))), "{response:?}");
}

// RDMA-7, RDMA-13: the responder stays silent about a gap that it has reported.
#[test]
fn a_lost_repair_waits_for_the_timer() {
    let mut script = Script::new(Config::default());
    script.post(at(0), Operation::Write(3_000));
    script.requests(at(0));
    assert_eq!(script.deliver(at(8), "w1"), "nak0");
    script.answer(at(16), "nak0");
    assert_eq!(script.requests(at(16)), "w0 w1 w2?");
    assert_eq!(script.deliver(at(24), "w1 w2?"), "");
    assert_eq!(script.requester.poll_timeout(), at(16 + TIMEOUT_US));
    script.timeout(at(16 + TIMEOUT_US));
    assert_eq!(script.requests(at(16 + TIMEOUT_US)), "w0 w1 w2?");
    assert_eq!(script.deliver(at(24 + TIMEOUT_US), "w0 w1 w2?"), "ack2");
}

// RDMA-12, RDMA-13
#[test]
fn a_lost_tail_waits_for_the_timer_and_not_an_instant_less() {
    let mut script = Script::new(Config::default());
    script.post(at(0), Operation::Write(3_000));
    assert_eq!(script.some_requests(at(0), 2), "w0 w1");
    assert!(script.requester.poll_timeout().is_never(), "nothing asked for an answer yet");
    assert_eq!(script.requests(at(2)), "w2?");
    assert_eq!(script.requester.poll_timeout(), at(2 + TIMEOUT_US));
    assert_eq!(script.deliver(at(8), "w0 w1"), "");
    script.timeout(at(1 + TIMEOUT_US));
    assert_eq!(script.requests(at(1 + TIMEOUT_US)), "");
    script.timeout(at(2 + TIMEOUT_US));
    assert_eq!(script.requests(at(2 + TIMEOUT_US)), "w0 w1 w2?");
    assert_eq!(script.requester.statistics().timeouts, 1);
}

// RDMA-9
#[test]
fn duplicates_are_acknowledged_again_and_executed_once() {
    let mut script = Script::new(Config::default());
    script.post(at(0), Operation::Send(2_000));
    assert_eq!(script.requests(at(0)), "s0 s1?");
    assert_eq!(script.deliver(at(8), "s0 s1?"), "ack1");
    script.timeout(at(TIMEOUT_US));
    assert_eq!(script.requests(at(TIMEOUT_US)), "s0 s1?");
    assert_eq!(script.deliver(at(8 + TIMEOUT_US), "s0"), "ack1");
    assert_eq!(script.responder.bytes_in_order(), 2_000);
    assert_eq!(script.responder.statistics().duplicates, 1);
    script.answer(at(16 + TIMEOUT_US), "ack1");
    assert_eq!(script.completion(), Some((0, Status::Success, at(16 + TIMEOUT_US))));
}

// RDMA-18: non-blocking LinkGuardian delivers the lost packet 3 us late, long after its neighbours.
#[test]
fn a_late_copy_does_not_undo_the_nak() {
    let mut script = Script::new(Config::default());
    script.post(at(0), Operation::Write(4_000));
    script.requests(at(0));
    assert_eq!(script.deliver(at(8), "w0 w2"), "nak1");
    assert_eq!(script.deliver(at(8), "w3?"), "");
    // The copy is the expected packet, but the packets that followed it are gone.
    assert_eq!(script.deliver(at(11), "w1"), "");
    script.answer(at(16), "nak1");
    assert_eq!(script.requests(at(16)), "w1 w2 w3?");
    assert_eq!(script.deliver(at(24), "w1"), "ack1");
    assert_eq!(script.deliver(at(24), "w2 w3?"), "ack3");
    assert_eq!(script.responder.bytes_in_order(), 4_000);
}

// RDMA-18: in a long message the copy re-arms the report, and the requester goes back twice.
#[test]
fn a_late_copy_in_a_long_message_causes_a_second_nak() {
    let mut script = Script::new(Config::default());
    script.post(at(0), Operation::Write(8_000));
    assert_eq!(script.some_requests(at(0), 6), "w0 w1 w2 w3 w4 w5");
    assert_eq!(script.deliver(at(8), "w0 w2"), "nak1");
    assert_eq!(script.deliver(at(11), "w3 w1 w4"), "nak2");
    script.answer(at(16), "nak1");
    assert_eq!(script.some_requests(at(16), 3), "w1 w2 w3");
    script.answer(at(19), "nak2");
    assert_eq!(script.requests(at(19)), "w2 w3 w4 w5 w6 w7?");
    assert_eq!(script.deliver(at(24), "w1"), "ack1");
    assert_eq!(script.deliver(at(24), "w2"), "");
    assert_eq!(script.deliver(at(27), "w2 w3 w4 w5 w6 w7?"), "ack7");
    assert_eq!(script.responder.bytes_in_order(), 8_000);
}

// RDMA-14: five retries, the sixth expiry is the end.
#[test]
fn retries_run_out() {
    let mut script = Script::new(Config::default());
    script.post(at(0), Operation::Write(100));
    script.post(at(0), Operation::Write(100));
    assert_eq!(script.requests(at(0)), "w0? w1?");
    for retry in 1..=5 {
        script.timeout(at(retry * TIMEOUT_US));
        assert_eq!(script.requests(at(retry * TIMEOUT_US)), "w0? w1?");
        assert_eq!(script.completion(), None);
    }
    script.timeout(at(6 * TIMEOUT_US));
    assert_eq!(script.completion(), Some((0, Status::RetryExceeded, at(6 * TIMEOUT_US))));
    assert_eq!(script.completion(), Some((1, Status::Flushed, at(6 * TIMEOUT_US))));
    assert!(script.requester.has_failed());
    assert_eq!(script.requests(at(6 * TIMEOUT_US)), "");
    assert!(script.requester.poll_timeout().is_never());
    script.post(at(7 * TIMEOUT_US), Operation::Write(100));
    assert_eq!(script.completion(), Some((2, Status::Flushed, at(7 * TIMEOUT_US))));
    assert_eq!((script.requester.statistics().timeouts, script.requester.statistics().failed), (6, 3));
}

// RDMA-14: of two retries in a row the timer causes one at least, and the timer may be about to
// expire.
#[test]
fn it_is_known_how_long_a_connection_lives_at_the_least() {
    let mut script = Script::new(Config::default());
    script.post(at(0), Operation::Write(3_000));
    script.requests(at(0));
    for (made, timeouts) in [2, 1, 1, 0, 0, 0].into_iter().enumerate() {
        let least = Duration::from_us(timeouts * TIMEOUT_US);
        assert!(script.requester.may_fail_within(least), "{made} retries");
        if timeouts > 0 {
            assert!(!script.requester.may_fail_within(least - Duration::from_ps(1)), "{made} retries");
        }
        let expires = at((made as u64 + 1) * TIMEOUT_US);
        script.timeout(expires);
        script.requests(expires);
    }
    assert!(script.requester.has_failed());
}

// RDMA-14: after progress all retries are available again.
#[test]
fn progress_restores_the_retries() {
    let mut script = Script::new(Config { retry_count: 1, ..Config::default() });
    script.post(at(0), Operation::Write(100));
    script.post(at(0), Operation::Write(100));
    script.requests(at(0));
    script.timeout(at(TIMEOUT_US));
    assert_eq!(script.requests(at(TIMEOUT_US)), "w0? w1?");
    script.answer(at(TIMEOUT_US + 16), "ack0");
    assert_eq!(script.requester.poll_timeout(), at(2 * TIMEOUT_US + 16));
    script.timeout(at(2 * TIMEOUT_US + 16));
    assert_eq!(script.requests(at(2 * TIMEOUT_US + 16)), "w1?");
    assert!(!script.requester.has_failed());
}

// RDMA-14
#[test]
fn a_failed_connection_can_be_opened_again() {
    let mut script = Script::new(Config { retry_count: 0, ..Config::default() });
    script.post(at(0), Operation::Write(2_000));
    script.requests(at(0));
    script.timeout(at(TIMEOUT_US));
    assert_eq!(script.completion(), Some((0, Status::RetryExceeded, at(TIMEOUT_US))));
    script.requester.reconnect();
    script.responder.reconnect();
    script.post(at(2_000), Operation::Write(2_000));
    assert_eq!(script.requests(at(2_000)), "w0 w1?");
    assert_eq!(script.deliver(at(2_008), "w0 w1?"), "ack1");
}

// RDMA-5, RDMA-12
#[test]
fn a_long_message_asks_every_256_packets() {
    let mut script = Script::new(Config::default());
    script.post(at(0), Operation::Write(600 * 1024));
    let sent = script.requests(at(0));
    let asking: Vec<&str> = sent.split(' ').filter(|packet| packet.ends_with('?')).collect();
    assert_eq!(asking, ["w255?", "w511?", "w599?"]);
    script.answer(at(40), "ack255");
    assert_eq!(script.requester.poll_timeout(), at(40 + TIMEOUT_US));
}

// RDMA-3: a connection that starts just below the end of the numbers.
#[test]
fn numbers_wrap_in_mid_message() {
    let mut script = Script::new(Config { first_psn: 0xff_fffe, ..Config::default() });
    script.post(at(0), Operation::Write(4_000));
    assert_eq!(script.requests(at(0)), "w16777214 w16777215? w0 w1?");
    assert_eq!(script.deliver(at(8), "w16777214 w0"), "nak16777215");
    script.answer(at(16), "nak16777215");
    assert_eq!(script.requests(at(16)), "w16777215? w0 w1?");
    assert_eq!(script.deliver(at(24), "w16777215? w0 w1?"), "ack1");
    script.answer(at(32), "ack1");
    assert_eq!(script.completion(), Some((0, Status::Success, at(32))));
}

// RDMA-15, RDMA-10: one acknowledgement ends two operations, in their order.
#[test]
fn operations_complete_in_the_order_of_posting() {
    let mut script = Script::new(Config::default());
    script.post(at(0), Operation::Write(1_000));
    script.post(at(0), Operation::Send(2_000));
    assert_eq!(script.requests(at(0)), "w0? s1 s2?");
    script.deliver(at(8), "w0? s1 s2?");
    script.answer(at(16), "ack2");
    assert_eq!(script.completion(), Some((0, Status::Success, at(16))));
    assert_eq!(script.completion(), Some((1, Status::Success, at(16))));
    assert_eq!(script.responder.statistics().messages, 2);
}

// RDMA-16
#[test]
fn a_read_is_one_request_and_a_stream_of_responses() {
    let mut script = Script::new(Config::default());
    script.post(at(0), Operation::Read(3_000));
    script.post(at(0), Operation::Write(1_000));
    assert_eq!(script.requests(at(0)), "read0x3000 w3?");
    assert_eq!(script.deliver(at(8), "read0x3000 w3?"), "r0 r1 r2 ack3");
    script.answer(at(16), "r0 r1 r2");
    assert_eq!(script.completion(), Some((0, Status::Success, at(16))));
    script.answer(at(17), "ack3");
    assert_eq!(script.completion(), Some((1, Status::Success, at(17))));
    assert_eq!(script.requester.statistics().bytes_read, 3_000);
}

// RDMA-16: a gap in the responses counts as a NAK, once, and the rest is asked for again.
#[test]
fn a_lost_response_is_asked_for_again() {
    let mut script = Script::new(Config::default());
    script.post(at(0), Operation::Read(5_000));
    assert_eq!(script.requests(at(0)), "read0x5000");
    assert_eq!(script.deliver(at(8), "read0x5000"), "r0 r1 r2 r3 r4");
    script.answer(at(16), "r0 r2");
    assert_eq!(script.requests(at(16)), "read1x3976");
    script.answer(at(16), "r3 r4");
    assert_eq!(script.requests(at(16)), "");
    assert_eq!(script.deliver(at(24), "read1x3976"), "r1 r2 r3 r4");
    script.answer(at(32), "r1 r2 r3 r4");
    assert_eq!(script.completion(), Some((0, Status::Success, at(32))));
    let statistics = script.requester.statistics();
    assert_eq!((statistics.implied_naks, statistics.responses_dropped, statistics.bytes_read), (1, 3, 5_000));
}

// RDMA-16: an acknowledgement past an unfinished READ says that its last response is lost.
#[test]
fn an_acknowledgement_past_a_read_implies_a_nak() {
    let mut script = Script::new(Config::default());
    script.post(at(0), Operation::Read(2_000));
    script.post(at(0), Operation::Write(1_000));
    script.requests(at(0));
    assert_eq!(script.deliver(at(8), "read0x2000 w2?"), "r0 r1 ack2");
    script.answer(at(16), "r0 ack2");
    assert_eq!(script.requests(at(16)), "read1x976 w2?");
    assert_eq!(script.deliver(at(24), "read1x976 w2?"), "r1 ack2");
    script.answer(at(32), "r1");
    assert_eq!(script.completion(), Some((0, Status::Success, at(32))));
    assert_eq!(script.completion(), Some((1, Status::Success, at(32))), "its acknowledgement was known");
}

// RDMA-13, RDMA-16
#[test]
fn a_lost_read_request_waits_for_the_timer() {
    let mut script = Script::new(Config::default());
    script.post(at(0), Operation::Read(2_000));
    script.requests(at(0));
    assert_eq!(script.requester.poll_timeout(), at(TIMEOUT_US));
    script.timeout(at(TIMEOUT_US));
    assert_eq!(script.requests(at(TIMEOUT_US)), "read0x2000");
}

// RDMA-9: an acknowledgement never names a READ's number, else it would imply that responses are lost.
#[test]
fn a_duplicate_before_a_read_is_acknowledged_by_its_own_number() {
    let mut script = Script::new(Config::default());
    script.post(at(0), Operation::Write(1_000));
    script.post(at(0), Operation::Read(2_000));
    script.requests(at(0));
    assert_eq!(script.deliver(at(8), "w0? read1x2000"), "r1 r2 ack0");
    assert_eq!(script.deliver(at(9), "w0?"), "ack0");
}

// RDMA-17: a test on each side of the limit.
#[test]
fn no_more_reads_are_outstanding_than_agreed() {
    let mut script = Script::new(Config { outstanding_reads: 2, ..Config::default() });
    (0..3).for_each(|_| script.post(at(0), Operation::Read(1_000)));
    assert_eq!(script.requests(at(0)), "read0x1000 read1x1000");
    script.answer(at(16), "r0");
    assert_eq!(script.requests(at(16)), "read2x1000");
}

// RDMA-30, RDMA-31, RDMA-34
#[test]
fn marks_bring_notifications_and_notifications_space_the_packets() {
    let dcqcn = Dcqcn::on(BitRate::from_gbps(100));
    let mut script = Script::new(Config { dcqcn: Some(dcqcn), ..Config::default() });
    script.post(at(0), Operation::Write(10_000));
    assert_eq!(script.some_requests(at(0), 2), "w0 w1");
    assert_eq!(script.deliver_marked(at(8), "w0"), "cnp");
    assert_eq!(script.deliver_marked(at(57), "w1"), "", "49 us after the last one");
    script.answer(at(60), "cnp");
    // 1068 B at 50 Gb/s: one packet every 170.88 ns.
    assert_eq!(script.requests(at(60)), "w2");
    assert_eq!(
        script.requester.poll_timeout(),
        at_ns(60_000) + lossylink_core::time::Duration::from_ps(170_880)
    );
    assert_eq!(script.requests(at_ns(60_170)), "");
    assert_eq!(script.requests(at_ns(60_171)), "w3");
    assert_eq!(script.deliver_marked(at(58), "w2"), "cnp", "50 us after the last one");
}

// RDMA-30, RDMA-34: in a READ, the responder slows down.
#[test]
fn responses_are_paced_at_the_responder() {
    let dcqcn = Dcqcn::on(BitRate::from_gbps(100));
    let mut script = Script::new(Config { dcqcn: Some(dcqcn), ..Config::default() });
    script.post(at(0), Operation::Read(4_000));
    script.requests(at(0));
    script.answer_marked(at(3), "r0");
    assert_eq!(script.requests(at(3)), "cnp");
    assert_eq!(script.deliver(at(4), "cnp"), "");
    assert_eq!(script.deliver(at(8), "read0x4000"), "r0");
    assert_eq!(script.responder.poll_timeout(), at_ns(8_171) + lossylink_core::time::Duration::from_ps(520));
    assert_eq!(script.replies(at_ns(8_172)), "r1");
}

/// Returns the state of the requester's limiter at a time: its rate in Gb/s, and alpha in 256ths.
fn limiter_at(script: &mut Script, us: u64) -> (f64, f64) {
    let limiter = script.requester.limiter().expect("DCQCN is on");
    (limiter.rate_bps(at(us)) / 1e9, limiter.alpha(at(us)) * 256.0)
}

/// Marks at 8 and 66 us, each a notification two later; alpha decays and the rate recovers every 55 us
/// after the last one: four times half-way to the target, then the target has risen by 40 Mb/s.
// RDMA-30, RDMA-31, RDMA-32, RDMA-33
#[test]
fn alpha_and_the_stages_of_increase_follow_the_notifications() {
    let dcqcn = Dcqcn::on(BitRate::from_gbps(100));
    let mut script = Script::new(Config { dcqcn: Some(dcqcn), ..Config::default() });
    script.post(at(0), Operation::Write(100_000));
    assert_eq!(script.some_requests(at(0), 2), "w0 w1");
    assert_eq!(limiter_at(&mut script, 7), (100.0, 256.0));
    assert_eq!(script.deliver_marked(at(8), "w0"), "cnp");
    script.answer(at(10), "cnp");
    assert_eq!(limiter_at(&mut script, 10), (50.0, 256.0));
    assert_eq!(limiter_at(&mut script, 64), (50.0, 256.0));
    assert_eq!(limiter_at(&mut script, 65), (75.0, 255.0));

    assert_eq!(script.deliver_marked(at(66), "w1"), "cnp");
    script.answer(at(68), "cnp");
    let cut = 75.0 * (1.0 - 255.0 / 512.0);
    let near = |(rate, alpha): (f64, f64), expected: (f64, f64)| {
        assert!((rate - expected.0).abs() < 1e-6 && (alpha - expected.1).abs() < 1e-6, "{rate} {alpha}");
    };
    let alpha = 255.0 + 1.0 / 256.0;
    near(limiter_at(&mut script, 68), (cut, alpha));
    let mut gap = 75.0 - cut;
    for step in 1..=4 {
        gap /= 2.0;
        let decayed = alpha * (255.0f64 / 256.0).powi(step);
        near(limiter_at(&mut script, 68 + 55 * step as u64), (75.0 - gap, decayed));
    }
    let (rate, _) = limiter_at(&mut script, 68 + 55 * 5);
    near((rate, 0.0), (75.04 - (gap + 0.04) / 2.0, 0.0));
}
