//! Dialogues with one sender at a time, with every instant given.
//!
//! Ticks come at whole milliseconds; the round trip is 10 ms unless a test says otherwise.

use lossylink_core::time::{Duration, Instant};
use lossylink_core::units::BitRate;
use lossylink_sim::transport::tcp::{
    Ack, Block, Config, CongestionControl, Data, Packet, SackBlocks, Sender, SenderTimer, State,
};

pub(crate) const fn ms(ms: u64) -> Instant {
    Instant::from_ps(ms * 1_000_000_000)
}

pub(crate) const fn us(us: u64) -> Instant {
    Instant::from_ps(us * 1_000_000)
}

pub(crate) fn reno() -> Config {
    Config { congestion_control: CongestionControl::Reno, ..Config::default() }
}

pub(crate) fn ack(next: u64, blocks: &[(u64, u64)]) -> Packet {
    let mut sack = SackBlocks::default();
    blocks.iter().for_each(|&(start, end)| sack.push(next, Block { start, end }));
    Packet::Ack(Ack { next, sack, ecn_echo: false, ecn_capable: false, echo: 0 })
}

/// A sender in a dialogue. Packets that it sends are written `3` for segment 3, `3*` for its retransmission.
struct Talk(Sender);

impl Talk {
    /// Returns a sender of `segments` full segments, or of an endless flow, connected at 10 ms.
    fn new(config: &Config, segments: Option<u64>) -> Self {
        let mut talk = Self(Sender::new(config, segments.map(|segments| segments * 1460), Duration::ZERO));
        talk.0.open(ms(0));
        assert_eq!(talk.says(ms(0)), ["syn"]);
        talk.0.handle_packet(ms(10), &Packet::SynAck);
        let flight: Vec<String> = talk.says(ms(10));
        assert_eq!(flight[0], "ack");
        assert_eq!(flight.len() as u64, 1 + segments.unwrap_or(10).min(10), "the initial window");
        talk
    }

    fn says(&mut self, now: Instant) -> Vec<String> {
        std::iter::from_fn(|| self.0.poll_transmit(now))
            .map(|packet| match packet {
                Packet::Syn => "syn".to_owned(),
                Packet::Data(Data { first, retransmission, .. }) => {
                    format!("{first}{}", if retransmission { "*" } else { "" })
                }
                Packet::Ack(_) | Packet::SynAck => "ack".to_owned(),
            })
            .collect()
    }

    fn hears(&mut self, now: Instant, packet: &Packet) -> Vec<String> {
        assert!(self.0.poll_timeout() > now, "a timer was due at {}", self.0.poll_timeout());
        self.0.handle_packet(now, packet);
        self.says(now)
    }

    /// Checks that the timer is due exactly at `at`, and lets the timer fire. Returns the packets that the
    /// sender then sends.
    fn waits_until(&mut self, at: Instant) -> Vec<String> {
        assert_eq!(self.0.poll_timeout(), at, "not yet, or too late: {:?}", self.0.timer());
        self.0.handle_timeout(at);
        self.says(at)
    }
}

/// TCP-1: the first request waits a second, each further one twice as long; the wheel rounds up
/// to slots of 64 jiffies.
#[test]
fn a_lost_connection_request_is_repeated_after_a_second() {
    let mut sender = Sender::new(&reno(), None, Duration::ZERO);
    sender.open(ms(0));
    let mut talk = Talk(sender);
    assert_eq!(talk.says(ms(0)), ["syn"]);
    assert_eq!(talk.waits_until(ms(1_023)), ["syn"]);
    assert_eq!(talk.waits_until(ms(3_071)), ["syn"]);
    // TCP-3: twice lost, so the window starts at one and the timeout at three seconds.
    talk.0.handle_packet(ms(3_081), &Packet::SynAck);
    assert_eq!(talk.says(ms(3_081)), ["ack", "0"]);
    assert_eq!(talk.0.poll_timeout(), ms(4_095), "a probe after a second without a sample");
}

/// TCP-2: the sender's handshake gives the first round-trip sample.
#[test]
fn the_handshake_measures_the_path() {
    let talk = Talk::new(&reno(), None);
    assert_eq!(talk.0.statistics().rtt_min_us, 10_000);
    assert_eq!(talk.0.first_data_at(), Some(ms(10)));
}

