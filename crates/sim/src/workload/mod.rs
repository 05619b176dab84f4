//! The traffic that a network is offered: flow sizes, and start times of flows.
//!
//! A [`FlowSizes`] is a distribution, read from a table of points; a [`Workload`] draws from it flows
//! that begin at random (a Poisson process) at a set load.

mod arrivals;
mod flow_sizes;

pub use arrivals::{Arrival, LoadError, Workload};
pub use flow_sizes::{FlowSizeError, FlowSizeTable, FlowSizes};
