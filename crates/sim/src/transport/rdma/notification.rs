//! DCQCN's notification point: turns congestion marks into notification packets, at a limited rate.

use super::dcqcn::Dcqcn;
use lossylink_core::time::{Duration, Instant};

/// The receiving end of DCQCN: at most one notification an interval (RDMA-30).
#[derive(Clone, Copy, Debug)]
pub struct NotificationPoint {
    /// Interval between notifications; `None` without DCQCN.
    interval: Option<Duration>,
    /// The earliest time at which the next mark is answered.
    open_from: Instant,
    pending: bool,
}

impl NotificationPoint {
    /// Returns a notification point that answers marks by `dcqcn`, or never without it.
    pub const fn new(dcqcn: Option<&Dcqcn>) -> Self {
        let interval = match dcqcn {
            Some(dcqcn) => Some(dcqcn.notification_interval),
            None => None,
        };
        Self { interval, open_from: Instant::ZERO, pending: false }
    }

    /// Takes a packet that came in, marked or not.
    #[inline]
    pub fn note(&mut self, now: Instant, is_marked: bool) {
        let Some(interval) = self.interval else { return };
        if is_marked && now >= self.open_from {
            // RDMA-30
            self.open_from = now + interval;
            self.pending = true;
        }
    }

    /// Whether a notification is to be sent. Each notification is told once.
    #[inline]
    pub fn take(&mut self) -> bool {
        std::mem::take(&mut self.pending)
    }
}
