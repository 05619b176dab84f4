//! Finding the guard at the other end, agreeing on a session, and noticing when it is gone (G-5..G-9).
//!
//! ```text
//!             our nonce comes back             both name the same session
//!   Absent ----------------------> Known ----------------------------------> Agreed (frames are protected)
//!      ^                             |                                          |
//!      +-----------------------------+------- no fresh word for 500 ms ---------+
//! ```
//!
//! A message counts only if it is *fresh*: it names us, gives back a nonce of ours from the last 500 ms, and is
//! newer than all that its sender has said. What was recorded and comes again, what comes late, and what was made
//! up by somebody who does not read the link are none of these, and change nothing (G-20).
//!
//! A session is a number that only grows. Each end proposes a higher one when it must begin anew, and takes over
//! the other's if that is higher. No end begins the same session twice, so both count from the same start (G-21).

use super::account::Tally;
use super::hello::{Hello, Kind};
use super::line::HelloOctets;
use super::seal::Names;
use crate::protection::Protection;
use crate::rng::{RngCore, Stream};
use crate::time::{Duration, Instant};

/// Time between two hellos.
pub(super) const HELLO_INTERVAL: Duration = Duration::from_ms(50);
/// Without a fresh word from the partner for this long it counts as gone: ten hellos, so that a link that
/// loses every second frame goes on being protected but for one silence in a thousand.
pub(super) const SILENCE: Duration = Duration::from_ms(500);
/// How long a partner must have said nothing fresh before another guard may take its place: two hellos.
const SUCCESSION: Duration = Duration::from_ms(100);
/// The least time between two replies: ten for each hello interval, whoever asks.
const REPLY_INTERVAL: Duration = Duration::from_ms(5);
/// Nonces that are remembered: one a hello, for the time of a silence, and some to spare.
const NONCES: usize = 16;
/// Round trips that are remembered: with two samples in every hello interval, about the last 0.4 s.
const LOOP_SAMPLES: usize = 16;

/// Where the handshake stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// Nobody answers: frames pass unprotected.
    Absent,
    /// A guard is there, but no session is agreed on yet: frames pass unprotected.
    Known,
    /// Both are in one session: frames are protected.
    Agreed,
}

/// What a message means for the guard.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Meaning {
    /// A session has begun: this end starts over (G-6).
    pub(super) begins: bool,
    /// The message is fresh, and of the session in which this end is now: what else it says counts.
    pub(super) counts: bool,
    /// The message is fresh, of whichever session: what it says of the link counts.
    pub(super) is_fresh: bool,
    /// It asks for an answer.
    pub(super) is_asking: bool,
}

/// The guard at the other end.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Partner {
    identity: u32,
    protection: Protection,
    /// The longest frame of its LAN.
    longest: u16,
    /// The number of its newest message.
    number: u32,
    /// The nonce in that message, which is given back.
    nonce: u32,
    /// When it last said something fresh.
    heard: Instant,
}

/// One end's view of the pair.
#[derive(Clone, Debug)]
pub(super) struct Handshake {
    /// Who we are: drawn when the guard starts.
    identity: u32,
    /// The session in which we are; it only grows.
    session: u32,
    partner: Option<Partner>,
    is_agreed: bool,
    /// Until when no session is agreed on, whatever the partner says (G-31).
    aside_until: Option<Instant>,
    /// How many messages we have sent.
    number: u32,
    nonces: [(u32, Instant); NONCES],
    /// How many nonces there have been; the newest is the one before.
    nonce_count: usize,
    /// The nonce of the last question that was too long to time the loop by; zero is none.
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

    /// How the peer protects what it sends us.
    pub(super) fn peer_protection(&self) -> &Protection {
        self.partner.as_ref().map_or(&Protection::None, |partner| &partner.protection)
    }

    /// The longest frame of the peer's LAN, as it says.
    pub(super) fn peer_longest(&self) -> Option<u16> {
        self.partner.as_ref().map(|partner| partner.longest)
    }

    /// Who speaks with whom, and in which session.
    pub(super) fn names(&self) -> Names {
        Names { ours: self.identity, theirs: self.partner_identity(), session: self.session }
    }

    fn partner_identity(&self) -> u32 {
        self.partner.as_ref().map_or(0, |partner| partner.identity)
    }

