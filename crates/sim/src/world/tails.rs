//! Estimates of the latency tail of a link that is kept busy: copies of the link in which a cluster of losses is steered.
//!
//! The method is in `docs/protocols/rare.md` (RARE-14 and on). Left out: frames that losses of the other direction
//! make late by themselves.

use super::motion::{Motion, OFFERED_AT_ONCE};
use super::rare::{DISTANCE_FRAMES, Refusal, WARM_UP_FRAMES, no_losses};
use crate::Stop;
use crate::net::source::SATURATED_BACKLOG;
use crate::net::{AnyLink, Ecn, Frame, GivesUp, ProtectedLink};
use lossylink_core::loss::{Aim, Bursts, LossProcess};
use lossylink_core::rng::{RngCore, Stream, Streams};
use lossylink_core::time::{Duration, Instant};
use std::collections::VecDeque;

/// Number of losses, or bursts, before the first look.
const WARM_UP_LOSSES: u32 = 4;
/// The average number of frames until a disturbance brings a loss, in multiples of the frames that end a cluster.
const DISTURB_TIMES: u64 = 8;
/// Number of looks without a loss by the law, after which a disturbance brings one.
const REFRESH_LOOKS: u64 = 16;
/// Number of frames without a loss after which every frame behind a repair has left the buffers, in multiples of the frames
/// that end a cluster. The latency of frames is measured then.
const DRAIN_TIMES: u64 = 16;
/// A cluster ends when frames are no later than this multiple of their lateness after all buffers drained, and `END_MARGIN_NS`
/// nanoseconds more.
const END_LEVELS: u64 = 3;
const END_MARGIN_NS: u64 = 200;
/// Number of frames of which the time of their offer is remembered: more than any protection has under way.
const REMEMBERED: usize = 1 << 13;
/// The most frames that a cluster may last.
const CLUSTER_MAX: u64 = 1 << 17;
/// Number of blocks of a code that decide when its frames come out.
const BLOCKS: u64 = 3;
/// The fewest frames that end a cluster.
const CLEAN_MIN: u64 = 8;
/// The resolution of latencies.
const TICK: Duration = Duration::from_ns(1);

/// The frames of a look that came out with one late latency.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Late {
    /// The time from offer to delivery, in nanoseconds.
    pub latency_ns: u64,
    /// Number of the frames, weighted.
    pub weight: f64,
}

/// The results of all looks at a link.
#[derive(Clone, Debug)]
pub struct Tails {
    /// The late frames of each look, by latency.
    pub looks: Vec<Vec<Late>>,
    /// Number of looks that found the link within a cluster, and count nothing.
    pub busy: u64,
    /// Number of data frames for each frame on the wire, for which a look stands.
    pub data: f64,
    /// The shortest latency, in nanoseconds.
    pub least_ns: u64,
    /// The longest latency with which a cluster ends, in nanoseconds. Beyond it every late frame is counted.
    pub cluster_end_ns: u64,
    /// Number of frames put on the wire, those of all copies included.
    pub frames: u64,
}

/// A link that is kept busy, with the time of each offer.
#[derive(Clone, Debug)]
struct Line {
    link: AnyLink<u64>,
    frame_bytes: u32,
    now: Instant,
    offered: u64,
    /// The times when the last frames were offered; `None` for a frame that has come out.
    offers: VecDeque<Option<Instant>>,
    /// Frames and time without a loss that end a cluster (RARE-14).
    clean: (u64, Duration),
    lost: u64,
    /// The latency of the frame that came out last, and the longest latency with which a cluster ends, in nanoseconds.
    latest_ns: u64,
    cluster_end_ns: u64,
    /// The frame count and the time when the last loss was seen, if the cluster goes on.
    lost_at: Option<(u64, Instant)>,
    motion: Motion,
}

