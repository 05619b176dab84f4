//! The stress test with every frame followed: the time of each frame from offer to delivery.
//!
//! The source always has a frame waiting. A tap on the link tells which frames were corrupted when they were
//! first sent. This loop is apart from that of the stress test, which would become slower with it.

use super::limits::{LATEST, Limit};
use super::stress::{Stress, StressResult};
use crate::Control;
use crate::measure::Histogram;
use crate::net::source::SATURATED_BACKLOG;
use crate::net::tap::{Content, LegName, Watch};
use crate::net::{Direction, Frame, ProtectedLink, Sight, Tap};
use lossylink_core::time::{Duration, Instant};
use std::cell::RefCell;
use std::rc::Rc;

/// Number of frames that are followed at a time: far more than any protection has under way.
const FOLLOWED: usize = 1 << 18;
/// Number of frames between two reports to the caller, who may then cancel the run.
const PROGRESS_FRAMES: u64 = 1 << 14;
/// Resolution of the delays. Mean, least and most are exact.
const BIN: Duration = Duration::from_ns(10);
/// Delays beyond 2 ms share the last bin.
const BINS: usize = 200_000;

/// The latencies of the frames of a run.
#[derive(Clone, Debug)]
pub struct Journeys {
    /// Time from offer to delivery, in picoseconds, of all frames that were offered to a busy link.
    pub latency: Histogram,
    /// Time from offer to delivery, in picoseconds, of the frames that were corrupted when they were first
    /// sent, and were delivered later.
    pub corrupted: Histogram,
}

/// A frame that is followed.
#[derive(Clone, Copy, Debug)]
struct Journey {
    offered: Instant,
    /// Whether the frame was corrupted when it was first sent; `None` before it was sent.
    is_corrupted: Option<bool>,
    is_delivered: bool,
}

/// All frames that are followed, by number modulo [`FOLLOWED`].
struct Followed {
    journeys: Vec<Journey>,
    offered: u64,
    seen: Journeys,
}

impl Followed {
    fn new() -> Self {
        let delays = || Histogram::new(BIN.as_ps(), BINS);
        let seen = Journeys { latency: delays(), corrupted: delays() };
        Self { journeys: Vec::new(), offered: 0, seen }
    }

    fn offer(&mut self, now: Instant) {
        let journey = Journey { offered: now, is_corrupted: None, is_delivered: false };
        if self.journeys.len() < FOLLOWED {
            self.journeys.push(journey);
        } else {
            self.journeys[Self::slot(self.offered)] = journey;
        }
        self.offered += 1;
    }

    const fn slot(number: u64) -> usize {
        number as usize & (FOLLOWED - 1)
    }

    /// Notes that a frame is sent for the first time, or again.
    fn send(&mut self, number: u64, arrives: bool) {
        self.journeys[Self::slot(number)].is_corrupted.get_or_insert(!arrives);
    }

    fn deliver(&mut self, at: Instant, number: u64) {
        let journey = &mut self.journeys[Self::slot(number)];
        if std::mem::replace(&mut journey.is_delivered, true) || number < SATURATED_BACKLOG as u64 {
            return; // a second copy, or a frame that found the link idle
        }
        let latency = (at - journey.offered).as_ps();
        self.seen.latency.add(latency);
        if journey.is_corrupted == Some(true) {
            self.seen.corrupted.add(latency);
        }
    }
}

/// The tap that tells which frames are corrupted.
struct Witness(Rc<RefCell<Followed>>);

impl Watch<u64> for Witness {
    fn see_on_link(&self, _now: Instant, sight: Sight<u64>) {
        if let (Direction::Forward, Content::Bare(frame) | Content::Behind(_, frame)) =
            (sight.direction, sight.content)
        {
            self.0.borrow_mut().send(frame.payload, sight.arrives);
        }
    }

    fn watched_hop(&self, _leg: LegName) -> Option<usize> {
        None
    }

    fn see_on_hop(&self, _now: Instant, _sight: Sight<u64>) {}

    fn begin_flow(&self, _number: u64) {}
}

/// Sends the frames of `stress` over `link`, with one frame always waiting, and follows each frame.
pub fn run<L: ProtectedLink<u64>>(
    link: &mut L,
    stress: Stress,
    control: &Control,
) -> (StressResult, Journeys) {
    control.set_total(stress.packets);
    let followed = Rc::new(RefCell::new(Followed::new()));
    link.set_tap(Tap::new(Rc::new(Witness(Rc::clone(&followed)))));
    let mut result = StressResult::of(&stress);
    let (mut now, mut offered) = (Instant::ZERO, 0);
    while !now.is_never() && now <= LATEST {
        while link.backlog() < SATURATED_BACKLOG && offered < stress.packets && !result.interrupted {
            followed.borrow_mut().offer(now);
            link.offer(now, Frame::of_frame_bytes(stress.frame_bytes, crate::net::Ecn::NotCapable, offered));
            offered += 1;
            if offered.is_multiple_of(PROGRESS_FRAMES) {
                control.add_done(PROGRESS_FRAMES);
                result.interrupted = control.is_cancelled();
            }
        }
        result.end = now;
        now = link.poll_timeout();
        if now > link.standstill() {
            if link.under_way() > 0 {
                result.end = link.standstill();
                result.limit = Some(Limit::Standstill { at: result.end, under_way: link.under_way() });
            }
            break;
        }
        if !now.is_never() {
            link.advance(now);
        }
        collect(link, now, &followed, &mut result);
    }
    result.offered = offered;
    link.set_tap(Tap::default());
    let seen = followed.borrow().seen.clone();
    (result, seen)
}

fn collect<L: ProtectedLink<u64>>(
    link: &mut L,
    now: Instant,
    followed: &RefCell<Followed>,
    result: &mut StressResult,
) {
    link.delivered().drain_due(now, |at, frame| {
        followed.borrow_mut().deliver(at, frame.payload);
        result.delivered.note(frame.payload);
        result.first = result.first.min(at);
        result.last = at;
    });
}
