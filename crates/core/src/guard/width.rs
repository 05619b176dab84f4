//! Whether the link carries our longest frames (G-32).
//!
//! A protected frame is longer than the frame of the LAN. A link that drops it for its length, while it carries
//! hellos, would be a black hole for full frames: both ends would report that they agree.

use crate::time::{Duration, Instant};

/// The time between two hellos as long as our longest frame, while the peer has received none, and once it has.
const TRY_INTERVAL: Duration = Duration::from_ms(200);
const PROBE_INTERVAL: Duration = Duration::from_secs(1);
/// The number of long messages in a row that are not lost by accident: after them the link counts as too narrow.
const TRIES: u32 = 10;
/// The time for which a long message counts: ten probes, so that a link that loses every second frame goes on being
/// protected but for one time in a thousand.
const MEMORY: Duration = Duration::from_secs(10);

/// The shortest datagram that counts as carried, as QUIC has it (RFC 9000, section 14), with the local octets (RT-2).
const LEAST: u16 = 1200 + 12;
/// The lengths that are tried on a path below our longest frame: paths of 9000, 4096, 1500, 1492, 1480, 1450, 1420,
/// 1400, 1380, 1340 and 1280 octets with the headers of IPv4 and UDP, and those with IPv6 near them (RT-11).
const LENGTHS: [u16; 12] = [8984, 4080, 1484, 1476, 1464, 1444, 1434, 1404, 1384, 1364, 1324, 1264];
/// The time between two tries of a length once all were tried. The length that is carried and one of all lengths take
/// turns.
const SEARCH_INTERVAL: Duration = Duration::from_ms(500);

/// The longest frame that the link carries, in both directions, as one end knows it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Width {
    /// The longest frame that we send; zero if none is longer than those of the LAN.
    needed: u16,
    /// The longest message that the peer has received from us lately, as the peer reports.
    carried: u16,
    /// The longest message that we have received from the peer, and when.
    heard: Option<(u16, Instant)>,
    next_probe: Instant,
    /// Long messages sent since the peer last reported one.
    tries: u32,
    /// Whether other lengths than the longest are tried, because the longest frame of a path is not known (RT-11).
    is_searching: bool,
}

impl Width {
    /// Sets our longest frame from now on.
    pub(super) fn need(&mut self, now: Instant, bytes: usize) {
        self.needed = u16::try_from(bytes).unwrap_or(u16::MAX);
        self.next_probe = now;
        self.tries = 0;
    }

    /// Forgets the lengths that the link carries, because the peer is another.
    pub(super) fn forget(&mut self, now: Instant) {
        let Self { needed, is_searching, .. } = *self;
        *self = Self { needed, is_searching, next_probe: now, ..Self::default() };
    }

    /// Takes in a fresh message of `bytes` bytes, whose sender has received `widest` from us. Returns whether the
    /// peer should learn of its length at once.
    pub(super) fn hear(&mut self, now: Instant, bytes: usize, widest: u16) -> bool {
        let was_enough = self.is_enough();
        self.carried = widest;
        if self.is_enough() {
            self.tries = 0;
        } else if was_enough {
            // A length that a stranger received from its former peer is no evidence about our frames.
            self.next_probe = now;
        }
        let bytes = u16::try_from(bytes).unwrap_or(u16::MAX);
        let before = self.heard(now);
        if bytes >= before {
            self.heard = Some((bytes, now));
        }
        bytes > before
    }

    /// Returns the longest message that we have received from the peer lately.
    pub(super) fn heard(&self, now: Instant) -> u16 {
        self.heard.filter(|(_, at)| now.saturating_since(*at) <= MEMORY).map_or(0, |(bytes, _)| bytes)
    }

    /// Whether our longest frames reach the peer, as far as the peer has reported.
    pub(super) fn is_enough(&self) -> bool {
        self.needed <= self.carried
    }

    /// Whether too many long messages in a row have not reached the peer.
    pub(super) fn is_too_narrow(&self) -> bool {
        self.tries > TRIES
    }

    /// Tries other lengths as well from now on (RT-11).
    pub(super) fn search(&mut self) {
        self.is_searching = true;
    }

    /// Whether all lengths were tried, or the longest is carried.
    pub(super) fn is_searched(&self) -> bool {
        self.is_enough() || self.tries as usize > self.lengths().count()
    }

    /// Returns the longest frame that a path is known to carry, with its seal.
    pub(super) fn limit(&self) -> usize {
        usize::from(self.carried.max(LEAST))
    }

    /// Returns the lengths that are tried, our longest frame first.
    fn lengths(&self) -> impl Iterator<Item = u16> {
        let needed = self.needed;
        core::iter::once(needed).chain(LENGTHS.into_iter().filter(move |length| *length < needed))
    }

