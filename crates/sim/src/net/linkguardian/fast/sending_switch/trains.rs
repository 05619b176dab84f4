//! The sending switch sends trains of data frames while only data frames and dummies leave. A train of any length costs a few
//! additions.
//!
//! ```text
//!  source --train--> [normal queue] --train, one frame behind another--> copies, wire
//! ```

use super::SendingSwitch;
use crate::fast::{Path as Fast, takes};
use crate::kernel::Train;
use crate::net::frame::MINIMUM_OCTETS;
use crate::net::linkguardian::fast::tx_buffer::TxBuffer;
use crate::net::linkguardian::fast::wires::ForwardWire;
use crate::net::linkguardian::frames::Copied;
use crate::net::linkguardian::timing::HEADER_OCTETS;
use crate::net::source::Source;
use crate::net::{Frame, Payload};
use lossylink_core::time::{Duration, Instant};

/// The departures of waiting frames: one at `first`, and one every `apart` from then on, while a frame waits.
#[derive(Clone, Copy, Debug)]
struct Departures {
    first: Instant,
    apart: Duration,
}

impl Departures {
    /// Returns when the next frame leaves after `count` departures.
    #[inline]
    fn behind(self, count: u32) -> Instant {
        self.first + self.apart * u64::from(count)
    }

    /// Returns how many frames leave by `until`.
    #[inline]
    fn by(self, until: Instant) -> usize {
        match until.as_ps().checked_sub(self.first.as_ps()) {
            None => 0,
            Some(span) => (span / self.apart.as_ps()) as usize + 1,
        }
    }
}

impl<P: Payload> SendingSwitch<P> {
    /// Takes the frames that `source` has by `until`, and sends the frames that leave the port by then, from `now` on. Returns the
    /// time of the last event; `None` if there is none.
    ///
    /// Equals [`SendingSwitch::offer`] and [`SendingSwitch::serve`] of each frame, as long as only data frames and dummies leave,
    /// each is certain to arrive, no tap is open, no copy is asked for, and no notification or pause takes effect
    /// ([`ForwardWire::poll_told`]).
    #[inline]
    pub(in crate::net::linkguardian) fn send_trains(
        &mut self,
        mut now: Instant,
        until: Instant,
        source: &mut impl Source<P>,
        wire: &mut ForwardWire<P>,
    ) -> Option<Instant> {
        if !takes(Fast::SendingTrains)
            || self.pause.holds()
            || !self.urgent.is_empty()
            || self.tap.is_open()
            || !self.copies.is_loop()
        {
            return None;
        }
        now = now.max(self.ready);
        let mut latest = None;
        loop {
            // The frame that completes a window costs the oldest its copy, so the limit is one frame less.
            let (clear, by) = wire.clear_frames();
            let most = u64::from(self.engine.may_stamp().saturating_sub(1)).min(clear);
            let most = u32::try_from(most).unwrap_or(u32::MAX);
            if most == 0 {
                break;
            }
            let (waiting, until) = (self.normal.len(), until.min(by).min(wire.poll_told()));
            let comes = source.poll_timeout(waiting);
            let did = if comes < now && !source.waits_for_room() {
                None
            } else if waiting > 0 || comes < self.busy_until {
                self.send_waiting(now, until, most, source, wire)
            } else {
                self.send_at_once(now, until, most, source, wire)
            };
            let Some(last) = did else { break };
            now = now.max(last);
            latest = Some(now);
        }
        if latest.is_some() {
            self.schedule_port();
        }
        latest
    }

    /// Sends the frames of a train that find the line free, `most` at the most, or dummies whose turn comes before.
    #[inline]
    fn send_at_once(
        &mut self,
        now: Instant,
        until: Instant,
        most: u32,
        source: &mut impl Source<P>,
        wire: &mut ForwardWire<P>,
    ) -> Option<Instant> {
        let comes = source.poll_timeout(0);
        if self.engine.wants_dummy() {
            let departs = self.dummy.departure(self.busy_since, self.busy_until).max(now);
            if departs <= comes {
                return self.send_dummies(departs, until.min(comes), wire);
            }
        }
        if source.waits_for_room() {
            return None;
        }
        let (train, frame) = source.train(0, until, |_| Duration::ZERO)?;
        if !wire.expects(frame.octets + HEADER_OCTETS) {
            return None;
        }
        let serialisation = self.timing.rate.serialisation(frame.octets + HEADER_OCTETS);
        let mut count = if train.spacing >= serialisation { train.count.min(most) } else { 1 };
        if count > 1 && self.engine.config().dummies > 0 {
            // A dummy waits behind the first frame, and leaves in the first gap after its return.
            let since = if comes > self.busy_until { comes } else { self.busy_since };
            count = count.min(train.come_by(self.dummy.next_return(since).just_before()).max(1));
        }
        source.skip(count);
        if count == 1 {
            self.begin_service(comes);
            self.send_data(comes, frame, wire);
            return Some(comes);
        }
        let train = train.up_to(count);
        // Without a gap the port has been busy since an earlier frame.
        let gap = train.spacing > serialisation;
        if gap || comes > self.busy_until {
            self.busy_since = if gap { train.last() } else { comes };
        }
        self.send_train(train, frame, wire);
        Some(train.last())
    }

