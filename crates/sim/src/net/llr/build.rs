//! Building a link from a blueprint and a user's options.

use super::{LlrLink, LlrOptions};
use crate::ConfigError;
use crate::net::{Blueprint, Losses, Payload};
use lossylink_core::engine::llr::{Init, Number, SenderConfig, Sizing};
use lossylink_core::protection::{Errors, Llr};
use lossylink_core::time::Duration;
use lossylink_core::units::Bytes;

impl LlrOptions {
    /// Returns the options that follow from `chosen` on the link of `plan`. Values that were left out follow from the link (LLR-20).
    ///
    /// # Errors
    /// If the frames that may be outstanding do not fill the loop of the link: then the line stands still, with losses or without.
    pub fn of(plan: &Blueprint, chosen: &Llr) -> Result<Self, ConfigError> {
        let sizing = sizing(plan, chosen);
        let mut options = Self::from_sizing(&sizing);
        options.errors_seen = chosen.errors == Errors::Seen;
        let sender = &mut options.sender;
        if let Some(bytes) = chosen.bytes {
            sender.outstanding_bytes_max = Bytes(u64::from(bytes));
        }
        if let Some(frames) = chosen.frames {
            sender.outstanding_frames_max = frames;
        }
        if let Some(ns) = chosen.timer_ns {
            sender.replay_timer = Duration::from_ns(u64::from(ns));
        }
        sender.replay_count_max = u8::try_from(chosen.replays).expect("the options have been checked");
        sender.init_action = chosen.init;
        sender.flush_action = chosen.flush;
        sender.re_init_on_flush = chosen.reinit;
        check(&sizing, sender)?;
        Ok(options)
    }
}

/// Returns the sizing of the loop of the link of `plan`.
fn sizing(plan: &Blueprint, chosen: &Llr) -> Sizing {
    Sizing {
        rate: plan.rates.forward.bit_rate(),
        rate_back: plan.rates.back.bit_rate(),
        propagation: plan.propagation,
        pipeline: Duration::from_ns_f64(plan.switch.data_pipeline_ns),
        frame: Bytes(u64::from(plan.frame_octets)),
        spacing: Bytes(u64::from(chosen.spacing_bytes)),
    }
}

/// Refuses a window that is too small for the link, and names the size that the link needs.
fn check(sizing: &Sizing, sender: &SenderConfig) -> Result<(), ConfigError> {
    let (bytes, frames) = (sender.outstanding_bytes_max, sender.outstanding_frames_max);
    let needed = sizing.bytes_needed();
    let full_frames = needed.0.div_ceil(sizing.frame.0);
    if bytes >= needed && u64::from(frames) >= full_frames {
        return Ok(());
    }
    let mend = if full_frames > u64::from(Number::WINDOW) {
        ", which no LLR can number: shorten the link"
    } else {
        ""
    };
    Err(ConfigError(format!(
        "llr: {frames} frames and {} B outstanding do not fill the loop of {} at {}; it needs \
         frames={full_frames} and bytes={} at least{mend}",
        bytes.0,
        sizing.loop_time(),
        sizing.rate,
        needed.0,
    )))
}

impl<P: Payload> LlrLink<P> {
    /// Builds the link of `plan` under `chosen`. Its ends found each other before the run began.
    ///
    /// # Errors
    /// If the frames that may be outstanding do not fill the loop of the link.
    pub fn on(plan: &Blueprint, chosen: &Llr, losses: Losses) -> Result<Self, ConfigError> {
        let options = LlrOptions::of(plan, chosen)?;
        Ok(Self::new(&plan.switch, plan.rates, plan.propagation, &options, losses, Init::default()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::switch_profile;
    use crate::net::{LineRate, LineRates};
    use lossylink_core::protection::Protection;
    use lossylink_core::units::BitRate;
    use std::sync::Arc;

    fn plan(propagation: Duration) -> Blueprint {
        Blueprint {
            switch: Arc::new(switch_profile("tofino1")),
            rates: LineRate::new(BitRate::from_gbps(100)).into(),
            propagation,
            law: 1e-3.into(),
            control_law: 0.0.into(),
            frame_octets: 1538,
            protection: Protection::None,
            is_switched: false,
            is_fast: true,
        }
    }

    // LLR-20: 2048 B at 1G take 16.384 us, in which a line of 100G carries a hundred times 2048 B.
    #[test]
    fn a_slower_way_back_asks_for_a_larger_window() {
        let rates = LineRates { back: LineRate::new(BitRate::from_gbps(1)), ..plan(Duration::ZERO).rates };
        let slow = LlrOptions::of(&Blueprint { rates, ..plan(Duration::ZERO) }, &Llr::default()).unwrap();
        assert_eq!(slow.sender.outstanding_bytes_max.0, 23_647 + 2 * 99 * 2_048);
    }

    // LLR-20: the loop is 2 x 659 ns and 2048 B of waiting; two frames and the spacing come on top.
    #[test]
    fn a_window_that_the_link_outgrows_is_refused_with_the_size_it_needs() {
        let near = plan(Duration::ZERO);
        let needed = 23_647;
        assert_eq!(LlrOptions::of(&near, &Llr::default()).unwrap().sender.outstanding_bytes_max.0, needed);
        let window = |frames, bytes| Llr { frames, bytes, ..Llr::default() };
        assert!(LlrOptions::of(&near, &window(Some(16), Some(needed as u32))).is_ok());
        for tight in [window(Some(15), None), window(None, Some(needed as u32 - 1))] {
            let message = LlrOptions::of(&near, &tight).unwrap_err().to_string();
            assert!(message.ends_with("it needs frames=16 and bytes=23647 at least"), "{message}");
        }
        let short = Blueprint { frame_octets: 324, ..plan(Duration::ZERO) };
        assert!(LlrOptions::of(&short, &Llr::default()).is_ok(), "the usual window holds short frames too");
        let moon = LlrOptions::of(&plan(Duration::from_ms(1_280)), &Llr::default()).unwrap_err().to_string();
        assert!(moon.ends_with("which no LLR can number: shorten the link"), "{moon}");
    }
}
