//! Selective repeat in dialogue: only missing packets are sent again.

use crate::rdma_script;
use lossylink_sim::transport::rdma::{Config, Operation, Recovery, Status};
use rdma_script::{Script, at};

/// The local ACK timeout of the default settings, microseconds.
const TIMEOUT_US: u64 = 1070;

fn selective() -> Script {
    Script::new(Config { recovery: Recovery::SELECTIVE_REPEAT, ..Config::default() })
}

// RDMA-20, RDMA-21, RDMA-22
#[test]
fn only_the_missing_packet_goes_again() {
    let mut script = selective();
    script.post(at(0), Operation::Write(5_000));
    assert_eq!(script.requests(at(0)), "w0 w1 w2 w3 w4?");
    assert_eq!(script.deliver(at(8), "w0"), "");
    assert_eq!(script.deliver(at(8), "w2"), "snak1<2");
    assert_eq!(script.deliver(at(8), "w3"), "snak1<3");
    assert_eq!(script.deliver(at(8), "w4?"), "snak1<4");
    script.answer(at(16), "snak1<2");
    assert_eq!(script.requests(at(16)), "w1?");
    script.answer(at(16), "snak1<3 snak1<4");
    assert_eq!(script.requests(at(16)), "");
    assert_eq!(script.responder.bytes_in_order(), 1_024);
    assert_eq!(script.deliver(at(24), "w1?"), "ack4");
    assert_eq!(script.responder.bytes_in_order(), 5_000);
    script.answer(at(32), "ack4");
    assert_eq!(script.completion(), Some((0, Status::Success, at(32))));
    assert_eq!(script.requester.statistics().retransmissions, 1);
}

// RDMA-18, RDMA-21: a repair that the published cards cannot make. The late copy fills the hole at
// once.
#[test]
fn a_late_copy_completes_the_message() {
    let mut script = selective();
    script.post(at(0), Operation::Write(4_000));
    script.requests(at(0));
    assert_eq!(script.deliver(at(8), "w0 w2"), "snak1<2");
    assert_eq!(script.deliver(at(8), "w3?"), "snak1<3");
    assert_eq!(script.deliver(at(11), "w1"), "ack3");
    script.answer(at(16), "snak1<2");
    assert_eq!(script.requests(at(16)), "w1?");
    script.answer(at(19), "ack3");
    assert_eq!(script.completion(), Some((0, Status::Success, at(19))));
    assert_eq!(script.deliver(at(24), "w1?"), "ack3", "a duplicate");
    assert_eq!(script.responder.bytes_in_order(), 4_000);
}

// RDMA-22, RDMA-13: a lost repair waits for the timer, and then only missing packets are sent.
#[test]
fn a_timeout_repeats_only_what_is_missing() {
    let mut script = selective();
    script.post(at(0), Operation::Write(5_000));
    script.requests(at(0));
    assert_eq!(script.deliver(at(8), "w1"), "snak0<1");
    assert_eq!(script.deliver(at(8), "w3"), "snak0<3");
    script.answer(at(16), "snak0<1 snak0<3");
    assert_eq!(script.requests(at(16)), "w0? w2?");
    script.timeout(at(TIMEOUT_US));
    assert_eq!(script.requests(at(TIMEOUT_US)), "w0? w2? w4?");
    assert_eq!(script.deliver(at(TIMEOUT_US + 8), "w0? w2? w4?"), "ack4");
}

// RDMA-17, RDMA-20: a test on each side of the window's end.
#[test]
fn nothing_beyond_the_window_is_sent() {
    let recovery = Recovery::SelectiveRepeat { window_packets: 64 };
    let mut script = Script::new(Config { recovery, ..Config::default() });
    script.post(at(0), Operation::Write(100 * 1024));
    let sent = script.requests(at(0));
    assert!(sent.starts_with("w0 ") && sent.ends_with("w62 w63?"), "{sent}");
    assert!(sent.contains("w31? w32 "), "{sent}");
    script.answer(at(16), "ack31");
    let sent = script.requests(at(16));
    assert!(sent.starts_with("w64 ") && sent.ends_with("w95?"), "{sent}");
}

