//! The part of a guard that knows of another guard: who it is, by which protocol frames go and come.

use super::handshake::{Handshake, Says};
use super::hello::{self, Hello, Kind};
use super::line::{PauseMessage, Surroundings};
use super::lines::Lines;
use super::pause::Pause;
use super::seal::{MessageSeal, Origin, Seal};
use super::secret::Secret;
use super::stores::Stores;
use super::watchdog::{Progress, Watchdog};
use super::{Frame, Peer, SessionState};
use crate::engine::linkguardian::PauseRequest;
use crate::engine::report::Group;
use crate::loss::LossLaw;
use crate::protection::Protection;
use crate::rng::Stream;
use crate::time::{Duration, Instant};
use crate::wire::ethernet::EtherType;
use alloc::vec::Vec;

/// Two sessions in which nothing moves, so close to each other, are no accident (G-31).
const NO_ACCIDENT: Duration = Duration::from_secs(10);
/// How long frames then pass as they are (G-31).
const ASIDE: Duration = Duration::from_secs(5);

/// What a guard knows of its peer, and its line protocols.
#[derive(Debug)]
pub(super) struct Session {
    protection: Protection,
    handshake: Handshake,
    lines: Lines,
    /// What the keys of each session are made from; without it, everybody may know them (G-27).
    secret: Option<Secret>,
    message_seal: MessageSeal,
    /// The keys of the session, and of the one before: its frames under way still count as contents (G-6).
    seal: Seal,
    pause: Pause,
    /// The last call of `handle_timeout`: what was due by then waits for a free transmitter, not for
    /// another call.
    woken: Instant,
    watchdog: Watchdog,
    /// When the watchdog last gave a session up.
    stuck: Option<Instant>,
}

impl Session {
    pub(super) fn new(
        mut lines: Lines,
        protection: Protection,
        law: LossLaw,
        rng: Stream,
        secret: Option<Secret>,
    ) -> Self {
        lines.protect(&protection, law);
        let handshake = Handshake::new(rng);
        Self {
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
        }
    }

