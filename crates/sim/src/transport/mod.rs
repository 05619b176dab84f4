//! End-host transports as values without I/O: a driver moves packets, tells the time and polls.

pub mod rdma;
pub mod tcp;
