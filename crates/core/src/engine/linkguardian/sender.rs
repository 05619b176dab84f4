//! The sending end of a protected link: numbers frames, keeps copies, retransmits (LG-3..10).

use super::{HoleSet, Notification, Position};

/// Parameters of the sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SenderConfig {
    /// Copies of each retransmission, at least 1 (LG-19).
    pub copies: u8,
    /// Dummies after the last data frame; 0 switches tail-loss detection off (LG-4).
    pub dummies: u8,
    /// How many positions one notification may mark; `None` is unlimited (LG-9).
    pub hole_cap: Option<u8>,
}

impl SenderConfig {
    /// The number of dummies of the published program.
    pub const PUBLISHED_DUMMIES: u8 = 3;
    /// The number of consecutive losses that the published program can request.
    pub const PUBLISHED_HOLE_CAP: u8 = 5;
}

/// The decision about the copy of a sent frame when the driver looks at it (LG-6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyFate {
    /// The frame is not acknowledged yet: keep its copy.
    Hold,
    /// The frame arrived: free its copy.
    Release,
    /// The frame was lost: send it again, in the configured number of copies, then free its copy (LG-7).
    Retransmit,
}

/// Events at the sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SenderCounters {
    /// Data frames numbered.
    pub data: u64,
    /// Dummies sent.
    pub dummies: u64,
    /// Lost frames sent again (each in N copies).
    pub retransmitted: u64,
    /// Acknowledgements taken in, explicit and piggy-backed.
    pub acks: u64,
    /// Loss notifications taken in.
    pub notifications: u64,
    /// Notifications taken in that repeated an earlier one: further copies (LG-46).
    pub repeated: u64,
    /// Lost positions that were not marked, being beyond the cap (LG-9).
    pub beyond_cap: u64,
    /// Acknowledged positions that were never sent (LG-8).
    pub out_of_range: u64,
    /// Positions given up without an acknowledgement, a whole window being on the way (LG-33).
    pub abandoned: u64,
}

/// The sending engine of one protected port.
#[derive(Clone, Debug)]
pub struct Sender {
    config: SenderConfig,
    next: Position,
    leading_ack: Position,
    dummies_pending: u8,
    holes: HoleSet,
    /// Positions whose copies found no room, if there are any. No retransmission of these is possible (LG-34).
    evicted: Option<HoleSet>,
    counters: SenderCounters,
}

impl Sender {
    /// Returns a sender whose first frame takes position zero.
    ///
    /// # Panics
    /// If no copy would be sent.
    pub fn new(config: SenderConfig) -> Self {
        assert!(config.copies > 0, "a retransmission needs at least one copy");
        Self {
            config,
            next: Position::ZERO,
            leading_ack: Position::ZERO.previous(),
            dummies_pending: 0,
            holes: HoleSet::new(),
            evicted: None,
            counters: SenderCounters::default(),
        }
    }

    /// Returns the parameters of the sender.
    pub const fn config(&self) -> &SenderConfig {
        &self.config
    }

    /// Changes the number of copies of the retransmissions to come.
    pub fn set_copies(&mut self, copies: u8) {
        assert!(copies > 0, "a retransmission needs at least one copy");
        self.config.copies = copies;
    }

    /// Returns the counters of the sender.
    pub const fn counters(&self) -> &SenderCounters {
        &self.counters
    }

    /// Returns the position that the next data frame will take.
    pub const fn next(&self) -> Position {
        self.next
    }

    /// Returns the last position up to which every frame is known to have arrived or to be lost.
    pub const fn leading_ack(&self) -> Position {
        self.leading_ack
    }

    /// Returns how many positions were sent and not acknowledged; at most [`Position::WINDOW`].
    #[inline]
    pub const fn outstanding(&self) -> u32 {
        self.next.steps_after(self.leading_ack) - 1
    }

    /// Returns how many data frames, modulo 2^32, had been numbered before the oldest that is not acknowledged; before the next
    /// one, if all are.
    #[inline]
    pub const fn oldest_outstanding(&self) -> u32 {
        (self.counters.data as u32).wrapping_sub(self.outstanding())
    }

    /// Returns the position of the `number`-th data frame, modulo 2^32, of those that left since the start or since the sender
    /// started over.
    #[inline]
    pub const fn position_of(&self, number: u32) -> Position {
        self.next.minus((self.counters.data as u32).wrapping_sub(number))
    }

    /// Returns how many lost positions have copies that the driver has not looked at since.
    pub const fn holes(&self) -> u32 {
        self.holes.len()
    }

