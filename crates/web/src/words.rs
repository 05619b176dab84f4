//! A frame in words, for a reader who watches the frame pass.

use lossylink_core::wire::WireError;
use lossylink_core::wire::ethernet::{EtherType, EthernetView};
use lossylink_core::wire::fec::{FecHeader, FecPart};
use lossylink_core::wire::ipv4::{Ipv4Header, Protocol};
use lossylink_core::wire::linkguardian::LinkGuardianFrame;
use lossylink_core::wire::llr::{self, ControlKind, LlrFrame};
use lossylink_core::wire::pfc::{LINKGUARDIAN_CLASS, PauseFrame};
use lossylink_core::wire::roce::{AckHeader, BaseHeader, Opcode, Syndrome, UDP_PORT};
use lossylink_core::wire::tcp::{TcpFlags, TcpHeader};
use lossylink_core::wire::udp::UdpView;
use serde::Serialize;

/// What a frame is, for the colour of its arrow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A packet of the hosts with data, for the first time.
    Data,
    /// A frame that a protection sends again.
    Retransmission,
    /// A frame that carries nothing but the sender's next number.
    Dummy,
    /// A frame that acknowledges, of a protection or of a host.
    Ack,
    /// A request for lost frames.
    Notification,
    /// A request to send nothing.
    Pause,
    /// The end of a pause.
    Resume,
    /// A frame from which lost frames are computed.
    Parity,
    /// Another control frame of a protection.
    Control,
    /// A packet of the hosts without data, such as a handshake.
    Host,
}

/// A frame in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// What the frame is.
    pub kind: Kind,
    /// The frame in words.
    pub words: String,
    /// The number of the data in the transport protocol, if the frame has data.
    pub sequence: Option<u32>,
}

/// Says what a whole Ethernet frame without check sequence is.
pub fn said(frame: &[u8]) -> Said {
    ethernet(frame).unwrap_or_else(|error| Said {
        kind: Kind::Control,
        words: format!("a frame that cannot be read: {error}"),
        sequence: None,
    })
}

fn ethernet(frame: &[u8]) -> Result<Said, WireError> {
    let view = EthernetView::new_checked(frame)?;
    let payload = view.payload();
    match view.ethertype() {
        EtherType::LINKGUARDIAN => linkguardian(payload),
        EtherType::FEC => fec(payload),
        EtherType::MAC_CONTROL => pause(payload),
        llr::ETHERTYPE => link_level_retry(payload),
        _ => hosts(payload),
    }
}

fn linkguardian(bytes: &[u8]) -> Result<Said, WireError> {
    Ok(match LinkGuardianFrame::parse(bytes)? {
        LinkGuardianFrame::Data { ack, data, content } => {
            let inner = hosts(content.payload)?;
            let number = data.sequence;
            let acked = ack.map_or(String::new(), |ack| format!(", acknowledges {}", ack.leading_ack));
            if data.is_retransmission {
                again(&format!("copy of {number}{acked}"), inner)
            } else {
                inside(&format!("number {number}{acked}"), inner)
            }
        }
        LinkGuardianFrame::Unprotected { ack, content } => {
            inside(&format!("acknowledges {}", ack.leading_ack), hosts(content.payload)?)
        }
        LinkGuardianFrame::Dummy(data) => {
            own(Kind::Dummy, format!("dummy: the next number is {}", data.sequence))
        }
        LinkGuardianFrame::Ack(ack) => {
            own(Kind::Ack, format!("ACK of the link: {} has come", ack.leading_ack))
        }
        LinkGuardianFrame::Notification(lost) => {
            let which = match lost.hole_size {
                1 => format!("{} is missing", lost.first_lost),
                size => format!("{size} frames from {} on are missing", lost.first_lost),
            };
            own(Kind::Notification, format!("loss notification: {which}"))
        }
    })
}

fn link_level_retry(bytes: &[u8]) -> Result<Said, WireError> {
    Ok(match LlrFrame::parse(bytes)? {
        LlrFrame::Data(shim, payload) => {
            let (inner, number) = (hosts(payload)?, shim.number);
            if shim.is_replay {
                again(&format!("replay of {number}"), inner)
            } else {
                inside(&format!("number {number}"), inner)
            }
        }
        LlrFrame::Control(set) => match set.kind {
            ControlKind::Ack => own(Kind::Ack, format!("ACK of the link: all up to {} has come", set.number)),
            ControlKind::Nack => own(
                Kind::Notification,
                format!("NACK: all up to {} has come, the next one is missing", set.number),
            ),
            ControlKind::Init => own(Kind::Control, format!("INIT: numbers start at {}", set.number)),
            ControlKind::InitEcho => own(Kind::Control, "INIT echo: the receiver is ready".to_owned()),
        },
    })
}

