//! The delays of a switch profile at one link rate, as durations.

use crate::config::SwitchProfile;
use crate::net::frame::{MINIMUM_OCTETS, USUAL_OCTETS};
use crate::net::{LineRate, LineRates};
use lossylink_core::engine::linkguardian::AckNoTimeout;
use lossylink_core::time::Duration;
use lossylink_core::wire::linkguardian::DataHeader;

/// Octets that LinkGuardian's header adds to a data frame.
pub const HEADER_OCTETS: u32 = DataHeader::LEN as u32;

/// Delays of the protected link, each as in the profile.
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "the profile's structure describes each delay")]
pub struct Timing {
    pub rate: LineRate,
    pub rate_back: LineRate,
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
    /// Returns the delays of `profile` at `rates`, on a link that adds `propagation` to the profile's own in each direction.
    pub fn new(profile: &SwitchProfile, rates: impl Into<LineRates>, propagation: Duration) -> Self {
        let LineRates { forward: rate, back: rate_back } = rates.into();
        let ns = Duration::from_ns_f64;
        Self {
            rate,
            rate_back,
            recirculation: LineRate::new(profile.recirculation_rate(rate.bit_rate())),
            data_pipeline: ns(profile.data_pipeline_ns) + propagation,
            retransmission_pipeline: ns(profile.retransmission_pipeline_ns) + propagation,
            notification_port: ns(profile.notification_port_ns),
            // A frame behind a hole is not acknowledged before the notification of the hole is at the port (LG-26).
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

    /// Returns the wait before the ordered side gives up (LG-21): the published wait at the rate of the data, and the further time
    /// that a notification and its copies, behind a frame of the usual size, take on a slower way back.
    pub(super) fn ack_no_timeout(&self, profile: &SwitchProfile, control_copies: u8) -> AckNoTimeout {
        let published = profile.ack_no_timeout(self.rate.bit_rate());
        let octets = USUAL_OCTETS + HEADER_OCTETS + MINIMUM_OCTETS * u32::from(control_copies);
        let longer = self.rate_back.serialisation(octets).saturating_sub(self.rate.serialisation(octets));
        let ticks = longer.as_ps().div_ceil(published.period.as_ps());
        let ticks = u32::try_from(ticks).unwrap_or(u32::MAX);
        AckNoTimeout { reload: published.reload.saturating_add(ticks), ..published }
    }

    /// Returns the time from the port back until a notification or an acknowledgement takes effect, on an idle line.
    pub fn told(&self) -> Duration {
        self.rate_back.serialisation(MINIMUM_OCTETS) + self.control_return
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::switch_profile;
    use lossylink_core::units::BitRate;

    /// Returns the reload value on a link of 100G whose way back has another rate.
    fn reload(back_gbps: u64, control_copies: u8) -> u32 {
        let rate = |gbps| LineRate::new(BitRate::from_gbps(gbps));
        let (profile, rates) =
            (switch_profile("tofino1"), LineRates { forward: rate(100), back: rate(back_gbps) });
        Timing::new(&profile, rates, Duration::ZERO).ack_no_timeout(&profile, control_copies).reload
    }

    // LG-21: behind a frame of 1541 octets, a notification is there after 130 ns at 100G and after 13 us at 1G.
    #[test]
    fn a_slower_way_back_is_waited_for() {
        assert_eq!([100, 400].map(|back_gbps| reload(back_gbps, 1)), [70, 70]);
        assert_eq!([1, 2, 16].map(|copies| reload(1, copies)), [70 + 129, 70 + 136, 70 + 229]);
    }
}
