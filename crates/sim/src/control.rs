//! Progress and cancellation of a running simulation, shared between the thread that simulates and the one that waits.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Counters that the simulation raises and a flag that the caller sets; all orderings are relaxed, because nothing
/// else is published through them.
#[derive(Debug, Default)]
pub struct Control {
    done: AtomicU64,
    total: AtomicU64,
    cancelled: AtomicBool,
}

impl Control {
    /// Adds finished work, in the unit of [`Control::set_total`].
    pub fn add_done(&self, count: u64) {
        self.done.fetch_add(count, Ordering::Relaxed);
    }

    /// Announces how much work there is: frames, trials or picoseconds, whatever the experiment counts.
    pub fn set_total(&self, total: u64) {
        self.total.store(total, Ordering::Relaxed);
    }

    /// Work done and work announced.
    pub fn progress(&self) -> (u64, u64) {
        (self.done.load(Ordering::Relaxed), self.total.load(Ordering::Relaxed))
    }

    /// Asks the simulation to stop at its next convenient point and to return what it has.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Whether [`Control::cancel`] was called.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }
}
