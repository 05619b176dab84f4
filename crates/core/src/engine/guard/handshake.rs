//! Finding the guard at the other end, agreeing on a session, and noticing when it is gone (G-5..G-9).
//!
//! ```text
//!             hello heard                      our identity heard back
//!   Searching ------------> Known (their frames count) ------------> Agreed (ours are protected)
//!       ^                                                                |
//!       +------------------- silence for 500 ms, or a new identity -----+
//! ```

use super::envelope::Key;
use super::hello::{Hello, Kind};
use super::line::HelloOctets;
use crate::protection::Protection;
use crate::rng::{RngCore, Stream};
use crate::time::{Duration, Instant};

/// Time between two hellos.
const HELLO_INTERVAL: Duration = Duration::from_ms(50);
/// Without a word from the peer for this long it counts as gone: ten hellos, so that a link that
/// loses every second frame goes on being protected but for one silence in a thousand.
const SILENCE: Duration = Duration::from_ms(500);
/// Round trips that are remembered: with two samples in every hello interval, about the last 0.4 s.
const LOOP_SAMPLES: usize = 16;

/// Where the handshake stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// Nobody answers: frames pass unprotected.
    Absent,
    /// A guard is there, but does not know us yet.
    Known,
    /// Both know each other: frames are protected.
    Agreed,
}

/// What a message means for the guard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// Nothing new.
    Nothing,
    /// A new session: both ends start over (G-6).
    NewSession,
}

/// One end's view of the pair.
#[derive(Debug)]
pub(super) struct Handshake {
    identity: u32,
    peer_identity: u32,
    peer_protection: Protection,
    peer: Peer,
    last_heard: Instant,
    next_hello: Instant,
    loops: [Duration; LOOP_SAMPLES],
    loop_count: usize,
    rng: Stream,
}

impl Handshake {
    pub(super) fn new(mut rng: Stream) -> Self {
        Self {
            identity: fresh_identity(&mut rng),
            peer_identity: 0,
            peer_protection: Protection::None,
            peer: Peer::Absent,
            last_heard: Instant::ZERO,
            next_hello: Instant::ZERO,
            loops: [Duration::ZERO; LOOP_SAMPLES],
            loop_count: 0,
            rng,
        }
    }

    pub(super) fn peer(&self) -> Peer {
        self.peer
    }

    /// How the peer protects what it sends us.
    pub(super) fn peer_protection(&self) -> &Protection {
        &self.peer_protection
    }

    /// The key of what we send.
    pub(super) fn sending_key(&self) -> Key {
        Key::new(self.identity, self.peer_identity)
    }

    /// The key of what we receive.
    pub(super) fn receiving_key(&self) -> Key {
        Key::new(self.peer_identity, self.identity)
    }

    /// The longest of the recent round trips between the guards; `None` before the first (G-9).
    pub(super) fn loop_time(&self) -> Option<Duration> {
        self.loops[..self.loop_count.min(LOOP_SAMPLES)].iter().copied().max()
    }

    /// Starts over with a new identity: what is under way in the old session is recognised as old.
    pub(super) fn renew(&mut self, now: Instant) {
        self.identity = fresh_identity(&mut self.rng);
        self.peer = if self.peer_identity == 0 { Peer::Absent } else { Peer::Known };
        self.next_hello = now;
    }

    /// A genuine frame of the session arrived: the peer lives, and knows us (G-7).
    pub(super) fn heard(&mut self, now: Instant) {
        self.last_heard = now;
        self.peer = Peer::Agreed;
    }

    /// A hello or a reply arrived.
    pub(super) fn handle(&mut self, now: Instant, hello: &Hello) -> Meaning {
        let known = hello.identity == self.peer_identity && hello.protection == self.peer_protection;
        self.last_heard = now;
        if !known {
            self.peer_identity = hello.identity;
            self.peer_protection = hello.protection.clone();
            self.next_hello = now;
        }
        // A peer that has forgotten us, or has not heard yet, cannot read what we protect.
        self.peer = if hello.peer == self.identity { Peer::Agreed } else { Peer::Known };
        if hello.kind == Kind::Reply && hello.peer == self.identity {
            let asked = Instant::from_ps(hello.time.min(now.as_ps()));
            self.loops[self.loop_count % LOOP_SAMPLES] = now - asked;
            self.loop_count += 1;
        }
        if known { Meaning::Nothing } else { Meaning::NewSession }
    }

