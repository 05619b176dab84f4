//! The label that travels with a frame from the encoder to the decoder.

use crate::net::Frame;
use crate::net::coded::{HEADER_OCTETS, Label, shown};
use crate::net::tap::Content;
use crate::net::wire::{Kind, UNNAMED};
use lossylink_core::engine::fec::{DataStamp, ParityStamp};
use lossylink_core::loss::Stake;
use lossylink_core::time::Instant;

/// The label that travels with a frame.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::net) struct Tag {
    /// The time at which the frame came to the encoder.
    pub(super) entered: Instant,
    pub(super) part: Part,
}

/// The role of a frame in the block code.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum Part {
    /// No role: the frame is not tagged (FEC-1).
    #[default]
    Untagged,
    Data(DataStamp),
    Parity(ParityStamp),
}

impl Label for Tag {
    #[inline]
    fn kind(&self) -> Kind {
        match self.part {
            Part::Untagged => Kind::Data { header_octets: 0 },
            Part::Data(_) => Kind::Data { header_octets: HEADER_OCTETS },
            Part::Parity(_) => Kind::Parity,
        }
    }

    fn stake(&self) -> Stake {
        match self.part {
            Part::Untagged => Stake::Fresh { unit: UNNAMED },
            Part::Data(stamp) => Stake::Member {
                unit: u64::from(stamp.block.bits()),
                index: Some(u32::from(stamp.index)),
                left: None,
            },
            Part::Parity(stamp) => Stake::Member {
                unit: u64::from(stamp.block.bits()),
                index: None,
                left: Some(u32::from(stamp.rows - stamp.row)),
            },
        }
    }

    fn shown<P>(&self, frame: Frame<P>) -> Content<P> {
        match self.part {
            Part::Untagged => Content::Bare(frame),
            Part::Data(stamp) => shown::data(frame, stamp.block.bits(), stamp.index),
            Part::Parity(stamp) => {
                shown::parity(frame.octets, stamp.block.bits(), (stamp.row, stamp.size, stamp.rows))
            }
        }
    }
}
