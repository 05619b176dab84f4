//! The groups of codewords that fail on a running line, and the frames that are lost with them.
//!
//! One draw gives the number of groups up to the next failure. Over groups that are all corrected, the chances of the line's states
//! follow a matrix, whose powers are sums of two geometric terms. So the number of groups is drawn exactly, as from a geometric
//! law, and the state behind the failure follows from a second draw.
//!
//! The times of the failures are a property of the line, whatever frames are on the line, unless dozens of failures lie between
//! two frames.

use super::fates::Fates;
use super::matrix::Matrix;
use super::{PREAMBLE_OCTETS, Phy, Place};
use crate::rng::{RngCore, uniform};
use crate::time::{Duration, Instant};
use crate::units::BitRate;

/// Picoseconds of an octet, times the bits in a second.
const OCTET_PS_BPS: u128 = 8_000_000_000_000;
/// The number of the group that never comes.
const NEVER: u64 = u64::MAX;
/// The last octet that has a number: years on the fastest lines. Nothing is decided behind it.
const LAST_OCTET: u64 = u64::MAX;
/// The most failures that are drawn one by one between two frames. Later failures are passed at once, by the chance of the line's
/// state, which bounds the work for one frame behind a long idle time.
const FAILURES_MAX: u32 = 64;
/// Groups up to which the smaller of the two geometric terms is looked at.
const FEW_GROUPS: u64 = 4096;

/// Groups behind which frames lie anywhere against the groups again. Frames that follow each other evenly would else meet the groups at
/// few places for ever. On a real line alignment markers and the compensation of clocks move them; on 100 Gb/s markers come every
/// 4,096 codewords (16,384 blocks of 66 bits on each of 20 lanes, 80 of them a codeword). The new place is drawn: an assumption.
const MARKED_GROUPS: u64 = 4096;

/// Returns how many octets of a group have passed, if every number is as likely.
fn anywhere(phy: &Phy, rng: &mut impl RngCore) -> u64 {
    let (octets, part) = phy.group_octets;
    (uniform(rng) * octets.div_ceil(part) as f64) as u64
}

/// The two geometric terms of groups that are all corrected.
#[derive(Clone, Copy, Debug)]
struct Corrections {
    /// One less the larger term's ratio: the chance that a group behind many corrected ones fails.
    fails: f64,
    larger: Matrix,
    /// The smaller term's ratio.
    ratio: f64,
    smaller: Matrix,
}

impl Corrections {
    fn of(fates: &Fates) -> Self {
        let corrected = fates.corrected;
        let state = fates.clean_state();
        let fails = fates.failed.behind(state).iter().sum::<f64>().min(1.0);
        let [[a, _], [_, d]] = corrected.0;
        let ratio = a + d - (1.0 - fails);
        let apart = (1.0 - fails) - ratio;
        let of = |sign: f64, other: f64| (corrected + Matrix::IDENTITY.scaled(-other)).scaled(sign / apart);
        let (larger, smaller) = if apart > f64::EPSILON {
            (of(1.0, ratio), of(-1.0, 1.0 - fails))
        } else {
            (Matrix::IDENTITY, Matrix::default())
        };
        Self { fails, larger, ratio, smaller }
    }

    /// Returns the two terms after `groups` corrected groups.
    fn terms(&self, groups: u64) -> (f64, f64) {
        let (larger, smaller) = (libm::log1p(-self.fails), libm::pow(self.ratio, groups as f64));
        (if groups == 0 { 1.0 } else { libm::exp(groups as f64 * larger) }, smaller)
    }

    /// Returns the chance that `groups` groups from `state` on are corrected.
    fn survives(&self, state: usize, groups: u64) -> f64 {
        let (larger, smaller) = self.terms(groups);
        larger * self.larger.row_sums()[state] + smaller * self.smaller.row_sums()[state]
    }

    /// Draws how many groups from `state` on are corrected before the next failure.
    fn draw(&self, state: usize, rng: &mut impl RngCore) -> u64 {
        if self.fails <= 0.0 {
            return NEVER;
        }
        // Uniform on (0, 1]: the logarithm of zero diverges.
        let chance = 1.0 - uniform(rng);
        let share = self.larger.row_sums()[state];
        let steps = libm::floor(libm::log(chance / share) / libm::log1p(-self.fails));
        // A cast saturates, and takes what is no number for zero.
        let mut groups = steps.max(0.0) as u64;
        while groups < FEW_GROUPS && self.survives(state, groups + 1) >= chance {
            groups += 1;
        }
        while (1..=FEW_GROUPS).contains(&groups) && self.survives(state, groups) < chance {
            groups -= 1;
        }
        groups
    }

    /// Returns the chances of the states after `groups` corrected groups from `state` on, except for a factor.
    fn states(&self, state: usize, groups: u64) -> [f64; 2] {
        let (larger, smaller) = self.terms(groups);
        // A common factor does not count, and would underflow.
        let ratio = if larger > 0.0 { smaller / larger } else { 0.0 };
        [0, 1].map(|end| (self.larger.0[state][end] + ratio * self.smaller.0[state][end]).max(0.0))
    }
}

/// A running line.
#[derive(Clone, Debug)]
pub(in crate::loss) struct Failures {
    phy: Phy,
    corrections: Corrections,
    rate: BitRate,
    /// Octets by which groups lie before those that would begin at time zero.
    phase: u64,
    /// The number of the next group that fails.
    failing: u64,
    /// The first octet of that group, and the first one behind it, from the start of the first group on.
    octets: (u64, u64),
    /// The state of the line behind that group.
    state: usize,
    /// The first octet behind the last frame that was looked at.
    touched: u64,
    /// Whether each frame is looked at.
    is_attended: bool,
}

