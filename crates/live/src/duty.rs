//! What a loop owes the kernel for its real-time priority: nothing, rests, or turns on other processors.

use crate::error::{Attempt, Result};
use crate::relay::Relay;
use crate::rest::{REST, Rest};
use crate::sys::poll::wait;
use crate::sys::process;
use lossylink_core::time::Duration;

/// Picoseconds in a nanosecond.
const PS_PER_NS: u64 = 1_000;

/// How a loop that never runs out of work is kept from being stopped.
#[derive(Clone, Debug)]
pub enum Duty {
    /// At an ordinary priority the kernel shares the processor out by itself.
    Ordinary,
    /// At a real-time priority on one processor.
    Rests(Rest),
    /// At a real-time priority on several.
    Relay(Relay),
}

/// What was done about a duty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Done {
    /// Nothing was due.
    Nothing,
    /// The thread moved, which takes time but is no sleep.
    Moved,
    /// The thread slept.
    Rested,
}

impl Duty {
    /// The duty of the calling thread at a real-time priority.
    pub fn at_real_time() -> Self {
        let processors = process::processors().unwrap_or_default();
        Relay::over(processors).map_or(Self::Rests(Rest::default()), |relay| {
            // On a refusal the thread stays where it is, and the first move is one to the same place.
            let _ = process::move_to(relay.first());
            Self::Relay(relay)
        })
    }

    /// The thread was awake for so long.
    pub fn worked(&mut self, span: Duration) {
        match self {
            Self::Ordinary => {}
            Self::Rests(rest) => rest.worked(span),
            Self::Relay(relay) => relay.worked(span),
        }
    }

    /// The thread slept for so long.
    pub fn slept(&mut self, span: Duration) {
        if let Self::Rests(rest) = self {
            rest.slept(span);
        }
    }

    /// Does what is due.
    ///
    /// # Errors
    /// When the kernel refuses to let the thread sleep.
    pub fn fulfil(&mut self) -> Result<Done> {
        match self {
            Self::Rests(rest) if rest.is_due() => {
                // Nothing is watched: a rest that a waiting frame cut short would be none.
                wait(&[], Some(REST.as_ps() / PS_PER_NS)).attempting("rest")?;
                Ok(Done::Rested)
            }
            Self::Relay(relay) => Ok(relay.poll_move().map_or(Done::Nothing, |processor| {
                // A processor may have been taken away since: then the next one is tried in its turn.
                let _ = process::move_to(processor);
                Done::Moved
            })),
            Self::Ordinary | Self::Rests(_) => Ok(Done::Nothing),
        }
    }
}