// RDMA-17: a READ longer than the window is asked for in parts.
#[test]
fn a_long_read_is_asked_for_in_parts() {
    let recovery = Recovery::SelectiveRepeat { window_packets: 64 };
    let mut script = Script::new(Config { recovery, ..Config::default() });
    script.post(at(0), Operation::Read(100 * 1024));
    assert_eq!(script.requests(at(0)), "read0x65536");
    let first: Vec<String> = (0..31).map(|psn| format!("r{psn}")).collect();
    script.answer(at(16), &first.join(" "));
    assert_eq!(script.requests(at(16)), "", "31 of 64 are not worth a request");
    script.answer(at(17), "r31");
    assert_eq!(script.requests(at(17)), "read64x32768");
}

// RDMA-23
#[test]
fn only_the_missing_responses_are_asked_for_again() {
    let mut script = selective();
    script.post(at(0), Operation::Read(6_000));
    assert_eq!(script.requests(at(0)), "read0x6000");
    assert_eq!(script.deliver(at(8), "read0x6000"), "r0 r1 r2 r3 r4 r5");
    script.answer(at(16), "r0 r3");
    assert_eq!(script.requests(at(16)), "read1x2048");
    script.answer(at(16), "r5");
    assert_eq!(script.requests(at(16)), "read4x1024");
    assert_eq!(script.deliver(at(24), "read1x2048 read4x1024"), "r1 r2 r4");
    script.answer(at(32), "r1 r2 r4");
    assert_eq!(script.completion(), Some((0, Status::Success, at(32))));
    assert_eq!(script.requester.statistics().bytes_read, 6_000);
}

// RDMA-23: a lost READ request shows in the report of the packet that came after it.
#[test]
fn a_lost_read_request_is_repaired() {
    let mut script = selective();
    script.post(at(0), Operation::Read(2_000));
    script.post(at(0), Operation::Write(1_000));
    assert_eq!(script.requests(at(0)), "read0x2000 w2?");
    assert_eq!(script.deliver(at(8), "w2?"), "snak0<2");
    script.answer(at(16), "snak0<2");
    assert_eq!(script.requests(at(16)), "read0x2000");
    assert_eq!(script.deliver(at(24), "read0x2000"), "r0 r1 ack2");
    script.answer(at(32), "r0 r1 ack2");
    assert_eq!(script.completion(), Some((0, Status::Success, at(32))));
    assert_eq!(script.completion(), Some((1, Status::Success, at(32))));
}

// RDMA-21: a report that is overtaken by the responses before it still counts.
#[test]
fn a_late_report_of_what_was_kept_settles_it() {
    let mut script = selective();
    script.post(at(0), Operation::Read(1_000));
    script.post(at(0), Operation::Write(1_000));
    assert_eq!(script.requests(at(0)), "read0x1000 w1?");
    assert_eq!(script.deliver(at(8), "w1?"), "snak0<1");
    assert_eq!(script.deliver(at(9), "read0x1000"), "r0 ack1");
    script.answer(at(17), "r0");
    assert_eq!(script.completion(), Some((0, Status::Success, at(17))));
    script.answer(at(19), "snak0<1");
    assert_eq!(script.completion(), Some((1, Status::Success, at(19))), "though its acknowledgement is lost");
    assert!(script.requester.poll_timeout().is_never());
}

// RDMA-20, RDMA-23: a READ that is asked for again, for more than before, releases the packets that
// were kept.
#[test]
fn a_longer_read_releases_what_was_kept_behind_it() {
    let recovery = Recovery::SelectiveRepeat { window_packets: 64 };
    let mut script = Script::new(Config { recovery, ..Config::default() });
    script.post(at(0), Operation::Read(70 * 1024));
    script.post(at(0), Operation::Write(1_000));
    assert_eq!(script.requests(at(0)), "read0x65536");
    let responses: Vec<String> = (0..40).map(|psn| format!("r{psn}")).collect();
    script.deliver(at(8), "read0x65536");
    script.answer(at(16), &responses.join(" "));
    assert_eq!(script.requests(at(16)), "read64x6144 w70?");
    assert_eq!(script.deliver(at(24), "w70?"), "snak64<70");
    script.answer(at(32), "snak64<70");
    assert_eq!(script.requests(at(32)), "read40x30720");
    let replies = script.deliver(at(40), "read40x30720");
    assert!(replies.starts_with("r40 ") && replies.ends_with("r69 ack70"), "{replies}");
}
