//! Dialogues with the decoder, and its laws under any order of frames.

use super::*;
use crate::time::{Duration, Instant};
use crate::units::Bytes;
use alloc::vec;
use alloc::vec::Vec;
use proptest::prelude::*;

const FRAME: Bytes = Bytes(1514);
const TIMEOUT: Duration = Duration::from_us(100);

/// A decoder with a driver that keeps only the order in which frames leave.
struct Receiver {
    decoder: Decoder,
    left: Vec<(u32, u8)>,
    rebuilt: Vec<(u32, u128)>,
    can_rebuild: bool,
}

impl Receiver {
    fn new(release: Release, window: u32) -> Self {
        Self::with_room(release, window, Bytes(u64::MAX / 2))
    }

    fn with_room(release: Release, window: u32, kept_max: Bytes) -> Self {
        let decoder = Decoder::new(DecoderConfig { release, window, timeout: TIMEOUT, kept_max });
        Self { decoder, left: vec![], rebuilt: vec![], can_rebuild: true }
    }

    fn poll(&mut self) {
        while let Some(output) = self.decoder.poll() {
            match output {
                Output::Rebuild { block, missing, .. } if self.can_rebuild => {
                    self.rebuilt.push((block.bits(), missing));
                }
                Output::Rebuild { block, .. } => self.decoder.rebuild_failed(block),
                Output::Release { stamp } => self.left.push((stamp.block.bits(), stamp.index)),
            }
        }
    }

    fn data_at(&mut self, us: u64, block: u32, index: u8) {
        let stamp = DataStamp { block: BlockNumber::new(block), index };
        if self.decoder.admit(stamp.block, FRAME) == Admission::Open {
            self.poll();
            if self.decoder.handle_data(at(us), stamp, FRAME) == DataVerdict::Forward {
                self.left.push((block, index));
            }
            self.poll();
        }
    }

    fn data(&mut self, block: u32, indices: impl IntoIterator<Item = u8>) {
        indices.into_iter().for_each(|index| self.data_at(0, block, index));
    }

    fn parity(&mut self, block: u32, row: u8, size: u8, rows: u8) {
        let stamp = ParityStamp { block: BlockNumber::new(block), row, size, rows };
        if self.decoder.admit(stamp.block, FRAME) == Admission::Open {
            self.poll();
            self.decoder.handle_parity(at(0), &stamp, FRAME);
            self.poll();
        }
    }

    fn timeout(&mut self, us: u64) {
        self.decoder.handle_timeout(at(us));
        self.poll();
    }
}

fn at(us: u64) -> Instant {
    Instant::ZERO + Duration::from_us(us)
}

// FEC-13, FEC-14
#[test]
fn eager_frames_leave_at_once_and_rebuilt_ones_late() {
    let mut receiver = Receiver::new(Release::Eager, 1);
    receiver.data(0, [0, 3, 4]);
    assert_eq!(receiver.left, [(0, 0), (0, 3), (0, 4)]);
    receiver.parity(0, 0, 5, 2);
    assert_eq!(receiver.rebuilt, []);
    receiver.parity(0, 1, 5, 2);
    assert_eq!(receiver.rebuilt, [(0, 0b00110)]);
    assert_eq!(receiver.left[3..], [(0, 1), (0, 2)]);
    assert_eq!(receiver.decoder.kept(), Bytes::ZERO);
}

// FEC-13, FEC-15
#[test]
fn in_order_frames_wait_behind_a_hole() {
    let mut receiver = Receiver::new(Release::InOrder, 1);
    receiver.data(0, [0, 2, 3, 4]);
    assert_eq!(receiver.left, [(0, 0)]);
    receiver.parity(0, 0, 5, 1);
    assert_eq!(receiver.left, [(0, 0), (0, 1), (0, 2), (0, 3), (0, 4)]);
    assert_eq!(receiver.decoder.counters().recovered, 1);
    assert_eq!(receiver.decoder.kept(), Bytes::ZERO);
}

// FEC-11, FEC-15: on a first-in first-out link a frame of the next block tells that the block
// before has ended.
#[test]
fn the_next_block_ends_the_wait() {
    let mut receiver = Receiver::new(Release::InOrder, 1);
    receiver.data(0, [0, 2, 3]);
    receiver.data(1, [0]);
    assert_eq!(receiver.left, [(0, 0), (0, 2), (0, 3), (1, 0)]);
    receiver.parity(0, 0, 4, 1);
    assert_eq!(receiver.decoder.counters().recovered, 0);
    assert_eq!(receiver.decoder.counters().stale, 1);
}

