//! Depths of the buffers of a link under hosts from outside, looked at as the stress test does.

use crate::net::AnyLink;
use crate::net::ProtectedLink;
use crate::world::network::Addressed;
use crate::world::protocol::Carried;
use crate::world::stress::{BufferSample, SAMPLE_PERIOD};
use lossylink_core::time::Instant;

/// The samples, one each 10 ms from the first frame on.
#[derive(Debug)]
pub(super) struct Depths {
    next: Instant,
    samples: Vec<BufferSample>,
}

impl Depths {
    /// Samples of traffic that begins at `begin`.
    pub(super) fn from(begin: Instant) -> Self {
        Self { next: begin + SAMPLE_PERIOD, samples: Vec::new() }
    }

    /// How far the link is to have run when the next sample is taken: just before what happens at its time.
    pub(super) fn poll_timeout(&self) -> Instant {
        self.next.just_before()
    }

    /// Takes the sample that is due; the link of a test that is over, or waits for its source, shows nothing.
    pub(super) fn look(&mut self, link: &mut AnyLink<Addressed<Carried>>, is_busy: bool) {
        if is_busy {
            let (tx_bytes, rx_bytes) = link.buffer_bytes(self.next);
            self.samples.push(BufferSample { at: self.next, tx_bytes, rx_bytes });
        }
        self.next += SAMPLE_PERIOD;
    }

    /// What was seen.
    pub(super) fn samples(&self) -> &[BufferSample] {
        &self.samples
    }
}
