//! Deterministic packet-level simulator of corrupting links, their protections, and the transports above them. The simulator
//! never reads a clock.
//!
//! * [`kernel`]: the next event; [`net`]: frames, queues, links, protected links.
//! * [`transport`]: TCP and RDMA endpoints; [`world`]: hosts, paths and links put together.
//! * [`measure`]: histograms, percentiles, sequence checks.
//! * [`capture`]: the frames that pass on a hop, as a file for Wireshark.
//! * [`fabric`]: a whole fabric through its failures and repairs, without packets.
//! * [`config`], [`experiment`]: from a resolved scenario to a row of results.

pub mod capture;
pub mod config;
mod control;
pub mod experiment;
pub mod fabric;
pub mod fast;
pub mod kernel;
pub mod measure;
pub mod net;
mod numbers;
mod outcome;
pub mod transport;
pub mod workload;
pub mod world;

pub use control::{Control, Stop};
pub use experiment::{EmulatedPath, Simulation, copies_for, copies_leave, loss_design_effect, simulate};
#[cfg(feature = "parquet")]
pub use outcome::write_parquet;
pub use outcome::{Column, Columns, ConfigError, Outcome};

/// The toy protection of the guide `extending.md`, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guides/extending.md")]
struct ExtendingGuide;
