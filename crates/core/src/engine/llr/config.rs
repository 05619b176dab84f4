//! Parameters of the sending end, with the defaults of the published designs.

use super::{Number, Sizing};
use crate::time::Duration;
use crate::units::Bytes;
use serde::{Deserialize, Serialize};

/// The treatment of new frames while the link does not number them (LLR-17).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FrameAction {
    /// New frames are dropped and counted.
    Discard,
    /// New frames wait.
    Block,
    /// New frames go without a number: the link behaves as one without protection.
    #[default]
    BestEffort,
}

/// Parameters of the sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SenderConfig {
    /// Frames that may be outstanding: 1 to 2^19 (LLR-2).
    pub outstanding_frames_max: u32,
    /// Bytes that may be outstanding (LLR-4).
    pub outstanding_bytes_max: Bytes,
    /// Time without an answer after which all outstanding frames are replayed (LLR-12), and after which an INIT is
    /// repeated (LLR-15). Switches set this time in nanoseconds, up to 65535 (S2).
    pub replay_timer: Duration,
    /// Replays without progress before the link flushes: 1 to 254, or
    /// [`UNLIMITED_REPLAYS`](Self::UNLIMITED_REPLAYS) (LLR-13).
    pub replay_count_max: u8,
    /// How long the line may be down before the link flushes; `None` waits for ever (LLR-14).
    pub pcs_lost_timeout: Option<Duration>,
    /// How old an outstanding frame may grow before the link flushes; `None` waits for ever
    /// (LLR-14).
    pub data_age_timeout: Option<Duration>,
    /// The treatment of new frames until the link is initialised (LLR-17).
    pub init_action: FrameAction,
    /// The treatment of new frames after a flush that ends the protection (LLR-17).
    pub flush_action: FrameAction,
    /// Whether the link initialises itself again after a flush (LLR-16).
    pub re_init_on_flush: bool,
}

impl SenderConfig {
    /// The value of `replay_count_max` that never flushes (S1).
    pub const UNLIMITED_REPLAYS: u8 = 255;
    /// Replays without progress in all three sample links of S2. The default of S1 is one.
    pub const SAMPLE_REPLAY_COUNT: u8 = 3;

    /// The number of tries in a row without an answer after which each wait is twice as long as the wait before
    /// (LLR-12, LLR-15).
    pub const STEADY_TRIES: u32 = 4096;
    /// The longest of these doubled waits, unless the replay timer is longer.
    const LONGEST_WAIT: Duration = Duration::from_ms(100);

    /// Returns the window and the timer that `sizing` asks for, and otherwise the defaults: three replays, no
    /// timeouts, frames go unnumbered while nothing is numbered, and a flush is followed by INIT. S1 has that last
    /// default at false and S2 forces it to true.
    pub fn sized(sizing: &Sizing) -> Self {
        Self {
            outstanding_frames_max: sizing.frames_needed(),
            outstanding_bytes_max: sizing.bytes_needed(),
            replay_timer: sizing.replay_timer(),
            replay_count_max: Self::SAMPLE_REPLAY_COUNT,
            pcs_lost_timeout: None,
            data_age_timeout: None,
            init_action: FrameAction::BestEffort,
            flush_action: FrameAction::BestEffort,
            re_init_on_flush: true,
        }
    }

    /// Whether the sender flushes at the next reason to replay, after `replays` without progress.
    pub(super) const fn is_exhausted(&self, replays: u8) -> bool {
        self.replay_count_max != Self::UNLIMITED_REPLAYS && replays >= self.replay_count_max
    }

    /// Returns how long the sender waits for an answer to the last of `tries` tries without an answer.
    #[inline]
    pub(super) fn wait(&self, tries: u32) -> Duration {
        if tries <= Self::STEADY_TRIES {
            self.replay_timer
        } else {
            self.longer_wait(tries - Self::STEADY_TRIES)
        }
    }

    /// Returns the wait after `doublings` doublings of the replay timer, up to the longest wait.
    #[cold]
    fn longer_wait(&self, doublings: u32) -> Duration {
        let longest = self.replay_timer.max(Self::LONGEST_WAIT);
        let times = 1u64.checked_shl(doublings).unwrap_or(u64::MAX);
        Duration::from_ps(self.replay_timer.as_ps().saturating_mul(times)).min(longest)
    }

    /// Checks the bounds and the timers.
    ///
    /// # Panics
    /// If a bound is out of its range, or a timer would fire without end.
    pub(super) fn check(&self) {
        let frames = self.outstanding_frames_max;
        assert!((1..=Number::WINDOW).contains(&frames), "{frames} outstanding frames are not 1 to 2^19");
        assert!(self.replay_count_max > 0, "at least one replay must be allowed");
        assert!(self.replay_timer > Duration::ZERO, "the replay timer must take some time");
        assert!(self.data_age_timeout != Some(Duration::ZERO), "data may take some time");
    }
}
