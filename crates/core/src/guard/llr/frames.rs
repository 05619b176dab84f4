//! Frames of link-level retry on a live link: the shim in place of the preamble, control sets as frames (LLR-22).
//!
//! ```text
//! | addresses | 88B6 | shim, original EtherType within | payload | padding | seal |
//! | addresses | 88B6 | control set                     |           padding | seal |
//!     12 B       2 B      6 B, or 8 B                                to 60 B
//! ```

use crate::engine::llr::{Control, Number};
use crate::guard::envelope::{self, ETHERTYPE};
use crate::guard::{Frame, Origin, Seal};
use crate::wire::ethernet::EthernetHeader;
use crate::wire::llr::{self, ControlSet, LlrFrame, Shim};

/// The bytes by which a numbered frame is longer than its original before it is sealed (G-4).
pub(super) const HEADROOM: usize = Shim::LEN;

/// Writes a frame of the LAN with its number into `out`.
///
/// # Panics
/// If the frame is shorter than an Ethernet header.
pub(super) fn write(out: &mut Frame, original: &[u8], number: Number, is_replay: bool, seal: &mut Seal) {
    let ethertype = envelope::ethertype(original).expect("a frame from the LAN has an Ethernet header");
    let shim = Shim { is_replay, is_poisoned: false, number: number.bits(), ethertype };
    let mut header = [0; Shim::LEN];
    shim.emit(&mut header);
    out.clear();
    out.extend_from_slice(&original[..ETHERTYPE]);
    out.extend_from_slice(&llr::ETHERTYPE.0.to_be_bytes());
    out.extend_from_slice(&header);
    out.extend_from_slice(&original[EthernetHeader::LEN..]);
    seal.finish(out, Shim::LEN);
}

/// Writes a control set as a frame from guard to guard into `out`.
pub(super) fn write_control(out: &mut Frame, control: Control, seal: &mut Seal) {
    envelope::control_header(out, llr::ETHERTYPE);
    let mut set = [0; ControlSet::LEN];
    control.to_set().emit(&mut set);
    out.extend_from_slice(&set);
    seal.finish(out, ControlSet::LEN);
}

/// Returns the contents of a frame from the link, and its origin; `None` when the frame is malformed.
pub(super) fn read<'a>(frame: &'a [u8], seal: &mut Seal) -> Option<(LlrFrame<'a>, Origin)> {
    let inner = LlrFrame::parse(seal.body(frame)?).ok()?;
    let headers = match inner {
        LlrFrame::Data(..) => Shim::LEN,
        LlrFrame::Control(_) => ControlSet::LEN,
    };
    Some((inner, seal.origin(frame, headers)))
}
