//! A switch profile: the properties of one kind of switch, as data.
//!
//! The keys are those of `scenarios/switch/*.toml`, with units in their names; these files say where each
//! value comes from.

use lossylink_core::engine::linkguardian::{AckNoTimeout, Thresholds};
use lossylink_core::time::Duration;
use lossylink_core::units::BitRate;
use serde::Deserialize;

/// The delays, buffers and thresholds of the switches at both ends of the protected link.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SwitchProfile {
    /// Name of the profile in reports.
    pub name: String,
    /// Whether the values were fitted to published results.
    pub calibrated: bool,
    /// The source of the values.
    pub source: String,

    /// Latency of a data frame from the sender's dequeue to the receiver's decision, without serialisation.
    pub data_pipeline_ns: f64,
    /// Latency of a retransmission from the sender's dequeue to the receiver's decision, without
    /// serialisation.
    pub retransmission_pipeline_ns: f64,
    /// Latency of a notification from the receiver's decision to its place at the port back.
    pub notification_port_ns: f64,
    /// Latency of an acknowledgement from the receiver's decision to the receiver's acknowledgement register.
    pub ack_register_ns: f64,
    /// Period of the circulating explicit ACK, and of the circulating dummy.
    pub ack_cycle_ns: f64,
    /// Latency of acknowledgements and notifications from the port back to their effect at the sender,
    /// without serialisation.
    pub control_return_ns: f64,
    /// Time from the sender's dequeue to the first look at the mirrored copy.
    pub copy_first_check_ns: f64,
    /// Time of one round of the Tx loop, without serialisation and queueing.
    pub tx_loop_fixed_ns: f64,
    /// Time from the sender's decision until the retransmission is queued.
    pub retransmit_ns: f64,
    /// Time that a second copy of a retransmission takes beyond that.
    pub multicast_extra_ns: f64,
    /// Time of one round of the Rx loop, without serialisation and queueing.
    pub rx_loop_fixed_ns: f64,
    /// Period of the timer packets.
    pub timer_period_ns: f64,
    /// Latency of a timer packet to its place at the port back.
    pub timer_packet_ns: f64,
    /// Latency of a resume from the port back until the sender's queue runs, without serialisation.
    pub resume_flight_ns: f64,
    /// Latency of a pause from the port back until the sender's queue is silent, without serialisation.
    pub pause_reaction_ns: f64,
    /// Pause time in quanta of 512 bit times.
    pub pause_quanta: u64,

    /// Whether Tx buffer and Rx buffer are recirculation loops; otherwise they release a frame at once.
    pub recirculates: bool,
    /// Line rate of a recirculation port, in a switch whose links have at most that rate; see
    /// [`SwitchProfile::recirculation_rate`].
    pub recirculation_bps: u64,
    /// Allocation unit of the packet buffer.
    pub buffer_cell_bytes: u64,
    /// Time between two frames of the packet generator.
    pub generator_period_ps: u64,
    /// The most frames that the generator keeps in the sender's queue.
    pub sender_queue_packets: usize,
    /// Limit of the sender's normal queue, in bytes.
    pub queue_bytes: u64,
    /// Limit of the receiver's queue to the next hop, in bytes.
    pub receiver_queue_bytes: u64,
    /// Limit of the Tx buffer, in bytes.
    pub tx_buffer_max_bytes: u64,
    /// Limit of the Rx buffer, in bytes.
    pub rx_buffer_max_bytes: u64,
    /// Queue depth at dequeue from which on packets are marked, in bytes.
    pub ecn_threshold_bytes: u64,
    /// Random early marking: queue depth at which it starts, in bytes.
    pub red_min_bytes: u64,
    /// Random early marking: queue depth at which it becomes certain, in bytes.
    pub red_max_bytes: u64,
    /// Random early marking: probability just below `red_max_bytes`.
    pub red_max_probability: f64,
    /// Dummies that each data packet arms.
    pub dummy_count: u8,
    /// LinkGuardian's thresholds at the published rates.
    pub threshold: Vec<RateThresholds>,
}

/// LinkGuardian's thresholds at one rate.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct RateThresholds {
    /// The line rate of the link.
    pub rate_bps: u64,
    /// Threshold of the Rx buffer at which the receiver resumes the sender, in bytes.
    pub resume_bytes: u64,
    /// Threshold of the Rx buffer at which the receiver pauses the sender, in bytes.
    pub pause_bytes: u64,
    /// Reload value of ackNoTimeout, in periods of the timer packets.
    pub ack_no_timeout_ticks: u32,
}

impl SwitchProfile {
    /// Returns the rate of a recirculation port in a switch whose link runs at `link`. It is the profile's
    /// rate for every slower link. A faster link has ports of its own rate: no switch of that kind was
    /// measured, and loops that are slower than the link would overflow.
    pub fn recirculation_rate(&self, link: BitRate) -> BitRate {
        BitRate::from_bps(self.recirculation_bps.max(link.as_bps()))
    }

    /// Returns how long a pause lasts without a resume: a quantum is 512 bit times (IEEE 802.1Qbb).
    pub fn pause_duration(&self, rate: BitRate) -> Duration {
        Duration::from_secs(1).mul_ratio(self.pause_quanta * 512, rate.as_bps())
    }

