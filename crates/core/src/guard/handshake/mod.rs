//! The handshake: finds the guard at the other end, agrees on a session, and notices when the other guard is gone
//! (G-5..G-9).
//!
//! ```text
//!             our nonce comes back             both name the same session
//!   Absent ----------------------> Known ----------------------------------> Agreed (frames are protected)
//!      ^                             |                                          |
//!      +-----------------------------+------- no fresh word for 500 ms ---------+
//! ```
//!
//! A message counts only if it is *fresh*: it names this guard, gives back a nonce that this guard sent in the
//! last 500 ms, and is newer than all messages of its sender so far. A recorded message that comes again, a late
//! message, and a message made up by an attacker who does not read the link are not fresh, and change nothing
//! (G-20).
//!
//! A session is a number that only grows. Each end proposes a higher number when it must begin anew, and takes
//! over the other's number if that is higher. No end begins a session of one number twice, so both ends count
//! from the same start (G-21).

use super::account::Tally;
use super::hello::{Hello, Kind};
use super::line::HelloOctets;
use super::seal::Names;
use crate::protection::Protection;
use crate::rng::{RngCore, Stream};
use crate::time::{Duration, Instant};

/// Time between two hellos.
pub(super) const HELLO_INTERVAL: Duration = Duration::from_ms(50);
/// The time without a fresh message after which the partner counts as gone: ten hellos, so that a link that loses
/// every second frame goes on being protected but for one silence in a thousand.
pub(super) const SILENCE: Duration = Duration::from_ms(500);
/// The time without a fresh message of the partner after which another guard may take its place: two hellos.
const SUCCESSION: Duration = Duration::from_ms(100);
/// The least time between two replies: ten for each hello interval, whichever guard asks.
const REPLY_INTERVAL: Duration = Duration::from_ms(5);
/// The number of nonces that are remembered: one a hello, for the time of a silence, and some to spare.
const NONCES: usize = 16;
/// The number of round trips that are remembered: with two samples in every hello interval, about the last 0.4 s.
const LOOP_SAMPLES: usize = 16;

/// The state of the handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// No guard answers: frames pass unprotected.
    Absent,
    /// A guard is present, but no session is agreed on yet: frames pass unprotected.
    Known,
    /// Both guards are in one session: frames are protected.
    Agreed,
}

/// The consequences of a message for the guard.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Meaning {
    /// A session has begun: this end starts over (G-6).
    pub(super) begins: bool,
    /// The message is fresh, and of the session in which this end is now: its words about the protection count.
    pub(super) counts: bool,
    /// The message is fresh, of any session: its words about the link count.
    pub(super) is_fresh: bool,
    /// The message asks for an answer.
    pub(super) is_asking: bool,
}

/// The guard at the other end.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Partner {
    identity: u32,
    protection: Protection,
    /// The longest frame of the partner's LAN, in bytes.
    longest: u16,
    /// The number of the partner's newest message.
    number: u32,
    /// The nonce in the partner's newest message, which is given back.
    nonce: u32,
    /// When the last fresh message of the partner arrived.
    heard: Instant,
}

/// The view that one end has of the two guards.
#[derive(Clone, Debug)]
pub(super) struct Handshake {
    /// The identity of this guard, drawn when the guard starts.
    identity: u32,
    /// The number of the present session, which only grows.
    session: u32,
    partner: Option<Partner>,
    is_agreed: bool,
    /// The time until which no session is agreed on, whatever the partner sends (G-31).
    aside_until: Option<Instant>,
    /// How many messages this guard has sent.
    number: u32,
    nonces: [(u32, Instant); NONCES],
    /// How many nonces have been drawn. The newest lies one place before.
    nonce_count: usize,
    /// The nonce of the last hello that was too long to time the loop by; zero without one.
    untimed: u32,
    next_hello: Instant,
    next_reply: Instant,
    loops: [Duration; LOOP_SAMPLES],
    loop_count: usize,
    rng: Stream,
}

impl Handshake {
    pub(super) fn new(mut rng: Stream) -> Self {
        Self {
            identity: not_zero(&mut rng),
            session: 0,
            partner: None,
            is_agreed: false,
            aside_until: None,
            number: 0,
            nonces: [(0, Instant::ZERO); NONCES],
            nonce_count: 0,
            untimed: 0,
            next_hello: Instant::ZERO,
            next_reply: Instant::ZERO,
            loops: [Duration::ZERO; LOOP_SAMPLES],
            loop_count: 0,
            rng,
        }
    }

    pub(super) fn peer(&self) -> Peer {
        match (&self.partner, self.is_agreed) {
            (None, _) => Peer::Absent,
            (Some(_), false) => Peer::Known,
            (Some(_), true) => Peer::Agreed,
        }
    }

