//! Losses drawn with raised chances where they can do harm, and the weight that makes up for it.
//!
//! Importance sampling of what a protection leaves lost (`docs/protocols/rare.md`). A steered process
//! decides frame by frame. It knows the chance q that the law gives the next frame, given
//! everything that was lost before it: for a chain the hidden state is summed over by the forward
//! recursion, so that no state has to be drawn. Where it draws with another chance b, the weight takes the
//! ratio q / b of a loss or (1 - q) / (1 - b) of a survival.

use super::foresight::{Foresight, States};
use super::gilbert_elliott::GilbertElliott;
use crate::probability::Probability;
use crate::rng::Stream;
use alloc::vec;
use alloc::vec::Vec;

/// What hangs on a frame, as the link that sends it knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stake {
    /// Nothing that can stay lost, and nothing that saves another frame.
    Nothing,
    /// A data frame is sent for the first time; `unit` names it.
    Fresh {
        /// Its name.
        unit: u64,
    },
    /// A data frame is sent again along with another one that is missing.
    Again {
        /// Its name.
        unit: u64,
        /// Data frames that were sent for the first time after it.
        behind: u32,
    },
    /// The frame saves a missing data frame, or asks for it.
    Repair {
        /// Name of the missing one.
        unit: u64,
    },
    /// A frame of a block that is lost or saved together.
    Member {
        /// Name of the block.
        unit: u64,
        /// Its place, if it is a data frame: the first has 0.
        index: Option<u32>,
        /// Frames of the block from this one on, if it tells.
        left: Option<u32>,
    },
}

/// Which losses are steered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aim {
    /// None, until a target is named: the other direction of a link.
    Follow {
        /// As of a frame.
        lead_frames: u32,
    },
    /// The next frame is lost and begins a burst, and the `nth` data frame that the burst takes is the
    /// target: its repairs are lost more often.
    Frame {
        /// Counted from one.
        nth: u32,
        /// Where losses come in bursts, each other frame is lost with a chance of one in so many at least,
        /// because a burst that takes a repair may have begun before it.
        lead_frames: u32,
        /// Frames that nothing repairs if they are all lost in a row; 0 if each is repaired by itself.
        window: u32,
    },
    /// Repairs of the target are lost, and nothing else: where are they?
    Rehearse,
    /// The next block that begins is the target: its frames are lost more often.
    Block {
        /// Frames of a full block.
        frames: u32,
        /// Losses that it survives.
        spare: u32,
    },
}

/// What is known of the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// Its name.
    pub unit: u64,
    /// Its first data frame, counted from the first data frame of which the process was asked. Negative:
    /// sent before.
    pub first: i64,
    /// Its data frames so far.
    pub frames: u64,
    /// Frames so far that belong to it or repair it.
    pub touched: u64,
    /// Whether all frames of a block have been sent.
    pub is_complete: bool,
}

/// How losses of a law follow each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bursts {
    /// Frames without a loss after which a burst is over.
    pub hold: u32,
    /// Frames that a burst loses on average.
    pub mean_losses: f64,
}

/// Chance to lose a repair of the target (RARE-7).
const REPAIR: f64 = 0.9;
/// Chance to lose what asks for a repair of the target.
const REQUEST: f64 = 0.5;
/// Chance to lose the next frame of a burst until the target is reached, if the law never would.
const WITHIN_BURST: f64 = 0.75;
/// No frame of a block, and none before a repair, is lost with more: what survives must be possible too.
const EXPECTED_MAX: f64 = 0.95;
/// Chance to let the burst that takes the target take a whole window (RARE-13).
const WHOLE_WINDOW: f64 = 0.25;
/// A burst is over when the chance of a loss exceeds that after a long clean time by no more than this.
const OVER: f64 = 1e-3;
/// Longest memory of a chain that is followed.
const HOLD_MAX: u32 = 4096;

/// The law of the losses as a chance for the next frame.
#[derive(Clone, Debug)]
enum Predictor {
    /// A chance a unit, a unit being a frame or a bit.
    Independent(f64),
    Chain(Belief),
}

/// What the losses so far tell of a chain's state.
#[derive(Clone, Debug)]
struct Belief {
    chain: GilbertElliott,
    bad: f64,
}

impl Belief {
    fn stationary(chain: GilbertElliott) -> Self {
        Self { chain, bad: chain.share_bad() }
    }

