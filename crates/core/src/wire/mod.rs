//! Frame formats: one file a header, a byte view and a plain struct each.
//!
//! A view reads fields in place from bytes that were checked once. The rest of the program holds the plain
//! struct, whose `parse` and `emit` are each other's inverse. Reserved bits are written as zero and not
//! looked at (WIRE-2). Parsing malformed bytes gives a [`WireError`]. Emitting into a buffer that is too
//! short is a broken invariant and panics.
//!
//! Lengths: a *frame* has the bytes that a capture shows, without its frame check sequence (FCS); its
//! *wire octets* add padding, FCS, preamble, start delimiter and the gap to the next frame.

pub mod checksum;
pub mod ethernet;
pub mod fec;
pub mod ipv4;
pub mod linkguardian;
pub mod llr;
pub mod pfc;
pub mod roce;
pub mod routed;
pub mod tcp;
pub mod udp;

use crate::units::Bytes;
use thiserror::Error;

/// Frame check sequence; source: IEEE 802.3, 3.2.9.
pub const FCS: Bytes = Bytes(4);
/// The shortest frame, FCS included; source: IEEE 802.3, 4.4.2 (minFrameSize).
pub const MINIMUM_FRAME_WITH_FCS: Bytes = Bytes(64);
/// The shortest frame without its FCS, to which shorter contents are padded.
pub const MINIMUM_FRAME: Bytes = Bytes(MINIMUM_FRAME_WITH_FCS.0 - FCS.0);
/// Preamble and start delimiter (8) and inter-packet gap (12); source: IEEE 802.3, 3.2 and 4.4.2.
pub const PREAMBLE_AND_GAP: Bytes = Bytes(20);

/// Returns the length of a frame once padded to the minimum, without its FCS.
pub const fn padded(frame: Bytes) -> Bytes {
    if frame.0 < MINIMUM_FRAME.0 { MINIMUM_FRAME } else { frame }
}

/// Returns the octets that a frame, given without its FCS, takes on the wire. Divided by the rate, they
/// are the time until the next frame can start (WIRE-1).
pub const fn wire_octets(frame: Bytes) -> Bytes {
    Bytes(padded(frame).0 + FCS.0 + PREAMBLE_AND_GAP.0)
}

/// The error of bytes that are not the header they were taken for (WIRE-3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum WireError {
    /// The bytes end before the header does.
    #[error("{header}: {needed} bytes needed, {available} there")]
    Truncated {
        /// Name of the header.
        header: &'static str,
        /// Bytes that the header takes.
        needed: usize,
        /// Bytes that are available.
        available: usize,
    },
    /// A field holds a value that the header does not allow.
    #[error("{header}: {field} cannot be {value}")]
    Invalid {
        /// Name of the header.
        header: &'static str,
        /// Name of the field.
        field: &'static str,
        /// Value of the field.
        value: u32,
    },
    /// The checksum does not match the bytes.
    #[error("{header}: checksum does not match")]
    Checksum {
        /// Name of the header.
        header: &'static str,
    },
}

/// Checks that `header`, which takes `needed` bytes, fits in `bytes`.
fn require(header: &'static str, bytes: &[u8], needed: usize) -> Result<(), WireError> {
    let available = bytes.len();
    if available < needed { Err(WireError::Truncated { header, needed, available }) } else { Ok(()) }
}

/// Refuses `value` in a field unless `is_valid`.
fn demand(
    header: &'static str,
    field: &'static str,
    value: impl Into<u32>,
    is_valid: bool,
) -> Result<(), WireError> {
    if is_valid { Ok(()) } else { Err(WireError::Invalid { header, field, value: value.into() }) }
}

/// Returns the 16-bit number at `offset`, in network order.
fn be16(bytes: &[u8], offset: usize) -> u16 {
    u16::from_be_bytes([bytes[offset], bytes[offset + 1]])
}

/// Returns the 24-bit number at `offset`, in network order.
fn be24(bytes: &[u8], offset: usize) -> u32 {
    u32::from_be_bytes([0, bytes[offset], bytes[offset + 1], bytes[offset + 2]])
}

/// Returns the 32-bit number at `offset`, in network order.
fn be32(bytes: &[u8], offset: usize) -> u32 {
    u32::from(be16(bytes, offset)) << 16 | u32::from(be16(bytes, offset + 2))
}

/// Writes `value` at `offset`, in network order.
fn put16(bytes: &mut [u8], offset: usize, value: u16) {
    bytes[offset..offset + 2].copy_from_slice(&value.to_be_bytes());
}

/// Writes the low 24 bits of `value` at `offset`, in network order.
///
/// # Panics
/// If `value` has more bits, because the number would change on the way.
fn put24(bytes: &mut [u8], offset: usize, value: u32) {
    assert!(value < 1 << 24, "{value} does not fit in 24 bits");
    bytes[offset..offset + 3].copy_from_slice(&value.to_be_bytes()[1..]);
}

/// Writes `value` at `offset`, in network order.
fn put32(bytes: &mut [u8], offset: usize, value: u32) {
    bytes[offset..offset + 4].copy_from_slice(&value.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    // WIRE-1
    #[test]
    fn the_shortest_and_the_longest_frame_on_the_wire() {
        for (frame, octets) in [(0, 84), (60, 84), (61, 85), (1514, 1538), (1517, 1541)] {
            assert_eq!(wire_octets(Bytes(frame)), Bytes(octets), "{frame} B");
        }
    }

    #[test]
    fn errors_are_one_line() {
        let truncated = WireError::Truncated { header: "Ethernet", needed: 14, available: 3 };
        assert_eq!(truncated.to_string(), "Ethernet: 14 bytes needed, 3 there");
        let invalid = WireError::Invalid { header: "PFC", field: "opcode", value: 1 };
        assert_eq!(invalid.to_string(), "PFC: opcode cannot be 1");
    }

    #[test]
    fn numbers_survive_the_network_order() {
        let mut bytes = [0u8; 9];
        put16(&mut bytes, 0, 0x0102);
        put24(&mut bytes, 2, 0x03_0405);
        put32(&mut bytes, 5, 0x0607_0809);
        assert_eq!(bytes, [1, 2, 3, 4, 5, 6, 7, 8, 9]);
        assert_eq!((be16(&bytes, 0), be24(&bytes, 2), be32(&bytes, 5)), (0x0102, 0x03_0405, 0x0607_0809));
    }

    #[test]
    #[should_panic(expected = "does not fit in 24 bits")]
    fn a_number_is_never_cut() {
        put24(&mut [0; 3], 0, 1 << 24);
    }
}
