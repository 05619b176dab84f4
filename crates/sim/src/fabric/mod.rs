//! A fabric of switches through a year of failures and repairs: the losses and the capacity that corrupting links cost
//! it under CorrOpt alone, and with a protection of the links that stay in service.
//!
//! The module models no packets. The performance of a protection on a link comes from points at which the protection
//! was tried.
//!
//! Sources: LinkGuardian, SIGCOMM 2023, section 4.8; CorrOpt, SIGCOMM 2017, section 7.1; the authors' public simulator.

mod exact;
mod least;
mod optimizer;
mod performance;
mod pipes;
mod pod;
mod topology;
mod trace;
mod year;

pub use exact::Sum;
pub use performance::{Between, Performance, Point};
pub use topology::{Place, Topology};
pub use trace::{DrawnRepairs, LEAD_S, RepairTimes, Wear, failures};
pub use year::{Counts, Failure, Plan, Protection, Repairs, Row, Side, Year};
