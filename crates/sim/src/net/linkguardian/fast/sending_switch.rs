//! The switch at the sending end: strict priorities, numbering, copies, dummies, pauses.

mod trains;

use super::circulating::Circulating;
use super::frames::Copied;
use super::shown;
use super::timing::{HEADER_OCTETS, Timing};
use super::tx_buffer::TxBuffer;
use super::wires::{BackwardWire, ForwardWire};
use crate::kernel::{Agenda, Pipe, Ring};
use crate::net::frame::MINIMUM_OCTETS;
use crate::net::tap::Content;
use crate::net::{Direction, Frame, FrameQueue, Payload, Sight, Tap};
use lossylink_core::engine::linkguardian::{Notification, PauseRequest, Position, Sender};
use lossylink_core::time::{Duration, Instant};

/// Rare events, in the order in which ties break. The port goes before them.
const LOOK: usize = 0;
const REQUEUE: usize = 1;
const PAUSE_EXPIRY: usize = 2;
const SOURCES: usize = 3;

/// The sending switch of a protected link.
///
/// Its port serves, strictly in this order (LG-29): retransmissions, normal frames unless paused,
/// dummies.
#[derive(Clone, Debug)]
pub(super) struct SendingSwitch<P: Payload> {
    pub(super) timing: Timing,
    /// The time at which the port next sends a frame.
    port: Instant,
    agenda: Agenda<SOURCES>,
    pub(super) engine: Sender,
    pub(super) normal: FrameQueue<P>,
    urgent: Ring<Copied<P>>,
    dummy: Circulating,
    pub(super) copies: TxBuffer<P>,
    /// Retransmissions between the decision and the urgent queue.
    requeued: Pipe<Copied<P>>,
    busy_since: Instant,
    pub(super) busy_until: Instant,
    /// The time at which a frame last became free to leave: a retransmission, or the head of the normal queue.
    ready: Instant,
    pause: Pause,
    pub(super) tap: Tap<P>,
    /// Whether the header of a frame asks for delivery in order.
    is_ordered: bool,
}

/// Whether the normal queue is stopped, and for how long it was stopped.
#[derive(Clone, Copy, Debug, Default)]
struct Pause {
    since: Option<Instant>,
    total: Duration,
    /// Pauses that ended by themselves because no resume came in time.
    expired: u64,
    /// Whether the protection is on its way out: no frame is numbered any more (LG-36).
    is_leaving: bool,
}

