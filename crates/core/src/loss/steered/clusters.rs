//! The draws of the losses of a cluster: by the law and by several laws with more losses at once (RARE-15).
//!
//! The law that draws is summed over: each frame is lost with the mean of the laws' chances, weighted by the chance of
//! each law given the losses so far. The weight of a look is thereby bounded by the share of the law itself.

use super::predictor::{Belief, Predictor};
use crate::loss::GilbertElliott;

/// Chance to lose a repair by the laws that raise it.
const REPAIR: f64 = 0.5;
/// Share of the law itself, and of each of the five other laws (RARE-15): chosen, not derived.
const OWN: f64 = 0.25;
const EACH: f64 = 0.15;
/// Parts of the clean frames that end a cluster, within which the next loss is drawn.
const SCALES: [u32; 3] = [1, 4, 16];
/// The factor by which bursts are longer under the law with the longest.
const LONGER: f64 = 2.0;
/// The multiple of the clean frames that end a cluster after which only the law itself draws, so that a cluster ends.
const RAISED_TIMES: u32 = 16;

/// One of the laws by which a cluster is drawn.
#[derive(Clone, Debug)]
struct Strategy {
    /// The predictor of a chain with longer bursts, if this law has one.
    longer: Option<Predictor>,
    /// For `scale` frames after a loss the next loss has a chance of at least one in `scale`; 0 for the law itself.
    scale: u32,
    raises_repairs: bool,
    /// The chance, given the losses so far, that the losses are drawn by this law.
    share: f64,
}

impl Strategy {
    const fn new(scale: u32, raises_repairs: bool, share: f64) -> Self {
        Self { longer: None, scale, raises_repairs, share }
    }

    /// Returns the chance to lose the next frame, which is never below that of the law itself.
    fn chance(&self, chance: f64, is_repair: bool, since_loss: u32) -> f64 {
        let own = self.longer.as_ref().map_or(chance, |longer| longer.chance(1));
        let next = if since_loss < self.scale { 1.0 / f64::from(self.scale) } else { 0.0 };
        let repair = if is_repair && self.raises_repairs { REPAIR } else { 0.0 };
        own.max(next).max(repair).max(chance)
    }
}

/// The laws by which a cluster is drawn.
#[derive(Clone, Debug)]
pub(super) struct Clusters {
    strategies: [Strategy; 6],
    /// Frames for which the chances of losses are still raised.
    left: u32,
}

impl Clusters {
    /// Returns the laws for clusters of `law` that end with `clean_frames` clean frames.
    pub(super) fn new(law: &Predictor, clean_frames: u32) -> Self {
        let [far, near, nearest] = SCALES.map(|parts| (clean_frames / parts).max(2));
        let mut strategies = [
            Strategy::new(0, false, OWN),
            Strategy::new(far, false, EACH),
            Strategy::new(near, false, EACH),
            Strategy::new(far, true, EACH),
            Strategy::new(near, true, EACH),
            Strategy::new(nearest, true, EACH),
        ];
        if let Predictor::Chain(belief) = law {
            strategies[2].longer = Some(Predictor::Chain(belief.with_longer(LONGER)));
        }
        Self { strategies, left: clean_frames.saturating_mul(RAISED_TIMES) }
    }

    /// Returns the chance with which to draw the next frame's loss; `chance` is that of the law.
    pub(super) fn chance(&self, chance: f64, is_repair: bool, since_loss: u32) -> f64 {
        if self.left == 0 {
            return chance;
        }
        let each = |strategy: &Strategy| strategy.share * strategy.chance(chance, is_repair, since_loss);
        self.strategies.iter().map(each).sum()
    }

    /// Updates the shares of the laws by Bayes' rule, after the frame for which [`Clusters::chance`] was asked is lost or
    /// not. The first frame of a cluster is lost under all laws, and tells nothing.
    pub(super) fn observe(&mut self, asked: (f64, bool, u32), lost: bool, is_first: bool) {
        let (chance, is_repair, since_loss) = asked;
        let tells = !is_first && self.left > 0;
        let mut all = 0.0;
        for strategy in &mut self.strategies {
            let own = strategy.chance(chance, is_repair, since_loss);
            if tells {
                strategy.share *= if lost { own } else { 1.0 - own };
            }
            all += strategy.share;
            if let Some(longer) = &mut strategy.longer {
                longer.observe(lost);
            }
        }
        if all > 0.0 {
            self.strategies.iter_mut().for_each(|strategy| strategy.share /= all);
        }
        self.left = self.left.saturating_sub(1);
    }
}

impl Belief {
    /// Returns the belief after a long clean time in a chain that stays bad `longer` times as long.
    fn with_longer(&self, longer: f64) -> Self {
        let chain = self.chain();
        let [p, r, good, bad] =
            [chain.p(), chain.r(), chain.loss_good(), chain.loss_bad()].map(|chance| chance.as_f64());
        GilbertElliott::new(p, r / longer, good, bad).map_or_else(|_| Self::clean(chain), Self::clean)
    }
}
