//! Reno: half the window on loss, growth by one segment a window otherwise (RFC 5681). Acknowledged
//! segments are counted as in Linux, so that delayed acknowledgements do not slow the growth down.

use super::super::window::Window;
use super::{Algorithm, View};

/// The Reno algorithm, which keeps no state of its own.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Reno;

impl Algorithm for Reno {
    // TCP-49
    fn threshold(&mut self, window: &Window) -> u32 {
        super::half(window)
    }

    fn grow(&mut self, window: &mut Window, acknowledged: u32, _: &View) {
        super::grow_as_reno(window, acknowledged);
    }

    fn grows_as_reno(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// TCP-49
    #[test]
    fn loss_halves_down_to_two() {
        assert_eq!(Reno.threshold(&Window::new(41)), 20);
        assert_eq!(Reno.threshold(&Window::new(2)), 2);
    }
}
