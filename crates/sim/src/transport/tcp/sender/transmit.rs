//! The segments that leave, and their order (Linux `tcp_write_xmit` and
//! `tcp_xmit_retransmit_queue`).

use super::super::congestion::Algorithm;
use super::super::outgoing::Plan;
use super::super::packet::{Data, Packet};
use super::super::recovery_state::State;
use super::super::timers::SenderTimer;
use super::Sender;

impl Sender {
    /// Returns the next packet of the current plan. (TCP-18)
    #[inline]
    pub(super) fn next_planned(&mut self) -> Option<Packet> {
        loop {
            let (packet, then) = match self.outgoing.plan() {
                Plan::Idle => return None,
                Plan::Lost => (self.next_retransmission(), Plan::Idle),
                Plan::LostThenNew => (self.next_retransmission(), Plan::New),
                Plan::New => (self.next_new(), Plan::Idle),
                Plan::NewThenLost => (self.next_new(), self.after_new()),
            };
            if packet.is_some() {
                return packet;
            }
            self.outgoing.set_plan(then);
        }
    }

    /// Returns the plan after F-RTO could not send new segments: the loss was real, as far as
    /// anyone can tell.
    fn after_new(&mut self) -> Plan {
        let gives_up = self.recovery.gives_up_evidence(self.board.next());
        if gives_up { Plan::LostThenNew } else { Plan::Idle }
    }

    /// Returns the lowest lost segments that the window allows to be sent again. (TCP-19)
    fn next_retransmission(&mut self) -> Option<Packet> {
        let quota = self.window.size.saturating_sub(self.board.in_flight());
        if quota == 0 || self.pacing.holds_back(self.clock.now()) {
            return None;
        }
        let number = self.board.next_lost()?;
        let is_head = number == self.board.una();
        let before = self.statistics.retransmissions;
        let most = if self.bursts.are_on() { quota.min(self.burst_limit()) } else { 1 };
        let packet = self.retransmit(number, most);
        if self.recovery.state().reduces_window() {
            self.reduction.note_sent((self.statistics.retransmissions - before) as u32);
        }
        if is_head && !self.timer.is_reordering() {
            self.timer.arm(SenderTimer::RetransmissionTimeout, self.rtt.timeout(), &self.clock);
        }
        Some(packet)
    }

    /// Sends a segment again, and the lost segments behind it that fit the burst, `most` in all.
    pub(super) fn retransmit(&mut self, first: u64, most: u32) -> Packet {
        let (now_us, delivered) = (self.clock.micros(), self.statistics.segments_delivered);
        let mut count = 0;
        while count == 0 || (count < most && self.board.is_waiting(first + u64::from(count))) {
            self.stamp_rate(first + u64::from(count));
            self.board.resend(first + u64::from(count), now_us, delivered);
            self.undo.count_retransmission(self.clock.millis());
            count += 1;
        }
        self.statistics.retransmissions += u64::from(count);
        self.data_packet(first, count, true)
    }

    /// Sends the last outstanding segment again, as a probe.
    pub(super) fn repeat_last(&mut self) -> Packet {
        let last = self.board.next() - 1;
        self.stamp_rate(last);
        self.board.stamp_again(last, self.clock.micros(), self.statistics.segments_delivered);
        self.statistics.retransmissions += 1;
        self.data_packet(last, 1, true)
    }

    /// Returns new segments that the windows allow. (TCP-20)
    #[inline]
    fn next_new(&mut self) -> Option<Packet> {
        let quota = self.window.size.saturating_sub(self.board.in_flight());
        if quota == 0 || !self.has_new_data() || self.pacing.holds_back(self.clock.now()) {
            self.finish_new();
            return None;
        }
        let count = if self.bursts.are_on() { self.next_burst(quota) } else { 1 };
        if count == 0 {
            self.finish_new();
            return None;
        }
        if self.recovery.state().reduces_window() {
            self.reduction.note_sent(count);
        }
        self.outgoing.note_new();
        Some(self.send_new(count))
    }

    /// Returns the number of segments of the next packet when the window allows `quota`; zero while
    /// they wait for more.
    fn next_burst(&mut self, quota: u32) -> u32 {
        let (limit, window, now_us) = (self.burst_limit(), self.window.size, self.clock.micros());
        let age_us = self.board.head().map_or(0, |head| now_us - head.sent_us);
        let is_answer_near = age_us >= self.rtt.smoothed_us() / 2;
        if self.recovery.state() < State::Recovery
            && is_answer_near
            && self.bursts.wait_for_more(quota, limit, window, now_us)
        {
            return 0;
        }
        self.bursts.size(quota, limit, window, self.sendable(), self.board.next())
    }

