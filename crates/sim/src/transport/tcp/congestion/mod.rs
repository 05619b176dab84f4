//! Congestion control: a small trait, a file for each algorithm, and an enum that dispatches.

mod bbr;
mod bbr3;
mod bounds;
mod choice;
mod cubic;
mod dctcp;
mod long_term;
mod path_model;
mod reno;

use super::rate::RateSample;
use super::recovery_state::State;
use super::window::Window;
use bbr::Bbr;
use bbr3::Bbr3;
pub use choice::{CongestionControl, UnknownCongestionControl};
use cubic::Cubic;
use dctcp::Dctcp;
use reno::Reno;

/// The least congestion window after a loss, segments (RFC 5681 section 3.1).
const LEAST_THRESHOLD: u32 = 2;

/// The state of the connection that an algorithm may know.
#[derive(Clone, Copy, Debug)]
pub(super) struct View {
    /// The present time, microseconds.
    pub(super) now_us: u64,
    /// The present time, jiffies.
    pub(super) jiffies: u64,
    /// Jiffies in a second.
    pub(super) hertz: u64,
    /// The first segment not acknowledged.
    pub(super) una: u64,
    /// The next segment never sent.
    pub(super) next: u64,
    /// Number of segments delivered so far.
    pub(super) delivered: u64,
    /// Number of segments delivered by acknowledgements that carried an ECN echo.
    pub(super) delivered_marked: u64,
    /// Number of segments declared lost so far.
    pub(super) lost: u64,
    /// The state of loss recovery.
    pub(super) state: State,
    /// Number of segments sent and not acknowledged.
    pub(super) outstanding: u32,
    /// Number of segments believed in the network.
    pub(super) in_flight: u32,
    /// Payload of a full segment, bytes.
    pub(super) payload: u32,
    /// Smoothed round-trip time in eighths of a microsecond; zero before the first sample.
    pub(super) smoothed_eighths: u64,
    /// The least round-trip time of the last five minutes, microseconds.
    pub(super) least_us: u64,
    /// The time from which on pacing allows the next packet, microseconds.
    pub(super) paced_until_us: u64,
}

impl View {
    /// Returns an empty view, for tests to fill in.
    #[cfg(test)]
    pub(super) const fn example() -> Self {
        Self {
            now_us: 0,
            jiffies: 0,
            hertz: 1_000,
            una: 0,
            next: 0,
            delivered: 0,
            delivered_marked: 0,
            lost: 0,
            state: State::Open,
            outstanding: 0,
            in_flight: 0,
            payload: 1460,
            smoothed_eighths: 0,
            least_us: 0,
            paced_until_us: 0,
        }
    }

    /// Returns the rate in bytes per second at which Linux would pace: twice the window per round trip in early slow
    /// start, 1.2 times later (`tcp_update_pacing_rate`).
    pub(super) fn pacing_rate(&self, window: &Window) -> u64 {
        let percent = if window.size < window.threshold / 2 { 200 } else { 120 };
        let segments = u64::from(window.size.max(self.outstanding));
        let scaled = u64::from(self.payload) * segments * percent * (8 * 1_000_000 / 100);
        scaled / self.smoothed_eighths.max(1)
    }
}

/// A congestion-control algorithm. The default of every method but the first two does nothing special.
pub(super) trait Algorithm {
    /// Returns the slow-start threshold after a congestion event.
    fn threshold(&mut self, window: &Window) -> u32;

    /// Grows the window for segments that were acknowledged while it may grow.
    fn grow(&mut self, window: &mut Window, acknowledged: u32, view: &View);

    /// Whether the algorithm grows as Reno does, by the window alone ([`grow_as_reno`]): building a view for nothing costs
    /// time.
    fn grows_as_reno(&self) -> bool {
        false
    }

    /// Returns the number of acknowledged segments for one segment of growth until the next jiffy, as long as the window
    /// stays as it is and is past slow start; zero where that is not certain. The present time is `jiffies`, with `hertz`
    /// of them in a second.
    #[cfg(feature = "fast")]
    fn segments_per_growth(&self, window: &Window, _jiffies: u64, _hertz: u64) -> u32 {
        if self.grows_as_reno() { window.size } else { 0 }
    }

    /// Notes acknowledged segments that are too few for the window to grow ([`Algorithm::segments_per_growth`]).
    #[cfg(feature = "fast")]
    fn note_without_growth(&mut self, _acknowledged: u32) {}

    /// Handles a change of the recovery state that is about to happen, from `from` to `to`.
    fn on_state(&mut self, _from: State, _to: State, _window: &mut Window, _view: &View) {}

    /// Handles a retransmission timeout, which reduced the window.
    fn on_timeout(&mut self, _window: &mut Window) {}

    /// Handles an acknowledgement, before anything else is made of it.
    fn on_ack(&mut self, _view: &View) {}

    /// Handles acknowledged segments with a round-trip time of `rtt_us`.
    fn on_round_trip(&mut self, _window: &mut Window, _rtt_us: u64, _view: &View) {}

    /// Handles the end of the handshake.
    fn on_open(&mut self, _window: &Window, _view: &View) {}

    /// Takes the rate sample of an acknowledgement, for algorithms that set the window by themselves in place of growth
    /// and proportional reduction.
    fn model(&mut self, _sample: &RateSample, _window: &mut Window, _view: &View) {}

    /// Returns the rate at which packets leave, bytes per second; `None` without pacing.
    fn pacing_rate(&self) -> Option<u64> {
        None
    }

    /// Whether rate samples show the rate that the algorithm allows, and not that of the network.
    fn is_limiting_itself(&self) -> bool {
        false
    }

