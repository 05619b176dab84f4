//! The pcapng file: one section, one interface, an enhanced packet block a frame.
//!
//! Source: the PCAP Next Generation capture file format (IETF draft-ietf-opsawg-pcapng). The bytes depend on the recorded frames
//! alone: little-endian on every machine, and no date.

use super::frame::{FrameBytes, SNAP_BYTES};
use crate::net::Direction;
use lossylink_core::time::Instant;
use lossylink_core::units::BitRate;
use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::pcapng::blocks::section_header::{SectionHeaderBlock, SectionHeaderOption};
use pcap_file::{DataLink, Endianness, PcapError};
use std::borrow::Cow;
use std::io::{self, Write};
use std::time::Duration;

/// The unit of timestamps, 10^-9 s: the finest that Wireshark keeps.
const NANOSECONDS: u8 = 9;
const PS_PER_NS: u64 = 1000;
/// The direction toward the near switch in a block's flags (section 4.3.1 of the draft).
const INBOUND: u32 = 0b01;
/// The direction away from the near switch in a block's flags.
pub const OUTBOUND: u32 = 0b10;
/// The mark in a block's flags that the check sequence does not match.
pub const CRC_ERROR: u32 = 1 << 24;
/// The comment of a corrupted frame.
const CORRUPTED: &str = "corrupted: the receiver drops this frame; shown as it was sent";

/// The facts that a capture states about itself.
#[derive(Clone, Copy, Debug)]
pub struct Description<'a> {
    /// Name of the hop.
    pub hop: &'a str,
    /// The experiment that was simulated.
    pub experiment: &'a str,
    /// Rate of the hop.
    pub rate: BitRate,
}

/// A capture file that is being written.
pub struct PcapngFile<W: Write> {
    /// The writer, or the error with which it failed.
    writer: Result<PcapNgWriter<W>, io::Error>,
}

impl<W: Write> PcapngFile<W> {
    /// Begins a file with its headers.
    pub fn begin(output: W, description: &Description<'_>) -> Self {
        let begun = section(output).and_then(|mut writer| {
            writer.write_pcapng_block(interface(description))?;
            Ok(writer)
        });
        Self { writer: begun.map_err(io_error) }
    }

    /// Appends a frame. Once a write has failed, no frame is written any more; [`Self::finish`] returns the error.
    pub fn append(&mut self, at: Instant, direction: Direction, arrives: bool, bytes: &FrameBytes) {
        let Ok(writer) = &mut self.writer else { return };
        let way = match direction {
            Direction::Forward => OUTBOUND,
            Direction::Backward => INBOUND,
        };
        let mut options = vec![EnhancedPacketOption::Flags(if arrives { way } else { way | CRC_ERROR })];
        if !arrives {
            options.push(EnhancedPacketOption::Comment(Cow::Borrowed(CORRUPTED)));
        }
        let block = EnhancedPacketBlock {
            interface_id: 0,
            timestamp: Duration::from_nanos(at.as_ps() / PS_PER_NS),
            original_len: bytes.length,
            data: Cow::Borrowed(bytes.kept()),
            options,
        };
        if let Err(error) = writer.write_pcapng_block(block) {
            self.writer = Err(io_error(error));
        }
    }

    /// Writes the buffered bytes, and returns the output.
    ///
    /// # Errors
    /// The first error of writing.
    pub fn finish(self) -> io::Result<W> {
        let mut output = self.writer?.into_inner();
        output.flush()?;
        Ok(output)
    }
}

fn section<W: Write>(output: W) -> Result<PcapNgWriter<W>, PcapError> {
    let application = concat!("lossylink ", env!("CARGO_PKG_VERSION"));
    let header = SectionHeaderBlock {
        endianness: Endianness::Little,
        options: vec![SectionHeaderOption::UserApplication(Cow::Borrowed(application))],
        ..SectionHeaderBlock::default()
    };
    PcapNgWriter::with_section_header(output, header)
}

fn interface(description: &Description<'_>) -> InterfaceDescriptionBlock<'static> {
    let words = format!("simulated {}, outbound is away from the sending host", description.experiment);
    InterfaceDescriptionBlock {
        linktype: DataLink::ETHERNET,
        snaplen: SNAP_BYTES as u32,
        options: vec![
            InterfaceDescriptionOption::IfName(Cow::Owned(description.hop.to_owned())),
            InterfaceDescriptionOption::IfDescription(Cow::Owned(words)),
            InterfaceDescriptionOption::IfSpeed(description.rate.as_bps()),
            InterfaceDescriptionOption::IfTsResol(NANOSECONDS),
        ],
    }
}

fn io_error(error: PcapError) -> io::Error {
    match error {
        PcapError::IoError(error) => error,
        other => io::Error::other(other),
    }
}
