//! The byte-level guard: a protection engine between a LAN port and a link port, on whole frames.
//!
//! ```text
//!        handle_frame(Lan)                                     poll_transmit(Link)
//!   LAN ------------------> [queue] -> [Sending: number, copy] ------------------> link
//!       <------------------ [Receiving: detect, order, time] <--------------------
//!        poll_transmit(Lan)          [Handshake]               handle_frame(Link)
//! ```
//!
//! It is the software switch among the switch profiles: released frames leave at once, dummies and
//! explicit ACKs are paced, and waits follow from the measured loop. The rules stand in
//! `docs/protocols/guard.md`; code and tests cite them as `G-n`.

pub mod ecn;
mod envelope;
mod from_link;
mod handshake;
mod hello;
#[cfg(test)]
mod pair;
mod pool;
mod protection;
mod queue;
mod receiving;
mod sending;
#[cfg(test)]
mod tests;
mod to_link;

pub use envelope::HEADROOM;
pub use handshake::Peer;
pub use pool::{Frame, FramePool};
pub use protection::{LinkProtection, Protection};
pub use queue::{DropTail, QueueCounters, QueueLimits};
pub use receiving::ReceivingState;
pub use sending::SendingState;

use crate::rng::Stream;
use crate::time::{Duration, Instant};
use crate::wire::ethernet::EtherType;
use alloc::collections::VecDeque;
use handshake::Handshake;
use hello::Kind;
use receiving::Receiving;
use sending::Sending;

/// How long a pause lasts without a resume: at 1 Gb/s, the 65535 quanta of a pause frame (LG-25).
const PAUSE_LASTS: Duration = Duration::from_us(33_554);

/// The two sides of a guard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The protected network: original frames.
    Lan,
    /// The corrupting link: protected frames.
    Link,
}

/// What a guard is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GuardConfig {
    /// The queue of frames that wait for the link.
    pub queue: QueueLimits,
    /// The longest frame from the LAN, in bytes without FCS.
    pub longest_frame: usize,
    /// How many frames the guard may hold at once, queues and buffers together.
    pub frames: usize,
}

/// Events at a guard.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GuardCounters {
    /// Frames taken from the LAN.
    pub from_lan: u64,
    /// Frames handed to the LAN.
    pub to_lan: u64,
    /// Frames taken from the link.
    pub from_link: u64,
    /// Frames handed to the link.
    pub to_link: u64,
    /// Of those, frames with contents sent for the first time.
    pub to_link_first: u64,
    /// Frames dropped because they were too short, too long, or no frame of the pool was free.
    pub no_room: u64,
    /// Frames from the LAN that carried an EtherType of the guards and could not pass unprotected.
    pub reserved: u64,
    /// Frames from the link that claimed to be ours and were malformed or of no session (G-3).
    pub foreign: u64,
    /// Explicit ACKs sent.
    pub explicit_acks: u64,
    /// Hellos and replies received.
    pub hellos: u64,
    /// Sessions begun (G-6).
    pub sessions: u64,
    /// Times that the peer fell silent (G-8).
    pub silences: u64,
    /// Pauses obeyed.
    pub pauses_obeyed: u64,
}

/// A guard. It holds frames but neither clock nor ports.
///
/// Polling order: after each `handle_frame` or `handle_timeout`, `poll_transmit` on both sides until
/// `None` (on the link side whenever the transmitter is free); every frame goes back by `recycle`.
#[derive(Debug)]
pub struct Guard {
    pool: FramePool,
    normal: DropTail,
    urgent: VecDeque<Frame>,
    to_lan: VecDeque<Frame>,
    counters: GuardCounters,
    /// Absent in a plain wire, which looks into no frame.
    session: Option<Session>,
}

/// The part of a guard that knows of another guard.
#[derive(Debug)]
struct Session {
    protection: Protection,
    handshake: Handshake,
    sending: Sending,
    receiving: Receiving,
    /// The session before: its frames under way still count as contents (G-6).
    former: Option<envelope::Key>,
    paused_until: Instant,
    /// The last call of `handle_timeout`: what was due by then waits for a free transmitter, not for
    /// another call.
    woken: Instant,
}

/// What the part of a guard that knows of another guard can tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionState {
    /// How this end protects what it sends.
    pub protection: Protection,
    /// Whether the other end has a guard.
    pub peer: Peer,
    /// How the other end protects what it sends.
    pub peer_protection: LinkProtection,
    /// The longest of the recent round trips between the guards.
    pub loop_time: Option<Duration>,
    /// The sending end.
    pub sending: SendingState,
    /// The receiving end.
    pub receiving: ReceivingState,
}

impl Guard {
    /// A guard that looks into no frame: a plain wire.
    pub fn transparent(config: GuardConfig) -> Self {
        Self {
            pool: FramePool::new(config.frames, config.longest_frame + HEADROOM),
            normal: DropTail::new(config.queue),
            urgent: VecDeque::new(),
            to_lan: VecDeque::new(),
            counters: GuardCounters::default(),
            session: None,
        }
    }

    /// A guard that looks for another at the far end of its link and protects what it sends there.
    /// Its identities come from `rng`.
    pub fn new(config: GuardConfig, protection: Protection, rng: Stream) -> Self {
        let mut guard = Self::transparent(config);
        guard.session = Some(Session::new(protection, rng));
        guard
    }

    /// Protects by another protection from now on, in a new session (G-6). A transparent guard begins
    /// to look for another; its identities come from `rng`.
    pub fn protect(&mut self, now: Instant, protection: Protection, rng: Stream) {
        let session = self.session.get_or_insert_with(|| Session::new(protection, rng));
        session.former = Some(session.handshake.receiving_key());
        session.protection = protection;
        session.handshake.renew(now);
        self.start_over(now);
        let session = self.session.as_mut().expect("the session was just there");
        session.sending = Sending::new(&protection);
    }

