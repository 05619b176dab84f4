//! Progress and cancellation of a running simulation, shared between the thread that simulates and the thread that waits.

use crate::Outcome;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// A request that a simulation stops. The simulation looks at it from time to time. Clones share the request.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Asks the simulation to stop.
    pub fn ask(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether a stop was asked for.
    #[inline]
    pub fn is_asked(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Counters that the simulation raises, and a flag that the caller sets. All orderings are relaxed, because nothing else is
/// published through them.
#[derive(Debug, Default)]
pub struct Control {
    done: AtomicU64,
    total: AtomicU64,
    stop: Stop,
    growth: Option<Growth>,
}

/// The rule by which a run that is made of blocks has enough blocks.
struct Growth {
    looks: Vec<u64>,
    is_enough: Box<dyn Fn(&Outcome) -> bool + Send + Sync>,
}

impl fmt::Debug for Growth {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Growth").field("looks", &self.looks).finish_non_exhaustive()
    }
}

impl Control {
    /// Returns the control of a run of blocks that is looked at after each of these numbers of trials, in rising order, in place
    /// of the run's own number. The run ends when `is_enough` says so of its outcome, or at the last look.
    pub fn growing(looks: Vec<u64>, is_enough: impl Fn(&Outcome) -> bool + Send + Sync + 'static) -> Self {
        Self { growth: Some(Growth { looks, is_enough: Box::new(is_enough) }), ..Self::default() }
    }

    /// Returns the numbers of trials after which a run of blocks is looked at: `trials` alone, unless the run grows.
    pub(crate) fn looks(&self, trials: u64) -> Vec<u64> {
        self.growth.as_ref().map_or_else(|| vec![trials], |growth| growth.looks.clone())
    }

    /// Whether a run may end with this outcome.
    pub(crate) fn is_enough(&self, outcome: &Outcome) -> bool {
        self.growth.as_ref().is_none_or(|growth| (growth.is_enough)(outcome))
    }

    /// Adds finished work, in the unit of [`Control::set_total`].
    pub fn add_done(&self, count: u64) {
        self.done.fetch_add(count, Ordering::Relaxed);
    }

    /// Announces the total amount of work, in the unit that the experiment counts: frames, trials or picoseconds.
    pub fn set_total(&self, total: u64) {
        self.total.store(total, Ordering::Relaxed);
    }

    /// Returns the work done and the work announced.
    pub fn progress(&self) -> (u64, u64) {
        (self.done.load(Ordering::Relaxed), self.total.load(Ordering::Relaxed))
    }

    /// Asks the simulation to stop at its next convenient point, and to return the outcome so far.
    pub fn cancel(&self) {
        self.stop.ask();
    }

    /// Whether [`Control::cancel`] was called.
    pub fn is_cancelled(&self) -> bool {
        self.stop.is_asked()
    }

    /// Returns the control of a part of the work. The part stops with the whole, and does not tell of its own progress.
    pub(crate) fn silent(&self) -> Self {
        Self { stop: self.stop.clone(), ..Self::default() }
    }

    /// Returns the request to stop that [`Control::cancel`] makes, for the code that simulates.
    pub const fn stop(&self) -> &Stop {
        &self.stop
    }
}