    /// Returns the most segments of one packet now.
    fn burst_limit(&self) -> u32 {
        let unpaced = || self.view().pacing_rate(&self.window);
        let rate = self.congestion.pacing_rate().unwrap_or_else(unpaced);
        self.bursts.limit(rate, self.rtt.minimum_us())
    }

    /// Stamps a segment that is about to leave, if rates are sampled.
    #[inline]
    fn stamp_rate(&mut self, number: u64) {
        if self.congestion.models_path() {
            let outstanding = (self.board.una(), self.board.next());
            let in_flight = self.board.in_flight() + 1;
            let lost = self.statistics.segments_lost;
            self.rate.note_sent(number, outstanding, in_flight, lost, self.clock.micros());
        }
    }

    /// Ends a flight: notes whether the window limited it, and schedules a probe.
    pub(super) fn finish_new(&mut self) {
        let limited = self.bursts.take_waiting() || self.board.in_flight() >= self.window.size;
        let sent = self.outgoing.take_sent_new();
        if sent || limited {
            self.note_usage(limited);
        }
        let restarts = self.probe.take_restart();
        if (sent || restarts) && self.may_probe() {
            self.schedule_probe(!sent);
        }
    }

    /// Notes how much of the window is used. (TCP-47, TCP-48)
    #[inline]
    pub(super) fn note_usage(&mut self, limited: bool) {
        let (una, next, out) = (self.board.una(), self.board.next(), self.board.outstanding());
        self.window.note_usage(una, next, out, limited, self.clock.jiffies());
        self.decay_unused_window();
    }

    /// Whether the window might shrink because it was left unused. (TCP-48)
    #[cfg(feature = "fast")]
    pub(super) fn may_decay(&self) -> bool {
        !self.flow.is_endless() && self.window.is_stale(self.rtt.timeout(), self.clock.jiffies())
    }

    /// Shrinks a window that a finite flow left unused for a timeout. An endless flow always has
    /// more to send than the window holds.
    fn decay_unused_window(&mut self) {
        if !self.flow.is_endless() {
            let threshold = self.current_threshold();
            let (initial, timeout) = (self.config.initial_window, self.rtt.timeout());
            self.window.decay_unused(initial, threshold, timeout, self.clock.jiffies());
        }
    }

    /// Sends `count` new segments as one packet.
    #[inline]
    pub(super) fn send_new(&mut self, count: u32) -> Packet {
        let first = self.board.next();
        let nothing_was_out = self.board.outstanding() == 0;
        let (now_us, delivered) = (self.clock.micros(), self.statistics.segments_delivered);
        for _ in 0..count {
            self.stamp_rate(self.board.next());
            self.board.send_new(now_us, delivered);
        }
        // Where a probe may be scheduled, the end of the flight schedules it.
        if !self.may_probe() && (nothing_was_out || self.timer.is_probe()) {
            self.arm_retransmission_timer();
        }
        self.flow.note_sent(self.clock.now());
        self.data_packet(first, count, false)
    }

    /// Whether the flow has more data and the receiver accepts it.
    #[inline]
    pub(super) fn has_new_data(&self) -> bool {
        self.sendable() > 0
    }

    /// Returns the number of segments that flow and receive window still allow.
    #[inline]
    pub(super) fn sendable(&self) -> u64 {
        self.flow.sendable(self.board.una(), self.board.next())
    }

    #[inline]
    fn data_packet(&mut self, first: u64, count: u32, retransmission: bool) -> Packet {
        debug_assert!(count > 0, "a data packet carries data");
        self.statistics.segments_sent += u64::from(count);
        let payload = self.flow.bytes_of(count, first + u64::from(count));
        // TCP-51
        let reduced = !retransmission && self.reduction.take_announcement();
        self.bursts.note_sent(self.clock.micros());
        let (rate, sent) = (self.congestion.pacing_rate(), self.statistics.segments_sent);
        self.pacing.note_sent(self.clock.now(), payload, rate, sent);
        Packet::Data(Data {
            first,
            payload,
            segments: count as u16,
            retransmission,
            ecn_capable: self.congestion.counts_marks() || (self.config.ecn && !retransmission),
            window_reduced: reduced,
            timestamp: if self.config.timestamps { self.clock.millis() } else { 0 },
        })
    }
}
