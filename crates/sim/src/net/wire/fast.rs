//! Frames that are certain to arrive whole, many at a time.

use super::{Traffic, Wire};
use crate::net::frame::GAP_OCTETS;

impl Wire {
    /// Carries `frames` control frames of `octets` that are certain to arrive whole.
    #[inline]
    pub fn carry_control(&mut self, frames: u64, octets: u32) {
        self.loss.skip(frames, octets - GAP_OCTETS);
        self.traffic.frames += frames;
        self.traffic.control_octets += frames * u64::from(octets);
    }

    /// Whether the data frames and control frames of `load` are certain to arrive whole, if they are sent next.
    pub fn is_clear(&self, load: &Traffic) -> bool {
        let (frames, bytes) = load.exposed();
        self.loss.is_clear(frames, bytes)
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

    /// Returns how many frames of `octets` are certain to arrive whole.
    pub fn clear_frames(&self, octets: u32) -> u64 {
        self.loss.clear_frames(octets - GAP_OCTETS)
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
