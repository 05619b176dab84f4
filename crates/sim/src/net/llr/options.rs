//! The choices about a link with link-level retry, and the delays that follow.

use super::wires::CONTROL_OCTETS;
use crate::config::SwitchProfile;
use crate::net::frame::USUAL_OCTETS;
use crate::net::{LineRate, LineRates};
use lossylink_core::engine::llr::{SAMPLE_FRAME, SPACING_DEFAULT, SenderConfig, Sizing, spacing_time};
use lossylink_core::time::Duration;
use lossylink_core::units::Bytes;

/// The operator's choices about the protection.
#[derive(Clone, Copy, Debug)]
pub struct LlrOptions {
    /// Parameters of the sending end.
    pub sender: SenderConfig,
    /// Distance between two control sets (LLR-7).
    pub control_spacing: Bytes,
    /// The time from the receiver's outlet to the sender's decision, without the cable and without serialisation.
    pub return_pipeline: Duration,
    /// Whether the receiver sees a corrupted frame when it arrives. Otherwise the frame vanishes, and the receiver learns of the
    /// loss from the next frame (LLR-10).
    pub errors_seen: bool,
}

impl LlrOptions {
    /// Returns the defaults, sized for frames of up to `octets` between two switches of `profile` (LLR-20). The bound in frames
    /// is the bound in bytes divided by the mean frame of the published samples, so that a mix of sizes reaches the bound in
    /// bytes first. The way back takes as long as the way forward.
    pub fn sized(
        profile: &SwitchProfile,
        rates: impl Into<LineRates>,
        propagation: Duration,
        octets: u32,
    ) -> Self {
        let LineRates { forward, back } = rates.into();
        Self::from_sizing(&Sizing {
            rate: forward.bit_rate(),
            rate_back: back.bit_rate(),
            propagation,
            pipeline: Duration::from_ns_f64(profile.data_pipeline_ns),
            frame: Bytes(u64::from(octets)),
            spacing: SPACING_DEFAULT,
        })
    }

    /// Returns the options that `sizing` asks for.
    pub(super) fn from_sizing(sizing: &Sizing) -> Self {
        let outstanding_frames_max = sizing.frames_of(sizing.frame.min(SAMPLE_FRAME));
        Self {
            sender: SenderConfig { outstanding_frames_max, ..SenderConfig::sized(sizing) },
            control_spacing: sizing.spacing,
            return_pipeline: sizing.pipeline,
            errors_seen: false,
        }
    }
}

/// Delays of a link.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timing {
    pub(super) rates: LineRates,
    /// The time from the last bit of a frame on the line to the receiver's decision. A control set to the receiver takes equally long.
    pub(super) forward_flight: Duration,
    /// The time from the last bit of a control set on the line to the sender's decision.
    pub(super) return_flight: Duration,
    /// The time from the last bit of a frame on the line to the sender's decision.
    pub(super) reverse_flight: Duration,
    /// Timing of the control sets toward the receiver.
    pub(super) control: ControlTiming,
    /// Timing of the control sets on the way back.
    pub(super) control_back: ControlTiming,
    /// The time after which data that has not moved will not move any more.
    pub(super) standstill: Duration,
}

/// The timing of control sets that follows from the rate of a direction.
#[derive(Clone, Copy, Debug)]
pub(super) struct ControlTiming {
    /// The time that a set occupies the line.
    pub(super) serialisation: Duration,
    /// The time from the start of a set to the start of the next (LLR-7).
    pub(super) spacing: Duration,
}

impl ControlTiming {
    fn new(rate: LineRate, options: &LlrOptions) -> Self {
        Self {
            serialisation: rate.serialisation(CONTROL_OCTETS),
            spacing: spacing_time(options.control_spacing, rate.bit_rate()),
        }
    }
}

impl Timing {
    pub(super) fn new(
        profile: &SwitchProfile,
        rates: impl Into<LineRates>,
        propagation: Duration,
        options: &LlrOptions,
    ) -> Self {
        let rates = rates.into();
        let flight = Duration::from_ns_f64(profile.data_pipeline_ns) + propagation;
        Self {
            rates,
            forward_flight: flight,
            return_flight: options.return_pipeline + propagation,
            reverse_flight: flight,
            control: ControlTiming::new(rates.forward, options),
            control_back: ControlTiming::new(rates.back, options),
            standstill: standstill(options, rates.slower(), flight + options.return_pipeline + propagation),
        }
    }
}

/// Returns the time without an answer after which no answer is expected any more: the time of `2 * STEADY_TRIES` tries, which
/// covers the tries at equal intervals and some slower ones. A try takes its replay timer, or the time of a frame on the slower
/// line and both flights if that is longer.
fn standstill(options: &LlrOptions, rate: LineRate, flights: Duration) -> Duration {
    let tries = 2 * u64::from(SenderConfig::STEADY_TRIES);
    let attempt = options.sender.replay_timer.max(flights + rate.serialisation(USUAL_OCTETS));
    Duration::from_ps(attempt.as_ps().saturating_mul(tries))
}
