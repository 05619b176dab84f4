//! The receiving end: which frames are passed, held, rebuilt or given up (FEC-10..17).

use super::decision::{Admission, DataVerdict, DecoderConfig, DecoderCounters, Output, Release};
use super::open_block::{OpenBlock, State};
use super::window::{Place, Window};
use super::{BlockNumber, DataStamp, ParityStamp};
use crate::time::Instant;
use crate::units::Bytes;

/// The decoding engine of one protected port. A decoder is not told the code in advance: parity
/// frames carry it (FEC-8).
///
/// For each frame the driver calls [`admit`](Self::admit), and polls until no output comes. Then it
/// calls [`handle_data`](Self::handle_data) or [`handle_parity`](Self::handle_parity), and polls
/// again. It polls also after [`handle_timeout`](Self::handle_timeout).
#[derive(Clone, Debug)]
pub struct Decoder {
    config: DecoderConfig,
    window: Window,
    /// The place of the next frame to leave, if frames leave in order.
    head: DataStamp,
    /// A block that can be rebuilt, if there is one.
    ready: Option<BlockNumber>,
    /// Rebuilt frames that have not left, and their block, if frames leave eagerly.
    leaving: (BlockNumber, u128),
    kept: Bytes,
    most_kept: Bytes,
    counters: DecoderCounters,
}

impl Decoder {
    /// Returns a decoder that has seen no frame.
    ///
    /// # Panics
    /// If the window is not a power of two, or so large that block numbers could be mistaken.
    pub fn new(config: DecoderConfig) -> Self {
        let start = DataStamp { block: BlockNumber::ZERO, index: 0 };
        Self {
            config,
            window: Window::new(config.window),
            head: start,
            ready: None,
            leaving: (BlockNumber::ZERO, 0),
            kept: Bytes::ZERO,
            most_kept: Bytes::ZERO,
            counters: DecoderCounters::default(),
        }
    }

    /// Returns the parameters of the decoder.
    pub const fn config(&self) -> &DecoderConfig {
        &self.config
    }

    /// Returns the counters of the decoder.
    pub const fn counters(&self) -> &DecoderCounters {
        &self.counters
    }

    /// Returns the bytes kept of open blocks, for which a driver must have room.
    pub const fn kept(&self) -> Bytes {
        self.kept
    }

    /// Returns the most bytes that were ever kept.
    pub const fn most_kept(&self) -> Bytes {
        self.most_kept
    }

    /// Whether `block` lies before the window: none of its frames will be asked for.
    pub fn has_left(&self, block: BlockNumber) -> bool {
        self.window.floor().block.ahead_of(block) > 0
    }

    /// Makes room for an arriving frame of `block` with `bytes`, by giving up older blocks.
    #[inline]
    pub fn admit(&mut self, block: BlockNumber, bytes: Bytes) -> Admission {
        match self.window.place(block) {
            Place::Inside => {}
            Place::Ahead => self.give_up_before(self.window.floor_for(block)),
            Place::Behind => {
                self.counters.stale += 1;
                return Admission::Stale;
            }
            Place::Far => return self.admit_far(block),
        }
        if self.kept + bytes > self.config.kept_max {
            self.make_room(bytes);
        }
        self.window.believe();
        Admission::Open
    }

    /// Decides about a data frame of an admitted block.
    #[inline]
    pub fn handle_data(&mut self, now: Instant, stamp: DataStamp, bytes: Bytes) -> DataVerdict {
        self.open(now, stamp.block);
        let block = self.window.get_mut(stamp.block);
        if !block.can_hold(stamp.index) {
            self.counters.inconsistent += 1;
            return DataVerdict::Drop;
        }
        if self.config.release == Release::InOrder && is_before(stamp, self.head) {
            self.counters.stale += 1;
            return DataVerdict::Drop;
        }
        if !block.insert_data(stamp.index) {
            self.counters.duplicates += 1;
            return DataVerdict::Drop;
        }
        self.counters.data += 1;
        self.keep(stamp.block, bytes);
        self.assess(stamp.block);
        match self.config.release {
            Release::InOrder if stamp != self.head => return DataVerdict::Hold,
            Release::InOrder => self.head.index += 1,
            Release::Eager => {}
        }
        DataVerdict::Forward
    }

    /// Takes in a parity frame of an admitted block. Returns whether the driver is to keep it.
    #[inline]
    pub fn handle_parity(&mut self, now: Instant, stamp: &ParityStamp, bytes: Bytes) -> bool {
        self.open(now, stamp.block);
        let block = self.window.get_mut(stamp.block);
        if block.state != State::Waiting {
            return false;
        }
        if !block.agrees(stamp.size, stamp.rows) {
            self.counters.inconsistent += 1;
            return false;
        }
        if !block.insert_parity(stamp.row, stamp.size, stamp.rows) {
            self.counters.duplicates += 1;
            return false;
        }
        self.counters.parity += 1;
        self.keep(stamp.block, bytes);
        self.assess(stamp.block);
        true
    }

    /// Returns when the oldest open block is given up; [`Instant::NEVER`] when none is open.
    #[inline]
    pub fn poll_timeout(&self) -> Instant {
        self.window.oldest_waiting().map_or(Instant::NEVER, |block| block.opened + self.config.timeout)
    }

    /// Gives up the blocks whose time has come (FEC-16).
    pub fn handle_timeout(&mut self, now: Instant) {
        while self.poll_timeout() <= now {
            self.give_up_oldest();
        }
    }

