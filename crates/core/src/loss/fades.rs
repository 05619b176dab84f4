//! Bursts that last a time, whether frames pass or not: a link that is clear or faded, in turn.
//!
//! A visit to either state has an exponential length: the Gilbert-Elliott chain in continuous time (E. N. Gilbert 1960; radio
//! links: H. S. Wang and N. Moayeri 1995). A frame is lost if the link is faded when the frame begins to leave. So the share of
//! frames that are lost is the share of time that is faded, at any load. The number of frames in a fade follows from the
//! traffic.
//!
//! ```text
//!             1 / clear
//!          ------------->
//!   clear                faded     every frame that begins then is lost
//!          <-------------
//!             1 / fade
//! ```

use super::error::LossError;
use super::gilbert_elliott::GilbertElliott;
use crate::probability::Probability;
use crate::rng::{RngCore, uniform};
use crate::time::{Duration, Instant};
use serde::Deserialize;

/// The mean times for which a link is clear and for which it is faded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Times")]
pub struct Fades {
    clear: Duration,
    fade: Duration,
}

/// The two times in picoseconds, in JSON.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Times {
    clear_ps: u64,
    fade_ps: u64,
}

impl TryFrom<Times> for Fades {
    type Error = LossError;

    fn try_from(Times { clear_ps, fade_ps }: Times) -> Result<Self, LossError> {
        Self::new(Duration::from_ps(clear_ps), Duration::from_ps(fade_ps))
    }
}

/// The most changes of state that are drawn one by one between two frames. Later changes are drawn at once, by the chance of
/// the state, which bounds the work for one frame behind a long idle time.
const VISITS_MAX: u32 = 4096;

impl Fades {
    /// Returns fades of this mean length, with this mean time between them.
    ///
    /// # Errors
    /// If a fade, or the time between two fades, takes no time.
    pub fn new(clear: Duration, fade: Duration) -> Result<Self, LossError> {
        if clear == Duration::ZERO || fade == Duration::ZERO {
            return Err(LossError::NoTime);
        }
        Ok(Self { clear, fade })
    }

    /// Returns the mean length of a fade.
    pub const fn fade(&self) -> Duration {
        self.fade
    }

    /// Returns the mean time between two fades.
    pub const fn clear(&self) -> Duration {
        self.clear
    }

    /// Returns the share of time that is faded, and so of frames that are lost, in the long run.
    pub fn mean_loss_rate(&self) -> f64 {
        let (clear, fade) = (self.clear.as_secs_f64(), self.fade.as_secs_f64());
        fade / (clear + fade)
    }

    /// Returns the chain that frames meet if one frame begins every `spacing`. It is exact: the states that the frames find are
    /// a Markov chain.
    pub fn chain(&self, spacing: Duration) -> GilbertElliott {
        let moved = self.moved(spacing);
        let share = self.mean_loss_rate();
        let chance = |p: f64| Probability::new(p.clamp(0.0, 1.0)).unwrap_or(Probability::NEVER);
        GilbertElliott::of_fades(chance(share * moved), chance((1.0 - share) * moved))
    }

    /// Returns how far the state is forgotten after a time: 0 at once, 1 in the limit.
    fn moved(&self, time: Duration) -> f64 {
        let (clear, fade) = (self.clear.as_secs_f64(), self.fade.as_secs_f64());
        -libm::expm1(-time.as_secs_f64() * (1.0 / clear + 1.0 / fade))
    }
}

/// A link with fades, running: its present state, and when the present visit ends.
#[derive(Clone, Debug)]
pub(super) struct Fading {
    model: Fades,
    is_faded: bool,
    until: Instant,
}

impl Fading {
    /// Returns a link in the stationary state at time zero. The times of the fades do not depend on the traffic.
    pub(super) fn new(model: Fades, rng: &mut impl RngCore) -> Self {
        let is_faded = uniform(rng) < model.mean_loss_rate();
        let mut fading = Self { model, is_faded, until: Instant::ZERO };
        fading.until = fading.end_of_visit(Instant::ZERO, rng);
        fading
    }

