//! Every parser against random, truncated and nearly right input (WIRE-3): the checks of the fuzz
//! targets, on the stable toolchain and in a second.

use crate::checks;
use lossylink_core::wire::tcp::{SackBlock, TcpFlags, TcpHeader, TcpOptions, Timestamps};
use lossylink_core::wire::{ethernet, ipv4, linkguardian, pfc};
use proptest::prelude::*;

/// Runs all checks on these bytes.
fn check_all(bytes: &[u8]) {
    let checks = [
        checks::ethernet,
        checks::linkguardian_data,
        checks::linkguardian_ack,
        checks::linkguardian_notification,
        checks::linkguardian_frame,
        checks::pfc,
        checks::ipv4,
        checks::udp,
        checks::tcp,
        checks::roce,
    ];
    for check in checks {
        check(bytes);
    }
}

/// Returns valid bytes of several formats, to be cut and corrupted.
fn seeds() -> Vec<Vec<u8>> {
    let specs = ["0.1%", "ber:1e-12", "gilbert-elliott:p=1e-4,r=0.3,good=0,bad=1", "at:17,18", "15.66"];
    let mut seeds: Vec<Vec<u8>> = specs.iter().map(|spec| spec.as_bytes().to_vec()).collect();
    seeds.push(pfc::PauseFrame::for_class(1, 65535).to_frame(ethernet::MacAddress([2; 6])).to_vec());
    seeds.push(pfc::PauseFrame::for_class(1, 65535).to_frame(ethernet::MacAddress([2; 6]))[14..].to_vec());
    seeds.push(chained_frame());
    seeds.push(tcp_segment());
    seeds
}

/// Returns a data frame with a piggy-backed ACK.
fn chained_frame() -> Vec<u8> {
    let frame = linkguardian::LinkGuardianFrame::Data {
        ack: Some(linkguardian::AckHeader { is_piggybacked: true, era: true, leading_ack: 7 }),
        data: linkguardian::DataHeader { sequence: 9, ..Default::default() },
        content: linkguardian::Content { ethertype: ethernet::EtherType::IPV4, payload: &[] },
    };
    let mut bytes = vec![0; frame.headers_len()];
    frame.emit_headers(&mut bytes);
    bytes.extend_from_slice(&[0x45; 50]);
    bytes
}

/// Returns a TCP segment with all the options that fit.
fn tcp_segment() -> Vec<u8> {
    let block = SackBlock { left: 1, right: 2 };
    let options = TcpOptions {
        maximum_segment: Some(1460),
        sack_permitted: true,
        timestamps: Some(Timestamps { value: 1, echo: 2 }),
        sack_blocks: [block; 2].into_iter().collect(),
        ..TcpOptions::default()
    };
    let header = TcpHeader { flags: TcpFlags::ACK, options, ..TcpHeader::default() };
    let mut bytes = vec![0; header.header_len() + 10];
    let pseudo = ipv4::PseudoHeader {
        source: [10, 0, 0, 1].into(),
        destination: [10, 0, 0, 2].into(),
        protocol: ipv4::Protocol::TCP,
        length: bytes.len() as u16,
    };
    header.emit(&mut bytes, &pseudo);
    bytes
}

#[test]
fn every_prefix_of_valid_bytes_is_handled() {
    for seed in seeds() {
        for length in 0..=seed.len() {
            check_all(&seed[..length]);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn random_bytes_are_handled(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
        check_all(&bytes);
    }

    #[test]
    fn nearly_right_bytes_are_handled(
        seed in prop::sample::select(seeds()),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        length in any::<prop::sample::Index>(),
    ) {
        let mut bytes = seed;
        for (place, byte) in changes {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        bytes.truncate(length.index(bytes.len() + 1));
        check_all(&bytes);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    // G-1, G-3, G-12, G-16
    #[test]
    fn guards_survive_whatever_the_link_does(script in proptest::collection::vec(any::<u8>(), 0..2000)) {
        checks::guard::receive_path(&script);
    }
}
