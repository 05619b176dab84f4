//! Depths of the buffers of a link whose hosts are outside of the simulation, sampled as the stress test
//! samples them.

use crate::net::AnyLink;
use crate::net::ProtectedLink;
use crate::world::network::Addressed;
use crate::world::protocol::Carried;
use crate::world::samples::{BufferSample, BufferSamples};
use lossylink_core::time::Instant;

/// Samples of the buffer depths, from the first frame on.
#[derive(Debug)]
pub(super) struct Depths {
    samples: BufferSamples,
}

impl Depths {
    /// Starts samples of traffic that begins at `begin`.
    pub(super) fn from(begin: Instant) -> Self {
        Self { samples: BufferSamples::from(begin) }
    }

    /// Returns the instant to which the link is to run before the next sample is taken: just before the
    /// events of the sample's time.
    pub(super) fn poll_timeout(&self) -> Instant {
        self.samples.due().just_before()
    }

    /// Takes the sample that is due. Unless `is_busy`, the test is over or the link waits for its source, and
    /// the sample is left out.
    pub(super) fn look(&mut self, link: &mut AnyLink<Addressed<Carried>>, is_busy: bool) {
        if is_busy {
            self.samples.take(link.buffer_bytes(self.samples.due()));
        } else {
            self.samples.pass();
        }
    }

    /// Returns the samples so far.
    pub(super) fn samples(&self) -> &[BufferSample] {
        self.samples.kept()
    }
}
