//! Ends that take many packets in one call act as they do packet by packet, and end in an equal state.

use crate::tcp_sender::{ack, us};
use lossylink_core::time::{Duration, Instant};
use lossylink_sim::kernel::Train;
use lossylink_sim::transport::tcp::{Config, CongestionControl, Data, Packet, Receiver, Sender};
use proptest::prelude::*;

/// A train of packets that comes to an end: the time since the last train, the spacing and the count, and the step of the
/// number from one packet to the next, of the first packet (`leap`) and of the others (`step`).
#[derive(Clone, Copy, Debug)]
struct Come {
    gap_us: u64,
    spacing_ns: u64,
    count: u32,
    leap: u64,
    step: u32,
    /// Whether the acknowledgements report a segment that came behind a missing one.
    misses: bool,
}

/// A TCP sender or receiver.
trait End {
    fn take(&mut self, at: Instant, packet: &Packet);
    fn take_train(&mut self, train: Train, packet: &Packet, sent: &mut Vec<(Instant, Packet)>) -> u32;
    fn expire(&mut self, at: Instant);
    fn poll(&mut self, at: Instant) -> Option<Packet>;
    fn due(&self) -> Instant;
}

macro_rules! end {
    ($end:ident) => {
        impl End for $end {
            fn take(&mut self, at: Instant, packet: &Packet) {
                handle(self, at, packet);
            }

            fn take_train(
                &mut self,
                train: Train,
                packet: &Packet,
                sent: &mut Vec<(Instant, Packet)>,
            ) -> u32 {
                Self::take_train(self, train, packet, |train, mut packet| {
                    for index in 0..train.count {
                        sent.push((train.nth(index), packet));
                        packet.advance(train.step);
                    }
                })
            }

            fn expire(&mut self, at: Instant) {
                self.handle_timeout(at);
            }

            fn poll(&mut self, at: Instant) -> Option<Packet> {
                self.poll_transmit(at)
            }

            fn due(&self) -> Instant {
                self.poll_timeout()
            }
        }
    };
}

/// The call that differs between sender and receiver.
trait Handle {
    fn handle(&mut self, at: Instant, packet: &Packet);
}

impl Handle for Sender {
    fn handle(&mut self, at: Instant, packet: &Packet) {
        self.handle_packet(at, packet);
    }
}

impl Handle for Receiver {
    fn handle(&mut self, at: Instant, packet: &Packet) {
        self.handle_packet(at, packet, false);
    }
}

fn handle(end: &mut impl Handle, at: Instant, packet: &Packet) {
    end.handle(at, packet);
}

end!(Sender);
end!(Receiver);

/// An end and the packets that it has sent.
struct Driven<E> {
    end: E,
    sent: Vec<(Instant, Packet)>,
    /// Whether the end takes trains, and how many packets it took in trains.
    in_trains: bool,
    together: u32,
}

impl<E: End> Driven<E> {
    fn new(end: E, in_trains: bool) -> Self {
        Self { end, sent: Vec::new(), in_trains, together: 0 }
    }

    fn poll(&mut self, at: Instant) {
        while let Some(packet) = self.end.poll(at) {
            self.sent.push((at, packet));
        }
    }

    /// Lets timers fire before `end`.
    fn run_until(&mut self, end: Instant) {
        while self.end.due() < end {
            let at = self.end.due();
            self.end.expire(at);
            self.poll(at);
        }
    }

    fn hear(&mut self, at: Instant, packet: &Packet) {
        self.run_until(at);
        self.end.take(at, packet);
        self.poll(at);
    }

    fn hear_train(&mut self, mut train: Train, mut packet: Packet) {
        loop {
            self.run_until(train.first);
            let come = train.come_by(self.end.due());
            let mut taken = 0;
            if self.in_trains && come > 1 {
                taken = self.end.take_train(train.up_to(come), &packet, &mut self.sent);
                self.together += taken;
            }
            if taken == 0 {
                self.end.take(train.first, &packet);
                taken = 1;
            }
            self.poll(train.nth(taken - 1));
            if taken == train.count {
                return;
            }
            packet.advance(taken * train.step);
            train = train.behind(taken);
        }
    }
}

/// Calls `each` with every train of `come`.
fn trains(come: &[Come], mut now: Instant, mut each: impl FnMut(Train, &Come)) {
    for come in come {
        let first = now + Duration::from_us(come.gap_us);
        let spacing = Duration::from_ns(come.spacing_ns);
        let train = Train { first, spacing, count: come.count, step: come.step };
        now = train.last();
        each(train, come);
    }
}

