//! The latency of a host's reception for a flow: its wake-ups, its moderation, its stack. (`docs/protocols/hosts.md`)

use super::quantiles::Quantiles;
use crate::config::{HostProfile, LatencyTable};
use lossylink_core::rng::Stream;
use lossylink_core::time::Duration;
use std::sync::Arc;

/// A latency, drawn anew whenever it is asked for.
#[derive(Clone, Debug, PartialEq)]
enum Latency {
    Constant(Duration),
    Drawn(Arc<Quantiles>),
}

impl Latency {
    fn new(table: &LatencyTable) -> Self {
        let quantiles = Quantiles::new(table);
        let least = quantiles.at(0.0);
        if least == quantiles.at(1.0) { Self::Constant(least) } else { Self::Drawn(Arc::new(quantiles)) }
    }

    /// Draws the latency. A constant latency takes no random number.
    #[inline]
    fn draw(&self, draws: &mut Stream) -> Duration {
        match self {
            Self::Constant(latency) => *latency,
            Self::Drawn(quantiles) => quantiles.draw(draws),
        }
    }

    #[cfg(feature = "fast")]
    fn least(&self) -> Duration {
        match self {
            Self::Constant(latency) => *latency,
            Self::Drawn(quantiles) => quantiles.at(0.0),
        }
    }
}

/// The moderation of a flow that keeps its core in use. (HOST-9)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sustained {
    /// The time from which on the moderation applies, if the flow uses its core without a pause of this length.
    after: Duration,
    moderation: Duration,
}

/// The latency of a host's reception for a flow.
#[derive(Clone, Debug, PartialEq)]
pub struct Reception {
    wake_up: Latency,
    moderation: Latency,
    sustained: Option<Sustained>,
    segment: Duration,
    merges: bool,
}

impl Default for Reception {
    fn default() -> Self {
        Self::waking_in(Duration::ZERO)
    }
}

impl Reception {
    /// Returns the reception of a TCP flow on this host.
    pub fn of(host: &HostProfile) -> Self {
        let segment = Duration::from_ns_f64(host.receive_segment_ns);
        let merges = host.generic_receive_offload;
        let reception = Self::new(&host.receive_latency, &host.moderation_latency, segment, merges);
        if host.sustained_moderation_ns == 0.0 {
            return reception;
        }
        let after = Duration::from_us(host.sustained_after_us);
        reception.sustaining(after, Duration::from_ns_f64(host.sustained_moderation_ns))
    }

    /// Returns a reception that wakes up after `wake_up`, moderates by `moderation` and takes `segment` for each segment that it
    /// hands up; `merges` says whether it merges packets.
    pub fn new(wake_up: &LatencyTable, moderation: &LatencyTable, segment: Duration, merges: bool) -> Self {
        let (wake_up, moderation) = (Latency::new(wake_up), Latency::new(moderation));
        Self { wake_up, moderation, sustained: None, segment, merges }
    }

    /// Returns this reception with a limit for short flows: a flow that keeps its core in use for `after` is put off by
    /// `moderation`.
    #[must_use]
    pub fn sustaining(self, after: Duration, moderation: Duration) -> Self {
        Self { sustained: Some(Sustained { after, moderation }), ..self }
    }

    /// Returns a reception that always takes `wake_up` to wake up, and takes no other time.
    pub const fn waking_in(wake_up: Duration) -> Self {
        let (wake_up, moderation) = (Latency::Constant(wake_up), Latency::Constant(Duration::ZERO));
        Self { wake_up, moderation, sustained: None, segment: Duration::ZERO, merges: false }
    }

    /// Returns the time for which a flow at least uses its core until the interface moderates it otherwise.
    pub(crate) fn sustained_after(&self) -> Duration {
        self.sustained.map_or(Duration::MAX, |sustained| sustained.after)
    }

    /// Returns by how much the interface puts off a burst of a flow that has kept its core in use for `used_for`; `None` for a
    /// short flow. (HOST-9)
    pub(super) fn sustained_moderation(&self, used_for: Duration) -> Option<Duration> {
        let sustained = self.sustained.filter(|sustained| used_for >= sustained.after);
        sustained.map(|sustained| sustained.moderation)
    }

    /// Returns the time that the stack takes for a segment.
    pub(super) const fn segment(&self) -> Duration {
        self.segment
    }

    /// Whether the interface merges packets.
    pub(super) const fn merges(&self) -> bool {
        self.merges
    }

    /// Returns the least time for which a packet waits that finds the host idle.
    #[cfg(feature = "fast")]
    pub fn least_wake_up(&self) -> Duration {
        self.wake_up.least()
    }

    /// Returns this reception of a host that always wakes up in `wake_up`, and is handed at one instant all packets of a wake-up.
    /// Returns `None` if the host takes time for each segment.
    #[cfg(feature = "fast")]
    pub(super) fn waking_at_once_in(&self, wake_up: Duration) -> Option<Self> {
        let (wake_up, moderation) = (Latency::Constant(wake_up), Latency::Constant(Duration::ZERO));
        let is_handed_at_once = self.segment == Duration::ZERO;
        is_handed_at_once.then_some(Self { wake_up, moderation, sustained: None, ..*self })
    }

    /// Draws the time from the arrival of a packet at an idle host until the host is awake. (HOST-1)
    #[inline]
    pub(super) fn draw_wake_up(&self, draws: &mut Stream) -> Duration {
        self.wake_up.draw(draws)
    }

    /// Draws by how much the interface puts off a burst of a short flow. (HOST-2)
    #[inline]
    pub(super) fn draw_moderation(&self, draws: &mut Stream) -> Duration {
        self.moderation.draw(draws)
    }

    /// Whether each packet is handled by itself, the instant it arrives.
    pub fn is_free(&self) -> bool {
        let is_quick = self.wake_up == Latency::Constant(Duration::ZERO) && self.segment == Duration::ZERO;
        is_quick && !self.merges
    }

    /// Whether the host has no latency but its wake-up.
    pub fn only_wakes(&self) -> bool {
        let is_moderated = self.moderation != Latency::Constant(Duration::ZERO) || self.sustained.is_some();
        self.is_free() || !(is_moderated || self.merges || self.segment > Duration::ZERO)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::host_profile;

    #[test]
    fn only_the_calibrated_hosts_take_time_and_merge() {
        let of = |name| Reception::of(&host_profile(name));
        assert!(of("ideal").is_free() && of("lab").is_free());
        let published = host_profile("ae-hosts");
        assert!(published.generic_receive_offload && !Reception::of(&published).is_free());
    }
}
