//! Estimates of rare losses, one loss at a time: a link under load, and copies of it in which a loss is steered.
//!
//! The method is in `docs/protocols/rare.md`; its rules are cited here.

use super::limits::LATEST;
use super::motion::{Motion, OFFERED_AT_ONCE};
use super::stress::Source;
use crate::Stop;
use crate::net::source::SATURATED_BACKLOG;
use crate::net::{AnyLink, Ecn, Frame, GivesUp, ProtectedLink, Traffic};
use lossylink_core::loss::{Aim, Bursts, LossModel, LossProcess, Target};
use lossylink_core::rng::{RngCore, Stream, Streams, uniform};
use lossylink_core::time::Instant;

/// Number of frames on the wire before the first look (RARE-2).
pub(super) const WARM_UP_FRAMES: u64 = 4096;
/// The most frames on the wire between two looks; a power of two (RARE-2).
pub(super) const DISTANCE_FRAMES: u64 = 128;
/// Number of frames of which the link remembers at least whether they came out. No frame is repaired that lies further
/// back.
const REMEMBERED: usize = 2048;
/// The most frames that a copy may send until its target is settled.
const FRAMES_MAX: u64 = 1 << 17;
/// The most frames that a rehearsal sends to find out where the repairs of a target will be (RARE-12).
const REHEARSED_MAX: u64 = 1 << 12;
/// The most rehearsals in a look.
const REHEARSALS_MAX: u32 = 32;
/// The inverse of the average number of losses that no rehearsal expects, in the time in which a target is settled (RARE-12).
const UNEXPECTED: u32 = 4;
/// Number of places of a target in its burst that are drawn with equal chances (RARE-5).
const EARLY_PLACES: u32 = 8;

/// A link with its source of frames, which are numbered, and offered as in the stress test.
#[derive(Clone, Debug)]
struct Path {
    link: AnyLink<u64>,
    source: Source,
    frame_bytes: u32,
    offered: u64,
    /// The time when the generator next looks at the queue.
    tick: Instant,
    now: Instant,
    /// Number of the first frame of which the link remembers whether it came out; frames before are past.
    remembered: u64,
    delivered: Vec<bool>,
    motion: Motion,
}

impl Path {
    /// Takes the frames that have come out by `until`.
    fn collect(&mut self, until: Instant) {
        let Self { link, remembered, delivered, .. } = self;
        link.delivered().drain_due(until, |_, frame| {
            if let Some(place) = frame.payload.checked_sub(*remembered) {
                let place = place as usize;
                if delivered.len() <= place {
                    delivered.resize(place + 1, false);
                }
                delivered[place] = true;
            }
        });
    }

    /// Forgets the older half of the remembered frames, once there are many.
    fn forget(&mut self) {
        if self.delivered.len() >= 2 * REMEMBERED {
            self.delivered.drain(..REMEMBERED);
            self.remembered += REMEMBERED as u64;
        }
    }

    /// Whether a frame came out, or lies too far back.
    fn is_delivered(&self, number: u64) -> bool {
        number
            .checked_sub(self.remembered)
            .is_none_or(|place| self.delivered.get(place as usize).copied().unwrap_or_default())
    }

    /// Handles the next event.
    fn step(&mut self) {
        match self.source {
            Source::Saturated => {
                let mut offers = 0..OFFERED_AT_ONCE;
                while self.link.backlog() < SATURATED_BACKLOG && offers.next().is_some() {
                    self.offer();
                }
                self.step_to(self.link.poll_timeout());
            }
            Source::Generator { period, queue_packets } => {
                self.step_to(self.link.poll_timeout().min(self.tick));
                if self.now == self.tick {
                    if self.link.backlog() < queue_packets {
                        self.offer();
                    }
                    self.tick += period;
                }
            }
        }
    }

    fn offer(&mut self) {
        let frame = Frame::of_frame_bytes(self.frame_bytes, Ecn::NotCapable, self.offered);
        self.link.offer(self.now, frame);
        self.offered += 1;
    }

    /// Handles the event at `next`, if the link still moves.
    fn step_to(&mut self, next: Instant) {
        if self.motion.allows(next) {
            self.advance_to(next);
        }
        self.motion.note(self.link.traffic().frames);
    }

    fn advance_to(&mut self, now: Instant) {
        self.link.advance(now);
        self.now = now;
    }

    /// Offers no more frames, loses no more frames, and lets all frames under way arrive.
    fn drain(&mut self) {
        let (forward, reverse) = self.link.losses_mut();
        (*forward, *reverse) = (no_losses(), no_losses());
        while self.link.poll_timeout() <= self.link.standstill().min(LATEST) && !self.motion.is_over() {
            self.step_to(self.link.poll_timeout());
        }
    }
}