impl Pause {
    #[inline]
    const fn holds(&self) -> bool {
        self.since.is_some() || self.is_leaving
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
            port: Instant::NEVER,
            agenda: Agenda::new(),
            engine,
            normal,
            urgent: Ring::new(),
            dummy,
            copies,
            requeued: Pipe::new(),
            busy_since: Instant::ZERO,
            busy_until: Instant::ZERO,
            ready: Instant::ZERO,
            pause: Pause::default(),
            tap: Tap::default(),
            is_ordered,
        }
    }

    /// A frame reaches the normal queue. Equals `SendingSwitch::offer` of the plain model.
    #[inline]
    pub(super) fn offer(&mut self, now: Instant, frame: Frame<P>, wire: &mut ForwardWire<P>) {
        if !self.normal.is_empty() {
            // The next event of the port does not change.
            self.normal.offer(frame);
            return;
        }
        let idle = self.busy_until <= now && self.urgent.is_empty();
        if idle && !self.pause.holds() {
            self.begin_service(now);
            self.send_data(now, frame, wire);
        } else {
            self.normal.offer(frame);
        }
        self.schedule_port();
    }

    /// Returns when the switch next has an event of its own.
    #[inline]
    pub(super) fn poll_timeout(&self) -> Instant {
        self.port.min(self.agenda.poll_timeout())
    }

    /// Returns when the port next sends a frame.
    #[inline]
    pub(super) const fn poll_port(&self) -> Instant {
        self.port
    }

    /// Returns when the next rare event is due.
    #[inline]
    pub(super) const fn poll_rare(&self) -> Instant {
        self.agenda.poll_timeout()
    }

    /// Runs the first event that is due at `now`. The port goes before rare events. Equals `SendingSwitch::step` of the plain
    /// model.
    #[inline]
    pub(super) fn step(&mut self, now: Instant, wire: &mut ForwardWire<P>) {
        if self.port <= now { self.serve(now, wire) } else { self.step_rarely(now) }
    }

    /// Runs the first rare event that is due at `now`, if it still is: a frame that left meanwhile may have forgotten a copy that was
    /// asked for (LG-10).
    #[cold]
    fn step_rarely(&mut self, now: Instant) {
        match self.agenda.poll(now) {
            Some(LOOK) => self.look(now),
            Some(REQUEUE) => self.requeue(now),
            Some(PAUSE_EXPIRY) => self.expire_pause(now),
            _ => {}
        }
    }

    /// Takes in an acknowledgement. Equals `SendingSwitch::handle_ack` of the plain model.
    ///
    /// An acknowledgement that repeats the last one changes the fate of no copy. The looks before it may wait while no copy is
    /// asked for and no position was ever abandoned.
    #[inline]
    pub(super) fn handle_ack(&mut self, now: Instant, leading: Position) {
        let is_idle = self.agenda.get(LOOK).is_never() && self.engine.counters().abandoned == 0;
        if !is_idle || !self.engine.handle_repeated_ack(leading) {
            self.catch_up(now);
            self.engine.handle_ack(leading);
            self.after_acknowledgement(now);
        }
    }

    /// Whether an acknowledgement does nothing but free copies in the loop, so that the switch may take it in after its time.
    ///
    /// Acknowledgements only free copies: no copy is asked for, no position was ever abandoned, and less than half a window is
    /// outstanding.
    #[inline]
    pub(super) fn acks_only_free_copies(&self) -> bool {
        let asks = self.engine.holes() > 0 || !self.agenda.get(LOOK).is_never();
        let is_narrow =
            self.engine.outstanding() >= Position::WINDOW / 2 || self.engine.counters().abandoned > 0;
        !asks && !is_narrow && self.copies.is_loop()
    }

    /// Whether acknowledgements only free copies, no frame is to be sent again, and no pause holds.
    #[inline]
    pub(super) fn has_no_repair_or_pause(&self) -> bool {
        let is_clear = self.urgent.is_empty() && self.agenda.poll_timeout().is_never() && !self.pause.holds();
        is_clear && self.acks_only_free_copies()
    }

    /// Takes in the acknowledgements that took effect by `until`, while [`SendingSwitch::acks_only_free_copies`] holds. The copies
    /// are looked at together. Equals [`SendingSwitch::handle_ack`] of each. Returns when the last acknowledgement took effect, or
    /// [`Instant::ZERO`].
    #[inline]
    pub(super) fn take_late_acks(&mut self, until: Instant, wire: &mut BackwardWire<P>) -> Instant {
        let Self { engine, copies, .. } = self;
        let (before, outstanding) = (engine.leading_ack(), engine.outstanding());
        let first = engine.oldest_outstanding();
        let (mut acknowledged, mut acks) = (0, 0);
        let latest = wire.take_acks(until, |train, some| {
            let ahead = some.leading.steps_after(before);
            let last =
                if train.count > 1 { some.nth(train.count - 1).leading.steps_after(before) } else { ahead };
            if acknowledged <= ahead && ahead <= last && last <= outstanding {
                let oldest = (first.wrapping_add(ahead), first.wrapping_add(last));
                copies.free(train, first.wrapping_add(acknowledged), oldest, some);
                (acknowledged, acks) = (last, acks + u64::from(train.count));
            } else {
                // A frame overtook the acknowledgement, or the sender has started over since.
                engine.pass_acks(0, before.plus(acknowledged));
                (0..train.count).for_each(|place| engine.handle_ack(some.nth(place).leading));
            }
        });
        engine.pass_acks(acks, before.plus(acknowledged));
        latest
    }

    /// Takes in a loss notification. Equals `SendingSwitch::handle_notification` of the plain model.
    pub(super) fn handle_notification(&mut self, now: Instant, notification: &Notification) {
        self.catch_up(now);
        self.engine.handle_notification(notification);
        self.after_acknowledgement(now);
    }

    /// A pause or a resume takes effect, and stops or starts the normal queue only (LG-25).
    pub(super) fn handle_pause(&mut self, now: Instant, request: PauseRequest) {
        match request {
            PauseRequest::Pause => {
                self.pause.since.get_or_insert(now);
                self.agenda.set(PAUSE_EXPIRY, now + self.timing.pause);
            }
            PauseRequest::Resume => self.end_pause(now),
        }
        self.schedule_port();
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

    /// Returns the bytes in the Tx buffer at `now`.
    pub(super) fn tx_buffer_bytes(&mut self, now: Instant) -> u64 {
        self.catch_up(now);
        self.copies.depth_bytes(now)
    }

    fn end_pause(&mut self, now: Instant) {
        if let Some(since) = self.pause.since.take() {
            self.pause.total += now - since;
        }
        self.ready = now;
        self.agenda.set(PAUSE_EXPIRY, Instant::NEVER);
    }

    /// The quanta ran out: the resume was lost, or will come too late (LG-25).
    fn expire_pause(&mut self, now: Instant) {
        self.pause.expired += 1;
        self.end_pause(now);
        self.schedule_port();
    }

    /// Looks at the copies whose turn came before `now`. Equals `SendingSwitch::look_before` of the plain model.
    #[inline]
    pub(super) fn catch_up(&mut self, now: Instant) {
        while let Some((found, copy)) = self.copies.find_lost(now, &mut self.engine) {
            self.retransmit(found, copy);
        }
        self.copies.tell_evicted(&mut self.engine);
    }

    /// Sends a lost copy on its way to the urgent queue.
    #[cold]
    fn retransmit(&mut self, found: Instant, copy: Copied<P>) {
        let at = (found + self.requeue_delay()).max(self.requeued.last_due());
        self.requeued.push(at, copy);
        self.agenda.set(REQUEUE, self.requeued.poll_timeout());
    }

    /// Looks at the copies whose turn comes at `now`. The look is an event only while a copy is asked for.
    fn look(&mut self, now: Instant) {
        self.catch_up(now + Duration::from_ps(1));
        self.schedule_look();
    }

    fn after_acknowledgement(&mut self, now: Instant) {
        while let Some(copy) = self.copies.find_lost_at_once(&mut self.engine) {
            self.retransmit(now, copy);
        }
        self.schedule_look();
    }

    fn schedule_look(&mut self) {
        let look = if self.engine.holes() > 0 { self.copies.next_look() } else { Instant::NEVER };
        if look != self.agenda.get(LOOK) {
            self.agenda.set(LOOK, look);
        }
    }

    /// Returns the time from the decision to the urgent queue. Several copies take the multicast engine.
    fn requeue_delay(&self) -> Duration {
        let several = self.engine.config().copies > 1;
        self.timing.retransmit + if several { self.timing.multicast_extra } else { Duration::ZERO }
    }

    /// A retransmission reaches the urgent queue in all its copies (LG-7).
    fn requeue(&mut self, now: Instant) {
        while let Some((_, copy)) = self.requeued.pop_due(now) {
            (0..self.engine.config().copies).for_each(|_| self.urgent.push(copy));
        }
        self.ready = now;
        self.agenda.set(REQUEUE, self.requeued.poll_timeout());
        self.schedule_port();
    }

    /// Finds when the port next sends a frame.
    #[inline]
    fn schedule_port(&mut self) {
        let normal = !self.normal.is_empty() && !self.pause.holds();
        let next = if normal || !self.urgent.is_empty() {
            self.busy_until.max(self.ready)
        } else if self.engine.wants_dummy() {
            self.dummy.departure(self.busy_since, self.busy_until)
        } else {
            Instant::NEVER
        };
        self.port = next;
    }

    /// Sends the most urgent frame, as the port is free (LG-29). Equals `SendingSwitch::serve` of the plain model.
    #[inline(always)]
    pub(super) fn serve(&mut self, now: Instant, wire: &mut ForwardWire<P>) {
        self.begin_service(now);
        if !self.urgent.is_empty() {
            self.send_copy(now, wire);
        } else if let Some(frame) = self.poll_normal() {
            self.send_data(now, frame, wire);
        } else {
            self.send_dummy(now, wire);
        }
        self.schedule_port();
    }

    fn send_copy(&mut self, now: Instant, wire: &mut ForwardWire<P>) {
        if let Some(copy) = self.urgent.pop() {
            self.busy_until = now + self.timing.rate.serialisation(copy.frame.octets);
            let arrives = wire.send_copy((now, self.busy_until + self.timing.retransmission_pipeline), copy);
            self.see(now, arrives, || shown::data(copy.bare(), copy.position, true, self.is_ordered));
        }
    }

    fn send_dummy(&mut self, now: Instant, wire: &mut ForwardWire<P>) {
        if let Some(position) = self.engine.poll_dummy() {
            self.dummy.depart(now);
            self.busy_until = now + self.timing.rate.serialisation(MINIMUM_OCTETS);
            let arrives = wire.send_dummy((now, self.busy_until + self.timing.data_pipeline), position);
            self.see(now, arrives, || shown::dummy(position, self.is_ordered));
        }
    }

    /// Notes since when the port has been busy without a break.
    #[inline]
    fn begin_service(&mut self, now: Instant) {
        if now > self.busy_until {
            self.busy_since = now;
        }
    }

    #[inline(always)]
    fn poll_normal(&mut self) -> Option<Frame<P>> {
        if self.pause.holds() { None } else { self.normal.poll() }
    }

    /// A data frame leaves: it takes its number now, after the queue (LG-3), and leaves a copy behind (LG-5). Equals
    /// `SendingSwitch::send_data` of the plain model.
    #[inline(always)]
    fn send_data(&mut self, now: Instant, mut frame: Frame<P>, wire: &mut ForwardWire<P>) {
        if self.engine.outstanding() == Position::WINDOW {
            self.look_before_giving_up(now);
        }
        let number = self.engine.counters().data as u32;
        let position = self.engine.stamp();
        frame.octets += HEADER_OCTETS;
        self.busy_until = now + self.timing.rate.serialisation(frame.octets);
        let copy = Copied { position, number, frame };
        let arrives = wire.send_data((now, self.busy_until + self.timing.data_pipeline), copy);
        self.see(now, arrives, || shown::data(copy.bare(), position, false, self.is_ordered));
        self.copies.insert(now, &copy, &mut self.engine);
        if self.engine.outstanding() == Position::WINDOW {
            self.after_acknowledgement(now);
        }
    }

    /// A whole window is outstanding, and a frame that leaves at `now` costs the oldest frame its copy, which earlier looks still
    /// find outstanding (LG-33).
    #[cold]
    fn look_before_giving_up(&mut self, now: Instant) {
        self.catch_up(now);
    }

    /// Returns how many copies are kept at `now`.
    pub(super) fn copies_held(&mut self, now: Instant) -> usize {
        self.catch_up(now);
        self.copies.len()
    }

    /// Shows a frame that leaves to the tap.
    #[inline]
    fn see(&self, now: Instant, arrives: bool, content: impl FnOnce() -> Content<P>) {
        if !self.tap.is_open() {
            return;
        }
        let sight = || Sight { at: now, direction: Direction::Forward, arrives, content: content() };
        self.tap.see_on_link(now, sight);
    }

    /// Whether no frame waits, every frame is acknowledged, no position was ever abandoned, no pause holds, and no tap is open.
    pub(super) fn is_idle(&self) -> bool {
        let is_empty = self.port.is_never() && self.normal.is_empty() && self.is_drained();
        let is_known = self.engine.outstanding() == 0 && self.engine.counters().abandoned == 0;
        is_empty && is_known && !self.pause.holds() && !self.tap.is_open()
    }

    /// Returns since when the port was busy without a break, until when, and the circulating dummy.
    pub(super) const fn port_state(&self) -> (Instant, Instant, Circulating) {
        (self.busy_since, self.busy_until, self.dummy)
    }

    /// Sets the state that [`SendingSwitch::port_state`] returns.
    pub(super) const fn restore_port(
        &mut self,
        busy_since: Instant,
        busy_until: Instant,
        dummy: Circulating,
    ) {
        (self.busy_since, self.busy_until, self.dummy) = (busy_since, busy_until, dummy);
    }

    /// Takes over the queue and the port of a link without protection. The port is busy until `busy_until`.
    pub(super) fn take_over(&mut self, busy_until: Instant, queue: FrameQueue<P>) {
        self.busy_until = busy_until;
        self.normal = queue;
        self.schedule_port();
    }

    /// Stops numbering frames, or goes on (LG-36).
    pub(super) fn set_leaving(&mut self, now: Instant, is_leaving: bool) {
        self.pause.is_leaving = is_leaving;
        self.ready = now;
        self.schedule_port();
    }

    /// Whether no frame is to be sent again, and no dummy is due (LG-36).
    pub(super) fn is_drained(&self) -> bool {
        let repairs = self.engine.holes() > 0 || !self.requeued.is_empty() || !self.urgent.is_empty();
        !repairs && !self.engine.wants_dummy()
    }

    /// Starts over at `position`, forgetting all copies (LG-30).
    pub(super) fn synchronise(&mut self, now: Instant, position: Position) {
        self.catch_up(now);
        self.engine.synchronise(position);
        self.copies.clear();
        self.requeued.clear();
        self.urgent.clear();
        self.agenda.set(REQUEUE, Instant::NEVER);
        self.agenda.set(LOOK, Instant::NEVER);
        self.schedule_port();
    }
}
