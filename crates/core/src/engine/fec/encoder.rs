//! The sending end: numbers data frames, closes blocks, orders their parity (FEC-2..8).

use super::{BlockNumber, Code};
use crate::time::{Duration, Instant};
use crate::units::Bytes;
use crate::wire::fec::{CODED_PREFIX, FecHeader};
use crate::wire::{MINIMUM_FRAME, padded};

/// The place of a data frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataStamp {
    /// Number of the frame's block.
    pub block: BlockNumber,
    /// Place of the data frame in the block.
    pub index: u8,
}

/// The place of a parity frame, and the code of its block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParityStamp {
    /// Number of the frame's block.
    pub block: BlockNumber,
    /// Place of the parity frame among the parity frames of the block.
    pub row: u8,
    /// Data frames of the block.
    pub size: u8,
    /// Parity frames of the block.
    pub rows: u8,
}

/// A parity frame to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParityOrder {
    /// Place of the parity frame, and the code of its block.
    pub stamp: ParityStamp,
    /// Length of the longest data frame of the block, padded to the minimum (FEC-4).
    pub longest: Bytes,
}

impl ParityOrder {
    /// Returns the length of the coded body (FEC-4).
    pub const fn body(&self) -> Bytes {
        Bytes(self.longest.0 + CODED_PREFIX as u64)
    }

    /// Returns the length of the whole frame, without its frame check sequence (FEC-4).
    pub const fn frame(&self) -> Bytes {
        Bytes(self.longest.0 + FecHeader::PARITY_OVERHEAD.0)
    }
}

/// Events at the encoder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EncoderCounters {
    /// Data frames numbered.
    pub data: u64,
    /// Parity frames ordered.
    pub parity: u64,
    /// Blocks closed because they were full.
    pub full_blocks: u64,
    /// Blocks closed before they were full, by the timer or by a change of code.
    pub partial_blocks: u64,
}

/// The encoding engine of one protected port.
///
/// The driver calls [`handle_data`](Self::handle_data) for each frame and
/// [`handle_timeout`](Self::handle_timeout) when [`poll_timeout`](Self::poll_timeout) has come, and
/// after either takes parity frames until [`poll_parity`](Self::poll_parity) has none.
#[derive(Clone, Debug)]
pub struct Encoder {
    code: Code,
    next_code: Code,
    flush: Duration,
    block: BlockNumber,
    /// Data frames in the open block.
    size: u8,
    longest: Bytes,
    deadline: Instant,
    /// The next parity frame of the block that was closed last. None is left when `row == rows`.
    closed: ParityOrder,
    counters: EncoderCounters,
}

impl Encoder {
    /// Returns an encoder whose first block is `first`. A partial block is closed `flush` after its
    /// first frame (FEC-7).
    ///
    /// # Panics
    /// If the flush timer would never expire.
    pub fn new(code: Code, flush: Duration, first: BlockNumber) -> Self {
        assert!(flush < Duration::MAX, "a partial block must be closed some time");
        let stamp = ParityStamp { block: first, row: 0, size: 0, rows: 0 };
        Self {
            code,
            next_code: code,
            flush,
            block: first,
            size: 0,
            longest: MINIMUM_FRAME,
            deadline: Instant::NEVER,
            closed: ParityOrder { stamp, longest: MINIMUM_FRAME },
            counters: EncoderCounters::default(),
        }
    }

    /// Returns the code of the open block, or of the next block when none is open.
    pub const fn code(&self) -> Code {
        self.code
    }

    /// Returns the counters of the encoder.
    pub const fn counters(&self) -> &EncoderCounters {
        &self.counters
    }

    /// Returns the number of data frames in the open block, and the length of the longest, padded
    /// to the minimum.
    pub const fn open_block(&self) -> (u8, Bytes) {
        (self.size, self.longest)
    }

    /// Changes the code at the next block boundary: at once when no block is open (FEC-8).
    pub fn set_code(&mut self, code: Code) {
        self.next_code = code;
        if self.size == 0 {
            self.code = code;
        }
    }

    /// Numbers a data frame of `frame` bytes (without its frame check sequence), which leaves at once
    /// with the returned stamp (FEC-2). Returns `None` when the code has no parity, so that the frame
    /// leaves untagged (FEC-1).
    ///
    /// # Panics
    /// If parity of the block before has not been taken.
    #[inline]
    pub fn handle_data(&mut self, now: Instant, frame: Bytes) -> Option<DataStamp> {
        assert!(!self.has_parity(), "parity leaves before the next block begins");
        if self.code.rows() == 0 {
            return None;
        }
        let stamp = DataStamp { block: self.block, index: self.size };
        if self.size == 0 {
            self.deadline = now + self.flush;
            self.longest = MINIMUM_FRAME;
        }
        self.longest = self.longest.max(padded(frame));
        self.size += 1;
        self.counters.data += 1;
        if self.size == self.code.size() {
            self.counters.full_blocks += 1;
            self.close();
        }
        Some(stamp)
    }

    /// Returns when the open block is closed, full or not; [`Instant::NEVER`] when none is open.
    #[inline]
    pub const fn poll_timeout(&self) -> Instant {
        self.deadline
    }

    /// Closes the open block if its time has come (FEC-7).
    pub fn handle_timeout(&mut self, now: Instant) {
        if self.deadline <= now {
            self.flush();
        }
    }

