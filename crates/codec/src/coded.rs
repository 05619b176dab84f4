//! The coded form of a frame: its length, its check, and the frame padded to the minimum (FEC-4).

use lossylink_core::wire::MINIMUM_FRAME;
use lossylink_core::wire::fec::CODED_PREFIX;

/// The length of the shortest frame, to which shorter frames are padded before they are coded or
/// sent.
pub(crate) const MINIMUM: usize = MINIMUM_FRAME.0 as usize;
/// The length of the longest frame that can be coded: it has 16 bits.
pub const MAX_FRAME: usize = u16::MAX as usize;

/// Returns length and check of a frame, which are coded in front of it.
///
/// # Panics
/// If the frame is longer than [`MAX_FRAME`].
pub(crate) fn prefix(frame: &[u8]) -> [u8; CODED_PREFIX] {
    let length = u16::try_from(frame.len()).expect("a frame of at most 65535 bytes");
    let mut prefix = [0; CODED_PREFIX];
    prefix[..2].copy_from_slice(&length.to_be_bytes());
    prefix[2..].copy_from_slice(&check(frame).to_be_bytes());
    prefix
}

/// Returns the check of a frame: its CRC-32, mixed by the finaliser of MurmurHash3. The code is
/// linear, and so is a CRC. Without mixing, a sum of whole frames would carry the sum of their
/// CRCs, and a frame rebuilt from the wrong frames would pass. The mixing is not linear.
fn check(frame: &[u8]) -> u32 {
    let mut hash = crc32fast::hash(frame);
    hash = (hash ^ (hash >> 16)).wrapping_mul(0x85eb_ca6b);
    hash = (hash ^ (hash >> 13)).wrapping_mul(0xc2b2_ae35);
    hash ^ (hash >> 16)
}

/// Returns the frame in a rebuilt body, if its length, its padding and its check are right
/// (FEC-18).
pub(crate) fn frame_of(body: &[u8]) -> Option<&[u8]> {
    let length = usize::from(u16::from_be_bytes([body[0], body[1]]));
    let (frame, padding) = body[CODED_PREFIX..].split_at_checked(length)?;
    let is_whole = length >= MINIMUM && padding.iter().all(|&byte| byte == 0);
    (is_whole && prefix(frame)[..] == body[..CODED_PREFIX]).then_some(frame)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(frame: &[u8], padding: usize) -> Vec<u8> {
        [&prefix(frame)[..], frame, &vec![0; padding]].concat()
    }

    // FEC-4
    #[test]
    fn the_prefix_is_length_and_check() {
        // The check value of CRC-32: "123456789" gives 0xCBF43926, which is then mixed.
        let mut mixed = 0xcbf4_3926_u32;
        for (shift, factor) in [(16, 0x85eb_ca6b), (13, 0xc2b2_ae35), (16, 1)] {
            mixed = (mixed ^ mixed >> shift).wrapping_mul(factor);
        }
        let [a, b, c, d] = mixed.to_be_bytes();
        assert_eq!(prefix(b"123456789"), [0, 9, a, b, c, d]);
    }

    // FEC-18: the check in the exclusive-or of three whole frames is not the check of its contents.
    #[test]
    fn a_sum_of_frames_fails_the_check() {
        let bodies: Vec<_> = [3u8, 141, 59].map(|fill| body(&[fill; 100], 0)).into();
        let sum: Vec<u8> =
            (0..106).map(|place| bodies.iter().fold(0, |sum, body| sum ^ body[place])).collect();
        assert_eq!(sum[..2], [0, 100]);
        assert_eq!(frame_of(&sum), None);
    }

    // FEC-18
    #[test]
    fn any_flipped_bit_is_noticed() {
        let frame: Vec<u8> = (0..60).collect();
        let good = body(&frame, 3);
        assert_eq!(frame_of(&good), Some(&frame[..]));
        for bit in 0..good.len() * 8 {
            let mut bad = good.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(frame_of(&bad), None, "bit {bit}");
        }
    }

    // FEC-18
    #[test]
    fn short_and_overlong_frames_are_refused() {
        assert_eq!(frame_of(&body(&[1; 59], 0)), None);
        assert_eq!(frame_of(&body(&[1; 60], 0)[..65]), None);
        assert_eq!(frame_of(&[0; 66]), None);
    }
}
