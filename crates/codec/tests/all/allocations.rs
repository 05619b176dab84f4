//! A guard in operation allocates nothing, whatever its line protocol: the loop around it runs in real time.

use lossylink_codec::{FecLine, Gf256};
use lossylink_core::engine::report::Reading;
use lossylink_core::guard::routed::RoutedLine;
use lossylink_core::guard::{
    Frame, Guard, GuardConfig, LineProtocol, LinkGuardianLine, LlrLine, QueueLimits, Secret, Side,
};
use lossylink_core::protection::{Fec, LinkGuardian, Llr, Protection};
use lossylink_core::rng::Streams;
use lossylink_core::time::{Duration, Instant};
use lossylink_core::units::{BitRate, Bytes};
use std::collections::VecDeque;

/// Full frames back to back take 12.3 us at 1 Gb/s.
const SPACING: Duration = Duration::from_us(13);
/// One in `LOST_EVERY` frames on the link is lost.
const LOST_EVERY: u64 = 101;

fn guard(name: &str, protection: &Protection) -> Guard {
    let queue = QueueLimits { capacity: Bytes(560_000), mark_from: None };
    let config = GuardConfig { queue, longest_frame: 1514, frames: 5_000, secret: None };
    let rate = BitRate::from_gbps(1);
    let lines: Vec<Box<dyn LineProtocol>> = vec![
        Box::new(LinkGuardianLine::new()),
        Box::new(FecLine::new(rate, Bytes(1514))),
        Box::new(LlrLine::new(rate, Bytes(1514))),
    ];
    Guard::new(config, lines, protection.clone(), 1e-2, Streams::new(1).stream(name))
}

/// Sends `frames` frames from the near end, and carries the frames of both guards.
fn run(ends: &mut [Guard; 2], now: &mut Instant, seen: &mut u64, frames: u32) {
    let frame = [0x5a; 1514];
    for _ in 0..frames {
        *now += SPACING;
        ends.iter_mut().for_each(|end| end.handle_timeout(*now));
        ends[0].handle_frame(*now, Side::Lan, &frame);
        for end in [0, 1, 0, 1] {
            while let Some(frame) = ends[end].poll_transmit(*now, Side::Link) {
                *seen += 1;
                if !(*seen).is_multiple_of(LOST_EVERY) {
                    ends[1 - end].handle_frame(*now, Side::Link, &frame);
                }
                ends[end].recycle(frame);
            }
            while let Some(frame) = ends[end].poll_transmit(*now, Side::Lan) {
                ends[end].recycle(frame);
            }
        }
    }
}

#[test]
fn a_guard_in_its_stride_costs_no_allocation() {
    let protections = [
        Protection::None,
        Protection::LinkGuardian(LinkGuardian::ORDERED),
        Protection::LinkGuardian(LinkGuardian::NON_BLOCKING),
        Protection::Fec(Fec::new(5, 2)),
        Protection::Llr(Llr { replays: 255, ..Llr::default() }),
    ];
    for protection in protections {
        let mut ends = [guard("near", &protection), guard("far", &protection)];
        let (mut now, mut seen) = (Instant::ZERO, 0);
        run(&mut ends, &mut now, &mut seen, 40_000);
        let allocated = allocation_counter::measure(|| run(&mut ends, &mut now, &mut seen, 20_000));
        assert_eq!(allocated.count_total, 0, "{protection}");
        assert!(ends[1].counters().to_lan > 58_000, "{protection}");
    }
}

/// Two routed guards, 20 ms apart, and the frames under way to each. The buffers of these frames are used
/// again.
struct Path {
    ends: [Guard; 2],
    flying: [VecDeque<(Instant, Frame)>; 2],
    free: Vec<Frame>,
    now: Instant,
    sent: u64,
}

impl Path {
    fn new() -> Self {
        let ends = ["near", "far"].map(|name| {
            let queue = QueueLimits { capacity: Bytes(560_000), mark_from: None };
            let secret = Secret::new(b"sixteen bytes or more");
            let config = GuardConfig { queue, longest_frame: 1514, frames: 40_000, secret };
            let line = Box::new(RoutedLine::new(Box::new(Gf256)));
            Guard::closed(config, line, Protection::Routed, Streams::new(1).stream(name))
        });
        let flying = [(); 2].map(|()| VecDeque::with_capacity(10_000));
        let free = (0..10_000).map(|_| Vec::with_capacity(2000)).collect();
        Self { ends, flying, free, now: Instant::ZERO, sent: 0 }
    }

    /// Sends `frames` frames from the near end, one in 0.1 ms. One in a hundred is lost.
    fn run(&mut self, frames: u32) {
        for _ in 0..frames {
            self.now += Duration::from_us(100);
            self.ends[0].handle_frame(self.now, Side::Lan, &[0x5a; 1000]);
            for end in [0, 1, 0, 1] {
                let Self { ends, flying, free, now, sent } = self;
                ends[end].handle_timeout(*now);
                while flying[end].front().is_some_and(|(at, _)| *at <= *now) {
                    let (_, frame) = flying[end].pop_front().expect("one is under way");
                    ends[end].handle_frame(*now, Side::Link, &frame);
                    free.push(frame);
                }
                while let Some(frame) = ends[end].poll_transmit(*now, Side::Link) {
                    *sent += 1;
                    if end == 1 || !sent.is_multiple_of(LOST_EVERY) {
                        let mut copy = free.pop().expect("a frame that is free");
                        copy.clear();
                        copy.extend_from_slice(&frame);
                        flying[1 - end].push_back((*now + Duration::from_ms(20), copy));
                    }
                    ends[end].recycle(frame);
                }
                while let Some(frame) = ends[end].poll_transmit(*now, Side::Lan) {
                    ends[end].recycle(frame);
                }
            }
        }
    }

    fn count(&self, end: usize, name: &str) -> u64 {
        let groups = self.ends[end].report();
        let counter = groups.iter().flat_map(|group| &group.counters).find(|counter| counter.name == name);
        match counter.expect(name).reading {
            Reading::Number(number) => number,
            _ => panic!("{name} is no number"),
        }
    }
}

// RT-14, RT-15
#[test]
fn a_routed_guard_that_sends_repairs_ahead_costs_no_allocation() {
    let mut path = Path::new();
    path.run(60_000);
    let before = [path.count(0, "repairs"), path.count(1, "rebuilt")];
    let allocated = allocation_counter::measure(|| path.run(30_000));
    let after = [path.count(0, "repairs"), path.count(1, "rebuilt")];
    assert!(after[0] > before[0] + 500 && after[1] > before[1] + 100, "{before:?}, {after:?}");
    assert_eq!(allocated.count_total, 0);
}
