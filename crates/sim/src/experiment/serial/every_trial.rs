//! The doors of `clean.rs` where the fast half is not compiled: every trial runs.

use super::trial::Trial;
use super::{Serial, SerialNetwork};
use crate::world::Protocol;
use lossylink_core::rng::Streams;

/// Trials that need not be run: none.
#[derive(Debug)]
pub(super) struct CleanTrials;

/// The course of a flow that meets no loss, which is not looked for.
#[derive(Clone, Copy, Debug)]
pub(super) enum CleanCourse {}

impl CleanTrials {
    pub(super) const fn new(_may_skip: bool) -> Self {
        Self
    }

    pub(super) const fn take<T: Protocol>(
        &self,
        _serial: &Serial<'_, T>,
        _network: &mut SerialNetwork<T>,
        _streams: &Streams,
    ) -> Option<(Trial, u64)> {
        None
    }

    pub(super) const fn note<T>(&mut self, _serial: &Serial<'_, T>, _ran: Trial, _frames: u64, _octets: u32) {
    }
}

impl<T> Serial<'_, T> {
    pub(super) const fn rehearsed(&self, _crosses_alike: bool) -> Option<CleanCourse> {
        None
    }
}