    /// After a long time without a loss.
    fn clean(chain: GilbertElliott) -> Self {
        let mut belief = Self::stationary(chain);
        for _ in 0..HOLD_MAX {
            let before = belief.bad;
            belief.observe(false);
            if belief.bad == before {
                break;
            }
        }
        belief
    }

    fn chance(&self) -> f64 {
        let (good, bad) = (self.chain.loss_good().as_f64(), self.chain.loss_bad().as_f64());
        (1.0 - self.bad) * good + self.bad * bad
    }

    /// Bayes' rule, then the step of the chain.
    fn observe(&mut self, lost: bool) {
        let chance = self.chance();
        let bad_loses = self.chain.loss_bad().as_f64();
        let (of_bad, of_all) = if lost { (bad_loses, chance) } else { (1.0 - bad_loses, 1.0 - chance) };
        let bad = if of_all > 0.0 { self.bad * of_bad / of_all } else { self.bad };
        self.bad = bad * (1.0 - self.chain.r().as_f64()) + (1.0 - bad) * self.chain.p().as_f64();
    }
}

impl GilbertElliott {
    /// How losses follow each other; none if the chain remembers a loss for longer than is followed.
    pub fn bursts(&self) -> Option<Bursts> {
        let mut belief = Belief::clean(*self);
        let clean = belief.chance();
        belief.observe(true);
        let mut hold = 0;
        while belief.chance() > clean * (1.0 + OVER) {
            belief.observe(false);
            hold += 1;
            if hold > HOLD_MAX {
                return None;
            }
        }
        Some(Bursts { hold, mean_losses: (self.mean_loss_rate() / clean).max(1.0) })
    }
}

impl Predictor {
    fn chance(&self, units: u64) -> f64 {
        match self {
            Self::Independent(chance) if units == 1 => *chance,
            Self::Independent(chance) => -libm::expm1(units as f64 * libm::log1p(-chance)),
            Self::Chain(belief) => belief.chance(),
        }
    }

    fn observe(&mut self, lost: bool) {
        if let Self::Chain(belief) = self {
            belief.observe(lost);
        }
    }

    /// The law as a chain, for frames of so many units.
    fn states(&self, units: u64) -> States {
        match self {
            Self::Independent(_) => States { loses: [self.chance(units); 2], leaves: [0.0; 2] },
            Self::Chain(Belief { chain, .. }) => States {
                loses: [chain.loss_good().as_f64(), chain.loss_bad().as_f64()],
                leaves: [chain.p().as_f64(), chain.r().as_f64()],
            },
        }
    }

    /// Chances of the good state and of the bad one.
    fn shares(&self) -> [f64; 2] {
        match self {
            Self::Independent(_) => [1.0, 0.0],
            Self::Chain(belief) => [1.0 - belief.bad, belief.bad],
        }
    }

    fn forget(&mut self) {
        if let Self::Chain(belief) = self {
            *belief = Belief::stationary(belief.chain);
        }
    }
}

/// Chances that a block fails, by the losses that it needs, the frames that it has left and the state.
#[derive(Clone, Debug, Default)]
struct Failures {
    states: States,
    frames: usize,
    /// A row for each number of losses, with both states for each number of frames.
    table: Vec<[f64; 2]>,
}

impl Failures {
    /// Of blocks of `aim`, by recursion from their end.
    fn new(states: &States, aim: Aim) -> Self {
        let Aim::Block { frames, spare } = aim else { return Self::default() };
        let (frames, needed) = (frames as usize, spare as usize + 1);
        let mut failures =
            Self { states: *states, frames, table: vec![[0.0; 2]; (needed + 1) * (frames + 1)] };
        failures.table[..=frames].fill([1.0; 2]);
        for needed in 1..=needed {
            for left in 1..=frames {
                let (lost, kept) = (failures.after(needed - 1, left - 1), failures.after(needed, left - 1));
                failures.table[needed * (frames + 1) + left] = [0, 1].map(|state| {
                    let loses = states.loses[state];
                    loses * lost[state] + (1.0 - loses) * kept[state]
                });
            }
        }
        failures
    }

    fn of(&self, needed: usize, left: usize) -> [f64; 2] {
        self.table.get(needed * (self.frames + 1) + left).copied().unwrap_or_default()
    }