    /// Starts over at `position` (LG-30).
    pub fn synchronise(&mut self, position: Position) {
        self.next = position;
        self.leading_ack = position.previous();
        self.dummies_pending = 0;
        self.holes.clear();
        self.evicted = None;
    }

    /// Gives its position to a data frame that leaves the queue (LG-3). The driver keeps a copy (LG-5).
    #[inline]
    pub fn stamp(&mut self) -> Position {
        if self.outstanding() == Position::WINDOW {
            self.abandon_oldest();
        }
        let position = self.next;
        self.next = position.next();
        if !self.holes.is_empty() {
            self.holes.remove(opposite(position));
        }
        self.forget_evicted(1);
        self.dummies_pending = self.config.dummies; // LG-4
        self.counters.data += 1;
        position
    }

    /// Takes note that the copy of the frame at `position` was freed for want of room (LG-34). A request for the frame then marks
    /// no hole.
    #[cold]
    pub fn note_evicted(&mut self, position: Position) {
        self.evicted.get_or_insert_with(HoleSet::new).insert(position);
    }

    /// Forgets the evicted copies at the positions [`opposite`] to those of the last `count` frames.
    #[inline]
    fn forget_evicted(&mut self, count: u32) {
        if let Some(evicted) = &mut self.evicted {
            (1..=count).for_each(|back| _ = evicted.remove(opposite(self.next.minus(back))));
            if evicted.is_empty() {
                self.evicted = None;
            }
        }
    }

    /// Returns how many data frames may be numbered together: none while a loss is asked for, and no more than fit in the window.
    #[inline]
    pub const fn may_stamp(&self) -> u32 {
        if self.holes.is_empty() { Position::WINDOW - self.outstanding() } else { 0 }
    }

    /// Numbers `count` data frames that left, with the positions from [`Sender::next`] on. Equals [`Sender::stamp`] of each, of
    /// no more than [`Sender::may_stamp`] (LG-3, LG-4).
    #[inline]
    pub fn stamp_many(&mut self, count: u32) {
        debug_assert!(count <= self.may_stamp(), "a frame is asked for, or a position is let go");
        if count > 0 {
            self.next = self.next.plus(count);
            self.dummies_pending = self.config.dummies;
            self.counters.data += u64::from(count);
            self.forget_evicted(count);
        }
    }

    /// Gives up the oldest position after a whole window without an acknowledgement, so that every comparison stays valid
    /// (LG-33).
    #[cold]
    fn abandon_oldest(&mut self) {
        self.leading_ack = self.leading_ack.next();
        self.counters.abandoned += 1;
    }

    /// Whether the `number`-th data frame, modulo 2^32, is so old that its position has been given up. A driver that looks at
    /// copies rarely must ask, because the position may be in use again (LG-33).
    #[inline]
    pub const fn has_abandoned(&self, number: u32) -> bool {
        let age = (self.counters.data as u32).wrapping_sub(number);
        self.counters.abandoned > 0 && age > Position::WINDOW
    }

    /// Whether a dummy is due when the link has no other frame to carry (LG-18).
    #[inline]
    pub const fn wants_dummy(&self) -> bool {
        self.dummies_pending > 0
    }

    /// Returns how many dummies are still to follow the last data frame.
    pub const fn dummies_due(&self) -> u8 {
        self.dummies_pending
    }

    /// Takes one dummy, which carries the position that the next data frame will take (LG-12).
    pub fn poll_dummy(&mut self) -> Option<Position> {
        self.dummies_pending = self.dummies_pending.checked_sub(1)?;
        self.counters.dummies += 1;
        Some(self.next)
    }

    /// Takes `count` dummies of those that are due. Equals [`Sender::poll_dummy`] of each.
    ///
    /// # Panics
    /// In debug builds, if fewer are due.
    #[inline]
    pub fn poll_dummies(&mut self, count: u8) -> Position {
        debug_assert!(count <= self.dummies_pending, "so many dummies are not due");
        self.dummies_pending -= count;
        self.counters.dummies += u64::from(count);
        self.next
    }

