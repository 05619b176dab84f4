//! The part of a guard that deals with the peer: its identity, and the line protocols of both directions.

use super::account::{Accounts, Arrived, Tally};
use super::handshake::{Handshake, Says};
use super::hello::{self, Hello, Kind, Refusal};
use super::line::{PauseMessage, Surroundings};
use super::lines::Lines;
use super::pause::Pause;
use super::report;
use super::seal::{self, MessageSeal, Origin, Seal};
use super::secret::Secret;
use super::stores::Stores;
use super::too_long;
use super::watchdog::{Progress, Watchdog};
use super::width::Width;
use super::{Frame, Peer, SessionState};
use crate::engine::linkguardian::PauseRequest;
use crate::engine::report::Group;
use crate::loss::LossLaw;
use crate::protection::Protection;
use crate::rng::Stream;
use crate::time::{Duration, Instant};
use crate::wire::ethernet::EtherType;
use alloc::vec::Vec;

/// The time within which two sessions without a moving frame are no accident (G-31).
const NO_ACCIDENT: Duration = Duration::from_secs(10);
/// The time for which frames then pass as they are (G-31).
const ASIDE: Duration = Duration::from_secs(5);
/// The least time between two answers to frames that are too long (RT-12).
const ANSWER_INTERVAL: Duration = Duration::from_ms(10);

/// The state of a guard that has to do with its peer, and its line protocols.
#[derive(Debug)]
pub(super) struct Session {
    protection: Protection,
    handshake: Handshake,
    lines: Lines,
    /// The secret that the keys of each session are made from. Without it, everybody may know the keys (G-27).
    secret: Option<Secret>,
    message_seal: MessageSeal,
    /// The keys of the session, and of the session before, whose frames under way still count as contents (G-6).
    seal: Seal,
    pause: Pause,
    /// The last call of `handle_timeout`. A frame that was due by then waits for a free transmitter, not for
    /// another call.
    woken: Instant,
    watchdog: Watchdog,
    /// When the watchdog last gave up a session.
    stuck: Option<Instant>,
    /// The longest frame of the LAN, in bytes.
    longest: usize,
    width: Width,
    accounts: Accounts,
    /// The version of the last message that this guard could not read for its version.
    other_version: Option<u8>,
    /// Whether only sealed frames pass, because the link is a path (RT-1).
    is_closed: bool,
    /// When the next answer to a frame that is too long may leave (RT-12).
    next_answer: Instant,
}

impl Session {
    /// Returns a session on a path (RT-1).
    pub(super) fn closed(
        lines: Lines,
        protection: Protection,
        rng: Stream,
        limits: (usize, Option<Secret>),
    ) -> Self {
        let mut session = Self::new(lines, protection, LossLaw::from(0.0), rng, limits);
        session.is_closed = true;
        session.width.search();
        session
    }

    pub(super) fn new(
        mut lines: Lines,
        protection: Protection,
        law: LossLaw,
        rng: Stream,
        (longest, secret): (usize, Option<Secret>),
    ) -> Self {
        lines.protect(&protection, law);
        let handshake = Handshake::new(rng);
        let mut session = Self {
            protection,
            lines,
            message_seal: MessageSeal::new(secret.as_ref()),
            seal: Seal::new(secret.as_ref(), handshake.names()),
            secret,
            handshake,
            pause: Pause::new(),
            woken: Instant::ZERO,
            watchdog: Watchdog::default(),
            stuck: None,
            longest,
            width: Width::default(),
            accounts: Accounts::default(),
            other_version: None,
            is_closed: false,
            next_answer: Instant::ZERO,
        };
        session.measure(Instant::ZERO);
        session
    }

    /// Sets our longest frame on the link, which depends on our protection (G-32).
    fn measure(&mut self, now: Instant) {
        let needed = match self.lines.ours().headroom() {
            0 => 0,
            headroom => self.longest + headroom + seal::trailer(self.secret.is_some()),
        };
        self.width.need(now, needed);
    }

    /// Changes the protection, in a new session (G-6).
    pub(super) fn protect(
        &mut self,
        now: Instant,
        stores: &mut Stores,
        protection: Protection,
        law: LossLaw,
    ) {
        self.renew(now, stores);
        self.lines.protect(&protection, law);
        self.protection = protection;
        self.measure(now);
    }

    /// Begins a session of our own accord (G-6).
    fn renew(&mut self, now: Instant, stores: &mut Stores) {
        self.handshake.renew(now);
        self.start_over(now, stores);
    }