    /// The same by the state before the chain's step.
    fn after(&self, needed: usize, left: usize) -> [f64; 2] {
        self.states.before_step(self.of(needed, left))
    }

    /// The chance of a loss now, given that the block fails; 0 if it cannot.
    fn loss(&self, predictor: &Predictor, needed: u32, left: u32) -> f64 {
        let (needed, left) = (needed as usize, left as usize);
        if left == 0 || left > self.frames {
            return 0.0;
        }
        let over = |chances: [f64; 2]| -> f64 {
            predictor.shares().iter().zip(chances).map(|(share, chance)| share * chance).sum()
        };
        let lost = self.after(needed - 1, left - 1);
        let fails = over(self.of(needed, left));
        let loses = over([0, 1].map(|state| self.states.loses[state] * lost[state]));
        if fails > 0.0 { loses / fails } else { 0.0 }
    }
}

/// Losses that are steered.
#[derive(Clone, Debug)]
pub struct Steered {
    predictor: Predictor,
    rng: Stream,
    aim: Aim,
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
    /// Whether a frame has been lost since repairs were foreseen.
    is_blind: bool,
    /// How likely, by the losses so far, the burst was drawn to take a whole window.
    whole_window: f64,
    /// Of a rehearsal: its frames, and which of them repaired the target.
    rehearsed: u32,
    repairs: Vec<u32>,
}

impl Steered {
    /// Independent losses of chance `chance` a unit.
    pub(super) fn independent(chance: Probability, aim: Aim, rng: Stream) -> Self {
        Self::new(Predictor::Independent(chance.as_f64()), 0, aim, rng)
    }

    /// Losses of a chain. Blocks, and what follows a target, come at any time; a burst begins after a time
    /// without losses.
    pub(super) fn chain(chain: GilbertElliott, bursts: Bursts, aim: Aim, rng: Stream) -> Self {
        let belief =
            if matches!(aim, Aim::Frame { .. }) { Belief::clean(chain) } else { Belief::stationary(chain) };
        Self::new(Predictor::Chain(belief), bursts.hold, aim, rng)
    }

    fn new(predictor: Predictor, hold: u32, aim: Aim, rng: Stream) -> Self {
        let wanted = if let Aim::Frame { nth, .. } = aim { nth } else { 0 };
        Self {
            predictor,
            rng,
            aim,
            hold,
            is_first: wanted > 0,
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
        }
    }

    /// Whether it is time to find out where the target's repairs will be: losses come in bursts, and
    /// one has passed since it was known last (RARE-12).
    pub const fn wants_rehearsal(&self) -> bool {
        self.hold > 0 && self.is_blind && self.since_loss > 0 && self.target.is_some()
    }

    /// From now on the repairs of the target are lost, and nothing else.
    pub fn rehearse(&mut self) {
        (self.aim, self.rehearsed) = (Aim::Rehearse, 0);
        self.repairs.clear();
    }

    /// The frames of the rehearsal, counted from 0, that repaired the target.
    pub fn repairs(&self) -> &[u32] {
        &self.repairs
    }

    /// Repairs of the target are expected at these places from now on, in ascending order.
    pub fn foresee(&mut self, repairs: &[u32]) {
        self.foresight = Foresight::new(self.predictor.states(1), repairs);
        self.is_blind = false;
    }

    /// The target, once it is there.
    pub const fn target(&self) -> Option<&Target> {
        self.target.as_ref()
    }

    /// Names the target of a process that follows.
    pub fn follow(&mut self, unit: u64) {
        let target = Target { unit, first: 0, frames: 0, touched: 0, is_complete: false };
        self.target.get_or_insert(target);
    }

    /// Whether there will be no target: the burst ended before.
    pub const fn is_void(&self) -> bool {
        self.is_void
    }

    /// Logarithm of the chance of what happened by the law over that by which it was drawn.
    pub const fn log_weight(&self) -> f64 {
        self.log_weight
    }

