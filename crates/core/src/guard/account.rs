//! The account of the frames that the link lost, under any protection (G-33). Each end reports the frames that it
//! has put on the link, and the other end reports how many of these have arrived. Carriers measure their links
//! like this (ITU-T Y.1731, ETH-LM).

/// The number of messages over which a difference is taken at its lowest. Frames that the link reorders, and
/// frames that wait behind a hole, arrive meanwhile. With hellos and replies these messages take about 0.4 s.
const RECENT: usize = 16;

/// The frames that an end has put on the link before a message; both numbers wrap. The first number goes back by
/// the frames that the port turns out to have refused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    /// Frames of every kind.
    pub(super) frames: u32,
    /// Frames of the LAN sent for the first time, a part of `frames`.
    pub(super) contents: u32,
}

/// The frames that have come out of the link before a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Arrived {
    /// Frames of every kind.
    pub(super) frames: u64,
    /// Frames handed to the LAN, or waiting for it.
    pub(super) contents: u64,
}

/// The frames of one direction of the link, as its receiving end counts them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Account {
    /// Frames of every kind that the other end has put on the link.
    pub(super) frames: u64,
    /// Frames of every kind that did not arrive, a part of `frames`.
    pub(super) lost: u64,
    /// Frames of the LAN that the other end has sent.
    pub(super) contents: u64,
    /// Frames of the LAN that were not handed to the LAN of this end, a part of `contents`.
    pub(super) missing: u64,
}

impl Account {
    /// Returns the counts as a message carries them: modulo 2^32.
    pub(super) fn words(&self) -> [u32; 4] {
        [self.frames, self.lost, self.contents, self.missing].map(|count| count as u32)
    }
}

/// The accounts of both directions, as far as the messages of the present peer and of its predecessors have told.
#[derive(Clone, Debug, Default)]
pub(super) struct Accounts {
    /// The account of the direction toward this end.
    pub(super) arriving: Account,
    /// The account of the direction from this end, as the peer reports it.
    pub(super) leaving: Account,
    /// The tally in the peer's last message, and the frames that had arrived by then.
    last: Option<(Tally, Arrived)>,
    /// The peer's own account in its last message.
    told: Option<[u32; 4]>,
    lost: Shortfall,
    missing: Shortfall,
}

impl Accounts {
    /// Forgets the last message, because the peer is another or begins anew: its numbers do not continue the
    /// earlier ones.
    pub(super) fn forget(&mut self) {
        *self = Self { arriving: self.arriving, leaving: self.leaving, ..Self::default() };
    }

    /// Takes in a fresh message: `tally` has the frames that its sender had put on the link before it, `arrived`
    /// those that had arrived here, and `told` the sender's account of our frames.
    pub(super) fn hear(&mut self, tally: Tally, arrived: Arrived, told: [u32; 4]) {
        if let Some((tally_before, arrived_before)) = self.last {
            let frames = tally.frames.wrapping_sub(tally_before.frames) as i32;
            let contents = tally.contents.wrapping_sub(tally_before.contents) as i32;
            self.lost.grow(frames, arrived.frames - arrived_before.frames);
            self.missing.grow(contents, arrived.contents - arrived_before.contents);
            self.arriving.frames += self.lost.more_sent();
            self.arriving.contents += self.missing.more_sent();
            self.arriving.lost += self.lost.more_short();
            self.arriving.missing += self.missing.more_short();
        }
        self.last = Some((tally, arrived));
        if let Some(before) = self.told {
            let Account { frames, lost, contents, missing } = &mut self.leaving;
            for (at, count) in [frames, lost, contents, missing].into_iter().enumerate() {
                *count += u64::from(told[at].wrapping_sub(before[at]));
            }
        }
        self.told = Some(told);
    }
}

/// The number of frames sent in one direction, less the number that arrived.
#[derive(Clone, Debug, Default)]
struct Shortfall {
    sent: i64,
    present: i64,
    recent: [i64; RECENT],
    messages: usize,
    /// How much of the sent frames, and of the shortfall, has been counted.
    counted: [i64; 2],
}

