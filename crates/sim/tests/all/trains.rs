//! A train of frames crosses an unprotected link with the result of its frames one by one.

use crate::profiles;
use lossylink_core::loss::{LossModel, LossProcess};
use lossylink_core::rng::Streams;
use lossylink_core::time::{Duration, Instant};
use lossylink_core::units::BitRate;
use lossylink_sim::kernel::Train;
use lossylink_sim::net::direct::DirectConfig;
use lossylink_sim::net::queue::QueueLimits;
use lossylink_sim::net::{Direction, Ecn, Frame, LineRate, PlainLink, ProtectedLink, queue_limits};
use proptest::prelude::*;

/// A train on its way to the link, and the time since the last frame before it.
#[derive(Clone, Copy, Debug)]
struct Sent {
    gap_ns: u64,
    spacing_ns: u64,
    count: u32,
    frame_bytes: u32,
    ecn: Ecn,
}

/// A link and the frames that left it: the time and the number of each.
struct Crossing {
    link: PlainLink<u32>,
    out: Vec<(Instant, u32)>,
    /// The number of frames that crossed in trains of two or more.
    together: u32,
}

impl Crossing {
    fn new(seed: u64, model: &LossModel, room_bytes: u64) -> Self {
        let streams = Streams::new(seed);
        let losses = |name| LossProcess::new(model, streams.stream(name));
        let queue = QueueLimits { limit_bytes: room_bytes, ..queue_limits(&profiles::profile("tofino1")) };
        let rate = LineRate::new(BitRate::from_gbps(100));
        let config = DirectConfig { rates: rate.into(), flight: Duration::from_ns(500), queue };
        Self { link: PlainLink::new(config, losses("forward"), losses("reverse")), out: vec![], together: 0 }
    }

    fn offer(&mut self, at: Instant, frame: Frame<u32>) {
        self.link.advance(at);
        self.link.offer(at, frame);
        self.collect();
    }

    fn collect(&mut self) {
        let out = &mut self.out;
        self.link.delivered().take_all(|at, frame| out.push((at, frame.payload)));
    }

    /// Carries the frames of the train that leave by `until` at once, and the rest frame by frame.
    fn carry(&mut self, mut train: Train, mut frame: Frame<u32>, until: Instant) {
        self.link.advance(train.first);
        self.link.decide_until(until);
        self.collect();
        loop {
            let passage = self.link.take(Direction::Forward, train, &frame, until);
            if let Some(delivered) = passage.delivered {
                self.out
                    .extend((0..delivered.count).map(|index| (delivered.nth(index), frame.payload + index)));
                self.together += if delivered.count > 1 { delivered.count } else { 0 };
            }
            match passage.taken {
                0 => break,
                taken if taken == train.count => return,
                taken => {
                    train = train.behind(taken);
                    frame.payload += taken;
                }
            }
        }
        for index in 0..train.count {
            self.offer(train.nth(index), Frame { payload: frame.payload + index, ..frame });
        }
    }

    /// Returns the visible state of the link at `at`.
    fn seen(&mut self, at: Instant) -> String {
        self.link.advance(at);
        self.link.queue_mut().settle(at);
        self.collect();
        let queue = self.link.queue();
        let counts = (queue.bytes(), queue.high_water_bytes(), queue.dropped(), queue.marked());
        format!("{:?} {counts:?} {:?}", self.out, self.link.traffic())
    }
}

/// Sends the trains over a link at once, as far as they leave within `horizon_ns` of their last frame, and over its twin
/// frame by frame. Both links must look alike in the end. Returns how many frames crossed as trains, were dropped, and
/// were lost.
fn beside(
    seed: u64,
    model: &LossModel,
    room_bytes: u64,
    horizon_ns: u64,
    trains: &[Sent],
) -> (u32, u64, u64) {
    let (mut together, mut apart) =
        (Crossing::new(seed, model, room_bytes), Crossing::new(seed, model, room_bytes));
    let (mut now, mut number) = (Instant::ZERO, 0);
    for sent in trains {
        let first = now + Duration::from_ns(sent.gap_ns);
        let train = Train { first, spacing: Duration::from_ns(sent.spacing_ns), count: sent.count, step: 1 };
        let frame = Frame::of_frame_bytes(sent.frame_bytes, sent.ecn, number);
        together.carry(train, frame, train.last() + Duration::from_ns(horizon_ns));
        (0..train.count)
            .for_each(|index| apart.offer(train.nth(index), Frame { payload: number + index, ..frame }));
        now = train.last();
        number += train.count;
    }
    let end = now + Duration::from_ms(1);
    assert_eq!(together.seen(end), apart.seen(end));
    (together.together, apart.link.queue().dropped(), apart.link.traffic().lost)
}

fn any_sent() -> impl Strategy<Value = Sent> {
    let spacing_ns = prop_oneof![0u64..200, Just(0), 100u64..900];
    let ecn = prop_oneof![3 => Just(Ecn::NotCapable), 1 => Just(Ecn::Capable)];
    (0u64..2_000, spacing_ns, 1u32..30, 60u32..=1514, ecn).prop_map(
        |(gap_ns, spacing_ns, count, frame_bytes, ecn)| Sent { gap_ns, spacing_ns, count, frame_bytes, ecn },
    )
}

/// Returns independent losses, or losses in bursts that last a time.
fn any_loss() -> impl Strategy<Value = LossModel> {
    let fades = (100u64..10_000, 10u64..2_000).prop_map(|(clear, fade)| {
        LossModel::fades(Duration::from_ns(clear), Duration::from_ns(fade)).unwrap()
    });
    prop_oneof![(0.0..0.2f64).prop_map(|p| LossModel::bernoulli(p).unwrap()), fades]
}

proptest! {
    #[test]
    fn a_train_crosses_a_link_as_its_frames_do(
        seed: u64,
        model in any_loss(),
        room_frames in 1u64..60,
        horizon_ns in prop_oneof![0u64..3_000, Just(1_000_000)],
        trains in prop::collection::vec(any_sent(), 1..40),
    ) {
        beside(seed, &model, room_frames * 1_600, horizon_ns, &trains);
    }
}

/// The canary of the property above: trains do cross as trains, and there are drops and losses.
#[test]
fn trains_cross_a_busy_line_and_some_are_dropped_and_lost() {
    let sent = Sent { gap_ns: 1_000, spacing_ns: 0, count: 20, frame_bytes: 1514, ecn: Ecn::NotCapable };
    let model = LossModel::bernoulli(0.05).unwrap();
    let (crossed, dropped, lost) = beside(1, &model, 15 * 1_600, 1_000_000, &[sent; 50]);
    assert!(crossed > 300 && dropped > 100 && lost > 10, "{crossed}, {dropped}, {lost}");
}