/// TCP-15, TCP-18, TCP-19, TCP-22, TCP-31, TCP-42, TCP-43: the third SACKed segment starts recovery; lost
/// segments leave first.
#[test]
fn three_sacked_segments_start_recovery() {
    let mut talk = Talk::new(&reno(), None);
    assert_eq!(talk.hears(ms(20), &ack(0, &[(1, 2)])), ["10"]);
    assert_eq!(talk.0.state(), State::Disorder);
    assert_eq!(talk.hears(us(20_001), &ack(0, &[(1, 3)])), ["11"]);
    assert_eq!(talk.0.state(), State::Disorder);
    assert_eq!(talk.hears(us(20_002), &ack(0, &[(1, 4)])), ["0*"]);
    assert_eq!((talk.0.state(), talk.0.slow_start_threshold()), (State::Recovery, 5));
    assert_eq!(talk.0.timer(), Some(SenderTimer::Reordering(ms(26))), "armed by the first, it runs on");
    // TCP-30: one segment leaves for two delivered, until half of the window is in flight.
    let mut sent = Vec::new();
    for end in 5..=10 {
        sent.extend(talk.hears(us(20_000 + end), &ack(0, &[(1, end)])));
    }
    assert_eq!(sent, ["12", "13"]);
    assert_eq!(talk.hears(ms(30), &ack(12, &[])).len(), 3);
    assert_eq!((talk.0.state(), talk.0.congestion_window()), (State::Open, 5));
    assert_eq!(talk.0.statistics().fast_recoveries, 1);
    assert_eq!(talk.0.statistics().retransmissions, 1);
}

/// TCP-22, TCP-24, TCP-25: with two SACKed segments a quarter of the round trip passes first, in
/// jiffies, and two more.
#[test]
fn two_sacked_segments_wait_for_the_reordering_timer() {
    let mut talk = Talk::new(&reno(), Some(10));
    assert_eq!(talk.hears(ms(20), &ack(0, &[(8, 9)])), Vec::<String>::new());
    assert_eq!(talk.0.timer(), Some(SenderTimer::Reordering(ms(26))));
    assert_eq!(talk.hears(us(20_100), &ack(7, &[(8, 10)])), Vec::<String>::new());
    assert_eq!(talk.waits_until(ms(26)), ["7*"]);
    let statistics = talk.0.statistics();
    assert_eq!((statistics.reordering_timer_recoveries, statistics.fast_recoveries), (1, 0));
    assert_eq!(talk.0.state(), State::Recovery);
}

/// TCP-26: a segment that arrives late teaches the path's reordering; then three are not enough.
#[test]
fn reordering_once_seen_is_tolerated() {
    let mut talk = Talk::new(&reno(), None);
    talk.hears(ms(20), &ack(0, &[(1, 4)]));
    assert_eq!(talk.0.state(), State::Recovery);
    // The original arrives; then its retransmission, which the receiver reports.
    talk.hears(us(20_010), &ack(10, &[]));
    assert_eq!(talk.hears(ms(30), &ack(10, &[(0, 1)])).len(), 4, "from six to ten in flight");
    assert_eq!(talk.0.statistics().undo_events, 1, "TCP-36");
    assert_eq!(talk.0.state(), State::Open);
}

