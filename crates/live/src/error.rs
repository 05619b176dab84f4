//! What can go wrong when a process asks Linux for something: what was attempted, on what, and why not.

use std::fmt::Display;
use std::io;

/// The result of something asked of the operating system or read from the user.
pub type Result<T> = std::result::Result<T, Error>;

/// A refusal by the operating system, or a mistake in what the user asked for.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The operating system refused.
    #[error("{attempted}: {reason}")]
    Refused {
        /// What was attempted on what, for instance `open TAP eth0 in namespace lossylink-h4`.
        attempted: String,
        /// The system's reason.
        reason: io::Error,
    },
    /// The user's request makes no sense; the message says what is wrong and the mend.
    #[error("{0}")]
    Usage(String),
}

impl Error {
    /// Whether the user, not the system, has to change something.
    pub fn is_usage(&self) -> bool {
        matches!(self, Self::Usage(_))
    }
}

/// Adds what was attempted to a system's refusal.
pub trait Attempt<T> {
    /// Names what was attempted; `what` is only rendered on failure.
    fn attempting(self, what: impl Display) -> Result<T>;
}

impl<T> Attempt<T> for io::Result<T> {
    fn attempting(self, what: impl Display) -> Result<T> {
        self.map_err(|reason| Error::Refused { attempted: what.to_string(), reason })
    }
}
