//! Depths of the buffers of a link under hosts from outside, looked at as the stress test does.

use crate::net::AnyLink;
use crate::net::ProtectedLink;
use crate::world::network::Addressed;
use crate::world::protocol::Carried;
use crate::world::samples::{BufferSample, BufferSamples};
use lossylink_core::time::Instant;

/// The samples from the first frame on.
#[derive(Debug)]
pub(super) struct Depths {
    samples: BufferSamples,
}

impl Depths {
    /// Samples of traffic that begins at `begin`.
    pub(super) fn from(begin: Instant) -> Self {
        Self { samples: BufferSamples::from(begin) }
    }

    /// How far the link is to have run when the next sample is taken: just before what happens at its time.
    pub(super) fn poll_timeout(&self) -> Instant {
        self.samples.due().just_before()
    }

    /// Takes the sample that is due; the link of a test that is over, or waits for its source, shows nothing.
    pub(super) fn look(&mut self, link: &mut AnyLink<Addressed<Carried>>, is_busy: bool) {
        if is_busy {
            self.samples.take(link.buffer_bytes(self.samples.due()));
        } else {
            self.samples.pass();
        }
    }

    /// What was seen.
    pub(super) fn samples(&self) -> &[BufferSample] {
        self.samples.kept()
    }
}