/// TCP-7, TCP-8, TCP-27, TCP-28, TCP-32, TCP-35: a silent tail is probed after two round trips and two jiffies,
/// then times out after the smoothed round trip and 200 ms, and again after twice that.
#[test]
fn a_silent_tail_is_probed_and_then_times_out() {
    let mut talk = Talk::new(&reno(), Some(10));
    assert_eq!(talk.hears(ms(20), &ack(8, &[])), Vec::<String>::new());
    assert_eq!(talk.0.timer(), Some(SenderTimer::LossProbe(ms(43))));
    assert_eq!(talk.waits_until(ms(43)), ["9*"]);
    assert_eq!(
        talk.0.timer(),
        Some(SenderTimer::RetransmissionTimeout(ms(255))),
        "210 jiffies, in slots of 8"
    );
    assert_eq!(talk.waits_until(ms(255)), ["8*"]);
    assert_eq!((talk.0.state(), talk.0.congestion_window()), (State::Loss, 1));
    assert_eq!(talk.0.timer(), Some(SenderTimer::RetransmissionTimeout(ms(679))), "420 jiffies");
    assert_eq!(talk.waits_until(ms(679)), ["8*"]);
    assert_eq!(
        talk.0.timer(),
        Some(SenderTimer::RetransmissionTimeout(ms(1_535))),
        "840 jiffies, in slots of 64"
    );
    assert_eq!(talk.hears(ms(700), &ack(9, &[])), ["9*"]);
    assert_eq!(talk.0.timer(), Some(SenderTimer::RetransmissionTimeout(ms(1_599))), "840 jiffies anew");
    assert_eq!(talk.hears(ms(710), &ack(10, &[])), Vec::<String>::new());
    assert_eq!(talk.0.completed_at(), Some(ms(710)));
    assert_eq!(talk.0.poll_timeout(), Instant::NEVER);
    let statistics = talk.0.statistics();
    assert_eq!((statistics.loss_probes, statistics.timeouts, statistics.retransmissions), (1, 2, 4));
    assert_eq!(statistics.rtt_samples, 2, "the handshake's and one: retransmissions give none");
}

/// TCP-28: with more to send the probe is new data, beyond the window.
#[test]
fn a_probe_prefers_new_data() {
    let mut talk = Talk::new(&reno(), None);
    assert_eq!(talk.0.timer(), Some(SenderTimer::LossProbe(ms(33))));
    assert_eq!(talk.waits_until(ms(33)), ["10"]);
}

/// TCP-27: the acknowledgement of a lone segment may be delayed, so its probe is the timeout's.
#[test]
fn a_lone_segment_waits_for_the_delayed_acknowledgement() {
    let talk = Talk::new(&reno(), Some(1));
    assert_eq!(
        talk.0.timer(),
        Some(SenderTimer::LossProbe(ms(223))),
        "210 of its 220 jiffies, in slots of 8"
    );
    let fast = Config { rto_min: Duration::from_ms(1), ..reno() };
    let talk = Talk::new(&fast, Some(1));
    assert_eq!(talk.0.timer(), Some(SenderTimer::LossProbe(ms(41))), "the first timeout: three round trips");
}

/// TCP-29: a probe that repairs a tail loss costs a reduction, one that was needless does not.
#[test]
fn a_probe_that_repairs_reduces_the_window() {
    let limited = Config { receive_window_bytes: 10 * 1460, ..reno() };
    for (answers, window) in [(vec![ack(10, &[]), ack(11, &[])], 10), (vec![ack(10, &[(9, 10)])], 21)] {
        let mut talk = Talk::new(&limited, None);
        assert_eq!(talk.waits_until(ms(33)), ["9*"]);
        let mut at = 43;
        for answer in answers {
            talk.hears(ms(at), &answer);
            at += 10;
        }
        assert_eq!(talk.0.congestion_window(), window, "grown by ten, and by the duplicate");
    }
}

/// TCP-34, TCP-38, TCP-39: originals arriving after a timeout prove it spurious (F-RTO).
#[test]
fn a_spurious_timeout_is_undone() {
    let mut talk = Talk::new(&reno(), Some(40));
    talk.waits_until(ms(33));
    assert_eq!(talk.waits_until(ms(247)), ["0*"]);
    assert_eq!((talk.0.state(), talk.0.congestion_window()), (State::Loss, 1));
    talk.hears(ms(250), &ack(5, &[]));
    assert_eq!((talk.0.state(), talk.0.statistics().undo_events), (State::Open, 1));
    assert!(talk.0.congestion_window() >= 10 && talk.0.slow_start_threshold() > 10);
}

