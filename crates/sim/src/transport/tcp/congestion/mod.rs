//! Congestion control: a small trait, one file an algorithm, dispatched by an enum.

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

/// Least congestion window after a loss, segments (RFC 5681 section 3.1).
const LEAST_THRESHOLD: u32 = 2;

/// What an algorithm may know of the connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct View {
    /// The time, microseconds.
    pub(super) now_us: u64,
    /// The time, jiffies.
    pub(super) jiffies: u64,
    /// Jiffies in a second.
    pub(super) hertz: u64,
    /// First segment not acknowledged.
    pub(super) una: u64,
    /// Next segment never sent.
    pub(super) next: u64,
    /// Segments delivered so far, and those of them whose delivery echoed congestion.
    pub(super) delivered: u64,
    /// Segments delivered by acknowledgements that carried an ECN echo.
    pub(super) delivered_marked: u64,
    /// Segments declared lost so far.
    pub(super) lost: u64,
    /// Where loss recovery stands.
    pub(super) state: State,
    /// Segments sent and not acknowledged.
    pub(super) outstanding: u32,
    /// Segments believed in the network.
    pub(super) in_flight: u32,
    /// Payload of a full segment, bytes.
    pub(super) payload: u32,
    /// Smoothed round-trip time in eighths of a microsecond; zero before the first sample.
    pub(super) smoothed_eighths: u64,
    /// Least round-trip time of the last five minutes, microseconds.
    pub(super) least_us: u64,
    /// When pacing allows the next packet, microseconds.
    pub(super) paced_until_us: u64,
}

impl View {
    /// A view of nothing, for tests to fill in.
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

    /// The rate in bytes per second at which Linux would pace: twice the window per round trip in
    /// early slow start, 1.2 times later (`tcp_update_pacing_rate`).
    pub(super) fn pacing_rate(&self, window: &Window) -> u64 {
        let percent = if window.size < window.threshold / 2 { 200 } else { 120 };
        let segments = u64::from(window.size.max(self.outstanding));
        let scaled = u64::from(self.payload) * segments * percent * (8 * 1_000_000 / 100);
        scaled / self.smoothed_eighths.max(1)
    }
}

/// One algorithm. Every method but the first has a default that does nothing special.
pub(super) trait Algorithm {
    /// The slow-start threshold after a congestion event.
    fn threshold(&mut self, window: &Window) -> u32;

    /// Segments were acknowledged while the window may grow.
    fn grow(&mut self, window: &mut Window, acknowledged: u32, view: &View);

    /// Whether it grows as Reno does, by the window alone ([`grow_as_reno`]): building a view for nothing costs time.
    fn grows_as_reno(&self) -> bool {
        false
    }

    /// Acknowledged segments for one of growth until the next jiffy, as long as the window stays as it is and is past slow
    /// start; zero where that is not certain. It is `jiffies` now, `hertz` of them in a second.
    #[cfg(feature = "fast")]
    fn segments_per_growth(&self, window: &Window, _jiffies: u64, _hertz: u64) -> u32 {
        if self.grows_as_reno() { window.size } else { 0 }
    }

    /// Segments were acknowledged, too few for the window to grow ([`Algorithm::segments_per_growth`]).
    #[cfg(feature = "fast")]
    fn note_without_growth(&mut self, _acknowledged: u32) {}

    /// The recovery state is about to change from `from` to `to`.
    fn on_state(&mut self, _from: State, _to: State, _window: &mut Window, _view: &View) {}

    /// A retransmission timeout reduced the window.
    fn on_timeout(&mut self, _window: &mut Window) {}

    /// An acknowledgement arrived, before anything else is made of it.
    fn on_ack(&mut self, _view: &View) {}

    /// Segments were acknowledged with a round-trip time of `rtt_us`.
    fn on_round_trip(&mut self, _window: &mut Window, _rtt_us: u64, _view: &View) {}

    /// The connection stands.
    fn on_open(&mut self, _window: &Window, _view: &View) {}

    /// An acknowledgement gave a rate sample, for algorithms that set the window by themselves in
    /// place of growth and proportional reduction.
    fn model(&mut self, _sample: &RateSample, _window: &mut Window, _view: &View) {}

    /// The rate at which packets leave, bytes per second; `None` without pacing.
    fn pacing_rate(&self) -> Option<u64> {
        None
    }

    /// Whether rate samples show what the algorithm allows, not what the network can do.
    fn is_limiting_itself(&self) -> bool {
        false
    }

    /// Whether the algorithm models the path from delivery rates and sets the window by itself.
    fn models_path(&self) -> bool {
        false
    }

    /// Whether it wants to know of every acknowledgement: building a view for nothing costs time.
    fn watches_acks(&self) -> bool {
        false
    }

    /// Whether it wants to know every round trip.
    fn watches_round_trips(&self) -> bool {
        false
    }

    /// Whether it counts congestion marks: then every packet is ECN-capable, and the receiver echoes
    /// each change of the mark (RFC 8257 section 3).
    fn counts_marks(&self) -> bool {
        false
    }

    /// The share of marked segments as the algorithm estimates it, if it does.
    fn marked_share(&self) -> Option<f64> {
        None
    }

    /// The window after a reduction that turned out to be wrong.
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

/// Calls a method of whichever algorithm it is.
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

/// Slow start, then Reno's one segment per window.
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

/// Half of the window (RFC 5681 section 3.1).
fn half(window: &Window) -> u32 {
    (window.size / 2).max(LEAST_THRESHOLD)
}
