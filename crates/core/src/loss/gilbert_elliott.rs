//! The Gilbert-Elliott chain: a good and a bad state, each with its own loss chance.
//!
//! A frame meets the loss chance of the present state, then the chain steps. Source: E. N. Gilbert
//! (1960) and E. O. Elliott (1963); the step is one frame here, not one bit.
//!
//! ```text
//!              p
//!        ------------>
//!   good               bad      loss_good, loss_bad: the chance to lose a frame there
//!        <------------
//!              r
//! ```

use super::error::{LossError, chance};
use super::run::Run;
use crate::probability::Probability;
use crate::rng::{RngCore, uniform};
use serde::Deserialize;

/// The four chances of the chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Chances")]
pub struct GilbertElliott {
    /// Chance to go from good to bad, a frame.
    p: Probability,
    /// Chance to go from bad to good, a frame.
    r: Probability,
    loss_good: Probability,
    loss_bad: Probability,
}

/// A chain in JSON: its four chances, or the share of frames that are lost and the mean length of a burst in frames.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Chances {
    p: Option<f64>,
    r: Option<f64>,
    loss_good: Option<f64>,
    loss_bad: Option<f64>,
    mean: Option<f64>,
    burst: Option<f64>,
}

impl TryFrom<Chances> for GilbertElliott {
    type Error = LossError;

    fn try_from(given: Chances) -> Result<Self, LossError> {
        match given {
            Chances {
                p: Some(p),
                r: Some(r),
                loss_good: Some(good),
                loss_bad: Some(bad),
                mean: None,
                burst: None,
            } => Self::new(p, r, good, bad),
            Chances {
                p: None,
                r: None,
                loss_good: None,
                loss_bad: None,
                mean: Some(mean),
                burst: Some(burst),
            } => Self::of_bursts(mean, burst),
            _ => Err(LossError::HalfAChain),
        }
    }
}

/// Returns the chances of a chain to go bad and to recover, a frame. The chain loses all frames of its bad state, and so the share
/// `mean` of all frames, in bursts of `burst` frames on average.
///
/// # Errors
/// If `mean` is no probability, a burst is shorter than a frame, or bursts are so short that they cannot reach the mean.
pub fn burst_chances(mean: f64, burst: f64) -> Result<(f64, f64), LossError> {
    chance("mean", mean)?;
    if !(burst.is_finite() && burst >= 1.0) {
        return Err(LossError::ShortBurst(burst));
    }
    let p = if mean < 1.0 { mean / (burst * (1.0 - mean)) } else { f64::INFINITY };
    if p > 1.0 { Err(LossError::RareBursts) } else { Ok((p, 1.0 / burst)) }
}

impl GilbertElliott {
    /// Returns a chain that goes bad with chance `p` a frame and recovers with chance `r`.
    ///
    /// # Errors
    /// If an argument is no probability, or `p` and `r` are both zero.
    pub fn new(p: f64, r: f64, loss_good: f64, loss_bad: f64) -> Result<Self, LossError> {
        let chain = Self {
            p: chance("p", p)?,
            r: chance("r", r)?,
            loss_good: chance("loss in the good state", loss_good)?,
            loss_bad: chance("loss in the bad state", loss_bad)?,
        };
        if chain.p.is_never() && chain.r.is_never() {
            return Err(LossError::ChainNeverMoves);
        }
        Ok(chain)
    }

    /// Returns the chain of [`burst_chances`].
    ///
    /// # Errors
    /// As [`burst_chances`].
    pub fn of_bursts(mean: f64, burst: f64) -> Result<Self, LossError> {
        let (p, r) = burst_chances(mean, burst)?;
        Self::new(p, r, 0.0, 1.0)
    }

    /// Returns the chain that loses every frame of its bad state, with these chances, of which at least one is
    /// above zero.
    pub(super) const fn of_fades(p: Probability, r: Probability) -> Self {
        Self { p, r, loss_good: Probability::NEVER, loss_bad: Probability::ALWAYS }
    }

    /// Returns the chance a frame to go from good to bad.
    pub const fn p(&self) -> Probability {
        self.p
    }

    /// Returns the chance a frame to go from bad to good.
    pub const fn r(&self) -> Probability {
        self.r
    }

