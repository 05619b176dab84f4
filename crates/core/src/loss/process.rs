//! A running loss model: a countdown to the next loss instead of a draw a frame.
//!
//! Every law is a sequence of *runs*: a number of units passes, then (usually) a frame is lost. The unit of a run is a frame, or
//! a bit where the law is a bit error rate. A geometric law has no memory, so a fresh run may start after the frame that an error
//! hit.
//!
//! A law that goes by time knows instead until when the line is clear.

#[cfg(test)]
mod tests;

use super::fades::Fading;
use super::gilbert_elliott::Chain;
use super::phy::{Failures, PREAMBLE_OCTETS};
use super::positions::Cursor;
use super::run::Run;
use super::steered::{Aim, Bursts, Sent, Stake, Steered};
use super::{BITS_PER_BYTE, LossModel};
use crate::probability::Probability;
use crate::rng::Stream;
use crate::time::{Duration, Instant};
use crate::units::BitRate;
use alloc::boxed::Box;

/// A loss model with its random stream; call [`is_lost_at`](Self::is_lost_at) once for every frame
/// offered to the link, in order.
///
/// A frame's size counts what its FCS protects, FCS included: 1518 for a full Ethernet frame.
#[derive(Clone, Debug)]
pub struct LossProcess {
    /// Units that are certain to pass.
    clear: u64,
    /// Units of a frame: a number for each frame, and a number for each of its bytes. Both are zero on a clean link.
    per_frame: u64,
    per_byte: u64,
    /// Frames that have left before this instant are certain to pass, as far as the law goes by time; `NEVER` if the law does not.
    clear_before: Instant,
    /// The time that an octet takes, and the octets in front of each frame that can be hit, if the law goes by octets of the line.
    octet: Duration,
    in_front: u64,
    /// Whether the frame that does not fit in `clear` is lost. If not, only the known run ends there.
    ends_in_loss: bool,
    law: Law,
    rng: Stream,
}

/// The law by which runs are made.
#[derive(Clone, Debug)]
enum Law {
    Clean,
    Geometric(Probability),
    Chain(Chain),
    Positions(Cursor),
    /// Decided by the time at which a frame begins: its run has no end.
    Fading(Fading),
    /// Decided by the octets of the line that a frame takes: its run has no end.
    Coded(Box<Failures>),
    /// Decided frame by frame: its runs are empty.
    Steered(Box<Steered>),
}

impl Law {
    fn next_run(&mut self, rng: &mut Stream) -> Run {
        match self {
            Self::Clean => Run::FOREVER,
            Self::Geometric(chance) => Run { clear: chance.failures_before_success(rng), ends_in_loss: true },
            Self::Chain(chain) => chain.next_run(rng),
            Self::Positions(cursor) => cursor.next_run(),
            Self::Fading(_) | Self::Coded(_) => Run::FOREVER,
            Self::Steered(_) => Run { clear: 0, ends_in_loss: false },
        }
    }
}

impl LossProcess {
    /// Returns a process of `model` on a random stream of its own.
    ///
    /// # Panics
    /// If the model is that of a line with a code: [`on_line`](Self::on_line) takes the line's rate.
    pub fn new(model: &LossModel, rng: Stream) -> Self {
        Self::build(model, None, rng)
    }

    /// Returns a process of `model` on a line of this rate, with a random stream of its own.
    pub fn on_line(model: &LossModel, rate: BitRate, rng: Stream) -> Self {
        Self::build(model, Some(rate), rng)
    }

    fn build(model: &LossModel, rate: Option<BitRate>, mut rng: Stream) -> Self {
        let law = match model {
            LossModel::None => Law::Clean,
            _ if model.is_clean() => Law::Clean,
            LossModel::Bernoulli { p: chance } | LossModel::BitErrorRate { ber: chance } => {
                Law::Geometric(*chance)
            }
            LossModel::Quantised { p } => Law::Geometric(p.probability()),
            LossModel::GilbertElliott(chain) => Law::Chain(Chain::new(*chain, &mut rng)),
            LossModel::Fades(fades) => Law::Fading(Fading::new(*fades, &mut rng)),
            LossModel::Phy(phy) => {
                let rate = rate.expect("the code of a line goes by the line's octets");
                Law::Coded(Box::new(Failures::new(phy, rate, &mut rng)))
            }
            LossModel::At { positions } | LossModel::Trace { lost: positions } => {
                Law::Positions(Cursor::new(positions.clone()))
            }
        };
        let (per_frame, per_byte) = match (&law, model) {
            (Law::Clean | Law::Fading(_) | Law::Coded(_), _) => (0, 0),
            (_, LossModel::BitErrorRate { .. }) => (0, BITS_PER_BYTE),
            _ => (1, 0),
        };
        let (octet, in_front) = match &law {
            Law::Coded(failures) => (failures.octet(), PREAMBLE_OCTETS),
            _ => (Duration::ZERO, 0),
        };
        let mut process = Self {
            clear: 0,
            per_frame,
            per_byte,
            clear_before: Instant::NEVER,
            octet,
            in_front,
            ends_in_loss: false,
            law,
            rng,
        };
        process.start_run();
        process.look_ahead();
        process
    }

