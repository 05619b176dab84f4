//! The byte-level guard: a line protocol between a LAN port and a link port, on whole frames.
//!
//! ```text
//!        handle_frame(Lan)                                     poll_transmit(Link)
//!   LAN ------------------> [queue] ----> [line protocol] ------------------------> link
//!       <-------------------------------- [line protocol] <------------------------
//!        poll_transmit(Lan)                [handshake]             handle_frame(Link)
//! ```
//!
//! The guard finds its peer, agrees with it on a session, keeps the queue, and lets frames pass as they are when
//! no peer answers. A [line protocol](LineProtocol) decides about each frame, and puts an engine to work on whole
//! frames. The line protocol of the erasure code is in the crate that has the code. The rules are those of
//! `docs/protocols/guard.md`; code and tests cite them as `G-n`.

mod account;
pub mod ecn;
pub mod envelope;
mod handshake;
mod hello;
mod line;
mod lines;
mod linkguardian;
mod llr;
mod pause;
mod pool;
mod queue;
mod replay;
mod report;
pub mod routed;
mod seal;
mod secret;
mod session;
mod stores;
#[cfg(test)]
mod tests;
mod too_long;
mod watchdog;
mod width;

pub use handshake::Peer;
pub use line::{HelloOctets, LineProtocol, PassthroughLine, PauseMessage, Surroundings};
pub use linkguardian::LinkGuardianLine;
pub use llr::LlrLine;
pub use pool::{Frame, FramePool};
pub use queue::{DropTail, QueueCounters, QueueLimits};
pub(crate) use seal::WHOLE_SEAL;
pub use seal::{Origin, Seal};
pub use secret::Secret;

use crate::engine::report::Group;
use crate::loss::LossLaw;
use crate::protection::Protection;
use crate::rng::Stream;
use crate::time::{Duration, Instant};
use crate::wire::ethernet::EtherType;
use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use hello::Refusal;
use lines::Lines;
use session::Session;
use stores::Stores;

/// The two sides of a guard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The protected network: original frames.
    Lan,
    /// The corrupting link: protected frames.
    Link,
}

/// The parameters of a guard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuardConfig {
    /// The queue of frames that wait for the link.
    pub queue: QueueLimits,
    /// The longest frame from the LAN, in bytes without FCS.
    pub longest_frame: usize,
    /// How many frames the guard may hold at once, queues and buffers together.
    pub frames: usize,
    /// The secret that only the guards of this link know. Without it, everyone who can send on the link is trusted
    /// (G-27).
    pub secret: Option<Secret>,
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
    /// Frames handed to the link with contents sent for the first time, a part of `to_link`.
    pub to_link_first: u64,
    /// Frames dropped because they were too short, too long, or no frame of the pool was free.
    pub no_room: u64,
    /// Frames from the LAN that carried an EtherType of the guards (G-3).
    pub reserved: u64,
    /// Frames from the link with an EtherType of the guards that were malformed or of no session (G-3).
    pub foreign: u64,
    /// Messages of guards of another version of the protocol.
    pub other_version: u64,
    /// Messages that were sealed with another secret or none, or were damaged (G-27).
    pub other_seal: u64,
    /// Sealed frames that had arrived before (G-28).
    pub repeated: u64,
    /// Acknowledgements of a line protocol that left in a frame of their own.
    pub explicit_acks: u64,
    /// Hellos and replies received.
    pub hellos: u64,
    /// Sessions begun (G-6).
    pub sessions: u64,
    /// Times that the peer fell silent (G-8).
    pub silences: u64,
    /// Frames with contents that arrived in a session, whatever their further fate.
    pub contents: u64,
    /// Sessions that were begun because no frame moved in the session before (G-22).
    pub stuck: u64,
    /// Times that protection was given up for a while because no frame moved in one session after another (G-31).
    pub stood_aside: u64,
    /// Pauses obeyed.
    pub pauses_obeyed: u64,
    /// Frames of the LAN dropped because no frame may leave unsealed and no session was agreed on (RT-1).
    pub unsent: u64,
    /// Frames of the LAN dropped because the path carries no frame of their length (RT-12).
    pub too_long: u64,
}

impl GuardCounters {
    /// Counts a frame that is no message to this guard.
    fn refuse(&mut self, refusal: Refusal) {
        match refusal {
            Refusal::Garbage => self.foreign += 1,
            Refusal::OtherVersion(_) => self.other_version += 1,
            Refusal::OtherSeal => self.other_seal += 1,
        }
    }
}

