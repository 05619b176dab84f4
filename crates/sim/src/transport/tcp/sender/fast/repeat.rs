//! Full new segments that leave one behind another: equal to poll by poll, without the work that only matters when
//! another event happens between them.

use crate::kernel::Train;
use crate::transport::tcp::Sender;
use crate::transport::tcp::congestion::Algorithm;
use crate::transport::tcp::outgoing::Plan;
use crate::transport::tcp::packet::{Data, Packet};
use crate::transport::tcp::recovery_state::State;
use lossylink_core::time::{Duration, Instant};

impl Sender {
    /// Sends the new segments that leave right behind `packet`, which was polled last, each of them full: at the same
    /// instant, or as the stack hands them down, up to and including `horizon`. Returns their number and their distance.
    /// (TCP-20, TCP-61)
    ///
    /// Up to `horizon` the driver hands nothing else to this sender. The driver polls on at the instant of the last
    /// segment.
    #[inline]
    pub fn repeat(&mut self, packet: &Packet, horizon: Instant) -> (u32, Duration) {
        let may_leave = self.window.size > self.board.in_flight() && self.pacing.free_at() <= horizon;
        match packet {
            Packet::Data(data) if may_leave && self.may_repeat(data) => {
                self.repeat_some(data.payload, horizon)
            }
            _ => (0, Duration::ZERO),
        }
    }

    #[inline(never)]
    fn repeat_some(&mut self, payload: u32, horizon: Instant) -> (u32, Duration) {
        let most = u64::from(self.window.size - self.board.in_flight());
        let most = most.min(self.flow.sendable_in_full(self.board.una(), self.board.next())) as u32;
        match self.pacing.stack_span(payload) {
            None => (self.repeat_at_once(most), Duration::ZERO),
            // A span below a tick: the timers of repair, which each segment puts off, do not fire in between.
            Some(span) if span < self.config.tick => (self.repeat_paced(most, span, horizon), span),
            Some(_) => (0, Duration::ZERO),
        }
    }

    /// Whether the next segment is like this one, as far as windows allow it.
    fn may_repeat(&self, data: &Data) -> bool {
        let is_full_and_new = data.payload == self.flow.payload() && !data.retransmission;
        is_full_and_new
            && self.outgoing.plan() == Plan::New
            && self.recovery.state() == State::Open
            && self.board.lost() == 0
            && !(data.window_reduced || self.bursts.are_on() || self.config.timestamps)
            && !self.congestion.models_path()
            && self.congestion.pacing_rate().is_none()
    }

    fn repeat_at_once(&mut self, count: u32) -> u32 {
        if self.pacing.free_at() > self.clock.now() {
            return 0;
        }
        self.send_full(count);
        count
    }

    /// Sends full new segments now, one behind another.
    #[inline]
    pub(super) fn send_full(&mut self, count: u32) {
        let (now_us, delivered) = (self.clock.micros(), self.statistics.segments_delivered);
        for _ in 0..count {
            self.board.send_new(now_us, delivered);
        }
        self.statistics.segments_sent += u64::from(count);
    }

    /// Sends the segments that the pacing timer would send by `horizon`.
    fn repeat_paced(&mut self, most: u32, span: Duration, horizon: Instant) -> u32 {
        let (before_us, delivered) = (self.clock.micros(), self.statistics.segments_delivered);
        let mut count = 0;
        while count < most && !self.may_decay() {
            let first = self.clock.now() + span;
            let train = Train { spacing: span, count: most - count, ..Train::of_one(first) };
            let due = train.come_by(horizon);
            if due == 0 {
                break;
            }
            // Of the segments that leave before the next tick, the last one tells how much of the window is used.
            let train = train.up_to(self.clock.within_tick(train.up_to(due)).max(1));
            self.note_usage_before(train.count - 1);
            self.board.send_train(train, delivered);
            self.clock.refresh(train.last());
            count += train.count;
        }
        if count > 0 {
            self.statistics.note_window(self.window.size, self.clock.micros() - before_us);
            self.statistics.segments_sent += u64::from(count);
            self.outgoing.note_new();
            self.bursts.note_sent(self.clock.micros());
            self.pacing.note_repeated(self.clock.now(), span);
        }
        count
    }

    /// Notes how much of the window is used once `count` segments more have left, before another leaves. The window
    /// limits none of them, nor was it unused for long. (TCP-47)
    fn note_usage_before(&mut self, count: u32) {
        let (next, out) = (self.board.next() + u64::from(count), self.board.outstanding() + count);
        self.window.note_usage(self.board.una(), next, out, false, self.clock.jiffies());
    }
}