    /// Takes note of `data` data frames that left, of `dummies` dummies after them, which were all that were due, and of `acks`
    /// acknowledgements that say that all of the frames arrived. Equals [`Sender::stamp`], [`Sender::poll_dummy`] and
    /// [`Sender::handle_ack`] of each, while no frame is outstanding or asked for (LG-3, LG-4, LG-8).
    pub fn pass_acknowledged(&mut self, data: u32, dummies: u64, acks: u64) {
        debug_assert!(self.outstanding() == 0 && self.holes.is_empty(), "something is outstanding");
        self.next = self.next.plus(data);
        self.forget_evicted(data);
        self.leading_ack = self.next.previous();
        self.dummies_pending = 0;
        self.counters.data += u64::from(data);
        self.counters.dummies += dummies;
        self.counters.acks += acks;
    }

    /// Takes in an acknowledgement (LG-8).
    #[inline]
    pub fn handle_ack(&mut self, leading: Position) {
        self.counters.acks += 1;
        self.advance(leading);
    }

    /// Takes in an acknowledgement that may repeat the last one. Counts a repeated acknowledgement and returns true; otherwise
    /// nothing has changed.
    #[inline]
    pub fn handle_repeated_ack(&mut self, leading: Position) -> bool {
        let is_repeated = leading == self.leading_ack;
        self.counters.acks += u64::from(is_repeated);
        is_repeated
    }

    /// Takes in `count` acknowledgements, each of which acknowledges no less than the one before it. The last of them
    /// acknowledges up to `leading`. Equals [`Sender::handle_ack`] of each (LG-8).
    ///
    /// # Panics
    /// In debug builds, if `leading` lies before the last acknowledgement, or beyond the last frame sent.
    #[inline]
    pub fn pass_acks(&mut self, count: u64, leading: Position) {
        debug_assert!(leading.steps_after(self.leading_ack) <= self.outstanding(), "nobody sent {leading}");
        self.counters.acks += count;
        self.leading_ack = leading;
    }

    /// Takes in a loss notification (LG-8, LG-9). It is the only request for its hole (LG-31). Further copies of the notification
    /// change nothing, and the frames of the hole are sent again once (LG-46).
    pub fn handle_notification(&mut self, notification: &Notification) {
        self.counters.notifications += 1;
        if !notification.leading.is_after(self.leading_ack) {
            self.counters.repeated += 1;
            return;
        }
        let lost = u32::from(notification.hole_size);
        let marked = self.config.hole_cap.map_or(lost, |cap| lost.min(u32::from(cap)));
        self.counters.beyond_cap += u64::from(lost - marked);
        for position in (0..marked).map(|step| notification.first_lost.plus(step)) {
            // Only a frame that was sent and not yet acknowledged still has a copy, if that found room (LG-10).
            let is_outstanding = position.is_after(self.leading_ack) && self.next.is_after(position);
            if is_outstanding && self.evicted.as_ref().is_none_or(|evicted| !evicted.contains(position)) {
                self.holes.insert(position);
            }
        }
        self.advance(notification.leading);
    }

    /// Moves the leading acknowledgement forward, never back and never past the last frame sent (LG-8).
    fn advance(&mut self, leading: Position) {
        if !self.next.is_after(leading) {
            self.counters.out_of_range += 1;
        } else if leading.is_after(self.leading_ack) {
            self.leading_ack = leading;
        }
    }

    /// Decides about the copy of `position` that the driver looks at (LG-6).
    #[inline]
    pub fn inspect_copy(&mut self, position: Position) -> CopyFate {
        if position.is_after(self.leading_ack) {
            return CopyFate::Hold;
        }
        if !self.holes.is_empty() && self.holes.remove(position) {
            self.counters.retransmitted += 1;
            return CopyFate::Retransmit;
        }
        CopyFate::Release
    }

    /// Decides about the copy of the `number`-th data frame, modulo 2^32. Equals [`Sender::inspect_copy`], and is right however
    /// many frames have left since the last look (LG-33).
    pub fn inspect_numbered(&mut self, number: u32) -> CopyFate {
        let is_outstanding = number.wrapping_sub(self.oldest_outstanding()) <= u32::MAX / 2;
        if is_outstanding {
            CopyFate::Hold
        } else if !self.has_abandoned(number) && self.holes.remove(self.position_of(number)) {
            self.counters.retransmitted += 1;
            CopyFate::Retransmit
        } else {
            CopyFate::Release
        }
    }
}