pub(super) fn no_losses() -> LossProcess {
    LossProcess::new(&LossModel::None, Streams::new(0).stream("none"))
}

/// The result of one look.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Look {
    /// Number of frames that stay lost because of the target, weighted.
    pub lost: f64,
    /// Number of data frames for which the look stands.
    pub data: f64,
}

/// The results of all looks at a link.
#[derive(Clone, Debug, Default)]
pub struct Looks {
    /// The result of each look.
    pub each: Vec<Look>,
    /// Number of frames put on the wire, those of all copies included.
    pub frames: u64,
}

/// The reasons why a link cannot be looked at (RARE-11).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The losses are not drawn so that they can be steered, but for example a list.
    #[error(
        "--rare steers losses that are drawn: not at:..., not a trace, no bursts that last a time, and no chain that remembers for thousands of frames"
    )]
    NotSteerable,
    /// The queue or the meter in front of the link drops frames.
    #[error(
        "--rare counts what the link loses, and here the queue or the meter in front of it drops frames; lower the load, or leave the meter out"
    )]
    Drops,
    /// Losses follow each other too fast.
    #[error(
        "--rare: a loss is not settled within {FRAMES_MAX} frames; so frequent ones are seen without --rare"
    )]
    NeverSettled,
    /// No frame goes on the wire any more.
    #[error(
        "--rare: the link has come to a standstill, and sends nothing any more; see what happens without --rare"
    )]
    Standstill,
}

/// A link for repeated looks at rare losses.
#[derive(Debug)]
pub struct Rare {
    path: Path,
    gives_up: GivesUp,
    bursts: Bursts,
    streams: Streams,
    draws: Stream,
    looks: Looks,
    /// Number of losses of the link, and the number of frames when the last loss was seen.
    lost: u64,
    lost_at: u64,
    /// Number of frames on the wire in the time in which a target is settled (RARE-12).
    lead_frames: u32,
}

impl Rare {
    /// Returns a link with its source, not yet started.
    ///
    /// # Errors
    /// If its losses cannot be steered.
    pub fn new(
        mut link: AnyLink<u64>,
        (source, frame_bytes): (Source, u32),
        streams: Streams,
        stop: &Stop,
    ) -> Result<Self, Refusal> {
        let (forward, reverse) = link.losses_mut();
        let bursts = forward.bursts(frame_bytes).ok_or(Refusal::NotSteerable)?;
        reverse.bursts(frame_bytes).ok_or(Refusal::NotSteerable)?;
        forward.attend();
        reverse.attend();
        let gives_up = link.gives_up();
        let path = Path {
            link,
            source,
            frame_bytes,
            offered: 0,
            tick: Instant::ZERO,
            now: Instant::ZERO,
            remembered: 0,
            delivered: Vec::new(),
            motion: Motion::new(stop),
        };
        let (draws, looks) = (streams.stream("rare/draws"), Looks::default());
        Ok(Self { path, gives_up, bursts, streams, draws, looks, lost: 0, lost_at: 0, lead_frames: 0 })
    }

    /// Looks at the link `times` times.
    ///
    /// # Errors
    /// If frames are dropped before the link, losses follow each other too fast, or the link comes to a standstill.
    pub fn run(mut self, times: u64) -> Result<Looks, Refusal> {
        self.run_on(WARM_UP_FRAMES);
        self.lead_frames = self.frames_to_settle();
        let before = *self.path.link.traffic();
        for index in 0..times {
            let distance = 1 + self.draws.next_u64() % DISTANCE_FRAMES;
            self.run_on(distance);
            let look = self.look(index)?;
            self.looks.each.push(look);
        }
        self.weigh_frames(&before);
        self.looks.frames += self.path.link.traffic().frames;
        Ok(self.looks)
    }

    /// Returns how many frames the link sends on average in the time in which a frame is settled.
    fn frames_to_settle(&self) -> u32 {
        let GivesUp::Frames { lifetime, .. } = self.gives_up else { return 0 };
        let share = lifetime.as_secs_f64() / (self.path.now - Instant::ZERO).as_secs_f64();
        (self.path.link.traffic().frames as f64 * share).ceil() as u32
    }