/// The state of a guard that looks for another guard, and of its session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionState {
    /// The protection of the frames that this end sends.
    pub protection: Protection,
    /// Whether the other end has a guard, and whether both are in one session.
    pub peer: Peer,
    /// The protection of the frames that the other end sends, as its hellos report it.
    pub peer_protection: Protection,
    /// The longest of the recent round trips between the guards.
    pub loop_time: Option<Duration>,
    /// Whether both ends must know a secret (G-27).
    pub is_sealed: bool,
    /// Whether only sealed frames pass (RT-1).
    pub is_closed: bool,
    /// The longest frame of the LAN, in bytes.
    pub longest: usize,
    /// The longest frame of the peer's LAN, in bytes; `None` without a peer.
    pub peer_longest: Option<u16>,
    /// The longest frame that this end sends, zero if none is longer than those of the LAN, and the longest
    /// message that has reached the peer lately, in bytes (G-32).
    pub needed_and_carried: (u16, u16),
    /// Whether the peer answers and our longest frames do not reach it (G-32).
    pub is_too_narrow: bool,
    /// The version of the last message that this end could not read for its version.
    pub other_version: Option<u8>,
}

/// A guard. It holds frames but neither clock nor ports.
///
/// Polling order: after each `handle_frame` or `handle_timeout`, `poll_transmit` on both sides until `None` (on
/// the link side whenever the transmitter is free). Every frame goes back by `recycle`.
#[derive(Debug)]
pub struct Guard {
    stores: Stores,
    /// The session; absent as long as no protection was chosen.
    session: Option<Session>,
    /// The line protocols until a session takes them; absent in a plain wire.
    spare: Option<Lines>,
    secret: Option<Secret>,
    headroom: usize,
}

impl Guard {
    /// Returns a plain wire: a guard that looks into no frame, and can protect none (G-25).
    pub fn wire(config: GuardConfig) -> Self {
        Self { stores: Stores::new(&config, 0), session: None, spare: None, secret: None, headroom: 0 }
    }

    /// Returns a guard that protects no frame and looks for no other guard, but keeps the EtherTypes of guards
    /// free (G-25). Its line protocols, one a family, wait for [`Guard::protect`].
    pub fn silent(config: GuardConfig, lines: Vec<Box<dyn LineProtocol>>) -> Self {
        let spare = Lines::new(lines);
        let secret = config.secret.clone();
        let headroom = spare.headroom() + seal::trailer(secret.is_some());
        Self { stores: Stores::new(&config, headroom), session: None, spare: Some(spare), secret, headroom }
    }

    /// Returns a guard that looks for another guard at the far end of its link and protects the frames that it
    /// sends there, over a link that loses full frames by `law`. Its identities come from `rng`.
    pub fn new(
        config: GuardConfig,
        lines: Vec<Box<dyn LineProtocol>>,
        protection: Protection,
        law: impl Into<LossLaw>,
        rng: Stream,
    ) -> Self {
        let mut guard = Self::silent(config, lines);
        let lines = guard.spare.take().expect("a silent guard has line protocols");
        let limits = (guard.longest(), guard.secret.clone());
        guard.session = Some(Session::new(lines, protection, law.into(), rng, limits));
        guard
    }

    /// Returns a guard on a path. Its line protocol seals all frames that leave, under any protection, and no
    /// other frame is accepted (RT-1). Its identities come from `rng`.
    ///
    /// # Panics
    /// Without a secret: everybody can send on a path.
    pub fn closed(
        config: GuardConfig,
        line: Box<dyn LineProtocol>,
        protection: Protection,
        rng: Stream,
    ) -> Self {
        assert!(config.secret.is_some(), "a path needs a secret");
        let mut guard = Self::silent(config, Vec::new());
        let lines = Lines::only(line);
        let longest = guard.longest();
        guard.headroom = lines.headroom() + seal::trailer(true);
        guard.stores.pool = FramePool::new(guard.stores.pool.limit(), longest + guard.headroom);
        guard.spare = None;
        let limits = (longest, guard.secret.clone());
        guard.session = Some(Session::closed(lines, protection, rng, limits));
        guard
    }

    /// Changes the protection from now on, in a new session (G-6). A silent guard begins to look for another
    /// guard; its identities come from `rng`.
    ///
    /// # Panics
    /// If the guard is a plain wire.
    pub fn protect(&mut self, now: Instant, protection: Protection, law: impl Into<LossLaw>, rng: Stream) {
        let law = law.into();
        let longest = self.longest();
        let Self { stores, session, spare, secret, .. } = self;
        let session = session.get_or_insert_with(|| {
            let lines = spare.take().expect("a plain wire protects nothing");
            Session::new(lines, protection.clone(), law, rng, (longest, secret.clone()))
        });
        session.protect(now, stores, protection, law);
    }

