//! The stress test: a packet generator in front of a protected link, and a counter behind it.
//!
//! Source: LinkGuardian's artifact, "switch-to-switch stress test". The generator keeps at most a
//! profile's number of frames in the sender's queue; buffers are sampled every 10 ms ([`super::samples`]) and have a
//! high-water mark.

use super::limits::{LATEST, Limit, turn};
use super::samples::BufferSamples;
use crate::Control;
#[cfg(feature = "fast")]
use crate::kernel::Train;
use crate::measure::SequenceCheck;
use crate::net::source::{self, NoFrames, SATURATED_BACKLOG, Saturated, Source as _};
use crate::net::{Ecn, Frame, ProtectedLink};
use lossylink_core::time::{Duration, Instant};

/// Number of ticks of the generator, or frames of it, between two looks at the delivered frames. LinkGuardian's switches run
/// ahead of each other by at most this number of frames. Chosen by the instructions that a frame takes: 197 with 64, 176 with
/// 1,024.
const COLLECT_FRAMES: u64 = 1024;
/// Number of frames at the end of a run that are offered one by one, because the run ends with its last event.
const LAST_FRAMES: u64 = 64;
/// The time that a saturated source fills between two looks at the delivered frames: that of 1,000 frames at 100 Gb/s.
const SATURATED_TURN: Duration = Duration::from_us(125);
/// Number of frames between two reports to the caller.
const PROGRESS_FRAMES: u64 = 1 << 16;
/// Number of steps in which a link may still drain once the caller has cancelled the run.
const LAST_STEPS: u64 = 1 << 16;

/// The source of the frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// A packet generator that emits one frame a period while fewer than `queue_packets` wait.
    Generator {
        /// The time between two frames.
        period: Duration,
        /// Number of frames that may wait.
        queue_packets: usize,
    },
    /// A source that always has a frame waiting.
    Saturated,
}

/// The frames that the stress test sends.
#[derive(Clone, Copy, Debug)]
pub struct Stress {
    /// Number of frames to send.
    pub packets: u64,
    /// Size of each frame, Ethernet header included and check sequence not.
    pub frame_bytes: u32,
    /// The source of the frames.
    pub source: Source,
}

/// The result of a stress test.
#[derive(Clone, Debug)]
pub struct StressResult {
    /// Order and uniqueness of the delivered frames.
    pub delivered: SequenceCheck,
    /// Number of frames offered.
    pub offered: u64,
    /// The time when the first frame was delivered; never, if none was.
    pub first: Instant,
    /// The time when the last frame was delivered.
    pub last: Instant,
    /// Samples of the depths of the buffers.
    pub samples: BufferSamples,
    /// The end of the run.
    pub end: Instant,
    /// Whether the caller cut the run short.
    pub interrupted: bool,
    /// The limit at which the run ended before everything had happened, if it did.
    pub limit: Option<Limit>,
}

impl StressResult {
    /// Returns the result of a run that has not begun.
    pub(super) fn of(stress: &Stress) -> Self {
        Self {
            delivered: SequenceCheck::of(stress.packets),
            offered: 0,
            first: Instant::NEVER,
            last: Instant::ZERO,
            samples: BufferSamples::from(Instant::ZERO),
            end: Instant::ZERO,
            interrupted: false,
            limit: None,
        }
    }
}

/// A packet generator: a frame a period, while few enough frames wait.
#[derive(Clone, Copy, Debug)]
struct Generator {
    frame_bytes: u32,
    period: Duration,
    queue_packets: usize,
    tick: Instant,
    offered: u64,
    packets: u64,
}

impl source::Source<u64> for Generator {
    #[inline(always)]
    fn poll_timeout(&self, _backlog: usize) -> Instant {
        if self.offered < self.packets { self.tick } else { Instant::NEVER }
    }

    #[cfg(feature = "fast")]
    #[inline(always)]
    fn brings_many(&self, until: Instant) -> bool {
        self.tick + self.period * u64::from(source::MANY - 1) <= until
    }

    #[cfg(feature = "fast")]
    /// Returns the frames that come next as a train. Where frames leave no more slowly than they come, the frames behind one that
    /// comes find room, too.
    #[inline(always)]
    fn train(
        &self,
        backlog: usize,
        until: Instant,
        apart: impl Fn(u32) -> Duration,
    ) -> Option<(Train, Frame<u64>)> {
        let left = u32::try_from(self.packets - self.offered).unwrap_or(u32::MAX);
        let room = self.queue_packets.saturating_sub(backlog);
        let room = u32::try_from(room).unwrap_or(u32::MAX);
        let frame = Frame::of_frame_bytes(self.frame_bytes, Ecn::NotCapable, self.offered);
        let count = if room > 0 && apart(frame.octets) <= self.period { left } else { left.min(room) };
        if count == 0 || self.tick > until {
            return None;
        }
        let train = Train { spacing: self.period, count, ..Train::of_one(self.tick) };
        Some((train.up_to(train.come_by(until)), frame))
    }