fn drive_sender(config: &Config, bytes: Option<u64>, come: &[Come], in_trains: bool) -> Driven<Sender> {
    let mut sender = Sender::new(config, bytes, Duration::from_us(300));
    sender.open(us(0));
    let mut driven = Driven::new(sender, in_trains);
    driven.poll(us(0));
    driven.hear(us(60), &Packet::SynAck);
    let mut acknowledged = 0;
    trains(come, us(60), |train, come| {
        acknowledged += come.leap;
        let blocks = if come.misses { vec![(acknowledged + 1, acknowledged + 2)] } else { vec![] };
        driven.hear_train(train, ack(acknowledged, &blocks));
        acknowledged += u64::from(train.step * (train.count - 1));
        // The receiver cannot acknowledge segments that it does not have.
        let sent = |packet: &Packet| if let Packet::Data(data) = packet { data.end() } else { 0 };
        acknowledged =
            acknowledged.min(driven.sent.iter().map(|(_, packet)| sent(packet)).max().unwrap_or(0));
    });
    driven
}

fn drive_receiver(config: &Config, come: &[Come], in_trains: bool) -> Driven<Receiver> {
    let mut driven = Driven::new(Receiver::new(config, Duration::from_us(300)), in_trains);
    driven.hear(us(0), &Packet::Syn);
    driven.hear(us(60), &ack(0, &[]));
    let (mut next, mut last) = (0, None);
    trains(come, us(60), |train, come| {
        let data = Data {
            first: next + come.leap.saturating_sub(1),
            payload: config.payload_bytes() - u32::from(come.misses),
            segments: 1,
            retransmission: false,
            ecn_capable: false,
            window_reduced: false,
            timestamp: 0,
        };
        driven.hear_train(train, Packet::Data(data));
        next = data.first + u64::from(train.step * (train.count - 1)) + 1;
        last = Some((train.last(), Data { first: next - 1, ..data }));
    });
    if let Some((at, data)) = last {
        // A packet that comes twice is answered at once, so the newest packet in the outbox is the same.
        driven.hear(at, &Packet::Data(data));
    }
    driven
}

fn any_config() -> impl Strategy<Value = Config> {
    let algorithms =
        [CongestionControl::Reno, CongestionControl::Cubic, CongestionControl::Dctcp, CongestionControl::Bbr];
    let algorithm = prop::sample::select(algorithms.to_vec());
    (algorithm, 1u32..4, 0u32..20, prop::bool::weighted(0.1), 1u64..4).prop_map(
        |(congestion_control, delayed_ack_segments, quick_acks, timestamps, tick_ms)| Config {
            congestion_control,
            delayed_ack_segments,
            quick_acks,
            timestamps,
            tick: Duration::from_ms(tick_ms),
            ..Config::default()
        },
    )
}

fn any_come() -> impl Strategy<Value = Come> {
    let leap = prop_oneof![4 => Just(1u64), 1 => 0u64..6];
    let step = prop_oneof![4 => Just(1u32), 2 => Just(2), 1 => 0u32..6];
    let spacing_ns = prop_oneof![Just(1_230u64), 0u64..400_000];
    (1u64..3_000, spacing_ns, 1u32..40, leap, step, prop::bool::weighted(0.05)).prop_map(
        |(gap_us, spacing_ns, count, leap, step, misses)| Come {
            gap_us,
            spacing_ns,
            count,
            leap,
            step,
            misses,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    /// TCP-9, TCP-20
    #[test]
    fn a_sender_takes_trains_as_it_takes_their_packets(
        config in any_config(),
        bytes in prop::option::of(1u64..300_000),
        come in prop::collection::vec(any_come(), 1..30),
    ) {
        let drive = |in_trains| drive_sender(&config, bytes, &come, in_trains);
        let (together, apart) = (drive(true), drive(false));
        prop_assert_eq!(&together.sent, &apart.sent);
        prop_assert_eq!(format!("{:?}", together.end), format!("{:?}", apart.end));
    }

    /// TCP-54, TCP-57
    #[test]
    fn a_receiver_takes_trains_as_it_takes_their_packets(
        config in any_config(),
        come in prop::collection::vec(any_come(), 1..30),
    ) {
        let drive = |in_trains| drive_receiver(&config, &come, in_trains);
        let (together, apart) = (drive(true), drive(false));
        prop_assert_eq!(&together.sent, &apart.sent);
        prop_assert_eq!(format!("{:?}", together.end), format!("{:?}", apart.end));
    }
}

/// The canary of the properties: packets are taken together, whether each packet is acknowledged or every second.
#[test]
fn predicted_packets_are_taken_together() {
    let config = |delayed_ack_segments| Config {
        congestion_control: CongestionControl::Reno,
        delayed_ack_segments,
        ..Config::default()
    };
    let come = |step: u32, count| Come {
        gap_us: 40,
        spacing_ns: 1_230,
        count,
        leap: step.into(),
        step,
        misses: false,
    };
    for step in [1, 2] {
        // The acknowledgements together cover ten segments, the initial window.
        let sender = drive_sender(&config(2), None, &[come(step, 10 / step)], true);
        assert_eq!(sender.together, 10 / step, "{step}");
        let receiver = drive_receiver(&config(step), &[come(1, 1), come(1, 30), come(1, 60)], true);
        assert!(receiver.together > 50, "{step}: {}", receiver.together);
    }
}