    /// Protects by another protection, in a new session (G-6).
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
    }

    /// Begins a session of our own accord (G-6).
    fn renew(&mut self, now: Instant, stores: &mut Stores) {
        self.handshake.renew(now);
        self.start_over(now, stores);
    }

    /// Begins a session: numbers from the start, nothing held (G-6).
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

    /// What has moved so far (G-22).
    fn progress(&self, now: Instant, stores: &Stores) -> Progress {
        let is_held = self.is_agreed() && self.pause.until() <= now && !self.lines.ours().may_send(now);
        Progress {
            arrived: stores.counters.contents,
            delivered: stores.counters.to_lan + stores.to_lan.len() as u64,
            left: stores.counters.to_link_first,
            is_held: is_held && !stores.normal.is_empty(),
        }
    }

    /// A session in which nothing moves is given up (G-22); if that happens again, protection is (G-31).
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

    /// Whether an EtherType is one that guards use among themselves (G-3).
    pub(super) fn is_reserved(&self, ethertype: EtherType) -> bool {
        self.lines.is_reserved(ethertype)
    }

    /// A frame from the link.
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
        let Some(line) = lines.owner(ethertype) else { return stores.hand_on(bytes) };
        let origin = line.handle_link(&mut surroundings(now, stores, handshake, seal), bytes);
        match origin {
            Origin::Session => handshake.heard(),
            Origin::Former => {}
            Origin::Repeated => stores.counters.repeated += 1,
            Origin::Foreign => stores.counters.foreign += 1,
        }
        self.send_pause(stores);
        self.watch(now, stores);
    }

    fn handle_hello(&mut self, now: Instant, stores: &mut Stores, bytes: &[u8]) {
        let hello = match Hello::read(bytes, &self.message_seal) {
            Ok(hello) => hello,
            Err(refusal) => return stores.counters.refuse(refusal),
        };
        stores.counters.hellos += 1;
        let meaning = self.handshake.handle(now, &hello);
        if meaning.begins {
            self.start_over(now, stores);
        }
        if meaning.is_asking {
            let says = self.says();
            let reply = self.handshake.reply(&hello, says);
            stores.send(|frame| reply.write(frame, &self.message_seal));
        }
        if meaning.counts {
            self.act_on(now, stores, &hello);
        }
    }

    /// Takes what a message says beside the session (G-20).
    fn act_on(&mut self, now: Instant, stores: &mut Stores, hello: &Hello) {
        match hello.kind {
            Kind::Pause => {
                // Further copies make it last longer by what they come later (G-26).
                stores.counters.pauses_obeyed += u64::from(self.pause.until() <= now);
                self.pause.begin(now);
            }
            Kind::Resume => self.pause.end(now),
            Kind::Hello | Kind::Reply => {}
        }
        // Each half is for the end that the other guard means: the peer's family has sent, ours has been
        // received (G-9).
        let Self { handshake, lines, seal, .. } = self;
        let mut around = surroundings(now, stores, handshake, seal);
        lines.ours_mut().handle_received(&mut around, hello.received);
        lines.theirs_mut().handle_sent(&mut around, hello.sent);
        self.send_pause(stores);
    }

    /// Strict priorities: control and retransmissions, then frames of the LAN, then idle fill (LG-18).
    pub(super) fn poll_link(&mut self, now: Instant, stores: &mut Stores) -> Option<Frame> {
        if let Some(frame) = stores.urgent.pop_front() {
            return Some(frame);
        }
        self.poll_others(now, stores)
            .or_else(|| self.poll_normal(now, stores))
            .or_else(|| self.poll_fill(now, stores))
    }

    /// What protocols other than our own have to say cannot ride on our frames: it does not wait for an
    /// idle link, which may never come (G-17).
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
        let Self { handshake, lines, seal, .. } = self;
        if handshake.peer() != Peer::Agreed || lines.ours().fill_at() > now {
            return None;
        }
        lines.ours_mut().poll_fill(&mut surroundings(now, stores, handshake, seal))
    }

    /// Whether neither a pause nor the protocol holds the normal queue back. What goes out as it is
    /// has no protocol to wait for (G-8).
    fn may_send(&self, now: Instant) -> bool {
        self.pause.until() <= now && (!self.is_agreed() || self.lines.ours().may_send(now))
    }

    /// Whether something could leave toward the link as soon as the transmitter is free.
    pub(super) fn has_frames(&self, now: Instant, stores: &Stores) -> bool {
        !stores.urgent.is_empty()
            || (!stores.normal.is_empty() && self.may_send(now))
            || (self.is_agreed() && self.lines.fill_at() <= now)
    }

    /// When `handle_timeout` is due.
    pub(super) fn poll_timeout(&self) -> Instant {
        let mut fill = self.pause.until();
        if self.is_agreed() {
            let idle = self.lines.fill_at();
            fill = if fill > self.woken { fill.min(idle) } else { idle };
        }
        let due = self.handshake.poll_timeout().min(self.lines.poll_timeout());
        if fill > self.woken { due.min(fill) } else { due }
    }

    /// A deadline has come.
    pub(super) fn handle_timeout(&mut self, now: Instant, stores: &mut Stores) {
        self.woken = now;
        let Self { handshake, lines, seal, .. } = self;
        lines.handle_timeout(&mut surroundings(now, stores, handshake, seal));
        self.send_pause(stores);
        self.watch(now, stores);
        if self.handshake.poll_timeout() > now {
            return;
        }
        let due = self.handshake.handle_timeout(now);
        if due.silent {
            stores.counters.silences += 1;
            self.start_over(now, stores);
        }
        if due.hello {
            self.send_message(stores, Kind::Hello);
        }
    }

    /// Tells the peer to hold its frames back or to go on, if a line protocol has asked for it.
    fn send_pause(&mut self, stores: &mut Stores) {
        let Some(PauseMessage { request, copies }) = stores.pause.take() else { return };
        let kind = match request {
            PauseRequest::Pause => Kind::Pause,
            PauseRequest::Resume => Kind::Resume,
        };
        (0..copies).for_each(|_| self.send_message(stores, kind));
    }

    fn send_message(&mut self, stores: &mut Stores, kind: Kind) {
        let says = self.says();
        let message = self.handshake.message(kind, says);
        stores.send(|frame| message.write(frame, &self.message_seal));
    }

    fn says(&self) -> Says {
        Says {
            protection: self.protection.clone(),
            sent: self.lines.ours().sent(),
            received: self.lines.theirs().received(),
        }
    }

    fn is_agreed(&self) -> bool {
        self.handshake.peer() == Peer::Agreed
    }

    pub(super) fn state(&self) -> SessionState {
        SessionState {
            protection: self.protection.clone(),
            peer: self.handshake.peer(),
            peer_protection: self.handshake.peer_protection().clone(),
            loop_time: self.handshake.loop_time(),
            is_sealed: self.secret.is_some(),
        }
    }

    /// The counters of its line protocols.
    pub(super) fn report(&self) -> Vec<Group> {
        self.lines.report()
    }
}

/// What a line protocol is lent.
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
