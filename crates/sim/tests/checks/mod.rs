//! What holds of any run, for tests and for fuzzing.

pub(crate) mod draws;
pub(crate) mod ends;
#[cfg(feature = "fast")]
pub(crate) mod twins;
