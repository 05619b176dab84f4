//! Frames that are certain to arrive whole, many at a time.

use super::{Traffic, Wire};
use crate::kernel::Train;
use crate::net::frame::GAP_OCTETS;
use lossylink_core::time::Instant;

impl Wire {
    /// Carries `frames` control frames of `octets` that are certain to arrive whole.
    #[inline]
    pub fn carry_control(&mut self, frames: u64, octets: u32) {
        self.loss.skip(frames, octets - GAP_OCTETS);
        self.traffic.frames += frames;
        self.traffic.control_octets += frames * u64::from(octets);
    }

    /// Whether the data frames and control frames of `load` are certain to arrive whole, if they are sent next, and have left by
    /// `until`.
    pub fn is_clear(&self, load: &Traffic, until: Instant) -> bool {
        let (frames, bytes) = load.exposed();
        self.loss.is_clear(frames, bytes, until)
    }

    /// Carries the data frames and control frames of `load`, which are certain to arrive whole.
    pub fn carry_all(&mut self, load: &Traffic) {
        let (frames, bytes) = load.exposed();
        self.loss.skip_all(frames, bytes);
        let traffic = &mut self.traffic;
        traffic.frames += load.frames;
        traffic.data_frames += load.data_frames;
        traffic.data_octets += load.data_octets;
        traffic.header_octets += load.header_octets;
        traffic.control_octets += load.control_octets;
        traffic.largest_octets = traffic.largest_octets.max(load.largest_octets);
    }

    /// Returns how many of the first frames of `octets` that begin to leave at the times in `starts` are certain to arrive whole.
    #[inline]
    pub fn clear_starts(&self, starts: Train, octets: u32) -> u32 {
        let (frames, by) = self.clear_frames(octets);
        frames.min(u64::from(starts.come_by(by))) as u32
    }

    /// Returns how many frames of `octets` are certain to arrive whole, as far as they begin to leave by the instant that is
    /// returned with their number.
    #[inline]
    pub fn clear_frames(&self, octets: u32) -> (u64, Instant) {
        let (frames, before) =
            (self.loss.clear_frames(octets - GAP_OCTETS), self.loss.clear_before(octets - GAP_OCTETS));
        match before {
            Instant::NEVER => (frames, Instant::NEVER),
            Instant::ZERO => (0, Instant::ZERO),
            _ => (frames, before.just_before()),
        }
    }

    /// Lets `frames` data frames of `octets` pass that are certain to arrive whole, without counting them as carried.
    pub fn skip(&mut self, frames: u64, octets: u32) {
        self.loss.skip(frames, octets - GAP_OCTETS);
    }

    /// Carries `frames` data frames of `octets` that are certain to arrive whole, `header_octets` of each from the protection.
    #[inline]
    pub fn carry_clear(&mut self, frames: u32, octets: u32, header_octets: u32) {
        let (frames, bare) = (u64::from(frames), octets - header_octets);
        self.loss.skip(frames, octets - GAP_OCTETS);
        let traffic = &mut self.traffic;
        traffic.frames += frames;
        traffic.data_frames += frames;
        traffic.data_octets += frames * u64::from(bare);
        traffic.header_octets += frames * u64::from(header_octets);
        traffic.largest_octets = traffic.largest_octets.max(bare);
    }
}

impl Traffic {
    /// Returns the number of data and control frames, and their bytes that can be corrupted.
    const fn exposed(&self) -> (u64, u64) {
        let octets = self.data_octets + self.header_octets + self.control_octets;
        (self.frames, octets - self.frames * GAP_OCTETS as u64)
    }
}
