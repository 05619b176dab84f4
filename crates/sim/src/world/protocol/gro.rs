//! Generic receive offload: the rules by which a host hands two data packets up as one (Linux `tcp_gro_receive`).
//!
//! The push flag, which ends a merge too, is not modelled: the short last segment of a flow stands
//! for it.

use crate::transport::tcp::{Config, Data, Packet};

/// The largest IP packet that merging makes, bytes (Linux: below `GRO_LEGACY_MAX_SIZE`).
const MOST_BYTES: u32 = 65_535;

/// Adds `next`, and the full segments that follow it up to `count` in all, to `held`, as far as they may be part of
/// one packet. Returns how many were added. (HOST-6, HOST-7)
pub(super) fn merge_data(held: &mut Data, next: &Data, count: u32, config: &Config) -> u32 {
    let full = config.payload_bytes();
    let is_full = held.payload == u32::from(held.segments) * full;
    let follows = held.end() == next.first && is_full && next.segments == 1;
    let is_alike = held.timestamp == next.timestamp && held.ecn_capable == next.ecn_capable;
    if !follows || !is_alike || next.window_reduced {
        return 0;
    }
    let room = MOST_BYTES.saturating_sub(Packet::Data(*held).ip_bytes(config));
    let merged = if count == 1 { u32::from(next.payload <= room) } else { count.min(room / next.payload) };
    held.payload += merged * next.payload;
    held.segments += merged as u16;
    held.retransmission |= merged > 0 && next.retransmission;
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment(first: u64) -> Data {
        Data {
            first,
            payload: 1460,
            segments: 1,
            retransmission: false,
            ecn_capable: true,
            window_reduced: false,
            timestamp: 7,
        }
    }

    /// Returns the packet that `first` becomes when the segments `others` follow it, and the number of segments that it took in.
    fn merged(first: Data, others: &[Data]) -> (Data, usize) {
        let mut held = first;
        let count =
            others.iter().take_while(|next| merge_data(&mut held, next, 1, &Config::default()) == 1).count();
        (held, count)
    }

    // HOST-6
    #[test]
    fn segments_in_order_become_one() {
        let (held, count) = merged(segment(10), &[segment(11), segment(12)]);
        assert_eq!((count, held.first, held.end(), held.payload), (2, 10, 13, 3 * 1460));
    }

    // HOST-6: 44 segments are 64,280 bytes, 45 would be 65,740.
    #[test]
    fn a_merge_ends_at_64_kilobytes() {
        let others: Vec<_> = (1..60).map(segment).collect();
        let (held, count) = merged(segment(0), &others);
        assert_eq!((held.segments, count), (44, 43));
    }

    // HOST-6
    #[test]
    fn a_train_merges_as_its_segments_do() {
        for (before, count) in [(1, 1), (1, 12), (1, 60), (40, 10), (44, 3)] {
            let others: Vec<_> = (1..before + count).map(u64::from).map(segment).collect();
            let (expected, taken) = merged(segment(0), &others);
            let (mut held, _) = merged(segment(0), &others[..before as usize - 1]);
            let next = segment(u64::from(before));
            let added = merge_data(&mut held, &next, count, &Config::default());
            assert_eq!((held, before + added), (expected, taken as u32 + 1), "{before} and {count}");
        }
    }

    // HOST-6
    #[test]
    fn a_gap_an_overlap_and_a_repetition_end_a_merge() {
        for next in [12, 10, 9] {
            assert_eq!(merged(segment(10), &[segment(next)]), (segment(10), 0), "{next}");
        }
        let (held, count) = merged(segment(10), &[segment(11), segment(11)]);
        assert_eq!((held.end(), count), (12, 1));
    }

    // HOST-6
    #[test]
    fn a_short_segment_is_the_last_of_its_merge() {
        let short = Data { payload: 100, ..segment(11) };
        let (held, count) = merged(segment(10), &[short, segment(12)]);
        assert_eq!((held.end(), held.payload, count), (12, 1560, 1));
    }

    // HOST-7
    #[test]
    fn a_header_that_says_something_else_ends_a_merge() {
        let stamped = Data { timestamp: 8, ..segment(11) };
        let reduced = Data { window_reduced: true, ..segment(11) };
        let incapable = Data { ecn_capable: false, ..segment(11) };
        for next in [stamped, reduced, incapable] {
            assert_eq!(merged(segment(10), &[next]).1, 0, "{next:?}");
        }
        let first = Data { window_reduced: true, ..segment(10) };
        assert_eq!(merged(first, &[segment(11)]).1, 1, "the flag reaches the receiver with the rest");
        let again = Data { retransmission: true, ..segment(11) };
        let (held, count) = merged(segment(10), &[again]);
        assert_eq!((held.retransmission, count), (true, 1), "no header tells a repetition");
    }
}
