//! LinkGuardian as a line protocol: numbers frames, keeps copies, asks for lost frames (`LG-n`).
//!
//! ```text
//!   handle_lan --> [Sending: number, copy] --to_link-->
//!                      ^ ACK, notification
//!   to_lan <------ [Receiving: detect, order, time] <-- handle_link
//! ```

mod frames;
mod receiving;
mod sending;

use super::envelope;
use super::line::{HelloOctets, LineProtocol, PauseMessage, Surroundings};
use super::{Frame, FramePool, Origin, Seal};
use crate::engine::linkguardian::{FORGOTTEN, Notification, Position, ReceivingState, SenderConfig};
use crate::engine::report::Group;
use crate::loss::LossLaw;
use crate::protection::{LinkGuardian, Mode, Protection};
use crate::time::Instant;
use crate::wire::ethernet::EtherType;
use crate::wire::linkguardian::{AckHeader, Content, DataHeader, LinkGuardianFrame, LossNotification};
use alloc::vec::Vec;
use receiving::{Arrival, Receiving};
use sending::Sending;

/// Both ends of LinkGuardian on whole frames.
#[derive(Debug)]
pub struct LinkGuardianLine {
    sending: Sending,
    receiving: Receiving,
    /// Whether a non-blocking receiving end drops the second copies of a retransmission.
    deduplicate: bool,
    /// The protection of the peer, and the law by which the frames of this end are lost.
    peer: LinkGuardian,
    law: LossLaw,
    /// How often a notification or a pause is sent, which follows from `peer` and `law` (G-26).
    control_copies: u8,
}

impl Default for LinkGuardianLine {
    fn default() -> Self {
        Self::new()
    }
}

impl LinkGuardianLine {
    /// Returns two ends that are not in use.
    pub fn new() -> Self {
        let config = LinkGuardian::ORDERED.sender(0.0, FORGOTTEN, SenderConfig::PUBLISHED_DUMMIES);
        Self {
            sending: Sending::new(config, false),
            receiving: Receiving::new(false, true),
            deduplicate: true,
            peer: LinkGuardian::ORDERED,
            law: LossLaw::Independent(0.0),
            control_copies: 1,
        }
    }

    /// Sets how often a control frame is sent: by the peer's options, or by the rule (G-26).
    fn count_control_copies(&mut self) {
        self.control_copies = self.peer.control_copies(self.law);
    }

    /// Takes in a genuine frame of this session.
    fn handle_inner(&mut self, around: &mut Surroundings<'_>, frame: &[u8], inner: &LinkGuardianFrame<'_>) {
        match *inner {
            LinkGuardianFrame::Data { ack, data, content } => {
                if let Some(ack) = ack {
                    self.handle_ack(around, ack);
                }
                self.handle_data(around, frame, data, content);
            }
            LinkGuardianFrame::Unprotected { ack, content } => {
                self.handle_ack(around, ack);
                forward(around, frame, content);
            }
            LinkGuardianFrame::Dummy(data) => {
                self.handle_dummy(around, Position::new(data.sequence, data.era));
            }
            LinkGuardianFrame::Ack(ack) => self.handle_ack(around, ack),
            LinkGuardianFrame::Notification(notification) => self.handle_notification(around, notification),
        }
    }

    fn handle_data(
        &mut self,
        around: &mut Surroundings<'_>,
        bytes: &[u8],
        data: DataHeader,
        content: Content<'_>,
    ) {
        // Copies may well be dropped, because their frame has been delivered before.
        around.counters.contents += u64::from(!data.is_retransmission);
        let Some(mut frame) = around.empty_frame() else { return };
        envelope::restore(&mut frame, bytes, content.ethertype, content.payload);
        let position = Position::new(data.sequence, data.era);
        let arrival = Arrival { position, is_retransmission: data.is_retransmission, frame };
        let Surroundings { now, loop_time, to_lan, pool, .. } = around;
        let notification = self.receiving.handle_data(*now, arrival, *loop_time, to_lan, pool);
        self.ask_again(around, notification);
    }

    fn handle_dummy(&mut self, around: &mut Surroundings<'_>, next: Position) {
        let notification = self.receiving.handle_dummy(around.now, next, around.loop_time, around.to_lan);
        self.ask_again(around, notification);
    }

    fn handle_ack(&mut self, around: &mut Surroundings<'_>, ack: AckHeader) {
        self.acknowledge(around, Position::new(ack.leading_ack, ack.era));
    }

