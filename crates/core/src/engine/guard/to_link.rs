//! Frames toward the link: control first, then the LAN's frames, then what fills an idle link.

use super::envelope;
use super::handshake::Says;
use super::hello::Kind;
use super::{Frame, Guard, LinkProtection, Peer, sending};
use crate::time::Instant;
use crate::wire::linkguardian::LinkGuardianFrame;

impl Guard {
    /// Strict priorities: retransmissions and control, then frames of the LAN, then idle fill (LG-18).
    pub(super) fn poll_link(&mut self, now: Instant) -> Option<Frame> {
        if let Some(frame) = self.urgent.pop_front() {
            return Some(frame);
        }
        self.poll_normal(now).or_else(|| self.poll_idle(now))
    }

    fn poll_normal(&mut self, now: Instant) -> Option<Frame> {
        if !self.may_send(now) {
            return None;
        }
        let frame = self.normal.pop()?;
        self.counters.to_link_first += 1;
        let Self { session, pool, counters, .. } = self;
        let Some(session) = session else { return Some(frame) };
        let agreed = session.handshake.peer() == Peer::Agreed;
        if !agreed || session.protection.link == LinkProtection::None {
            return Some(frame); // G-8
        }
        let ack = session.receiving.poll_ack(now);
        let key = session.handshake.sending_key();
        let sealed = session.sending.protect(now, frame, ack, key, pool);
        counters.no_room += u64::from(sealed.is_none());
        sealed
    }

    /// Whether neither a pause nor a full window holds the normal queue back.
    pub(super) fn may_send(&self, now: Instant) -> bool {
        self.session.as_ref().is_none_or(|session| session.paused_until <= now && !session.sending.is_full())
    }

    /// A dummy or an explicit ACK whose time has come (G-11, G-13).
    fn poll_idle(&mut self, now: Instant) -> Option<Frame> {
        let Self { session, pool, counters, .. } = self;
        let session = session.as_mut()?;
        if session.handshake.peer() != Peer::Agreed {
            return None;
        }
        let key = session.handshake.sending_key();
        if session.sending.dummy_at() <= now {
            let mut frame = pool.empty()?;
            session.sending.write_dummy(now, &mut frame, key);
            return Some(frame);
        }
        if session.receiving.ack_at() > now {
            return None;
        }
        let mut frame = pool.empty()?;
        let leading = session.receiving.poll_ack(now).expect("an ACK was due");
        envelope::seal_control(&mut frame, &LinkGuardianFrame::Ack(sending::ack_header(leading, false)), key);
        counters.explicit_acks += 1;
        Some(frame)
    }

    pub(super) fn send_control(&mut self, inner: &LinkGuardianFrame<'_>) {
        let session = self.session.as_ref().expect("only a guard with a session sends control frames");
        let key = session.handshake.sending_key();
        match self.pool.empty() {
            Some(mut frame) => {
                envelope::seal_control(&mut frame, inner, key);
                self.urgent.push_back(frame);
            }
            None => self.counters.no_room += 1,
        }
    }

    pub(super) fn send_message(&mut self, kind: Kind, time: u64) {
        let session = self.session.as_ref().expect("only a guard with a session sends messages");
        let says = Says {
            protection: session.protection.link,
            next: session.sending.next(),
            leading: session.receiving.leading(),
        };
        let message = session.handshake.message(kind, time, says);
        match self.pool.empty() {
            Some(mut frame) => {
                message.write(&mut frame);
                self.urgent.push_back(frame);
            }
            None => self.counters.no_room += 1,
        }
    }
}