    /// Whether the next frame, of so many units of the law, is lost (RARE-1).
    #[cold]
    pub(super) fn decide(&mut self, units: u64, stake: Stake) -> bool {
        if self.aim == Aim::Rehearse {
            return self.decide_rehearsed(stake);
        }
        self.begin_block(units, stake);
        let chance = self.predictor.chance(units);
        let raised = self.raised(chance, stake);
        let lost = self.draw(raised);
        if raised > chance {
            self.log_weight +=
                if lost { libm::log(chance / raised) } else { libm::log1p(-chance) - libm::log1p(-raised) };
        }
        self.predictor.observe(lost);
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

    /// The chance to draw with, at least the law's own.
    fn raised(&self, chance: f64, stake: Stake) -> f64 {
        if chance == 0.0 {
            return 0.0;
        }
        if self.is_first {
            return 1.0;
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
            // A dummy that passes would end the burst as much as a data frame.
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

    /// The chance to lose the next frame of a burst that is drawn to take a window: three of five do.
    fn chance_within_window(&self, chance: f64) -> f64 {
        match self.aim {
            Aim::Frame { window: window @ 1.., .. } => chance.max(1.0 - 0.5 / f64::from(window)),
            _ => chance,
        }
    }

    /// The next frame is lost or not, and what is known of the burst changes by Bayes' rule (RARE-13).
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

    /// The chance to lose a frame that is no repair: a burst may go on until one comes, as the foresight says,
    /// or where it did not see any. Independent losses have no bursts.
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

    /// The chance that the law gives the loss of a block's next frame, if it is known that the block fails (RARE-10).
    fn within_block(&self, index: Option<u32>, left: Option<u32>) -> f64 {
        let Aim::Block { frames, spare } = self.aim else { return 0.0 };
        let left = left.unwrap_or(frames.saturating_sub(index.unwrap_or(0)));
        match (spare + 1).checked_sub(self.target_lost) {
            Some(needed) if needed > 0 => self.failures.loss(&self.predictor, needed, left).min(EXPECTED_MAX),
            _ => 0.0,
        }
    }

    /// The first frame of a block makes it the target (RARE-10). The state of a chain there is the stationary one:
    /// what a block leaves lost depends on its own frames only.
    fn begin_block(&mut self, units: u64, stake: Stake) {
        let Stake::Member { unit, index: Some(0), .. } = stake else { return };
        if matches!(self.aim, Aim::Block { .. }) && self.target.is_none() {
            self.predictor.forget();
            self.failures = Failures::new(&self.predictor.states(units), self.aim);
            let first = self.fresh;
            self.target = Some(Target { unit, first, frames: 0, touched: 0, is_complete: false });
        }
    }

    /// Keeps account of the frame.
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

    /// A frame that belongs to the target, or repairs it.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::{LossModel, LossProcess};
    use crate::rng::Streams;

    const BURSTS: [f64; 4] = [0.02, 0.3, 0.01, 0.6];

    fn chain([p, r, good, bad]: [f64; 4]) -> GilbertElliott {
        GilbertElliott::new(p, r, good, bad).unwrap()
    }

    /// The losses that the bits of `sequence` say.
    fn losses(sequence: u32, frames: u32) -> Vec<bool> {
        (0..frames).map(|place| sequence >> place & 1 == 1).collect()
    }

    /// The chance of a sequence of losses, summed over all sequences of states.
    fn summed([p, r, good, bad]: [f64; 4], losses: &[bool]) -> f64 {
        (0..1_u32 << losses.len())
            .map(|states| {
                let is_bad = |place: usize| states >> place & 1 == 1;
                let mut chance = if is_bad(0) { p / (p + r) } else { r / (p + r) };
                for (place, &lost) in losses.iter().enumerate() {
                    let loses = if is_bad(place) { bad } else { good };
                    chance *= if lost { loses } else { 1.0 - loses };
                    if place + 1 < losses.len() {
                        let leaves = if is_bad(place) { r } else { p };
                        chance *= if is_bad(place) == is_bad(place + 1) { 1.0 - leaves } else { leaves };
                    }
                }
                chance
            })
            .sum()
    }

    // RARE-1
    #[test]
    fn the_chances_of_the_losses_multiply_to_that_of_their_sequence() {
        for law in [BURSTS, [0.1, 0.5, 0.0, 1.0]] {
            for sequence in 0..1 << 7 {
                let losses = losses(sequence, 7);
                let mut belief = Belief::stationary(chain(law));
                let mut product = 1.0;
                for &lost in &losses {
                    product *= if lost { belief.chance() } else { 1.0 - belief.chance() };
                    belief.observe(lost);
                }
                assert!((product - summed(law, &losses)).abs() < 1e-14, "{law:?}: {losses:?}");
            }
        }
    }

    // RARE-1: 1 - (1 - 1e-6)^12144, with thirty decimal digits.
    #[test]
    fn long_frames_have_more_bits_to_lose() {
        let chance = Predictor::Independent(1e-6).chance(8 * 1518);
        assert!((chance - 0.012_070_565).abs() < 1e-9);
        assert_eq!(Predictor::Independent(1e-15).chance(1), 1e-15);
    }

    // RARE-4
    #[test]
    fn a_burst_is_over_when_the_chain_has_forgotten_it() {
        // A frame that passes shows the good state where the bad one loses all.
        let sharp = chain([1e-4, 0.5, 0.0, 1.0]).bursts().unwrap();
        assert_eq!(sharp.hold, 1);
        assert!((sharp.mean_losses - 2.0).abs() < 1e-3);
        let blurred = chain(BURSTS).bursts().unwrap();
        let mut belief = Belief::clean(chain(BURSTS));
        let clean = belief.chance();
        belief.observe(true);
        (1..blurred.hold).for_each(|_| belief.observe(false));
        assert!(belief.chance() > clean * (1.0 + OVER));
        belief.observe(false);
        assert!(belief.chance() <= clean * (1.0 + OVER));
        assert_eq!(chain([1e-6, 1e-5, 0.0, 0.001]).bursts(), None);
    }

    fn steered(model: &LossModel, aim: Aim, seed: u64) -> LossProcess {
        let mut process = LossProcess::new(model, Streams::new(seed).stream("law"));
        process.steer(aim, Streams::new(seed).stream("steered")).unwrap();
        process
    }

    /// Losses of one block, and its weight.
    fn block(model: &LossModel, (frames, spare): (u32, u32), seed: u64) -> (u32, f64) {
        let mut process = steered(model, Aim::Block { frames, spare }, seed);
        let member = |place| Stake::Member { unit: 7, index: Some(place), left: None };
        let lost = (0..frames).filter(|&place| process.is_lost_with(1518, || member(place))).count();
        (lost as u32, libm::exp(process.steered().unwrap().log_weight()))
    }

    // RARE-10: weighted, the failed blocks are as many as the sum over all sequences says.
    #[test]
    fn weights_make_up_for_the_raised_chances() {
        let (frames, spare, looks) = (8, 3, 4000);
        for law in [BURSTS, [1e-4, 0.3, 0.0, 0.9], [1e-3, 0.999, 1e-3, 1e-3]] {
            let failing = (0..1_u32 << frames).filter(|sequence| sequence.count_ones() > spare);
            let fails: f64 = failing.map(|sequence| summed(law, &losses(sequence, frames))).sum();
            let [p, r, good, bad] = law;
            let model = LossModel::gilbert_elliott(p, r, good, bad).unwrap();
            let (mut sum, mut squares) = (0.0, 0.0);
            for seed in 0..looks {
                let (lost, weight) = block(&model, (frames, spare), seed);
                let weight = if lost > spare { weight } else { 0.0 };
                (sum, squares) = (sum + weight, squares + weight * weight);
            }
            let (mean, n) = (sum / looks as f64, looks as f64);
            let error = libm::sqrt((squares / n - mean * mean) / n);
            // Four standard errors: a sound sampler fails once in 16,000 laws.
            assert!((mean - fails).abs() < 4.0 * error, "{law:?}: {mean:e} +- {error:e}, not {fails:e}");
            assert!(error < 0.02 * mean, "{law:?}: steered in vain");
        }
    }

    /// Fails unless looks with these weights have that mean, and spread little around it.
    fn agrees(weights: &[f64], expected: f64) {
        let n = weights.len() as f64;
        let mean = weights.iter().sum::<f64>() / n;
        let square = weights.iter().map(|weight| weight * weight).sum::<f64>() / n;
        let error = libm::sqrt((square - mean * mean) / n);
        // Four standard errors: a sound sampler fails once in 16,000 times.
        assert!((mean - expected).abs() < 4.0 * error, "{mean:e} +- {error:e}, not {expected:e}");
        assert!(error < 0.05 * mean, "steered in vain: {mean:e} +- {error:e}");
    }

    fn weight(process: &mut LossProcess) -> f64 {
        libm::exp(process.steered().unwrap().log_weight())
    }

    // RARE-12: of the frames to come the repairs of the target are found, and one burst takes both of them as
    // often as by the law.
    #[test]
    fn repairs_are_rehearsed_and_lost_as_often_as_the_law_says() {
        let law = [1e-4, 0.4, 0.0, 0.8];
        let [p, r, good, bad] = law;
        let model = LossModel::gilbert_elliott(p, r, good, bad).unwrap();
        let frames = [6, 7, 8, 5, 9, 5].map(|unit| match unit {
            5 => Stake::Repair { unit },
            _ => Stake::Fresh { unit },
        });
        let look = |seed| {
            let mut process = steered(&model, Aim::Frame { nth: 1, lead_frames: 1000, window: 0 }, seed);
            assert!(process.is_lost_with(1518, || Stake::Fresh { unit: 5 }));
            assert!(!process.steered().unwrap().wants_rehearsal(), "the burst may go on");
            if process.is_lost_with(1518, || Stake::Fresh { unit: 6 }) {
                return 0.0;
            }
            assert!(process.steered().unwrap().wants_rehearsal());
            let mut rehearsal = process.clone();
            rehearsal.steered().unwrap().rehearse();
            let lost = frames.map(|stake| rehearsal.is_lost_with(1518, || stake));
            assert_eq!(lost, [false, false, false, true, false, true]);
            assert_eq!(rehearsal.steered().unwrap().repairs(), [3, 5]);
            process.steered().unwrap().foresee(&[3, 5]);
            assert!(!process.steered().unwrap().wants_rehearsal());
            let lost = frames.map(|stake| process.is_lost_with(1518, || stake));
            if lost[3] && lost[5] { weight(&mut process) } else { 0.0 }
        };
        let weights: Vec<f64> = (0..8000).map(look).collect();
        let mut belief = Belief::clean(chain(law));
        let mut expected = 1.0;
        for lost in [Some(true), Some(false), None, None, None, Some(true), None, Some(true)] {
            match lost {
                Some(true) => expected *= belief.chance(),
                Some(false) => expected *= 1.0 - belief.chance(),
                None => {
                    belief.bad = belief.bad * (1.0 - r) + (1.0 - belief.bad) * p;
                    continue;
                }
            }
            belief.observe(lost == Some(true));
        }
        agrees(&weights, expected);
    }

    // RARE-13: 1e-4 times 0.5^14.
    #[test]
    fn bursts_of_a_whole_window_are_as_frequent_as_the_law_says() {
        let model = LossModel::gilbert_elliott(1e-4, 0.5, 0.0, 1.0).unwrap();
        let look = |seed| {
            let mut process = steered(&model, Aim::Frame { nth: 1, lead_frames: 1000, window: 15 }, seed);
            let whole = (0..15).all(|unit| process.is_lost_with(1518, || Stake::Fresh { unit }));
            if whole { weight(&mut process) } else { 0.0 }
        };
        let weights: Vec<f64> = (0..4000).map(look).collect();
        agrees(&weights, 1e-4 * libm::pow(0.5, 14.0));
    }

    // RARE-3, RARE-7: the first frame is lost, its repairs nearly always; others follow the law.
    #[test]
    fn a_frame_and_its_repairs_are_lost_and_no_others() {
        let model = LossModel::bernoulli(1e-3).unwrap();
        let (mut repairs, mut others) = (0, 0);
        for seed in 0..1000 {
            let mut process = steered(&model, Aim::Frame { nth: 1, lead_frames: 2, window: 0 }, seed);
            assert!(process.is_lost_with(1518, || Stake::Fresh { unit: 5 }));
            others += u32::from(process.is_lost_with(1518, || Stake::Fresh { unit: 6 }));
            others += u32::from(process.is_lost_with(1518, || Stake::Repair { unit: 4 }));
            let before = process.steered().unwrap().log_weight();
            assert!((before - libm::log(1e-3)).abs() < 1e-12);
            let lost = process.is_lost_with(1518, || Stake::Repair { unit: 5 });
            repairs += u32::from(lost);
            let ratio = libm::exp(process.steered().unwrap().log_weight() - before);
            let expected = if lost { 1e-3 / REPAIR } else { (1.0 - 1e-3) / (1.0 - REPAIR) };
            assert!((ratio / expected - 1.0).abs() < 1e-9);
        }
        // Binomial bounds of five standard deviations: 900 +- 47, and 2 + 7.
        assert!((853..=947).contains(&repairs), "{repairs} repairs lost");
        assert!(others <= 9, "{others} other frames lost");
    }
}