    /// Whether the link corrupts the next frame, one of `frame_bytes`, under a law that does not go by time.
    ///
    /// # Panics
    /// If the law goes by time: [`is_lost_at`](Self::is_lost_at) takes the time.
    #[inline]
    pub fn is_lost(&mut self, frame_bytes: u32) -> bool {
        assert!(!self.goes_by_time(), "a law that goes by time has to know when a frame begins");
        self.is_lost_at(Instant::ZERO, frame_bytes)
    }

    /// Whether the link corrupts the next frame, one of `frame_bytes` that begins to leave at `now`, no sooner than the one before.
    #[inline]
    pub fn is_lost_at(&mut self, now: Instant, frame_bytes: u32) -> bool {
        self.is_lost_with(now, frame_bytes, || Stake::Nothing)
    }

    /// Whether the link corrupts the next frame, whose role for the protection is `stake`. Only a steered process asks for the
    /// stake.
    #[inline]
    pub fn is_lost_with(&mut self, now: Instant, frame_bytes: u32, stake: impl FnOnce() -> Stake) -> bool {
        let units = self.units(frame_bytes);
        if units <= self.clear && now < self.clear_before(frame_bytes) {
            self.clear -= units;
            return false;
        }
        match &mut self.law {
            Law::Steered(steered) => steered.decide(Sent { now, frame_bytes, units }, stake()),
            Law::Fading(_) | Law::Coded(_) => self.is_hit(now, frame_bytes),
            _ => self.end_run(units),
        }
    }

    /// Decides about a frame that may not have left before the line stops to be clear.
    #[inline(never)]
    fn is_hit(&mut self, now: Instant, frame_bytes: u32) -> bool {
        let is_hit = match &mut self.law {
            Law::Fading(fading) => fading.is_faded(now, &mut self.rng),
            Law::Coded(failures) => failures.is_lost(now, frame_bytes, &mut self.rng),
            _ => unreachable!("the law does not go by time"),
        };
        self.look_ahead();
        is_hit
    }

    /// Notes until when the line is clear.
    fn look_ahead(&mut self) {
        self.clear_before = match &self.law {
            Law::Fading(fading) => fading.clear_before(),
            Law::Coded(failures) => failures.clear_before(),
            Law::Steered(steered) if steered.goes_by_time() => Instant::ZERO,
            _ => Instant::NEVER,
        };
    }

    /// Whether losses go by time, whatever frames are on the line.
    const fn goes_by_time(&self) -> bool {
        matches!(self.law, Law::Fading(_) | Law::Coded(_))
    }

    /// Steers the losses from now on, by a random stream of their own; a clean direction stays clean. Returns `None`, and changes
    /// nothing, if the law cannot be steered: it is a list of frames, goes by time, or remembers a loss for thousands of frames.
    ///
    /// # Panics
    /// If the losses are steered already.
    pub fn steer(&mut self, aim: Aim, rng: Stream) -> Option<()> {
        let steered = match &self.law {
            Law::Clean => return Some(()),
            Law::Geometric(chance) => Steered::independent(*chance, aim, rng),
            Law::Chain(chain) => Steered::chain(*chain.model(), chain.model().bursts()?, aim, rng),
            Law::Coded(failures) => Steered::line((**failures).clone(), aim, rng),
            Law::Positions(_) | Law::Fading(_) => return None,
            Law::Steered(_) => panic!("losses are steered once"),
        };
        self.law = Law::Steered(Box::new(steered));
        self.start_run();
        self.look_ahead();
        Some(())
    }

    /// Returns how losses of frames of `frame_bytes` follow each other; `None` where they cannot be steered. A clean direction has
    /// the bursts of independent losses.
    pub fn bursts(&self, frame_bytes: u32) -> Option<Bursts> {
        match &self.law {
            Law::Clean | Law::Geometric(_) => Some(Bursts { hold: 0, mean_losses: 1.0 }),
            Law::Chain(chain) => chain.model().bursts(),
            Law::Coded(failures) => Some(failures.phy().bursts(frame_bytes)),
            Law::Positions(_) | Law::Fading(_) | Law::Steered(_) => None,
        }
    }

