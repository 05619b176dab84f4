//! End-host transports as values without I/O: a driver moves packets, tells the time and polls.

mod departure;
pub mod rdma;
pub mod tcp;

pub use departure::Departure;