    #[cfg(feature = "fast")]
    #[inline(always)]
    fn skip(&mut self, count: u32) {
        self.offered += u64::from(count);
        self.tick += self.period * u64::from(count);
    }

    #[inline(always)]
    fn take(&mut self, backlog: usize, offer: impl FnOnce(Instant, Frame<u64>)) {
        if backlog < self.queue_packets {
            offer(self.tick, Frame::of_frame_bytes(self.frame_bytes, Ecn::NotCapable, self.offered));
            self.offered += 1;
        }
        self.tick += self.period;
    }
}

impl Generator {
    /// Skips the ticks before `next`, the time of the next event: the queue has no room until then, so these ticks bring no
    /// frame.
    fn pass_until(&mut self, next: Instant) {
        let ticks = next.saturating_since(self.tick).as_ps().div_ceil(self.period.as_ps());
        self.tick += self.period * ticks;
    }
}

/// A run of the stress test in progress.
struct Run<'a, L> {
    link: &'a mut L,
    stress: Stress,
    offered: u64,
    /// Number of frames that have been reported to the caller.
    reported: u64,
    result: StressResult,
}

/// Sends the frames of `stress` over `link` and lets it drain.
pub fn run<L: ProtectedLink<u64>>(link: &mut L, stress: Stress, control: &Control) -> StressResult {
    control.set_total(stress.packets);
    let result = StressResult::of(&stress);
    let mut run = Run { link, stress, offered: 0, reported: 0, result };
    match stress.source {
        Source::Generator { period, queue_packets } => run.generate(period, queue_packets, control),
        Source::Saturated => run.saturate(control),
    }
    run.drain(control);
    run.result.offered = run.offered;
    run.result
}