    /// Returns this law on another random stream, with a loss once in `frames` frames, or a burst where losses come in bursts.
    /// Returns `None` for a list of frames, for losses that go by time, and for losses that are steered.
    pub fn hastened(&self, frames: u64, rng: Stream) -> Option<Self> {
        let often = Probability::new(1.0 / frames as f64)?;
        let model = match &self.law {
            Law::Coded(failures) => return Some(self.hastened_line(failures, often.as_f64(), rng)),
            Law::Clean => LossModel::None,
            Law::Geometric(_) => LossModel::Bernoulli { p: often },
            Law::Chain(chain) => LossModel::GilbertElliott(chain.model().hastened(often)),
            Law::Positions(_) | Law::Fading(_) | Law::Steered(_) => return None,
        };
        Some(Self::new(&model, rng))
    }

    /// Returns the process of the line of `failures` with groups that fail with the chance `often`.
    fn hastened_line(&self, failures: &Failures, often: f64, mut rng: Stream) -> Self {
        let law = Law::Coded(Box::new(failures.hastened(often, &mut rng)));
        let mut hastened = Self { law, rng, ..self.clone() };
        hastened.look_ahead();
        hastened
    }

    /// Looks at each frame from now on, so that the losses can be steered at any time ([`steer`](Self::steer)).
    pub fn attend(&mut self) {
        if let Law::Coded(failures) = &mut self.law {
            failures.attend();
            self.look_ahead();
        }
    }

    /// Whether no frame is ever lost.
    pub const fn is_clean(&self) -> bool {
        matches!(self.law, Law::Clean)
    }

    /// Returns the steered process, if the losses are steered.
    pub fn steered(&mut self) -> Option<&mut Steered> {
        if let Law::Steered(steered) = &mut self.law { Some(steered) } else { None }
    }

    /// Returns the instant before which a frame of `frame_bytes` has to begin to be certain to pass: `NEVER` unless the law goes by
    /// time.
    #[inline]
    pub fn clear_before(&self, frame_bytes: u32) -> Instant {
        if self.clear_before.is_never() {
            return Instant::NEVER;
        }
        let takes = self.octet * (u64::from(frame_bytes) + self.in_front);
        Instant::ZERO + self.clear_before.saturating_since(Instant::ZERO + takes)
    }

    /// Returns how many frames of `frame_bytes` are certain to pass from here on: a driver may skip them. Each has to begin before
    /// [`clear_before`](Self::clear_before), too.
    ///
    /// A lower bound: the frame after them is usually, not always, a lost one.
    #[inline]
    pub fn clear_frames(&self, frame_bytes: u32) -> u64 {
        match self.units(frame_bytes) {
            0 => u64::MAX,
            1 => self.clear,
            units => self.clear / units,
        }
    }

    /// Offers `frames` frames of `frame_bytes` at once, all of which pass.
    ///
    /// # Panics
    /// If they exceed [`clear_frames`](Self::clear_frames).
    #[inline]
    pub fn skip(&mut self, frames: u64, frame_bytes: u32) {
        let units = frames.checked_mul(self.units(frame_bytes));
        let rest = units.and_then(|units| self.clear.checked_sub(units));
        self.clear = rest.expect("only frames that are certain to pass can be skipped");
    }

    /// Whether `frames` frames, of `bytes` together, are certain to pass, all of which have left by `until`.
    pub fn is_clear(&self, frames: u64, bytes: u64, until: Instant) -> bool {
        self.units_of(frames, bytes) <= self.clear && until < self.clear_before
    }

    /// Lets `frames` frames pass, of `bytes` together. Equals [`LossProcess::is_lost`] of each.
    ///
    /// # Panics
    /// Unless [`LossProcess::is_clear`] is true of them.
    pub fn skip_all(&mut self, frames: u64, bytes: u64) {
        let rest = self.clear.checked_sub(self.units_of(frames, bytes));
        self.clear = rest.expect("only frames that are certain to pass can be skipped");
    }

    /// Returns the size of frames in the law's unit.
    const fn units_of(&self, frames: u64, bytes: u64) -> u64 {
        (self.per_frame * frames).saturating_add(self.per_byte.saturating_mul(bytes))
    }

    /// Returns the size of a frame in the law's unit.
    #[inline]
    fn units(&self, frame_bytes: u32) -> u64 {
        self.per_frame + self.per_byte * u64::from(frame_bytes)
    }

    /// Decides about a frame of `units` that meets the end of the run: it is lost, or the next run decides.
    #[inline(never)]
    fn end_run(&mut self, units: u64) -> bool {
        loop {
            let is_lost = self.ends_in_loss;
            self.start_run();
            if is_lost {
                return true;
            }
            if units <= self.clear {
                self.clear -= units;
                return false;
            }
        }
    }

    fn start_run(&mut self) {
        let run = self.law.next_run(&mut self.rng);
        (self.clear, self.ends_in_loss) = (run.clear, run.ends_in_loss);
    }
}
