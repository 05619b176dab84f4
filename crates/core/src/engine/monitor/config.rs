//! Thresholds of the monitor, and the errors of thresholds that cannot work together.

use crate::engine::linkguardian::DEFAULT_TARGET_LOSS;
use crate::time::Duration;
use serde::Deserialize;
use thiserror::Error;

/// The loss rates at which a link is protected, and the evidence that a decision takes. The caller
/// chooses the period of its polls. JSON leaves the target out, and the loss rate of one copy: they are as published.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MonitorConfig {
    /// Frames that the decision to send fewer copies, or to protect no longer, looks back on.
    pub window_frames: u64,
    /// A link that loses at least this fraction of its frames is to be protected.
    pub on_loss: f64,
    /// A link that loses less than this fraction needs no protection any more.
    pub off_loss: f64,
    /// Loss rate below which one copy is sent, even if the target asks for more.
    #[serde(skip)]
    pub many_copies_loss: f64,
    /// The effective loss rate that copies are to reach.
    #[serde(skip, default = "published_target")]
    pub target_loss: f64,
    /// The certainty that a decision needs: the chance that none is taken at a threshold itself.
    pub confidence: f64,
    /// Least time from one change to another that lowers the copies or ends the protection.
    #[serde(rename = "hold_ps")]
    pub hold: Duration,
}

const fn published_target() -> f64 {
    DEFAULT_TARGET_LOSS
}

impl Default for MonitorConfig {
    /// Returns the published thresholds (on from 1e-8, target 1e-8). The window is ten times the published
    /// one, so that a window without loss is evidence enough to switch off.
    fn default() -> Self {
        Self {
            window_frames: 1_000_000_000,
            on_loss: 1e-8,
            off_loss: 5e-9,
            many_copies_loss: 0.0,
            target_loss: DEFAULT_TARGET_LOSS,
            confidence: 0.99,
            hold: Duration::from_secs(10),
        }
    }
}

/// Thresholds that cannot work together: the error, and its remedy.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
pub enum MonitorError {
    /// A confidence that no evidence reaches, or for which no evidence is needed.
    #[error("confidence {0} is out of range: write a number above 0.5 and below 1")]
    Confidence(f64),
    /// A threshold that is no loss rate.
    #[error("{name} {value} is not a loss rate: write a number above 0 and below 1")]
    NotALossRate {
        /// The threshold's name.
        name: &'static str,
        /// The number given for the threshold.
        value: f64,
    },
    /// No room between switching on and off.
    #[error("off_loss {off_loss:e} is not below on_loss {on_loss:e}: protection would flap")]
    NoHysteresis {
        /// Threshold for switching off.
        off_loss: f64,
        /// Threshold for switching on.
        on_loss: f64,
    },
    /// A window in which even no loss at all is no evidence for switching off.
    #[error(
        "a window of {window_frames} frames can never show a loss below {off_loss:e}: use {needed} or more"
    )]
    WindowTooShort {
        /// Length of the window, in frames.
        window_frames: u64,
        /// Threshold for switching off.
        off_loss: f64,
        /// The shortest window that can show such a loss.
        needed: u64,
    },
}

impl MonitorConfig {
    /// Refuses thresholds that cannot work together.
    pub(super) fn check(&self) -> Result<(), MonitorError> {
        if !(self.confidence > 0.5 && self.confidence < 1.0) {
            return Err(MonitorError::Confidence(self.confidence));
        }
        let rates =
            [("on_loss", self.on_loss), ("off_loss", self.off_loss), ("target_loss", self.target_loss)];
        for (name, value) in rates {
            if !(value > 0.0 && value < 1.0) {
                return Err(MonitorError::NotALossRate { name, value });
            }
        }
        if !(0.0..1.0).contains(&self.many_copies_loss) {
            return Err(MonitorError::NotALossRate {
                name: "many_copies_loss",
                value: self.many_copies_loss,
            });
        }
        let (on_loss, off_loss, window_frames) = (self.on_loss, self.off_loss, self.window_frames);
        if off_loss >= on_loss {
            return Err(MonitorError::NoHysteresis { off_loss, on_loss });
        }
        // MON-7: n clean frames have the chance e^(-n p) at loss rate p.
        let needed = libm::ceil(-libm::log(self.alpha()) / off_loss) as u64;
        if window_frames < needed {
            return Err(MonitorError::WindowTooShort { window_frames, off_loss, needed });
        }
        Ok(())
    }

    /// Returns the chance of a wrong decision at a threshold itself.
    pub(super) const fn alpha(&self) -> f64 {
        1.0 - self.confidence
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn the_defaults_work_together() {
        assert_eq!(MonitorConfig::default().check(), Ok(()));
    }

    #[test]
    fn refusals_name_the_setting_and_the_mend() {
        let default = MonitorConfig::default();
        for (config, words) in [
            (MonitorConfig { confidence: 1.0, ..default }, "confidence 1 is out of range"),
            (MonitorConfig { confidence: f64::NAN, ..default }, "confidence NaN"),
            (MonitorConfig { on_loss: 0.0, ..default }, "on_loss 0 is not a loss rate"),
            (MonitorConfig { many_copies_loss: -1.0, ..default }, "many_copies_loss -1"),
            (MonitorConfig { off_loss: 1e-8, ..default }, "protection would flap"),
        ] {
            let refusal = config.check().unwrap_err().to_string();
            assert!(refusal.contains(words), "{refusal}");
        }
    }

    // MON-7: a test on each side. -ln(0.01) / 5e-9 = 921,034,037.2.
    #[test]
    fn the_window_must_be_long_enough_to_switch_off() {
        let window = |window_frames| MonitorConfig { window_frames, ..MonitorConfig::default() }.check();
        assert_eq!(window(921_034_038), Ok(()));
        let refusal = window(921_034_037).unwrap_err().to_string();
        assert!(refusal.contains("use 921034038 or more"), "{refusal}");
    }
}