impl Shortfall {
    /// Adds `sent` frames that were sent and `arrived` frames that arrived.
    fn grow(&mut self, sent: i32, arrived: u64) {
        self.sent += i64::from(sent);
        self.present += i64::from(sent) - arrived as i64;
        self.recent[self.messages % RECENT] = self.present;
        self.messages += 1;
    }

    /// Returns how many more frames are now certain to have been sent.
    fn more_sent(&mut self) -> u64 {
        risen(&mut self.counted[0], self.sent)
    }

    /// Returns how many more frames are now certain to be lost: the lowest of the recent shortfalls has risen.
    fn more_short(&mut self) -> u64 {
        if self.messages < RECENT {
            return 0;
        }
        let certain = self.recent.iter().copied().min().unwrap_or(0);
        risen(&mut self.counted[1], certain)
    }
}

/// Returns by how much a number exceeds its part that has been counted, and counts the rest.
fn risen(counted: &mut i64, present: i64) -> u64 {
    let more = (present - *counted).max(0);
    *counted += more;
    more as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use proptest::prelude::*;

    fn tally(frames: u64) -> Tally {
        Tally { frames: frames as u32, contents: (frames / 2) as u32 }
    }

    fn arrived(frames: u64) -> Arrived {
        Arrived { frames, contents: frames / 2 }
    }

    /// Hands over messages. Each step has the frames sent, and those that arrived, since the message before.
    fn told(accounts: &mut Accounts, from: u64, steps: &[(u64, u64)]) {
        let (mut sent, mut came) = (from, 0);
        for &(more, of_them) in steps {
            sent += more;
            came += of_them;
            accounts.hear(tally(sent), arrived(came), [0; 4]);
        }
    }

    // G-33: the first message only sets the start, and the numbers wrap.
    #[test]
    fn what_did_not_arrive_is_lost() {
        let mut accounts = Accounts::default();
        let mut steps = vec![(0, 0), (1000, 990)];
        steps.extend([(2, 2); RECENT]);
        told(&mut accounts, u64::from(u32::MAX) - 500, &steps);
        assert_eq!(accounts.arriving.frames, 1000 + 2 * RECENT as u64);
        assert_eq!(accounts.arriving.lost, 10);
        assert_eq!(accounts.arriving.missing, 5);
    }

    // G-33
    #[test]
    fn what_comes_late_is_not_lost() {
        let mut accounts = Accounts::default();
        let mut steps = vec![(0, 0); RECENT];
        // Eight frames are overtaken by a message, again and again.
        for _ in 0..50 {
            steps.extend([(100, 92), (100, 108)]);
        }
        told(&mut accounts, 0, &steps);
        assert_eq!((accounts.arriving.frames, accounts.arriving.lost), (10_000, 0));
    }

    // G-33
    #[test]
    fn another_peer_begins_another_count() {
        let mut accounts = Accounts::default();
        accounts.hear(tally(0), arrived(0), [u32::MAX - 1; 4]);
        accounts.hear(tally(7), arrived(7), [3; 4]);
        accounts.forget();
        accounts.hear(tally(1_000_000), arrived(7), [70; 4]);
        accounts.hear(tally(1_000_002), arrived(9), [71; 4]);
        assert_eq!((accounts.arriving.frames, accounts.arriving.lost), (9, 0));
        assert_eq!(accounts.leaving, Account { frames: 6, lost: 6, contents: 6, missing: 6 });
    }

    proptest! {
        // G-33: never more frames are counted as lost than were, and all of them once the link is idle.
        #[test]
        fn the_count_is_a_lower_bound_and_comes_true(
            steps in prop::collection::vec((0u64..1000, 0u64..=100), 1..80),
        ) {
            let mut accounts = Accounts::default();
            accounts.hear(tally(0), arrived(0), [0; 4]);
            let (mut sent, mut came) = (0, 0);
            for (more, percent_lost) in steps {
                sent += more;
                came += more - more * percent_lost / 100;
                accounts.hear(tally(sent), arrived(came), [0; 4]);
                prop_assert!(accounts.arriving.lost <= sent - came);
            }
            (0..RECENT).for_each(|_| accounts.hear(tally(sent), arrived(came), [0; 4]));
            prop_assert_eq!(accounts.arriving.lost, sent - came);
            prop_assert_eq!(accounts.arriving.frames, sent);
        }
    }
}
