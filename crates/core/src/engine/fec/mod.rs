//! Forward error correction by systematic block codes, after Wharf (NetCompute 2018).
//!
//! ```text
//!           number, copy at once             pass, hold, rebuild
//!  frames --> [Encoder] == data, parity ==> [Decoder] --> next hop
//!              flush timer                   window of open blocks
//! ```
//!
//! The protocol stands as numbered rules in `docs/protocols/fec.md`; code and tests cite them as
//! `FEC-n`. The engines count frames and never see bytes. A driver keeps the frames, and rebuilds
//! missing frames with an [`ErasureCode`] when the decoder says that a block can be rebuilt.

mod block_number;
mod code;
mod decision;
mod decoder;
mod encoder;
mod erasure;
mod open_block;
pub mod report;
mod window;

#[cfg(test)]
mod tests;

pub use block_number::BlockNumber;
pub use code::{Code, CodeError};
pub use decision::{Admission, DataVerdict, DecoderConfig, DecoderCounters, Output, Release};
pub use decoder::Decoder;
pub use encoder::{DataStamp, Encoder, EncoderCounters, ParityOrder, ParityStamp};
pub use erasure::ErasureCode;
