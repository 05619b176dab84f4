//! The sending end of a protected link: original frames in, tagged frames and parity out.

use crate::block_encoder::BlockEncoder;
use lossylink_core::engine::fec::{
    BlockNumber, Code, DataStamp, Encoder, EncoderCounters, ErasureCode, ParityStamp,
};
use lossylink_core::time::{Duration, Instant};
use lossylink_core::units::Bytes;
use lossylink_core::wire::ethernet::{EtherType, EthernetHeader};
use lossylink_core::wire::fec::{FecHeader, FecPart};

/// The bytes of the two addresses of an Ethernet header.
const ADDRESSES: usize = 12;

/// The sending end. `transmit` takes each frame that goes onto the link, without its frame check
/// sequence.
#[derive(Clone, Debug)]
pub struct Sender<C> {
    encoder: Encoder,
    block: BlockEncoder<C>,
    /// Addresses of the last data frame, which the parity of its block takes.
    addresses: [u8; ADDRESSES],
    tagged: Vec<u8>,
}

impl<C: ErasureCode> Sender<C> {
    /// Returns a sender whose first block is `first`. A partial block is closed `flush` after its
    /// first frame.
    pub fn new(erasure: C, code: Code, flush: Duration, first: BlockNumber) -> Self {
        Self {
            encoder: Encoder::new(code, flush, first),
            block: BlockEncoder::new(erasure),
            addresses: [0; ADDRESSES],
            tagged: Vec::new(),
        }
    }

    /// Returns the counters of the encoder.
    pub const fn counters(&self) -> &EncoderCounters {
        self.encoder.counters()
    }

    /// Returns the number of data frames in the open block.
    pub const fn open_data(&self) -> u8 {
        self.encoder.open_block().0
    }

    /// Returns the code of the open block, or of the next block when none is open.
    pub const fn code(&self) -> Code {
        self.encoder.code()
    }

    /// Changes the code at the next block boundary (FEC-8).
    pub fn set_code(&mut self, code: Code) {
        self.encoder.set_code(code);
    }

    /// Returns when [`handle_timeout`](Self::handle_timeout) is due.
    pub const fn poll_timeout(&self) -> Instant {
        self.encoder.poll_timeout()
    }

    /// Sends a frame from the LAN, and parity if it ends a block.
    ///
    /// # Panics
    /// If the frame is shorter than an Ethernet header, or longer than
    /// [`MAX_FRAME`](crate::MAX_FRAME).
    pub fn send(&mut self, now: Instant, frame: &[u8], mut transmit: impl FnMut(&[u8])) {
        let rows = self.encoder.code().rows();
        let Some(stamp) = self.encoder.handle_data(now, Bytes(frame.len() as u64)) else {
            transmit(frame);
            return;
        };
        if stamp.index == 0 {
            self.block.begin(rows);
        }
        self.addresses.copy_from_slice(&frame[..ADDRESSES]);
        self.block.add(stamp.index, frame);
        self.tag(stamp);
        transmit(&self.tagged);
        self.send_parity(transmit);
    }

    /// Closes the open block if its time has come, and sends its parity (FEC-7).
    pub fn handle_timeout(&mut self, now: Instant, transmit: impl FnMut(&[u8])) {
        self.encoder.handle_timeout(now);
        self.send_parity(transmit);
    }

    fn send_parity(&mut self, mut transmit: impl FnMut(&[u8])) {
        while let Some(order) = self.encoder.poll_parity() {
            let ParityStamp { block, row, size, rows } = order.stamp;
            self.begin_tagged(FecHeader { block: block.bits(), part: FecPart::Parity { row, size, rows } });
            self.tagged.extend_from_slice(self.block.body(row));
            transmit(&self.tagged);
        }
    }

    /// Makes the tagged frame: the original with the header behind its addresses (FEC-2).
    fn tag(&mut self, DataStamp { block, index }: DataStamp) {
        let (ethernet, payload) =
            EthernetHeader::parse(self.block.frame(index)).expect("a frame of minimum length");
        let part = FecPart::Data { index, ethertype: ethernet.ethertype };
        let header = FecHeader { block: block.bits(), part };
        begin(&mut self.tagged, &self.addresses, header);
        self.tagged.extend_from_slice(payload);
    }

    fn begin_tagged(&mut self, header: FecHeader) {
        begin(&mut self.tagged, &self.addresses, header);
    }
}

/// Starts a frame on the link: addresses, EtherType and header.
fn begin(frame: &mut Vec<u8>, addresses: &[u8; ADDRESSES], header: FecHeader) {
    frame.clear();
    frame.extend_from_slice(addresses);
    frame.extend_from_slice(&EtherType::FEC.0.to_be_bytes());
    let mut bytes = [0; FecHeader::LEN];
    header.emit(&mut bytes);
    frame.extend_from_slice(&bytes);
}
