//! A sliding-window code over the frames of a session: repairs sent ahead rebuild lost frames (RT-14, RT-15).
//!
//! A repair is a sum over GF(2^8) of the bodies of the frames before it. Each body has a weight, which both ends compute
//! from the numbers of frame and repair. If n of the frames that they cover are missing, n repairs rebuild them, in any
//! order. The kind of code is that of RFC 8681; the weights and the frames are ours.
//!
//! The arithmetic on whole frames is a [`Field`], because the core has no fast one.

mod decoder;
mod pace;

pub use decoder::Decoder;
pub use pace::Pace;

use crate::guard::Frame;
use crate::wire::routed::Whole;
use alloc::vec::Vec;
use core::fmt::Debug;

/// The most frames that one repair covers: their number has eight bits.
pub const MOST_COVERED: u64 = 192;
/// The octets in front of the contents of a frame in its body: their length, and the two bits of [`Whole`].
pub const PREFIX: usize = 2;
/// The bit of the prefix that says that the contents are an IP packet.
const BARE: u16 = 1 << 15;
/// The bit of the prefix that says that short frames may refer to the frame (RT-17).
const MODEL: u16 = 1 << 14;
/// The most octets of contents.
const MOST_OCTETS: u16 = MODEL - 1;

/// Arithmetic in a field of 256 elements, in which every element is its own negative.
pub trait Field: Debug {
    /// Returns the product of two elements.
    fn multiply(&self, a: u8, b: u8) -> u8;

    /// Returns the element which times `b` is `a`; `b` is not zero.
    fn divide(&self, a: u8, b: u8) -> u8;

    /// Adds `weight` times `data` to `sum`, octet by octet; both are of equal length.
    fn add(&self, weight: u8, data: &[u8], sum: &mut [u8]);
}

/// Returns the weight of a frame in a repair, which is never zero. Both numbers count with 24 bits.
pub fn weight(frame: u64, repair: u64) -> u8 {
    let mut hash = super::low(frame) ^ super::low(repair).wrapping_mul(0x9e37_79b1);
    hash = (hash ^ (hash >> 16)).wrapping_mul(0x85eb_ca6b);
    hash = (hash ^ (hash >> 13)).wrapping_mul(0xc2b2_ae35);
    hash ^= hash >> 16;
    (hash % 255) as u8 + 1
}

/// Adds the body of a frame to a sum, which grows to the body's length. The body is the kind of the contents, the number
/// of bytes as which they travel, and the contents, followed by zeros up to that number.
///
/// # Panics
/// If more than 16,383 bytes travel, or fewer than the contents have.
pub fn add_body(
    field: &dyn Field,
    weight: u8,
    (whole, length): (Whole, usize),
    contents: &[u8],
    sum: &mut Vec<u8>,
) {
    let end = PREFIX + length;
    if sum.len() < end {
        sum.resize(end, 0);
    }
    let (prefix, rest) = sum.split_at_mut(PREFIX);
    field.add(weight, &prefix_of(whole, length), prefix);
    field.add(weight, contents, &mut rest[..contents.len()]);
}

/// Writes the body of a frame.
fn body(whole: Whole, contents: &[u8], out: &mut Frame) {
    out.clear();
    out.extend_from_slice(&prefix_of(whole, contents.len()));
    out.extend_from_slice(contents);
}

fn prefix_of(whole: Whole, length: usize) -> [u8; PREFIX] {
    assert!(length <= usize::from(MOST_OCTETS), "the length has fourteen bits");
    let bare = if whole.is_bare { BARE } else { 0 };
    let model = if whole.is_model { MODEL } else { 0 };
    (length as u16 | bare | model).to_be_bytes()
}

/// Returns the contents of a rebuilt body, and their kind; `None` if length and padding do not fit.
pub fn contents(body: &[u8]) -> Option<(Whole, &[u8])> {
    let (prefix, rest) = body.split_first_chunk::<PREFIX>()?;
    let prefix = u16::from_be_bytes(*prefix);
    let (contents, padding) = rest.split_at_checked(usize::from(prefix & MOST_OCTETS))?;
    let whole = Whole { is_bare: prefix & BARE != 0, is_model: prefix & MODEL != 0 };
    padding.iter().all(|octet| *octet == 0).then_some((whole, contents))
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    // RT-14: the weights were computed by another program, from the text of the rule.
    #[test]
    fn weights_are_those_of_the_document() {
        let weights = [(0, 0), (1, 2), (999, 1000), (5, 9)].map(|(frame, repair)| weight(frame, repair));
        assert_eq!(weights, [1, 106, 128, 253]);
        assert_eq!(weight((1 << 24) + 5, (1 << 24) + 9), 253, "numbers have 24 bits");
    }

    // RT-14
    #[test]
    fn a_body_gives_back_what_it_was_made_of() {
        let mut made = Frame::new();
        for (is_bare, is_model, length) in
            [(true, false, 0), (false, true, 0), (true, true, 1451), (false, false, 16_383)]
        {
            let whole = Whole { is_bare, is_model };
            body(whole, &vec![7; length], &mut made);
            assert_eq!(contents(&made), Some((whole, &vec![7; length][..])));
            made.extend_from_slice(&[0; 9]);
            assert_eq!(contents(&made).map(|(_, contents)| contents.len()), Some(length), "padded");
            made.push(1);
            assert_eq!(contents(&made), None, "what is behind the contents is zero");
        }
        assert_eq!(contents(&[0, 2, 7]), None);
        assert_eq!(contents(&[0]), None);
    }
}
