//! Checks that hold of every parser for every input: a parser never panics, and a header that it
//! accepts can be written and read back. The stable tests and the fuzz targets drive these checks.
#![allow(missing_docs, unreachable_pub)]

pub mod guard;

use lossylink_core::wire::checksum::Checksum;
use lossylink_core::wire::ethernet::EthernetHeader;
use lossylink_core::wire::ipv4::{Ipv4Header, Protocol, PseudoHeader};
use lossylink_core::wire::linkguardian::{AckHeader, DataHeader, LinkGuardianFrame, LossNotification};
use lossylink_core::wire::pfc::PauseFrame;
use lossylink_core::wire::tcp::{TcpHeader, TcpOptions};
use lossylink_core::wire::udp::UdpHeader;
use lossylink_core::wire::{WireError, roce};
use std::fmt::Debug;

/// Reads a header from `bytes`. If that works, writes the header in front of the rest, and reads it
/// again.
fn round_trip<T: Debug + PartialEq>(
    bytes: &[u8],
    parse: impl Fn(&[u8]) -> Result<T, WireError>,
    len: usize,
    emit: impl Fn(&T, &mut [u8]),
) {
    let Ok(header) = parse(bytes) else { return };
    let mut written = bytes.to_vec();
    emit(&header, &mut written[..len]);
    assert_eq!(parse(&written), Ok(header));
}

/// Returns the header alone, of a parser that also returns the bytes behind the header.
fn header<T>(parsed: Result<(T, &[u8]), WireError>) -> Result<T, WireError> {
    parsed.map(|(header, _)| header)
}

pub fn ethernet(bytes: &[u8]) {
    let parse = |bytes: &[u8]| header(EthernetHeader::parse(bytes));
    round_trip(bytes, parse, EthernetHeader::LEN, |header, buffer| header.emit(buffer));
}

pub fn linkguardian_data(bytes: &[u8]) {
    let parse = |bytes: &[u8]| header(DataHeader::parse(bytes));
    round_trip(bytes, parse, DataHeader::LEN, |header, buffer| header.emit(buffer));
}

pub fn linkguardian_ack(bytes: &[u8]) {
    let parse = |bytes: &[u8]| header(AckHeader::parse(bytes));
    round_trip(bytes, parse, AckHeader::LEN, |header, buffer| header.emit(buffer));
}

pub fn linkguardian_notification(bytes: &[u8]) {
    round_trip(bytes, LossNotification::parse, LossNotification::LEN, |notification, buffer| {
        notification.emit(buffer)
    });
}

pub fn linkguardian_frame(bytes: &[u8]) {
    let Ok(frame) = LinkGuardianFrame::parse(bytes) else { return };
    let mut written = vec![0; frame.headers_len()];
    assert_eq!(frame.emit_headers(&mut written), written.len());
    written.extend_from_slice(frame.payload());
    assert_eq!(LinkGuardianFrame::parse(&written), Ok(frame));
}

pub fn pfc(bytes: &[u8]) {
    round_trip(bytes, PauseFrame::parse, PauseFrame::LEN, |message, buffer| message.emit(buffer));
}

pub fn ipv4(bytes: &[u8]) {
    let parse = |bytes: &[u8]| header(Ipv4Header::parse(bytes));
    for bytes in [bytes.to_vec(), with_ipv4_checksum(bytes)] {
        let Ok((header, payload)) = Ipv4Header::parse(&bytes) else { continue };
        // IPv4 options are not written, so the packet may become shorter.
        let mut written = vec![0; Ipv4Header::LEN];
        header.emit(&mut written);
        written.extend_from_slice(payload);
        assert_eq!(parse(&written), Ok(header));
    }
}

pub fn udp(bytes: &[u8]) {
    let pseudo = pseudo_header(Protocol::UDP, bytes.len());
    let parse = |bytes: &[u8]| header(UdpHeader::parse(bytes, &pseudo));
    for bytes in [bytes.to_vec(), without_udp_checksum(bytes)] {
        let Ok((header, payload)) = UdpHeader::parse(&bytes, &pseudo) else { continue };
        let mut written = vec![0; UdpHeader::LEN];
        written.extend_from_slice(payload);
        header.emit(&mut written, &pseudo);
        assert_eq!(parse(&written), Ok(header));
    }
}

pub fn tcp(bytes: &[u8]) {
    if let Ok(options) = TcpOptions::parse(bytes) {
        assert!(options.len() <= 40, "options of {} bytes fit in no header", options.len());
    }
    let pseudo = pseudo_header(Protocol::TCP, bytes.len());
    for bytes in [bytes.to_vec(), with_tcp_checksum(bytes, &pseudo)] {
        let Ok((header, payload)) = TcpHeader::parse(&bytes, &pseudo) else { continue };
        let written = tcp_segment(&header, payload);
        let pseudo = pseudo_header(Protocol::TCP, written.len());
        let (again, rest) = TcpHeader::parse(&written, &pseudo).expect("what was written is read");
        // Padding may push selective-ACK blocks out of the first writing, never out of the second.
        assert_eq!(rest, payload);
        assert_eq!(tcp_segment(&again, rest), written);
    }
}

pub fn roce(bytes: &[u8]) {
    let base = |bytes: &[u8]| header(roce::BaseHeader::parse(bytes));
    round_trip(bytes, base, roce::BaseHeader::LEN, |header, buffer| header.emit(buffer));
    let rdma = |bytes: &[u8]| header(roce::RdmaHeader::parse(bytes));
    round_trip(bytes, rdma, roce::RdmaHeader::LEN, |header, buffer| header.emit(buffer));
    let ack = |bytes: &[u8]| header(roce::AckHeader::parse(bytes));
    round_trip(bytes, ack, roce::AckHeader::LEN, |header, buffer| header.emit(buffer));
}

fn pseudo_header(protocol: Protocol, length: usize) -> PseudoHeader {
    let length = u16::try_from(length).unwrap_or(u16::MAX);
    PseudoHeader { source: [10, 0, 0, 1].into(), destination: [10, 0, 0, 2].into(), protocol, length }
}

fn tcp_segment(header: &TcpHeader, payload: &[u8]) -> Vec<u8> {
    let mut segment = vec![0; header.header_len()];
    segment.extend_from_slice(payload);
    let pseudo = pseudo_header(Protocol::TCP, segment.len());
    header.emit(&mut segment, &pseudo);
    segment
}

/// Returns the bytes with a right IPv4 checksum: random bytes pass a checksum only once in 65536
/// times.
fn with_ipv4_checksum(bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    if bytes.len() >= Ipv4Header::LEN {
        let header_len = bytes.len().min(usize::from(bytes[0] & 0x0f) * 4);
        bytes[10..12].fill(0);
        let checksum = Checksum::new().cover(&bytes[..header_len]).finish();
        bytes[10..12].copy_from_slice(&checksum.to_be_bytes());
    }
    bytes
}

fn with_tcp_checksum(bytes: &[u8], pseudo: &PseudoHeader) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    if bytes.len() >= TcpHeader::LEN_MIN {
        bytes[16..18].fill(0);
        let checksum = pseudo.checksum(&bytes);
        bytes[16..18].copy_from_slice(&checksum.to_be_bytes());
    }
    bytes
}

fn without_udp_checksum(bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    if bytes.len() >= UdpHeader::LEN {
        bytes[6..8].fill(0);
    }
    bytes
}