    /// A frame arrives on one side.
    pub fn handle_frame(&mut self, now: Instant, side: Side, bytes: &[u8]) {
        match side {
            Side::Lan => self.handle_lan(bytes),
            Side::Link => self.handle_link(now, bytes),
        }
    }

    fn handle_lan(&mut self, bytes: &[u8]) {
        self.counters.from_lan += 1;
        let Some(ethertype) = envelope::ethertype(bytes) else {
            self.counters.no_room += 1;
            return;
        };
        if self.session.is_some() && is_reserved(ethertype) {
            self.counters.reserved += 1;
            return;
        }
        if let Some(frame) = self.copy(bytes)
            && let Err(frame) = self.normal.push(frame)
        {
            self.pool.give_back(frame);
        }
    }

    fn handle_link(&mut self, now: Instant, bytes: &[u8]) {
        self.counters.from_link += 1;
        match envelope::ethertype(bytes) {
            Some(hello::ETHERTYPE) if self.session.is_some() => self.handle_hello(now, bytes),
            Some(EtherType::LINKGUARDIAN) if self.session.is_some() => self.handle_protected(now, bytes),
            Some(_) => {
                if let Some(frame) = self.copy(bytes) {
                    self.to_lan.push_back(frame);
                }
            }
            None => self.counters.no_room += 1,
        }
    }

    fn copy(&mut self, bytes: &[u8]) -> Option<Frame> {
        let frame = self.pool.copy(bytes);
        self.counters.no_room += u64::from(frame.is_none());
        frame
    }

    /// Begins a session: numbers from zero, nothing held (G-6).
    fn start_over(&mut self, now: Instant) {
        let Self { session, to_lan, urgent, pool, .. } = self;
        let session = session.as_mut().expect("only a guard with a session starts over");
        session.receiving.start_over(now, to_lan);
        session.sending.start_over(pool);
        urgent.drain(..).for_each(|frame| pool.give_back(frame));
        let link = session.handshake.peer_protection();
        if session.receiving.is_ordered() != (link == LinkProtection::Ordered) {
            session.receiving = Receiving::new(link, session.protection.deduplicate);
        }
        session.paused_until = now;
        self.counters.sessions += 1;
    }

    /// The next frame for one side.
    pub fn poll_transmit(&mut self, now: Instant, side: Side) -> Option<Frame> {
        match side {
            Side::Lan => self.to_lan.pop_front().inspect(|_| self.counters.to_lan += 1),
            Side::Link => self.poll_link(now).inspect(|_| self.counters.to_link += 1),
        }
    }

    /// Takes back a frame that `poll_transmit` gave.
    pub fn recycle(&mut self, frame: Frame) {
        self.pool.give_back(frame);
    }

    /// When `handle_timeout` is due.
    pub fn poll_timeout(&self) -> Instant {
        let Some(session) = &self.session else { return Instant::NEVER };
        let mut fill = session.paused_until;
        if session.handshake.peer() == Peer::Agreed {
            let idle = session.sending.dummy_at().min(session.receiving.ack_at());
            fill = if fill > session.woken { fill.min(idle) } else { idle };
        }
        let due = session.handshake.poll_timeout().min(session.receiving.poll_timeout());
        if fill > session.woken { due.min(fill) } else { due }
    }

    /// A deadline has come.
    pub fn handle_timeout(&mut self, now: Instant) {
        let Self { session, to_lan, .. } = self;
        let Some(session) = session else { return };
        session.woken = now;
        session.receiving.handle_timeout(now, to_lan);
        if session.handshake.poll_timeout() > now {
            return;
        }
        let former = session.handshake.receiving_key();
        let due = session.handshake.handle_timeout(now);
        if due.silent {
            session.former = Some(former);
            self.counters.silences += 1;
            self.start_over(now);
        }
        if due.hello {
            self.send_message(Kind::Hello, now.as_ps());
        }
    }

    /// What has happened so far.
    pub fn counters(&self) -> GuardCounters {
        self.counters
    }

    /// What the queue toward the link has done.
    pub fn queue(&self) -> QueueCounters {
        self.normal.counters()
    }

    /// What the guard knows of the other end; nothing in a transparent guard.
    pub fn session(&self) -> Option<SessionState> {
        self.session.as_ref().map(|session| SessionState {
            protection: session.protection,
            peer: session.handshake.peer(),
            peer_protection: session.handshake.peer_protection(),
            loop_time: session.handshake.loop_time(),
            sending: session.sending.state(),
            receiving: session.receiving.state(),
        })
    }

    /// Whether a frame could leave toward the link as soon as the transmitter is free.
    pub fn has_frames(&self, now: Instant) -> bool {
        !self.urgent.is_empty() || (!self.normal.is_empty() && self.may_send(now))
    }

    /// Frames that the guard holds.
    pub fn frames_held(&self) -> usize {
        self.pool.in_use()
    }
}

impl Session {
    fn new(protection: Protection, rng: Stream) -> Self {
        Self {
            protection,
            handshake: Handshake::new(rng),
            sending: Sending::new(&protection),
            receiving: Receiving::new(LinkProtection::None, protection.deduplicate),
            former: None,
            paused_until: Instant::ZERO,
            woken: Instant::ZERO,
        }
    }
}

/// Whether an EtherType is one that guards use among themselves.
fn is_reserved(ethertype: EtherType) -> bool {
    ethertype == EtherType::LINKGUARDIAN || ethertype == hello::ETHERTYPE
}
