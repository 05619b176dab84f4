//! The monitor: decides from frame counters which links to protect, and with how many copies.
//!
//! The monitor stands in for LinkGuardian's control daemon, which compares a measured ratio with a bare
//! threshold. Here a decision needs evidence (`docs/protocols/monitor.md`, rules `MON-n`).
//!
//! ```text
//!        surely above on_loss                  surely needs more
//!  Off ----------------------> On { copies } <-------------------+
//!   ^                              |   |      surely needs fewer |
//!   +------------------------------+   +-------------------------+
//!       surely below off_loss
//! ```
//!
//! Left out: the protocol by which the decision travels to the upstream switch.

mod config;
mod tail;
mod window;

pub use config::{MonitorConfig, MonitorError};
pub use window::Counts;

use super::linkguardian::{MOST_COPIES, copies_for};
use crate::time::Instant;
use window::Window;

/// A change of the protection of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Protect the link, with this number of copies of every retransmission.
    Protect {
        /// Number of copies, N.
        copies: u8,
    },
    /// Protect the link no longer.
    Unprotect,
}

/// The evidence about the losses of one link, and the protection that follows from it.
#[derive(Clone, Debug)]
pub struct Monitor {
    config: MonitorConfig,
    window: Window,
    /// The counters as last read: frames received whole, and frames received in all.
    last: Option<(u64, u64)>,
    /// Copies in use; `None` while the link is not protected.
    copies: Option<u8>,
    changed_at: Instant,
}

impl Monitor {
    /// Returns a monitor of an unprotected link.
    ///
    /// # Errors
    /// If the thresholds cannot work together.
    pub fn new(config: MonitorConfig) -> Result<Self, MonitorError> {
        config.check()?;
        let window = Window::new(config.window_frames);
        Ok(Self { config, window, last: None, copies: None, changed_at: Instant::ZERO })
    }

    /// Takes a reading of the link's counters, which only ever grow: frames received whole, and frames
    /// received in all. Returns the change of the protection, if there is one.
    pub fn observe(&mut self, now: Instant, received_ok: u64, received_all: u64) -> Option<Decision> {
        let recent = self.difference(received_ok, received_all)?;
        self.window.push(recent);
        let decision = match self.copies {
            None => self.switch_on(recent),
            Some(copies) => self.raise(copies, recent).or_else(|| self.lower(now, copies)),
        }?;
        self.changed_at = now;
        self.copies = match decision {
            Decision::Protect { copies } => Some(copies),
            Decision::Unprotect => None,
        };
        Some(decision)
    }

    /// Returns the copies in use; `None` while the link is not protected.
    pub const fn copies(&self) -> Option<u8> {
        self.copies
    }

    /// Returns the frames and losses in the window.
    pub const fn counts(&self) -> Counts {
        self.window.counts()
    }

    /// Returns the frames since the last reading; `None` for the first reading and after the counters
    /// were reset (MON-1).
    fn difference(&mut self, ok: u64, all: u64) -> Option<Counts> {
        let (last_ok, last_all) = self.last.replace((ok, all))?;
        let (ok, all) = (ok.checked_sub(last_ok)?, all.checked_sub(last_all)?);
        // Two counters are not read at the same instant: a frame may be in one counter only.
        Some(Counts { frames: all, lost: all.saturating_sub(ok) })
    }

    /// Decides whether to protect the link (MON-4).
    fn switch_on(&self, recent: Counts) -> Option<Decision> {
        let evidence = self.surely_at_least(recent, self.config.on_loss)?;
        Some(Decision::Protect { copies: self.copies_at(evidence.loss_rate()) })
    }

    /// Decides whether to send more copies, which are [`MOST_COPIES`] at most (MON-5).
    fn raise(&self, copies: u8, recent: Counts) -> Option<Decision> {
        let more = (copies < MOST_COPIES).then_some(copies + 1)?;
        let evidence = self.surely_at_least(recent, self.served_by(copies))?;
        Some(Decision::Protect { copies: self.copies_at(evidence.loss_rate()).max(more) })
    }

    /// Decides whether to send fewer copies, or to protect the link no longer (MON-6, MON-7).
    fn lower(&self, now: Instant, copies: u8) -> Option<Decision> {
        if now.saturating_since(self.changed_at) < self.config.hold {
            return None;
        }
        if self.surely_below(self.config.off_loss) {
            return Some(Decision::Unprotect);
        }
        let fewer = copies.checked_sub(1).filter(|&fewer| fewer > 0)?;
        let margin = self.config.off_loss / self.config.on_loss;
        let is_enough = self.surely_below(self.served_by(fewer) * margin);
        let fewer = self.copies_at(self.counts().loss_rate()).min(fewer);
        is_enough.then_some(Decision::Protect { copies: fewer })
    }

    /// Returns the counts that show a loss rate of at least `loss`. The counts since the last reading
    /// come first, because they show a sudden change. The counts of the window come second, and show a
    /// small change (MON-3).
    fn surely_at_least(&self, recent: Counts, loss: f64) -> Option<Counts> {
        [recent, self.counts()]
            .into_iter()
            .find(|counts| tail::at_least(counts.lost, counts.frames as f64 * loss) <= self.config.alpha())
    }

    /// Whether a whole window shows a loss rate below `loss` (MON-3).
    fn surely_below(&self, loss: f64) -> bool {
        let counts = self.counts();
        counts.frames >= self.config.window_frames
            && tail::at_most(counts.lost, counts.frames as f64 * loss) <= self.config.alpha()
    }

    /// Returns the number of copies that a loss rate asks for (MON-8).
    fn copies_at(&self, loss: f64) -> u8 {
        if loss < self.config.many_copies_loss { 1 } else { copies_for(loss, self.config.target_loss) }
    }

    /// Returns the greatest loss rate for which `copies` copies are enough: p^(N + 1) is the target there
    /// (MON-8).
    fn served_by(&self, copies: u8) -> f64 {
        let served = libm::pow(self.config.target_loss, 1.0 / (f64::from(copies) + 1.0));
        served.max(self.config.many_copies_loss)
    }
}

#[cfg(test)]
mod tests;