    /// Begins a session: numbers start anew, and no frame is held (G-6).
    fn start_over(&mut self, now: Instant, stores: &mut Stores) {
        let Self { handshake, lines, seal, secret, .. } = self;
        seal.rename(secret.as_ref(), handshake.names());
        let mut around = surroundings(now, stores, handshake, seal);
        lines.start_over(&mut around, handshake.peer_protection());
        stores.drop_urgent();
        stores.pause = None;
        self.pause.end(now);
        stores.counters.sessions += 1;
        self.watchdog.start_over(self.progress(now, stores));
    }

    /// Returns the frames that have moved so far (G-22).
    fn progress(&self, now: Instant, stores: &Stores) -> Progress {
        let is_held = self.is_agreed() && self.pause.until() <= now && !self.lines.ours().may_send(now);
        Progress {
            arrived: stores.counters.contents,
            delivered: stores.counters.to_lan + stores.to_lan.len() as u64,
            left: stores.counters.to_link_first,
            is_held: is_held && !stores.normal.is_empty(),
        }
    }

    /// Gives up a session in which no frame moves (G-22), and if that happens again, the protection (G-31).
    fn watch(&mut self, now: Instant, stores: &mut Stores) {
        if !self.watchdog.is_stuck(now, self.progress(now, stores)) {
            return;
        }
        stores.counters.stuck += 1;
        let is_no_accident = self.stuck.is_some_and(|before| now < before + NO_ACCIDENT);
        self.stuck = Some(now);
        self.renew(now, stores);
        if is_no_accident {
            stores.counters.stood_aside += 1;
            self.handshake.stand_aside(now + ASIDE);
        }
    }

    /// Whether a frame of the LAN may wait for the link. On a path no frame may wait while no peer answers (RT-1),
    /// and none that is too long for the path (RT-12).
    pub(super) fn takes(&mut self, now: Instant, stores: &mut Stores, frame: &[u8]) -> bool {
        if !self.is_closed {
            return true;
        }
        if self.handshake.peer() == Peer::Absent {
            stores.counters.unsent += 1;
            return false;
        }
        let length = self.lines.ours().length_of(frame) + seal::trailer(true);
        let Some(excess) = length.checked_sub(self.width.limit()).filter(|excess| *excess > 0) else {
            return true;
        };
        stores.counters.too_long += 1;
        if self.width.is_searched() && self.next_answer <= now {
            self.next_answer = now + ANSWER_INTERVAL;
            stores.answer(|out| too_long::answer(out, frame, excess));
        }
        false
    }

    /// Whether guards use an EtherType among themselves (G-3).
    pub(super) fn is_reserved(&self, ethertype: EtherType) -> bool {
        self.lines.is_reserved(ethertype)
    }

    /// Takes in a frame from the link.
    pub(super) fn handle_link(
        &mut self,
        now: Instant,
        stores: &mut Stores,
        ethertype: EtherType,
        bytes: &[u8],
    ) {
        if ethertype == hello::ETHERTYPE {
            return self.handle_hello(now, stores, bytes);
        }
        let Self { handshake, lines, seal, .. } = self;
        let Some(line) = lines.owner(ethertype) else {
            match self.is_closed {
                true => stores.counters.foreign += 1, // RT-1
                false => stores.hand_on(bytes),
            }
            return;
        };
        let origin = line.handle_link(&mut surroundings(now, stores, handshake, seal), bytes);
        match origin {
            Origin::Session => handshake.heard(),
            Origin::Former => {}
            Origin::Repeated => stores.counters.repeated += 1,
            Origin::Foreign => stores.counters.foreign += 1,
        }
        self.send_pause(now, stores);
        self.watch(now, stores);
    }

    fn handle_hello(&mut self, now: Instant, stores: &mut Stores, bytes: &[u8]) {
        let hello = match Hello::read(bytes, &self.message_seal) {
            Ok(hello) => hello,
            Err(refusal) => {
                if let Refusal::OtherVersion(version) = refusal {
                    self.other_version = Some(version);
                }
                return stores.counters.refuse(refusal);
            }
        };
        stores.counters.hellos += 1;
        let former = self.handshake.names().theirs;
        let meaning = self.handshake.handle(now, &hello);
        if self.handshake.names().theirs != former {
            self.forget(now);
        }
        if meaning.is_fresh {
            self.learn(now, stores, &hello, bytes.len());
        }
        if meaning.begins {
            self.start_over(now, stores);
        }
        if meaning.is_asking {
            let says = self.says(now, stores);
            let reply = self.handshake.reply(&hello, says);
            stores.send(|frame| reply.write(frame, &self.message_seal, 0));
        }
        if meaning.counts {
            self.act_on(now, stores, &hello);
        }
    }

