//! The summary of values that are gone through in ascending order, so that they need not be in memory.
//!
//! Each figure has the bits that [`super::Description`] gives, because sums are taken in ascending order.

use super::describe::{Sorted, percentile_sorted, places};
use std::io;

/// Values that can be gone through in ascending order, again and again.
pub trait Ascending {
    /// Returns how many values there are.
    fn count(&self) -> u64;

    /// Hands each value to `visit`, in ascending order, and how many times the value comes there.
    ///
    /// # Errors
    /// The system's error if values cannot be read.
    fn for_each(&self, visit: impl FnMut(f64, u64)) -> io::Result<()>;
}

/// Summary of values, in their unit.
#[derive(Clone, Debug)]
pub struct Figures {
    picked: Picked,
    mean: f64,
    standard_deviation: f64,
}

impl Figures {
    /// Describes values; `None` if there are no values. The description has the quantiles of `fractions` alone.
    ///
    /// # Errors
    /// The system's error if values cannot be read.
    pub fn of(values: &impl Ascending, fractions: &[f64]) -> io::Result<Option<Self>> {
        let count = values.count();
        if count == 0 {
            return Ok(None);
        }
        let mut picked = Picked::new(count as usize, fractions);
        let mut sum = 0.0;
        values.for_each(|value, times| {
            picked.pass(value, times);
            add(&mut sum, value, times);
        })?;
        let mean = sum / count as f64;
        let mut standard_deviation = f64::NAN;
        if count > 1 {
            let mut squares = 0.0;
            values.for_each(|value, times| add(&mut squares, (value - mean).powi(2), times))?;
            standard_deviation = (squares / (count - 1) as f64).sqrt();
        }
        Ok(Some(Self { picked, mean, standard_deviation }))
    }

    /// Returns one of the quantiles that were asked for.
    ///
    /// # Panics
    /// If the quantile was not asked for.
    pub fn percentile(&self, fraction: f64) -> f64 {
        percentile_sorted(&self.picked, fraction)
    }

    /// Returns the smallest value.
    pub fn min(&self) -> f64 {
        self.picked.value(0)
    }

    /// Returns the largest value.
    pub fn max(&self) -> f64 {
        self.picked.value(self.picked.count - 1)
    }

    /// Returns the mean value.
    pub const fn mean(&self) -> f64 {
        self.mean
    }

    /// Returns the sample's standard deviation, with n - 1 in the denominator; NaN for one value.
    pub const fn standard_deviation(&self) -> f64 {
        self.standard_deviation
    }
}

/// Adds a value `times` times, each time with its own rounding.
fn add(sum: &mut f64, value: f64, times: u64) {
    (0..times).for_each(|_| *sum += value);
}

/// Values at chosen places, among `count` values in ascending order.
#[derive(Clone, Debug)]
struct Picked {
    count: usize,
    /// The chosen places, in ascending order. `values` has the values of the first of them; the other places wait for their value.
    places: Vec<usize>,
    values: Vec<f64>,
    passed: usize,
}

impl Picked {
    /// Chooses the first and the last place, and the places between which these quantiles lie.
    fn new(count: usize, fractions: &[f64]) -> Self {
        let mut chosen = vec![0, count - 1];
        fractions.iter().for_each(|&fraction| chosen.extend(places(count, fraction).0));
        chosen.sort_unstable();
        chosen.dedup();
        Self { count, values: Vec::with_capacity(chosen.len()), places: chosen, passed: 0 }
    }

    /// Notes a value that comes `times` times.
    fn pass(&mut self, value: f64, times: u64) {
        self.passed += times as usize;
        while self.places.get(self.values.len()).is_some_and(|&place| place < self.passed) {
            self.values.push(value);
        }
    }
}

impl Sorted for Picked {
    fn count(&self) -> usize {
        self.count
    }

    fn value(&self, place: usize) -> f64 {
        self.values[self.places.binary_search(&place).expect("the place was chosen")]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::Description;
    use proptest::prelude::*;

    /// Values, and how many times each comes.
    struct Repeated(Vec<(f64, u64)>);

    impl Ascending for Repeated {
        fn count(&self) -> u64 {
            self.0.iter().map(|(_, times)| times).sum()
        }

        fn for_each(&self, mut visit: impl FnMut(f64, u64)) -> io::Result<()> {
            self.0.iter().for_each(|&(value, times)| visit(value, times));
            Ok(())
        }
    }

    proptest! {
        #[test]
        fn figures_are_those_of_the_values_in_memory(
            mut values in prop::collection::vec((0f64..1e6, 1u64..20), 1..100),
            fractions in prop::collection::vec(0f64..=1.0, 0..5),
        ) {
            values.sort_unstable_by(|one, other| one.0.total_cmp(&other.0));
            let all = values.iter().flat_map(|&(value, times)| (0..times).map(move |_| value));
            let expected = Description::of(all.collect()).unwrap();
            let found = Figures::of(&Repeated(values), &fractions).unwrap().unwrap();
            let of = |min: f64, mean: f64, max: f64, deviation: f64| [min, mean, max, deviation].map(f64::to_bits);
            prop_assert_eq!(
                of(found.min(), found.mean(), found.max(), found.standard_deviation()),
                of(expected.min(), expected.mean(), expected.max(), expected.standard_deviation())
            );
            for fraction in fractions {
                prop_assert_eq!(found.percentile(fraction).to_bits(), expected.percentile(fraction).to_bits());
            }
        }
    }

    #[test]
    fn nothing_has_no_figures() {
        assert!(Figures::of(&Repeated(vec![]), &[0.5]).unwrap().is_none());
    }
}
