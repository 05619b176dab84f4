//! A whole LinkGuardian frame: which headers follow each other after the Ethernet header.
//!
//! ```text
//! Ethernet ABCD | data  | EtherType | payload                    protected
//! Ethernet ABCD | ACK p | EtherType | payload                    unprotected, with an ACK
//! Ethernet ABCD | ACK p | ABCD | data | EtherType | payload      protected, with an ACK
//! Ethernet ABCD | data (dummy)       | padding                   dummy
//! Ethernet ABCD | ACK                | padding                   explicit ACK
//! Ethernet ABCD | notification       | padding                   loss notification
//! ```
//!
//! One rule makes the chain unambiguous (WIRE-8): a header in front of a payload ends with an EtherType that
//! names the next header or payload, as Ethernet's own does. After a piggy-backed ACK (p), 0xABCD announces
//! a data header. After a data header the EtherType is the original one, with any value.

use super::{AckHeader, DataHeader, KIND, KIND_ACK, KIND_DATA, KIND_NOTIFICATION};
use super::{LossNotification, kind_number};
use crate::wire::ethernet::EtherType;
use crate::wire::{WireError, be16, demand, put16, require};

const NAME: &str = "LinkGuardian";
/// The length of the EtherType that names the header or payload behind a header.
const NEXT_LEN: usize = 2;

/// The contents of an Ethernet frame before protection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Content<'a> {
    /// The original EtherType.
    pub ethertype: EtherType,
    /// The original payload, padding included.
    pub payload: &'a [u8],
}

/// The forms of a frame with EtherType 0xABCD, behind its Ethernet header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkGuardianFrame<'a> {
    /// A protected frame, perhaps with an ACK for the other direction.
    Data {
        /// The ACK that rides on the frame.
        ack: Option<AckHeader>,
        /// The header with the frame's number.
        data: DataHeader,
        /// The protected contents.
        content: Content<'a>,
    },
    /// A frame of a direction that is not protected, with an ACK for the other one.
    Unprotected {
        /// The ACK that rides on the frame.
        ack: AckHeader,
        /// The contents of the frame.
        content: Content<'a>,
    },
    /// A frame that carries only the sender's next number (WIRE-9).
    Dummy(DataHeader),
    /// A frame that carries only an ACK.
    Ack(AckHeader),
    /// A request for lost frames.
    Notification(LossNotification),
}

impl<'a> LinkGuardianFrame<'a> {
    /// Octets that protection adds to a frame on our wire: the header and the original EtherType.
    /// The published switch program adds the header alone.
    pub const DATA_OVERHEAD: usize = DataHeader::LEN + NEXT_LEN;

    /// Octets that a piggy-backed ACK adds to a frame on our wire.
    pub const ACK_OVERHEAD: usize = AckHeader::LEN + NEXT_LEN;

