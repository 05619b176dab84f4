//! The content of frames of a block code that a tap sees: the bytes of their headers (FEC-2, FEC-3). Both coders use it.

use super::HEADER_OCTETS;
use crate::net::Frame;
use crate::net::tap::{Content, Headers, Neighbour};
use lossylink_core::wire::ethernet::EtherType;
use lossylink_core::wire::fec::{FecHeader, FecPart};

/// Shows a data frame with its header, which is left out of the frame that is shown.
pub(in crate::net) fn data<P>(coded: Frame<P>, block: u32, index: u8) -> Content<P> {
    let part = FecPart::Data { index, ethertype: EtherType::IPV4 };
    Content::Behind(headers(block, part), Frame { octets: coded.octets - HEADER_OCTETS, ..coded })
}

/// Shows a parity frame; its coded body is shown as zeros.
pub(in crate::net) fn parity<P>(octets: u32, block: u32, (row, size, rows): (u8, u8, u8)) -> Content<P> {
    let headers = headers(block, FecPart::Parity { row, size, rows });
    Content::Own { headers, to: Neighbour::Switch, octets }
}

fn headers(block: u32, part: FecPart) -> Headers {
    Headers::new(EtherType::FEC, |buffer| {
        FecHeader { block, part }.emit(buffer);
        FecHeader::LEN
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::Ecn;

    // FEC-2, FEC-3
    #[test]
    fn headers_are_their_literal_bytes() {
        let frame = Frame::of_frame_bytes(1514, Ecn::NotCapable, 7_u64);
        let coded = Frame { octets: frame.octets + HEADER_OCTETS, ..frame };
        let Content::Behind(headers, shown) = data(coded, 0x01_0203, 4) else { panic!("a data frame") };
        assert_eq!((headers.octets(), shown), (&[1, 2, 3, 4, 8, 0][..], frame));
        let Content::Own { headers, octets, .. } = parity::<u64>(1564, 7, (1, 5, 2)) else {
            panic!("a parity frame")
        };
        assert_eq!((headers.octets(), octets), (&[0, 0, 7, 0x81, 5, 2][..], 1564));
    }
}
