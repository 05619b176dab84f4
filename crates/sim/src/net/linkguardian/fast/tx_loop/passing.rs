//! Lets copies go round many times at once, while nothing changes for long: on a slow line, or in a long burst of losses, a copy
//! makes millions of rounds before its acknowledgement comes.
//!
//! While no copy comes or leaves, the loop soon is after each round what it was before, but for the time. From then on each round is
//! like the last one.

use super::outstanding::Outstanding;
use super::{Ticket, TxLoop};
use crate::fast::{Path as Fast, takes};
use crate::net::Payload;
use lossylink_core::time::{Duration, Instant};

/// Rounds from which on it is worth a look whether they are alike. The look makes room for what it compares. On a line of 10 Gb/s or
/// more an acknowledgement takes fewer rounds, so that a flow there makes no such room (`tests/all/strides.rs`).
pub(in super::super) const MANY_ROUNDS: u64 = 64;

impl<P: Payload> TxLoop<P> {
    /// A time in which copies make many rounds.
    #[inline]
    pub(super) fn long(&self) -> Duration {
        self.way_round * MANY_ROUNDS
    }

    /// Whether there is as much time from the next look to `last`.
    #[inline]
    pub(super) fn has_long_until(&self, last: Instant) -> bool {
        takes(Fast::CopyRounds) && last.saturating_since(self.next_look()) > self.long()
    }

    /// All copies go round once. If the loop then is as it was, they go round as often as they do before a new one comes or one leaves,
    /// up to and including `last`.
    #[cold]
    #[inline(never)]
    pub(super) fn pass_rounds(&mut self, last: Instant, outstanding: &mut Outstanding<'_>) {
        let then = self.rounds.poll_timeout();
        let until = last.min(self.fresh.poll_timeout().just_before());
        if then > until || !self.trains.is_empty() {
            return;
        }
        outstanding.oldest_at(then);
        let until = until.min(outstanding.next_change().just_before());
        let entries: Vec<(Instant, Ticket)> = self.rounds.entries().copied().collect();
        let Some(&(newest, _)) = entries.last().filter(|&&(newest, _)| newest <= until) else { return };
        let mut queue = self.queue.clone();
        // A copy that enters the port leaves behind the others: it comes back after the newest of them.
        self.look_at_each(newest, outstanding);
        let now = self.rounds.poll_timeout();
        let round = now.saturating_since(then);
        let is_alike = |((at, ticket), &(before, it)): (&(Instant, Ticket), &(Instant, Ticket))| {
            *at == before + round && (ticket.number, ticket.octets) == (it.number, it.octets)
        };
        let are_alike =
            self.rounds.len() == entries.len() && self.rounds.entries().zip(&entries).all(is_alike);
        if are_alike && self.queue.is_alike(now, &mut queue, then) {
            let rounds = until.saturating_since(newest + round) / round;
            self.queue.put_off(now, round * rounds);
            self.rounds.put_off(entries.len(), round * rounds);
        }
    }
}