    /// Returns the wait of the ordered receiver before it gives a missing frame up, at `rate`.
    pub fn ack_no_timeout(&self, rate: BitRate) -> AckNoTimeout {
        AckNoTimeout {
            period: Duration::from_ns_f64(self.timer_period_ns),
            reload: self.thresholds_at(rate).ack_no_timeout_ticks,
        }
    }

    /// Returns the thresholds of backpressure at `rate`.
    pub fn backpressure(&self, rate: BitRate) -> Thresholds {
        let at = self.thresholds_at(rate);
        Thresholds { pause_bytes: at.pause_bytes, resume_bytes: at.resume_bytes }
    }

    /// Returns LinkGuardian's thresholds at `rate`.
    pub fn thresholds_at(&self, rate: BitRate) -> RateThresholds {
        thresholds_at(&self.threshold, rate)
    }
}

/// Returns the published thresholds in `points`, or, between their rates, values linear in the time of a
/// byte. Above the fastest rate the bytes grow with the rate (the reaction time stays) and the ticks stay.
/// Below the slowest rate the bytes stay and the ticks go on along the last line.
///
/// # Panics
/// If there is no point.
pub fn thresholds_at(points: &[RateThresholds], rate: BitRate) -> RateThresholds {
    let bps = rate.as_bps();
    let mut points = points.to_vec();
    points.sort_by_key(|point| std::cmp::Reverse(point.rate_bps));
    let (fastest, slowest) = (points[0], points[points.len() - 1]);
    if bps >= fastest.rate_bps {
        let grow = |bytes: u64| (u128::from(bytes) * u128::from(bps) / u128::from(fastest.rate_bps)) as u64;
        return RateThresholds {
            rate_bps: bps,
            resume_bytes: grow(fastest.resume_bytes),
            pause_bytes: grow(fastest.pause_bytes),
            ..fastest
        };
    }
    // The pair of neighbours whose rates enclose `bps`, or the slowest pair.
    let pair = points.windows(2).find(|pair| bps >= pair[1].rate_bps).or(points.windows(2).last());
    let Some(&[fast, slow]) = pair else {
        return RateThresholds { rate_bps: bps, ..slowest };
    };
    let weight = byte_time_weight(bps, fast.rate_bps, slow.rate_bps);
    let ticks = f64::from(fast.ack_no_timeout_ticks)
        + weight * (f64::from(slow.ack_no_timeout_ticks) - f64::from(fast.ack_no_timeout_ticks));
    let bytes =
        |fast: u64, slow: u64| (fast as f64 + weight.min(1.0) * (slow as f64 - fast as f64)).round() as u64;
    RateThresholds {
        rate_bps: bps,
        resume_bytes: bytes(fast.resume_bytes, slow.resume_bytes),
        pause_bytes: bytes(fast.pause_bytes, slow.pause_bytes),
        ack_no_timeout_ticks: ticks.round() as u32,
    }
}

/// Returns where 1 / `bps` lies between 1 / `fast` (0) and 1 / `slow` (1).
fn byte_time_weight(bps: u64, fast: u64, slow: u64) -> f64 {
    let time = |bps: u64| 1.0 / bps as f64;
    (time(bps) - time(fast)) / (time(slow) - time(fast))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Returns a profile of this repository.
    pub(crate) fn profile(name: &str) -> SwitchProfile {
        let path = format!("{}/../../scenarios/switch/{name}.toml", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(&path).expect("the profile is part of the repository");
        toml::from_str(&text).expect("the profile fits the structure")
    }

    #[test]
    fn published_rates_keep_their_published_thresholds() {
        let tofino = profile("tofino1");
        for point in &tofino.threshold {
            assert_eq!(tofino.thresholds_at(BitRate::from_bps(point.rate_bps)), *point);
        }
    }

    #[test]
    fn other_rates_follow_the_rule() {
        let tofino = profile("tofino1");
        let at = |gbps| tofino.thresholds_at(BitRate::from_gbps(gbps));
        assert_eq!((at(400).pause_bytes, at(400).ack_no_timeout_ticks), (160_000, 70));
        assert!(at(40).pause_bytes > 40_000 && at(40).pause_bytes < 42_960);
        assert_eq!(at(1).pause_bytes, at(10).pause_bytes);
        assert!(at(1).ack_no_timeout_ticks > at(10).ack_no_timeout_ticks);
    }

    #[test]
    fn a_recirculation_port_is_as_the_profile_says_and_never_slower_than_the_link() {
        let tofino = profile("tofino1");
        let at = |gbps| tofino.recirculation_rate(BitRate::from_gbps(gbps));
        for gbps in [1, 10, 25, 100] {
            assert_eq!(at(gbps).as_bps(), tofino.recirculation_bps, "{gbps} Gb/s");
        }
        assert_eq!(at(101), BitRate::from_gbps(101));
        assert_eq!(at(400), BitRate::from_gbps(400));
        let slow = SwitchProfile { recirculation_bps: 40_000_000_000, ..tofino };
        assert_eq!(slow.recirculation_rate(BitRate::from_gbps(10)), BitRate::from_gbps(40));
    }

    #[test]
    fn a_pause_expires_after_the_published_time() {
        let tofino = profile("tofino1");
        for (gbps, us) in [(100, 335.5), (25, 1342.0), (10, 3355.0)] {
            let pause = tofino.pause_duration(BitRate::from_gbps(gbps)).as_us_f64();
            assert!((pause / us - 1.0).abs() < 1e-3, "{gbps} Gb/s: {pause} us");
        }
    }
}
