//! The frames of a block that is being received, and how the missing ones are rebuilt.

use crate::coded::{frame_of, prefix};
use lossylink_core::engine::fec::ErasureCode;
use lossylink_core::wire::fec::CODED_PREFIX;
use thiserror::Error;

/// Frames kept of one block. The memory is used again for the next block.
#[derive(Clone, Debug, Default)]
pub struct BlockStore {
    /// Data frames, each with room in front for the coded prefix.
    packets: Vec<Vec<u8>>,
    bodies: Vec<Vec<u8>>,
    /// Parity frames that have arrived, a bit each.
    rows: u32,
    rebuilt: Vec<Vec<u8>>,
}

/// The reason why missing frames were not rebuilt. None of them is delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum RebuildError {
    /// There are fewer parity frames than missing data frames.
    #[error("{missing} frames are missing, but only {parity} parity frames are there")]
    TooFew {
        /// Missing data frames.
        missing: u32,
        /// Parity frames that have arrived.
        parity: u32,
    },
    /// A parity body is not as long as the others, or shorter than a data frame.
    #[error("lengths of the block's frames contradict each other")]
    Lengths,
    /// A rebuilt body is not a frame, or not the frame whose check was coded (FEC-18).
    #[error("rebuilt frame {0} fails its check")]
    Check(u8),
}

impl BlockStore {
    /// Forgets all frames, for the next block.
    pub fn clear(&mut self) {
        self.rows = 0;
    }

    /// Keeps data frame `index`.
    pub fn keep_data(&mut self, index: u8, frame: &[u8]) {
        keep(&mut self.packets, index, &[0; CODED_PREFIX], frame);
    }

    /// Keeps the body of parity frame `row`.
    pub fn keep_body(&mut self, row: u8, body: &[u8]) {
        keep(&mut self.bodies, row, &[], body);
        self.rows |= 1 << row;
    }

    /// Returns data frame `index`, which was kept or rebuilt.
    pub fn frame(&self, index: u8) -> &[u8] {
        &self.packets[usize::from(index)][CODED_PREFIX..]
    }

    /// Rebuilds the `missing` data frames (a bit each) of a block of `size`. The other data frames
    /// have been kept.
    ///
    /// # Errors
    /// If too few parity frames have arrived, lengths contradict each other, or a rebuilt frame
    /// fails its check.
    pub fn rebuild(&mut self, code: &impl ErasureCode, size: u8, missing: u128) -> Result<(), RebuildError> {
        let (indices, used) = (ones(missing), ones(self.rows.into()));
        let (indices, used) = (indices.as_slice(), used.as_slice());
        if used.len() < indices.len() {
            let (missing, parity) = (indices.len() as u32, used.len() as u32);
            return Err(RebuildError::TooFew { missing, parity });
        }
        let Some(used) = used.get(..indices.len()).filter(|used| !used.is_empty()) else { return Ok(()) };
        self.prepare(size, missing, used)?;
        self.exchange(indices, used);
        code.rebuild(&self.packets[..usize::from(size)], indices, used, &mut self.rebuilt[..used.len()]);
        self.exchange(indices, used);
        for (&index, body) in indices.iter().zip(&self.rebuilt) {
            let frame = frame_of(body).ok_or(RebuildError::Check(index))?;
            keep(&mut self.packets, index, &[0; CODED_PREFIX], frame);
        }
        Ok(())
    }

    /// Puts the coded prefix in front of the data frames that have arrived, and makes room for the
    /// missing ones.
    fn prepare(&mut self, size: u8, missing: u128, used: &[u8]) -> Result<(), RebuildError> {
        let length = self.bodies[usize::from(used[0])].len();
        let is_as_long = |&row: &u8| self.bodies[usize::from(row)].len() == length;
        if length < CODED_PREFIX || !used.iter().all(is_as_long) {
            return Err(RebuildError::Lengths);
        }
        self.packets.resize_with(self.packets.len().max(usize::from(size)), Vec::new);
        let (packets, rebuilt) = (&mut self.packets[..usize::from(size)], &mut self.rebuilt);
        for (_, packet) in (0..).zip(packets).filter(|(index, _)| missing >> index & 1 == 0) {
            if packet.len() > length {
                return Err(RebuildError::Lengths);
            }
            let prefix = prefix(&packet[CODED_PREFIX..]);
            packet[..CODED_PREFIX].copy_from_slice(&prefix);
        }
        rebuilt.resize_with(rebuilt.len().max(used.len()), Vec::new);
        rebuilt[..used.len()].iter_mut().for_each(|body| body.resize(length, 0));
        Ok(())
    }

    /// Exchanges each parity body that is used and the missing frame whose place it takes. A second
    /// call undoes the first.
    fn exchange(&mut self, missing: &[u8], used: &[u8]) {
        for (&index, &row) in missing.iter().zip(used) {
            std::mem::swap(&mut self.packets[usize::from(index)], &mut self.bodies[usize::from(row)]);
        }
    }
}

/// Copies `head` and `bytes` into slot `place`, in the slot's memory.
fn keep(slots: &mut Vec<Vec<u8>>, place: u8, head: &[u8], bytes: &[u8]) {
    let place = usize::from(place);
    if slots.len() <= place {
        slots.resize_with(place + 1, Vec::new);
    }
    slots[place].clear();
    slots[place].extend_from_slice(head);
    slots[place].extend_from_slice(bytes);
}

/// The numbers of the bits that are set.
struct Ones {
    numbers: [u8; 128],
    count: usize,
}

impl Ones {
    fn as_slice(&self) -> &[u8] {
        &self.numbers[..self.count]
    }
}

fn ones(mut bits: u128) -> Ones {
    let mut ones = Ones { numbers: [0; 128], count: 0 };
    while bits != 0 {
        ones.numbers[ones.count] = bits.trailing_zeros() as u8;
        ones.count += 1;
        bits &= bits - 1;
    }
    ones
}