impl Failures {
    /// Returns a line of this rate in its stationary state. Time zero lies anywhere in a group.
    pub(in crate::loss) fn new(phy: &Phy, rate: BitRate, rng: &mut impl RngCore) -> Self {
        let mut failures = Self {
            phy: *phy,
            corrections: Corrections::of(&phy.fates),
            rate,
            phase: anywhere(phy, rng),
            failing: 0,
            octets: (0, 0),
            state: usize::from(uniform(rng) < phy.start()[1]),
            touched: 0,
            is_attended: false,
        };
        failures.fail_next(0, rng);
        failures
    }

    /// Returns the instant before which a frame has to leave to be certain to pass, as far as is known: until a frame begins behind
    /// the next failure, no later failure is.
    pub(in crate::loss) fn clear_before(&self) -> Instant {
        if self.is_attended {
            return Instant::ZERO;
        }
        if self.failing == NEVER {
            return Instant::NEVER;
        }
        let octet = u128::from(self.octets.0.saturating_sub(self.phase));
        let ps = octet * OCTET_PS_BPS / u128::from(self.rate.as_bps()) + 1;
        u64::try_from(ps).map_or(Instant::NEVER, Instant::from_ps)
    }

    /// Returns the time of an octet, rounded up.
    pub(in crate::loss) fn octet(&self) -> Duration {
        Duration::from_ps(OCTET_PS_BPS.div_ceil(u128::from(self.rate.as_bps())) as u64)
    }

    /// Whether a frame of `frame_bytes` is lost that begins to leave at `now`, no sooner than the frame before.
    pub(in crate::loss) fn is_lost(
        &mut self,
        now: Instant,
        frame_bytes: u32,
        rng: &mut impl RngCore,
    ) -> bool {
        let (mut first, mut behind) = self.octets_of(now, frame_bytes);
        let mut passed = 0;
        while self.octets.1 <= first && self.octets.1 != LAST_OCTET {
            if passed == FAILURES_MAX {
                self.leap(first, rng);
            } else {
                self.fail_next(self.failing + 1, rng);
                passed += 1;
            }
            (first, behind) = self.octets_of(now, frame_bytes);
        }
        self.touched = behind;
        self.octets.0 < behind
    }

    /// Looks at each frame from now on: no frame is certain to pass.
    pub(in crate::loss) const fn attend(&mut self) {
        self.is_attended = true;
    }

    /// Returns the line, at the present time, with groups that fail with the chance `often`, each on its own.
    pub(in crate::loss) fn hastened(&self, often: f64, rng: &mut impl RngCore) -> Self {
        let phy = self.phy.hastened(often);
        let mut hastened = Self { phy, corrections: Corrections::of(&phy.fates), ..self.clone() };
        hastened.fail_next(self.phy.group_of(self.touched), rng);
        hastened
    }

    /// Returns the line.
    pub(in crate::loss) const fn phy(&self) -> &Phy {
        &self.phy
    }

    /// Returns the last group of the last frame that was looked at.
    pub(in crate::loss) fn last_group(&self) -> u64 {
        self.phy.group_of(self.touched.saturating_sub(1))
    }

    /// Returns the groups of a frame of `frame_bytes` that begins to leave at `now`.
    pub(in crate::loss) fn place(&self, now: Instant, frame_bytes: u32) -> Place {
        let (first, behind) = self.octets_of(now, frame_bytes);
        Place { first: self.phy.group_of(first), last: self.phy.group_of(behind - 1) }
    }

    /// Returns the first octet of a frame, and the first one behind the frame, from the start of the first group on.
    fn octets_of(&self, now: Instant, frame_bytes: u32) -> (u64, u64) {
        let octet = u128::from(now.as_ps()) * u128::from(self.rate.as_bps()) / OCTET_PS_BPS;
        let first = u64::try_from(octet).unwrap_or(LAST_OCTET).saturating_add(self.phase);
        (first, first.saturating_add(u64::from(frame_bytes) + PREAMBLE_OCTETS))
    }

    /// Finds the next failure from group `from` on, at whose start the line has the present state.
    fn fail_next(&mut self, from: u64, rng: &mut impl RngCore) {
        let groups = self.corrections.draw(self.state, rng);
        self.failing = from.saturating_add(groups);
        if self.failing == NEVER {
            self.octets = (LAST_OCTET, LAST_OCTET);
            return;
        }
        if groups >= MARKED_GROUPS {
            self.phase = anywhere(&self.phy, rng);
        }
        let ends = self.phy.fates.failed.behind(self.corrections.states(self.state, groups));
        self.state = usize::from(uniform(rng) * (ends[0] + ends[1]) < ends[1]);
        self.octets = (self.start_of(self.failing), self.start_of(self.failing + 1));
    }

    /// Draws the state of the line at the start of the group of `octet` from the state behind the last failure, and the next
    /// failure from that group on.
    fn leap(&mut self, octet: u64, rng: &mut impl RngCore) {
        let group = self.phy.group_of(octet);
        let now = [1.0 - self.state as f64, self.state as f64];
        let [_, wrong] = self.phy.after(now, group - self.failing - 1);
        self.state = usize::from(uniform(rng) < wrong);
        self.fail_next(group, rng);
    }

    /// Returns the first octet of a group.
    fn start_of(&self, group: u64) -> u64 {
        let (octets, part) = self.phy.group_octets;
        u64::try_from(u128::from(group) * u128::from(octets) / u128::from(part)).unwrap_or(LAST_OCTET)
    }
}
