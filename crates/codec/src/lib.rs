//! Forward error correction on real bytes.
//!
//! * [`Cauchy`]: the erasure code, a Cauchy matrix over GF(2^8).
//! * [`BlockEncoder`], [`BlockStore`]: a block of frames to parity, and back.
//! * [`Sender`], [`Receiver`]: the two ends of a protected link, frames in and frames out, around
//!   the engines of `lossylink-core`.
//! * [`FecLine`]: both ends as a line protocol of the core's guard.
//! * [`Gf256`]: the arithmetic of the code of a routed guard.
//! * `kernel`: sums of products for both, and all `unsafe` code of this crate.
//!
//! The protocol is `docs/protocols/fec.md`.

#![deny(unsafe_code)]

mod block_encoder;
mod block_store;
mod cauchy;
mod coded;
mod field;
mod kernel;
mod line;
mod receiver;
mod sender;

pub use block_encoder::BlockEncoder;
pub use block_store::{BlockStore, RebuildError};
pub use cauchy::Cauchy;
pub use coded::MAX_FRAME;
pub use field::Gf256;
pub use line::FecLine;
pub use receiver::{Delivery, Receiver};
pub use sender::Sender;
