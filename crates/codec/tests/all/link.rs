//! Both ends of a link with real bytes, under loss, reordering, duplication and corruption. A
//! rebuilt frame equals the sent frame, and counting frames predicts the frames that coding
//! delivers.

use lossylink_codec::{Cauchy, Receiver, Sender};
use lossylink_core::engine::fec::{
    Admission, BlockNumber, Code, DataStamp, DataVerdict, Decoder, DecoderConfig, Output, ParityStamp,
    Release,
};
use lossylink_core::time::{Duration, Instant};
use lossylink_core::units::Bytes;
use lossylink_core::wire::ethernet::EthernetHeader;
use lossylink_core::wire::fec::{FecHeader, FecPart};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// The fate of a frame on the link.
#[derive(Clone, Copy, Debug)]
enum Fate {
    Passes,
    IsLost,
    /// The frame arrives twice, the second time this many frames later.
    IsDoubled(usize),
    /// The frame arrives this many frames later.
    IsLate(usize),
}

/// A frame that leaves the receiver: its place, its bytes, and whether it was rebuilt.
type Left = (Option<DataStamp>, Vec<u8>, bool);

fn frame(number: usize, length: usize) -> Vec<u8> {
    (0..length).map(|place| (place * 37 + number * 101 + place / 256) as u8).collect()
}

/// Sends frames of these lengths, with changes of the code at the places in `codes`. Returns the
/// frames on the link.
fn sent(lengths: &[usize], codes: &[(usize, Code)], first: BlockNumber) -> Vec<Vec<u8>> {
    let mut link = Vec::new();
    let mut sender = Sender::new(Cauchy::new(), codes[0].1, Duration::from_us(100), first);
    for (number, &length) in lengths.iter().enumerate() {
        codes.iter().filter(|(from, _)| *from == number).for_each(|&(_, code)| sender.set_code(code));
        sender.send(Instant::ZERO, &frame(number, length), |frame| link.push(frame.to_vec()));
    }
    let due = sender.poll_timeout();
    if !due.is_never() {
        sender.handle_timeout(due, |frame| link.push(frame.to_vec()));
    }
    link
}

/// Returns the frames of `link` that arrive, in order.
fn arriving(link: &[Vec<u8>], fates: &[Fate]) -> Vec<Vec<u8>> {
    let mut arrivals: Vec<(usize, &Vec<u8>)> = Vec::new();
    for ((place, frame), fate) in link.iter().enumerate().zip(fates.iter().cycle()) {
        match *fate {
            Fate::Passes => arrivals.push((place, frame)),
            Fate::IsLost => {}
            Fate::IsLate(later) => arrivals.push((place + later, frame)),
            Fate::IsDoubled(later) => arrivals.extend([(place, frame), (place + later, frame)]),
        }
    }
    arrivals.sort_by_key(|&(place, _)| place);
    arrivals.into_iter().map(|(_, frame)| frame.clone()).collect()
}

fn config(release: Release, window: u32) -> DecoderConfig {
    DecoderConfig { release, window, timeout: Duration::from_ms(1), kept_max: Bytes(1 << 30) }
}

/// Returns the frames that the receiver makes of `arrivals`. Malformed frames are dropped.
fn received(arrivals: &[Vec<u8>], config: DecoderConfig) -> Vec<Left> {
    let mut left = Vec::new();
    let mut receiver = Receiver::new(Cauchy::new(), config);
    for frame in arrivals {
        let _malformed = receiver.receive(Instant::ZERO, frame, |delivery| {
            left.push((delivery.stamp, delivery.frame.to_vec(), delivery.is_rebuilt));
        });
    }
    let end = Instant::ZERO + Duration::from_secs(1);
    receiver.handle_timeout(end, |delivery| {
        left.push((delivery.stamp, delivery.frame.to_vec(), delivery.is_rebuilt));
    });
    left
}

/// Returns the original of every data frame on the link, by its place.
fn originals(link: &[Vec<u8>], lengths: &[usize]) -> BTreeMap<(u32, u8), Vec<u8>> {
    let places = link.iter().filter_map(|frame| match parse(frame) {
        FecHeader { block, part: FecPart::Data { index, .. } } => Some((block, index)),
        FecHeader { part: FecPart::Parity { .. }, .. } => None,
    });
    let padded = lengths.iter().enumerate().map(|(number, &length)| {
        let mut frame = frame(number, length);
        frame.resize(length.max(60), 0);
        frame
    });
    places.zip(padded).collect()
}

