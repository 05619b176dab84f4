//! The receiving end of a protected link: tagged frames and parity in, original frames out.

use crate::block_store::BlockStore;
use crate::coded::MAX_FRAME;
use lossylink_core::engine::fec::{
    Admission, BlockNumber, DataStamp, DataVerdict, Decoder, DecoderConfig, DecoderCounters, ErasureCode,
    Output, ParityStamp,
};
use lossylink_core::time::Instant;
use lossylink_core::units::Bytes;
use lossylink_core::wire::WireError;
use lossylink_core::wire::ethernet::{EtherType, EthernetHeader};
use lossylink_core::wire::fec::{FecHeader, FecPart};

/// The bytes of the two addresses of an Ethernet header.
const ADDRESSES: usize = 12;

/// A frame that leaves the receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery<'a> {
    /// The frame, without its frame check sequence.
    pub frame: &'a [u8],
    /// Place of the frame; `None` for a frame that was not tagged.
    pub stamp: Option<DataStamp>,
    /// Whether the frame was rebuilt.
    pub is_rebuilt: bool,
}

/// The receiving end. `deliver` takes each frame that goes on into the LAN.
#[derive(Clone, Debug)]
pub struct Receiver<C> {
    decoder: Decoder,
    code: C,
    /// A slot for each block of the window.
    slots: Vec<Slot>,
    original: Vec<u8>,
}

/// Room for the frames of one block.
#[derive(Clone, Debug, Default)]
struct Slot {
    block: BlockNumber,
    store: BlockStore,
    /// Data frames that were rebuilt, a bit each.
    rebuilt: u128,
}

impl<C: ErasureCode> Receiver<C> {
    /// Returns a receiver that has seen no frame.
    pub fn new(erasure: C, config: DecoderConfig) -> Self {
        Self {
            decoder: Decoder::new(config),
            code: erasure,
            slots: vec![Slot::default(); config.window as usize],
            original: Vec::new(),
        }
    }

    /// Returns the counters of the decoder.
    pub const fn counters(&self) -> &DecoderCounters {
        self.decoder.counters()
    }

    /// Returns the bytes kept of open blocks, and the most bytes that were ever kept.
    pub const fn kept(&self) -> (Bytes, Bytes) {
        (self.decoder.kept(), self.decoder.most_kept())
    }

    /// Returns when [`handle_timeout`](Self::handle_timeout) is due.
    pub fn poll_timeout(&self) -> Instant {
        self.decoder.poll_timeout()
    }

    /// Takes a frame from the link. A frame that is not tagged passes as it is (FEC-19).
    ///
    /// # Errors
    /// If the frame has the EtherType of this protocol and is malformed; it is dropped.
    pub fn receive(
        &mut self,
        now: Instant,
        frame: &[u8],
        mut deliver: impl FnMut(Delivery<'_>),
    ) -> Result<(), WireError> {
        let (ethernet, rest) = EthernetHeader::parse(frame)?;
        if ethernet.ethertype != EtherType::FEC {
            deliver(Delivery { frame, stamp: None, is_rebuilt: false });
            return Ok(());
        }
        let (header, body) = FecHeader::parse(rest)?;
        if body.len() > MAX_FRAME {
            let value = body.len() as u32;
            return Err(WireError::Invalid { header: "FEC", field: "length", value });
        }
        let block = BlockNumber::new(header.block);
        let bytes = Bytes(body.len() as u64);
        if self.decoder.admit(block, bytes) == Admission::Stale {
            return Ok(());
        }
        self.obey(&mut deliver);
        match header.part {
            FecPart::Data { index, ethertype } => {
                self.restore(&frame[..ADDRESSES], ethertype, body);
                self.take_data(now, DataStamp { block, index }, bytes, &mut deliver);
            }
            FecPart::Parity { row, size, rows } => {
                let stamp = ParityStamp { block, row, size, rows };
                if self.decoder.handle_parity(now, &stamp, bytes) {
                    self.slot(block).store.keep_body(row, body);
                }
            }
        }
        self.obey(&mut deliver);
        Ok(())
    }

    /// Gives up the blocks whose time has come.
    pub fn handle_timeout(&mut self, now: Instant, mut deliver: impl FnMut(Delivery<'_>)) {
        self.decoder.handle_timeout(now);
        self.obey(&mut deliver);
    }

    /// Makes the original frame from the addresses, the EtherType and the payload that the link
    /// carried.
    fn restore(&mut self, addresses: &[u8], ethertype: EtherType, payload: &[u8]) {
        self.original.clear();
        self.original.extend_from_slice(addresses);
        self.original.extend_from_slice(&ethertype.0.to_be_bytes());
        self.original.extend_from_slice(payload);
    }

    fn take_data(
        &mut self,
        now: Instant,
        stamp: DataStamp,
        bytes: Bytes,
        deliver: &mut impl FnMut(Delivery<'_>),
    ) {
        let verdict = self.decoder.handle_data(now, stamp, bytes);
        if verdict == DataVerdict::Drop {
            return;
        }
        let original = std::mem::take(&mut self.original);
        self.slot(stamp.block).store.keep_data(stamp.index, &original);
        if verdict == DataVerdict::Forward {
            deliver(Delivery { frame: &original, stamp: Some(stamp), is_rebuilt: false });
        }
        self.original = original;
    }

    /// Carries out the tasks of the decoder.
    fn obey(&mut self, deliver: &mut impl FnMut(Delivery<'_>)) {
        while let Some(output) = self.decoder.poll() {
            match output {
                Output::Rebuild { block, size, missing } => self.rebuild(block, size, missing),
                Output::Release { stamp } => {
                    let slot = self.slot(stamp.block);
                    let is_rebuilt = slot.rebuilt >> stamp.index & 1 == 1;
                    let frame = slot.store.frame(stamp.index);
                    deliver(Delivery { frame, stamp: Some(stamp), is_rebuilt });
                }
            }
        }
    }

    fn rebuild(&mut self, block: BlockNumber, size: u8, missing: u128) {
        let place = self.place(block);
        let slot = &mut self.slots[place];
        match slot.store.rebuild(&self.code, size, missing) {
            Ok(()) => slot.rebuilt = missing,
            Err(_) => self.decoder.rebuild_failed(block),
        }
    }

    fn place(&self, block: BlockNumber) -> usize {
        block.bits() as usize % self.slots.len()
    }

    /// Returns the slot of `block`, emptied if it was another block's.
    fn slot(&mut self, block: BlockNumber) -> &mut Slot {
        let place = self.place(block);
        let slot = &mut self.slots[place];
        if slot.block != block {
            slot.block = block;
            slot.store.clear();
            slot.rebuilt = 0;
        }
        slot
    }
}