    /// The message to send, with what the guard adds.
    pub(super) fn message(&self, kind: Kind, time: u64, says: Says) -> Hello {
        Hello {
            kind,
            identity: self.identity,
            peer: self.peer_identity,
            protection: says.protection,
            sent: says.sent,
            received: says.received,
            time,
        }
    }

    /// When [`Handshake::handle_timeout`] is due.
    pub(super) fn poll_timeout(&self) -> Instant {
        match self.peer {
            Peer::Absent => self.next_hello,
            Peer::Known | Peer::Agreed => self.next_hello.min(self.last_heard + SILENCE),
        }
    }

    /// A deadline has come: whether a hello is due, and whether the peer has fallen silent (G-8).
    pub(super) fn handle_timeout(&mut self, now: Instant) -> Due {
        let silent = self.peer != Peer::Absent && self.last_heard + SILENCE <= now;
        if silent {
            self.peer_identity = 0;
            self.peer_protection = Protection::None;
            self.loop_count = 0;
            self.renew(now);
        }
        let hello = self.next_hello <= now;
        if hello {
            self.next_hello = now + HELLO_INTERVAL;
        }
        Due { hello, silent }
    }
}

/// What the guard adds to a message.
#[derive(Clone, Debug)]
pub(super) struct Says {
    pub(super) protection: Protection,
    pub(super) sent: HelloOctets,
    pub(super) received: HelloOctets,
}

/// What a deadline of the handshake asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Due {
    pub(super) hello: bool,
    pub(super) silent: bool,
}

/// An identity that is not zero, which means nobody.
fn fresh_identity(rng: &mut Stream) -> u32 {
    rng.next_u32().max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protection::LinkGuardian;
    use crate::rng::Streams;

    fn pair() -> (Handshake, Handshake) {
        let streams = Streams::new(1);
        (Handshake::new(streams.stream("near")), Handshake::new(streams.stream("far")))
    }

    const SAYS: Says =
        Says { protection: Protection::LinkGuardian(LinkGuardian::ORDERED), sent: [0; 3], received: [0; 3] };

    fn at(us: u64) -> Instant {
        Instant::ZERO + Duration::from_us(us)
    }

    // G-5, G-6, G-7, G-9
    #[test]
    fn two_messages_make_a_session() {
        let (mut near, mut far) = pair();
        let hello = near.message(Kind::Hello, at(0).as_ps(), SAYS);
        assert_eq!(far.handle(at(100), &hello), Meaning::NewSession);
        assert_eq!(far.peer(), Peer::Known);
        let reply = far.message(Kind::Reply, hello.time, SAYS);
        assert_eq!(near.handle(at(200), &reply), Meaning::NewSession);
        assert_eq!(near.peer(), Peer::Agreed);
        // The reply could not name us before we were heard of; it does now.
        assert_eq!(near.loop_time(), Some(Duration::from_us(200)));
        assert_eq!(near.sending_key(), far.receiving_key());
        assert_eq!(far.handle(at(300), &near.message(Kind::Hello, 0, SAYS)), Meaning::Nothing);
        assert_eq!(far.peer(), Peer::Agreed);
    }

    // G-8
    #[test]
    fn silence_ends_the_session() {
        let (mut near, far) = pair();
        near.handle(at(0), &far.message(Kind::Hello, 0, SAYS));
        assert_eq!(near.handle_timeout(at(499_999)), Due { hello: true, silent: false });
        let before = near.receiving_key();
        assert_eq!(near.handle_timeout(at(500_000)), Due { hello: true, silent: true });
        assert_eq!(near.peer(), Peer::Absent);
        assert_ne!(near.receiving_key(), before);
    }

    // G-6
    #[test]
    fn a_restarted_peer_is_a_new_session() {
        let (mut near, far) = pair();
        near.handle(at(0), &far.message(Kind::Hello, 0, SAYS));
        let mut again = Handshake::new(Streams::new(2).stream("far"));
        again.renew(at(1));
        assert_eq!(near.handle(at(1), &again.message(Kind::Hello, 0, SAYS)), Meaning::NewSession);
        assert_eq!(near.peer(), Peer::Known);
    }
}
