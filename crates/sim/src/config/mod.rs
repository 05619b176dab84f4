//! What a simulation is told: resolved scenarios in base units, as the Python package hands them
//! over.

mod switch;

#[cfg(test)]
pub(crate) use switch::tests::profile as switch_profile;
pub use switch::{RateThresholds, SwitchProfile};