    /// Returns by how much a frame on the link may be longer than a frame of the LAN (G-4).
    pub fn headroom(&self) -> usize {
        self.headroom
    }

    /// Returns the length of the longest frame of the LAN.
    fn longest(&self) -> usize {
        self.stores.pool.longest() - self.headroom
    }

    /// Sets how many frames the port of the link has dropped so far: `missed` frames that came and were not seen
    /// here, and `refused` frames that the port did not send. Neither is a loss of the link (G-33).
    pub fn set_port_drops(&mut self, missed: u64, refused: u64) {
        self.stores.missed = missed;
        self.stores.refused = refused;
    }

    /// Takes in a frame that arrives on one side.
    pub fn handle_frame(&mut self, now: Instant, side: Side, bytes: &[u8]) {
        match side {
            Side::Lan => self.handle_lan(now, bytes),
            Side::Link => self.handle_link(now, bytes),
        }
    }

    fn handle_lan(&mut self, now: Instant, bytes: &[u8]) {
        self.stores.counters.from_lan += 1;
        let Some(ethertype) = self.stores.ethertype(bytes) else { return };
        if self.is_reserved(ethertype) {
            self.stores.counters.reserved += 1;
            return;
        }
        let Self { stores, session, .. } = self;
        if session.as_mut().is_none_or(|session| session.takes(now, stores, bytes)) {
            stores.enqueue(bytes);
        }
    }

    fn handle_link(&mut self, now: Instant, bytes: &[u8]) {
        self.stores.counters.from_link += 1;
        let Some(ethertype) = self.stores.ethertype(bytes) else { return };
        let is_reserved = self.is_reserved(ethertype);
        let Self { stores, session, .. } = self;
        match session {
            Some(session) => session.handle_link(now, stores, ethertype, bytes),
            None if is_reserved => stores.counters.foreign += 1,
            None => stores.hand_on(bytes),
        }
    }

    /// Whether guards use an EtherType among themselves; in a plain wire none is reserved (G-3, G-25).
    fn is_reserved(&self, ethertype: EtherType) -> bool {
        match (&self.session, &self.spare) {
            (Some(session), _) => session.is_reserved(ethertype),
            (None, Some(lines)) => lines.is_reserved(ethertype),
            (None, None) => false,
        }
    }

    /// Returns the next frame for one side.
    pub fn poll_transmit(&mut self, now: Instant, side: Side) -> Option<Frame> {
        match side {
            Side::Lan => self.stores.to_lan.pop_front().inspect(|_| self.stores.counters.to_lan += 1),
            Side::Link => self.poll_link(now).inspect(|_| self.stores.counters.to_link += 1),
        }
    }

    fn poll_link(&mut self, now: Instant) -> Option<Frame> {
        let Self { stores, session, .. } = self;
        match session {
            Some(session) => session.poll_link(now, stores),
            None => stores.dequeue(),
        }
    }

    /// Takes back a frame that `poll_transmit` gave.
    pub fn recycle(&mut self, frame: Frame) {
        self.stores.pool.give_back(frame);
    }

    /// Returns when `handle_timeout` is due.
    pub fn poll_timeout(&self) -> Instant {
        self.session.as_ref().map_or(Instant::NEVER, Session::poll_timeout)
    }

    /// Carries out a deadline.
    pub fn handle_timeout(&mut self, now: Instant) {
        let Self { stores, session, .. } = self;
        if let Some(session) = session {
            session.handle_timeout(now, stores);
        }
    }

    /// Returns the counters of the guard.
    pub fn counters(&self) -> GuardCounters {
        self.stores.counters
    }

    /// Returns the counters of the queue toward the link.
    pub fn queue(&self) -> QueueCounters {
        self.stores.normal.counters()
    }

    /// Returns the state of the session; `None` in a silent guard and in a plain wire.
    pub fn session(&self) -> Option<SessionState> {
        self.session.as_ref().map(Session::state)
    }

    /// Whether a frame could leave toward the link as soon as the transmitter is free.
    pub fn has_frames(&self, now: Instant) -> bool {
        match &self.session {
            Some(session) => session.has_frames(now, &self.stores),
            None => !self.stores.normal.is_empty(),
        }
    }

    /// Returns how many frames the guard holds.
    pub fn frames_held(&self) -> usize {
        self.stores.pool.in_use()
    }

    /// Returns every counter: the guard's own in a group without a name, then those of its line protocols.
    pub fn report(&self) -> Vec<Group> {
        let own = report::own(&self.counters(), &self.stores.normal, self.frames_held());
        let mut groups = vec![own];
        groups.extend(self.session.iter().flat_map(Session::report));
        groups
    }
}
