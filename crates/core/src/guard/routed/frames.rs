//! Conversion of a frame of the LAN to a frame of the path, and back (RT-2, RT-17).

use super::headers::{Choice, Models, Seen};
use super::low;
use crate::guard::{Frame, Surroundings, ecn, envelope};
use crate::wire::ethernet::{EtherType, EthernetHeader};
use crate::wire::routed::{self, DataHeader, Form, Short, Whole};

/// Writes the local octets, which hold the ECN field of the datagram, and the EtherType (RT-2, RT-4).
pub(super) fn begin(out: &mut Frame, ecn: u8) {
    out.clear();
    out.resize(envelope::ETHERTYPE, 0);
    out[0] = ecn;
    out.extend_from_slice(&routed::ETHERTYPE.0.to_be_bytes());
}

/// Whether a frame is an IP packet without addresses of neighbours, as it comes from a TUN.
pub(super) fn is_bare(frame: &[u8]) -> bool {
    let packet = &frame[EthernetHeader::LEN..];
    frame[..envelope::ETHERTYPE].iter().all(|octet| *octet == 0)
        && packet.first().and_then(|first| ip_of(first >> 4)) == envelope::ethertype(frame)
}

/// Returns the contents of a frame that travel, and whether they are an IP packet without an Ethernet header.
pub(super) fn contents(frame: &[u8]) -> (bool, &[u8]) {
    let is_bare = is_bare(frame);
    (is_bare, if is_bare { &frame[EthernetHeader::LEN..] } else { frame })
}

/// Returns the EtherType of a version of IP.
fn ip_of(version: u8) -> Option<EtherType> {
    match version {
        4 => Some(EtherType::IPV4),
        6 => Some(EtherType::IPV6),
        _ => None,
    }
}

/// Seals a frame of the LAN behind its header and sends it in the form of `choice`. Returns its length; `None` without
/// room.
pub(super) fn send(
    around: &mut Surroundings<'_>,
    models: &Models,
    (number, repetition): (u64, u8),
    choice: Choice,
    frame: &Frame,
) -> Option<u64> {
    let mut out = around.empty_frame()?;
    begin(&mut out, ecn::field(frame));
    let (is_bare, contents) = contents(frame);
    let header = |form| DataHeader { form, repetition, number: low(number) };
    let model = if let Choice::Short(model) = choice { models.headers(model) } else { None };
    if let (Choice::Short(model), Some((layout, headers))) = (choice, model) {
        let is_near = layout.is_near(headers, contents);
        header(Form::Short(Short { model: model as u16, is_near })).append(&mut out);
        layout.shorten(headers, is_near, contents, &mut out);
    } else {
        header(Form::Whole(Whole { is_bare, is_model: choice == Choice::Model })).append(&mut out);
        out.extend_from_slice(contents);
    }
    around.seal.finish_whole(&mut out);
    let bytes = out.len() as u64;
    around.to_link.push_back(out);
    Some(bytes)
}

/// The result of restoring the contents of a data frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Restored {
    /// The frame, which is of this kind.
    Frame(Whole),
    /// No frame: its model has not arrived.
    Unknown,
    /// No frame: the contents are malformed.
    Malformed,
}

/// Writes the original frame into `out`, which is empty.
pub(super) fn restore(out: &mut Frame, seen: &Seen, number: u64, form: Form, contents: &[u8]) -> Restored {
    match form {
        Form::Whole(whole) => restore_whole(out, whole, contents),
        Form::Short(Short { model, is_near }) => {
            let Some((layout, model)) = seen.model(number, model) else { return Restored::Unknown };
            let whole = Whole { is_bare: layout.is_bare(), is_model: false };
            let is_begun = !whole.is_bare || begin_bare(out, model);
            let is_whole = is_begun && layout.lengthen(model, is_near, contents, out);
            if is_whole { Restored::Frame(whole) } else { Restored::Malformed }
        }
    }
}

/// Writes the original frame into `out`, which is empty, from contents that travelled whole.
pub(super) fn restore_whole(out: &mut Frame, whole: Whole, contents: &[u8]) -> Restored {
    if whole.is_bare && !begin_bare(out, contents) {
        return Restored::Malformed;
    }
    out.extend_from_slice(contents);
    if out.len() >= EthernetHeader::LEN { Restored::Frame(whole) } else { Restored::Malformed }
}

/// Writes the header in front of an IP packet of a TUN. Returns `false` if the packet is none.
fn begin_bare(out: &mut Frame, packet: &[u8]) -> bool {
    let Some(ethertype) = packet.first().and_then(|first| ip_of(first >> 4)) else { return false };
    out.resize(envelope::ETHERTYPE, 0);
    out.extend_from_slice(&ethertype.0.to_be_bytes());
    true
}