/// TCP-37: with timestamps one late original is enough during recovery (Eifel).
#[test]
fn a_timestamp_undoes_a_spurious_recovery() {
    let stamped = Config { timestamps: true, ..reno() };
    let mut talk = Talk::new(&stamped, None);
    let with_echo = |packet: Packet, echo: u32| match packet {
        Packet::Ack(ack) => Packet::Ack(Ack { echo, ..ack }),
        other => other,
    };
    // Sent in the eleventh millisecond, retransmitted in the twenty-first.
    talk.hears(ms(20), &with_echo(ack(0, &[(1, 4)]), 11));
    assert_eq!(talk.0.state(), State::Recovery);
    talk.hears(ms(21), &with_echo(ack(10, &[]), 11));
    assert_eq!((talk.0.state(), talk.0.statistics().undo_events), (State::Open, 1));
    assert!(talk.0.congestion_window() >= 10);
}

/// TCP-42, TCP-44, TCP-51: an ECN echo reduces the window once per round trip and announces it.
#[test]
fn an_ecn_echo_reduces_once() {
    let mut talk = Talk::new(&Config { ecn: true, ..reno() }, None);
    let echo = |next| match ack(next, &[]) {
        Packet::Ack(ack) => Packet::Ack(Ack { ecn_echo: true, ..ack }),
        other => other,
    };
    talk.0.handle_packet(ms(20), &echo(1));
    assert_eq!((talk.0.state(), talk.0.slow_start_threshold()), (State::Reduced, 5));
    let first = talk.0.poll_transmit(ms(20));
    assert!(matches!(first, Some(Packet::Data(Data { window_reduced: true, ecn_capable: true, .. }))));
    talk.says(ms(20));
    for next in 2..=10 {
        talk.hears(us(20_000 + next), &echo(next));
    }
    assert_eq!(talk.0.statistics().ecn_reductions, 1);
    assert_eq!((talk.0.state(), talk.0.slow_start_threshold()), (State::Reduced, 5));
    talk.hears(ms(30), &ack(11, &[]));
    assert_eq!((talk.0.state(), talk.0.congestion_window()), (State::Open, 5));
}

/// TCP-9: an old acknowledgement counts for its SACK blocks, one of unsent data not at all.
#[test]
fn acknowledgements_out_of_place_do_no_harm() {
    let mut talk = Talk::new(&reno(), Some(10));
    talk.hears(ms(20), &ack(4, &[]));
    talk.hears(us(20_001), &ack(2, &[(5, 6)]));
    assert_eq!((talk.0.state(), talk.0.bytes_acknowledged()), (State::Disorder, 4 * 1460));
    let counts = |talk: &Talk| {
        let statistics = talk.0.statistics();
        (statistics.acknowledgements, statistics.segments_delivered, talk.0.state(), talk.0.timer())
    };
    let before = counts(&talk);
    assert_eq!(talk.hears(us(20_002), &ack(11, &[])), Vec::<String>::new());
    assert_eq!(counts(&talk), before);
}

/// TCP-10, TCP-11, TCP-22, TCP-26, TCP-41: a segment that arrives late without a retransmission
/// shows reordering; from then on three SACKed segments wait, and the window grows on SACKs.
#[test]
fn reordering_makes_the_sender_patient() {
    let mut talk = Talk::new(&reno(), None);
    talk.hears(ms(20), &ack(0, &[(5, 6)]));
    assert_eq!((talk.0.state(), talk.0.congestion_window()), (State::Disorder, 10));
    talk.hears(us(20_100), &ack(1, &[(5, 6)]));
    assert_eq!(talk.0.congestion_window(), 11);
    talk.hears(us(20_200), &ack(1, &[(5, 9)]));
    assert_eq!((talk.0.state(), talk.0.congestion_window()), (State::Disorder, 14), "four SACKed, none lost");
    assert!(matches!(talk.0.timer(), Some(SenderTimer::Reordering(_))));
    talk.hears(us(20_300), &ack(10, &[]));
    assert_eq!(talk.0.state(), State::Open);
    assert_eq!(talk.0.statistics().retransmissions, 0);
}