    /// Returns the chance to lose a frame in the good state.
    pub const fn loss_good(&self) -> Probability {
        self.loss_good
    }

    /// Returns the chance to lose a frame in the bad state.
    pub const fn loss_bad(&self) -> Probability {
        self.loss_bad
    }

    /// Returns a model with these bursts, which begin with the chance `often` at each frame.
    pub(super) fn hastened(&self, often: Probability) -> Self {
        Self { p: often, ..*self }
    }

    /// Returns the share of time spent in the bad state.
    pub fn share_bad(&self) -> f64 {
        self.p.as_f64() / (self.p.as_f64() + self.r.as_f64())
    }

    /// Returns the share of frames lost in the long run.
    pub fn mean_loss_rate(&self) -> f64 {
        let bad = self.share_bad();
        (1.0 - bad) * self.loss_good.as_f64() + bad * self.loss_bad.as_f64()
    }
}

/// A running chain: its present state, and how many frames the present visit still lasts.
#[derive(Clone, Debug)]
pub(super) struct Chain {
    model: GilbertElliott,
    is_bad: bool,
    frames_left: u64,
}

/// The number of visits that are searched for a loss before a run is returned without one: a bound on the work of
/// one draw when losses are much rarer than changes of state.
const VISITS_MAX: u32 = 64;

impl Chain {
    /// Returns a chain in the stationary state, so that there is no warm-up.
    pub(super) fn new(model: GilbertElliott, rng: &mut impl RngCore) -> Self {
        let is_bad = uniform(rng) < model.share_bad();
        let mut chain = Self { model, is_bad, frames_left: 0 };
        chain.frames_left = chain.visit(rng);
        chain
    }

    /// Returns the law of the chain.
    pub(super) const fn model(&self) -> &GilbertElliott {
        &self.model
    }

    /// Returns the frames that pass before the next loss, or before the search for one was given up.
    pub(super) fn next_run(&mut self, rng: &mut impl RngCore) -> Run {
        let mut clear = 0u64;
        for _ in 0..VISITS_MAX {
            let gap = self.loss().failures_before_success(rng);
            if gap < self.frames_left {
                self.frames_left -= gap + 1;
                return Run { clear: clear.saturating_add(gap), ends_in_loss: true };
            }
            clear = clear.saturating_add(self.frames_left);
            self.is_bad = !self.is_bad;
            self.frames_left = self.visit(rng);
        }
        Run { clear, ends_in_loss: false }
    }

    /// Draws the length of a visit to the present state: at least one frame, because the chain steps after it.
    fn visit(&self, rng: &mut impl RngCore) -> u64 {
        let leave = if self.is_bad { self.model.r } else { self.model.p };
        leave.failures_before_success(rng).saturating_add(1)
    }

