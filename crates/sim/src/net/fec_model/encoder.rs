//! The model's encoder: registers that number packets, and clones of a block's last packet (FEC-24).

use super::{FecModelOptions, ParitySize, Tag};
use lossylink_core::engine::fec::Code;
use lossylink_core::time::{Duration, Instant};

/// The encoder of the model.
#[derive(Clone, Debug)]
pub(super) struct ModelEncoder {
    code: Code,
    next_code: Code,
    parity_size: ParitySize,
    flush: Option<Duration>,
    /// The registers: block, packet index, and the lengths of the last and the longest packet.
    block: u64,
    index: u8,
    last_octets: u32,
    longest_octets: u32,
    flush_at: Instant,
    /// The clones of the closed block: the tag of the next clone, and the octets of each. No clone is left when the index has
    /// passed the last.
    clone: Tag,
    clone_octets: u32,
    blocks: u64,
    parity: u64,
}

impl ModelEncoder {
    pub(super) fn new(options: &FecModelOptions) -> Self {
        Self {
            code: options.code,
            next_code: options.code,
            parity_size: options.parity_size,
            flush: options.flush,
            block: 0,
            index: 0,
            last_octets: 0,
            longest_octets: 0,
            flush_at: Instant::NEVER,
            clone: Tag::default(),
            clone_octets: 0,
            blocks: 0,
            parity: 0,
        }
    }

    /// Returns how many blocks were closed, and how many parity packets were made.
    pub(super) const fn made(&self) -> (u64, u64) {
        (self.blocks, self.parity)
    }

    /// Returns how many data packets the open block has.
    pub(super) fn open_data(&self) -> u64 {
        u64::from(self.index)
    }

    /// Returns the code of the open block, or of the next block.
    pub(super) const fn code(&self) -> Code {
        self.code
    }

    /// Numbers a packet that leaves, `octets` long with its headers.
    #[inline]
    pub(super) fn handle_data(&mut self, now: Instant, octets: u32) -> Tag {
        let (size, rows) = (self.code.size(), self.code.rows());
        let tag = Tag { entered: now, block: self.block, index: self.index, size, rows };
        if rows == 0 {
            return tag;
        }
        if self.index == 0 {
            self.flush_at = self.flush.map_or(Instant::NEVER, |flush| now + flush);
            self.longest_octets = 0;
        }
        self.index += 1;
        self.last_octets = octets;
        self.longest_octets = self.longest_octets.max(octets);
        if self.index == size {
            self.close();
        }
        tag
    }

    /// Returns the next clone.
    #[inline]
    pub(super) fn poll_parity(&mut self, now: Instant) -> Option<(Tag, u32)> {
        if self.clone.index == self.clone.size + self.clone.rows {
            return None;
        }
        let tag = Tag { entered: now, ..self.clone };
        self.clone.index += 1;
        self.parity += 1;
        Some((tag, self.clone_octets))
    }

    /// Returns when a partial block is closed, if the options say so.
    #[inline]
    pub(super) const fn poll_flush(&self) -> Instant {
        self.flush_at
    }

    /// Closes the open block if its time has come.
    pub(super) fn flush(&mut self, now: Instant) {
        if self.flush_at <= now {
            self.close();
        }
    }

    /// Changes the code at the next block boundary, or now when no block is open (FEC-8).
    pub(super) fn set_code(&mut self, code: Code) {
        self.next_code = code;
        if self.index == 0 {
            self.code = code;
        }
    }

    fn close(&mut self) {
        let (size, rows) = (self.index, self.code.rows());
        self.clone = Tag { entered: Instant::ZERO, block: self.block, index: size, size, rows };
        self.clone_octets = match self.parity_size {
            ParitySize::LastPacket => self.last_octets,
            ParitySize::LongestPacket => self.longest_octets,
        };
        self.blocks += 1;
        self.block += 1;
        self.index = 0;
        self.flush_at = Instant::NEVER;
        self.code = self.next_code;
    }
}