    /// Whether the algorithm models the path from delivery rates and sets the window by itself.
    fn models_path(&self) -> bool {
        false
    }

    /// Whether the algorithm watches every acknowledgement: building a view for nothing costs time.
    fn watches_acks(&self) -> bool {
        false
    }

    /// Whether the algorithm watches every round trip.
    fn watches_round_trips(&self) -> bool {
        false
    }

    /// Whether the algorithm counts congestion marks: then every packet is ECN-capable, and the receiver echoes each
    /// change of the mark (RFC 8257 section 3).
    fn counts_marks(&self) -> bool {
        false
    }

    /// Returns the share of marked segments as the algorithm estimates it, if it does.
    fn marked_share(&self) -> Option<f64> {
        None
    }

    /// Returns the window after a reduction that turned out to be wrong.
    fn undone_window(&mut self, window: &Window, _view: &View) -> u32 {
        window.size.max(window.before_reduction())
    }
}

/// The algorithm of one sender.
#[derive(Clone, Copy, Debug)]
pub(super) enum Congestion {
    Reno(Reno),
    Cubic(Cubic),
    Dctcp(Dctcp),
    Bbr(Bbr),
    Bbr3(Bbr3),
}

/// Calls a method of the algorithm that is in use.
macro_rules! dispatch {
    ($self:ident, $algorithm:ident => $call:expr) => {
        match $self {
            Congestion::Reno($algorithm) => $call,
            Congestion::Cubic($algorithm) => $call,
            Congestion::Dctcp($algorithm) => $call,
            Congestion::Bbr($algorithm) => $call,
            Congestion::Bbr3($algorithm) => $call,
        }
    };
}

impl Congestion {
    pub(super) fn new(algorithm: CongestionControl) -> Self {
        match algorithm {
            CongestionControl::Reno => Self::Reno(Reno),
            CongestionControl::Cubic => Self::Cubic(Cubic::new()),
            CongestionControl::Dctcp => Self::Dctcp(Dctcp::new()),
            CongestionControl::Bbr => Self::Bbr(Bbr::new()),
            CongestionControl::Bbr3 => Self::Bbr3(Bbr3::new()),
        }
    }
}

impl Algorithm for Congestion {
    fn threshold(&mut self, window: &Window) -> u32 {
        dispatch!(self, algorithm => algorithm.threshold(window))
    }

    fn grow(&mut self, window: &mut Window, acknowledged: u32, view: &View) {
        dispatch!(self, algorithm => algorithm.grow(window, acknowledged, view));
    }

    fn grows_as_reno(&self) -> bool {
        dispatch!(self, algorithm => algorithm.grows_as_reno())
    }

    #[cfg(feature = "fast")]
    fn segments_per_growth(&self, window: &Window, jiffies: u64, hertz: u64) -> u32 {
        dispatch!(self, algorithm => algorithm.segments_per_growth(window, jiffies, hertz))
    }

    #[cfg(feature = "fast")]
    fn note_without_growth(&mut self, acknowledged: u32) {
        dispatch!(self, algorithm => algorithm.note_without_growth(acknowledged));
    }

    fn on_state(&mut self, from: State, to: State, window: &mut Window, view: &View) {
        dispatch!(self, algorithm => algorithm.on_state(from, to, window, view));
    }

    fn on_timeout(&mut self, window: &mut Window) {
        dispatch!(self, algorithm => algorithm.on_timeout(window));
    }

    fn on_ack(&mut self, view: &View) {
        dispatch!(self, algorithm => algorithm.on_ack(view));
    }

    fn on_round_trip(&mut self, window: &mut Window, rtt_us: u64, view: &View) {
        dispatch!(self, algorithm => algorithm.on_round_trip(window, rtt_us, view));
    }

    fn on_open(&mut self, window: &Window, view: &View) {
        dispatch!(self, algorithm => algorithm.on_open(window, view));
    }

    fn model(&mut self, sample: &RateSample, window: &mut Window, view: &View) {
        dispatch!(self, algorithm => algorithm.model(sample, window, view));
    }

    fn pacing_rate(&self) -> Option<u64> {
        dispatch!(self, algorithm => algorithm.pacing_rate())
    }

    fn is_limiting_itself(&self) -> bool {
        dispatch!(self, algorithm => algorithm.is_limiting_itself())
    }

    fn models_path(&self) -> bool {
        dispatch!(self, algorithm => algorithm.models_path())
    }

    fn watches_acks(&self) -> bool {
        dispatch!(self, algorithm => algorithm.watches_acks())
    }

    fn watches_round_trips(&self) -> bool {
        dispatch!(self, algorithm => algorithm.watches_round_trips())
    }

    fn counts_marks(&self) -> bool {
        dispatch!(self, algorithm => algorithm.counts_marks())
    }

    fn marked_share(&self) -> Option<f64> {
        dispatch!(self, algorithm => algorithm.marked_share())
    }

    fn undone_window(&mut self, window: &Window, view: &View) -> u32 {
        dispatch!(self, algorithm => algorithm.undone_window(window, view))
    }
}

/// Grows the window by slow start, then by Reno's one segment per window.
#[inline]
pub(super) fn grow_as_reno(window: &mut Window, acknowledged: u32) {
    if !window.is_limited() {
        return;
    }
    let left = if window.in_slow_start() { window.slow_start(acknowledged) } else { acknowledged };
    if left > 0 {
        window.grow_linearly(window.size, left);
    }
}

/// Returns half of the window (RFC 5681 section 3.1).
fn half(window: &Window) -> u32 {
    (window.size / 2).max(LEAST_THRESHOLD)
}
