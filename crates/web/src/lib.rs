//! The simulator for a page in a browser.
//!
//! A page asks in JSON and is answered in JSON. [`question`] has the questions:
//!
//! * [`run`]: one experiment under one protection; [`flows`] tells the completion times of its flows.
//! * [`watch`]: the frames of a short run, hop by hop; [`words`] says what a frame is.
//! * [`line`]: the share of frames that a line loses, at several bit error ratios.
//!
//! `exports` is the boundary: plain memory, without a library of bindings, because a question and an answer are all that cross it.
//! Only `exports` has `unsafe` code, and only a build for WebAssembly has `exports`.

pub mod configuration;
#[cfg(target_family = "wasm")]
mod exports;
pub mod flows;
pub mod line;
pub mod question;
pub mod run;
pub mod watch;
pub mod words;

pub use question::answer;