    /// Returns the protection of the frames that the peer sends.
    pub(super) fn peer_protection(&self) -> &Protection {
        self.partner.as_ref().map_or(&Protection::None, |partner| &partner.protection)
    }

    /// Returns the longest frame of the peer's LAN, as the peer reports it.
    pub(super) fn peer_longest(&self) -> Option<u16> {
        self.partner.as_ref().map(|partner| partner.longest)
    }

    /// Returns the identities of both guards and the number of the session.
    pub(super) fn names(&self) -> Names {
        Names { ours: self.identity, theirs: self.partner_identity(), session: self.session }
    }

    fn partner_identity(&self) -> u32 {
        self.partner.as_ref().map_or(0, |partner| partner.identity)
    }

    /// Returns the longest of the recent round trips between the guards; `None` before the first (G-9).
    pub(super) fn loop_time(&self) -> Option<Duration> {
        self.loops[..self.loop_count.min(LOOP_SAMPLES)].iter().copied().max()
    }

    /// Begins a session of our own accord. Frames under way in the old session are recognised as old.
    pub(super) fn renew(&mut self, now: Instant) {
        self.next_session();
        self.is_agreed = false;
        self.next_hello = now;
    }

    /// Sends a hello as soon as a hello may leave, and not only at the next interval.
    pub(super) fn hurry(&mut self, now: Instant) {
        self.next_hello = now;
    }

    /// Leaves the hello that is sent now out of the round trips, because it is a long one and takes longer than a
    /// short frame (G-9, G-32).
    pub(super) fn leave_untimed(&mut self) {
        self.untimed = self.newest_nonce();
    }

    /// Agrees on no session until `until`, and tells the peer so: frames pass unprotected in both directions
    /// (G-31).
    pub(super) fn stand_aside(&mut self, until: Instant) {
        self.aside_until = Some(until);
        self.is_agreed = false;
    }

    /// Takes the number of a session that this end has never been in. When the numbers are used up, the guard
    /// takes a new identity.
    fn next_session(&mut self) {
        self.session = self.session.checked_add(1).unwrap_or_else(|| {
            self.identity = not_zero(&mut self.rng);
            self.partner = None;
            1
        });
    }

    /// Takes note of a genuine frame of the session, which shows that the peer is in the session as well (G-7).
    pub(super) fn heard(&mut self) {
        self.is_agreed = self.partner.is_some() && self.aside_until.is_none();
    }

    /// Takes in a message, and returns its consequences (G-20, G-21).
    pub(super) fn handle(&mut self, now: Instant, hello: &Hello) -> Meaning {
        if hello.identity == self.identity || hello.identity == 0 {
            return Meaning::default();
        }
        // A repeated answer to an old hello would measure a round trip that no message has made.
        if !self.is_newer(hello) {
            return Meaning::default();
        }
        let is_asking = hello.kind == Kind::Hello && self.may_reply(now);
        let asked = self.asked_at(now, hello).filter(|_| !self.is_taken(now, hello.identity));
        let Some(asked) = asked else {
            return Meaning { is_asking, ..Meaning::default() };
        };
        let begins = self.enter(now, hello);
        if hello.kind == Kind::Reply && hello.echo != self.untimed {
            self.loops[self.loop_count % LOOP_SAMPLES] = now - asked;
            self.loop_count += 1;
        }
        let counts = hello.session == self.session;
        let stays = self.is_agreed && !begins && hello.session != 0;
        self.is_agreed = (counts || stays) && self.aside_until.is_none();
        Meaning { begins, counts, is_fresh: true, is_asking }
    }

    /// Takes in the session of a fresh message. Returns whether another session begins.
    fn enter(&mut self, now: Instant, hello: &Hello) -> bool {
        let known = self.partner.as_ref().filter(|partner| partner.identity == hello.identity);
        let is_new = known.is_none();
        let protects_anew = known.is_some_and(|partner| partner.protection != hello.protection);
        let begins =
            is_new || hello.session > self.session || (hello.session == self.session && protects_anew);
        // A message of an old session does not tell the partner's protection in this session.
        let protection = match known {
            Some(partner) if hello.session < self.session => partner.protection.clone(),
            _ => hello.protection.clone(),
        };
        if is_new {
            self.loop_count = 0;
        }
        self.partner = Some(Partner {
            identity: hello.identity,
            protection,
            longest: hello.longest,
            number: hello.number,
            nonce: hello.nonce,
            heard: now,
        });
        if hello.session > self.session {
            self.session = hello.session;
        } else if begins {
            self.next_session();
        }
        if begins {
            self.is_agreed = false;
            self.next_hello = now;
        }
        begins
    }

