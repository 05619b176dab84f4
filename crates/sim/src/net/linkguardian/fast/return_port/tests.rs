//! Explicit ACKs that are sent as trains equal explicit ACKs that are sent one by one.

use super::*;
use crate::config::switch_profile;
use crate::net::{Ecn, LineRate, Wire};
use lossylink_core::engine::linkguardian::Position;
use lossylink_core::loss::{LossModel, LossProcess};
use lossylink_core::rng::Streams;
use lossylink_core::time::Duration;
use lossylink_core::units::BitRate;
use proptest::prelude::*;

/// An event at the port before the ACKs are sent once more.
#[derive(Clone, Copy, Debug)]
enum Step {
    Advance,
    /// This many frames arrive in sequence, at this distance.
    AdvanceTrain(u32, u64),
    Notified,
    /// A loss is detected, and its notification holds the line when it leaves.
    Notify,
    Frame(u32),
    Nothing,
}

/// Draws the distance of two frames: frames of 1541 octets at lines of several rates, and others.
fn apart_ps() -> impl Strategy<Value = u64> {
    prop_oneof![
        3 => prop::sample::select(vec![123_280, 124_590, 493_120, 600_000, 1_200_000, 1_232_800]),
        2 => 1u64..5_000_000,
    ]
}

fn steps() -> impl Strategy<Value = Vec<(u64, Step)>> {
    let step = prop_oneof![
        6 => Just(Step::Advance),
        4 => (2u32..40, apart_ps()).prop_map(|(count, ps)| Step::AdvanceTrain(count, ps)),
        1 => Just(Step::Notified),
        1 => Just(Step::Notify),
        1 => (60u32..1515).prop_map(Step::Frame),
        2 => Just(Step::Nothing),
    ];
    let wait_ns = prop_oneof![6 => 0u64..200, 1 => 0u64..5000];
    prop::collection::vec((wait_ns, step), 1..200)
}

/// Builds a port, and the wire on which the port sends.
fn port(
    profile: &str,
    gbps: u64,
    loss: &LossModel,
    seed: u64,
    phase: u64,
) -> (ReturnPort<u64>, BackwardWire<u64>) {
    let timing =
        Timing::new(&switch_profile(profile), LineRate::new(BitRate::from_gbps(gbps)), Duration::ZERO);
    let phase = phase.checked_rem(timing.cycle.as_ps()).unwrap_or(0);
    let packet = Circulating::new(timing.cycle, Duration::from_ps(phase));
    let loss = LossProcess::new(loss, Streams::new(seed).stream("back"));
    (ReturnPort::new(timing, packet, 1), BackwardWire::new(Wire::new(loss)))
}

/// Returns the state of a port as text, change by change.
fn inside(port: &ReturnPort<u64>) -> String {
    let mut rest = port.clone();
    rest.updates.clear();
    format!("{:?} {:?}", rest.updates.poll_timeout(), ReturnPort { updates: Trains::new(), ..rest })
        + &format!("{:?}", port.updates.members())
}

/// Sends the explicit ACKs one by one. Returns when the last ACK left.
fn send_each(port: &mut ReturnPort<u64>, until: Instant, wire: &mut BackwardWire<u64>) -> Instant {
    let mut latest = Instant::ZERO;
    while port.poll_ack() <= until {
        latest = port.poll_ack();
        port.send_ack(latest, wire);
    }
    latest
}

/// Sends the frames that may leave by `until`. Other frames go before an ACK of their time. Returns when the last ACK left.
fn send_all(
    port: &mut ReturnPort<u64>,
    until: Instant,
    wire: &mut BackwardWire<u64>,
    send: impl Fn(&mut ReturnPort<u64>, Instant, &mut BackwardWire<u64>) -> Instant,
) -> Instant {
    let mut latest = Instant::ZERO;
    while port.poll_timeout() <= until {
        let due = port.poll_timeout();
        latest = latest.max(send(port, due.just_before(), wire));
        port.serve(due, wire);
    }
    latest.max(send(port, until, wire))
}

