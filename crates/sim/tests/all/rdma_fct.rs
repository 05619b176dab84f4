//! Completion times of RDMA operations over a bare lossy line, against the results of arithmetic.

use crate::rdma_pair;
use lossylink_core::loss::{LossModel, LossProcess};
use lossylink_core::rng::Streams;
use lossylink_core::time::Duration;
use lossylink_core::units::BitRate;
use lossylink_sim::net::LineRate;
use lossylink_sim::transport::rdma::{Config, Operation, Recovery, Status};
use rdma_pair::Pair;

/// The one-way delay between the two network cards, as in the host profile of the published runs.
const PROPAGATION: Duration = Duration::from_ns(7_600);
/// The published message: 24 packets at MTU 1024.
const MESSAGE: Operation = Operation::Write(24_387);

fn pair(recovery: Recovery, loss: &LossModel, seed: u64) -> Pair {
    let config = Config { recovery, ..Config::default() };
    let forward = LossProcess::new(loss, Streams::new(seed).stream("link/0/loss"));
    let back = LossProcess::new(&LossModel::None, Streams::new(seed).stream("link/0/reverse-loss"));
    Pair::new(&config, LineRate::new(BitRate::from_gbps(100)), PROPAGATION, (forward, back))
}

/// Returns the completion times in picoseconds of `trials` messages, one after another.
fn completion_times(recovery: Recovery, loss: &LossModel, trials: u64) -> Vec<u64> {
    let mut pair = pair(recovery, loss, 1);
    (0..trials)
        .map(|_| {
            let completion = pair.run(MESSAGE);
            assert_eq!(completion.status, Status::Success);
            (completion.completed_at - completion.posted_at).as_ps()
        })
        .collect()
}

/// Returns the octets on the wire of the message's packets: 38 of Ethernet around each IP packet.
fn message_octets() -> u64 {
    let (first, middle, last) = (1084 + 38, 1068 + 38, 880 + 38);
    first + 22 * middle + last
}

/// Returns the least completion time: serialisation at 80 ps an octet, two flights, and the
/// acknowledgement's 86 octets.
fn floor_ps() -> u64 {
    message_octets() * 80 + 2 * PROPAGATION.as_ps() + 86 * 80
}

// RDMA-1, RDMA-4
#[test]
fn without_loss_the_floor_is_met_to_the_picosecond() {
    assert_eq!(floor_ps(), 17_316_640);
    for recovery in Recovery::ALL {
        assert_eq!(completion_times(recovery, &LossModel::None, 100), [floor_ps(); 100]);
    }
}

// RDMA-11: going back costs the NAK's round trip and the packets from the gap on.
#[test]
fn one_loss_costs_what_arithmetic_says() {
    let loss = LossModel::at(vec![10]).unwrap();
    let times = completion_times(Recovery::GoBackN, &loss, 1);
    // The arrival of packet 11 reveals the loss; packets 10 to 23 are then sent again.
    let until_nak = (1122 + 11 * 1106) * 80 + 2 * PROPAGATION.as_ps() + 86 * 80;
    let again = (13 * 1106 + 918) * 80 + 2 * PROPAGATION.as_ps() + 86 * 80;
    assert_eq!(times, [until_nak + again]);
}

// RDMA-22
#[test]
fn selective_repeat_sends_one_packet_again() {
    let loss = LossModel::at(vec![10]).unwrap();
    let times = completion_times(Recovery::SelectiveRepeat { window_packets: 64 }, &loss, 1);
    // A selective NAK is 52 B of IP, 90 octets on the wire.
    let until_nak = (1122 + 11 * 1106) * 80 + 2 * PROPAGATION.as_ps() + 90 * 80;
    assert_eq!(times, [until_nak + (1106 + 86) * 80 + 2 * PROPAGATION.as_ps()]);
}

// RDMA-13: the loss of the last packet costs the local ACK timeout, counted from when that packet left.
#[test]
fn a_lost_tail_costs_the_timeout() {
    let loss = LossModel::at(vec![23]).unwrap();
    let times = completion_times(Recovery::GoBackN, &loss, 1);
    let timeout = Duration::from_us(1_070).as_ps();
    let last_sent = (message_octets() - 918) * 80;
    // No packet was acknowledged, so go-back-N repeats the whole message.
    assert_eq!(times, [last_sent + timeout + floor_ps()]);
}

/// A message waits for the timer if its last packet is lost, or if a repair is lost whose gap was reported
/// already: of messages of 24 packets at loss rate p about p + 23 p^2 wait. The count of these messages
/// must lie within four standard deviations.
#[test]
fn timeouts_are_as_frequent_as_tail_losses() {
    let (trials, p) = (20_000, 1e-2);
    let times = completion_times(Recovery::GoBackN, &LossModel::bernoulli(p).unwrap(), trials);
    let late = times.iter().filter(|&&ps| ps > Duration::from_ms(1).as_ps()).count() as f64;
    // Lost: the tail alone (an earlier loss repairs it), or after an earlier one the first or last repair.
    let early = 1.0 - (1.0 - p).powi(23);
    let chance = (1.0 - early) * p + early * (1.0 - (1.0 - p).powi(2));
    let mean = trials as f64 * chance;
    assert!((late - mean).abs() < 4.0 * mean.sqrt(), "{late} of {trials} timed out, expected {mean}");
}

#[test]
fn a_read_meets_its_floor() {
    let mut pair = pair(Recovery::GoBackN, &LossModel::None, 1);
    let completion = pair.run(Operation::Read(24_387));
    let request = 60 + 38;
    let responses = (1072 + 38) + 22 * (1068 + 38) + (884 + 38);
    let expected = (request + responses) * 80 + 2 * PROPAGATION.as_ps();
    assert_eq!((completion.completed_at - completion.posted_at).as_ps(), expected);
    assert_eq!(pair.responder.statistics().responses_sent, 24);
    assert_eq!(pair.requester.statistics().bytes_read, 24_387);
}
