//! Frames at equal intervals, on the slow line and on the crate's process.

use super::line::{Line, group_octets};
use lossylink_core::loss::{LossModel, LossProcess, PhySettings};
use lossylink_core::rng::{Streams, uniform};
use lossylink_core::time::{Duration, Instant};
use lossylink_core::units::BitRate;

/// Octets of the preamble and the start delimiter, which are lost with a frame.
const PREAMBLE_OCTETS: u64 = 8;

/// Frames of equal size, one every `spacing`, on a line of this rate.
#[derive(Clone, Copy, Debug)]
pub struct Traffic {
    pub frame_bytes: u32,
    pub spacing: Duration,
    pub rate: BitRate,
}

impl Traffic {
    /// Returns traffic with a frame every `octets` octets, which need not be whole.
    pub fn every(octets: f64, frame_bytes: u32, rate: BitRate) -> Self {
        let spacing_ps = (octets * 8e12 / rate.as_bps() as f64).ceil() as u64;
        Self { frame_bytes, spacing: Duration::from_ps(spacing_ps), rate }
    }

    fn begins(&self, frame: usize) -> Instant {
        Instant::ZERO + self.spacing * frame as u64
    }

    /// Returns the octet of the line at which a frame begins.
    fn octet(&self, frame: usize) -> u64 {
        let bit_ps = u128::from(self.begins(frame).as_ps()) * u128::from(self.rate.as_bps());
        (bit_ps / 8_000_000_000_000) as u64
    }

    /// Returns which frames the crate's process loses.
    pub fn on_process(&self, model: &LossModel, frames: usize, seed: u64) -> Vec<bool> {
        let mut process = LossProcess::on_line(model, self.rate, Streams::new(seed).stream("link/0/loss"));
        (0..frames).map(|frame| process.is_lost_at(self.begins(frame), self.frame_bytes)).collect()
    }

    /// Returns which frames are lost with the failed groups of a slow line.
    pub fn on_groups(&self, groups: &Groups) -> Vec<bool> {
        (0..)
            .map_while(|frame| {
                let first = self.octet(frame);
                let last = first + u64::from(self.frame_bytes) + PREAMBLE_OCTETS - 1;
                groups.any_failed(first, last)
            })
            .collect()
    }
}

/// What became of the groups of a slow line.
pub struct Groups {
    octets: (u64, u64),
    phase: u64,
    /// The failed groups before each group.
    failed_before: Vec<u32>,
}

impl Groups {
    /// Sends `count` groups over a slow line. The first octet lies anywhere in the first group.
    pub fn send(settings: PhySettings, count: usize, seed: u64) -> Self {
        let mut rng = Streams::new(seed).stream("phase");
        let octets = group_octets(&settings);
        let phase = (uniform(&mut rng) * octets.0 as f64) as u64;
        let mut line = Line::new(settings, Streams::new(seed).stream("slow line"));
        let mut failed_before = vec![0];
        for group in 0..count {
            failed_before.push(failed_before[group] + u32::from(line.group_fails()));
        }
        Self { octets, phase, failed_before }
    }

    fn group_of(&self, octet: u64) -> usize {
        ((octet * self.octets.1 + self.phase) / self.octets.0) as usize
    }

    /// Whether any group of these octets failed; `None` behind the last group.
    fn any_failed(&self, first: u64, last: u64) -> Option<bool> {
        let behind = self.failed_before.get(self.group_of(last) + 1)?;
        Some(self.failed_before[self.group_of(first)] < *behind)
    }

    pub fn failures(&self) -> u32 {
        self.failed_before[self.failed_before.len() - 1]
    }
}