fn parse(frame: &[u8]) -> FecHeader {
    FecHeader::parse(&frame[EthernetHeader::LEN..]).expect("a frame of ours").0
}

fn any_code() -> impl Strategy<Value = Code> {
    prop_oneof![
        Just((5, 1)), Just((5, 5)), Just((25, 5)), Just((1, 1)), Just((128, 32)), (1..20u32, 1..8u32),
    ]
    .prop_map(|(size, rows)| Code::new(size, rows).unwrap())
}

fn any_lengths() -> impl Strategy<Value = Vec<usize>> {
    let length = prop_oneof![4 => 60..1515usize, 1 => 60..9001usize, 1 => 14..60usize, 2 => Just(1514)];
    prop::collection::vec(length, 1..80)
}

fn any_codes() -> impl Strategy<Value = Vec<(usize, Code)>> {
    (any_code(), prop::collection::vec((1..80usize, any_code()), 0..4))
        .prop_map(|(first, later)| std::iter::once((0, first)).chain(later).collect())
}

fn any_fates() -> impl Strategy<Value = Vec<Fate>> {
    let fate = prop_oneof![
        12 => Just(Fate::Passes),
        2 => Just(Fate::IsLost),
        1 => (1..40usize).prop_map(Fate::IsDoubled),
        1 => (1..40usize).prop_map(Fate::IsLate),
    ];
    prop::collection::vec(fate, 1..200)
}

fn any_release() -> impl Strategy<Value = Release> {
    prop_oneof![Just(Release::Eager), Just(Release::InOrder)]
}

