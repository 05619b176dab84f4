//! The record of the frames that pass one host, as a pcap file with nanoseconds.

use lossylink_core::time::Instant;
use pcap_file::pcap::{PcapHeader, PcapPacket, PcapWriter};
use pcap_file::{DataLink, Endianness, TsResolution};
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::Path;
use std::time::Duration;

/// The most bytes of a frame that are kept: the headers of Ethernet, IP and TCP with all options.
const HEAD_BYTES: usize = 128;

pub(crate) struct Record {
    file: PcapWriter<BufWriter<File>>,
    /// The first error of writing.
    problem: Option<io::Error>,
}

impl Record {
    pub(crate) fn create(name: &Path) -> io::Result<Self> {
        let header = PcapHeader {
            datalink: DataLink::ETHERNET,
            ts_resolution: TsResolution::NanoSecond,
            endianness: Endianness::Little,
            ..PcapHeader::default()
        };
        let file =
            PcapWriter::with_header(BufWriter::new(File::create(name)?), header).map_err(io::Error::other)?;
        Ok(Self { file, problem: None })
    }

    /// Returns the first bytes of a frame, as many as are kept.
    pub(crate) fn head<'a>(&self, frame: &'a [u8]) -> &'a [u8] {
        &frame[..frame.len().min(HEAD_BYTES)]
    }

    pub(crate) fn add(&mut self, at: Instant, head: &[u8], bytes: u32) {
        let packet = PcapPacket::new(Duration::from_nanos(at.as_ps() / 1_000), bytes, head);
        if let Err(error) = self.file.write_packet(&packet) {
            self.problem.get_or_insert(io::Error::other(error));
        }
    }

    pub(crate) fn finish(self) -> io::Result<()> {
        match self.problem {
            Some(problem) => Err(problem),
            None => self.file.into_writer().into_inner().map(drop).map_err(Into::into),
        }
    }
}
