//! Frames from the link: contents for the LAN, news for the sending end, messages of the other guard.

use super::handshake::Meaning;
use super::hello::{Hello, Kind};
use super::receiving::Arrival;
use super::{Guard, PAUSE_LASTS, Peer, envelope};
use crate::engine::linkguardian::{Notification, PauseRequest, Position};
use crate::time::Instant;
use crate::wire::linkguardian::{AckHeader, Content, DataHeader, LinkGuardianFrame, LossNotification};

impl Guard {
    /// A frame with LinkGuardian's EtherType: of this session, of the one before, or garbage (G-3).
    pub(super) fn handle_protected(&mut self, now: Instant, bytes: &[u8]) {
        let parsed = envelope::body(bytes).and_then(|body| LinkGuardianFrame::parse(body).ok());
        let session = self.session.as_mut().expect("only a guard with a session looks into frames");
        let Some(inner) = parsed else {
            self.counters.foreign += 1;
            return;
        };
        let headers = inner.headers_len();
        if envelope::is_genuine(bytes, headers, session.handshake.receiving_key()) {
            session.handshake.heard(now);
            self.handle_inner(now, bytes, &inner);
        } else if session.former.is_some_and(|key| envelope::is_genuine(bytes, headers, key)) {
            self.handle_former(bytes, &inner);
        } else {
            self.counters.foreign += 1;
        }
    }

    /// A genuine frame of this session.
    fn handle_inner(&mut self, now: Instant, bytes: &[u8], inner: &LinkGuardianFrame<'_>) {
        match *inner {
            LinkGuardianFrame::Data { ack, data, content } => {
                if let Some(ack) = ack {
                    self.handle_ack(ack);
                }
                self.handle_data(now, bytes, data, content);
            }
            LinkGuardianFrame::Unprotected { ack, content } => {
                self.handle_ack(ack);
                self.forward(bytes, content);
            }
            LinkGuardianFrame::Dummy(data) => self.handle_dummy(now, Position::new(data.sequence, data.era)),
            LinkGuardianFrame::Ack(ack) => self.handle_ack(ack),
            LinkGuardianFrame::Notification(notification) => self.handle_notification(notification),
        }
    }

    /// A frame of the session before this one: its number means nothing any more, its contents do.
    /// Copies are left out: they may have arrived before.
    fn handle_former(&mut self, bytes: &[u8], inner: &LinkGuardianFrame<'_>) {
        if let LinkGuardianFrame::Data { data, content, .. } = *inner
            && !data.is_retransmission
        {
            self.forward(bytes, content);
        }
    }

    fn forward(&mut self, bytes: &[u8], content: Content<'_>) {
        match self.pool.empty() {
            Some(mut frame) => {
                envelope::unseal(&mut frame, bytes, content);
                self.to_lan.push_back(frame);
            }
            None => self.counters.no_room += 1,
        }
    }

    fn handle_data(&mut self, now: Instant, bytes: &[u8], data: DataHeader, content: Content<'_>) {
        let Some(mut frame) = self.pool.empty() else {
            self.counters.no_room += 1;
            return;
        };
        envelope::unseal(&mut frame, bytes, content);
        let position = Position::new(data.sequence, data.era);
        let Self { session, to_lan, pool, .. } = self;
        let session = session.as_mut().expect("only a guard with a session looks into frames");
        let wait = session.handshake.loop_time();
        let arrival = Arrival { position, is_retransmission: data.is_retransmission, frame };
        let notification = session.receiving.handle_data(now, arrival, wait, to_lan, pool);
        self.ask_again(notification);
    }

    fn handle_dummy(&mut self, now: Instant, next: Position) {
        let Self { session, to_lan, .. } = self;
        let session = session.as_mut().expect("only a guard with a session looks into frames");
        let wait = session.handshake.loop_time();
        let notification = session.receiving.handle_dummy(now, next, wait, to_lan);
        self.ask_again(notification);
    }

    fn handle_ack(&mut self, ack: AckHeader) {
        self.acknowledge(Position::new(ack.leading_ack, ack.era));
    }

    fn acknowledge(&mut self, leading: Position) {
        let Self { session, urgent, pool, .. } = self;
        let session = session.as_mut().expect("only a guard with a session looks into frames");
        let key = session.handshake.sending_key();
        session.sending.handle_ack(leading, urgent, key, pool);
    }

    fn handle_notification(&mut self, header: LossNotification) {
        let notification = Notification {
            leading: Position::new(header.leading_ack, header.era),
            first_lost: first_lost(header),
            hole_size: header.hole_size,
        };
        let Self { session, urgent, pool, .. } = self;
        let session = session.as_mut().expect("only a guard with a session looks into frames");
        let key = session.handshake.sending_key();
        session.sending.handle_notification(&notification, urgent, key, pool);
    }

    /// Sends a loss notification ahead of everything else (LG-13), and a pause if one is wanted.
    fn ask_again(&mut self, notification: Option<Notification>) {
        if let Some(notification) = notification {
            let header = LossNotification {
                era: notification.leading.era(),
                leading_ack: notification.leading.number(),
                hole_size: notification.hole_size,
                first_lost: notification.first_lost.number(),
            };
            self.send_control(&LinkGuardianFrame::Notification(header));
        }
        let request = self.session.as_mut().and_then(|session| session.receiving.poll_pause());
        match request {
            Some(PauseRequest::Pause) => self.send_message(Kind::Pause, 0),
            Some(PauseRequest::Resume) => self.send_message(Kind::Resume, 0),
            None => {}
        }
    }

    pub(super) fn handle_hello(&mut self, now: Instant, bytes: &[u8]) {
        let Some(hello) = Hello::read(bytes) else {
            self.counters.foreign += 1;
            return;
        };
        self.counters.hellos += 1;
        let session = self.session.as_mut().expect("only a guard with a session looks into frames");
        let former = session.handshake.receiving_key();
        if session.handshake.handle(now, &hello) == Meaning::NewSession {
            session.former = Some(former);
            self.start_over(now);
        }
        self.act_on(now, &hello);
    }

    fn act_on(&mut self, now: Instant, hello: &Hello) {
        let session = self.session.as_mut().expect("only a guard with a session looks into frames");
        let agreed = session.handshake.peer() == Peer::Agreed;
        match hello.kind {
            Kind::Pause if agreed => {
                session.paused_until = now + PAUSE_LASTS;
                self.counters.pauses_obeyed += 1;
            }
            Kind::Resume if agreed => session.paused_until = now,
            Kind::Hello => self.send_message(Kind::Reply, hello.time),
            Kind::Reply | Kind::Pause | Kind::Resume => {}
        }
        // An ACK and a dummy of last resort, should all others have been lost (G-9).
        if agreed {
            self.acknowledge(hello.leading);
            self.handle_dummy(now, hello.next);
        }
    }
}

/// The position of the first lost frame: its header carries the number, and the era follows from the
/// leading position, which lies less than half the sequence space ahead.
fn first_lost(header: LossNotification) -> Position {
    let leading = Position::new(header.leading_ack, header.era);
    let back = header.leading_ack.wrapping_sub(header.first_lost);
    leading.plus(Position::COUNT as u32 - u32::from(back))
}
