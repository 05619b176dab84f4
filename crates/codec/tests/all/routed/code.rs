//! The sliding-window code by itself: a rebuilt frame equals the sent frame, and repairs rebuild as many frames as
//! they can.

use lossylink_codec::Gf256;
use lossylink_core::guard::routed::code::{Decoder, MOST_COVERED, add_body, contents, weight};
use lossylink_core::wire::routed::Whole;
use proptest::prelude::*;
use std::collections::BTreeSet;

/// A frame or a repair that crosses the path.
#[derive(Clone, Debug)]
enum Item {
    Frame(u64),
    /// A repair of the frames before this number; the second value is how many it covers.
    Repair(u64, u8),
}

type Contents = (Whole, Vec<u8>);

fn sum(frames: &[Contents], end: u64, covered: u8) -> Vec<u8> {
    let mut sum = Vec::new();
    for number in end - u64::from(covered)..end {
        let (whole, contents) = &frames[number as usize];
        add_body(&Gf256, weight(number, end), (*whole, contents.len()), contents, &mut sum);
    }
    sum
}

/// Returns the frames that a decoder rebuilds from these items in this order. Each must equal the sent frame, and must
/// be missing until then.
fn rebuild(frames: &[Contents], items: &[Item]) -> BTreeSet<u64> {
    let (mut decoder, mut known, mut rebuilt) = (Decoder::default(), BTreeSet::new(), BTreeSet::new());
    for item in items {
        let mut found = Vec::new();
        let mut give = |number: u64, body: &[u8]| found.push((number, body.to_vec()));
        match *item {
            Item::Frame(number) => {
                let (whole, contents) = &frames[number as usize];
                decoder.frame(&Gf256, number, *whole, contents, &mut give);
                known.insert(number);
            }
            Item::Repair(end, covered) => {
                decoder.repair(&Gf256, end, covered, &sum(frames, end, covered), &mut give);
            }
        }
        for (number, body) in found {
            let (is, came) = contents(&body).expect("a whole body");
            let (was, sent) = &frames[number as usize];
            assert!(is == *was && came == sent, "{number} came otherwise than it was sent");
            assert!(known.insert(number) && rebuilt.insert(number), "{number} was not missing");
        }
    }
    rebuilt
}

fn frames(most: usize) -> impl Strategy<Value = Vec<Contents>> {
    let whole = any::<(bool, bool)>().prop_map(|(is_bare, is_model)| Whole { is_bare, is_model });
    let contents = (whole, prop::collection::vec(any::<u8>(), 0..40));
    prop::collection::vec(contents, 30..most)
}

proptest! {
    /// If as many repairs arrive as frames are missing, and two more, no frame stays missing, whatever the order of
    /// arrival.
    // RT-14, RT-15
    #[test]
    fn repairs_rebuild_what_they_cover(
        frames in frames(60),
        lost in prop::collection::btree_set(1u64..25, 1..9),
        order in any::<u64>(),
    ) {
        // The first repair turns the decoder on; the frames before it are not kept.
        let count = frames.len() as u64;
        let repairs = (0..lost.len() as u64 + 2).map(|step| count - step).map(|end| Item::Repair(end, (end - 1) as u8));
        let arrived = (1..count).filter(|number| !lost.contains(number)).map(Item::Frame);
        let mut items: Vec<_> = arrived.chain(repairs).map(|item| (0, item)).collect();
        let mut state = order | 1;
        for (key, _) in &mut items {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            *key = state >> 33;
        }
        items.sort_by_key(|(key, _)| *key);
        let items: Vec<_> = [Item::Repair(1, 1)].into_iter().chain(items.into_iter().map(|(_, item)| item)).collect();
        // A late frame may also be rebuilt before it comes.
        prop_assert!(rebuild(&frames, &items).is_superset(&lost));
    }

    /// A stream has a repair behind every few frames. A rebuilt frame is right whatever is lost, and a loss that has a
    /// repair to itself is always rebuilt.
    // RT-15
    #[test]
    fn a_stream_is_rebuilt_as_it_was(
        frames in frames(600),
        every in 2u64..30,
        losses in prop::collection::vec(prop::bool::weighted(0.05), 1200),
        covered in 8u64..=MOST_COVERED,
    ) {
        let (mut items, mut missing) = (vec![Item::Repair(0, 0)], Vec::new());
        for number in 0..frames.len() as u64 {
            match losses[number as usize] {
                true => missing.push(number),
                false => items.push(Item::Frame(number)),
            }
            let end = number + 1;
            if end.is_multiple_of(every) && !losses[600 + (end / every) as usize % 600] {
                items.push(Item::Repair(end, covered.min(end) as u8));
            }
        }
        let rebuilt = rebuild(&frames, &items);
        prop_assert!(rebuilt.iter().all(|number| missing.contains(number)));
        for (place, &number) in missing.iter().enumerate() {
            let alone = place == 0 || number - missing[place - 1] > covered + every;
            let next = missing.get(place + 1).copied().unwrap_or(u64::MAX);
            let end = (number / every + 1) * every;
            let came = items.iter().any(|item| matches!(item, Item::Repair(at, _) if *at == end));
            if alone && next >= end && came && end - number <= covered {
                prop_assert!(rebuilt.contains(&number), "{} of {:?}", number, missing);
            }
        }
    }

    #[test]
    fn garbage_never_panics(
        pieces in prop::collection::vec((0u64..2000, any::<u8>(), prop::collection::vec(any::<u8>(), 0..20), any::<bool>()), 0..60),
    ) {
        let mut decoder = Decoder::default();
        for (number, covered, bytes, is_repair) in pieces {
            let mut give = |_: u64, body: &[u8]| assert!(contents(body).is_none_or(|(_, bytes)| bytes.len() < body.len()));
            match is_repair {
                true => decoder.repair(&Gf256, number, covered, &bytes, &mut give),
                false => decoder.frame(&Gf256, number, Whole::default(), &bytes, &mut give),
            }
        }
    }
}