    /// Returns when this guard sent the nonce that the message gives back; `None` if the message is not for this
    /// guard, or gives back no nonce of it.
    fn asked_at(&self, now: Instant, hello: &Hello) -> Option<Instant> {
        if hello.peer != self.identity {
            return None;
        }
        let known = &self.nonces[..self.nonce_count.min(NONCES)];
        let (_, asked) = known.iter().find(|(nonce, _)| *nonce == hello.echo)?;
        (now.saturating_since(*asked) <= SILENCE).then_some(*asked)
    }

    /// Whether the message is newer than all messages of its sender so far. Message numbers wrap.
    fn is_newer(&self, hello: &Hello) -> bool {
        match &self.partner {
            Some(partner) if partner.identity == hello.identity => {
                hello.number.wrapping_sub(partner.number).wrapping_sub(1) < u32::MAX / 2
            }
            _ => true,
        }
    }

    /// Whether another guard than `identity` is our partner, and has sent a fresh message lately.
    fn is_taken(&self, now: Instant, identity: u32) -> bool {
        self.partner
            .as_ref()
            .is_some_and(|partner| partner.identity != identity && now < partner.heard + SUCCESSION)
    }

    fn may_reply(&mut self, now: Instant) -> bool {
        let may = self.next_reply <= now;
        if may {
            self.next_reply = now + REPLY_INTERVAL;
        }
        may
    }

    /// Returns the next message to the partner, or to any guard on the link.
    pub(super) fn message(&mut self, kind: Kind, says: Says) -> Hello {
        let (peer, echo) = self.partner.as_ref().map_or((0, 0), |partner| (partner.identity, partner.nonce));
        let session = if peer == 0 || self.aside_until.is_some() { 0 } else { self.session };
        self.addressed(kind, (peer, echo, session), says)
    }

    /// Returns the answer to a hello. An answer to a guard that is not our partner names no session.
    pub(super) fn reply(&mut self, hello: &Hello, says: Says) -> Hello {
        let is_partner = hello.identity == self.partner_identity();
        let session = if is_partner && self.aside_until.is_none() { self.session } else { 0 };
        self.addressed(Kind::Reply, (hello.identity, hello.nonce, session), says)
    }

    fn addressed(&mut self, kind: Kind, (peer, echo, session): (u32, u32, u32), says: Says) -> Hello {
        self.number = self.number.wrapping_add(1);
        Hello {
            kind,
            identity: self.identity,
            peer,
            session,
            number: self.number,
            nonce: self.newest_nonce(),
            echo,
            protection: says.protection,
            sent: says.sent,
            received: says.received,
            longest: says.longest,
            widest: says.widest,
            tally: says.tally,
            account: says.account,
        }
    }

    fn newest_nonce(&self) -> u32 {
        self.nonces[self.nonce_count.wrapping_sub(1) % NONCES].0
    }

    /// Returns when [`Handshake::handle_timeout`] is due.
    pub(super) fn poll_timeout(&self) -> Instant {
        let silence = self.partner.as_ref().map_or(Instant::NEVER, |partner| partner.heard + SILENCE);
        self.next_hello.min(silence)
    }

    /// Carries out a deadline. Returns whether a hello is due, and whether the peer has fallen silent (G-8).
    pub(super) fn handle_timeout(&mut self, now: Instant) -> Due {
        self.aside_until = self.aside_until.filter(|until| now < *until);
        let is_silent = self.partner.as_ref().is_some_and(|partner| partner.heard + SILENCE <= now);
        if is_silent {
            self.partner = None;
            self.loop_count = 0;
            self.renew(now);
        }
        let hello = self.next_hello <= now;
        if hello {
            self.next_hello = now + HELLO_INTERVAL;
            self.nonces[self.nonce_count % NONCES] = (not_zero(&mut self.rng), now);
            self.nonce_count += 1;
        }
        Due { hello, silent: is_silent }
    }
}

/// The contents of a message that the guard adds to those of the handshake.
#[derive(Clone, Debug)]
pub(super) struct Says {
    pub(super) protection: Protection,
    pub(super) sent: HelloOctets,
    pub(super) received: HelloOctets,
    pub(super) longest: u16,
    pub(super) widest: u16,
    pub(super) tally: Tally,
    pub(super) account: [u32; 4],
}

/// The tasks at a deadline of the handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Due {
    pub(super) hello: bool,
    pub(super) silent: bool,
}

/// Draws a number other than zero, which stands for no guard and for no nonce.
fn not_zero(rng: &mut Stream) -> u32 {
    rng.next_u32().max(1)
}

#[cfg(test)]
mod tests;
