//! The chance that the law gives the next loss, given all losses and survivals before it (RARE-1).

use super::line::LineBelief;
use crate::loss::GilbertElliott;
use crate::loss::foresight::States;
use crate::loss::phy::Phy;
use crate::time::Instant;
use crate::wire::PREAMBLE_AND_GAP;
use alloc::boxed::Box;

/// The relative excess of the chance of a loss, over that after a long clean time, at or below which a
/// burst is over.
pub(super) const OVER: f64 = 1e-3;
/// The longest memory of a chain that can be steered, in frames.
const HOLD_MAX: u32 = 4096;

/// Frames without a loss behind which a burst of a line with a code is over.
pub(super) const LINE_HOLD: u32 = 1;

/// How losses of a law follow each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bursts {
    /// Frames without a loss after which a burst is over.
    pub hold: u32,
    /// Frames that a burst loses on average.
    pub mean_losses: f64,
}

/// The law of the losses, as a chance to lose the next frame.
#[derive(Clone, Debug)]
pub(super) enum Predictor {
    /// A chance to lose a unit, a unit being a frame or a bit.
    Independent(f64),
    Chain(Belief),
    /// A line with a code.
    Line(Box<LineBelief>),
}

/// A frame that is sent.
#[derive(Clone, Copy, Debug)]
pub(in crate::loss) struct Sent {
    /// The instant at which the frame begins to leave.
    pub(in crate::loss) now: Instant,
    pub(in crate::loss) frame_bytes: u32,
    /// The frame's size in the law's unit.
    pub(in crate::loss) units: u64,
}

/// The chance of a chain's bad state, given the losses so far.
#[derive(Clone, Debug)]
pub(super) struct Belief {
    chain: GilbertElliott,
    pub(super) bad: f64,
}

impl Belief {
    pub(super) fn stationary(chain: GilbertElliott) -> Self {
        Self { chain, bad: chain.share_bad() }
    }

    /// Returns the belief after a long time without a loss.
    pub(super) fn clean(chain: GilbertElliott) -> Self {
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

    pub(super) const fn chain(&self) -> GilbertElliott {
        self.chain
    }

    pub(super) fn chance(&self) -> f64 {
        let (good, bad) = (self.chain.loss_good().as_f64(), self.chain.loss_bad().as_f64());
        (1.0 - self.bad) * good + self.bad * bad
    }

    /// Updates the belief by Bayes' rule, and then by the step of the chain.
    pub(super) fn observe(&mut self, lost: bool) {
        let chance = self.chance();
        let bad_loses = self.chain.loss_bad().as_f64();
        let (of_bad, of_all) = if lost { (bad_loses, chance) } else { (1.0 - bad_loses, 1.0 - chance) };
        let bad = if of_all > 0.0 { self.bad * of_bad / of_all } else { self.bad };
        self.bad = bad * (1.0 - self.chain.r().as_f64()) + (1.0 - bad) * self.chain.p().as_f64();
    }
}

impl GilbertElliott {
    /// Returns how losses follow each other; `None` if the chain remembers a loss for more than
    /// `HOLD_MAX` frames.
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

impl Phy {
    /// Returns how losses of frames of `frame_bytes` follow each other on a busy line. A frame that survives ends a burst.
    pub(in crate::loss) fn bursts(&self, frame_bytes: u32) -> Bursts {
        Bursts {
            hold: LINE_HOLD,
            mean_losses: 1.0 + self.group_octets() / (u64::from(frame_bytes) + PREAMBLE_AND_GAP.0) as f64,
        }
    }
}

impl Predictor {
    /// Returns the chance that the next frame, `sent`, is lost.
    pub(super) fn meet(&mut self, sent: Sent) -> f64 {
        match self {
            Self::Line(belief) => belief.meet(sent.now, sent.frame_bytes),
            _ => self.chance(sent.units),
        }
    }

    /// Returns the chance that the next frame, of `units` units, is lost; on a line with a code that of the frame that was met.
    pub(super) fn chance(&self, units: u64) -> f64 {
        match self {
            Self::Independent(chance) if units == 1 => *chance,
            Self::Independent(chance) => -libm::expm1(units as f64 * libm::log1p(-chance)),
            Self::Chain(belief) => belief.chance(),
            Self::Line(belief) => belief.chance(),
        }
    }

    pub(super) fn observe(&mut self, lost: bool) {
        match self {
            Self::Independent(_) => {}
            Self::Chain(belief) => belief.observe(lost),
            Self::Line(belief) => belief.observe(lost),
        }
    }

    /// Returns the law as a chain, for frames of `units` units and `frame_bytes`. A line with a code counts as its bursts.
    pub(super) fn states(&self, units: u64, frame_bytes: u32) -> States {
        match self {
            Self::Independent(_) => States { loses: [self.chance(units); 2], leaves: [0.0; 2] },
            Self::Chain(Belief { chain, .. }) => States::of(chain),
            Self::Line(belief) => {
                let law = belief.law(frame_bytes);
                let alone = || States { loses: [law.rate(); 2], leaves: [0.0; 2] };
                law.as_chain().map_or_else(alone, |chain| States::of(&chain))
            }
        }
    }

    /// Returns the chances of the good state and of the bad one.
    pub(super) fn shares(&self) -> [f64; 2] {
        match self {
            Self::Independent(_) => [1.0, 0.0],
            Self::Chain(belief) => [1.0 - belief.bad, belief.bad],
            Self::Line(belief) => belief.shares(),
        }
    }

    pub(super) fn forget(&mut self) {
        match self {
            Self::Independent(_) => {}
            Self::Chain(belief) => *belief = Belief::stationary(belief.chain),
            Self::Line(belief) => belief.forget(),
        }
    }
}

impl States {
    fn of(chain: &GilbertElliott) -> Self {
        Self {
            loses: [chain.loss_good().as_f64(), chain.loss_bad().as_f64()],
            leaves: [chain.p().as_f64(), chain.r().as_f64()],
        }
    }
}