/// TCP-13: duplicates that no retransmission explains are the network's, and change nothing.
#[test]
fn a_network_that_repeats_packets_changes_nothing() {
    let mut talk = Talk::new(&reno(), Some(10));
    talk.hears(ms(20), &ack(4, &[]));
    let delivered = talk.0.statistics().segments_delivered;
    talk.hears(us(20_001), &ack(4, &[(0, 1)]));
    let statistics = talk.0.statistics();
    assert_eq!((statistics.segments_delivered, statistics.duplicate_reports), (delivered, 1));
    assert_eq!(talk.0.state(), State::Open);
}

/// TCP-20: the receive window bounds the outstanding segments.
#[test]
fn the_receive_window_bounds_the_flight() {
    let narrow = Config { receive_window_bytes: 4 * 1460, ..reno() };
    let mut sender = Sender::new(&narrow, None, Duration::ZERO);
    sender.open(ms(0));
    let mut talk = Talk(sender);
    talk.says(ms(0));
    talk.0.handle_packet(ms(10), &Packet::SynAck);
    assert_eq!(talk.says(ms(10)), ["ack", "0", "1", "2", "3"]);
    assert_eq!(talk.hears(ms(20), &ack(3, &[])), ["4", "5", "6"]);
}

/// Returns the number of segments in each packet of the initial window after a round trip of `rtt_us`.
fn bursts(rtt_us: u64) -> (Sender, Vec<u16>) {
    let offload = Config { max_burst_segments: 44, ..reno() };
    let mut sender = Sender::new(&offload, None, Duration::ZERO);
    sender.open(ms(0));
    sender.poll_transmit(ms(0));
    sender.handle_packet(us(rtt_us), &Packet::SynAck);
    let packets = std::iter::from_fn(|| sender.poll_transmit(us(rtt_us)));
    let sizes = packets.filter_map(|packet| match packet {
        Packet::Data(data) => Some(data.segments),
        _ => None,
    });
    let sizes = sizes.collect();
    (sender, sizes)
}

/// TCP-59: bursts are a millisecond's worth, larger on short paths, half a window at most.
#[test]
fn bursts_follow_rate_and_round_trip() {
    assert_eq!(bursts(10_000).1, [2, 2, 2, 2, 2]);
    assert_eq!(bursts(100).1, [5, 5]);
}

/// TCP-60: two segments wait, four make a third of the window and leave.
#[test]
fn a_small_burst_waits_for_the_next_acknowledgement() {
    let (sender, _) = bursts(100);
    let mut talk = Talk(sender);
    assert_eq!(talk.hears(us(200), &ack(1, &[])), Vec::<String>::new());
    assert_eq!(talk.hears(us(201), &ack(2, &[])), ["10"]);
    assert_eq!(talk.0.congestion_window(), 12);
}

/// TCP-61: each packet occupies the stack for its payload over the rate, here 1 ms; a stack that was idle
/// begins at once and has nothing in hand. Repeated segments take their turn.
#[test]
fn a_stack_hands_down_one_packet_after_another() {
    let stack_rate = Some(BitRate::from_bps(1460 * 8 * 1000));
    let config = Config { stack_rate, initial_window: 4, ..reno() };
    let mut sender = Sender::new(&config, Some(12 * 1460), Duration::ZERO);
    sender.open(ms(0));
    let mut talk = Talk(sender);
    assert_eq!(talk.says(ms(0)), ["syn"]);
    assert_eq!(talk.hears(ms(10), &Packet::SynAck), ["ack", "0"], "acknowledgements cost nothing");
    assert_eq!(talk.waits_until(ms(11)), ["1"]);
    assert_eq!(talk.waits_until(ms(12)), ["2"]);
    assert_eq!(talk.waits_until(ms(13)), ["3"]);
    assert_eq!(talk.hears(ms(20), &ack(1, &[])), ["4"], "idle since 14 ms: at once");
    assert_eq!(talk.hears(us(20_500), &ack(1, &[(2, 3)])), Vec::<String>::new(), "busy until 21 ms");
    assert_eq!(talk.waits_until(ms(21)), ["5"]);
    assert_eq!(talk.waits_until(ms(22)), ["6"]);
    assert_eq!(talk.hears(us(22_500), &ack(1, &[(2, 5)])), Vec::<String>::new(), "1 is lost: it waits");
    assert_eq!(talk.waits_until(ms(23)), ["1*"]);
}
