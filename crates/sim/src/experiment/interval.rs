//! How far a mean of independent parts may be from what it estimates.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// The 97.5 % quantile of Student's law: half the width of a 95 % interval, in standard errors.
///
/// # Panics
/// If there is not one degree of freedom at least.
pub(super) fn student(degrees: f64) -> f64 {
    StudentsT::new(0.0, 1.0, degrees).expect("parts have a spread").inverse_cdf(0.975)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quantile_is_that_of_the_tables() {
        for (degrees, quantile) in [(1.0, 12.7062), (4.0, 2.7764), (20.0, 2.0860), (99.0, 1.9842)] {
            let found = student(degrees);
            assert!((found - quantile).abs() < 5e-5, "{found} at {degrees}");
        }
    }
}