impl Line {
    fn new(link: AnyLink<u64>, frame_bytes: u32, stop: &Stop) -> Self {
        Self {
            link,
            frame_bytes,
            now: Instant::ZERO,
            offered: 0,
            offers: VecDeque::new(),
            clean: (CLEAN_MIN, Duration::ZERO),
            lost: 0,
            latest_ns: 0,
            cluster_end_ns: u64::MAX,
            lost_at: None,
            motion: Motion::new(stop),
        }
    }

    fn frames(&self) -> u64 {
        self.link.traffic().frames
    }

    /// Whether a cluster of losses goes on.
    const fn is_busy(&self) -> bool {
        self.lost_at.is_some()
    }

    /// Handles the next event, and tells `deliver` the latency of each frame that comes out.
    fn step(&mut self, mut deliver: impl FnMut(&mut Self, u64)) {
        let mut offers = 0..OFFERED_AT_ONCE;
        while self.link.backlog() < SATURATED_BACKLOG && offers.next().is_some() {
            let frame = Frame::of_frame_bytes(self.frame_bytes, Ecn::NotCapable, self.offered);
            self.link.offer(self.now, frame);
            self.offers.push_back(Some(self.now));
            self.offered += 1;
        }
        let next = self.link.poll_timeout();
        if self.motion.allows(next) {
            self.now = next;
            self.link.advance(next);
        }
        self.motion.note(self.link.traffic().frames);
        let traffic = *self.link.traffic();
        if traffic.lost > self.lost {
            (self.lost, self.lost_at) = (traffic.lost, Some((traffic.frames, self.now)));
        }
        let mut latencies = Vec::new();
        let Self { link, offers, offered, now, .. } = self;
        link.delivered().drain_due(*now, |at, frame| {
            let place = (frame.payload + offers.len() as u64).checked_sub(*offered);
            // A second copy is not late, and neither is the frame that found the link idle.
            if let Some(offer) = place.and_then(|place| offers[place as usize].take())
                && frame.payload >= SATURATED_BACKLOG as u64
            {
                latencies.push((at - offer).as_ps() / TICK.as_ps());
            }
        });
        for latency in latencies {
            self.latest_ns = latency;
            deliver(self, latency);
        }
        while self.offers.len() > REMEMBERED || matches!(self.offers.front(), Some(None)) {
            self.offers.pop_front();
        }
        let is_over = |(frames, at): (u64, Instant)| {
            traffic.frames - frames >= self.clean.0
                && self.now - at >= self.clean.1
                && self.latest_ns <= self.cluster_end_ns
        };
        if self.lost_at.is_some_and(is_over) {
            self.lost_at = None;
        }
    }
}

/// A link for repeated looks at its latency tail.
#[derive(Debug)]
pub struct Tail {
    line: Line,
    gives_up: GivesUp,
    bursts: Bursts,
    streams: Streams,
    draws: Stream,
    tails: Tails,
    /// Number of frames without a loss that end a cluster, on average.
    clean_frames: u64,
    /// The longest latency outside clusters, in nanoseconds.
    outside_ns: u64,
    /// The longest latency at the end of looks whose link came to rest above the level at which clusters end.
    rest_ns: u64,
    /// Number of losses that were brought about between looks, and the numbers of data frames and of all frames sent meanwhile.
    disturbed: u64,
    left_out: (u64, u64),
}

impl Tail {
    /// Returns a link, not yet started, that is sent frames of `frame_bytes` bytes.
    ///
    /// # Errors
    /// If its losses cannot be steered.
    pub fn new(
        mut link: AnyLink<u64>,
        frame_bytes: u32,
        streams: Streams,
        stop: &Stop,
    ) -> Result<Self, Refusal> {
        let losses = link.losses_mut().0;
        let bursts = losses.bursts(frame_bytes).ok_or(Refusal::NotSteerable)?;
        losses.attend();
        let gives_up = link.gives_up();
        let tails =
            Tails { looks: Vec::new(), busy: 0, data: 0.0, least_ns: u64::MAX, cluster_end_ns: 0, frames: 0 };
        let draws = streams.stream("rare/tail-draws");
        let line = Line::new(link, frame_bytes, stop);
        Ok(Self {
            line,
            gives_up,
            bursts,
            streams,
            draws,
            tails,
            clean_frames: CLEAN_MIN,
            outside_ns: 0,
            rest_ns: 0,
            disturbed: 0,
            left_out: (0, 0),
        })
    }