    /// Sends the dummies that leave by `until`, the first at `first`. No other frame leaves by then. Returns when the last dummy
    /// left; `None` if the first may be lost. Equals [`SendingSwitch::serve`] of each.
    #[inline]
    fn send_dummies(&mut self, first: Instant, until: Instant, wire: &mut ForwardWire<P>) -> Option<Instant> {
        let serialisation = self.timing.rate.serialisation(MINIMUM_OCTETS);
        let spacing = serialisation.max(self.dummy.period());
        let pending = u32::from(self.engine.dummies_due());
        let train = Train { spacing, count: pending, ..Train::of_one(first) };
        let (clear, by) = wire.clear_dummies();
        let count = u64::from(train.come_by(until.min(by))).min(clear) as u8;
        if count == 0 {
            return None;
        }
        let train = train.up_to(u32::from(count));
        let has_gaps = spacing > serialisation && count > 1;
        if has_gaps || first > self.busy_until {
            self.busy_since = if has_gaps { train.last() } else { first };
        }
        self.dummy.depart(train.last());
        self.busy_until = train.last() + serialisation;
        let position = self.engine.poll_dummies(count);
        wire.send_dummies(train.from(first + serialisation + self.timing.data_pipeline), position);
        Some(train.last())
    }

    /// Takes in frames that come while frames wait or the line is busy, and sends waiting frames, `most` at the most, as far as
    /// their departures are known.
    #[inline]
    fn send_waiting(
        &mut self,
        now: Instant,
        until: Instant,
        most: u32,
        source: &mut impl Source<P>,
        wire: &mut ForwardWire<P>,
    ) -> Option<Instant> {
        let is_expected = wire.expects_any()
            || self.normal.octets().is_some_and(|octets| wire.expects(octets + HEADER_OCTETS))
            || self.normal.is_empty();
        if !is_expected {
            return None;
        }
        if source.waits_for_room() {
            let first = self.busy_until.max(now);
            let is_ready = self.refill(first, until, most, source);
            return if is_ready { self.send_queued(first, until, most, wire) } else { None };
        }
        let first = if self.normal.is_empty() { self.busy_until } else { self.busy_until.max(now) };
        let came = self.take_among(first, until, most, source, wire);
        let comes = source.poll_timeout(self.normal.len());
        came.max(self.send_queued(first, until.min(comes), most, wire))
    }

    /// Takes in frames of a train that come by `until`, while the next `most` frames leave, the first at `first`. Equals
    /// [`SendingSwitch::offer`] of each. Returns when the last frame came.
    #[inline]
    fn take_among(
        &mut self,
        first: Instant,
        until: Instant,
        most: u32,
        source: &mut impl Source<P>,
        wire: &ForwardWire<P>,
    ) -> Option<Instant> {
        let (waiting, rate) = (self.normal.len(), self.timing.rate);
        let comes = source.poll_timeout(waiting);
        if comes > until {
            return None;
        }
        let apart = |octets: u32| rate.serialisation(octets + HEADER_OCTETS);
        let head = self.normal.front().map(|(train, frame)| (train.count, frame.octets));
        let left_by = |octets: u32| Departures { first, apart: apart(octets) }.by(comes);
        let left = head.map_or(0, |(_, octets)| left_by(octets));
        if left > waiting {
            return None;
        }
        // A departure is certain to make room only if it comes before the second arrival.
        let makes_room =
            |octets| Some(apart(octets)).filter(|&apart| first <= comes + apart).unwrap_or(Duration::MAX);
        let (train, frame) = source.train(waiting - left, until, makes_room)?;
        if !wire.expects(frame.octets + HEADER_OCTETS) {
            return None;
        }
        let leave = Departures { first, apart: apart(frame.octets) };
        // `alike` frames of the first one's size are known to leave one behind another: all, if all have that size.
        let is_of_one_size = waiting == 0 || self.normal.octets().is_some();
        let alike = head.map_or(0, |(alike, _)| if is_of_one_size { waiting as u32 } else { alike });
        let (count, more) = if head.is_none_or(|(_, octets)| octets == frame.octets) {
            let known = leave.behind(if is_of_one_size { most } else { alike.min(most) }).just_before();
            let mut count = if train.last() <= known { train.count } else { train.come_by(known) };
            let come_faster = train.spacing < leave.apart;
            if count > 1 && train.spacing > leave.apart {
                // The last frames may find the queue empty.
                let slack = (leave.behind(alike) - comes).as_ps() - 1;
                let find = slack / (train.spacing - leave.apart).as_ps() + 1;
                count = count.min(u32::try_from(find).unwrap_or(u32::MAX));
            }
            if count == 0 {
                return None;
            }
            let train = train.up_to(count);
            // The queue is fullest after the last arrival if frames come faster than frames leave, and otherwise after the last
            // arrival before the next departure.
            let (come, gone) = if come_faster {
                (train.count, leave.by(train.last()))
            } else if comes < first {
                (train.come_by(first.just_before()), 0)
            } else {
                (1, left)
            };
            (count, u64::from(come).saturating_sub(gone as u64))
        } else {
            // The departures of the frames with the first one's size are known.
            let (_, octets) = head?;
            let unnoticed = self.normal.was_as_full(train.count, frame.octets);
            let known = if unnoticed {
                Departures { first, apart: apart(octets) }.behind(alike.min(most))
            } else {
                first
            };
            let count = train.come_by(known.just_before());
            (count, u64::from(count))
        };
        if count == 0 || !self.normal.take_in(train.up_to(count), &frame, more) {
            return None;
        }
        source.skip(count);
        Some(train.nth(count - 1))
    }

