//! Worlds: a link, and what is connected to it.

pub mod stress;
