//! Acknowledgements that come one behind another: equal to packet by packet, without the work that only matters when another
//! event happens between them.

use crate::kernel::{Assembly, Train};
use crate::transport::tcp::Sender;
use crate::transport::tcp::congestion::Algorithm;
use crate::transport::tcp::outgoing::Plan;
use crate::transport::tcp::packet::{Ack, Data, Packet};
use crate::transport::tcp::recovery_state::State;
use crate::transport::tcp::scoreboard::Segment;

impl Sender {
    /// Takes acknowledgements of a train, each of which acknowledges an equal number of segments, as long as no segment was
    /// lost, the flow is not about to end, and no tick comes. So the clock's jiffy is that of the first acknowledgement, and no
    /// timer that would be armed on the way is due. Hands the new segments to `send`. Returns how many acknowledgements were
    /// taken. The driver polls on at the instant of the last. (TCP-9, TCP-20)
    pub fn take_train(&mut self, train: Train, packet: &Packet, mut send: impl FnMut(Train, Packet)) -> u32 {
        let Packet::Ack(ack) = packet else { return 0 };
        if !self.is_predicted(ack, train) {
            return 0;
        }
        let (mut taken, mut sent, mut latest) = (0, 0, Segment::UNUSED);
        let mut flight = Flight { assembly: Assembly::default(), payload: self.flow.payload() };
        while taken < train.count && self.board.outstanding() > train.step {
            let rest = train.behind(taken);
            if taken > 0 {
                if !self.clock.is_within_tick(rest.first) || self.may_send() {
                    break;
                }
                self.end_flight(sent > 0);
            }
            let next = self.board.next();
            let constant = self.constant_window_acks(rest);
            if constant > 1 {
                latest = self.take_constant_window_acks(rest.up_to(constant));
                (taken, sent) = (taken + constant, train.step);
                flight.leave_by_acks(rest.up_to(constant), next, &mut send);
            } else {
                self.enter(rest.first);
                latest = self.take_predicted_ack(train.step);
                taken += 1;
                sent = self.send_in_full();
                (next..self.board.next())
                    .for_each(|number| flight.leave(Train::of_one(rest.first), number, &mut send));
            }
        }
        if let Some((train, first)) = flight.assembly.finish() {
            send(train, flight.full_segment(first));
        }
        if taken > 0 {
            self.end_train(taken, &latest);
            self.leave_to_poll(sent > 0);
        }
        taken
    }

    /// Header prediction: whether an acknowledgement is the next in sequence, and neither it nor the connection needs more work than
    /// to take in the acknowledged segments.
    fn is_predicted(&self, ack: &Ack, train: Train) -> bool {
        let is_next = ack.next == self.board.una() + u64::from(train.step) && train.step > 0;
        let is_open = self.recovery.state() == State::Open
            && self.board.is_in_sequence()
            && self.outgoing.is_idle()
            && self.probe.is_idle()
            && self.handshake.is_established()
            && self.rtt.is_sampled()
            && self.rack.has_no_duplicate();
        let has_no_options = !(self.config.timestamps || self.config.uses_ecn() || self.bursts.are_on());
        let is_unpaced = self.config.stack_rate.is_none() && !self.congestion.models_path();
        is_next && is_open && has_no_options && is_unpaced && ack.sack.is_empty()
    }

    /// Does the work of [`Sender::take_ack`], but for the work [at the end](Self::end_train). Returns the state of the last
    /// acknowledged segment.
    #[inline]
    fn take_predicted_ack(&mut self, count: u32) -> Segment {
        let next = self.board.una() + u64::from(count);
        let Some((oldest_sent_us, latest)) = self.board.pop_in_sequence(next) else {
            unreachable!("nothing is known of the segments but that they were sent");
        };
        self.statistics.note_delivered(u64::from(count), false);
        let now_us = self.clock.micros();
        let (first_us, last_us) = (now_us - oldest_sent_us, now_us - latest.sent_us);
        self.rtt.note_minimum(last_us, &self.clock);
        self.rtt.sample_on(first_us, next, self.board.next());
        self.statistics.note_round_trip(first_us);
        self.watch_round_trip(last_us);
        self.grow_window(count);
        latest
    }

    /// Does the work that is left of all acknowledgements that were taken, of which the last one decides. `latest` is the last
    /// acknowledged segment.
    fn end_train(&mut self, taken: u32, latest: &Segment) {
        self.statistics.acknowledgements += u64::from(taken);
        self.recovery.note_progress();
        self.rtt.settle(&self.clock);
        self.note_last_delivered(self.board.una(), latest);
        self.adapt_reordering_window(latest.delivered);
    }

    /// Sends as many full new segments as may leave, and returns their number. (TCP-20)
    #[inline]
    fn send_in_full(&mut self) -> u32 {
        let quota = self.window.size.saturating_sub(self.board.in_flight());
        let sendable = self.flow.sendable_in_full(self.board.una(), self.board.next());
        let count = sendable.min(u64::from(quota)) as u32;
        if count > 0 {
            self.send_full(count);
            self.bursts.note_sent(self.clock.micros());
        }
        count
    }

    /// Whether a segment may leave.
    pub(super) fn may_send(&self) -> bool {
        self.board.in_flight() < self.window.size && self.has_new_data()
    }

    /// Ends the flight of an acknowledgement, when another acknowledgement puts off the probe that would be scheduled.
    #[inline]
    fn end_flight(&mut self, sent: bool) {
        let limited = self.board.in_flight() >= self.window.size;
        if !limited {
            // The timeout decides how long the window may be left unused.
            self.rtt.settle(&self.clock);
        }
        if sent || limited {
            self.note_usage(limited);
        }
    }

    /// Leaves the rest of the last acknowledgement's work to the next poll.
    fn leave_to_poll(&mut self, sent: bool) {
        self.outgoing.set_plan(Plan::New);
        if sent {
            self.outgoing.note_new();
        }
        self.restart_timer();
    }
}

/// The full segments that leave while acknowledgements are taken.
struct Flight {
    assembly: Assembly,
    payload: u32,
}

impl Flight {
    /// Adds segments that leave, from number `first` on.
    #[inline]
    fn leave(&mut self, train: Train, first: u64, send: &mut impl FnMut(Train, Packet)) {
        if let Some((train, first)) = self.assembly.add(train, first) {
            send(train, self.full_segment(first));
        }
    }

    /// Adds the segments that leave with each acknowledgement of a train, as many as it acknowledges, from number `first` on.
    fn leave_by_acks(&mut self, acks: Train, first: u64, send: &mut impl FnMut(Train, Packet)) {
        if acks.step == 1 {
            return self.leave(acks, first, send);
        }
        for index in 0..acks.count {
            let together = Train { count: acks.step, ..Train::of_one(acks.nth(index)) };
            self.leave(together, first + u64::from(index * acks.step), send);
        }
    }

    const fn full_segment(&self, first: u64) -> Packet {
        Packet::Data(Data {
            first,
            payload: self.payload,
            segments: 1,
            retransmission: false,
            ecn_capable: false,
            window_reduced: false,
            timestamp: 0,
        })
    }
}
