//! The account of a load: every frame carries its number, and contents that follow from it.

use lossylink_core::binomial::BATCHES;
use serde::Serialize;

/// EtherType of Ethernet's configuration test (loopback): no kernel and no guard takes it for its own.
const ETHERTYPE: [u8; 2] = [0x90, 0x00];
/// Offset of the name of the load: behind the Ethernet header.
const NAME: usize = 14;
/// Offset of the number of the frame.
const NUMBER: usize = NAME + 4;
/// Offset of the contents.
const CONTENTS: usize = NUMBER + 8;
/// The shortest frame that is sent, which Ethernet does not pad.
pub(super) const SHORTEST: usize = 60;

/// Counts of the frames of a load by their fate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// Frames sent.
    pub sent: u64,
    /// Frames that arrived, each counted once.
    pub delivered: u64,
    /// Frames that arrived once more.
    pub duplicated: u64,
    /// Frames that arrived after a frame with a higher number.
    pub reordered: u64,
    /// Frames that arrived with other contents or another length than they were sent with.
    pub altered: u64,
}

/// The account of which frames have arrived.
#[derive(Debug)]
pub struct Ledger {
    name: [u8; 4],
    frame_bytes: usize,
    seen: Vec<u64>,
    highest: Option<u64>,
    tally: Tally,
}

impl Ledger {
    /// Opens an account of `frames` frames of `frame_bytes` bytes each; `name` tells them from the frames of
    /// another load that are still under way.
    pub fn new(name: u32, frames: u64, frame_bytes: usize) -> Self {
        let words = frames.div_ceil(64) as usize;
        Self {
            name: name.to_be_bytes(),
            frame_bytes: frame_bytes.max(SHORTEST),
            seen: vec![0; words],
            highest: None,
            tally: Tally::default(),
        }
    }

    /// Writes the next frame into `frame`, from host to host.
    pub fn write_next(&mut self, frame: &mut Vec<u8>, addresses: [[u8; 6]; 2]) {
        let number = self.tally.sent;
        self.tally.sent += 1;
        frame.clear();
        addresses.iter().for_each(|address| frame.extend_from_slice(address));
        frame.extend_from_slice(&ETHERTYPE);
        frame.extend_from_slice(&self.name);
        frame.extend_from_slice(&number.to_be_bytes());
        frame.extend(contents(number).take(self.frame_bytes - CONTENTS));
    }

    /// Enters a frame that arrived; frames of other loads are passed over.
    pub fn enter(&mut self, frame: &[u8]) {
        let ours =
            frame.get(NAME - 2..NAME) == Some(&ETHERTYPE) && frame.get(NAME..NUMBER) == Some(&self.name);
        if !ours || frame.len() < CONTENTS {
            return;
        }
        let mut number = [0; 8];
        number.copy_from_slice(&frame[NUMBER..CONTENTS]);
        let number = u64::from_be_bytes(number);
        let whole = frame.len() == self.frame_bytes && number < self.tally.sent;
        if !whole || !contents(number).take(self.frame_bytes - CONTENTS).eq(frame[CONTENTS..].iter().copied())
        {
            self.tally.altered += 1;
            return;
        }
        self.mark(number);
    }

    fn mark(&mut self, number: u64) {
        let (word, bit) = ((number / 64) as usize, 1u64 << (number % 64));
        if self.seen[word] & bit != 0 {
            self.tally.duplicated += 1;
            return;
        }
        self.seen[word] |= bit;
        self.tally.delivered += 1;
        if self.highest.is_some_and(|highest| number < highest) {
            self.tally.reordered += 1;
        } else {
            self.highest = Some(number);
        }
    }

    /// Returns how many frames have not arrived, and how many were sent, by batches of consecutive frames.
    pub fn lost_by_batch(&self) -> Vec<(u64, u64)> {
        let (sent, count) = (self.tally.sent, self.tally.sent.min(BATCHES));
        let is_lost = |number: u64| self.seen[(number / 64) as usize] >> (number % 64) & 1 == 0;
        let begins = |batch: u64| (u128::from(batch) * u128::from(sent) / u128::from(count)) as u64;
        let of = |batch| {
            let numbers = begins(batch)..begins(batch + 1);
            (numbers.clone().filter(|&number| is_lost(number)).count() as u64, numbers.end - numbers.start)
        };
        (0..count).map(of).collect()
    }

    /// Returns the account so far.
    pub fn tally(&self) -> Tally {
        self.tally
    }
}

/// Returns the bytes that follow from a frame's number: eight at a time from a mixing function, so that any
/// two frames differ nearly everywhere.
fn contents(number: u64) -> impl Iterator<Item = u8> {
    (0u64..).flat_map(move |step| {
        let mixed = (number ^ (step << 48)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed ^ (mixed >> 32)).to_be_bytes()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADDRESSES: [[u8; 6]; 2] = [[2, 0, 0, 0, 0, 8], [2, 0, 0, 0, 0, 4]];

    fn three_frames() -> (Ledger, Vec<Vec<u8>>) {
        let mut ledger = Ledger::new(7, 3, 100);
        let frames = (0..3)
            .map(|_| {
                let mut frame = Vec::new();
                ledger.write_next(&mut frame, ADDRESSES);
                frame
            })
            .collect();
        (ledger, frames)
    }

    #[test]
    fn frames_are_counted_once_and_in_order() {
        let (mut ledger, frames) = three_frames();
        for at in [0, 2, 1, 2] {
            ledger.enter(&frames[at]);
        }
        let expected = Tally { sent: 3, delivered: 3, duplicated: 1, reordered: 1, altered: 0 };
        assert_eq!(ledger.tally(), expected);
    }

    #[test]
    fn what_never_arrived_is_counted_by_batches() {
        let mut ledger = Ledger::new(7, 128, 100);
        for number in 0..128 {
            let mut frame = Vec::new();
            ledger.write_next(&mut frame, ADDRESSES);
            if !(5..9).contains(&number) {
                ledger.enter(&frame);
            }
        }
        let lost: Vec<_> = ledger.lost_by_batch();
        assert_eq!((lost.len(), &lost[1..6]), (64, &[(0, 2), (1, 2), (2, 2), (1, 2), (0, 2)][..]));
        assert_eq!(three_frames().0.lost_by_batch(), [(1, 1); 3]);
    }

    #[test]
    fn altered_frames_are_seen() {
        let (mut ledger, frames) = three_frames();
        for at in NUMBER..100 {
            let mut altered = frames[1].clone();
            altered[at] ^= 1;
            ledger.enter(&altered);
        }
        let mut longer = frames[1].clone();
        longer.push(0);
        ledger.enter(&longer);
        ledger.enter(&frames[1][..99]);
        assert_eq!(ledger.tally().delivered, 0);
        assert_eq!(ledger.tally().altered, 100 - NUMBER as u64 + 2);
    }

    #[test]
    fn frames_of_others_are_passed_over() {
        let (mut ledger, _) = three_frames();
        let mut other = vec![0; 100];
        other[12..14].copy_from_slice(&[0x08, 0x00]);
        ledger.enter(&other);
        ledger.enter(&[]);
        assert_eq!(ledger.tally(), Tally { sent: 3, ..Tally::default() });
    }
}
