//! The counters of the two ends of a flow, and the mechanism that repaired it.

/// Counters of the two ends of a flow.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::experiment) struct Counters {
    /// Packets sent again.
    pub(in crate::experiment) retransmissions: u64,
    /// How often each mechanism of recovery was needed, the quickest first.
    pub(in crate::experiment) repairs: [u64; Repair::COUNT],
}

/// A mechanism that a flow needed to recover, the quickest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::experiment) enum Repair {
    /// A retransmission clocked by the reports of the receiver.
    Fast,
    /// TCP's reordering timer.
    ReorderingTimer,
    /// TCP's tail loss probe.
    Probe,
    /// A retransmission timeout.
    Timeout,
}

impl Repair {
    pub(super) const ALL: [Self; 4] = [Self::Fast, Self::ReorderingTimer, Self::Probe, Self::Timeout];
    pub(in crate::experiment) const COUNT: usize = Self::ALL.len();
}

impl Counters {
    pub(in crate::experiment) fn since(&self, before: &Self) -> Self {
        let mut repairs = self.repairs;
        repairs.iter_mut().zip(before.repairs).for_each(|(count, before)| *count -= before);
        Self { retransmissions: self.retransmissions - before.retransmissions, repairs }
    }

    /// Returns the slowest mechanism that was needed.
    pub(super) fn slowest(&self) -> Option<Repair> {
        Repair::ALL.into_iter().rev().find(|&repair| self.repairs[repair as usize] > 0)
    }

    pub(in crate::experiment) fn timeouts(&self) -> u64 {
        self.repairs[Repair::Timeout as usize]
    }
}