    fn acknowledge(&mut self, around: &mut Surroundings<'_>, leading: Position) {
        let Surroundings { to_link, seal, pool, .. } = around;
        self.sending.handle_ack(leading, to_link, seal, pool);
    }

    fn handle_notification(&mut self, around: &mut Surroundings<'_>, header: LossNotification) {
        let notification = Notification {
            leading: Position::new(header.leading_ack, header.era),
            first_lost: first_lost(header),
            hole_size: header.hole_size,
        };
        let Surroundings { to_link, seal, pool, .. } = around;
        self.sending.handle_notification(&notification, to_link, seal, pool);
    }

    /// Sends a loss notification ahead of everything else (LG-13), and a pause if one is wanted, each in all its
    /// copies (G-26).
    fn ask_again(&mut self, around: &mut Surroundings<'_>, notification: Option<Notification>) {
        if let Some(notification) = notification {
            self.notify(around, &notification);
        }
        if let Some(request) = self.receiving.poll_pause() {
            *around.pause = Some(PauseMessage { request, copies: self.control_copies });
        }
    }

    /// Sends identical copies of a notification, one behind the other; fewer when no frame is free.
    fn notify(&self, around: &mut Surroundings<'_>, notification: &Notification) {
        let header = LossNotification {
            era: notification.leading.era(),
            leading_ack: notification.leading.number(),
            hole_size: notification.hole_size,
            first_lost: notification.first_lost.number(),
        };
        for _ in 0..self.control_copies {
            let Some(mut frame) = around.empty_frame() else { break };
            frames::write_control(&mut frame, &LinkGuardianFrame::Notification(header), around.seal);
            around.to_link.push_back(frame);
        }
    }

    fn write_ack(&mut self, now: Instant, seal: &mut Seal, pool: &mut FramePool) -> Option<Frame> {
        let mut frame = pool.empty()?;
        let leading = self.receiving.poll_ack(now).expect("an ACK was due");
        let ack = LinkGuardianFrame::Ack(sending::ack_header(leading, false));
        frames::write_control(&mut frame, &ack, seal);
        Some(frame)
    }
}

impl LineProtocol for LinkGuardianLine {
    fn carries(&self, protection: &Protection) -> bool {
        matches!(protection, Protection::LinkGuardian(_))
    }

