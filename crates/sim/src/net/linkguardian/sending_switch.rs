//! The switch at the sending end: strict priorities, numbers, copies, dummies, pauses.
//!
//! ```text
//!  retransmissions ----------> [urgent ]
//!  frames of the hosts ------> [normal ] == line ==> the receiver
//!  circulating dummy --------> [lowest ]    '--> copy --> Tx buffer
//! ```

use super::circulating::Circulating;
use super::frames::Copied;
use super::shown;
use super::timing::{HEADER_OCTETS, Timing};
use super::tx_buffer::TxBuffer;
use super::urgent::Urgent;
use super::wires::{ForwardWire, Passage};
use crate::net::frame::MINIMUM_OCTETS;
use crate::net::tap::Content;
use crate::net::{Direction, Frame, FrameQueue, Payload, Sight, Tap};
use lossylink_core::engine::linkguardian::{Notification, PauseRequest, Position, Sender};
use lossylink_core::time::{Duration, Instant};

/// The sending switch of a protected link.
#[derive(Clone, Debug)]
pub(super) struct SendingSwitch<P: Payload> {
    timing: Timing,
    pub(super) engine: Sender,
    pub(super) normal: FrameQueue<P>,
    urgent: Urgent<P>,
    dummy: Circulating,
    /// The time at which the dummy may leave, if no other frame leaves before.
    dummy_due: Instant,
    pub(super) copies: TxBuffer<P>,
    /// The times since when and until when the line is busy without a break.
    busy_since: Instant,
    busy_until: Instant,
    /// The earliest time at which the waiting frame may leave. The line may be busy for longer.
    ready: Instant,
    pause: Pause,
    /// Whether the protection is leaving, so that no frame is numbered any more (LG-36).
    is_leaving: bool,
    /// Whether the header of a frame asks for delivery in order.
    is_ordered: bool,
    pub(super) tap: Tap<P>,
}

/// Whether the receiver has stopped the normal queue, and for how long it was stopped (LG-25).
#[derive(Clone, Copy, Debug)]
struct Pause {
    since: Option<Instant>,
    /// The time at which the quanta run out.
    ends: Instant,
    total: Duration,
    /// Pauses that ended by themselves because no resume came in time.
    expired: u64,
}

impl Default for Pause {
    fn default() -> Self {
        Self { since: None, ends: Instant::NEVER, total: Duration::ZERO, expired: 0 }
    }
}

impl Pause {
    fn end(&mut self, now: Instant) {
        if let Some(since) = self.since.take() {
            self.total += now - since;
        }
        self.ends = Instant::NEVER;
    }
}

impl<P: Payload> SendingSwitch<P> {
    pub(super) fn new(
        timing: Timing,
        engine: Sender,
        normal: FrameQueue<P>,
        copies: TxBuffer<P>,
        dummy: Circulating,
        is_ordered: bool,
    ) -> Self {
        Self {
            timing,
            engine,
            normal,
            urgent: Urgent::new(),
            dummy,
            dummy_due: Instant::NEVER,
            copies,
            busy_since: Instant::ZERO,
            busy_until: Instant::ZERO,
            ready: Instant::ZERO,
            pause: Pause::default(),
            is_leaving: false,
            is_ordered,
            tap: Tap::default(),
        }
    }

    /// A frame reaches the normal queue.
    pub(super) fn offer(&mut self, now: Instant, frame: Frame<P>, wire: &mut ForwardWire<P>) {
        let is_idle = self.busy_until <= now && !self.urgent.is_waiting() && self.normal.is_empty();
        if is_idle && !self.holds_normal() {
            self.send_data(now, frame, wire);
        } else {
            self.normal.offer(frame);
        }
        self.schedule_dummy();
    }

    /// Returns when the switch next has an event of its own. A look at a copy is an event only while a copy is asked for. Any other
    /// look changes the depth of the Tx buffer alone. [`SendingSwitch::look_before`] runs these looks in their order before anything
    /// reads the depth.
    pub(super) fn poll_timeout(&self) -> Instant {
        self.poll_line().min(self.poll_look()).min(self.urgent.poll_timeout()).min(self.pause.ends)
    }

