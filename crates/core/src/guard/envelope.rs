//! The format that every frame of the guards has in common: an EtherType of theirs, and the seal at the
//! end.
//!
//! ```text
//! | addresses | EtherType | headers of the line protocol | ... | padding | seal |
//!     12 B        2 B                                             to 60 B   4 B, or 12 B with a secret
//! ```

use super::Frame;
use crate::wire::ethernet::{EtherType, EthernetHeader, MacAddress};

/// The offset of the EtherType: behind the two addresses.
pub const ETHERTYPE: usize = 12;
/// "Nearest bridge" group address: no bridge forwards it (IEEE 802.1Q, table 8-1).
const NEAREST_BRIDGE: MacAddress = MacAddress([0x01, 0x80, 0xc2, 0x00, 0x00, 0x0e]);
/// A locally administered address for frames that the guards send each other.
const GUARD: MacAddress = MacAddress([0x02, 0x4c, 0x47, 0x00, 0x00, 0x01]);

/// Returns the EtherType of a frame; `None` when the frame ends before the EtherType.
pub fn ethertype(frame: &[u8]) -> Option<EtherType> {
    let bytes = frame.get(ETHERTYPE..EthernetHeader::LEN)?;
    Some(EtherType(u16::from_be_bytes([bytes[0], bytes[1]])))
}

/// Writes the Ethernet header of a frame from guard to guard.
pub fn control_header(out: &mut Frame, ethertype: EtherType) {
    out.clear();
    out.resize(EthernetHeader::LEN, 0);
    EthernetHeader { destination: NEAREST_BRIDGE, source: GUARD, ethertype }.emit(out);
}

/// Writes the original frame into `out`: the addresses of `frame`, then EtherType and payload (G-2).
///
/// # Panics
/// If `frame` is shorter than two addresses.
pub fn restore(out: &mut Frame, frame: &[u8], ethertype: EtherType, payload: &[u8]) {
    out.clear();
    out.extend_from_slice(&frame[..ETHERTYPE]);
    out.extend_from_slice(&ethertype.0.to_be_bytes());
    out.extend_from_slice(payload);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_that_ends_before_its_ethertype_has_none() {
        assert_eq!(ethertype(&[0; 13]), None);
        assert_eq!(ethertype(&[0x81; 14]), Some(EtherType(0x8181)));
    }
}
