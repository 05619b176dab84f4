//! Explicit ACKs that are sent together are those that are sent one by one.

use super::*;
use crate::config::switch_profile;
use crate::net::{Ecn, LineRate, Wire};
use lossylink_core::engine::linkguardian::Position;
use lossylink_core::loss::{LossModel, LossProcess};
use lossylink_core::rng::Streams;
use lossylink_core::units::BitRate;
use proptest::prelude::*;

/// What is decided, or comes, before the ACKs are sent once more.
#[derive(Clone, Copy, Debug)]
enum Step {
    Advance,
    Notified,
    /// A loss is told, whose notification holds the line when its time has come.
    Notify,
    Frame(u32),
    Nothing,
}

fn steps() -> impl Strategy<Value = Vec<(u64, Step)>> {
    let step = prop_oneof![
        8 => Just(Step::Advance),
        1 => Just(Step::Notified),
        1 => Just(Step::Notify),
        1 => (60u32..1515).prop_map(Step::Frame),
        2 => Just(Step::Nothing),
    ];
    let wait_ns = prop_oneof![6 => 0u64..200, 1 => 0u64..5000];
    prop::collection::vec((wait_ns, step), 1..200)
}

/// A port, and the wire on which it sends.
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

/// As [`ReturnPort::send_acks`], one by one.
fn send_each(port: &mut ReturnPort<u64>, until: Instant, wire: &mut BackwardWire<u64>) -> Instant {
    let mut latest = Instant::ZERO;
    while port.poll_ack() <= until {
        latest = port.poll_ack();
        port.send_ack(latest, wire);
    }
    latest
}

/// Sends what may leave by `until`: the rest goes before an ACK of its time. Says when the last ACK left.
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
        for ((wait_ns, step), ahead) in steps.into_iter().zip(0..) {
            let position = Position::new(65_500, true).plus(ahead);
            now += Duration::from_ns(wait_ns);
            for (port, wire) in [(&mut many, &mut many_wire), (&mut each, &mut each_wire)] {
                match step {
                    Step::Advance => port.update(now, AckUpdate::Advance(position)),
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
            if matches!(step, Step::Nothing) {
                let last = send_all(&mut many, now, &mut many_wire, ReturnPort::send_acks);
                let last_of_each = send_all(&mut each, now, &mut each_wire, send_each);
                prop_assert_eq!(last, last_of_each);
                prop_assert_eq!(format!("{many:?}"), format!("{each:?}"));
                prop_assert_eq!(many_wire.under_way(), each_wire.under_way());
            }
        }
        let end = now + Duration::from_ns(100_000);
        let last = send_all(&mut many, end, &mut many_wire, ReturnPort::send_acks);
        prop_assert_eq!(last, send_all(&mut each, end, &mut each_wire, send_each));
        prop_assert_eq!(format!("{many:?}"), format!("{each:?}"));
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