fn fec(bytes: &[u8]) -> Result<Said, WireError> {
    let (header, rest) = FecHeader::parse(bytes)?;
    Ok(match header.part {
        FecPart::Data { index, .. } => {
            inside(&format!("block {}, place {}", header.block, u32::from(index) + 1), hosts(rest)?)
        }
        FecPart::Parity { row, size, rows } => own(
            Kind::Parity,
            format!("parity {} of {rows} for block {} with {size} frames", u32::from(row) + 1, header.block),
        ),
    })
}

fn pause(bytes: &[u8]) -> Result<Said, WireError> {
    let message = PauseFrame::parse(bytes)?;
    Ok(match message.quanta[LINKGUARDIAN_CLASS] {
        Some(0) => own(Kind::Resume, "resume: the reorder buffer has room again".to_owned()),
        _ => own(Kind::Pause, "pause: the reorder buffer fills".to_owned()),
    })
}

/// Says what a packet of the hosts is.
fn hosts(packet: &[u8]) -> Result<Said, WireError> {
    let (ip, payload) = Ipv4Header::parse(packet)?;
    if ip.protocol == Protocol::TCP {
        let (header, data) = TcpHeader::parse(payload, &ip.pseudo_header())?;
        return Ok(tcp(&header, data.len() as u32));
    }
    let datagram = UdpView::new_checked(payload, &ip.pseudo_header())?;
    if datagram.destination_port() == UDP_PORT {
        return rdma(datagram.payload());
    }
    Ok(Said { kind: Kind::Data, words: "datagram".to_owned(), sequence: None })
}

fn tcp(header: &TcpHeader, data: u32) -> Said {
    let host = |kind, words: String| Said { kind, words, sequence: None };
    let (is_syn, is_ack) = (header.flags.contains(TcpFlags::SYN), header.flags.contains(TcpFlags::ACK));
    if is_syn {
        return host(Kind::Host, if is_ack { "TCP SYN-ACK" } else { "TCP SYN" }.to_owned());
    }
    if data > 0 {
        // The SYN has number zero, so that the first octet of the flow has number one.
        let first = header.sequence;
        let words = format!("TCP bytes {first} to {}", first.wrapping_add(data - 1));
        return Said { kind: Kind::Data, words, sequence: Some(first) };
    }
    let blocks = header.options.sack_blocks.as_slice();
    let sacked: Vec<String> =
        blocks.iter().map(|block| format!("{} to {}", block.left, block.right.wrapping_sub(1))).collect();
    let sacked =
        if sacked.is_empty() { String::new() } else { format!(", has also {}", sacked.join(" and ")) };
    let echo = if header.flags.contains(TcpFlags::ECE) { ", congestion was marked" } else { "" };
    host(Kind::Ack, format!("TCP ACK: waits for byte {}{sacked}{echo}", header.acknowledgement))
}

fn rdma(bytes: &[u8]) -> Result<Said, WireError> {
    let (header, rest) = BaseHeader::parse(bytes)?;
    let number = header.sequence;
    Ok(match header.opcode {
        Opcode::ACKNOWLEDGE => {
            let (ack, _) = AckHeader::parse(rest)?;
            match ack.syndrome {
                Syndrome::Nak(_) => own(Kind::Notification, format!("RDMA NAK: waits for packet {number}")),
                _ => own(Kind::Ack, format!("RDMA ACK: all up to packet {number} has come")),
            }
        }
        Opcode::CONGESTION_NOTIFICATION => own(Kind::Host, "RDMA congestion notification".to_owned()),
        _ => Said { kind: Kind::Data, words: format!("RDMA packet {number}"), sequence: Some(number) },
    })
}

/// Returns a frame of the link itself.
fn own(kind: Kind, words: String) -> Said {
    Said { kind, words, sequence: None }
}

/// Returns a packet of the hosts behind the header of a protection.
fn inside(header: &str, inner: Said) -> Said {
    Said { words: format!("{header}: {}", inner.words), ..inner }
}

/// Returns a packet of the hosts that the link sends again.
fn again(header: &str, inner: Said) -> Said {
    Said { kind: Kind::Retransmission, ..inside(header, inner) }
}