    /// Gives up the block that was to be rebuilt, because its rebuilt bytes failed their check: its
    /// missing frames stay missing (FEC-18).
    pub fn rebuild_failed(&mut self, block: BlockNumber) {
        let open = self.window.get_mut(block);
        open.undo_rebuild();
        open.state = State::GivenUp;
        let missing = open.missing().count_ones();
        self.leaving.1 = 0;
        self.counters.failed_rebuilds += 1;
        self.counters.rebuilt_blocks -= 1;
        self.counters.recovered -= u64::from(missing);
        self.counters.unrecovered += u64::from(missing);
    }

    /// Returns the next task of the driver.
    #[inline]
    pub fn poll(&mut self) -> Option<Output> {
        if let Some(block) = self.ready.take() {
            return Some(self.rebuild(block));
        }
        match self.config.release {
            Release::Eager => self.poll_rebuilt(),
            Release::InOrder => self.poll_in_order(),
        }
    }

    /// Admits a block with a number far from all others. One such frame alone is not believed; a
    /// second one with a number near it starts the window over (FEC-10).
    #[cold]
    fn admit_far(&mut self, block: BlockNumber) -> Admission {
        if !self.window.suspect(block) {
            self.counters.stale += 1;
            return Admission::Stale;
        }
        while self.window.oldest_waiting().is_some() {
            self.give_up_oldest();
        }
        self.counters.restarts += u64::from(self.window.has_started());
        self.window.restart_at(block);
        Admission::Open
    }

    /// Brings `block` into the window, if it lies ahead of the window.
    #[inline]
    fn open(&mut self, now: Instant, block: BlockNumber) {
        if self.window.open(now, block) && !self.window.contains(self.head.block) {
            self.head = self.window.floor();
        }
    }

    /// Counts the bytes of a frame that is kept for rebuilding.
    #[inline]
    fn keep(&mut self, block: BlockNumber, bytes: Bytes) {
        let block = self.window.get_mut(block);
        if block.state == State::Waiting {
            block.kept += bytes;
            self.kept += bytes;
            self.most_kept = self.most_kept.max(self.kept);
        }
    }

    /// Looks whether a block that got a frame is complete, or can be rebuilt.
    #[inline]
    fn assess(&mut self, number: BlockNumber) {
        let block = self.window.get_mut(number);
        if block.state != State::Waiting {
            return;
        }
        if block.is_complete() {
            self.complete(number);
        } else if block.is_decodable() {
            self.ready = Some(number);
        }
    }

    fn complete(&mut self, number: BlockNumber) {
        self.window.get_mut(number).state = State::Complete;
        if self.config.release == Release::Eager {
            self.free(number);
        }
        self.window.skip_settled();
    }

    /// Frees the bytes that are kept of the block.
    fn free(&mut self, number: BlockNumber) {
        let block = self.window.get_mut(number);
        self.kept -= block.kept;
        block.kept = Bytes::ZERO;
    }

    fn rebuild(&mut self, number: BlockNumber) -> Output {
        let block = self.window.get_mut(number);
        let (missing, size) = (block.missing(), block.size().expect("a block to be rebuilt has a size"));
        block.rebuild();
        self.leaving = (number, missing);
        self.counters.rebuilt_blocks += 1;
        self.counters.recovered += u64::from(missing.count_ones());
        self.complete(number);
        Output::Rebuild { block: number, size, missing }
    }

    fn give_up_before(&mut self, floor: BlockNumber) {
        while self.window.oldest_waiting().is_some() && floor.ahead_of(self.window.oldest()) > 0 {
            self.give_up_oldest();
        }
    }

    /// Gives up old blocks until `bytes` more can be kept (FEC-16).
    #[cold]
    fn make_room(&mut self, bytes: Bytes) {
        while self.kept + bytes > self.config.kept_max && self.window.oldest_waiting().is_some() {
            self.give_up_oldest();
        }
    }

    fn give_up_oldest(&mut self) {
        let number = self.window.oldest();
        let block = self.window.get_mut(number);
        block.state = State::GivenUp;
        self.counters.given_up_blocks += 1;
        self.counters.unrecovered += u64::from(block.missing().count_ones());
        self.free(number);
        self.window.skip_settled();
    }

    /// Releases rebuilt frames, lowest index first, if frames leave eagerly (FEC-14).
    #[inline]
    fn poll_rebuilt(&mut self) -> Option<Output> {
        let (block, mask) = self.leaving;
        if mask == 0 {
            return None;
        }
        self.leaving.1 &= mask - 1;
        Some(Output::Release { stamp: DataStamp { block, index: mask.trailing_zeros() as u8 } })
    }

    /// Releases the frame at the head, if it is there, and passes frames that are not waited for,
    /// if frames leave in order (FEC-15).
    fn poll_in_order(&mut self) -> Option<Output> {
        while self.window.contains(self.head.block) {
            let DataStamp { block: number, index } = self.head;
            let block = *self.window.get_mut(number);
            let rest = block.available().checked_shr(u32::from(index)).unwrap_or(0);
            if rest & 1 == 1 {
                self.head.index += 1;
                return Some(Output::Release { stamp: DataStamp { block: number, index } });
            }
            if block.state == State::Waiting {
                return None;
            }
            if rest != 0 {
                self.head.index += rest.trailing_zeros() as u8;
            } else if block.is_complete() || self.window.has_newer(number) {
                self.pass_block(number, &block);
            } else {
                return None;
            }
        }
        None
    }

    fn pass_block(&mut self, number: BlockNumber, block: &OpenBlock) {
        if block.kept > Bytes::ZERO {
            self.free(number);
        }
        self.head = DataStamp { block: number.next(), index: 0 };
    }
}

/// Whether `stamp` was sent before `other`.
#[inline]
fn is_before(stamp: DataStamp, other: DataStamp) -> bool {
    match stamp.block.ahead_of(other.block) {
        0 => stamp.index < other.index,
        ahead => ahead < 0,
    }
}