    /// Returns when the line next carries a frame.
    fn poll_line(&self) -> Instant {
        let normal = !self.normal.is_empty() && !self.holds_normal();
        if normal || self.urgent.is_waiting() { self.busy_until.max(self.ready) } else { self.dummy_due }
    }

    fn poll_look(&self) -> Instant {
        if self.engine.holes() > 0 { self.copies.poll_look() } else { Instant::NEVER }
    }

    /// Runs the first event that is due at `now`.
    pub(super) fn step(&mut self, now: Instant, wire: &mut ForwardWire<P>) {
        if self.poll_line() <= now {
            self.serve(now, wire);
        } else if self.poll_look() <= now {
            self.look(now);
        } else if self.urgent.poll_timeout() <= now {
            self.enqueue(now);
        } else {
            self.pause.expired += 1;
            self.end_pause(now);
        }
        self.schedule_dummy();
    }

    /// Looks at the copies whose turn came before `now`.
    pub(super) fn look_before(&mut self, now: Instant) {
        while self.copies.poll_look() < now {
            self.look(self.copies.poll_look());
        }
    }

    /// Looks at the copy whose turn has come (LG-6).
    fn look(&mut self, now: Instant) {
        if let Some(copy) = self.copies.look(now, &mut self.engine) {
            self.retransmit(now, copy);
        }
    }

    /// Sends a lost copy on its way to the urgent queue. Several copies take the multicast engine.
    fn retransmit(&mut self, now: Instant, copy: Copied<P>) {
        let several = self.engine.config().copies > 1;
        let extra = if several { self.timing.multicast_extra } else { Duration::ZERO };
        self.urgent.requeue(now + self.timing.retransmit + extra, copy);
    }

    /// Retransmissions reach the urgent queue.
    fn enqueue(&mut self, now: Instant) {
        self.urgent.enqueue(now, self.engine.config().copies);
        self.ready = now;
    }

    /// An acknowledgement takes effect (LG-8).
    pub(super) fn handle_ack(&mut self, now: Instant, leading: Position) {
        self.engine.handle_ack(leading);
        self.look_in_memory(now);
    }

    /// A loss notification takes effect (LG-9).
    pub(super) fn handle_notification(&mut self, now: Instant, notification: &Notification) {
        self.engine.handle_notification(notification);
        self.look_in_memory(now);
    }

    fn look_in_memory(&mut self, now: Instant) {
        while let Some(copy) = self.copies.look_in_memory(&mut self.engine) {
            self.retransmit(now, copy);
        }
    }

    /// A pause or a resume takes effect: it stops or starts the normal queue only (LG-25).
    pub(super) fn handle_pause(&mut self, now: Instant, request: PauseRequest) {
        match request {
            PauseRequest::Pause => {
                self.pause.since.get_or_insert(now);
                self.pause.ends = now + self.timing.pause;
            }
            PauseRequest::Resume => self.end_pause(now),
        }
    }

    fn end_pause(&mut self, now: Instant) {
        self.pause.end(now);
        self.ready = now;
    }

    fn holds_normal(&self) -> bool {
        self.is_paused() || self.is_leaving
    }

    /// Finds when the dummy may leave. The dummy comes back once a cycle, and then waits for the line (LG-18).
    fn schedule_dummy(&mut self) {
        self.dummy_due = if self.engine.wants_dummy() {
            self.dummy.departure(self.busy_since, self.busy_until)
        } else {
            Instant::NEVER
        };
    }

    /// The line is free: sends the most urgent frame (LG-29).
    fn serve(&mut self, now: Instant, wire: &mut ForwardWire<P>) {
        if let Some(copy) = self.urgent.poll() {
            self.send_copy(now, copy, wire);
        } else if let Some(frame) = if self.holds_normal() { None } else { self.normal.poll() } {
            self.send_data(now, frame, wire);
        } else if let Some(position) = self.engine.poll_dummy() {
            self.send_dummy(now, position, wire);
        }
    }

    /// The line carries `octets` from `now` on. Returns when the last of them has left.
    fn occupy(&mut self, now: Instant, octets: u32) -> Instant {
        if now > self.busy_until {
            self.busy_since = now;
        }
        self.busy_until = now + self.timing.rate.serialisation(octets);
        self.busy_until
    }

