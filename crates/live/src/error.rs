//! Errors of a request to Linux: the request, its object, and the reason of the refusal.

use std::fmt::Display;
use std::io;

/// The result of a request to the operating system, or of reading a value from the user.
pub type Result<T> = std::result::Result<T, Error>;

/// A refusal by the operating system, or a mistake in the user's request.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The operating system refused.
    #[error("{attempted}: {reason}")]
    Refused {
        /// The request and its object, for instance `open TAP eth0 in namespace lossylink-h4`.
        attempted: String,
        /// The system's reason.
        reason: io::Error,
    },
    /// The user's request makes no sense; the message says why, and how to mend it.
    #[error("{0}")]
    Usage(String),
}

impl Error {
    /// Whether the user, not the system, has to change something.
    pub fn is_usage(&self) -> bool {
        matches!(self, Self::Usage(_))
    }
}

/// Adds the request to a system's refusal.
pub trait Attempt<T> {
    /// Names the request; `what` is only rendered on failure.
    fn attempting(self, what: impl Display) -> Result<T>;
}

impl<T> Attempt<T> for io::Result<T> {
    fn attempting(self, what: impl Display) -> Result<T> {
        self.map_err(|reason| Error::Refused { attempted: what.to_string(), reason })
    }
}