    /// Sets the number of data frames of each look: a look stands for a frame on the wire, and a frame for this share
    /// of a data frame (RARE-3).
    fn weigh_frames(&mut self, before: &Traffic) {
        if matches!(self.gives_up, GivesUp::Frames { .. }) {
            let traffic = self.path.link.traffic();
            let data = traffic.data_frames - before.data_frames;
            let share = data as f64 / (traffic.frames - before.frames) as f64;
            self.looks.each.iter_mut().for_each(|look| look.data = share);
        }
    }

    /// Runs the link itself, by the law of its losses (RARE-2).
    fn run_on(&mut self, frames: u64) {
        let end = self.path.link.traffic().frames + frames;
        self.path.forget();
        while self.path.link.traffic().frames < end && !self.path.motion.is_over() {
            self.path.step();
            self.path.collect(self.path.now);
            let traffic = self.path.link.traffic();
            if traffic.lost > self.lost {
                (self.lost, self.lost_at) = (traffic.lost, traffic.frames);
            }
        }
    }

    fn look(&mut self, index: u64) -> Result<Look, Refusal> {
        if self.path.motion.is_over() {
            return Err(Refusal::Standstill);
        }
        let (aim, probability) = self.aim();
        let since_loss = self.path.link.traffic().frames - self.lost_at;
        if matches!(aim, Aim::Frame { .. }) && since_loss < u64::from(self.bursts.hold) {
            return Ok(Look::default()); // A burst that is under way has begun before (RARE-4).
        }
        let mut follower = Follower::new(self.path.clone(), self.gives_up);
        let streams = self.streams.trial(index);
        let (forward, reverse) = follower.path.link.losses_mut();
        forward.steer(aim, streams.stream("rare/forward")).ok_or(Refusal::NotSteerable)?;
        let follow = Aim::Follow { lead_frames: self.lead_frames };
        reverse.steer(follow, streams.stream("rare/reverse")).ok_or(Refusal::NotSteerable)?;
        let before = follower.path.link.traffic().frames;
        let look = follower.run()?;
        self.looks.frames += follower.path.link.traffic().frames - before + follower.rehearsed;
        Ok(Look { lost: look.lost / probability, ..look })
    }

    /// Returns the target of a look, and its probability among several (RARE-5): half of the time one of the first places of
    /// a burst, half of the time a place of which long bursts have more. Where a target takes the frames behind it along,
    /// this holds for one half of the looks, and the other half aim at the first place.
    fn aim(&mut self) -> (Aim, f64) {
        let together = match self.gives_up {
            GivesUp::Block { frames, spare } => return (Aim::Block { frames, spare }, 1.0),
            GivesUp::Frames { together, .. } => together,
        };
        let lead_frames = UNEXPECTED * self.lead_frames;
        let frame =
            |nth| Aim::Frame { nth, lead_frames, window: u32::try_from(together).unwrap_or(u32::MAX) };
        if self.bursts.hold == 0 {
            return (frame(1), 1.0);
        }
        let stop = 1.0 / self.bursts.mean_losses.max(f64::from(EARLY_PLACES));
        let takes_more = together > 0;
        let nth = match self.draws.next_u64() % if takes_more { 4 } else { 2 } {
            0 => 1 + (self.draws.next_u64() % u64::from(EARLY_PLACES)) as u32,
            1 => geometric(stop, &mut self.draws),
            _ => 1,
        };
        let early = if nth <= EARLY_PLACES { 1.0 / f64::from(EARLY_PLACES) } else { 0.0 };
        let late = stop * libm::pow(1.0 - stop, f64::from(nth - 1));
        let any = (early + late) / 2.0;
        let probability = if takes_more { (any + f64::from(u8::from(nth == 1))) / 2.0 } else { any };
        (frame(nth), probability)
    }
}

/// Draws one more than the number of failures before a success of chance `stop`.
fn geometric(stop: f64, rng: &mut Stream) -> u32 {
    let mut count = 1;
    while uniform(rng) >= stop {
        count += 1;
    }
    count
}

/// A copy of the link in which a loss is steered.
struct Follower {
    path: Path,
    gives_up: GivesUp,
    /// Number of the first data frame that the copy sends.
    base: u64,
    /// Number of frames that belong to the target or repair it, and when the last of them was seen.
    touched: (u64, Instant),
    rehearsals: u32,
    /// Number of frames that rehearsals sent.
    rehearsed: u64,
}

impl Follower {
    fn new(path: Path, gives_up: GivesUp) -> Self {
        let base = path.link.traffic().data_frames;
        Self { path, gives_up, base, touched: (0, Instant::ZERO), rehearsals: 0, rehearsed: 0 }
    }

