//! The outlet for the control sets of one end: the most urgent leaves first, and control sets keep a
//! distance.

use super::{Control, Receiver, Sender};
use crate::time::{Duration, Instant};
use crate::units::{BitRate, Bytes};
use core::ops::RangeInclusive;

/// The distances between two control sets that can be set, in bytes (S2).
pub const SPACING_BYTES: RangeInclusive<u64> = 400..=16_384;
/// The default distance between two control sets (S2).
pub const SPACING_DEFAULT: Bytes = Bytes(2_048);

/// Returns how long a distance of `spacing` lasts at `rate` (LLR-7).
///
/// # Panics
/// If the distance is not in [`SPACING_BYTES`].
pub fn spacing_time(spacing: Bytes, rate: BitRate) -> Duration {
    assert!(SPACING_BYTES.contains(&spacing.0), "a spacing of {spacing} is not within {SPACING_BYTES:?}");
    spacing / rate
}

/// The outlet for the control sets that one end sends: those of its own sender and those of its
/// receiver, which serves the other direction (LLR-8).
///
/// The driver calls [`poll_control`](Self::poll_control) after every call that changes the sender or
/// the receiver, and when [`poll_timeout`](Self::poll_timeout) has come.
#[derive(Clone, Copy, Debug)]
pub struct Outlet {
    spacing: Duration,
    ready: Instant,
}

impl Outlet {
    /// Returns an outlet that leaves `spacing` from the start of a control set to the start of the
    /// next (LLR-7).
    pub const fn new(spacing: Duration) -> Self {
        Self { spacing, ready: Instant::ZERO }
    }

    /// Takes the most urgent control set that may leave at `now`. An end that protects one
    /// direction only has no sender, or no receiver.
    #[inline]
    pub fn poll_control(
        &mut self,
        now: Instant,
        sender: Option<&mut Sender>,
        receiver: Option<&mut Receiver>,
    ) -> Option<Control> {
        if now < self.ready {
            return None;
        }
        // The most urgent control set leaves first: INIT, then a control set of the receiver
        // (LLR-8).
        let init = sender.and_then(|sender| sender.poll_init(now));
        let control = init.or_else(|| receiver.and_then(|receiver| receiver.poll_control(now)))?;
        self.ready = now + self.spacing;
        Some(control)
    }

    /// Returns when a waiting control set may leave; [`Instant::NEVER`] when none waits.
    #[inline]
    pub fn poll_timeout(&self, sender: Option<&Sender>, receiver: Option<&Receiver>) -> Instant {
        let waits = sender.is_some_and(Sender::wants_init) || receiver.is_some_and(Receiver::wants_control);
        if waits { self.ready } else { Instant::NEVER }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{SPACING, config, number, us};
    use super::super::{Condition, Init};
    use super::*;
    use alloc::vec::Vec;

    /// Returns the control sets that leave an outlet as soon as they may, each with its time.
    fn drain(outlet: &mut Outlet, sender: &mut Sender, receiver: &mut Receiver) -> Vec<(Instant, Control)> {
        let mut sets = Vec::new();
        loop {
            let due = outlet.poll_timeout(Some(sender), Some(receiver));
            if due.is_never() {
                return sets;
            }
            if due > us(0) {
                let early = due - Duration::from_ps(1);
                assert_eq!(outlet.poll_control(early, Some(sender), Some(receiver)), None);
            }
            sets.extend(outlet.poll_control(due, Some(sender), Some(receiver)).map(|set| (due, set)));
        }
    }

    // LLR-7, LLR-8
    #[test]
    fn control_sets_keep_their_distance_and_their_rank() {
        let mut outlet = Outlet::new(SPACING);
        let (mut sender, mut receiver) = (Sender::new(config()), Receiver::new());
        let init = Init { number: number(1), data: 1 };
        sender.start(us(0), init);
        receiver.handle_control(us(0), Control::Init(Init::default()));
        for bits in [0, 2] {
            receiver.handle_frame(us(0), Some(number(bits)), Condition::Good);
        }
        let expected = [Control::Init(init), Control::Nack(number(0)), Control::InitEcho(Init::default())];
        let at = |step: u64| us(0) + SPACING * step;
        let expected: Vec<_> = (0..).map(at).zip(expected).collect();
        assert_eq!(drain(&mut outlet, &mut sender, &mut receiver), expected);
        receiver.handle_frame(at(2), Some(number(1)), Condition::Good);
        assert_eq!(drain(&mut outlet, &mut sender, &mut receiver), [(at(3), Control::Ack(number(1)))]);
    }

    // LLR-7
    #[test]
    fn the_default_spacing_is_164_ns_at_100g() {
        let rate = BitRate::from_gbps(100);
        assert_eq!(spacing_time(SPACING_DEFAULT, rate), Duration::from_ps(163_840));
        assert_eq!(spacing_time(Bytes(400), rate), Duration::from_ns(32));
    }

    // LLR-7
    #[test]
    #[should_panic(expected = "is not within")]
    fn a_spacing_out_of_range_is_refused() {
        spacing_time(Bytes(399), BitRate::from_gbps(100));
    }
}
