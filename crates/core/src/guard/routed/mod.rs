//! The routed guard's protection: numbered datagrams, which are asked for again while a repetition is useful
//! (`docs/protocols/routed.md`).
//!
//! ```text
//!   handle_lan --> [Sending: number, keep, pay] --to_link-->     to_lan <-- [Receiver: holes]        <-- handle_link
//!                          |^ request, how far                                 | request, how far  ^
//!                          |+--------------------------------------------------+                   |
//!                          +-- repairs sent ahead: [code::Pace] --> [code::Decoder] ---------------+
//! ```
//!
//! [`Receiver`] decides which frames are handed on and asked for. [`Waits`] decides how long to wait. [`Credit`] decides
//! which repetitions and repairs are paid. [`code`] rebuilds lost frames without asking. [`headers`] leaves out the
//! headers that the other end knows. [`RoutedLine`] puts them to work on whole frames.

pub mod code;
mod credit;
mod frames;
pub mod headers;
mod line;
mod receiver;
mod report;
mod sending;
mod waits;

pub use credit::Credit;
pub use line::RoutedLine;
pub use receiver::{Receiver, ReceiverCounters};
pub use waits::Waits;

/// Returns the number that ends in these 24 bits and is nearest to `near`; numbers below zero do not exist.
fn extended(low: u32, near: u64) -> u64 {
    const SPAN: u64 = 1 << crate::wire::routed::NUMBER_BITS;
    let ahead = u64::from(low).wrapping_sub(near) % SPAN;
    if ahead < SPAN / 2 { near + ahead } else { (near + ahead).saturating_sub(SPAN) }
}

/// Returns the low 24 bits of a number.
fn low(number: u64) -> u32 {
    (number % (1 << crate::wire::routed::NUMBER_BITS)) as u32
}
