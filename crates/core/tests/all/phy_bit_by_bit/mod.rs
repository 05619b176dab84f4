//! Lines with codes, bit by bit, against the crate's process, which draws the distances of failures.
//!
//! The slow model knows nothing of the crate but its settings. It draws each line symbol, carries each wrong bit to its code symbol,
//! and counts the wrong symbols of each codeword. Both have to lose frames by one law.
#![allow(missing_docs, unreachable_pub)]

mod compared;
mod ends;
mod limits;
mod line;
mod patterns;
mod statistics;
mod traffic;
