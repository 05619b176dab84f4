//! Losses drawn with raised chances where they can do harm, and the weight that corrects for the raised chances.
//!
//! Importance sampling of the residual loss behind a protection (`docs/protocols/rare.md`). A steered process decides
//! frame by frame. It knows the chance q that the law gives the loss of the next frame, given all losses before it.
//! For a chain the hidden state is summed over by the forward recursion, so that no state has to be drawn. Where the
//! process draws with another chance b, the weight takes the ratio q / b of a loss or (1 - q) / (1 - b) of a
//! survival.

mod clusters;
mod failures;
mod line;
mod predictor;
mod stake;
#[cfg(test)]
mod tests;

pub use predictor::Bursts;
pub(super) use predictor::Sent;
pub use stake::{Aim, Stake, Target};

use super::foresight::Foresight;
use super::gilbert_elliott::GilbertElliott;
use super::phy::Failures as LineFailures;
use crate::probability::Probability;
use crate::rng::Stream;
use alloc::boxed::Box;
use alloc::vec::Vec;
use clusters::Clusters;
use failures::Failures;
use line::LineBelief;
use predictor::{Belief, LINE_HOLD, Predictor};

/// Chance to lose a repair of the target (RARE-7).
const REPAIR: f64 = 0.9;
/// Chance to lose a frame that asks for a repair of the target.
const REQUEST: f64 = 0.5;
/// Chance to lose the next frame of a burst until the target is reached, if the law never would.
const WITHIN_BURST: f64 = 0.75;
/// The highest chance to lose a frame of a block, or a frame before a repair, because its survival must be possible
/// too.
const EXPECTED_MAX: f64 = 0.95;
/// Chance to let the burst that takes the target take a whole window (RARE-13).
const WHOLE_WINDOW: f64 = 0.25;
/// A random process of losses that are steered.
#[derive(Clone, Debug)]
pub struct Steered {
    predictor: Predictor,
    rng: Stream,
    aim: Aim,
    /// Size of the last frame.
    frame_bytes: u32,
    /// Frames without a loss after which a burst is over.
    hold: u32,
    /// Whether the next frame is the one that begins the burst.
    is_first: bool,
    /// Data frames that the burst has still to take.
    wanted: u32,
    since_loss: u32,
    fresh: i64,
    target: Option<Target>,
    target_lost: u32,
    is_void: bool,
    log_weight: f64,
    failures: Failures,
    foresight: Foresight,
    /// Whether a frame has been lost since repairs were last foreseen.
    is_blind: bool,
    /// The chance, given the losses so far, that the burst was drawn to take a whole window.
    whole_window: f64,
    /// In a rehearsal, the number of its frames, and which of them repaired the target.
    rehearsed: u32,
    repairs: Vec<u32>,
    /// In a cluster, the laws by which its losses are drawn.
    clusters: Option<Clusters>,
}

impl Steered {
    /// Returns steered independent losses of chance `chance` a unit.
    pub(super) fn independent(chance: Probability, aim: Aim, rng: Stream) -> Self {
        Self::new(Predictor::Independent(chance.as_f64()), 0, aim, rng)
    }

    /// Returns steered losses of a chain. A block, and the frames that follow a target, come at any time; a burst
    /// begins after a time without losses.
    pub(super) fn chain(chain: GilbertElliott, bursts: Bursts, aim: Aim, rng: Stream) -> Self {
        let belief = if matches!(aim, Aim::Frame { .. } | Aim::Cluster { .. }) {
            Belief::clean(chain)
        } else {
            Belief::stationary(chain)
        };
        Self::new(Predictor::Chain(belief), bursts.hold, aim, rng)
    }

    /// Returns steered losses of a line with a code. A block, and the frames that follow a target, come at any time; a burst begins
    /// behind a frame that has survived.
    pub(super) fn line(line: LineFailures, aim: Aim, rng: Stream) -> Self {
        let belief = if matches!(aim, Aim::Frame { .. } | Aim::Cluster { .. }) {
            LineBelief::clean(line)
        } else {
            LineBelief::stationary(line)
        };
        Self::new(Predictor::Line(Box::new(belief)), LINE_HOLD, aim, rng)
    }

    /// Whether losses go by time.
    pub(super) const fn goes_by_time(&self) -> bool {
        matches!(self.predictor, Predictor::Line(_))
    }