/// Returns the position with the same number in the other era, 65,536 frames before its next use. A mark there, or an evicted
/// copy, is cleared now, so that neither meets that use (LG-10).
const fn opposite(position: Position) -> Position {
    position.plus(Position::COUNT as u32 / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(number: u16) -> Position {
        Position::new(number, false)
    }

    fn sender_after(frames: u32) -> Sender {
        let config = SenderConfig { copies: 2, dummies: 3, hole_cap: Some(5) };
        let mut sender = Sender::new(config);
        (0..frames).for_each(|_| {
            sender.stamp();
        });
        sender
    }

    fn hole(first: u16, size: u8) -> Notification {
        Notification { leading: at(first + u16::from(size)), first_lost: at(first), hole_size: size }
    }

    // LG-8
    #[test]
    fn a_repeated_acknowledgement_is_only_counted() {
        let mut sender = sender_after(3);
        assert!(!sender.handle_repeated_ack(at(1)));
        sender.handle_ack(at(1));
        assert!(sender.handle_repeated_ack(at(1)) && !sender.handle_repeated_ack(at(0)));
        assert_eq!((sender.counters().acks, sender.leading_ack()), (2, at(1)));
        assert_eq!((sender.outstanding(), sender.oldest_outstanding()), (1, 2));
    }

    // LG-3
    #[test]
    fn frames_are_numbered_as_they_leave() {
        let mut sender = sender_after(2);
        assert_eq!([0, 1, 2].map(|number| sender.position_of(number)), [at(0), at(1), at(2)]);
        assert_eq!(sender.stamp(), at(2));
        assert_eq!(sender.counters().data, 3);
    }

    // LG-4, LG-12, LG-18
    #[test]
    fn the_last_frame_is_followed_by_dummies() {
        let mut sender = sender_after(4);
        for _ in 0..3 {
            assert!(sender.wants_dummy());
            assert_eq!(sender.poll_dummy(), Some(at(4)));
        }
        assert_eq!(sender.poll_dummy(), None);
        sender.stamp();
        assert!(sender.wants_dummy());
        assert_eq!((sender.poll_dummies(2), sender.dummies_due(), sender.counters().dummies), (at(5), 1, 5));
    }

    // LG-5, LG-6
    #[test]
    fn a_copy_is_held_until_it_is_acknowledged() {
        let mut sender = sender_after(3);
        assert_eq!(sender.inspect_copy(at(1)), CopyFate::Hold);
        sender.handle_ack(at(1));
        assert_eq!(sender.inspect_copy(at(1)), CopyFate::Release);
        assert_eq!(sender.inspect_copy(at(2)), CopyFate::Hold);
    }

    // LG-6, LG-7: test and clear, so that one loss is sent again once.
    #[test]
    fn a_hole_is_retransmitted_once() {
        let mut sender = sender_after(3);
        sender.handle_notification(&hole(0, 1));
        assert_eq!(sender.inspect_copy(at(0)), CopyFate::Retransmit);
        assert_eq!(sender.inspect_copy(at(0)), CopyFate::Release);
        assert_eq!(sender.inspect_copy(at(1)), CopyFate::Release);
        assert_eq!(sender.inspect_copy(at(2)), CopyFate::Hold);
    }

    // LG-9
    #[test]
    fn a_long_hole_is_marked_up_to_the_cap() {
        for (size, unmarked) in [(5, 0), (6, 1), (9, 4)] {
            let mut sender = sender_after(20);
            sender.handle_notification(&hole(3, size));
            assert_eq!(sender.holes(), u32::from(size) - unmarked);
            assert_eq!(sender.counters().beyond_cap, u64::from(unmarked));
        }
    }

    // LG-46
    #[test]
    fn a_repeated_notification_changes_nothing() {
        let mut sender = sender_after(20);
        for copy in 1..=3 {
            sender.handle_notification(&hole(3, 9));
            assert_eq!((sender.holes(), sender.counters().beyond_cap), (5, 4), "copy {copy}");
            assert_eq!((sender.counters().notifications, sender.counters().repeated), (copy, copy - 1));
        }
        assert_eq!(sender.inspect_copy(at(3)), CopyFate::Retransmit);
        sender.handle_notification(&hole(3, 9));
        assert_eq!(sender.inspect_copy(at(3)), CopyFate::Release, "one request sends once");
        // The next hole is new, and stays new when a copy of the notification before comes late.
        sender.handle_notification(&hole(14, 1));
        sender.handle_notification(&hole(3, 9));
        assert_eq!(sender.inspect_copy(at(14)), CopyFate::Retransmit);
        assert_eq!((sender.counters().beyond_cap, sender.counters().repeated), (4, 4));
    }

    // LG-9
    #[test]
    fn without_a_cap_every_loss_is_marked() {
        let mut sender = sender_after(20);
        sender.config.hole_cap = None;
        sender.handle_notification(&hole(3, 9));
        assert_eq!(sender.holes(), 9);
    }

    // LG-8
    #[test]
    fn acknowledgements_never_go_back_or_beyond() {
        let mut sender = sender_after(5);
        sender.handle_ack(at(3));
        sender.handle_ack(at(1));
        assert_eq!(sender.leading_ack(), at(3));
        sender.handle_ack(at(5));
        assert_eq!(sender.leading_ack(), at(3));
        assert_eq!(sender.counters().out_of_range, 1);
    }

    // LG-10, LG-31: a request for a frame whose copy was released leaves no mark behind.
    #[test]
    fn a_late_notification_marks_nothing_that_has_left() {
        let mut sender = sender_after(9);
        sender.handle_ack(at(6));
        sender.handle_notification(&hole(4, 1));
        assert_eq!(sender.holes(), 0);
    }

    // LG-33
    #[test]
    fn a_silent_receiver_costs_the_oldest_copies() {
        let mut sender = sender_after(Position::WINDOW);
        assert_eq!((sender.outstanding(), sender.counters().abandoned), (Position::WINDOW, 0));
        assert_eq!(sender.inspect_copy(at(0)), CopyFate::Hold);
        sender.stamp();
        assert_eq!((sender.outstanding(), sender.counters().abandoned), (Position::WINDOW, 1));
        assert_eq!(sender.inspect_copy(at(0)), CopyFate::Release);
        assert!(sender.has_abandoned(0) && !sender.has_abandoned(1));
        // However long the silence lasted, the first acknowledgement counts.
        (0..3 * Position::COUNT).for_each(|_| {
            sender.stamp();
        });
        let newest = sender.next().previous();
        sender.handle_ack(newest);
        assert_eq!((sender.leading_ack(), sender.outstanding()), (newest, 0));
    }

    // LG-6, LG-33: a position comes again after 131,072 frames, and then stands for another frame.
    #[test]
    fn a_numbered_copy_is_told_from_a_newer_one_with_its_position() {
        let mut sender = sender_after(2);
        sender.handle_notification(&hole(0, 1));
        assert_eq!(sender.inspect_numbered(1), CopyFate::Release);
        assert_eq!(
            [0, 0].map(|number| sender.inspect_numbered(number)),
            [CopyFate::Retransmit, CopyFate::Release]
        );
        for _ in 2..=Position::COUNT {
            sender.handle_ack(sender.next().previous());
            sender.stamp();
        }
        assert_eq!(sender.inspect_copy(at(0)), CopyFate::Hold);
        assert_eq!(sender.inspect_numbered(0), CopyFate::Release);
        assert_eq!(sender.inspect_numbered(Position::COUNT as u32), CopyFate::Hold);
    }

    // LG-10: a mark that no driver looks at is gone when its position comes again.
    #[test]
    fn a_mark_is_forgotten_within_a_wrap() {
        let mut sender = sender_after(3);
        sender.handle_notification(&hole(0, 1));
        for _ in 0..Position::COUNT / 2 {
            let newest = sender.stamp();
            sender.handle_ack(newest);
        }
        assert_eq!(sender.holes(), 0);
    }

    // LG-10, LG-34: a frame without a copy is not waited for, and its position may have a copy the next time.
    #[test]
    fn a_request_for_a_copy_that_found_no_room_marks_nothing() {
        let mut sender = sender_after(3);
        sender.note_evicted(at(1));
        sender.handle_notification(&hole(0, 2));
        assert_eq!(sender.holes(), 1);
        assert_eq!(
            [0, 1].map(|number| sender.inspect_numbered(number)),
            [CopyFate::Retransmit, CopyFate::Release]
        );
        for _ in 3..=Position::COUNT + 3 {
            sender.stamp();
            sender.handle_ack(sender.next().previous());
        }
        sender.stamp();
        let lost = sender.next().previous();
        sender.stamp();
        let leading = sender.next().previous();
        sender.handle_notification(&Notification { leading, first_lost: lost, hole_size: 1 });
        assert_eq!(sender.holes(), 1);
    }

    // LG-30
    #[test]
    fn a_sender_switched_on_in_mid_stream_starts_where_told() {
        let mut sender = sender_after(9);
        let start = Position::new(60_000, true);
        sender.synchronise(start);
        assert_eq!(sender.stamp(), start);
        assert_eq!(sender.inspect_copy(start), CopyFate::Hold);
    }
}