impl<L: ProtectedLink<u64>> Run<'_, L> {
    fn generate(&mut self, period: Duration, queue_packets: usize, control: &Control) {
        let frame_bytes = self.stress.frame_bytes;
        let mut generator = Generator {
            frame_bytes,
            period,
            queue_packets,
            tick: Instant::ZERO,
            offered: 0,
            packets: self.stress.packets,
        };
        while self.offered < self.stress.packets && !self.is_cancelled(control) {
            let is_full = self.link.backlog() >= queue_packets;
            let tick = generator.tick;
            if self.is_over(tick, is_full) {
                break;
            }
            let before_sample = self.next_sample().just_before();
            if tick <= before_sample {
                let left = self.stress.packets - self.offered;
                let ticks = left.saturating_sub(LAST_FRAMES).clamp(1, COLLECT_FRAMES);
                let until = before_sample.min(tick + period * (ticks - 1));
                self.link.run(self.until(until, is_full), &mut generator, &mut NoFrames);
                self.collect();
            } else {
                self.advance_to(tick);
                generator.take(self.link.backlog(), |at, frame| self.link.offer(at, frame));
                if generator.offered.is_multiple_of(COLLECT_FRAMES) {
                    self.collect();
                }
            }
            self.result.end =
                self.result.end.max(Instant::ZERO + (generator.tick - Instant::ZERO).saturating_sub(period));
            if generator.offered == self.offered {
                self.wait_for_room(&mut generator);
            }
            self.offered = generator.offered;
        }
        self.link.advance(self.result.end);
    }

    /// Lets the generator, which found no room for long, wait for the next event of the link. An event behind a sample waits for
    /// the sample.
    fn wait_for_room(&mut self, generator: &mut Generator) {
        self.link.advance(generator.tick.min(self.next_sample()).just_before());
        self.collect();
        if self.link.backlog() >= generator.queue_packets {
            generator.pass_until(self.next_change());
        }
    }

    /// Returns when the queue may have room at the earliest, or the run is over.
    fn next_change(&self) -> Instant {
        self.link.poll_timeout().min(self.link.standstill()).min(LATEST)
    }

    fn saturate(&mut self, control: &Control) {
        let Stress { packets, frame_bytes, .. } = self.stress;
        let mut source = Saturated { frame_bytes, offered: 0, packets };
        let mut now = Instant::ZERO;
        self.fill(&mut source, now);
        while self.offered < packets && !self.is_cancelled(control) {
            let is_full = self.link.backlog() >= SATURATED_BACKLOG;
            if self.is_over(now, is_full) {
                break;
            }
            // No frame comes before the queue has room, and it has no room before the link's next event.
            let next = if is_full { self.link.poll_timeout() } else { now };
            let until = next.max(now + SATURATED_TURN).min(self.next_sample().just_before());
            let until = self.until(until, is_full);
            if now < until {
                let end = self.link.run(until, &mut source, &mut NoFrames);
                self.result.end = self.result.end.max(end);
                self.collect();
                now = until;
            } else {
                // The next event comes after the sample.
                now = self.until(self.link.poll_timeout(), true);
                self.step(now);
                self.fill(&mut source, now);
            }
            self.offered = source.offered;
        }
    }

    /// Whether the run is over at `now` though frames are left: the frames that wait will not move any more, or the clock ends.
    fn is_over(&mut self, now: Instant, is_full: bool) -> bool {
        if is_full && self.link.standstill() <= now {
            self.give_up(self.link.standstill());
        } else if now >= LATEST {
            self.result.limit = Some(Limit::Latest { under_way: self.link.under_way() });
        }
        self.result.limit.is_some()
    }

    /// Returns `until`, or the end of the clock or the standstill of a full link if that comes first.
    fn until(&self, until: Instant, is_full: bool) -> Instant {
        let standstill = if is_full { self.link.standstill() } else { Instant::NEVER };
        until.min(standstill).min(LATEST)
    }

    /// Ends the run, because no frame moves any more at `at`.
    fn give_up(&mut self, at: Instant) {
        self.result.end = self.result.end.max(at);
        let under_way = self.link.under_way();
        self.result.limit = Some(Limit::Standstill { at, under_way });
    }

    /// Offers frames of the source while the queue has room.
    fn fill(&mut self, source: &mut Saturated, now: Instant) {
        while source.poll_timeout(self.link.backlog()) <= now {
            source.take(self.link.backlog(), |_, frame| self.link.offer(now, frame));
        }
    }

    fn drain(&mut self, control: &Control) {
        let (begin, mut steps) = (self.result.end, 0);
        while self.result.limit.is_none() {
            let (deadline, standstill) = (self.link.poll_timeout(), self.link.standstill());
            if deadline.is_never() && self.link.backlog() == 0 {
                break;
            }
            if deadline > standstill {
                // A link without data may ask for an answer for ever: then no frame is given up.
                if self.link.under_way() > 0 {
                    self.give_up(standstill);
                }
                break;
            }
            if self.is_over(deadline, false) {
                break;
            }
            let is_cancelled = control.is_cancelled();
            steps += u64::from(is_cancelled);
            if steps >= LAST_STEPS {
                self.result.interrupted = true;
                break;
            }
            let until =
                turn(begin, deadline).min(standstill).min(LATEST).min(self.next_sample().just_before());
            if !is_cancelled && until > deadline {
                self.result.end = self.link.advance(until);
                self.collect();
            } else {
                self.step(deadline);
            }
        }
        self.collect();
    }

    /// Handles all events up to and including `now`, and takes the samples on the way.
    #[inline]
    fn advance_to(&mut self, now: Instant) {
        while self.next_sample() <= now {
            // A sample is taken when an event comes at its time or later, just before that event.
            self.link.advance(self.next_sample().just_before());
            if self.link.poll_timeout() > now {
                break;
            }
            self.sample();
        }
        self.link.advance(now);
    }

    fn step(&mut self, now: Instant) {
        while self.next_sample() <= now {
            self.sample();
        }
        self.link.advance(now);
        self.collect();
        self.result.end = now;
    }

    fn collect(&mut self) {
        let StressResult { delivered, first, last, .. } = &mut self.result;
        self.link.delivered().take_trains(|train, frame| {
            delivered.note_train(frame.payload, train.count, train.step);
            *first = train.first.min(*first);
            *last = train.last();
        });
    }

    /// Returns when the next sample of the buffers is due.
    #[inline]
    const fn next_sample(&self) -> Instant {
        self.result.samples.due()
    }

    #[cold]
    fn sample(&mut self) {
        let depths = self.link.buffer_bytes(self.next_sample());
        self.result.samples.take(depths);
    }

    fn is_cancelled(&mut self, control: &Control) -> bool {
        if self.offered >= self.reported + PROGRESS_FRAMES {
            self.reported += PROGRESS_FRAMES;
            control.add_done(PROGRESS_FRAMES);
        }
        self.result.interrupted = control.is_cancelled();
        self.result.interrupted
    }
}