    /// Closes the open block, if there is one, before it is full.
    pub fn flush(&mut self) {
        if self.size > 0 {
            self.counters.partial_blocks += 1;
            self.close();
        }
    }

    /// Takes the next parity frame of the block that was closed (FEC-6).
    #[inline]
    pub fn poll_parity(&mut self) -> Option<ParityOrder> {
        if !self.has_parity() {
            return None;
        }
        let order = self.closed;
        self.closed.stamp.row += 1;
        self.counters.parity += 1;
        Some(order)
    }

    /// Whether parity of the block that was closed last has not been taken.
    #[inline]
    const fn has_parity(&self) -> bool {
        self.closed.stamp.row < self.closed.stamp.rows
    }

    /// Closes the block with the frames that it has. The next block takes the code chosen last
    /// (FEC-6, FEC-8).
    fn close(&mut self) {
        let stamp = ParityStamp { block: self.block, row: 0, size: self.size, rows: self.code.rows() };
        self.closed = ParityOrder { stamp, longest: self.longest };
        self.block = self.block.next();
        self.size = 0;
        self.deadline = Instant::NEVER;
        self.code = self.next_code;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    const FLUSH: Duration = Duration::from_us(20);

    fn at(us: u64) -> Instant {
        Instant::ZERO + Duration::from_us(us)
    }

    fn code(size: u32, rows: u32) -> Code {
        Code::new(size, rows).unwrap()
    }

    fn encoder(size: u32, rows: u32) -> Encoder {
        Encoder::new(code(size, rows), FLUSH, BlockNumber::ZERO)
    }

    fn parity(encoder: &mut Encoder) -> Vec<ParityOrder> {
        core::iter::from_fn(|| encoder.poll_parity()).collect()
    }

    // FEC-2, FEC-4, FEC-6, FEC-20
    #[test]
    fn parity_follows_the_last_data_frame_and_is_as_long_as_the_longest() {
        let mut encoder = encoder(3, 2);
        for (index, frame) in [42, 1514, 60].into_iter().enumerate() {
            assert_eq!(parity(&mut encoder), []);
            let stamp = encoder.handle_data(at(0), Bytes(frame));
            assert_eq!(stamp, Some(DataStamp { block: BlockNumber::ZERO, index: index as u8 }));
        }
        let orders = parity(&mut encoder);
        assert_eq!(orders.len(), 2);
        for (row, order) in (0..).zip(orders) {
            assert_eq!(order.stamp, ParityStamp { block: BlockNumber::ZERO, row, size: 3, rows: 2 });
            assert_eq!((order.body(), order.frame()), (Bytes(1520), Bytes(1540)));
        }
        let next = encoder.handle_data(at(1), Bytes(60)).unwrap();
        assert_eq!(next, DataStamp { block: BlockNumber::new(1), index: 0 });
    }

    // FEC-4: the longest frame of the block before does not count, and short frames count as
    // padded.
    #[test]
    fn a_block_of_short_frames_has_short_parity() {
        let mut encoder = encoder(1, 1);
        for (frame, body) in [(9000, 9006), (42, 66), (60, 66), (61, 67)] {
            encoder.handle_data(at(0), Bytes(frame));
            assert_eq!(parity(&mut encoder)[0].body(), Bytes(body));
        }
    }

    // FEC-7
    #[test]
    fn a_partial_block_is_closed_by_the_timer() {
        let mut encoder = encoder(25, 5);
        assert!(encoder.poll_timeout().is_never());
        encoder.handle_data(at(3), Bytes(100));
        encoder.handle_data(at(22), Bytes(100));
        assert_eq!(encoder.poll_timeout(), at(23));
        encoder.handle_timeout(at(23) - Duration::from_ps(1));
        assert_eq!(encoder.poll_parity(), None);
        encoder.handle_timeout(at(23));
        let orders = parity(&mut encoder);
        assert_eq!((orders.len(), orders[0].stamp.size), (5, 2));
        assert!(encoder.poll_timeout().is_never());
        assert_eq!(encoder.counters().partial_blocks, 1);
    }

    // FEC-8
    #[test]
    fn a_new_code_waits_for_the_block_to_end() {
        let mut encoder = encoder(2, 1);
        encoder.handle_data(at(0), Bytes(60));
        encoder.set_code(code(1, 3));
        encoder.handle_data(at(0), Bytes(60));
        assert_eq!(parity(&mut encoder).len(), 1);
        encoder.handle_data(at(0), Bytes(60));
        let orders = parity(&mut encoder);
        assert_eq!((orders.len(), orders[0].stamp.size), (3, 1));
        encoder.set_code(code(7, 7));
        assert_eq!(encoder.code(), code(7, 7));
    }

    // FEC-1
    #[test]
    fn without_parity_nothing_is_tagged() {
        let mut encoder = encoder(5, 0);
        assert_eq!(encoder.handle_data(at(0), Bytes(60)), None);
        assert!(encoder.poll_timeout().is_never());
    }

    // FEC-9
    #[test]
    fn block_numbers_wrap() {
        let last = BlockNumber::ZERO.back(1);
        let mut encoder = Encoder::new(code(1, 1), FLUSH, last);
        assert_eq!(encoder.handle_data(at(0), Bytes(60)).unwrap().block, last);
        parity(&mut encoder);
        assert_eq!(encoder.handle_data(at(0), Bytes(60)).unwrap().block, BlockNumber::ZERO);
    }
}
