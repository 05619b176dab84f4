//! The sender's handling of an acknowledgement (Linux `tcp_ack`).

use super::super::congestion::{Algorithm, View, grow_as_reno};
use super::super::outgoing::Plan;
use super::super::packet::Ack;
use super::super::progress::Progress;
use super::super::rate::{LastSent, RateSample, Totals};
use super::super::recovery_state::State;
use super::super::scoreboard::Segment;
use super::Sender;

impl Sender {
    /// Processes an acknowledgement and decides what may be sent. (TCP-9)
    pub(super) fn take_ack(&mut self, ack: &Ack) {
        if ack.next > self.board.next() {
            return;
        }
        self.statistics.acknowledgements += 1;
        let echoed = ack.ecn_echo && self.config.uses_ecn();
        let echo = if self.config.timestamps { ack.echo } else { 0 };
        let mut progress = Progress { congestion_echoed: echoed, echo, ..Progress::default() };
        let plan = if ack.next < self.board.una() {
            self.take_old_ack(ack, &mut progress)
        } else {
            self.take_current_ack(ack, &mut progress)
        };
        self.outgoing.set_plan(plan);
        self.flow.note_acknowledged(self.board.una(), self.clock.now());
    }

    /// Takes an acknowledgement that another one overtook: only its SACK blocks matter.
    fn take_old_ack(&mut self, ack: &Ack, progress: &mut Progress) -> Plan {
        if ack.sack.is_empty() {
            return Plan::New;
        }
        self.take_sacks(ack, progress);
        self.react(progress)
    }

    fn take_current_ack(&mut self, ack: &Ack, progress: &mut Progress) -> Plan {
        let delivered_before = self.statistics.segments_delivered;
        let lost_before = self.statistics.segments_lost;
        let in_flight_before = self.board.in_flight();
        progress.advanced = ack.next > self.board.una();
        if progress.advanced {
            self.recovery.note_progress();
        }
        let highest_before = self.board.sacked_end();
        if !ack.sack.is_empty() {
            self.take_sacks(ack, progress);
        }
        if self.congestion.watches_acks() {
            let view = View { una: ack.next, ..self.view() };
            self.congestion.on_ack(&view);
        }
        if self.board.outstanding() == 0 {
            return self.take_idle_ack(ack, progress);
        }
        self.remove_acknowledged(ack.next, highest_before, progress);
        if let Some((_, _, before)) = progress.latest {
            self.adapt_reordering_window(before);
        }
        self.take_probe_answer(ack.next, progress);
        let mut plan = Plan::New;
        if progress.is_dubious() || self.recovery.state() != State::Open {
            progress.is_duplicate = !progress.advanced && !progress.duplicate_reported;
            plan = self.react(progress);
        }
        if progress.set_timer {
            self.restart_timer();
        }
        let delivered = (self.statistics.segments_delivered - delivered_before) as u32;
        let lost = self.statistics.segments_lost - lost_before;
        if self.congestion.models_path() {
            self.model_path(delivered, lost, in_flight_before, progress);
        } else {
            self.control_window(delivered, lost, progress);
        }
        plan
    }

    /// Hands a rate sample to an algorithm that models the path.
    fn model_path(&mut self, acknowledged: u32, lost: u64, prior_in_flight: u32, progress: &Progress) {
        let total = self.statistics.segments_delivered;
        let sample = match progress.latest {
            Some((sent_us, end, before)) => {
                let prior_delivered = self.delivered_before(before);
                let last = LastSent { number: end - 1, sent_us, prior_delivered };
                let totals = Totals { delivered: total, lost: self.statistics.segments_lost };
                self.rate.sample(last, totals, self.rtt.minimum_us(), self.clock.micros())
            }
            None => RateSample::default(),
        };
        let sample = RateSample { acknowledged, lost, prior_in_flight, rtt_us: progress.rtt_us, ..sample };
        let view = self.view();
        self.congestion.model(&sample, &mut self.window, &view);
        if self.congestion.is_limiting_itself() {
            self.rate.limit_until(total + u64::from(self.board.in_flight()));
        }
    }

    /// Returns the count of deliveries whose low half is `low`, which a segment carries.
    fn delivered_before(&self, low: u32) -> u64 {
        let delivered = self.statistics.segments_delivered;
        delivered - u64::from((delivered as u32).wrapping_sub(low))
    }

    /// Takes an acknowledgement while no segment is outstanding: only a report of duplicates can matter.
    fn take_idle_ack(&mut self, ack: &Ack, progress: &mut Progress) -> Plan {
        if progress.duplicate_reported {
            self.react(progress);
        }
        self.take_probe_answer(ack.next, progress);
        Plan::New
    }