    /// Returns the chance to lose a frame in the present state.
    fn loss(&self) -> Probability {
        if self.is_bad { self.model.loss_bad } else { self.model.loss_good }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::{LossModel, LossProcess};
    use crate::rng::Streams;

    /// Counts losses and bursts (maximal runs of losses) of one process.
    fn count(model: &LossModel, frames: u64) -> (u64, u64) {
        let mut process = LossProcess::new(model, Streams::new(11).stream("chain"));
        let (mut losses, mut bursts, mut before) = (0, 0, false);
        for _ in 0..frames {
            let lost = process.is_lost(1518);
            losses += u64::from(lost);
            bursts += u64::from(lost && !before);
            before = lost;
        }
        (losses, bursts)
    }

    #[test]
    fn a_mean_and_a_burst_give_the_chances() {
        let read =
            |json: &str| serde_json::from_str::<LossModel>(json).map_err(|error| alloc::format!("{error}"));
        let bursts = read(r#"{"model": "gilbert-elliott", "mean": 0.01, "burst": 4}"#).unwrap();
        assert_eq!(bursts, LossModel::gilbert_elliott(0.01 / (4.0 * 0.99), 0.25, 0.0, 1.0).unwrap());
        assert!((bursts.mean_loss_rate(1518) - 0.01).abs() < 1e-15);
        // Numbers with many digits are read to the double that they are written for.
        let (p, r) = burst_chances(0.0023, 1.0).unwrap();
        let chances = alloc::format!(r#""p": {p}, "r": {r}, "loss_good": 0, "loss_bad": 1"#);
        let chain = read(&alloc::format!(r#"{{"model": "gilbert-elliott", {chances}}}"#)).unwrap();
        assert_eq!(chain, LossModel::gilbert_elliott(p, r, 0.0, 1.0).unwrap());
        for (numbers, words) in [
            (r#""mean": 0.01, "burst": 0.5"#, "at least 1 frame"),
            (r#""mean": 0.9, "burst": 2"#, "make them longer"),
            (r#""mean": 1.0, "burst": 2"#, "make them longer"),
            (r#""mean": 0.01"#, "either p, r"),
            (r#""mean": 0.01, "burst": 2, "p": 0.1"#, "either p, r"),
        ] {
            let refused = read(&alloc::format!(r#"{{"model": "gilbert-elliott", {numbers}}}"#)).unwrap_err();
            assert!(refused.contains(words), "{refused}");
        }
    }

    /// The sum of a two-state chain over n frames has variance n b (1 - b) (1 + q) / (1 - q), where
    /// b is the share of the bad state and q = 1 - p - r the correlation of neighbours.
    #[test]
    fn the_mean_is_the_stationary_one() {
        let (p, r, frames) = (0.002, 0.25, 2_000_000u64);
        let (losses, _) = count(&LossModel::gilbert_elliott(p, r, 0.0, 1.0).unwrap(), frames);
        let (bad, q, n) = (p / (p + r), 1.0 - p - r, frames as f64);
        let sigma = libm::sqrt(n * bad * (1.0 - bad) * (1.0 + q) / (1.0 - q));
        assert!((losses as f64 - n * bad).abs() < 5.0 * sigma, "{losses} losses, expected {}", n * bad);
    }

    /// A burst is geometric with mean 1/r, hence standard deviation sqrt(1 - r) / r.
    #[test]
    fn a_burst_lasts_one_over_r_frames() {
        let r = 0.25;
        let (losses, bursts) = count(&LossModel::gilbert_elliott(0.002, r, 0.0, 1.0).unwrap(), 2_000_000);
        let mean = losses as f64 / bursts as f64;
        let error = libm::sqrt(1.0 - r) / r / libm::sqrt(bursts as f64);
        assert!((mean - 1.0 / r).abs() < 5.0 * error, "mean burst {mean} frames");
    }

    #[test]
    fn both_states_lose_with_their_own_chance() {
        let (p, r, good, bad, frames) = (0.1, 0.3, 0.02, 0.6, 1_000_000u64);
        let model = LossModel::gilbert_elliott(p, r, good, bad).unwrap();
        let (losses, _) = count(&model, frames);
        let (mean, share, q) = (model.mean_loss_rate(1518), p / (p + r), 1.0 - p - r);
        // The variance is Bernoulli noise plus the noise of the state, which is correlated from frame to frame.
        let state = share * (1.0 - share) * (bad - good) * (bad - good);
        let variance = mean * (1.0 - mean) + 2.0 * state * q / (1.0 - q);
        let sigma = libm::sqrt(frames as f64 * variance);
        assert!((losses as f64 - frames as f64 * mean).abs() < 5.0 * sigma, "{losses} losses");
    }

    #[test]
    fn a_search_that_finds_no_loss_is_bounded() {
        let model = LossModel::gilbert_elliott(1.0, 1.0, 0.0, 1e-16).unwrap();
        let mut process = LossProcess::new(&model, Streams::new(1).stream("rare"));
        assert_eq!(process.clear_frames(64), u64::from(VISITS_MAX));
        assert!((0..1000).all(|_| !process.is_lost(64)));
    }

    #[test]
    fn a_chain_that_cannot_move_is_refused() {
        assert_eq!(GilbertElliott::new(0.0, 0.0, 0.0, 1.0), Err(LossError::ChainNeverMoves));
        let stuck_bad = GilbertElliott::new(0.1, 0.0, 0.0, 1.0).unwrap();
        assert_eq!(stuck_bad.mean_loss_rate(), 1.0);
    }
}
