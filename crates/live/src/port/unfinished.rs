//! The work that a sender leaves to its network card and a packet socket finds undone: the checksum of a frame, and
//! the cutting of a super-frame ([`super::super_frame`]).
//!
//! A veth has no card: work that its far end leaves undone stays undone. Source: `struct virtio_net_hdr` of
//! linux/virtio_net.h, VIRTIO 1.2, 5.1.6.2; on packet sockets its numbers have the byte order of the machine.

use super::ETHERNET_BYTES;
pub(super) use crate::sys::OFFLOAD_HEADER_BYTES;
use lossylink_core::wire::checksum::Checksum;

/// The checksum is to be completed (`VIRTIO_NET_HDR_F_NEEDS_CSUM`).
const NEEDS_CHECKSUM: u8 = 1;
/// The frame is whole (`VIRTIO_NET_HDR_GSO_NONE`).
const NO_SUPER_FRAME: u8 = 0;
/// Offset of the checksum in an SCTP header. That checksum is a CRC, and the header of the packet socket does not say
/// so; no protocol with an internet checksum has it at this offset. Source: RFC 9260, 3.1.
const SCTP_CHECKSUM_OFFSET: u16 = 8;

/// Flag beside a kind of TCP: the segments bear a congestion mark, which the first segment is to show.
const WITH_ECN: u8 = 0x80;

/// The protocol of a super-frame (`VIRTIO_NET_HDR_GSO_*` of linux/virtio_net.h).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// TCP over IPv4.
    TcpOverIpv4 = 1,
    /// TCP over IPv6.
    TcpOverIpv6 = 4,
    /// Datagrams of UDP.
    Udp = 5,
}

/// The work that is left to do on a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unfinished {
    flags: u8,
    kind: u8,
    /// Bytes in front of the payload.
    header_bytes: u16,
    /// Bytes of payload in each of the frames that a super-frame is to become.
    pub(super) payload_bytes: u16,
    /// Offset at which the checksum begins to count, from the first byte of the frame without a VLAN tag.
    pub(super) start: u16,
    /// Offset of the checksum from `start`.
    offset: u16,
}

/// A frame that cannot be finished here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unfinishable;

impl Unfinished {
    /// Returns the work on a super-frame that is not cut and whose checksum at `start + offset` is not completed.
    pub(super) fn of(
        kind: Kind,
        header_bytes: usize,
        payload_bytes: usize,
        start: usize,
        offset: usize,
    ) -> Self {
        let [header_bytes, payload_bytes, start, offset] =
            [header_bytes, payload_bytes, start, offset].map(|number| number as u16);
        Self { flags: NEEDS_CHECKSUM, kind: kind as u8, header_bytes, payload_bytes, start, offset }
    }

    /// Reads the offload header that stands in front of a frame.
    pub(super) fn read(header: [u8; OFFLOAD_HEADER_BYTES]) -> Self {
        let [flags, kind, rest @ ..] = header;
        let [header_bytes, payload_bytes, start, offset] =
            [0, 2, 4, 6].map(|at| u16::from_ne_bytes([rest[at], rest[at + 1]]));
        Self { flags, kind, header_bytes, payload_bytes, start, offset }
    }

    /// Returns the offload header that describes this work.
    pub(super) fn header(self) -> [u8; OFFLOAD_HEADER_BYTES] {
        let Self { flags, kind, header_bytes, payload_bytes, start, offset } = self;
        let mut header = [flags, kind, 0, 0, 0, 0, 0, 0, 0, 0];
        for (place, number) in
            header[2..].chunks_exact_mut(2).zip([header_bytes, payload_bytes, start, offset])
        {
            place.copy_from_slice(&number.to_ne_bytes());
        }
        header
    }

    /// Returns the protocol of the super-frame; `None` if this process does not cut that protocol.
    pub(super) fn kind(self) -> Option<Kind> {
        [Kind::TcpOverIpv4, Kind::TcpOverIpv6, Kind::Udp].into_iter().find(|&kind| {
            kind as u8 == self.kind & !WITH_ECN && (kind != Kind::Udp || self.kind == Kind::Udp as u8)
        })
    }

    /// Whether the frame is a super-frame, which consists of many frames.
    pub(super) fn is_super_frame(self) -> bool {
        self.kind != NO_SUPER_FRAME
    }

