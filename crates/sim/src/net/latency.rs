//! The times that frames take from the encoder's entry to the decoder's exit, for intact and rebuilt frames apart.
//!
//! The published evaluation stamped packets in the switch at both ends of the protected link.

use crate::measure::Delays;
use lossylink_core::time::Duration;

/// Latencies across a protected link.
#[derive(Clone, Debug, Default)]
pub struct Latency {
    intact: Delays,
    recovered: Delays,
}

impl Latency {
    /// Notes that a frame took `latency`.
    #[inline]
    pub(in crate::net) fn note(&mut self, latency: Duration, is_recovered: bool) {
        let delays = if is_recovered { &mut self.recovered } else { &mut self.intact };
        delays.add(latency);
    }

    /// Returns the latencies of frames that arrived intact.
    pub const fn intact(&self) -> &Delays {
        &self.intact
    }

    /// Returns the latencies of frames that were rebuilt.
    pub const fn recovered(&self) -> &Delays {
        &self.recovered
    }
}
