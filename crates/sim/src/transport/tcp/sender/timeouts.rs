//! The sender's reactions when a timer fires, and the arming of timers.

use super::super::outgoing::Plan;
use super::super::probe::{Content, Probe};
use super::super::progress::Progress;
use super::super::recovery_state::State;
use super::super::timers::SenderTimer;
use super::Sender;

impl Sender {
    /// Restarts the timer after progress: a probe if the state permits one, else the timeout.
    /// (TCP-8)
    pub(super) fn restart_timer(&mut self) {
        if self.may_probe() {
            self.probe.restart();
        } else {
            self.arm_retransmission_timer();
        }
    }

    /// Arms the retransmission timeout, or disarms the timer without data outstanding. (TCP-8)
    pub(super) fn arm_retransmission_timer(&mut self) {
        let head_sent_us = self.board.head().map(|head| head.sent_us);
        self.timer.restart_timeout(head_sent_us, &self.rtt, &self.clock);
    }

    /// Whether a probe may be scheduled now.
    pub(super) fn may_probe(&self) -> bool {
        Probe::is_allowed(self.recovery.state(), self.board.outstanding())
    }

    /// Arms the probe timer. With `advancing` the timeout restarts now, otherwise it runs from the
    /// first outstanding segment. (TCP-27)
    pub(super) fn schedule_probe(&mut self, advancing: bool) {
        let head_sent_us = if advancing { None } else { self.board.head().map(|head| head.sent_us) };
        let wait = Probe::wait(self.board.outstanding(), head_sent_us, &self.rtt, &self.clock);
        self.timer.arm(SenderTimer::LossProbe, wait, &self.clock);
    }

    /// Sends the probe, after which the timeout runs from now. (TCP-28)
    pub(super) fn handle_probe_timer(&mut self) {
        if self.board.outstanding() > 0
            && let Some(content) = self.probe.due(self.has_new_data())
        {
            let packet = match content {
                Content::New => self.send_new(1),
                Content::Last => self.repeat_last(),
            };
            self.outgoing.put(packet);
            self.probe.note_sent(content, self.board.next());
            self.statistics.loss_probes += 1;
            self.timer.disarm();
        }
        self.arm_retransmission_timer();
    }

    /// Handles the expiry of the retransmission timeout. (TCP-32)
    pub(super) fn handle_retransmission_timer(&mut self) {
        self.timer.disarm();
        if self.board.outstanding() == 0 {
            return;
        }
        self.statistics.timeouts += 1;
        self.probe.forget();
        self.enter_loss();
        let packet = self.retransmit(self.board.una(), 1);
        self.outgoing.put(packet);
        self.rtt.back_off(&self.clock);
        self.timer.arm(SenderTimer::RetransmissionTimeout, self.rtt.timeout(), &self.clock);
    }

    fn enter_loss(&mut self) {
        let state = self.recovery.state();
        self.mark_timed_out();
        self.reduce_on_timeout();
        if state <= State::Disorder {
            self.rack.reordering_mut().limit(self.board.sacked());
        }
        self.set_state(State::Loss);
        self.recovery.note_timeout(state, self.board.next());
        self.reduction.announce(self.config.uses_ecn());
    }

    /// Handles the end of the reordering window of a segment. (TCP-25)
    pub(super) fn handle_reordering_timer(&mut self) {
        let in_flight = self.board.in_flight();
        let lost_before = self.statistics.segments_lost;
        self.mark_overtaken();
        if self.board.in_flight() != in_flight {
            if self.recovery.state() != State::Recovery {
                self.statistics.reordering_timer_recoveries += 1;
                self.enter_recovery(false);
                let lost = self.statistics.segments_lost - lost_before;
                self.reduce(1, lost, &Progress::default());
            }
            self.outgoing.set_plan(Plan::Lost);
        }
        if !self.timer.is_timeout() {
            self.arm_retransmission_timer();
        }
    }

    /// Takes from an acknowledgement of `next` its answer to the probe: a loss that the probe
    /// repaired costs a reduction. (TCP-29)
    pub(super) fn take_probe_answer(&mut self, next: u64, progress: &Progress) {
        if self.probe.take_answer(next, progress) {
            self.begin_reduction();
            self.set_state(State::Reduced);
            self.end_reduction();
            self.keep_open();
            self.statistics.loss_probe_recoveries += 1;
        }
    }
}