    /// Forgets the link to the former peer: the peer is another, or none.
    fn forget(&mut self, now: Instant) {
        self.width.forget(now);
        self.accounts.forget();
    }

    /// Takes in the words of a fresh message about the link, in any session (G-32, G-33).
    fn learn(&mut self, now: Instant, stores: &Stores, hello: &Hello, bytes: usize) {
        if self.width.hear(now, bytes, hello.widest) {
            self.handshake.hurry(now);
        }
        // The message itself has been counted here, and its sender did not count it.
        let arrived = Arrived {
            frames: stores.counters.from_link - 1 + stores.missed,
            contents: stores.counters.to_lan + stores.to_lan.len() as u64 - stores.answered,
        };
        self.accounts.hear(hello.tally, arrived, hello.account);
    }

    /// Takes in the words of a message about the protection: pauses, and the octets of the line protocols (G-20).
    fn act_on(&mut self, now: Instant, stores: &mut Stores, hello: &Hello) {
        match hello.kind {
            Kind::Pause => {
                // Further copies lengthen the pause by the time that they come later (G-26).
                stores.counters.pauses_obeyed += u64::from(self.pause.until() <= now);
                self.pause.begin(now);
            }
            Kind::Resume => self.pause.end(now),
            Kind::Hello | Kind::Reply => {}
        }
        // Each half is for one end: `sent` of the peer's family for our receiving end, `received` of our family for
        // our sending end (G-9).
        let Self { handshake, lines, seal, .. } = self;
        let mut around = surroundings(now, stores, handshake, seal);
        lines.ours_mut().handle_received(&mut around, hello.received);
        lines.theirs_mut().handle_sent(&mut around, hello.sent);
        self.send_pause(now, stores);
    }

    /// Returns the next frame by strict priorities: control and retransmissions, then frames of the LAN, then idle
    /// fill (LG-18).
    pub(super) fn poll_link(&mut self, now: Instant, stores: &mut Stores) -> Option<Frame> {
        if let Some(frame) = stores.urgent.pop_front() {
            return Some(frame);
        }
        self.poll_others(now, stores)
            .or_else(|| self.poll_normal(now, stores))
            .or_else(|| self.poll_fill(now, stores))
    }

    /// Returns a frame of a protocol other than our own, such as an acknowledgement. It cannot ride on our frames,
    /// and does not wait for an idle link, which may never come (G-17).
    fn poll_others(&mut self, now: Instant, stores: &mut Stores) -> Option<Frame> {
        if !self.is_agreed() {
            return None;
        }
        let Self { handshake, lines, seal, .. } = self;
        let line = lines.others_mut().find(|line| line.fill_at() <= now)?;
        line.poll_fill(&mut surroundings(now, stores, handshake, seal))
    }

    fn poll_normal(&mut self, now: Instant, stores: &mut Stores) -> Option<Frame> {
        while self.may_send(now) {
            let frame = stores.dequeue()?;
            if !self.is_agreed() {
                return Some(frame); // G-8
            }
            let Self { handshake, lines, seal, .. } = self;
            lines.ours_mut().handle_lan(&mut surroundings(now, stores, handshake, seal), frame);
            // A protocol may have dropped the frame.
            if let Some(frame) = stores.urgent.pop_front() {
                return Some(frame);
            }
        }
        None
    }

    fn poll_fill(&mut self, now: Instant, stores: &mut Stores) -> Option<Frame> {
        let is_agreed = self.is_agreed();
        let Self { handshake, lines, seal, .. } = self;
        if !is_agreed || lines.ours().fill_at() > now {
            return None;
        }
        lines.ours_mut().poll_fill(&mut surroundings(now, stores, handshake, seal))
    }

    /// Whether neither a pause nor the protocol holds the normal queue back. A frame that leaves as it is has no
    /// protocol to wait for (G-8); on a path it waits for a session (RT-1).
    fn may_send(&self, now: Instant) -> bool {
        let is_let = if self.is_agreed() { self.lines.ours().may_send(now) } else { !self.is_closed };
        self.pause.until() <= now && is_let
    }

    /// Whether a frame could leave toward the link as soon as the transmitter is free.
    pub(super) fn has_frames(&self, now: Instant, stores: &Stores) -> bool {
        !stores.urgent.is_empty()
            || (!stores.normal.is_empty() && self.may_send(now))
            || (self.is_agreed() && self.lines.fill_at() <= now)
    }

