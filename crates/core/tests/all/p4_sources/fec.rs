//! The counterpart of `p4/fec_model` in this crate: the header of forward error correction.

use super::common::{ethernet, ethernet_of, ethernet_values, next_values};
use super::comparison::{Family, Numbers};
use super::frames::{Frame, Header};
use super::layout::Values;
use lossylink_core::wire::ethernet::{EtherType, EthernetHeader};
use lossylink_core::wire::fec::{FecHeader, FecPart, MAX_ROWS, MAX_SIZE};

pub(crate) const FAMILY: Family = Family {
    folder: "fec_model",
    files: &["common", "fec_model"],
    constants,
    widths: || vec![("block_t", 24)],
    headers,
    frames,
    // The mark of a corrupted packet is no part of the header that this crate has (FEC-25).
    inside: &[&["corruption_t", "FIELDS_RECIRCULATED", "RID_DATA", "RID_FIRST_ROW", "BLOCKS"]],
    numbered: &["ENCODER_", "DECODER_"],
};

fn constants() -> Vec<(&'static str, u128)> {
    vec![
        ("ETHERTYPE_FEC", u128::from(EtherType::FEC.0)),
        ("SIZE_MAX", u128::from(MAX_SIZE)),
        ("ROWS_MAX", u128::from(MAX_ROWS)),
    ]
}

/// Returns both headers: their common fields, and the rest of each (FEC-2, FEC-3).
fn headers(n: &Numbers) -> Vec<Header> {
    let (data, parity) = (data_of(n), parity_of(n));
    let bytes = |header: &FecHeader, range: std::ops::Range<usize>| emitted(header)[range].to_vec();
    let original = EtherType(n[2] as u16);
    vec![
        ethernet(&ethernet_of(n, original)),
        Header { name: "next_t", values: next_values(original), bytes: bytes(&data, 4..6) },
        Header { name: "fec_t", values: fec_values(&parity), bytes: bytes(&parity, 0..4) },
        Header { name: "code_t", values: code_values(&parity), bytes: bytes(&parity, 4..6) },
    ]
}

/// Returns both frames up to the corruption mark that follows the header.
fn frames(n: &Numbers) -> Vec<Frame> {
    let (data, parity) = (data_of(n), parity_of(n));
    let head = ethernet_of(n, EtherType::FEC);
    let frame = |name, header: &FecHeader, rest| {
        let mut bytes = vec![0; EthernetHeader::LEN];
        head.emit(&mut bytes);
        bytes.extend(emitted(header));
        let headers = vec![("ethernet", ethernet_values(&head)), rest, ("fec", fec_values(header))];
        Frame { name, headers, bytes, is_control: false }
    };
    vec![
        frame("data", &data, ("data_next", next_values(EtherType(n[2] as u16)))),
        frame("parity", &parity, ("code", code_values(&parity))),
    ]
}

fn emitted(header: &FecHeader) -> [u8; FecHeader::LEN] {
    let mut bytes = [0; FecHeader::LEN];
    header.emit(&mut bytes);
    bytes
}

fn data_of(n: &Numbers) -> FecHeader {
    let part = FecPart::Data { index: n[1] as u8 & 0x7f, ethertype: EtherType(n[2] as u16) };
    FecHeader { block: n[0] as u32 & 0xff_ffff, part }
}

fn parity_of(n: &Numbers) -> FecHeader {
    let part = FecPart::Parity { row: n[1] as u8 & 0x7f, size: n[2] as u8, rows: n[3] as u8 };
    FecHeader { block: n[0] as u32 & 0xff_ffff, part }
}

fn fec_values(header: &FecHeader) -> Values {
    let (is_parity, place) = match header.part {
        FecPart::Data { index, .. } => (0, index),
        FecPart::Parity { row, .. } => (1, row),
    };
    [("block", u128::from(header.block)), ("is_parity", is_parity), ("place", u128::from(place))].into()
}

fn code_values(parity: &FecHeader) -> Values {
    let FecPart::Parity { size, rows, .. } = parity.part else { panic!("only parity names its code") };
    [("size", u128::from(size)), ("rows", u128::from(rows))].into()
}
