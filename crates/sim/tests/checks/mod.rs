//! Checks that hold of any run, for tests and for fuzzing.

pub(crate) mod draws;
pub(crate) mod ends;
pub(crate) mod twins;