    fn ethertypes(&self) -> &'static [EtherType] {
        &[EtherType::LINKGUARDIAN]
    }

    fn headroom(&self) -> usize {
        frames::HEADROOM
    }

    fn protect(&mut self, protection: &Protection, law: LossLaw) {
        let options = match protection {
            Protection::LinkGuardian(options) => *options,
            _ => LinkGuardian::NON_BLOCKING,
        };
        let config = options.sender(law, FORGOTTEN, SenderConfig::PUBLISHED_DUMMIES);
        self.sending = Sending::new(config, options.is_ordered());
        self.law = law;
        self.count_control_copies();
        let deduplicate = match options.mode {
            Mode::NonBlocking { deduplicate } => deduplicate,
            Mode::Ordered { .. } => true,
        };
        if self.deduplicate != deduplicate {
            self.deduplicate = deduplicate;
            if !self.receiving.is_ordered() {
                self.receiving = Receiving::new(false, deduplicate);
            }
        }
    }

    fn start_over(&mut self, around: &mut Surroundings<'_>, peer: &Protection) {
        self.receiving.start_over(around.now, around.to_lan);
        self.sending.start_over(around.pool);
        let guarding = match peer {
            Protection::LinkGuardian(options) => Some(*options),
            _ => None,
        };
        self.peer = guarding.unwrap_or(LinkGuardian::NON_BLOCKING);
        self.count_control_copies();
        let is_ordered = guarding.is_some_and(|options| options.is_ordered());
        if self.receiving.is_ordered() != is_ordered {
            self.receiving = Receiving::new(is_ordered, self.deduplicate);
        }
    }

    fn may_send(&self, _now: Instant) -> bool {
        !self.sending.is_full()
    }

    fn handle_lan(&mut self, around: &mut Surroundings<'_>, frame: Frame) {
        let ack = self.receiving.poll_ack(around.now);
        let sealed = self.sending.protect(around.now, frame, ack, around.seal, around.pool);
        around.counters.no_room += u64::from(sealed.is_none());
        around.to_link.extend(sealed);
    }

    fn handle_link(&mut self, around: &mut Surroundings<'_>, frame: &[u8]) -> Origin {
        let parsed = around.seal.body(frame).and_then(|body| LinkGuardianFrame::parse(body).ok());
        let Some(inner) = parsed else { return Origin::Foreign };
        let origin = around.seal.origin(frame, inner.headers_len());
        match origin {
            Origin::Session => self.handle_inner(around, frame, &inner),
            Origin::Former => handle_former(around, frame, &inner),
            Origin::Repeated | Origin::Foreign => {}
        }
        origin
    }

    fn fill_at(&self) -> Instant {
        self.sending.dummy_at().min(self.receiving.ack_at())
    }

    /// Returns a dummy or an explicit ACK whose time has come (G-11, G-13).
    fn poll_fill(&mut self, around: &mut Surroundings<'_>) -> Option<Frame> {
        let Surroundings { now, seal, pool, counters, .. } = around;
        if self.sending.dummy_at() <= *now {
            let mut frame = pool.empty()?;
            self.sending.write_dummy(*now, &mut frame, seal);
            return Some(frame);
        }
        if self.receiving.ack_at() > *now {
            return None;
        }
        let frame = self.write_ack(*now, seal, pool);
        counters.explicit_acks += u64::from(frame.is_some());
        frame
    }

    fn poll_timeout(&self) -> Instant {
        self.receiving.poll_timeout()
    }

    fn handle_timeout(&mut self, around: &mut Surroundings<'_>) {
        self.receiving.handle_timeout(around.now, around.to_lan);
    }

    /// Returns the number that the next data frame will take, which serves as a dummy of last resort (G-9).
    fn sent(&self) -> HelloOctets {
        octets(self.sending.next())
    }

    /// Returns the position up to which all frames have arrived or been asked for, which serves as an ACK of
    /// last resort (G-9).
    fn received(&self) -> HelloOctets {
        octets(self.receiving.leading())
    }

    fn handle_sent(&mut self, around: &mut Surroundings<'_>, octets: HelloOctets) {
        if let Some(next) = position(octets) {
            self.handle_dummy(around, next);
        }
    }

    fn handle_received(&mut self, around: &mut Surroundings<'_>, octets: HelloOctets) {
        if let Some(leading) = position(octets) {
            self.acknowledge(around, leading);
        }
    }

    fn report(&self) -> Vec<Group> {
        let receiving = ReceivingState { control_copies: self.control_copies, ..self.receiving.state() };
        alloc::vec![self.sending.state().group(), receiving.group()]
    }
}

/// Hands on a frame of the session before this one: its number does not count any more, its contents do (G-6).
/// Copies are left out, because they may have arrived before.
fn handle_former(around: &mut Surroundings<'_>, frame: &[u8], inner: &LinkGuardianFrame<'_>) {
    if let LinkGuardianFrame::Data { data, content, .. } = *inner
        && !data.is_retransmission
    {
        forward(around, frame, content);
    }
}

fn forward(around: &mut Surroundings<'_>, bytes: &[u8], content: Content<'_>) {
    if let Some(mut frame) = around.empty_frame() {
        envelope::restore(&mut frame, bytes, content.ethertype, content.payload);
        around.to_lan.push_back(frame);
    }
}

/// Returns the position of the first lost frame. The header carries its number, and the era follows from the
/// leading position, which lies less than half the sequence space ahead.
fn first_lost(header: LossNotification) -> Position {
    let leading = Position::new(header.leading_ack, header.era);
    let back = header.leading_ack.wrapping_sub(header.first_lost);
    leading.plus(Position::COUNT as u32 - u32::from(back))
}

/// Returns a position as a hello carries it: the era, then the number.
fn octets(position: Position) -> HelloOctets {
    let [high, low] = position.number().to_be_bytes();
    [u8::from(position.era()), high, low]
}

/// Returns the position that a hello carries; `None` when these octets are no position.
fn position([era, high, low]: HelloOctets) -> Option<Position> {
    (era <= 1).then(|| Position::new(u16::from_be_bytes([high, low]), era == 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    // G-9
    #[test]
    fn a_position_rides_in_a_hello() {
        for there in [Position::new(65535, true), Position::new(5, false)] {
            assert_eq!(position(octets(there)), Some(there));
        }
        assert_eq!(position([2, 0, 0]), None);
    }
}
