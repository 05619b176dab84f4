//! The content of frames of link-level retry that a tap sees.
//!
//! On the wire the number is in the preamble, and control sets stand between the symbols of frames. No capture can see them
//! there. So they are shown as the live data plane sends them: a shim behind the Ethernet header, and control frames of the
//! minimum size (LLR-6, `docs/protocols/llr.md`).

use super::label::Label;
use crate::net::Frame;
use crate::net::frame::MINIMUM_OCTETS;
use crate::net::tap::{Content, Headers, Neighbour};
use lossylink_core::engine::llr::Control;
use lossylink_core::wire::ethernet::EtherType;
use lossylink_core::wire::llr::{ControlSet, ETHERTYPE, Shim};

/// Shows a frame of the hosts.
pub(super) fn data<P>(frame: Frame<P>, label: Label, is_replay: bool) -> Content<P> {
    let (Label::Numbered(number) | Label::Bad(number)) = label else { return Content::Bare(frame) };
    let headers = Headers::new(ETHERTYPE, |buffer| {
        let shim = Shim { is_replay, is_poisoned: false, number: number.bits(), ethertype: EtherType::IPV4 };
        shim.emit(buffer);
        Shim::LEN
    });
    Content::Behind(headers, frame)
}

/// Shows a control set.
pub(super) fn control<P>(control: Control) -> Content<P> {
    let headers = Headers::new(ETHERTYPE, |buffer| {
        control.to_set().emit(buffer);
        ControlSet::LEN
    });
    Content::Own { headers, to: Neighbour::Switch, octets: MINIMUM_OCTETS }
}