/// Returns the frames of `arrivals` that a bare [`Decoder`], which only counts frames, lets
/// through, and whether each was rebuilt.
fn counted(arrivals: &[Vec<u8>], config: DecoderConfig) -> Vec<(DataStamp, bool)> {
    let (mut decoder, mut left, mut rebuilt) = (Decoder::new(config), Vec::new(), BTreeMap::new());
    let mut poll = |decoder: &mut Decoder, left: &mut Vec<(DataStamp, bool)>| {
        while let Some(output) = decoder.poll() {
            match output {
                Output::Rebuild { block, missing, .. } => drop(rebuilt.insert(block.bits(), missing)),
                Output::Release { stamp } => {
                    let missing = rebuilt.get(&stamp.block.bits()).copied().unwrap_or(0);
                    left.push((stamp, missing >> stamp.index & 1 == 1));
                }
            }
        }
    };
    for frame in arrivals {
        let header = parse(frame);
        let block = BlockNumber::new(header.block);
        let bytes = Bytes((frame.len() - EthernetHeader::LEN - FecHeader::LEN) as u64);
        if decoder.admit(block, bytes) == Admission::Stale {
            continue;
        }
        poll(&mut decoder, &mut left);
        match header.part {
            FecPart::Data { index, .. } => {
                let stamp = DataStamp { block, index };
                if decoder.handle_data(Instant::ZERO, stamp, bytes) == DataVerdict::Forward {
                    left.push((stamp, false));
                }
            }
            FecPart::Parity { row, size, rows } => {
                decoder.handle_parity(Instant::ZERO, &ParityStamp { block, row, size, rows }, bytes);
            }
        }
        poll(&mut decoder, &mut left);
    }
    decoder.handle_timeout(Instant::ZERO + Duration::from_secs(1));
    poll(&mut decoder, &mut left);
    left
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    // FEC-4, FEC-8, FEC-9, FEC-12: whatever the link does to whole frames, each frame that leaves
    // the receiver equals the frame that was sent under its place, and leaves once.
    #[test]
    fn what_leaves_was_sent(
        lengths in any_lengths(), codes in any_codes(), fates in any_fates(),
        release in any_release(), window in 0..5u32, wraps: bool,
    ) {
        let first = BlockNumber::ZERO.back(if wraps { 2 } else { 0 });
        let link = sent(&lengths, &codes, first);
        let originals = originals(&link, &lengths);
        let left = received(&arriving(&link, &fates), config(release, 1 << window));
        let mut seen = std::collections::BTreeSet::new();
        for (stamp, frame, _) in left {
            let stamp = stamp.expect("everything is tagged");
            let place = (stamp.block.bits(), stamp.index);
            prop_assert_eq!(Some(&frame), originals.get(&place));
            prop_assert!(seen.insert(place), "{:?} left twice", place);
        }
    }

    // FEC-13: the simulator counts; coding real bytes gives the same frames in the same order.
    #[test]
    fn counting_equals_coding(
        lengths in any_lengths(), codes in any_codes(), fates in any_fates(),
        release in any_release(), window in 0..5u32,
    ) {
        let link = sent(&lengths, &codes, BlockNumber::ZERO);
        let arrivals = arriving(&link, &fates);
        let config = config(release, 1 << window);
        let coded: Vec<_> = received(&arrivals, config)
            .into_iter()
            .map(|(stamp, _, is_rebuilt)| (stamp.expect("everything is tagged"), is_rebuilt))
            .collect();
        prop_assert_eq!(coded, counted(&arrivals, config));
    }

    // FEC-6, FEC-7, FEC-13: with no more than h losses a block, every frame arrives. Interleaved
    // blocks need a window as wide as their interleaving. The first frame arrives: it tells the
    // receiver where the stream begins (FEC-10).
    #[test]
    fn up_to_h_losses_a_block_cost_nothing(
        lengths in any_lengths(), codes in any_codes(), release in any_release(),
        lost in prop::collection::vec(any::<bool>(), 1..300), interleaved: bool,
    ) {
        let link = sent(&lengths, &codes, BlockNumber::ZERO);
        let mut budget = BTreeMap::new();
        for frame in &link {
            if let FecHeader { block, part: FecPart::Parity { rows, .. } } = parse(frame) {
                budget.insert(block, rows);
            }
        }
        let mut arrivals = Vec::new();
        for (place, (frame, &is_lost)) in link.iter().zip(lost.iter().cycle()).enumerate() {
            let left = budget.get_mut(&parse(frame).block).expect("every block has parity");
            if is_lost && place > 0 && *left > 0 { *left -= 1 } else { arrivals.push(frame.clone()) }
        }
        if interleaved {
            // The frames of eight blocks take turns.
            arrivals.sort_by_key(|frame| {
                let header = parse(frame);
                let place = match header.part {
                    FecPart::Data { index, .. } => u16::from(index),
                    FecPart::Parity { row, .. } => 128 + u16::from(row),
                };
                (header.block / 8, place, header.block)
            });
        }
        let left = received(&arrivals, config(release, if interleaved { 16 } else { 1 }));
        prop_assert_eq!(left.len(), lengths.len());
        if release == Release::InOrder {
            let places: Vec<_> = left.iter().map(|(stamp, ..)| stamp.map(|s| (s.block.bits(), s.index))).collect();
            prop_assert!(places.is_sorted());
        }
    }

    // FEC-17, FEC-18: with headers and bodies corrupted behind the back of the check sequence,
    // no rebuilt frame differs from what was sent.
    #[test]
    fn corruption_never_rebuilds_a_wrong_frame(
        lengths in any_lengths(), codes in any_codes(), fates in any_fates(), release in any_release(),
        window in 0..3u32, flips in prop::collection::vec((0..300usize, 0..2000usize, 0..8u32), 1..12),
    ) {
        let link = sent(&lengths, &codes, BlockNumber::ZERO);
        let originals: Vec<_> = originals(&link, &lengths).into_values().collect();
        let mut arrivals = arriving(&link, &fates);
        for (frame, byte, bit) in flips {
            let count = arrivals.len().max(1);
            if let Some(frame) = arrivals.get_mut(frame % count) {
                // Addresses and EtherType stay, or the frame would not be a coded frame.
                let place = EthernetHeader::LEN + byte % (frame.len() - EthernetHeader::LEN);
                frame[place] ^= 1 << bit;
            }
        }
        for (_, frame, is_rebuilt) in received(&arrivals, config(release, 1 << window)) {
            prop_assert!(!is_rebuilt || originals.contains(&frame));
        }
    }
}

// FEC-19
#[test]
fn untagged_frames_pass() {
    let plain = frame(3, 100);
    let left = received(std::slice::from_ref(&plain), config(Release::InOrder, 1));
    assert_eq!(left, [(None, plain, false)]);
}