    /// A data frame leaves: it takes its number now, after the queue (LG-3), and leaves a copy behind (LG-5).
    fn send_data(&mut self, now: Instant, mut frame: Frame<P>, wire: &mut ForwardWire<P>) {
        if self.engine.outstanding() == Position::WINDOW {
            // The frame costs the oldest frame its copy, which earlier looks still find outstanding (LG-33).
            self.look_before(now);
        }
        let number = self.engine.counters().data as u32;
        let position = self.engine.stamp();
        frame.octets += HEADER_OCTETS;
        let copy = Copied { position, number, frame };
        let arrives = self.occupy(now, frame.octets) + self.timing.data_pipeline;
        let is_whole = wire.send_data(Passage { leaves: now, arrives }, copy);
        self.see(now, is_whole, || shown::data(copy.bare(), position, false, self.is_ordered));
        self.copies.insert(now, copy, &mut self.engine);
        if self.engine.outstanding() == Position::WINDOW {
            // The copy of a frame that was given up leaves before its position is in use again (LG-33).
            self.look_in_memory(now);
        }
    }

    fn send_copy(&mut self, now: Instant, copy: Copied<P>, wire: &mut ForwardWire<P>) {
        let arrives = self.occupy(now, copy.frame.octets) + self.timing.retransmission_pipeline;
        let is_whole = wire.send_copy(Passage { leaves: now, arrives }, copy);
        self.see(now, is_whole, || shown::data(copy.bare(), copy.position, true, self.is_ordered));
    }

    fn send_dummy(&mut self, now: Instant, position: Position, wire: &mut ForwardWire<P>) {
        self.dummy.depart(now);
        let arrives = self.occupy(now, MINIMUM_OCTETS) + self.timing.data_pipeline;
        let is_whole = wire.send_dummy(Passage { leaves: now, arrives }, position);
        self.see(now, is_whole, || shown::dummy(position, self.is_ordered));
    }

    /// Shows a frame that leaves to the tap.
    fn see(&self, now: Instant, arrives: bool, content: impl FnOnce() -> Content<P>) {
        let sight = || Sight { at: now, direction: Direction::Forward, arrives, content: content() };
        self.tap.see_on_link(now, sight);
    }

    /// Returns the bytes in the Tx buffer at `now`.
    pub(super) fn tx_buffer_bytes(&mut self, now: Instant) -> u64 {
        self.look_before(now);
        self.copies.depth_bytes(now)
    }

    /// Returns how long the normal queue was paused, up to `now`.
    pub(super) fn paused(&self, now: Instant) -> Duration {
        let current = self.pause.since.map_or(Duration::ZERO, |since| now.saturating_since(since));
        self.pause.total + current
    }

    /// Whether a pause holds the normal queue.
    pub(super) const fn is_paused(&self) -> bool {
        self.pause.since.is_some()
    }

    /// Returns how many pauses ran out without a resume.
    pub(super) const fn expired_pauses(&self) -> u64 {
        self.pause.expired
    }

    /// Returns when the frame in service has left.
    pub(super) const fn busy_until(&self) -> Instant {
        self.busy_until
    }

    /// Takes over the queue and the line of a link without protection. The line is busy until `busy_until`.
    pub(super) fn take_over(&mut self, busy_until: Instant, queue: FrameQueue<P>) {
        self.busy_until = busy_until;
        self.normal = queue;
        self.schedule_dummy();
    }

    /// Stops numbering frames, or goes on (LG-36).
    pub(super) const fn set_leaving(&mut self, now: Instant, is_leaving: bool) {
        self.is_leaving = is_leaving;
        self.ready = now;
    }

    /// Whether no frame is to be sent again, and no dummy is due (LG-36).
    pub(super) fn is_drained(&self) -> bool {
        self.engine.holes() == 0 && self.urgent.is_empty() && !self.engine.wants_dummy()
    }

    /// Starts over at `position`, forgetting all copies (LG-30).
    pub(super) fn synchronise(&mut self, now: Instant, position: Position) {
        self.look_before(now);
        self.engine.synchronise(position);
        self.copies.clear();
        self.urgent.clear();
        self.schedule_dummy();
    }
}