    /// Takes cumulatively acknowledged segments off the scoreboard. (TCP-10)
    fn remove_acknowledged(&mut self, next: u64, highest_before: u64, progress: &mut Progress) {
        let now_us = self.clock.micros();
        let least_us = self.rtt.minimum_us();
        let first = self.board.una();
        if let Some(span) = self.board.pop_in_sequence(next) {
            self.note_in_sequence(first, next, span, progress);
        }
        while self.board.una() < next {
            let number = self.board.una();
            let segment = self.board.pop_acknowledged();
            if segment.was_retransmitted() {
                progress.retransmission_acked = true;
            } else if !segment.is_sacked() {
                if number < highest_before {
                    progress.note_reordered(number);
                }
                progress.note_acknowledged(segment.sent_us, number < self.recovery.end());
            }
            if !segment.is_sacked() {
                self.statistics.note_delivered(1, progress.congestion_echoed);
                if !progress.is_needless(&segment) {
                    let resent = segment.was_retransmitted();
                    self.rack.deliver(now_us, segment.sent(number), resent, least_us);
                }
                progress.note_delivered(number, &segment);
            }
        }
        let sampled = self.take_round_trip(progress);
        if progress.advanced {
            progress.set_timer = true;
            if let Some(lowest) = progress.reordered_from.filter(|&lowest| lowest < highest_before) {
                self.note_reordering(lowest);
            }
        } else {
            // The sample is of a segment that was sent after the head, so the head's timeout may start anew.
            let head_us = self.board.head().map_or(u64::MAX, |head| head.sent_us);
            progress.set_timer = sampled && progress.sacked_sent_us.is_some_and(|(first, _)| first < head_us);
        }
    }

    /// Notes acknowledged segments from `first` up to `next`, none of which was SACKed, lost or sent again. The state
    /// of the first and the last segment stands for all, because they were sent one after another.
    fn note_in_sequence(&mut self, first: u64, next: u64, span: (u64, Segment), progress: &mut Progress) {
        let (oldest_sent_us, latest) = span;
        let is_recovering = first < self.recovery.end();
        progress.note_acknowledged(oldest_sent_us, is_recovering);
        progress.note_acknowledged(latest.sent_us, is_recovering);
        self.statistics.note_delivered(next - first, progress.congestion_echoed);
        self.note_last_delivered(next, &latest);
        progress.note_delivered(next - 1, &latest);
    }

    /// Tells RACK of the last segment delivered in sequence, `latest`, which is the one before `next`.
    #[inline]
    pub(super) fn note_last_delivered(&mut self, next: u64, latest: &Segment) {
        self.rack.deliver(self.clock.micros(), latest.sent(next - 1), false, self.rtt.minimum_us());
    }

    /// Takes round-trip samples from this acknowledgement. Returns whether there was one. (TCP-7)
    ///
    /// The first segment acknowledged feeds the timeout, the last one the minimum and the
    /// congestion control. Retransmitted segments give none (Karn), unless timestamps tell.
    fn take_round_trip(&mut self, progress: &mut Progress) -> bool {
        let now_us = self.clock.micros();
        let acked = progress.acked_sent_us.filter(|_| !progress.retransmission_acked);
        let first = acked.or(progress.sacked_sent_us).map(|(first, _)| now_us - first);
        let last = progress.sacked_sent_us.or(acked).map(|(_, last)| now_us - last);
        let Some((first, last)) = first.zip(last).or_else(|| self.echoed_round_trip(progress)) else {
            return false;
        };
        progress.rtt_us = Some(last);
        self.note_round_trips(first, last);
        true
    }

    /// Takes the round trips of the first and the last segment acknowledged, microseconds.
    #[inline]
    fn note_round_trips(&mut self, first_us: u64, last_us: u64) {
        self.rtt.note_minimum(last_us, &self.clock);
        self.rtt.sample(first_us, self.board.una(), self.board.next(), &self.clock);
        self.statistics.note_round_trip(first_us);
        self.watch_round_trip(last_us);
    }

    /// Tells the congestion control of a round trip, if it watches round trips.
    #[inline(always)]
    pub(super) fn watch_round_trip(&mut self, rtt_us: u64) {
        if self.congestion.watches_round_trips() {
            let view = self.view();
            self.congestion.on_round_trip(&mut self.window, rtt_us, &view);
        }
    }

    /// Returns the round trip that a timestamp echo gives, at millisecond resolution.
    fn echoed_round_trip(&self, progress: &Progress) -> Option<(u64, u64)> {
        let usable = progress.echo != 0 && progress.advanced;
        let millis = self.clock.millis().checked_sub(progress.echo).filter(|_| usable)?;
        let micros = u64::from(millis.max(1)) * 1_000;
        Some((micros, micros))
    }

    /// Grows the window, or follows the reduction that goes on. (TCP-11)
    fn control_window(&mut self, delivered: u32, lost: u64, progress: &Progress) {
        let forward = progress.advanced || (self.rack.reordering().is_large() && progress.data_sacked);
        if self.recovery.state().reduces_window() {
            self.reduce(delivered, lost, progress);
        } else if forward && delivered > 0 {
            self.grow_window(delivered);
        }
    }

    /// Grows the window after segments were delivered, while it may grow.
    #[inline(always)]
    pub(super) fn grow_window(&mut self, delivered: u32) {
        if self.congestion.grows_as_reno() {
            grow_as_reno(&mut self.window, delivered);
        } else {
            let view = self.view();
            self.congestion.grow(&mut self.window, delivered, &view);
        }
    }

    /// Adapts the reordering window. `before` is the low half of the number of deliveries when the latest delivered
    /// segment was sent.
    #[inline]
    pub(super) fn adapt_reordering_window(&mut self, before: u32) {
        let prior = self.delivered_before(before);
        if prior > 0 {
            self.rack.adapt(prior, self.statistics.segments_delivered);
        }
    }
}