// FEC-11: with a window of two, late parity still helps, and order is kept across blocks.
#[test]
fn a_wider_window_waits_for_late_parity() {
    let mut receiver = Receiver::new(Release::InOrder, 2);
    receiver.data(0, [0, 2]);
    receiver.data(1, [0, 1]);
    assert_eq!(receiver.left, [(0, 0)]);
    receiver.parity(0, 0, 3, 1);
    assert_eq!(receiver.left, [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1)]);
}

// FEC-11: a block that was lost whole is passed when the window leaves it.
#[test]
fn a_lost_block_is_passed() {
    let mut receiver = Receiver::new(Release::InOrder, 1);
    receiver.data(0, [0]);
    receiver.parity(0, 0, 1, 1);
    receiver.data(3, [0]);
    receiver.parity(3, 0, 1, 1);
    receiver.data(4, [0]);
    assert_eq!(receiver.left, [(0, 0), (3, 0), (4, 0)]);
}

// FEC-12
#[test]
fn duplicates_are_dropped() {
    for release in [Release::Eager, Release::InOrder] {
        let mut receiver = Receiver::new(release, 1);
        receiver.data(0, [0, 0, 1]);
        receiver.parity(0, 0, 3, 1);
        receiver.data(0, [2, 1]);
        receiver.parity(0, 0, 3, 1);
        assert_eq!(receiver.left, [(0, 0), (0, 1), (0, 2)]);
        let counters = receiver.decoder.counters();
        assert_eq!(counters.duplicates + counters.stale, 3);
    }
}

// FEC-16
#[test]
fn the_timer_bounds_the_wait() {
    let mut receiver = Receiver::new(Release::InOrder, 4);
    receiver.data_at(7, 0, 1);
    receiver.data_at(50, 0, 2);
    assert_eq!(receiver.decoder.poll_timeout(), at(107));
    receiver.timeout(106);
    assert_eq!(receiver.left, []);
    receiver.timeout(107);
    assert_eq!(receiver.left, [(0, 1), (0, 2)]);
    assert!(receiver.decoder.poll_timeout().is_never());
    // A frame that comes in order after that leaves at once; a frame that comes before it has come
    // too late.
    receiver.data_at(108, 0, 3);
    receiver.data_at(109, 0, 0);
    assert_eq!(receiver.left[2..], [(0, 3)]);
    assert_eq!(receiver.decoder.counters().unrecovered, 1);
}

// FEC-16
#[test]
fn the_bytes_bound_the_wait() {
    let mut receiver = Receiver::with_room(Release::InOrder, 4, Bytes(3 * FRAME.0));
    receiver.data(0, [1, 2, 3]);
    assert_eq!(receiver.left, []);
    receiver.data(1, [0]);
    assert_eq!(receiver.left, [(0, 1), (0, 2), (0, 3), (1, 0)]);
    assert_eq!(receiver.decoder.kept(), FRAME);
}

// FEC-17
#[test]
fn contradictions_are_dropped() {
    let mut receiver = Receiver::new(Release::Eager, 1);
    receiver.data(0, [4]);
    receiver.parity(0, 0, 4, 1);
    receiver.parity(0, 0, 6, 2);
    receiver.parity(0, 1, 7, 2);
    receiver.data(0, [6]);
    assert_eq!(receiver.decoder.counters().inconsistent, 3);
    assert_eq!(receiver.left, [(0, 4)]);
}

// FEC-18
#[test]
fn a_failed_rebuild_leaves_nothing_behind() {
    for release in [Release::Eager, Release::InOrder] {
        let mut receiver = Receiver::new(release, 1);
        receiver.can_rebuild = false;
        receiver.data(0, [0, 2]);
        receiver.parity(0, 0, 3, 1);
        receiver.data(1, [0]);
        assert_eq!(receiver.left, [(0, 0), (0, 2), (1, 0)]);
        let counters = receiver.decoder.counters();
        assert_eq!((counters.failed_rebuilds, counters.recovered, counters.unrecovered), (1, 0, 1));
    }
}

// FEC-10
#[test]
fn a_wild_number_is_not_believed_alone() {
    let mut receiver = Receiver::new(Release::Eager, 1);
    receiver.data(7, [0]);
    receiver.data(1_000_000, [0]);
    receiver.data(7, [1]);
    receiver.data(2_000_000, [0]);
    receiver.data(7, [2]);
    assert_eq!(receiver.left, [(7, 0), (7, 1), (7, 2)]);
    assert_eq!(receiver.decoder.counters().restarts, 0);
}