    fn new(predictor: Predictor, hold: u32, aim: Aim, rng: Stream) -> Self {
        let wanted = if let Aim::Frame { nth, .. } = aim { nth } else { 0 };
        let clusters = match aim {
            Aim::Cluster { clean_frames } => Some(Clusters::new(&predictor, clean_frames)),
            _ => None,
        };
        Self {
            predictor,
            rng,
            aim,
            frame_bytes: 0,
            hold,
            is_first: wanted > 0 || clusters.is_some(),
            wanted,
            since_loss: 0,
            fresh: 0,
            target: None,
            target_lost: 0,
            is_void: false,
            log_weight: 0.0,
            failures: Failures::default(),
            foresight: Foresight::default(),
            is_blind: false,
            whole_window: 0.0,
            rehearsed: 0,
            repairs: Vec::new(),
            clusters,
        }
    }

    /// Whether it is time to find out where the target's repairs will be: losses come in bursts, and one has passed
    /// since the places were last known (RARE-12).
    pub const fn wants_rehearsal(&self) -> bool {
        self.hold > 0 && self.is_blind && self.since_loss > 0 && self.target.is_some()
    }

    /// Begins a rehearsal: from now on the repairs of the target are lost, and no other frame.
    pub fn rehearse(&mut self) {
        (self.aim, self.rehearsed) = (Aim::Rehearse, 0);
        self.repairs.clear();
    }

    /// Returns the frames of the rehearsal, counted from 0, that repaired the target.
    pub fn repairs(&self) -> &[u32] {
        &self.repairs
    }

    /// Expects repairs of the target at these places from now on, in ascending order.
    pub fn foresee(&mut self, repairs: &[u32]) {
        self.foresight = Foresight::new(self.predictor.states(1, self.frame_bytes), repairs);
        self.is_blind = false;
    }

    /// Returns the target, once a frame or block has become the target.
    pub const fn target(&self) -> Option<&Target> {
        self.target.as_ref()
    }

    /// Names the target of a process whose aim is to follow.
    pub fn follow(&mut self, unit: u64) {
        let target = Target { unit, first: 0, frames: 0, touched: 0, is_complete: false };
        self.target.get_or_insert(target);
    }

    /// Whether no target will come, because the burst ended before.
    pub const fn is_void(&self) -> bool {
        self.is_void
    }

    /// Returns the logarithm of the chance of all losses and survivals by the law over the chance with which they
    /// were drawn.
    pub const fn log_weight(&self) -> f64 {
        self.log_weight
    }

    /// Whether the next frame, `sent`, is lost (RARE-1).
    #[cold]
    pub(super) fn decide(&mut self, sent: Sent, stake: Stake) -> bool {
        if self.aim == Aim::Rehearse {
            return self.decide_rehearsed(stake);
        }
        self.frame_bytes = sent.frame_bytes;
        self.begin_block(sent.units, stake);
        let chance = self.predictor.meet(sent);
        let raised = self.raised(chance, stake);
        let lost = self.draw(raised);
        if raised > chance {
            self.log_weight +=
                if lost { libm::log(chance / raised) } else { libm::log1p(-chance) - libm::log1p(-raised) };
        }
        self.predictor.observe(lost);
        if let Some(clusters) = &mut self.clusters {
            clusters.observe((chance, stake.is_repair(), self.since_loss), lost, self.is_first);
        }
        self.note(stake, lost);
        self.follow_window(chance, stake, lost);
        lost
    }

    fn decide_rehearsed(&mut self, stake: Stake) -> bool {
        let touched = |target: Option<Target>| target.map_or(0, |target| target.touched);
        let before = touched(self.target);
        self.touch(stake, false);
        let lost = touched(self.target) > before;
        if lost {
            self.repairs.push(self.rehearsed);
        }
        self.rehearsed += 1;
        lost
    }

    fn draw(&mut self, chance: f64) -> bool {
        Probability::new(chance).is_some_and(|chance| chance.draw(&mut self.rng))
    }

    /// Returns the chance to draw with, at least the law's own.
    fn raised(&self, chance: f64, stake: Stake) -> f64 {
        if chance == 0.0 {
            return 0.0;
        }
        if self.is_first {
            return 1.0;
        }
        if let Some(clusters) = &self.clusters {
            return clusters.chance(chance, stake.is_repair(), self.since_loss).max(chance);
        }
        let is_target = |unit| self.target.is_some_and(|target| target.unit == unit);
        let wish = match stake {
            Stake::Repair { unit } if is_target(unit) => {
                if matches!(self.aim, Aim::Follow { .. }) {
                    REQUEST
                } else {
                    REPAIR
                }
            }
            // A dummy that passes would end the burst, as a data frame would.
            _ if self.wanted > 0 && !self.is_void => WITHIN_BURST + (1.0 - WITHIN_BURST) * chance,
            Stake::Member { unit, index, left } if is_target(unit) => self.within_block(index, left),
            _ if self.whole_window > 0.0 => {
                let whole = self.chance_within_window(chance);
                (1.0 - self.whole_window) * chance + self.whole_window * whole
            }
            _ => self.lead(),
        };
        wish.max(chance)
    }