proptest! {
    // LG-15, LG-17
    #[test]
    fn explicit_acks_are_sent_together_as_one_by_one(
        profile in prop::sample::select(vec!["tofino1", "ideal"]),
        gbps in prop::sample::select(vec![10, 100, 400]),
        loss in prop_oneof![Just(0.0), 0.01..0.5],
        seed: u64,
        phase: u64,
        steps in steps(),
    ) {
        let loss = LossModel::bernoulli(loss).unwrap();
        let (mut many, mut many_wire) = port(profile, gbps, &loss, seed, phase);
        let (mut each, mut each_wire) = (many.clone(), many_wire.clone());
        let mut now = Instant::ZERO;
        let mut next = Position::new(65_500, true);
        for (wait_ns, step) in steps {
            let position = next;
            now += Duration::from_ns(wait_ns);
            let mut last = now;
            next = next.next();
            for (port, wire) in [(&mut many, &mut many_wire), (&mut each, &mut each_wire)] {
                match step {
                    Step::Advance => port.update(now, AckUpdate::Advance(position)),
                    Step::AdvanceTrain(count, ps) => {
                        let train = Train { spacing: Duration::from_ps(ps), count, ..Train::of_one(now) };
                        port.update_train(train, position);
                        (last, next) = (train.last(), position.plus(count));
                    }
                    Step::Notified => port.update(now, AckUpdate::Notified(position)),
                    Step::Frame(bytes) => {
                        port.offer(now, Frame::of_frame_bytes(bytes, Ecn::NotCapable, 0), wire);
                    }
                    Step::Notify => {
                        let (leading, first_lost) = (position, position);
                        port.notify(now, Notification { leading, first_lost, hole_size: 1 });
                    }
                    Step::Nothing => {}
                }
            }
            now = last;
            if matches!(step, Step::Nothing) {
                let last = send_all(&mut many, now, &mut many_wire, ReturnPort::send_acks);
                let last_of_each = send_all(&mut each, now, &mut each_wire, send_each);
                prop_assert_eq!(last, last_of_each);
                prop_assert_eq!(inside(&many), inside(&each));
                prop_assert_eq!(many_wire.under_way(), each_wire.under_way());
            }
        }
        let end = now + Duration::from_ns(1_000_000);
        let last = send_all(&mut many, end, &mut many_wire, ReturnPort::send_acks);
        prop_assert_eq!(last, send_all(&mut each, end, &mut each_wire, send_each));
        prop_assert_eq!(inside(&many), inside(&each));
        prop_assert_eq!(many_wire.under_way(), each_wire.under_way());
        prop_assert!(many.poll_ack().is_never(), "all has been said");
    }

    // LG-15: `until` is the last instant at which one may leave.
    #[test]
    fn an_explicit_ack_leaves_at_its_time_and_not_before(gbps in prop::sample::select(vec![10, 100]), phase: u64) {
        let (mut port, mut wire) = port("tofino1", gbps, &LossModel::None, 0, phase);
        port.update(Instant::ZERO, AckUpdate::Advance(Position::ZERO));
        let due = port.poll_ack();
        prop_assert_eq!(port.send_acks(due.just_before(), &mut wire), Instant::ZERO);
        prop_assert_eq!((port.poll_ack(), wire.wire.traffic().frames), (due, 0));
        prop_assert_eq!(port.send_acks(due, &mut wire), due);
        prop_assert_eq!(wire.wire.traffic().frames, 1);
    }
}

// LG-15, LG-17: one entry stands for all ACKs of a train, whether frames or ACKs are the faster.
#[test]
fn acks_of_a_train_are_a_train() {
    for apart_ps in [124_590, 1_232_800] {
        let (mut port, mut wire) = port("tofino1", 100, &LossModel::None, 0, 0);
        let train = Train { spacing: Duration::from_ps(apart_ps), count: 64, ..Train::of_one(Instant::ZERO) };
        port.update_train(train, Position::ZERO);
        let end = train.last();
        port.send_acks(end, &mut wire);
        let (mut entries, mut acks) = (0u32, 0u32);
        wire.take_acks(end + Duration::from_ns(10_000), |train, _| {
            (entries, acks) = (entries + 1, acks + train.count)
        });
        assert_eq!(u64::from(acks), wire.wire.traffic().frames);
        assert!(acks >= 5 * entries, "{acks} in {entries}");
    }
}