// FEC-10
#[test]
fn an_encoder_that_starts_over_is_followed() {
    for release in [Release::Eager, Release::InOrder] {
        let mut receiver = Receiver::new(release, 2);
        receiver.data(500_000, [0, 2]);
        receiver.data(0, [0, 1, 2]);
        let held: &[_] = &[(500_000, 0), (500_000, 2), (0, 1), (0, 2)];
        if release == Release::Eager {
            assert_eq!(receiver.left, held);
        } else {
            // The first frame was only the witness of the new numbers; in order, the second frame waits for it.
            assert_eq!(receiver.left, held[..2]);
            receiver.timeout(100);
            assert_eq!(receiver.left, held);
        }
        assert_eq!(receiver.decoder.counters().restarts, 1);
    }
}

// FEC-8, FEC-10: a decoder that is switched on in mid-stream needs no configuration.
#[test]
fn the_first_frame_says_where_the_stream_is() {
    let mut receiver = Receiver::new(Release::Eager, 4);
    receiver.data(0xff_ffff, [1, 2]);
    receiver.parity(0xff_ffff, 2, 4, 3);
    receiver.parity(0xff_ffff, 0, 4, 3);
    receiver.data(0, [0]);
    receiver.parity(0, 0, 1, 1);
    assert_eq!(receiver.left, [(0xff_ffff, 1), (0xff_ffff, 2), (0xff_ffff, 0), (0xff_ffff, 3), (0, 0)]);
}

/// Returns frames of some blocks of (5, 3), to be offered to a decoder.
fn frames(blocks: u32) -> impl Strategy<Value = Vec<(u32, u8)>> {
    prop::collection::vec((0..blocks, 0..8u8), 0..200)
}

fn offer(receiver: &mut Receiver, (block, place): (u32, u8)) {
    match place {
        0..5 => receiver.data(block, [place]),
        _ => receiver.parity(block, place - 5, 5, 3),
    }
}

proptest! {
    // FEC-12, FEC-14: whichever frames arrive in whichever order, no frame leaves twice.
    #[test]
    fn no_frame_leaves_twice(frames in frames(6), eager: bool, window in 0..4u32) {
        let release = if eager { Release::Eager } else { Release::InOrder };
        let mut receiver = Receiver::new(release, 1 << window);
        frames.iter().for_each(|&frame| offer(&mut receiver, frame));
        let mut left = receiver.left.clone();
        left.sort_unstable();
        left.dedup();
        prop_assert_eq!(left.len(), receiver.left.len());
    }

    // FEC-15, FEC-16: frames leave in order, and in the end no frame that arrived is held.
    #[test]
    fn order_is_kept_and_nothing_stays(frames in frames(6), window in 0..4u32) {
        let mut receiver = Receiver::new(Release::InOrder, 1 << window);
        frames.iter().for_each(|&frame| offer(&mut receiver, frame));
        receiver.timeout(1_000);
        prop_assert!(receiver.left.is_sorted());
        let counters = receiver.decoder.counters();
        prop_assert_eq!(receiver.left.len() as u64, counters.data + counters.recovered);
        prop_assert!(receiver.decoder.poll_timeout().is_never());
    }

    // FEC-13: while its block is open, a missing frame is rebuilt exactly when k frames have
    // arrived.
    #[test]
    fn a_block_is_rebuilt_exactly_when_k_frames_are_there(
        lost in prop::collection::vec(prop::collection::btree_set(0..8u8, 0..8), 1..20),
    ) {
        let mut receiver = Receiver::new(Release::Eager, 1);
        let mut expected = vec![];
        for (block, lost) in (0..).zip(&lost) {
            (0..8).filter(|place| !lost.contains(place)).for_each(|place| offer(&mut receiver, (block, place)));
            let missing: Vec<u8> = lost.iter().copied().filter(|&place| place < 5).collect();
            expected.extend((0..5).filter(|place| !missing.contains(place)).map(|place| (block, place)));
            if lost.len() <= 3 {
                expected.extend(missing.iter().map(|&place| (block, place)));
            }
        }
        prop_assert_eq!(receiver.left, expected);
    }

    // FEC-16: the bytes kept stay within the bound, and are those of the open blocks.
    #[test]
    fn memory_is_bounded(frames in frames(40), eager: bool) {
        let release = if eager { Release::Eager } else { Release::InOrder };
        let room = Bytes(11 * FRAME.0);
        let mut receiver = Receiver::with_room(release, 8, room);
        for frame in frames {
            offer(&mut receiver, frame);
            prop_assert!(receiver.decoder.kept() <= room);
        }
        receiver.timeout(1_000);
        receiver.data(100, [0]);
        prop_assert!(receiver.decoder.kept() <= FRAME);
    }
}
