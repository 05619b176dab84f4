//! Every erasure pattern: up to h losses are rebuilt, byte for byte; h + 1 never are.

use lossylink_codec::{BlockEncoder, BlockStore, Cauchy, Delivery, RebuildError, Receiver, Sender};
use lossylink_core::engine::fec::{BlockNumber, Code, DecoderConfig, Release};
use lossylink_core::time::{Duration, Instant};
use lossylink_core::units::Bytes;

/// Returns a frame whose bytes and length follow from its number: 60 to 90 B.
fn frame(number: u8) -> Vec<u8> {
    let length = 60 + usize::from(number) * 7 % 31;
    (0..length).map(|place| (place as u8).wrapping_mul(17) ^ number.wrapping_mul(59)).collect()
}

/// Calls `visit` with every way to choose `count` of `total` places, as bits.
fn choose(total: u8, count: u8, visit: &mut impl FnMut(u64)) {
    fn extend(total: u8, count: u8, from: u8, chosen: u64, visit: &mut impl FnMut(u64)) {
        if count == 0 {
            return visit(chosen);
        }
        (from..=total - count)
            .for_each(|place| extend(total, count - 1, place + 1, chosen | 1 << place, visit));
    }
    extend(total, count, 0, 0, visit);
}

fn binomial(total: u64, count: u64) -> u64 {
    (0..count).fold(1, |product, step| product * (total - step) / (step + 1))
}

/// Loses every set of `lost` packets of a (size, rows) block and rebuilds the block. Returns the
/// number of sets.
fn rebuild_all(size: u8, rows: u8, lost: u8) -> u64 {
    let frames: Vec<Vec<u8>> = (0..size).map(frame).collect();
    let mut encoder = BlockEncoder::new(Cauchy::new());
    encoder.begin(rows);
    (0..).zip(&frames).for_each(|(index, frame)| encoder.add(index, frame));
    let (code, mut store, mut patterns) = (Cauchy::new(), BlockStore::default(), 0);
    (0..).zip(&frames).for_each(|(index, frame)| store.keep_data(index, frame));
    choose(size + rows, lost, &mut |pattern| {
        patterns += 1;
        let is_lost = |place: u8| pattern >> place & 1 == 1;
        let missing: Vec<u8> = (0..size).filter(|&index| is_lost(index)).collect();
        store.clear();
        (0..rows).filter(|&row| !is_lost(size + row)).for_each(|row| store.keep_body(row, encoder.body(row)));
        // A lost frame must not be there by accident.
        missing.iter().for_each(|&index| store.keep_data(index, &[0xee; 60]));
        let mask = missing.iter().fold(0, |mask, &index| mask | 1u128 << index);
        store.rebuild(&code, size, mask).expect("no more were lost than there is parity");
        for index in missing {
            assert_eq!(store.frame(index), frames[usize::from(index)], "pattern {pattern:b}");
        }
    });
    patterns
}

// FEC-5, FEC-13: no pattern is left out; (25, 5) has 142,506 with five losses.
#[test]
fn every_pattern_of_up_to_h_losses_is_rebuilt() {
    for (size, rows) in [(5, 1), (5, 5), (10, 5), (25, 1), (25, 5)] {
        for lost in 1..=rows {
            let patterns = rebuild_all(size, rows, lost);
            assert_eq!(patterns, binomial(u64::from(size + rows), u64::from(lost)));
        }
    }
}

/// Sends a block through both ends of a link that loses the packets in `pattern`. Returns the
/// frames that were delivered intact, and the number of rebuilt frames.
fn pass(
    size: u8,
    rows: u8,
    pattern: u64,
    sent: &[Vec<u8>],
    receiver: &mut Receiver<Cauchy>,
) -> (Vec<Vec<u8>>, u64) {
    let (mut intact, mut rebuilt) = (Vec::new(), 0);
    for (place, frame) in sent.iter().enumerate() {
        if pattern >> place & 1 == 0 {
            let deliver = |delivery: Delivery<'_>| match delivery.is_rebuilt {
                true => rebuilt += 1,
                false => intact.push(delivery.frame.to_vec()),
            };
            receiver.receive(Instant::ZERO, frame, deliver).expect("a sound frame");
        }
    }
    assert_eq!(sent.len(), usize::from(size + rows));
    (intact, rebuilt)
}

/// Returns the frames that a sender puts on the link for one full block.
fn on_the_link(size: u8, rows: u8) -> Vec<Vec<u8>> {
    let code = Code::new(size.into(), rows.into()).unwrap();
    let mut sender = Sender::new(Cauchy::new(), code, Duration::from_ms(1), BlockNumber::ZERO);
    let mut sent = Vec::new();
    (0..size).for_each(|index| sender.send(Instant::ZERO, &frame(index), |frame| sent.push(frame.to_vec())));
    sent
}

fn receiver() -> Receiver<Cauchy> {
    let config = DecoderConfig {
        release: Release::Eager,
        window: 1,
        timeout: Duration::from_ms(1),
        kept_max: Bytes(1 << 20),
    };
    Receiver::new(Cauchy::new(), config)
}

// FEC-13: with one loss too many, of whatever packets, no frame is rebuilt, and the frames that
// arrived stay right.
#[test]
fn no_pattern_of_more_than_h_losses_is_rebuilt() {
    for (size, rows) in [(5, 1), (5, 5), (10, 5), (25, 1)] {
        let sent = on_the_link(size, rows);
        let mut patterns = 0;
        choose(size + rows, rows + 1, &mut |pattern| {
            patterns += 1;
            let (intact, rebuilt) = pass(size, rows, pattern, &sent, &mut receiver());
            let survivors = (0..size).filter(|&index| pattern >> index & 1 == 0).map(frame);
            assert!(intact.into_iter().eq(survivors), "pattern {pattern:b}");
            assert_eq!(rebuilt, 0, "pattern {pattern:b}");
        });
        assert_eq!(patterns, binomial(u64::from(size + rows), u64::from(rows) + 1));
    }
}

// FEC-13, FEC-18: the store itself reports that it cannot rebuild, for all 177,100 ways to lose six
// of 25.
#[test]
fn every_loss_of_h_plus_one_data_frames_is_reported() {
    let (size, rows) = (25, 5);
    let frames: Vec<Vec<u8>> = (0..size).map(frame).collect();
    let mut encoder = BlockEncoder::new(Cauchy::new());
    encoder.begin(rows);
    (0..).zip(&frames).for_each(|(index, frame)| encoder.add(index, frame));
    let (code, mut store, mut patterns) = (Cauchy::new(), BlockStore::default(), 0);
    (0..).zip(&frames).for_each(|(index, frame)| store.keep_data(index, frame));
    (0..rows).for_each(|row| store.keep_body(row, encoder.body(row)));
    choose(size, rows + 1, &mut |pattern| {
        patterns += 1;
        let refused = store.rebuild(&code, size, pattern.into());
        assert_eq!(refused, Err(RebuildError::TooFew { missing: 6, parity: 5 }));
    });
    assert_eq!(patterns, 177_100);
    let untouched = (0..size).all(|index| store.frame(index) == frames[usize::from(index)]);
    assert!(untouched);
}