    /// Runs until the target is settled, and weighs the missing frames.
    fn run(&mut self) -> Result<Look, Refusal> {
        let end = self.path.link.traffic().frames + FRAMES_MAX;
        while self.path.link.traffic().frames < end && !self.path.motion.is_over() {
            self.path.step();
            self.path.collect(self.path.now);
            let (forward, reverse) = self.path.link.losses_mut();
            // Notifications are lost with a raised chance, too, and weigh as much (RARE-1, RARE-7).
            let weight_back = reverse.steered().map_or(0.0, |steered| steered.log_weight());
            let Some(steered) = forward.steered() else { return Ok(Look::default()) };
            if steered.is_void() {
                return Ok(Look::default());
            }
            let Some(&target) = steered.target() else { continue };
            let log_weight = steered.log_weight() + weight_back;
            let wants_rehearsal = steered.wants_rehearsal();
            if self.is_settled(&target) {
                return self.weigh(&target, libm::exp(log_weight));
            }
            if wants_rehearsal && self.rehearsals < REHEARSALS_MAX {
                self.foresee();
            }
        }
        Err(if self.path.motion.is_over() { Refusal::Standstill } else { Refusal::NeverSettled })
    }

    /// Finds out when the target will be repaired, in a copy in which its repairs are lost and no other frame
    /// (RARE-12).
    fn foresee(&mut self) {
        self.rehearsals += 1;
        let mut copy = Self { path: self.path.clone(), ..*self };
        *copy.path.link.losses_mut().1 = no_losses();
        if let Some(steered) = copy.path.link.losses_mut().0.steered() {
            steered.rehearse();
        }
        let begin = copy.path.link.traffic().frames;
        let frames = |copy: &Self| copy.path.link.traffic().frames - begin;
        while frames(&copy) < REHEARSED_MAX && !copy.path.motion.is_over() {
            copy.path.step();
            copy.path.collect(copy.path.now);
            let target =
                copy.path.link.losses_mut().0.steered().and_then(|steered| steered.target().copied());
            if target.is_none_or(|target| copy.is_settled(&target)) {
                break;
            }
        }
        self.rehearsed += frames(&copy);
        let steered = [&mut self.path, &mut copy.path].map(|path| path.link.losses_mut().0.steered());
        if let [Some(real), Some(rehearsed)] = steered {
            real.foresee(rehearsed.repairs());
        }
    }

    /// Whether no frame of the target can be lost any more (RARE-7).
    fn is_settled(&mut self, target: &Target) -> bool {
        if let Some(steered) = self.path.link.losses_mut().1.steered() {
            steered.follow(target.unit);
        }
        if target.touched > self.touched.0 {
            self.touched = (target.touched, self.path.now);
        }
        match self.gives_up {
            GivesUp::Block { .. } => target.is_complete,
            GivesUp::Frames { lifetime, .. } => {
                self.path.is_delivered(self.first_of(target)) || self.path.now - self.touched.1 > lifetime
            }
        }
    }

    fn first_of(&self, target: &Target) -> u64 {
        self.base.saturating_add_signed(target.first)
    }

    /// Returns the number of frames that stay lost because of the target, weighted.
    fn weigh(&mut self, target: &Target, weight: f64) -> Result<Look, Refusal> {
        let first = self.first_of(target);
        if let (GivesUp::Frames { .. }, true) = (self.gives_up, self.path.is_delivered(first)) {
            return Ok(Look::default());
        }
        self.path.drain();
        self.path.collect(Instant::NEVER);
        if self.path.link.traffic().data_frames != self.path.offered {
            return Err(Refusal::Drops);
        }
        let missing = match self.gives_up {
            GivesUp::Block { .. } => (first..first + target.frames)
                .filter(|&number| !self.path.is_delivered(number))
                .count() as u64,
            GivesUp::Frames { together, .. } => self.missing_from(first, together),
        };
        Ok(Look { lost: weight * missing as f64, data: target.frames as f64 })
    }

    /// Returns the number of missing frames from `first` on, if `first` is missing, that lie no more than `together`
    /// apart. Returns 0 if a frame is missing as closely before `first`: then the missing frames count as those of
    /// that frame (RARE-6).
    fn missing_from(&self, first: u64, together: u64) -> u64 {
        let is_missing = |&number: &u64| !self.path.is_delivered(number);
        let before = first.saturating_sub(together)..first;
        if self.path.is_delivered(first) || before.into_iter().any(|number| is_missing(&number)) {
            return 0;
        }
        let (mut last, mut count) = (first, 1);
        for number in (first + 1..self.path.offered).filter(is_missing) {
            if number - last > together {
                break;
            }
            (last, count) = (number, count + 1);
        }
        count
    }
}