    /// Reads the bytes behind an Ethernet header with EtherType 0xABCD.
    ///
    /// # Errors
    /// If the bytes end too early, or the headers follow each other in no allowed way.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, WireError> {
        require(NAME, bytes, 1)?;
        match bytes[0] & KIND {
            KIND_DATA => Self::parse_data(None, bytes),
            KIND_ACK => Self::parse_ack(bytes),
            KIND_NOTIFICATION => LossNotification::parse(bytes).map(Self::Notification),
            _ => Err(WireError::Invalid { header: NAME, field: "type", value: kind_number(bytes[0]).into() }),
        }
    }

    /// Returns the octets in front of the payload, without the Ethernet header.
    pub fn headers_len(&self) -> usize {
        match self {
            Self::Data { ack: Some(_), .. } => Self::ACK_OVERHEAD + Self::DATA_OVERHEAD,
            Self::Data { ack: None, .. } => Self::DATA_OVERHEAD,
            Self::Unprotected { .. } => Self::ACK_OVERHEAD,
            Self::Dummy(_) => DataHeader::LEN,
            Self::Ack(_) => AckHeader::LEN,
            Self::Notification(_) => LossNotification::LEN,
        }
    }

    /// Returns the original payload; empty in a control frame.
    pub fn payload(&self) -> &'a [u8] {
        match self {
            Self::Data { content, .. } | Self::Unprotected { content, .. } => content.payload,
            Self::Dummy(_) | Self::Ack(_) | Self::Notification(_) => &[],
        }
    }

    /// Writes all headers at the start of `buffer` and returns their length. The payload goes behind them.
    ///
    /// If `buffer` is too short, or a header contradicts its place: a dummy with contents, a piggy-back bit
    /// without contents, an unprotected LinkGuardian frame.
    pub fn emit_headers(&self, buffer: &mut [u8]) -> usize {
        match self {
            Self::Data { ack, data, content } => {
                let start = ack.map_or(0, |ack| emit_ack(ack, EtherType::LINKGUARDIAN, buffer));
                emit_data(data, content.ethertype, &mut buffer[start..]);
            }
            Self::Unprotected { ack, content } => {
                assert!(content.ethertype != EtherType::LINKGUARDIAN, "it would read as a data header");
                emit_ack(*ack, content.ethertype, buffer);
            }
            Self::Dummy(data) => {
                assert!(data.is_dummy, "a frame without contents is a dummy");
                data.emit(buffer);
            }
            Self::Ack(ack) => {
                assert!(!ack.is_piggybacked, "an explicit ACK rides on nothing");
                ack.emit(buffer);
            }
            Self::Notification(notification) => notification.emit(buffer),
        }
        self.headers_len()
    }

    fn parse_ack(bytes: &'a [u8]) -> Result<Self, WireError> {
        let (ack, rest) = AckHeader::parse(bytes)?;
        if !ack.is_piggybacked {
            return Ok(Self::Ack(ack));
        }
        let content = parse_content(rest)?;
        if content.ethertype == EtherType::LINKGUARDIAN {
            return Self::parse_data(Some(ack), content.payload);
        }
        Ok(Self::Unprotected { ack, content })
    }

    fn parse_data(ack: Option<AckHeader>, bytes: &'a [u8]) -> Result<Self, WireError> {
        let (data, rest) = DataHeader::parse(bytes)?;
        demand(NAME, "rx_buffered", 1u8, !data.rx_buffered)?;
        if !data.is_dummy {
            return Ok(Self::Data { ack, data, content: parse_content(rest)? });
        }
        demand(NAME, "dummy after an ACK", 1u8, ack.is_none())?;
        Ok(Self::Dummy(data))
    }
}

/// Reads the EtherType in front of a payload, and the payload.
fn parse_content(bytes: &[u8]) -> Result<Content<'_>, WireError> {
    require(NAME, bytes, NEXT_LEN)?;
    Ok(Content { ethertype: EtherType(be16(bytes, 0)), payload: &bytes[NEXT_LEN..] })
}

/// Writes an ACK that rides on `next`, and returns the length.
fn emit_ack(ack: AckHeader, next: EtherType, buffer: &mut [u8]) -> usize {
    assert!(ack.is_piggybacked, "an ACK in front of contents is piggy-backed");
    ack.emit(buffer);
    put16(buffer, AckHeader::LEN, next.0);
    AckHeader::LEN + NEXT_LEN
}

