//! Frames sent into one port and counted at another: which of them arrive, once, unaltered, in order.

mod ledger;
mod load;

pub use ledger::{Ledger, Tally};
pub use load::{Load, LoadPorts, Outcome, run};
