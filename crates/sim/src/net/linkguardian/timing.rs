//! The delays of a switch profile at one link rate, as durations.

use crate::config::SwitchProfile;
use crate::net::LineRate;
use crate::net::frame::{MINIMUM_OCTETS, USUAL_OCTETS};
use crate::net::source::MANY;
use lossylink_core::time::Duration;

/// Octets that LinkGuardian's header adds to a data frame.
pub const HEADER_OCTETS: u32 = 3;

/// Delays of the protected link, each as in the profile.
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "the profile's structure describes each delay")]
pub struct Timing {
    pub rate: LineRate,
    pub recirculation: LineRate,
    pub data_pipeline: Duration,
    pub retransmission_pipeline: Duration,
    pub notification_port: Duration,
    pub ack_register: Duration,
    pub cycle: Duration,
    pub control_return: Duration,
    pub copy_first_check: Duration,
    pub tx_loop_fixed: Duration,
    pub retransmit: Duration,
    pub multicast_extra: Duration,
    pub rx_loop_fixed: Duration,
    pub timer_period: Duration,
    pub timer_packet: Duration,
    pub resume_flight: Duration,
    pub pause_reaction: Duration,
    pub pause: Duration,
    pub reverse_pipeline: Duration,
}

impl Timing {
    /// The delays of `profile` at `rate`, on a link that adds `propagation` to the profile's own
    /// in each direction.
    pub fn new(profile: &SwitchProfile, rate: LineRate, propagation: Duration) -> Self {
        let ns = Duration::from_ns_f64;
        Self {
            rate,
            recirculation: LineRate::new(profile.recirculation_rate(rate.bit_rate())),
            data_pipeline: ns(profile.data_pipeline_ns) + propagation,
            retransmission_pipeline: ns(profile.retransmission_pipeline_ns) + propagation,
            notification_port: ns(profile.notification_port_ns),
            // What follows a hole is not acknowledged before its notification is at the port (LG-26).
            ack_register: ns(profile.ack_register_ns.max(profile.notification_port_ns)),
            cycle: ns(profile.ack_cycle_ns),
            control_return: ns(profile.control_return_ns) + propagation,
            copy_first_check: ns(profile.copy_first_check_ns),
            tx_loop_fixed: ns(profile.tx_loop_fixed_ns),
            retransmit: ns(profile.retransmit_ns),
            multicast_extra: ns(profile.multicast_extra_ns),
            rx_loop_fixed: ns(profile.rx_loop_fixed_ns),
            timer_period: ns(profile.timer_period_ns),
            timer_packet: ns(profile.timer_packet_ns),
            resume_flight: ns(profile.resume_flight_ns) + propagation,
            pause_reaction: ns(profile.pause_reaction_ns) + propagation,
            pause: profile.pause_duration(rate.bit_rate()),
            reverse_pipeline: ns(profile.data_pipeline_ns) + propagation,
        }
    }

    /// How long it takes from the first to the last of several usual frames.
    pub(super) fn many(&self) -> Duration {
        self.rate.serialisation(USUAL_OCTETS) * u64::from(MANY - 1)
    }

    /// From the port back until anything takes effect at the sender, at the least.
    pub(super) fn least_told(&self) -> Duration {
        let flight = self.control_return.min(self.resume_flight).min(self.pause_reaction);
        self.rate.serialisation(MINIMUM_OCTETS) + flight
    }

    /// From the decision about a pause until it takes effect at the sender, at the least.
    pub(super) fn least_pause(&self) -> Duration {
        self.timer_packet
            + self.rate.serialisation(MINIMUM_OCTETS)
            + self.resume_flight.min(self.pause_reaction)
    }

    /// From the arrival that shows a loss until anything comes of it at the sender, at the least.
    pub(super) fn least_notice(&self) -> Duration {
        (self.notification_port + self.told()).min(self.least_pause())
    }

    /// From the port back until a notification or an acknowledgement takes effect, on an idle line.
    pub fn told(&self) -> Duration {
        self.rate.serialisation(MINIMUM_OCTETS) + self.control_return
    }
}