    /// Completes the checksum of a frame (G-23); `false` if it is complete.
    ///
    /// # Errors
    /// If the place of the checksum is not in the frame, or it is no internet checksum. The frame is then unchanged.
    pub(super) fn complete(self, frame: &mut [u8]) -> Result<bool, Unfinishable> {
        if self.flags & NEEDS_CHECKSUM == 0 {
            return Ok(false);
        }
        let start = usize::from(self.start);
        let place = start + usize::from(self.offset);
        if start < ETHERNET_BYTES || place + 2 > frame.len() || self.offset == SCTP_CHECKSUM_OFFSET {
            return Err(Unfinishable);
        }
        // The sender has put the sum of the pseudo header in the place of the checksum: that sum counts.
        let checksum = Checksum::new().cover(&frame[start..]).finish();
        frame[place..place + 2].copy_from_slice(&sendable(checksum).to_be_bytes());
        Ok(true)
    }
}

/// Returns the checksum as it is sent. In UDP zero says that there is no checksum (RFC 768), so zero is sent as
/// 0xFFFF, which means the same in every protocol.
pub(super) fn sendable(checksum: u16) -> u16 {
    if checksum == 0 { u16::MAX } else { checksum }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lossylink_core::wire::ipv4::{Protocol, PseudoHeader};
    use lossylink_core::wire::udp::UdpView;
    use proptest::prelude::*;

    /// Returns the header that a kernel writes for a plain frame.
    fn header(flags: u8, start: u16, offset: u16) -> [u8; OFFLOAD_HEADER_BYTES] {
        let [s, o] = [start, offset].map(u16::to_ne_bytes);
        [flags, 0, 0, 0, 0, 0, s[0], s[1], o[0], o[1]]
    }

    proptest! {
        /// G-23: whatever the kernel says, at most the two bytes of the checksum that it names are written.
        #[test]
        fn nothing_outside_of_the_place_is_touched(
            bytes in prop::collection::vec(any::<u8>(), 0..120),
            flags: u8,
            start in prop_oneof![0u16..140, any::<u16>()],
            offset in prop_oneof![Just(8u16), 0u16..140, any::<u16>()],
        ) {
            let mut frame = bytes.clone();
            let done = Unfinished::read(header(flags, start, offset)).complete(&mut frame);
            let place = usize::from(start) + usize::from(offset);
            let is_sound = start >= 14 && place + 2 <= bytes.len() && offset != 8;
            let expected = if flags & 1 == 0 { Ok(false) } else if is_sound { Ok(true) } else { Err(Unfinishable) };
            prop_assert_eq!(done, expected);
            if done == Ok(true) {
                frame[place..place + 2].copy_from_slice(&bytes[place..place + 2]);
            }
            prop_assert_eq!(frame, bytes);
        }

        /// G-23: a receiver accepts a datagram that was completed.
        #[test]
        fn a_completed_datagram_is_valid(
            payload in prop::collection::vec(any::<u8>(), 0..100),
            addresses: [[u8; 4]; 2],
            link in 14usize..40,
        ) {
            let length = 8 + payload.len() as u16;
            let [source, destination] = addresses.map(Into::into);
            let pseudo = PseudoHeader { source, destination, protocol: Protocol::UDP, length };
            let mut frame = vec![0xAA; link];
            frame.extend_from_slice(&[0, 7, 0, 8]);
            frame.extend_from_slice(&length.to_be_bytes());
            frame.extend_from_slice(&(!pseudo.checksum(&[])).to_be_bytes());
            frame.extend_from_slice(&payload);
            let unfinished = Unfinished::read(header(1, link as u16, 6));
            prop_assert_eq!(unfinished.complete(&mut frame), Ok(true));
            let view = UdpView::new_checked(&frame[link..], &pseudo).expect("a valid checksum");
            prop_assert!(view.has_checksum());
            prop_assert_eq!(view.payload(), &payload[..]);
        }
    }

    #[test]
    fn a_checksum_of_zero_is_sent_as_ones() {
        let mut frame = [0u8; 40];
        frame[14..18].copy_from_slice(&[0xFF, 0xFF, 0, 0]);
        assert_eq!(Unfinished::read(header(1, 14, 2)).complete(&mut frame), Ok(true));
        assert_eq!(frame[16..18], [0xFF, 0xFF]);
    }
}
