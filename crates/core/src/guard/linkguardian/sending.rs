//! The sending end on whole frames: numbers frames, keeps copies, sends lost frames again (G-10..G-12).

use super::super::{Frame, FramePool, Seal};
use super::frames;
use crate::engine::linkguardian::{CopyFate, Notification, Position, Sender, SenderConfig, SendingState};
use crate::time::{Duration, Instant};
use crate::units::Bytes;
use crate::wire::linkguardian::{AckHeader, DataHeader, LinkGuardianFrame};
use alloc::collections::VecDeque;

/// The time for which the link is idle before the first dummy. Each further dummy waits twice as long as the dummy
/// before. A switch sends its dummies back to back, which costs a processor more than the frames that they guard
/// (G-11).
const FIRST_DUMMY_AFTER: Duration = Duration::from_us(25);
/// The most positions that may be unacknowledged: a quarter of the sequence space, half of the range in which
/// positions can be compared (G-12). The engine therefore never has to give up a position for want of room
/// (LG-33).
const WINDOW: i32 = 1 << 15;
/// The most bytes of copies. The oldest copies are freed beyond, and their frames cannot be sent again (G-12).
const COPIES_LIMIT: Bytes = Bytes(32 << 20);

/// The most bytes of copies beyond the first that may be sent for notifications at any time: two more copies of
/// 255 full frames fit (G-29).
const MOST_CREDIT: Bytes = Bytes(1 << 20);

/// The state of the sending end.
#[derive(Debug)]
pub(super) struct Sending {
    engine: Sender,
    is_ordered: bool,
    copies: VecDeque<(Position, Frame)>,
    held: Bytes,
    most_held: Bytes,
    evicted: u64,
    /// Bytes that may be sent beyond one copy of each lost frame. Each frame sent adds its own length (G-29).
    credit: Bytes,
    dummy_at: Instant,
    dummy_gap: Duration,
}

impl Sending {
    pub(super) fn new(config: SenderConfig, is_ordered: bool) -> Self {
        Self {
            engine: Sender::new(config),
            is_ordered,
            copies: VecDeque::new(),
            held: Bytes::ZERO,
            most_held: Bytes::ZERO,
            evicted: 0,
            credit: MOST_CREDIT,
            dummy_at: Instant::NEVER,
            dummy_gap: FIRST_DUMMY_AFTER,
        }
    }

    /// Gives every copy back to the pool and numbers from zero again (LG-30).
    pub(super) fn start_over(&mut self, pool: &mut FramePool) {
        self.copies.drain(..).for_each(|(_, frame)| pool.give_back(frame));
        self.held = Bytes::ZERO;
        self.engine.synchronise(Position::ZERO);
        self.dummy_at = Instant::NEVER;
    }

    /// Whether the most positions that may be unacknowledged are (G-12).
    pub(super) fn is_full(&self) -> bool {
        // The leading position itself is acknowledged, and the next position is not sent yet: one step is no
        // frame.
        self.engine.next().steps_from(self.engine.leading_ack()) > WINDOW
    }

    /// Protects a frame that leaves the queue. The frame itself is kept as the copy (LG-3, LG-5).
    pub(super) fn protect(
        &mut self,
        now: Instant,
        original: Frame,
        ack: Option<Position>,
        seal: &mut Seal,
        pool: &mut FramePool,
    ) -> Option<Frame> {
        let Some(mut out) = pool.empty() else {
            pool.give_back(original);
            return None;
        };
        let position = self.engine.stamp();
        self.seal(&mut out, &original, position, ack, false, seal);
        self.credit = (self.credit + Bytes(original.len() as u64)).min(MOST_CREDIT);
        self.keep(position, original, pool);
        self.dummy_gap = FIRST_DUMMY_AFTER;
        self.dummy_at = if self.engine.wants_dummy() { now + self.dummy_gap } else { Instant::NEVER };
        Some(out)
    }

    fn keep(&mut self, position: Position, frame: Frame, pool: &mut FramePool) {
        self.held += Bytes(frame.len() as u64);
        self.most_held = self.most_held.max(self.held);
        self.copies.push_back((position, frame));
        while self.held > COPIES_LIMIT {
            let (position, oldest) = self.copies.pop_front().expect("bytes are held by copies");
            self.engine.note_evicted(position);
            self.evicted += 1;
            self.release(oldest, pool);
        }
    }

    fn release(&mut self, frame: Frame, pool: &mut FramePool) {
        self.held -= Bytes(frame.len() as u64);
        pool.give_back(frame);
    }

    fn seal(
        &self,
        out: &mut Frame,
        original: &[u8],
        position: Position,
        ack: Option<Position>,
        is_retransmission: bool,
        seal: &mut Seal,
    ) {
        let data = DataHeader {
            era: position.era(),
            is_retransmission,
            blocking_mode: self.is_ordered,
            sequence: position.number(),
            ..DataHeader::default()
        };
        let ack = ack.map(|leading| ack_header(leading, true));
        frames::write(
            out,
            original,
            &LinkGuardianFrame::Data { ack, data, content: frames::content(original) },
            seal,
        );
    }

    /// Returns when the next dummy may leave; never when none is due (LG-18, G-11).
    pub(super) fn dummy_at(&self) -> Instant {
        self.dummy_at
    }