    /// Looks at the link `times` times.
    ///
    /// # Errors
    /// If the link comes to a standstill.
    pub fn run(mut self, times: u64) -> Result<Tails, Refusal> {
        self.warm_up();
        self.check()?;
        self.outside_ns = 0;
        let before = *self.line.link.traffic();
        let mut seen = (0, self.line.lost);
        for index in 0..times {
            if self.line.lost > seen.1 {
                seen = (index, self.line.lost);
            } else if index - seen.0 >= REFRESH_LOOKS {
                self.refresh();
                seen = (index, self.line.lost);
            }
            let distance = 1 + self.draws.next_u64() % DISTANCE_FRAMES;
            self.run_on(distance);
            let look = self.look(index)?;
            self.check()?;
            self.tails.looks.push(look);
        }
        let after = self.line.link.traffic();
        let data = after.data_frames - before.data_frames - self.left_out.0;
        let frames = after.frames - before.frames - self.left_out.1;
        self.tails.data = data as f64 / frames as f64;
        self.tails.frames += after.frames;
        self.tails.cluster_end_ns = self.line.cluster_end_ns.max(self.outside_ns).max(self.rest_ns);
        Ok(self.tails)
    }

    /// Refuses a link that sends nothing any more.
    fn check(&self) -> Result<(), Refusal> {
        if self.line.motion.is_over() { Err(Refusal::Standstill) } else { Ok(()) }
    }

    /// Measures how late frames are long after a loss, and sets the latency with which a cluster ends (RARE-14).
    fn warm_up(&mut self) {
        self.run_on(WARM_UP_FRAMES);
        let (frames, time) = self.clean();
        (self.clean_frames, self.line.clean) = (frames, (frames, time));
        let mut level_ns = 0;
        for _ in 0..WARM_UP_LOSSES {
            let law = self.disturb();
            self.run_on(DRAIN_TIMES * frames);
            (self.outside_ns, self.line.lost_at) = (0, None);
            self.run_on(frames);
            level_ns = level_ns.max(self.outside_ns.saturating_sub(self.tails.least_ns));
            *self.line.link.losses_mut().0 = law;
        }
        self.line.cluster_end_ns = self.tails.least_ns.saturating_add(END_LEVELS * level_ns + END_MARGIN_NS);
    }

    /// Brings about a loss or a burst, and no loss after that. Returns the law of the losses. A protection may never come back
    /// to the state in which it began, though the law may have no loss for long.
    fn disturb(&mut self) -> LossProcess {
        let frames = self.clean_frames;
        self.disturbed += 1;
        let stream = self.streams.trial(self.disturbed).stream("rare/tail-disturbance");
        let losses = self.line.link.losses_mut().0;
        let often = losses.hastened(DISTURB_TIMES * frames, stream).unwrap_or_else(no_losses);
        let law = std::mem::replace(losses, often);
        let before = self.line.lost;
        while self.line.lost == before
            && !self.line.motion.is_over()
            && !self.line.link.losses_mut().0.is_clean()
        {
            self.run_on(1);
        }
        self.run_on(frames);
        *self.line.link.losses_mut().0 = no_losses();
        law
    }

    /// Brings about a loss between looks, where the law had none for long.
    fn refresh(&mut self) {
        let before = *self.line.link.traffic();
        let law = self.disturb();
        while self.line.is_busy() && !self.line.motion.is_over() {
            if self.line.frames() - before.frames > CLUSTER_MAX {
                self.settle_above();
                break;
            }
            self.run_on(1);
        }
        *self.line.link.losses_mut().0 = law;
        let after = self.line.link.traffic();
        self.left_out.0 += after.data_frames - before.data_frames;
        self.left_out.1 += after.frames - before.frames;
    }

