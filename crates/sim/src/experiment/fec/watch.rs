//! Samples of a world while it runs: of its queue all the time, and a series of latency, window and
//! throughput.

use crate::Control;
use crate::measure::Delays;
use crate::net::Latency;
use lossylink_core::time::{Duration, Instant};

/// Time between two samples of the queue; the mean of the queue is over these samples. A shorter time would
/// stop the network before its places have run ahead of each other as far as they can.
const SAMPLE: Duration = Duration::from_us(50);
/// Rows of the series, unless each would be shorter than a sample.
const BINS: u64 = 1000;

/// A world in which one flow crosses the link.
pub(super) trait World {
    /// Runs everything up to and including `until`. Only the queue of the world is looked at before
    /// `counted_at`.
    fn run_until(&mut self, until: Instant, counted_at: Instant);

    /// Returns the bytes that wait in front of the link.
    fn waiting_bytes(&self) -> u64;

    /// Returns the times of packets across the link.
    fn delays(&self) -> &Delays;

    /// Returns the times of packets across the link by the fate of the packet, where the link tells it.
    fn latency(&self) -> Option<&Latency>;

    /// Returns the bytes that the receiving application got.
    fn received_bytes(&self) -> u64;

    /// Returns the congestion window; NaN without one.
    fn window(&self) -> f64;
}

/// One row of the series.
#[derive(Clone, Copy, Debug)]
struct Bin {
    end: Instant,
    latency_mean_us: f64,
    latency_smoothed_us: f64,
    intact_smoothed_us: f64,
    recovered_smoothed_us: f64,
    queue_bytes: f64,
    window: f64,
    gbps: f64,
}

/// Totals of the packets at an instant.
#[derive(Clone, Copy, Debug, Default)]
struct Totals {
    packets: u64,
    latency_us: f64,
    bytes: u64,
}

/// The samples of a world.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    /// Bytes in the queue, averaged over time.
    pub(super) queue_bytes_mean: f64,
    bins: Vec<Bin>,
}

impl Seen {
    /// Returns the columns of the series.
    pub(super) fn columns(&self) -> crate::Columns {
        let column = |name: &str, of: fn(&Bin) -> f64| (name.to_owned(), self.bins.iter().map(of).collect());
        vec![
            column("time_s", |bin| bin.end.as_secs_f64()),
            column("latency_us_mean", |bin| bin.latency_mean_us),
            column("latency_us_ewma", |bin| bin.latency_smoothed_us),
            column("latency_intact_us_ewma", |bin| bin.intact_smoothed_us),
            column("latency_recovered_us_ewma", |bin| bin.recovered_smoothed_us),
            column("queue_bytes", |bin| bin.queue_bytes),
            column("cwnd_packets", |bin| bin.window),
            column("throughput_gbps", |bin| bin.gbps),
        ]
    }
}

/// Runs `world` to `end`; `None` if the caller cancels the run.
pub(super) fn watch(world: &mut impl World, end: Instant, control: &Control) -> Option<Seen> {
    let samples = (end - Instant::ZERO).as_ps().div_ceil(SAMPLE.as_ps()).max(1);
    let each = samples.div_ceil(BINS);
    let (mut bins, mut before, mut queue_bytes) = (Vec::new(), Totals::default(), 0);
    for first in (0..samples).step_by(each as usize) {
        if control.is_cancelled() {
            return None;
        }
        let last = (first + each).min(samples);
        let bin_end = (Instant::ZERO + SAMPLE * last).min(end);
        let mut waiting_bytes = 0;
        for sample in first..last {
            if control.is_cancelled() {
                return None;
            }
            world.run_until((Instant::ZERO + SAMPLE * (sample + 1)).min(end), bin_end);
            waiting_bytes += world.waiting_bytes();
        }
        let span = SAMPLE * (last - first);
        let queue = waiting_bytes as f64 / (last - first) as f64;
        bins.push(end_bin(world, bin_end, span, queue, &mut before));
        queue_bytes += waiting_bytes;
    }
    Some(Seen { queue_bytes_mean: queue_bytes as f64 / samples as f64, bins })
}

fn end_bin(world: &impl World, end: Instant, span: Duration, queue_bytes: f64, before: &mut Totals) -> Bin {
    let (delays, parts) = (world.delays(), world.latency());
    let now = Totals { packets: delays.len(), latency_us: delays.sum_us(), bytes: world.received_bytes() };
    let bin = Bin {
        end,
        latency_mean_us: (now.latency_us - before.latency_us) / (now.packets - before.packets) as f64,
        latency_smoothed_us: delays.smoothed_us(),
        intact_smoothed_us: parts.map_or(f64::NAN, |parts| parts.intact().smoothed_us()),
        recovered_smoothed_us: parts.map_or(f64::NAN, |parts| parts.recovered().smoothed_us()),
        queue_bytes,
        window: world.window(),
        gbps: (now.bytes - before.bytes) as f64 * 8.0 / span.as_secs_f64() / 1e9,
    };
    *before = now;
    bin
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A queue that is full in the second half of each bin, and a packet of 1 us in every bin.
    struct Square {
        now: Instant,
        delays: Delays,
    }

    impl World for Square {
        fn run_until(&mut self, until: Instant, _counted_at: Instant) {
            self.now = until;
            if is_even(until) {
                self.delays.add(Duration::from_us(1));
            }
        }

        fn waiting_bytes(&self) -> u64 {
            if is_even(self.now) { 3000 } else { 1000 }
        }

        fn delays(&self) -> &Delays {
            &self.delays
        }

        fn latency(&self) -> Option<&Latency> {
            None
        }

        fn received_bytes(&self) -> u64 {
            self.delays.len() * 125_000
        }

        fn window(&self) -> f64 {
            f64::NAN
        }
    }

    fn is_even(at: Instant) -> bool {
        at.as_ps().is_multiple_of((SAMPLE * 2).as_ps())
    }

    #[test]
    fn a_series_has_a_thousand_rows_and_their_means() {
        let mut world = Square { now: Instant::ZERO, delays: Delays::default() };
        let end = Instant::ZERO + SAMPLE * 2 * BINS;
        let seen = watch(&mut world, end, &Control::default()).unwrap();
        assert_eq!((seen.bins.len(), seen.queue_bytes_mean), (1000, 2000.0));
        let last = seen.bins[999];
        assert_eq!((last.end, last.queue_bytes, last.latency_mean_us), (end, 2000.0, 1.0));
        assert!((last.gbps - 10.0).abs() < 1e-9);
    }
}