    /// Whether the link is faded at `now`, which is no sooner than before.
    pub(super) fn is_faded(&mut self, now: Instant, rng: &mut impl RngCore) -> bool {
        let mut visits = 0;
        while self.until <= now {
            self.is_faded = !self.is_faded;
            if visits == VISITS_MAX {
                self.leap(now, rng);
                break;
            }
            self.until = self.end_of_visit(self.until, rng);
            visits += 1;
        }
        self.is_faded
    }

    /// Returns the instant before which a frame has to begin to meet a clear link, as far as is known.
    pub(super) const fn clear_before(&self) -> Instant {
        if self.is_faded { Instant::ZERO } else { self.until }
    }

    /// Draws the state at `now` from that at the end of the last visit. The rest of a visit is distributed as a whole one.
    fn leap(&mut self, now: Instant, rng: &mut impl RngCore) {
        let share = self.model.mean_loss_rate();
        let leaves = if self.is_faded { 1.0 - share } else { share } * self.model.moved(now - self.until);
        self.is_faded ^= uniform(rng) < leaves;
        self.until = self.end_of_visit(now, rng);
    }

    /// Returns when a visit to the present state ends that is under way at `now`.
    fn end_of_visit(&self, now: Instant, rng: &mut impl RngCore) -> Instant {
        let mean = if self.is_faded { self.model.fade } else { self.model.clear };
        // Uniform on (0, 1]: the logarithm of zero diverges.
        let length = -libm::log(1.0 - uniform(rng)) * mean.as_ps() as f64;
        // At least a picosecond, so that time advances. A cast saturates.
        now.saturating_add(Duration::from_ps((libm::round(length) as u64).max(1)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::{LossLaw, LossModel, LossProcess};
    use crate::rng::Streams;
    use crate::units::BitRate;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    fn fades(clear_us: u64, fade_us: u64) -> Fades {
        Fades::new(Duration::from_us(clear_us), Duration::from_us(fade_us)).unwrap()
    }

    fn process(model: Fades, seed: u64) -> LossProcess {
        LossProcess::new(&LossModel::Fades(model), Streams::new(seed).stream("link/0/loss"))
    }

    /// Returns which of `frames` frames are lost if one frame begins every `spacing`.
    fn lost(model: Fades, seed: u64, spacing: Duration, frames: u64) -> Vec<bool> {
        let mut process = process(model, seed);
        (0..frames).map(|frame| process.is_lost_at(Instant::ZERO + spacing * frame, 1518)).collect()
    }

    /// The sum of a two-state chain over n frames has variance n b (1 - b) (1 + q) / (1 - q), where b is the share that is
    /// lost and q = exp(-(1/clear + 1/fade) spacing) the correlation of neighbours. A run of losses is geometric with mean 1/r,
    /// r = (1 - b) (1 - q), hence standard deviation sqrt(1 - r) / r. Both at a full line, a half and a tenth of it.
    #[test]
    fn the_share_lost_is_the_share_of_time_at_any_load_and_a_burst_takes_what_passes_meanwhile() {
        let (model, span) = (fades(980, 20), Duration::from_secs(60));
        let mut per_burst = Vec::new();
        for slots in [1, 2, 10] {
            let spacing = Duration::from_us(1) * slots;
            let frames = span / spacing;
            let lost = lost(model, 11, spacing, frames);
            let losses = lost.iter().filter(|&&lost| lost).count() as f64;
            let bursts = lost.windows(2).filter(|pair| !pair[0] && pair[1]).count() as f64;
            let (b, n) = (0.02, frames as f64);
            let q = libm::exp(-spacing.as_us_f64() * (1.0 / 980.0 + 1.0 / 20.0));
            let sigma = libm::sqrt(n * b * (1.0 - b) * (1.0 + q) / (1.0 - q));
            assert!((losses - n * b).abs() < 4.0 * sigma, "{slots}: {losses} lost, {} expected", n * b);
            let r = (1.0 - b) * (1.0 - q);
            let error = libm::sqrt(1.0 - r) / r / libm::sqrt(bursts);
            let mean = losses / bursts;
            assert!((mean - 1.0 / r).abs() < 4.0 * error, "{slots}: mean burst {mean} frames, 1/{r}");
            per_burst.push(mean);
        }
        // Twice the distance halves the frames of a burst, except for the fades that no frame meets: 20.9, 10.7, 2.6.
        assert!((per_burst[0] / per_burst[1] - 2.0).abs() < 0.1, "{per_burst:?}");
    }

    /// The lengths of fades are exponential: mean and standard deviation are both that of the model.
    #[test]
    fn a_fade_lasts_its_time() {
        let (model, spacing) = (fades(10_000, 500), Duration::from_us(1));
        let lost = lost(model, 3, spacing, 40_000_000);
        let lengths: Vec<f64> =
            lost.split(|&lost| !lost).filter(|run| !run.is_empty()).map(|run| run.len() as f64).collect();
        let (n, mean) = (lengths.len() as f64, lengths.iter().sum::<f64>() / lengths.len() as f64);
        let variance =
            lengths.iter().map(|length| (length - mean) * (length - mean)).sum::<f64>() / (n - 1.0);
        // The variance of a sample variance of exponential lengths is 8 mean^4 / n.
        assert!((mean - 500.0).abs() < 4.0 * 500.0 / libm::sqrt(n) + 0.5, "{n} fades of {mean} us");
        assert!(
            (variance / 250_000.0 - 1.0).abs() < 4.0 * libm::sqrt(8.0 / n),
            "deviation {}",
            libm::sqrt(variance)
        );
    }

    /// Behind an idle time of many visits the state is drawn at once, with the share of time that is faded.
    #[test]
    fn a_long_idle_time_is_one_draw() {
        let model = Fades::new(Duration::from_ns(3), Duration::from_ns(1)).unwrap();
        let losses = lost(model, 5, Duration::from_ms(1), 40_000).iter().filter(|&&lost| lost).count() as f64;
        assert!((losses - 10_000.0).abs() < 4.0 * libm::sqrt(40_000.0 * 0.25 * 0.75), "{losses}");
    }

    #[test]
    fn what_takes_no_time_is_refused() {
        let second = Duration::from_secs(1);
        assert_eq!(Fades::new(Duration::ZERO, second), Err(LossError::NoTime));
        assert_eq!(Fades::new(second, Duration::ZERO), Err(LossError::NoTime));
    }

    /// A protection is set up for frames that follow each other at the line's rate: 1538 octets take 123.04 ns at 100 Gb/s.
    #[test]
    fn at_the_rate_of_the_line_frames_meet_a_chain() {
        let LossLaw::Bursts(chain) = LossModel::Fades(fades(999, 1)).law(1518, BitRate::from_gbps(100))
        else {
            panic!("bursts")
        };
        assert!((chain.mean_loss_rate() - 1e-3).abs() < 1e-12);
        let moved = 1.0 - libm::exp(-0.12304 * (1.0 / 999.0 + 1.0));
        assert!((chain.r().as_f64() - 0.999 * moved).abs() < 1e-9);
    }

    proptest! {
        /// The times of fades are a property of the link: frames that others see do not change whether a frame is lost.
        #[test]
        fn traffic_does_not_change_the_fades(
            seed in any::<u64>(),
            times in prop::collection::btree_set(0u64..20_000_000, 1..200),
            every in 1usize..7,
        ) {
            let (mut many, mut few) = (process(fades(3, 2), seed), process(fades(3, 2), seed));
            for (place, &ps) in times.iter().enumerate() {
                let lost = many.is_lost_at(Instant::from_ps(ps), 64);
                if place % every == 0 {
                    prop_assert_eq!(few.is_lost_at(Instant::from_ps(ps), 1518), lost);
                }
            }
        }
    }
}
