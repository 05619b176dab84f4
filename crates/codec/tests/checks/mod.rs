//! Checks of the receiver of forward error correction for every input: the receiver never panics,
//! delivers no more frames than it got or rebuilt, and no delivered frame is longer than a frame may be.
//! [`routed`] has the checks of two routed guards.
#![allow(missing_docs, unreachable_pub)]

pub mod routed;

use lossylink_codec::{Cauchy, Receiver};
use lossylink_core::engine::fec::{DecoderConfig, Release};
use lossylink_core::time::{Duration, Instant};
use lossylink_core::units::Bytes;
use lossylink_core::wire::ethernet::{EtherType, EthernetHeader};
use lossylink_core::wire::fec::FecHeader;

/// The most bytes behind the coding header of a script's frames, far beyond the payload of an Ethernet
/// frame.
const LONGEST_BODY: usize = 20_000;
/// The longest frame that a coded frame of a script carries: the coded frame without its coding header.
const LONGEST: usize = EthernetHeader::LEN + LONGEST_BODY;

/// Feeds a receiver with the coded frames of a script: a header, a length, a time.
pub fn receiver(script: &[u8]) {
    let config = DecoderConfig {
        release: Release::InOrder,
        window: 4,
        timeout: Duration::from_ms(1),
        kept_max: Bytes(100_000),
    };
    let mut receiver = Receiver::new(Cauchy::new(), config);
    let (mut taken, mut delivered, mut now) = (0u64, 0u64, Instant::ZERO);
    for step in script.chunks_exact(FecHeader::LEN + 3) {
        let (header, rest) = step.split_at(FecHeader::LEN);
        now += Duration::from_us(u64::from(rest[0]));
        if receiver.poll_timeout() <= now {
            receiver.handle_timeout(now, |_| delivered += 1);
        }
        let length = usize::from(u16::from_be_bytes([rest[1], rest[2]])) % (LONGEST_BODY + 1);
        let _ = receiver.receive(now, &coded(header, length), |delivery| {
            assert!(delivery.frame.len() <= LONGEST);
            delivered += 1;
        });
        taken += 1;
        assert!(delivered <= taken + receiver.counters().recovered, "{delivered} of {taken}");
    }
}

/// Returns a frame with these bytes as its coding header.
fn coded(header: &[u8], length: usize) -> Vec<u8> {
    let mut frame = vec![2; 12];
    frame.extend_from_slice(&EtherType::FEC.0.to_be_bytes());
    frame.extend_from_slice(header);
    frame.resize(EthernetHeader::LEN + header.len() + length, 7);
    frame
}