    /// Ends a cluster whose frames stay later than frames were at rest before: the protection has come to rest at a new level
    /// (RARE-14).
    fn settle_above(&mut self) {
        self.line.lost_at = None;
        let before = std::mem::take(&mut self.outside_ns);
        self.run_on(self.clean_frames);
        self.line.cluster_end_ns = self.line.cluster_end_ns.max(self.outside_ns);
        self.outside_ns = self.outside_ns.max(before);
    }

    /// Returns the frames and the time without a loss after which a protection has repaired everything (RARE-14).
    fn clean(&self) -> (u64, Duration) {
        let hold = u64::from(self.bursts.hold).max(CLEAN_MIN);
        match self.gives_up {
            GivesUp::Block { frames, .. } => (hold.max(BLOCKS * u64::from(frames)), Duration::ZERO),
            GivesUp::Frames { lifetime, .. } => {
                let share = lifetime.as_secs_f64() / (self.line.now - Instant::ZERO).as_secs_f64();
                (hold.max((self.line.frames() as f64 * share).ceil() as u64), lifetime)
            }
        }
    }

    /// Runs the link itself, by the law of its losses (RARE-2).
    fn run_on(&mut self, frames: u64) {
        let end = self.line.frames() + frames;
        while self.line.frames() < end && !self.line.motion.is_over() {
            let (tails, outside_ns) = (&mut self.tails, &mut self.outside_ns);
            self.line.step(|line, latency| {
                tails.least_ns = tails.least_ns.min(latency);
                if !line.is_busy() {
                    *outside_ns = (*outside_ns).max(latency);
                }
            });
        }
    }

    /// Lets the next cluster begin now, in a copy of the link, and returns its late frames (RARE-14).
    fn look(&mut self, index: u64) -> Result<Vec<Late>, Refusal> {
        if self.line.is_busy() {
            self.tails.busy += 1;
            return Ok(Vec::new());
        }
        let mut line = self.line.clone();
        let aim = Aim::Cluster { clean_frames: u32::try_from(self.clean_frames).unwrap_or(u32::MAX) };
        let stream = self.streams.trial(index).stream("rare/tail");
        line.link.losses_mut().0.steer(aim, stream).ok_or(Refusal::NotSteerable)?;
        let (begin, mut late) = (line.frames(), Vec::new());
        let mut has_begun = false;
        let mut rest_ns = 0;
        while (!has_begun || line.is_busy()) && !line.motion.is_over() {
            let lasts = line.frames() - begin;
            if lasts > CLUSTER_MAX {
                // The copy has come to rest above the level at which clusters end: figures begin at that level.
                self.rest_ns = self.rest_ns.max(rest_ns);
                break;
            }
            line.step(|line, latency_ns| {
                if lasts + self.clean_frames > CLUSTER_MAX {
                    rest_ns = rest_ns.max(latency_ns);
                }
                let log_weight = line.link.losses_mut().0.steered().map(|steered| steered.log_weight());
                if let (true, Some(log_weight)) = (line.is_busy(), log_weight) {
                    late.push(Late { latency_ns, weight: libm::exp(log_weight) });
                }
            });
            has_begun |= line.frames() > begin;
        }
        if line.motion.is_over() {
            return Err(Refusal::Standstill);
        }
        self.tails.frames += line.frames() - begin;
        late.retain(|late| late.latency_ns > self.line.cluster_end_ns);
        Ok(merged(late))
    }
}

/// Sorts late frames by latency, and merges those of equal latency.
fn merged(mut late: Vec<Late>) -> Vec<Late> {
    late.sort_unstable_by_key(|late| late.latency_ns);
    late.dedup_by(|next, kept| {
        let is_same = next.latency_ns == kept.latency_ns;
        if is_same {
            kept.weight += next.weight;
        }
        is_same
    });
    late
}
