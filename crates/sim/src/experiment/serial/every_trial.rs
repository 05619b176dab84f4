//! The entrances of `clean.rs` where the fast half is not compiled: every flow is run.

use super::trial::Trial;
use super::{Serial, SerialNetwork};
use crate::Stop;
use crate::world::Protocol;
use lossylink_core::rng::Streams;

/// Flows that are computed instead of run: none in this half.
#[derive(Debug)]
pub(super) struct CleanFlows;

impl CleanFlows {
    pub(super) const fn none() -> Self {
        Self
    }

    pub(super) const fn take<T: Protocol>(
        &self,
        _serial: &Serial<'_, T>,
        _network: &mut SerialNetwork<T>,
        _streams: &Streams,
        _stop: &Stop,
    ) -> Option<(Trial, u64)> {
        None
    }
}

impl<T> Serial<'_, T> {
    pub(super) const fn clean_flows(&self, _crosses_alike: bool) -> CleanFlows {
        CleanFlows
    }
}