    /// Returns the length that is tried in this turn.
    fn searched(&mut self, now: Instant) -> usize {
        let turn = self.tries as usize;
        let count = self.lengths().count();
        self.tries += 1;
        if turn < count {
            self.next_probe = now;
            return self.lengths().nth(turn).map_or(0, usize::from);
        }
        self.next_probe = now + SEARCH_INTERVAL;
        if turn.is_multiple_of(2) {
            return self.limit();
        }
        self.lengths().nth(turn / 2 % count).map_or(0, usize::from)
    }

    /// Returns the least length of the next hello.
    pub(super) fn probe(&mut self, now: Instant) -> usize {
        if now < self.next_probe {
            return 0;
        }
        if self.is_searching && !self.is_enough() {
            return self.searched(now);
        }
        self.next_probe = now + if self.is_enough() { PROBE_INTERVAL } else { TRY_INTERVAL };
        self.tries += u32::from(!self.is_enough());
        usize::from(self.needed)
    }

    /// Returns our longest frame, and the longest message that the peer has received lately.
    pub(super) fn needed_and_carried(&self) -> (u16, u16) {
        (self.needed, self.carried)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_ms(ms)
    }

    // G-32
    #[test]
    fn a_link_is_wide_enough_once_the_peer_has_heard_a_long_message() {
        let mut width = Width::default();
        assert!(width.is_enough(), "nothing is needed");
        width.need(at(0), 1538);
        assert!(!width.is_enough());
        assert_eq!(width.probe(at(0)), 1538);
        assert_eq!((width.probe(at(199)), width.probe(at(200))), (0, 1538));
        width.hear(at(201), 60, 1537);
        assert!(!width.is_enough());
        width.hear(at(202), 60, 1538);
        assert!(width.is_enough());
        assert_eq!((width.probe(at(400)), width.probe(at(1399)), width.probe(at(1400))), (1538, 0, 1538));
        width.forget(at(1500));
        assert!(!width.is_enough());
        assert_eq!(width.probe(at(1500)), 1538);
        for again in 1..TRIES {
            width.probe(at(1500 + 200 * u64::from(again)));
        }
        assert!(!width.is_too_narrow());
        width.probe(at(9000));
        assert!(width.is_too_narrow());
        width.hear(at(9001), 60, 1538);
        assert!(!width.is_too_narrow());
    }

    // G-32
    #[test]
    fn a_peer_that_has_heard_less_than_it_said_hears_a_long_message_at_once() {
        let mut width = Width::default();
        width.need(at(0), 1538);
        width.hear(at(1), 60, 1538);
        assert_eq!(width.probe(at(2)), 1538);
        assert_eq!(width.probe(at(50)), 0);
        width.hear(at(51), 60, 83);
        assert!(!width.is_enough());
        assert_eq!((width.probe(at(52)), width.probe(at(251)), width.probe(at(252))), (1538, 0, 1538));
        // Only once: a peer that repeats the report has been told.
        width.hear(at(253), 60, 83);
        assert_eq!(width.probe(at(254)), 0);
    }

    // RT-11
    #[test]
    fn a_path_is_searched_for_what_it_carries() {
        let mut width = Width::default();
        width.search();
        width.need(at(0), 1546);
        assert_eq!((width.limit(), width.is_searched()), (1212, false));
        let mut tried: alloc::vec::Vec<_> = (0..11).map(|turn| width.probe(at(50 * turn))).collect();
        assert_eq!(tried, [1546, 1484, 1476, 1464, 1444, 1434, 1404, 1384, 1364, 1324, 1264]);
        width.hear(at(560), 60, 1464);
        assert_eq!((width.limit(), width.is_searched()), (1464, false));
        // From now on the length that is carried, and one of all lengths, in turn.
        tried = (0..23).map(|turn| width.probe(at(600 + 500 * turn))).collect();
        assert!(width.is_searched());
        assert_eq!(tried.iter().filter(|length| **length == 1464).count(), 12);
        assert!(tried.contains(&1546) && tried.contains(&1264), "{tried:?}");
        width.hear(at(20_000), 60, 1546);
        assert_eq!(width.limit(), 1546);
        assert_eq!(
            (width.probe(at(20_000)), width.probe(at(20_500)), width.probe(at(21_000))),
            (1546, 0, 1546)
        );
        width.forget(at(30_000));
        assert_eq!((width.limit(), width.is_searched(), width.probe(at(30_000))), (1212, false, 1546));
    }

    // G-32
    #[test]
    fn what_was_heard_long_ago_does_not_count() {
        let mut width = Width::default();
        assert!(width.hear(at(0), 1538, 0));
        assert!(!width.hear(at(10), 60, 0));
        assert!(!width.hear(at(5000), 1538, 0), "the peer knows");
        assert_eq!((width.heard(at(15_000)), width.heard(at(15_001))), (1538, 0));
        assert!(width.hear(at(15_001), 60, 0));
        assert_eq!(width.heard(at(15_001)), 60);
    }
}