    /// The longest of the recent round trips between the guards; `None` before the first (G-9).
    pub(super) fn loop_time(&self) -> Option<Duration> {
        self.loops[..self.loop_count.min(LOOP_SAMPLES)].iter().copied().max()
    }

    /// Begins a session of our own accord: what is under way in the old one is recognised as old.
    pub(super) fn renew(&mut self, now: Instant) {
        self.next_session();
        self.is_agreed = false;
        self.next_hello = now;
    }

    /// Says something as soon as it may, and not only at the next hello.
    pub(super) fn hurry(&mut self, now: Instant) {
        self.next_hello = now;
    }

    /// The question that is asked now is a long one: its round trip is not that of a short frame (G-9, G-32).
    pub(super) fn leave_untimed(&mut self) {
        self.untimed = self.newest_nonce();
    }

    /// Agrees on nothing until then, and says so: frames pass unprotected in both directions (G-31).
    pub(super) fn stand_aside(&mut self, until: Instant) {
        self.aside_until = Some(until);
        self.is_agreed = false;
    }

    /// A session that this end has never been in. When the numbers are used up it is somebody else.
    fn next_session(&mut self) {
        self.session = self.session.checked_add(1).unwrap_or_else(|| {
            self.identity = not_zero(&mut self.rng);
            self.partner = None;
            1
        });
    }

    /// A genuine frame of the session arrived: the peer is in it as well (G-7).
    pub(super) fn heard(&mut self) {
        self.is_agreed = self.partner.is_some() && self.aside_until.is_none();
    }

    /// A message arrived (G-20, G-21).
    pub(super) fn handle(&mut self, now: Instant, hello: &Hello) -> Meaning {
        if hello.identity == self.identity || hello.identity == 0 {
            return Meaning::default();
        }
        // An answer to a question that comes again would measure a round trip that nobody has made.
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

    /// Takes what a fresh message says of the session; whether another begins.
    fn enter(&mut self, now: Instant, hello: &Hello) -> bool {
        let known = self.partner.as_ref().filter(|partner| partner.identity == hello.identity);
        let is_new = known.is_none();
        let protects_anew = known.is_some_and(|partner| partner.protection != hello.protection);
        let begins =
            is_new || hello.session > self.session || (hello.session == self.session && protects_anew);
        // An old session says nothing of how the partner protects in this one.
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

    /// When we asked what this message answers; `None` if it is not for us, or gives back no nonce of ours.
    fn asked_at(&self, now: Instant, hello: &Hello) -> Option<Instant> {
        if hello.peer != self.identity {
            return None;
        }
        let known = &self.nonces[..self.nonce_count.min(NONCES)];
        let (_, asked) = known.iter().find(|(nonce, _)| *nonce == hello.echo)?;
        (now.saturating_since(*asked) <= SILENCE).then_some(*asked)
    }

    /// Whether it is newer than all that its sender has said: numbers go round.
    fn is_newer(&self, hello: &Hello) -> bool {
        match &self.partner {
            Some(partner) if partner.identity == hello.identity => {
                hello.number.wrapping_sub(partner.number).wrapping_sub(1) < u32::MAX / 2
            }
            _ => true,
        }
    }

    /// Whether another guard than this one is our partner, and alive.
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

    /// The next message to the partner, or to whoever is there.
    pub(super) fn message(&mut self, kind: Kind, says: Says) -> Hello {
        let (peer, echo) = self.partner.as_ref().map_or((0, 0), |partner| (partner.identity, partner.nonce));
        let session = if peer == 0 || self.aside_until.is_some() { 0 } else { self.session };
        self.addressed(kind, (peer, echo, session), says)
    }

    /// The answer to a hello. One to somebody who is not our partner names no session.
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

    /// When [`Handshake::handle_timeout`] is due.
    pub(super) fn poll_timeout(&self) -> Instant {
        let silence = self.partner.as_ref().map_or(Instant::NEVER, |partner| partner.heard + SILENCE);
        self.next_hello.min(silence)
    }

    /// A deadline has come: whether a hello is due, and whether the peer has fallen silent (G-8).
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

/// What the guard adds to a message.
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

/// What a deadline of the handshake asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Due {
    pub(super) hello: bool,
    pub(super) silent: bool,
}

/// A number that is drawn; zero means nobody, and nothing that was asked.
fn not_zero(rng: &mut Stream) -> u32 {
    rng.next_u32().max(1)
}

#[cfg(test)]
mod tests;