    /// Fills the room of frames that leave by `until`, `most` at the most, from a source that waits for room. Returns false, and
    /// nothing has happened, if the source has room to fill before, or the frames differ in size.
    #[inline]
    fn refill(&mut self, first: Instant, until: Instant, most: u32, source: &mut impl Source<P>) -> bool {
        let waiting = self.normal.len();
        if waiting == 0 || !source.poll_timeout(waiting).is_never() {
            return false;
        }
        let Some((train, frame)) = source.train(waiting, until, |_| Duration::ZERO) else { return true };
        if self.normal.octets() != Some(frame.octets) {
            return false;
        }
        let apart = self.timing.rate.serialisation(frame.octets + HEADER_OCTETS);
        let leave = Departures { first, apart }.by(until).min(most as usize);
        let train = train.up_to(train.count.min(leave as u32));
        if leave > 0 && !self.normal.take_in(train, &frame, 0) {
            return false;
        }
        source.skip(train.count);
        true
    }

    /// Sends waiting frames that leave by `until`, `most` at the most, the first at `first`. Equals [`SendingSwitch::serve`] of
    /// each. Returns when the last frame left.
    #[inline]
    fn send_queued(
        &mut self,
        mut first: Instant,
        until: Instant,
        mut most: u32,
        wire: &mut ForwardWire<P>,
    ) -> Option<Instant> {
        let mut latest = None;
        while first <= until && most > 0 {
            let Some((waiting, frame)) = self.normal.front() else { break };
            if self.normal.may_mark(frame) {
                break;
            }
            let (frame, apart) = (*frame, self.timing.rate.serialisation(frame.octets + HEADER_OCTETS));
            self.begin_service(first);
            if waiting.count == 1 {
                self.normal.leave(1);
                self.send_data(first, frame, wire);
                latest = Some(first);
                (first, most) = (self.busy_until, most - 1);
                continue;
            }
            let left = Departures { first, apart }.by(until).min(most as usize);
            let count = waiting.count.min(left as u32);
            self.normal.leave(count);
            let train = Train { first, spacing: apart, count, ..waiting };
            self.send_train(train, frame, wire);
            latest = Some(train.last());
            (first, most) = (self.busy_until, most - count);
        }
        latest
    }

    /// Sends a train of data frames, `frame` first: each takes its number, and leaves a copy behind. Equals
    /// `SendingSwitch::send_data` of each.
    #[inline(always)]
    fn send_train(&mut self, train: Train, mut frame: Frame<P>, wire: &mut ForwardWire<P>) {
        frame.octets += HEADER_OCTETS;
        let (position, number) = (self.engine.next(), self.engine.counters().data as u32);
        let copy = Copied { position, number, frame };
        let serialisation = self.timing.rate.serialisation(frame.octets);
        self.busy_until = train.last() + serialisation;
        self.engine.stamp_many(train.count);
        if let TxBuffer::Loop(copies) = &mut self.copies {
            copies.insert_train(train, &copy);
        }
        wire.send_train(train.from(train.first + serialisation + self.timing.data_pipeline), &copy);
    }
}
