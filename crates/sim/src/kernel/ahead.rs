//! Conservative look-ahead: how far a place may go on before an event at another place concerns it.
//!
//! An event at one place comes to another after some time at the least, straight or through places between. Until then
//! the other place goes on without asking, and sees the events that it would see one by one, in the same order.
//!
//! ```text
//!        2 us           3 us
//!  near ------> link ---------> far      next event: near at 10 us, link at 11 us
//!        5 us         dwell 0            far may go on until 11 us + 3 us, just short of it
//!       <------
//! ```

use lossylink_core::time::{Duration, Instant};

/// Returns the last instant before an event at `at` can have come `lead` far.
#[inline]
pub const fn just_short_of(at: Instant, lead: Duration) -> Instant {
    at.saturating_add(lead).just_before()
}

/// The least times between `N` places: from an event at one place to an event that it causes at another. At equal times a place
/// with a lower number goes first.
#[derive(Clone, Copy, Debug)]
pub struct Leads<const N: usize> {
    /// The least time from each place to each; the diagonal is the least time of a way round.
    least: [[Duration; N]; N],
}

impl<const N: usize> Leads<N> {
    /// Builds the least times between places between which events go along `steps`: from one place, to another, in this time at
    /// the least. An event that comes to a place causes no event there before the place's `dwell` has passed; never, if the dwell
    /// is [`Duration::MAX`].
    pub fn along(steps: &[(usize, usize, Duration)], dwell: [Duration; N]) -> Self {
        let mut least = [[Duration::MAX; N]; N];
        for &(from, to, time) in steps {
            least[from][to] = least[from][to].min(time);
        }
        for (via, &dwell) in dwell.iter().enumerate() {
            for from in 0..N {
                for to in 0..N {
                    let through =
                        [least[from][via], dwell, least[via][to]].into_iter().fold(Duration::ZERO, sum);
                    least[from][to] = least[from][to].min(through);
                }
            }
        }
        Self { least }
    }

    /// Returns the instant up to and including which `place` may go on, if each place has its next event at its instant of `next`.
    #[inline]
    pub fn until(&self, place: usize, next: &[Instant; N]) -> Instant {
        let mut until = Instant::NEVER;
        for (other, &at) in next.iter().enumerate() {
            let unheard = just_short_of(at, self.least[other][place]);
            until = until.min(if other < place { unheard } else { unheard.max(at) });
        }
        until
    }
}

/// Returns the sum of two times, [`Duration::MAX`] at the most.
const fn sum(one: Duration, other: Duration) -> Duration {
    Duration::from_ps(one.as_ps().saturating_add(other.as_ps()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PLACES: usize = 4;

    fn ps(ps: u64) -> Instant {
        Instant::from_ps(ps)
    }

    /// Returns every event that an event at the place and instant `from` can cause up to a horizon: its place, and its time.
    fn consequences(
        steps: &[(usize, usize, Duration)],
        dwell: [Duration; PLACES],
        from: (usize, Instant),
        horizon: Instant,
    ) -> Vec<(usize, Instant)> {
        let (mut found, mut open) = (Vec::new(), vec![from]);
        while let Some((place, at)) = open.pop() {
            for &(_, to, time) in steps.iter().filter(|&&(start, ..)| start == place) {
                let comes = at.saturating_add(time);
                if comes > horizon || found.contains(&(to, comes)) {
                    continue;
                }
                found.push((to, comes));
                if dwell[to] < Duration::MAX {
                    open.push((to, comes.saturating_add(dwell[to])));
                }
            }
        }
        found
    }

    proptest! {
        /// No event that a next event causes comes to a place by the instant up to which the place may go on. Such an event comes
        /// right after, unless the place may go on for ever.
        #[test]
        fn a_place_goes_on_until_it_could_hear(
            steps in prop::collection::vec((0..PLACES, 0..PLACES, 1u64..9), 0..9),
            dwell in prop::array::uniform4(prop::option::weighted(0.8, 0u64..5)),
            next in prop::array::uniform4(0u64..20),
            place in 0..PLACES,
        ) {
            let steps: Vec<_> = steps.into_iter().map(|(from, to, time)| (from, to, Duration::from_ps(time))).collect();
            let dwell = dwell.map(|dwell| dwell.map_or(Duration::MAX, Duration::from_ps));
            let next = next.map(ps);
            let until = Leads::along(&steps, dwell).until(place, &next);
            let heard = next.iter().enumerate().flat_map(|from| consequences(&steps, dwell, (from.0, *from.1), ps(60)));
            let first = heard.filter(|&(to, _)| to == place).map(|(_, at)| at).min();
            prop_assert_eq!(first, Some(until).filter(|&until| until < ps(60)).map(|until| until + Duration::from_ps(1)));
        }
    }

    #[test]
    fn on_a_tie_the_lower_number_goes_first() {
        let leads = Leads::along(&[(0, 1, Duration::ZERO), (1, 0, Duration::ZERO)], [Duration::MAX; 2]);
        assert_eq!(leads.until(0, &[ps(5), ps(5)]), ps(5));
        assert_eq!(leads.until(1, &[ps(5), ps(5)]), ps(4));
    }
}