    /// Returns when `handle_timeout` is due.
    pub(super) fn poll_timeout(&self) -> Instant {
        let mut fill = self.pause.until();
        if self.is_agreed() {
            let idle = self.lines.fill_at();
            fill = if fill > self.woken { fill.min(idle) } else { idle };
        }
        let due = self.handshake.poll_timeout().min(self.lines.poll_timeout());
        if fill > self.woken { due.min(fill) } else { due }
    }

    /// Carries out the deadlines that have come.
    pub(super) fn handle_timeout(&mut self, now: Instant, stores: &mut Stores) {
        self.woken = now;
        let Self { handshake, lines, seal, .. } = self;
        lines.handle_timeout(&mut surroundings(now, stores, handshake, seal));
        self.send_pause(now, stores);
        self.watch(now, stores);
        if self.handshake.poll_timeout() > now {
            return;
        }
        let due = self.handshake.handle_timeout(now);
        if due.silent {
            stores.counters.silences += 1;
            self.forget(now);
            self.start_over(now, stores);
            if self.is_closed {
                stores.drop_normal();
            }
        }
        if due.hello {
            // A peer that does not answer need not receive long messages.
            let is_known = self.handshake.peer() != Peer::Absent;
            let least = if is_known { self.width.probe(now) } else { 0 };
            if least > 0 {
                self.handshake.leave_untimed();
            }
            self.send_message(now, stores, Kind::Hello, least);
        }
    }

    /// Tells the peer to hold its frames back or to go on, if a line protocol has asked for that.
    fn send_pause(&mut self, now: Instant, stores: &mut Stores) {
        let Some(PauseMessage { request, copies }) = stores.pause.take() else { return };
        let kind = match request {
            PauseRequest::Pause => Kind::Pause,
            PauseRequest::Resume => Kind::Resume,
        };
        (0..copies).for_each(|_| self.send_message(now, stores, kind, 0));
    }

    /// Sends a message of at least `least` bytes.
    fn send_message(&mut self, now: Instant, stores: &mut Stores, kind: Kind, least: usize) {
        let says = self.says(now, stores);
        let message = self.handshake.message(kind, says);
        stores.send(|frame| message.write(frame, &self.message_seal, least));
    }

    fn says(&self, now: Instant, stores: &Stores) -> Says {
        // The frames that wait in front of the LAN's frames leave before this message.
        let frames = stores.counters.to_link + stores.urgent.len() as u64 - stores.refused;
        let tally = Tally { frames: frames as u32, contents: stores.counters.to_link_first as u32 };
        Says {
            protection: self.protection.clone(),
            sent: self.lines.ours().sent(),
            received: self.lines.theirs().received(),
            longest: u16::try_from(self.longest).unwrap_or(u16::MAX),
            widest: self.width.heard(now),
            tally,
            account: self.accounts.arriving.words(),
        }
    }

    /// Whether both ends are in one session, and the link carries the frames that leave from here.
    fn is_agreed(&self) -> bool {
        self.peer() == Peer::Agreed
    }

    fn peer(&self) -> Peer {
        match self.handshake.peer() {
            Peer::Agreed if !self.is_closed && !self.width.is_enough() => Peer::Known,
            peer => peer,
        }
    }

    pub(super) fn state(&self) -> SessionState {
        SessionState {
            protection: self.protection.clone(),
            peer: self.peer(),
            peer_protection: self.handshake.peer_protection().clone(),
            loop_time: self.handshake.loop_time(),
            is_sealed: self.secret.is_some(),
            is_closed: self.is_closed,
            longest: self.longest,
            peer_longest: self.handshake.peer_longest(),
            needed_and_carried: self.width.needed_and_carried(),
            is_too_narrow: !self.is_closed && self.width.is_too_narrow(),
            other_version: self.other_version,
        }
    }

    /// Returns the counters of the line protocols, and the accounts of both directions.
    pub(super) fn report(&self) -> Vec<Group> {
        let [arriving, leaving] =
            [("arriving", &self.accounts.arriving), ("leaving", &self.accounts.leaving)];
        let mut groups = self.lines.report();
        groups.extend([arriving, leaving].map(|(name, account)| report::direction(name, account)));
        groups
    }
}

/// Returns the things that a line protocol is lent for one call.
fn surroundings<'a>(
    now: Instant,
    stores: &'a mut Stores,
    handshake: &Handshake,
    seal: &'a mut Seal,
) -> Surroundings<'a> {
    Surroundings {
        now,
        pool: &mut stores.pool,
        to_lan: &mut stores.to_lan,
        to_link: &mut stores.urgent,
        seal,
        loop_time: handshake.loop_time(),
        pause: &mut stores.pause,
        counters: &mut stores.counters,
    }
}