    /// Writes the dummy that is due.
    pub(super) fn write_dummy(&mut self, now: Instant, out: &mut Frame, seal: &mut Seal) {
        let Some(position) = self.engine.poll_dummy() else { return };
        let data = DataHeader {
            era: position.era(),
            is_dummy: true,
            blocking_mode: self.is_ordered,
            sequence: position.number(),
            ..DataHeader::default()
        };
        frames::write_control(out, &LinkGuardianFrame::Dummy(data), seal);
        self.dummy_gap = self.dummy_gap * 2;
        self.dummy_at = if self.engine.wants_dummy() { now + self.dummy_gap } else { Instant::NEVER };
    }

    /// Takes in an acknowledgement, and frees the copies that it covers.
    pub(super) fn handle_ack(
        &mut self,
        leading: Position,
        again: &mut VecDeque<Frame>,
        seal: &mut Seal,
        pool: &mut FramePool,
    ) {
        self.engine.handle_ack(leading);
        self.look_through(again, seal, pool);
    }

    /// Takes in a loss notification. The copies that it asks for go to `again`.
    pub(super) fn handle_notification(
        &mut self,
        notification: &Notification,
        again: &mut VecDeque<Frame>,
        seal: &mut Seal,
        pool: &mut FramePool,
    ) {
        self.engine.handle_notification(notification);
        self.look_through(again, seal, pool);
    }

    /// Looks at every copy that the leading ACK has passed (LG-6). Without recirculation this happens at once.
    fn look_through(&mut self, again: &mut VecDeque<Frame>, seal: &mut Seal, pool: &mut FramePool) {
        while let Some((position, _)) = self.copies.front() {
            let fate = self.engine.inspect_copy(*position);
            if fate == CopyFate::Hold {
                break;
            }
            let (position, frame) = self.copies.pop_front().expect("the front was just looked at");
            if fate == CopyFate::Retransmit {
                self.send_again(position, &frame, again, seal, pool);
            }
            self.release(frame, pool);
        }
    }

    /// Sends N identical copies (LG-7); fewer when no frame is free, or when the copies beyond the first would
    /// exceed the bytes sent (G-29).
    fn send_again(
        &mut self,
        position: Position,
        frame: &Frame,
        again: &mut VecDeque<Frame>,
        seal: &mut Seal,
        pool: &mut FramePool,
    ) {
        let length = Bytes(frame.len() as u64);
        for copy in 0..self.engine.config().copies {
            if copy > 0 && self.credit < length {
                break;
            }
            let Some(mut out) = pool.empty() else { break };
            self.seal(&mut out, frame, position, None, true, seal);
            again.push_back(out);
            if copy > 0 {
                self.credit -= length;
            }
        }
    }

    /// Returns the number that the next frame takes.
    pub(super) fn next(&self) -> Position {
        self.engine.next()
    }

    pub(super) fn state(&self) -> SendingState {
        SendingState {
            kept: self.copies.len() as u64,
            held: self.held,
            most_held: self.most_held,
            evicted: self.evicted,
            ..SendingState::of(&self.engine)
        }
    }
}

/// Returns the header of an ACK.
pub(super) fn ack_header(leading: Position, is_piggybacked: bool) -> AckHeader {
    AckHeader { is_piggybacked, era: leading.era(), leading_ack: leading.number() }
}

#[cfg(test)]
mod tests {
    use super::super::super::seal::Names;
    use super::*;

    fn seal() -> Seal {
        Seal::new(None, Names { ours: 1, theirs: 2, session: 7 })
    }

    fn protect(sending: &mut Sending, pool: &mut FramePool, length: usize) {
        let frame = pool.copy(&alloc::vec![0; length]).unwrap();
        let out = sending.protect(Instant::ZERO, frame, None, &mut seal(), pool).unwrap();
        pool.give_back(out);
    }

    fn sending() -> Sending {
        Sending::new(SenderConfig { copies: 2, dummies: 3, hole_cap: None }, true)
    }

    // G-12
    #[test]
    fn the_window_closes_at_its_limit_and_an_ack_opens_it() {
        let (mut sending, mut pool) = (sending(), FramePool::new(40_000, 100));
        for _ in 0..WINDOW - 1 {
            protect(&mut sending, &mut pool, 60);
        }
        assert!(!sending.is_full());
        protect(&mut sending, &mut pool, 60);
        assert!(sending.is_full());
        // LG-33: a sender that stops here never gives up a position whose number is in use again.
        assert_eq!(sending.state().engine.abandoned, 0);
        let mut again = VecDeque::new();
        sending.handle_ack(Position::new(9, false), &mut again, &mut seal(), &mut pool);
        assert!(!sending.is_full() && again.is_empty());
        assert_eq!(pool.in_use(), WINDOW as usize - 10);
    }

    // G-12
    #[test]
    fn the_oldest_copies_make_room() {
        const MEGABYTE: usize = 1 << 20;
        let (mut sending, mut pool) = (sending(), FramePool::new(100, MEGABYTE + 64));
        for _ in 0..33 {
            protect(&mut sending, &mut pool, MEGABYTE);
        }
        let state = sending.state();
        assert_eq!((state.held, state.evicted, pool.in_use()), (COPIES_LIMIT, 1, 32));
    }

    // G-11, LG-18
    #[test]
    fn dummies_come_ever_later() {
        let (mut sending, mut pool) = (sending(), FramePool::new(10, 100));
        protect(&mut sending, &mut pool, 60);
        let mut out = Frame::new();
        for us in [25, 75, 175] {
            let due = Instant::ZERO + Duration::from_us(us);
            assert_eq!(sending.dummy_at(), due);
            sending.write_dummy(due, &mut out, &mut seal());
            assert_eq!(out.len(), 60);
        }
        assert!(sending.dummy_at().is_never());
    }
}