/// Writes a data header in front of `next`.
fn emit_data(data: &DataHeader, next: EtherType, buffer: &mut [u8]) {
    assert!(!data.is_dummy && !data.rx_buffered, "a protected frame on a wire is neither");
    data.emit(buffer);
    put16(buffer, DataHeader::LEN, next.0);
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    const DATA: DataHeader = DataHeader {
        era: true,
        is_retransmission: false,
        is_dummy: false,
        blocking_mode: true,
        rx_buffered: false,
        sequence: 0x0102,
    };
    const ACK: AckHeader = AckHeader { is_piggybacked: true, era: false, leading_ack: 0x0304 };
    const IP: Content<'_> = Content { ethertype: EtherType::IPV4, payload: &[0x45, 0x00] };

    fn bytes(frame: &LinkGuardianFrame<'_>) -> Vec<u8> {
        let mut bytes = alloc::vec![0xee; frame.headers_len()];
        assert_eq!(frame.emit_headers(&mut bytes), bytes.len());
        bytes.extend_from_slice(frame.payload());
        bytes
    }

    // WIRE-8, WIRE-9
    #[test]
    fn each_chain_has_its_bytes() {
        let notification = LossNotification { era: false, leading_ack: 9, hole_size: 1, first_lost: 8 };
        let dummy = DataHeader { is_dummy: true, ..DATA };
        let explicit = AckHeader { is_piggybacked: false, ..ACK };
        let literal: [(LinkGuardianFrame<'_>, &[u8]); 6] = [
            (LinkGuardianFrame::Data { ack: None, data: DATA, content: IP }, &[0x12, 1, 2, 8, 0, 0x45, 0]),
            (LinkGuardianFrame::Unprotected { ack: ACK, content: IP }, &[0x60, 3, 4, 8, 0, 0x45, 0]),
            (
                LinkGuardianFrame::Data { ack: Some(ACK), data: DATA, content: IP },
                &[0x60, 3, 4, 0xab, 0xcd, 0x12, 1, 2, 8, 0, 0x45, 0],
            ),
            (LinkGuardianFrame::Dummy(dummy), &[0x16, 1, 2]),
            (LinkGuardianFrame::Ack(explicit), &[0x40, 3, 4]),
            (LinkGuardianFrame::Notification(notification), &[0x80, 0, 9, 1, 0, 8]),
        ];
        for (frame, expected) in literal {
            assert_eq!(bytes(&frame), expected);
            assert_eq!(LinkGuardianFrame::parse(expected), Ok(frame));
        }
    }

    // WIRE-8
    #[test]
    fn what_a_data_header_protects_is_opaque() {
        let content = Content { ethertype: EtherType::LINKGUARDIAN, payload: &[0xff] };
        let frame = LinkGuardianFrame::Data { ack: None, data: DATA, content };
        assert_eq!(LinkGuardianFrame::parse(&bytes(&frame)), Ok(frame));
    }

    // WIRE-9
    #[test]
    fn control_frames_may_be_padded() {
        let mut padded = [0; 46];
        padded[..3].copy_from_slice(&[0x16, 1, 2]);
        assert!(matches!(LinkGuardianFrame::parse(&padded), Ok(LinkGuardianFrame::Dummy(_))));
        padded[0] = 0x40;
        assert!(matches!(LinkGuardianFrame::parse(&padded), Ok(LinkGuardianFrame::Ack(_))));
    }

    // WIRE-3, WIRE-4, WIRE-5, WIRE-8
    #[test]
    fn chains_that_make_no_sense_are_refused() {
        let field = |bytes: &[u8]| match LinkGuardianFrame::parse(bytes) {
            Err(WireError::Invalid { field, .. }) => field,
            other => panic!("{bytes:02x?}: {other:?}"),
        };
        assert_eq!(field(&[0xc0, 0, 0]), "type");
        assert_eq!(field(&[0x01, 0, 0, 8, 0]), "rx_buffered");
        assert_eq!(field(&[0x60, 0, 0, 0xab, 0xcd, 0x04, 0, 0]), "dummy after an ACK");
        assert_eq!(field(&[0x60, 0, 0, 0xab, 0xcd, 0x40, 0, 0]), "type");
    }

    #[test]
    fn chains_that_end_early_are_refused() {
        let whole = bytes(&LinkGuardianFrame::Data { ack: Some(ACK), data: DATA, content: IP });
        for length in 0..LinkGuardianFrame::ACK_OVERHEAD + LinkGuardianFrame::DATA_OVERHEAD {
            let error = LinkGuardianFrame::parse(&whole[..length]).unwrap_err();
            assert!(matches!(error, WireError::Truncated { .. }), "{length} bytes: {error}");
        }
    }

    #[test]
    #[should_panic(expected = "read as a data header")]
    fn an_unprotected_frame_of_ours_has_no_bytes() {
        let content = Content { ethertype: EtherType::LINKGUARDIAN, payload: &[] };
        LinkGuardianFrame::Unprotected { ack: ACK, content }.emit_headers(&mut [0; 8]);
    }

    proptest! {
        #[test]
        fn frames_round_trip(
            era: bool, blocking_mode: bool, sequence: u16, has_ack: bool, is_protected: bool,
            leading_ack: u16, ethertype: u16, payload in prop::collection::vec(any::<u8>(), 0..50),
        ) {
            let content = Content { ethertype: EtherType(ethertype), payload: &payload };
            let data = DataHeader { era, blocking_mode, sequence, ..DataHeader::default() };
            let ack = AckHeader { is_piggybacked: true, era, leading_ack };
            prop_assume!(is_protected || content.ethertype != EtherType::LINKGUARDIAN);
            let frame = if is_protected {
                LinkGuardianFrame::Data { ack: has_ack.then_some(ack), data, content }
            } else {
                LinkGuardianFrame::Unprotected { ack, content }
            };
            let bytes = bytes(&frame);
            prop_assert_eq!(LinkGuardianFrame::parse(&bytes), Ok(frame));
        }
    }
}
