//! The receiving end: which frames pass, wait, are rebuilt or given up (FEC-10..17).

use super::open_block::{OpenBlock, State};
use super::window::{Place, Window};
use super::{BlockNumber, DataStamp, ParityStamp};
use crate::time::{Duration, Instant};
use crate::units::Bytes;

/// When intact frames leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Release {
    /// At once; rebuilt ones follow late (FEC-14).
    Eager,
    /// In the order of sending; a hole holds what follows it (FEC-15).
    InOrder,
}

/// Parameters of the decoder.
#[derive(Clone, Copy, Debug)]
pub struct DecoderConfig {
    /// When intact frames leave.
    pub release: Release,
    /// How many blocks may be open at a time, a power of two (FEC-11). On a first-in first-out
    /// link one is enough: a frame of the next block tells that nothing of the last will come.
    pub window: u32,
    /// How long a block may wait for its frames (FEC-16).
    pub timeout: Duration,
    /// How many bytes may be kept of blocks that are open (FEC-16).
    pub kept_max: Bytes,
}

/// Whether a frame's block can be dealt with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// Yes, when what [`Decoder::poll`] has to say was done.
    Open,
    /// No: the block has left the window, or its number is not to be believed. Drop the frame.
    Stale,
}

/// What becomes of an intact data frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataVerdict {
    /// Forward it, and keep a copy to rebuild others from.
    Forward,
    /// Keep it; it is forwarded when [`Decoder::poll`] says so.
    Hold,
    /// Drop it: a duplicate, too late, or a contradiction.
    Drop,
}

/// What the decoder wants done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// Rebuild the `missing` data frames (a bit each) of a block with `size` of them. Should that
    /// fail, call [`Decoder::rebuild_failed`] before the next poll.
    Rebuild {
        /// The block.
        block: BlockNumber,
        /// Data frames of the block.
        size: u8,
        /// Those that are missing.
        missing: u128,
    },
    /// Forward a frame that was held or rebuilt.
    Release {
        /// Which.
        stamp: DataStamp,
    },
}

/// Events at the decoder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DecoderCounters {
    /// Intact data frames taken in.
    pub data: u64,
    /// Intact parity frames taken in.
    pub parity: u64,
    /// Data frames rebuilt.
    pub recovered: u64,
    /// Blocks in which frames were rebuilt.
    pub rebuilt_blocks: u64,
    /// Blocks given up, because of the window, the time or the bytes.
    pub given_up_blocks: u64,
    /// Data frames known to be missing when their block was given up.
    pub unrecovered: u64,
    /// Frames that were there already.
    pub duplicates: u64,
    /// Frames of blocks that had left the window, or behind what had been released.
    pub stale: u64,
    /// Frames that contradict what is known of their block.
    pub inconsistent: u64,
    /// Rebuilt blocks whose bytes failed their check (FEC-18).
    pub failed_rebuilds: u64,
    /// Times that the block numbers started over (FEC-10).
    pub restarts: u64,
}

/// The decoding engine of one protected port. It needs no code: parity frames tell it (FEC-8).
///
/// For each frame the driver calls [`admit`](Self::admit); polls until nothing comes; calls
/// [`handle_data`](Self::handle_data) or [`handle_parity`](Self::handle_parity); and polls again.
/// It polls also after [`handle_timeout`](Self::handle_timeout).
#[derive(Clone, Debug)]
pub struct Decoder {
    config: DecoderConfig,
    window: Window,
    /// In order: the next frame to leave.
    head: DataStamp,
    /// A block that can be rebuilt.
    ready: Option<BlockNumber>,
    /// Eager: rebuilt frames that have not left, and their block.
    leaving: (BlockNumber, u128),
    kept: Bytes,
    most_kept: Bytes,
    counters: DecoderCounters,
}

impl Decoder {
    /// A decoder that has seen nothing.
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

    /// Its parameters.
    pub const fn config(&self) -> &DecoderConfig {
        &self.config
    }

    /// Counts of what happened so far.
    pub const fn counters(&self) -> &DecoderCounters {
        &self.counters
    }

    /// Bytes kept of open blocks: what a driver must have room for.
    pub const fn kept(&self) -> Bytes {
        self.kept
    }

    /// The most bytes that were ever kept.
    pub const fn most_kept(&self) -> Bytes {
        self.most_kept
    }

    /// Whether `block` lies before the window: none of its frames will be asked for.
    pub fn has_left(&self, block: BlockNumber) -> bool {
        self.window.floor().block.ahead_of(block) > 0
    }

    /// A frame of `block` with `bytes` arrives: makes room for it, by giving up older blocks.
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

    /// A data frame of an admitted block.
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

    /// A parity frame of an admitted block; true when the driver is to keep it.
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

    /// When the oldest open block is given up; [`Instant::NEVER`] when none is open.
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

    /// The bytes of the block that was to be rebuilt failed their check: what was missing stays
    /// missing (FEC-18).
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

    /// What is to be done next.
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

    /// A number far from all others: one alone is not believed, a second one near it starts the
    /// window over (FEC-10).
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

    /// Brings `block` into the window, if it is ahead of it.
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

    /// Looks whether a block that got a frame is complete, or can be made so.
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

    /// Nothing of the block is kept any more.
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

    /// Eager: rebuilt frames leave, lowest index first (FEC-14).
    #[inline]
    fn poll_rebuilt(&mut self) -> Option<Output> {
        let (block, mask) = self.leaving;
        if mask == 0 {
            return None;
        }
        self.leaving.1 &= mask - 1;
        Some(Output::Release { stamp: DataStamp { block, index: mask.trailing_zeros() as u8 } })
    }

    /// In order: the head leaves if it is there, and passes what is not waited for (FEC-15).
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
