//! Copies go round many times at once, while nothing changes for long. On a slow line, or in a long burst of losses, a copy makes
//! millions of rounds before its acknowledgement comes.
//!
//! Rounds repeat: while no copy enters or leaves the loop, the loop is after some round as it was before the round, but for the
//! time. From then on each round equals the round before.

use super::outstanding::Outstanding;
use super::{Ticket, TxLoop};
use crate::fast::{Path as Fast, takes};
use crate::net::Payload;
use lossylink_core::time::{Duration, Instant};

/// The number of rounds from which on a test for repeated rounds pays. The test allocates memory for the state that it compares. On
/// a line of 10 Gb/s or more an acknowledgement takes fewer rounds, so that a flow there allocates none (`tests/all/strides.rs`).
pub(in super::super) const MANY_ROUNDS: u64 = 64;

impl<P: Payload> TxLoop<P> {
    /// Returns the time of [`MANY_ROUNDS`] ways round.
    #[inline]
    pub(super) fn long(&self) -> Duration {
        self.way_round * MANY_ROUNDS
    }

    /// Whether the time from the next look to `last` is longer than [`TxLoop::long`].
    #[inline]
    pub(super) fn has_long_until(&self, last: Instant) -> bool {
        takes(Fast::CopyRounds) && last.saturating_since(self.next_look()) > self.long()
    }

    /// Lets all copies go round once. If rounds repeat, adds all further rounds up to and including `last` that end before a copy
    /// enters or leaves. Equals [`TxLoop::look_at_each`].
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
        let queue = self.queue.clone();
        // A copy that enters the port leaves behind the other copies, and comes back after the newest of them.
        self.look_at_each(newest, outstanding);
        let now = self.rounds.poll_timeout();
        let round = now.saturating_since(then);
        let is_alike = |((at, ticket), &(before, it)): (&(Instant, Ticket), &(Instant, Ticket))| {
            *at == before + round && (ticket.number, ticket.octets) == (it.number, it.octets)
        };
        let are_alike =
            self.rounds.len() == entries.len() && self.rounds.entries().zip(&entries).all(is_alike);
        if are_alike && self.queue.is_alike(now, &queue, then) {
            let rounds = until.saturating_since(newest + round) / round;
            self.queue.put_off(round * rounds);
            self.rounds.put_off(entries.len(), round * rounds);
        }
    }
}
