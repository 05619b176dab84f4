//! The bins of a time line: the rate, the buffers and the retransmissions of the link and the flows in each.

use super::switching::Switching;
use crate::Columns;
use crate::net::{Payload, ProtectedLink};
use lossylink_core::time::Instant;

/// One bin of a time line.
#[derive(Clone, Copy, Debug)]
struct Bin {
    start: Instant,
    send_gbps: f64,
    queue_bytes: u64,
    rx_buffer_bytes: u64,
    retransmissions: u64,
    /// The share of the bin in which the link was protected, from 0 to 1.
    protected: f64,
    /// Copies of each retransmission at the end of the bin; `None` if the protection is off or sends no
    /// copies.
    copies: Option<u64>,
}

/// Totals at the start of the bin in progress.
#[derive(Clone, Copy, Debug, Default)]
struct Totals {
    data_octets: u64,
    retransmissions: u64,
}

impl Totals {
    fn of<P: Payload>(link: &impl ProtectedLink<P>, retransmissions: u64) -> Self {
        Self { data_octets: link.traffic().data_octets, retransmissions }
    }
}

/// The bins that are complete, and the start of the one in progress.
#[derive(Debug)]
pub(super) struct Bins {
    complete: Vec<Bin>,
    begin: Instant,
    start: Instant,
    before: Totals,
}

impl Bins {
    /// Begins the first bin at `now`, on a link that has not carried the traffic that is counted.
    pub(super) fn new<P: Payload>(now: Instant, link: &impl ProtectedLink<P>) -> Self {
        Self { complete: Vec::new(), begin: now, start: now, before: Totals::of(link, 0) }
    }

    /// Returns when the bin in progress began.
    pub(super) const fn start(&self) -> Instant {
        self.start
    }

    /// Ends the bin in progress at `now`; the hosts have sent `retransmissions` segments again since the
    /// begin of the time line.
    pub(super) fn close<P: Payload>(
        &mut self,
        now: Instant,
        link: &mut impl ProtectedLink<P>,
        switching: &mut Switching,
        retransmissions: u64,
    ) {
        let totals = Totals::of(link, retransmissions);
        let width = now - self.start;
        let octets = totals.data_octets - self.before.data_octets;
        self.complete.push(Bin {
            start: self.start,
            send_gbps: octets as f64 * 8.0 / width.as_secs_f64() / 1e9,
            queue_bytes: link.queue().high_water_bytes(),
            rx_buffer_bytes: link.take_rx_high_water(now),
            retransmissions: totals.retransmissions - self.before.retransmissions,
            protected: switching.take_protected_time(now).as_secs_f64() / width.as_secs_f64(),
            copies: link.report(now).count("copies").filter(|_| switching.is_on()),
        });
        link.queue_mut().reset_high_water();
        (self.start, self.before) = (now, totals);
    }

    /// Returns the table of the bins, column by column; its times count from the begin of the time line.
    pub(super) fn columns(&self) -> Columns {
        let column =
            |name: &str, of: &dyn Fn(&Bin) -> f64| (name.to_owned(), self.complete.iter().map(of).collect());
        vec![
            column("time_s", &|bin| (bin.start - self.begin).as_secs_f64()),
            column("send_gbps", &|bin| bin.send_gbps),
            column("queue_kb", &|bin| bin.queue_bytes as f64 / 1e3),
            column("rx_buffer_kb", &|bin| bin.rx_buffer_bytes as f64 / 1e3),
            column("retransmissions", &|bin| bin.retransmissions as f64),
            column("protected", &|bin| bin.protected),
            column("copies", &|bin| bin.copies.unwrap_or(0) as f64),
        ]
    }
}
