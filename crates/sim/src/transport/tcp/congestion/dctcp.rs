//! DCTCP: reductions in proportion to the share of marked segments (RFC 8257, with the integers of Linux).

use super::super::recovery_state::State;
use super::super::window::Window;
use super::{Algorithm, View};

/// Fractional bits of alpha (Linux `DCTCP_MAX_ALPHA`, 1024).
const ALPHA_BITS: u32 = 10;
/// One, in the fixed point of alpha: its greatest value and its first (Linux `dctcp_alpha_on_init`).
const ONE: u32 = 1 << ALPHA_BITS;
/// The gain g = 1/16 as a shift (RFC 8257 section 4.2).
const GAIN_SHIFT: u32 = 4;

/// The marking estimate of one sender.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Dctcp {
    /// The estimated share of marked segments, in 1/1024.
    alpha: u32,
    /// The segment whose acknowledgement ends the observation window.
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

    /// Halves the window on loss, which is no marking. (DCTCP-3)
    fn halve(&mut self, window: &mut Window) {
        self.before_reduction = window.size;
        window.threshold = super::half(window);
    }
}

/// Returns alpha after a flight of `delivered` segments of which `marked` were marked. (DCTCP-1)
fn updated_alpha(alpha: u32, marked: u64, delivered: u64) -> u32 {
    let step = alpha >> GAIN_SHIFT;
    // DCTCP-5: below 16 the step is zero, and all of alpha goes (Linux `min_not_zero`).
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

    fn grows_as_reno(&self) -> bool {
        true
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

    /// Returns alpha after each of the next flights, of `delivered` segments each, `marked` of them marked.
    fn flights<const FLIGHTS: usize>(first: u32, marked: u64, delivered: u64) -> [u32; FLIGHTS] {
        let mut alpha = first;
        [(); FLIGHTS].map(|()| {
            alpha = updated_alpha(alpha, marked, delivered);
            alpha
        })
    }

    /// DCTCP-1: 1024 - 64 = 960, 960 - 60 = 900, 900 - 56 = 844, ...: each flight a sixteenth, rounded down.
    #[test]
    fn without_marks_alpha_falls_by_a_sixteenth_rounded_down() {
        assert_eq!(flights(ONE, 0, 10), [960, 900, 844, 792, 743, 697, 654, 614]);
    }

    /// DCTCP-1, DCTCP-5: 17 - 1 = 16, 16 - 1 = 15, and 15 / 16 rounds to no step: all of it goes.
    #[test]
    fn a_small_alpha_goes_at_once() {
        assert_eq!(flights(17, 0, 10), [16, 15, 0, 0]);
        assert_eq!(flights(1, 0, 10), [0]);
    }

    /// DCTCP-1: a quarter marked adds 25 * 64 / 100 = 16 a flight: from one alpha falls to 271, where a sixteenth is
    /// 16 too; from zero it rises to 256.
    #[test]
    fn a_quarter_marked_holds_alpha_at_a_quarter() {
        assert_eq!(flights(ONE, 25, 100), [976, 931, 889, 850, 813, 779, 747, 717]);
        assert_eq!(flights::<200>(ONE, 25, 100)[199], 271);
        assert_eq!(flights(0, 25, 100), [16, 31, 46, 60, 73, 85, 96, 106]);
        assert_eq!(flights::<200>(0, 25, 100)[199], 256);
    }

    /// DCTCP-5: one of 64 adds one, one of 65 nothing; and one added to nothing is lost in the next flight, so alpha
    /// is 1 for as long as each flight has its mark.
    #[test]
    fn a_share_below_a_sixty_fourth_vanishes() {
        assert_eq!(flights(0, 1, 64), [1, 1, 1]);
        assert_eq!(flights(0, 1, 65), [0, 0, 0]);
        assert_eq!(flights(20, 1, 65), [19, 18, 17, 16, 15, 0]);
    }

    /// DCTCP-1: all marked adds 64 a flight, and one is the most: 1023 - 63 + 64 = 1024.
    #[test]
    fn alpha_is_at_most_one() {
        assert_eq!(flights(1023, 10, 10), [1024, 1024]);
        assert_eq!(flights(960, 10, 10), [964]);
        // Echoes without a delivery divide by one.
        assert_eq!(flights(0, 1, 0), [64]);
    }

    /// DCTCP-1: a flight ends with the segment that was next when the last one ended.
    #[test]
    fn alpha_moves_once_a_flight() {
        let mut dctcp = Dctcp::new();
        let mut hears = |una, next, delivered, delivered_marked| {
            let view = View { una, next, delivered, delivered_marked, ..View::example() };
            dctcp.on_ack(&view);
            dctcp.alpha
        };
        assert_eq!(hears(1, 10, 1, 0), 960, "the first acknowledgement ends the empty flight before it");
        assert_eq!(hears(9, 20, 9, 4), 960, "within the flight");
        assert_eq!(hears(10, 20, 11, 5), 960 - 60 + 5 * 64 / 10, "of ten delivered five were marked");
    }

    /// DCTCP-2: 100 * 256 / 2048 = 12.5, rounded down; with a small alpha a small window is not reduced.
    #[test]
    fn the_window_shrinks_by_half_of_alpha() {
        let threshold = |size, alpha| Dctcp { alpha, ..Dctcp::new() }.threshold(&Window::new(size));
        assert_eq!(threshold(100, 256), 88);
        assert_eq!(threshold(100, ONE), 50);
        assert_eq!((threshold(100, 20), threshold(100, 21)), (100, 99), "100 * 21 / 2048 is above one");
        assert_eq!((threshold(3, ONE), threshold(1, ONE)), (2, 2), "two at least");
    }

    /// DCTCP-3
    #[test]
    fn loss_halves_whatever_alpha_is() {
        let mut dctcp = Dctcp { alpha: 0, ..Dctcp::new() };
        let mut window = Window::new(101);
        assert_eq!(dctcp.threshold(&window), 101);
        dctcp.on_timeout(&mut window);
        assert_eq!((window.threshold, dctcp.alpha), (50, 0));
        let halved = |from| {
            let mut window = Window::new(100);
            window.threshold = 90;
            let mut dctcp = Dctcp { alpha: 0, ..Dctcp::new() };
            dctcp.on_state(from, State::Recovery, &mut window, &View::example());
            (window.threshold, dctcp.undone_window(&Window::new(20), &View::example()))
        };
        assert_eq!(halved(State::Open), (50, 100));
        assert_eq!(halved(State::Reduced), (50, 100), "even during a reduction for marks");
        assert_eq!(halved(State::Recovery), (90, 20));
        dctcp.on_state(State::Open, State::Loss, &mut window, &View::example());
        assert_eq!(window.threshold, 50, "a timeout's state changes nothing more");
    }
}
