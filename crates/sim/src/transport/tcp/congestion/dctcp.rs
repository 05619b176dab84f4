//! DCTCP: reduce in proportion to the share of marked segments (RFC 8257, as in Linux).
//!
//! The share is kept with 20 fractional bits: Linux's ten lose every share below 1/64.

use super::super::recovery::State;
use super::super::window::Window;
use super::{Algorithm, View};

/// Fractional bits of alpha.
const ALPHA_BITS: u32 = 20;
/// One, in the fixed point of alpha.
const ONE: u32 = 1 << ALPHA_BITS;
/// The gain g = 1/16 as a shift (RFC 8257 section 4.2).
const GAIN_SHIFT: u32 = 4;

/// The marking estimate of one sender.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Dctcp {
    /// Estimated share of marked segments, in 1/2^20.
    alpha: u32,
    /// The observation window ends when this segment is acknowledged.
    flight_end: u64,
    delivered_before: u64,
    marked_before: u64,
    /// The window before the last reduction.
    before_reduction: u32,
}

impl Dctcp {
    pub(super) const fn new() -> Self {
        Self { alpha: ONE, flight_end: 0, delivered_before: 0, marked_before: 0, before_reduction: 0 }
    }

    /// Loss, unlike marking, halves the window. (DCTCP-3)
    fn halve(&mut self, window: &mut Window) {
        self.before_reduction = window.size;
        window.threshold = super::half(window);
    }
}

/// alpha after a flight of `delivered` segments of which `marked` were marked. (DCTCP-1)
fn updated_alpha(alpha: u32, marked: u64, delivered: u64) -> u32 {
    let step = alpha >> GAIN_SHIFT;
    // A step too small for the fixed point would leave alpha above zero for ever.
    let decayed = alpha - if step == 0 { alpha } else { step };
    let gained = (marked << (ALPHA_BITS - GAIN_SHIFT)) / delivered.max(1);
    (decayed + gained as u32).min(ONE)
}

impl Algorithm for Dctcp {
    // DCTCP-2
    fn threshold(&mut self, window: &Window) -> u32 {
        self.before_reduction = window.size;
        let reduction = (u64::from(window.size) * u64::from(self.alpha)) >> (ALPHA_BITS + 1);
        (window.size - reduction as u32).max(super::LEAST_THRESHOLD)
    }

    fn grow(&mut self, window: &mut Window, acknowledged: u32, _: &View) {
        super::grow_as_reno(window, acknowledged);
    }

    fn on_state(&mut self, from: State, to: State, window: &mut Window, _: &View) {
        if to == State::Recovery && from != State::Recovery {
            self.halve(window);
        }
    }

    fn on_timeout(&mut self, window: &mut Window) {
        self.halve(window);
    }

    fn watches_acks(&self) -> bool {
        true
    }

    // DCTCP-4
    fn counts_marks(&self) -> bool {
        true
    }

    fn marked_share(&self) -> Option<f64> {
        Some(f64::from(self.alpha) / f64::from(ONE))
    }

    fn on_ack(&mut self, view: &View) {
        if view.una < self.flight_end {
            return;
        }
        let marked = view.delivered_marked - self.marked_before;
        self.alpha = updated_alpha(self.alpha, marked, view.delivered - self.delivered_before);
        self.flight_end = view.next;
        self.delivered_before = view.delivered;
        self.marked_before = view.delivered_marked;
    }

    fn undone_window(&mut self, window: &Window, _: &View) -> u32 {
        window.size.max(self.before_reduction)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// DCTCP-1: RFC 8257 section 3.3 step 6, alpha = (1 - g) alpha + g M.
    #[test]
    fn alpha_follows_the_moving_average() {
        let mut alpha = ONE;
        let mut exact = 1.0;
        for _ in 0..60 {
            alpha = updated_alpha(alpha, 25, 100);
            exact += (0.25 - exact) / 16.0;
            assert!((f64::from(alpha) / f64::from(ONE) - exact).abs() < 1e-4, "{alpha} against {exact}");
        }
    }

    /// DCTCP-1
    #[test]
    fn alpha_reaches_zero_without_marks_and_one_with_all() {
        let after = |marked| (0..400).fold(ONE / 2, |alpha, _| updated_alpha(alpha, marked, 10));
        assert_eq!(after(0), 0);
        assert!(after(10) > ONE - 32);
    }

    /// DCTCP-2
    #[test]
    fn the_window_shrinks_by_half_of_alpha() {
        let mut dctcp = Dctcp { alpha: ONE / 4, ..Dctcp::new() };
        assert_eq!(dctcp.threshold(&Window::new(100)), 88);
        dctcp.alpha = ONE;
        assert_eq!(dctcp.threshold(&Window::new(100)), 50);
    }

    /// DCTCP-3
    #[test]
    fn loss_halves_whatever_alpha_is() {
        let mut dctcp = Dctcp { alpha: 0, ..Dctcp::new() };
        let mut window = Window::new(100);
        dctcp.on_timeout(&mut window);
        assert_eq!(window.threshold, 50);
    }
}