    /// Returns the chance to lose the next frame of a burst that is drawn to take a window: three of five such bursts
    /// do.
    fn chance_within_window(&self, chance: f64) -> f64 {
        match self.aim {
            Aim::Frame { window: window @ 1.., .. } => chance.max(1.0 - 0.5 / f64::from(window)),
            _ => chance,
        }
    }

    /// Updates by Bayes' rule the chance that the burst was drawn to take a window, after the next frame is lost or
    /// not (RARE-13).
    fn follow_window(&mut self, chance: f64, stake: Stake, lost: bool) {
        let is_target = |unit| self.target.is_some_and(|target| target.unit == unit);
        let windows = matches!(self.aim, Aim::Frame { window: 1.., .. }) && self.hold > 0;
        self.whole_window = match stake {
            _ if !lost || !windows => 0.0,
            Stake::Fresh { unit } | Stake::Again { unit, .. } | Stake::Repair { unit } if is_target(unit) => {
                WHOLE_WINDOW
            }
            _ => {
                let whole = self.whole_window * self.chance_within_window(chance);
                let all = whole + (1.0 - self.whole_window) * chance;
                if all > 0.0 { whole / all } else { 0.0 }
            }
        };
    }

    /// Returns the chance to lose a frame that is no repair. A burst may go on until a repair comes, as the foresight
    /// expects, or where the foresight did not expect one. Independent losses have no bursts.
    fn lead(&self) -> f64 {
        match self.aim {
            Aim::Frame { lead_frames, .. } | Aim::Follow { lead_frames }
                if self.hold > 0 && self.target.is_some() && lead_frames > 0 =>
            {
                let expected = self.foresight.loss(self.predictor.shares()).min(EXPECTED_MAX);
                expected.max(1.0 / f64::from(lead_frames))
            }
            _ => 0.0,
        }
    }

    /// Returns the chance that the law gives the loss of a block's next frame, if it is known that the block fails
    /// (RARE-10).
    fn within_block(&self, index: Option<u32>, left: Option<u32>) -> f64 {
        let Aim::Block { frames, spare } = self.aim else { return 0.0 };
        let left = left.unwrap_or(frames.saturating_sub(index.unwrap_or(0)));
        match (spare + 1).checked_sub(self.target_lost) {
            Some(needed) if needed > 0 => self.failures.loss(&self.predictor, needed, left).min(EXPECTED_MAX),
            _ => 0.0,
        }
    }

    /// Makes a block the target at its first frame (RARE-10). The state of a chain there is the stationary one,
    /// because the residual loss of a block depends on its own frames only.
    fn begin_block(&mut self, units: u64, stake: Stake) {
        let Stake::Member { unit, index: Some(0), .. } = stake else { return };
        if matches!(self.aim, Aim::Block { .. }) && self.target.is_none() {
            self.predictor.forget();
            self.failures = Failures::new(&self.predictor.states(units, self.frame_bytes), self.aim);
            let first = self.fresh;
            self.target = Some(Target { unit, first, frames: 0, touched: 0, is_complete: false });
        }
    }

    /// Counts the frame, and makes it the target if it is the one that is wanted.
    fn note(&mut self, stake: Stake, lost: bool) {
        let opens = match stake {
            Stake::Fresh { unit } => Some((unit, self.fresh)),
            Stake::Again { unit, behind } => Some((unit, self.fresh - 1 - i64::from(behind))),
            _ => None,
        };
        if let Some((unit, first)) = opens.filter(|_| lost && self.wanted > 0 && !self.is_void) {
            self.wanted -= 1;
            if self.wanted == 0 {
                self.target = Some(Target { unit, first, frames: 1, touched: 1, is_complete: false });
            }
        } else {
            self.touch(stake, lost);
        }
        self.fresh += i64::from(matches!(stake, Stake::Fresh { .. } | Stake::Member { index: Some(_), .. }));
        self.is_first = false;
        self.is_blind |= lost;
        self.foresight.pass();
        self.since_loss = if lost { 0 } else { self.since_loss.saturating_add(1) };
        // Independent losses come alone; a burst is over some time after its last loss.
        self.is_void |= self.wanted > 0 && self.since_loss >= self.hold;
    }

    /// Counts a frame that belongs to the target, or repairs it.
    fn touch(&mut self, stake: Stake, lost: bool) {
        let Some(target) = &mut self.target else { return };
        match stake {
            Stake::Repair { unit } | Stake::Again { unit, .. } if unit == target.unit => target.touched += 1,
            Stake::Member { unit, index, left } if unit == target.unit => {
                target.touched += 1;
                target.frames += u64::from(index.is_some());
                target.is_complete |= left == Some(1);
                self.target_lost += u32::from(lost);
            }
            _ => {}
        }
    }
}
