//! Lets copies go round many times at once, while nothing changes for long: on a slow line a copy makes millions of rounds before its
//! acknowledgement comes.

use super::outstanding::{Outstanding, is_outstanding};
use super::{Ticket, TxLoop};
use crate::net::Payload;
use lossylink_core::time::{Duration, Instant};

/// Rounds from which on it is worth a look whether all copies go round alike.
const MANY_ROUNDS: u64 = 16;
/// So many copies go round together at the most: others are on a line that is too fast for long waits.
const MOST_COPIES: usize = 64;

impl<P: Payload> TxLoop<P> {
    /// A time in which copies make many rounds.
    #[inline]
    pub(super) fn long(&self) -> Duration {
        self.way_round * MANY_ROUNDS
    }

    /// Whether there is as much time from the next look to `last`.
    #[inline]
    pub(super) fn has_long_until(&self, last: Instant) -> bool {
        last.saturating_since(self.next_look()) > self.long()
    }

    /// All copies go round as often as they do before a new one comes or one leaves, up to and including `last`, if none of them meets
    /// another. Otherwise nothing happens.
    #[cold]
    #[inline(never)]
    pub(super) fn pass_rounds(&mut self, last: Instant, outstanding: &mut Outstanding<'_>) {
        let next = self.rounds.poll_timeout();
        let until = last.min(self.fresh.poll_timeout().just_before());
        if next > until || !self.trains.is_empty() || self.rounds.len() > MOST_COPIES {
            return;
        }
        let oldest = outstanding.oldest_at(next);
        let until = until.min(outstanding.next_change().just_before());
        let Some((newest, serialisation)) = self.keep_apart(oldest) else { return };
        if newest > until {
            return;
        }
        let round = serialisation + self.way_round;
        let rounds = (until - newest) / round;
        self.queue.pass(newest + round * rounds + serialisation);
        self.rounds.put_off(self.rounds.len(), round * (rounds + 1));
    }

    /// When the last of the copies is looked at next and how long each is in the port, if frames from number `oldest` on are outstanding,
    /// all of these are, and each finds the port idle in every round.
    fn keep_apart(&self, oldest: u32) -> Option<(Instant, Duration)> {
        let octets = self.rounds.front()?.octets;
        let serialisation = self.queue.serialisation(octets);
        let is_alike = |ticket: &Ticket| ticket.octets == octets && is_outstanding(ticket.number, oldest);
        let mut entries = self.rounds.entries();
        let &(first, ticket) = entries.next()?;
        let mut newest = first;
        let mut keeps = is_alike(&ticket) && self.queue.next_start(first) == first;
        for (at, ticket) in entries {
            keeps &= is_alike(ticket) && *at >= newest + serialisation;
            newest = *at;
        }
        // The first comes back when the last has left.
        keeps &= first + self.way_round >= newest;
        keeps.then_some((newest, serialisation))
    }
}
