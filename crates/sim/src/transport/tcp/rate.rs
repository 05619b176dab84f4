//! Delivery-rate samples (draft-cheng-iccrg-delivery-rate-estimation; Linux `tcp_rate.c`): the
//! number of segments that arrived over the longer of the send and the acknowledgement phase of a
//! flight.

/// The state of deliveries when a segment was sent.
#[derive(Clone, Copy, Debug, Default)]
struct Stamp {
    /// The time when the flight that had been delivered by then was sent, microseconds.
    flight_sent_us: u64,
    /// The time when the last delivery before the segment was known, microseconds.
    delivered_us: u64,
    /// Whether the sender, not the network, limited the flight.
    limited: bool,
    /// Number of segments in flight with this one, and number declared lost before it.
    in_flight: u32,
    lost: u64,
}

/// The rate at which segments arrive by one acknowledgement.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RateSample {
    /// Number of segments delivered over the interval, and its length in microseconds; `None`
    /// without timing or if the interval is shorter than the minimum round trip.
    pub(super) delivery: Option<(u64, u64)>,
    /// Number of segments delivered in total when the segment was sent that was sent last of the
    /// delivered ones.
    pub(super) prior_delivered: u64,
    /// Number of segments in flight before the acknowledgement.
    pub(super) prior_in_flight: u32,
    /// Number of segments that the acknowledgement reported.
    pub(super) acknowledged: u32,
    /// Number of segments declared lost on the acknowledgement.
    pub(super) lost: u64,
    /// Number of segments declared lost since the segment left that was sent last of the delivered
    /// ones, and number in flight with that segment.
    pub(super) lost_since_sent: u64,
    pub(super) sent_in_flight: u32,
    /// The round-trip time of the last segment delivered, microseconds.
    pub(super) rtt_us: Option<u64>,
    /// Whether the probe for the minimum round trip, not the network, limited the flight.
    pub(super) limited: bool,
}

/// The segment that was sent last of those that an acknowledgement delivered.
#[derive(Clone, Copy, Debug)]
pub(super) struct LastSent {
    pub(super) number: u64,
    pub(super) sent_us: u64,
    /// Number of segments that had been delivered when this one was sent.
    pub(super) prior_delivered: u64,
}

/// Numbers of segments delivered and declared lost so far.
#[derive(Clone, Copy, Debug)]
pub(super) struct Totals {
    pub(super) delivered: u64,
    pub(super) lost: u64,
}

/// Stamps of all outstanding segments, in a ring by segment number.
#[derive(Clone, Debug, Default)]
pub(super) struct DeliveryRate {
    stamps: Vec<Stamp>,
    /// The time when the most recently delivered flight was sent, microseconds.
    flight_sent_us: u64,
    /// The time when the last delivery was known, microseconds.
    delivered_us: u64,
    /// The number of deliveries up to which the sender limits the rate: samples of segments sent
    /// before do not show the rate of the network.
    limited_until: Option<u64>,
}

impl DeliveryRate {
    /// Stamps a segment that leaves now while the segments `una .. next` are outstanding.
    ///
    /// With the segment `in_flight` segments are in flight, and `lost` were declared lost so far.
    pub(super) fn note_sent(
        &mut self,
        number: u64,
        (una, next): (u64, u64),
        in_flight: u32,
        lost: u64,
        now_us: u64,
    ) {
        if una == next {
            self.flight_sent_us = now_us;
            self.delivered_us = now_us;
        }
        self.make_room(una, next.max(number + 1));
        let slot = self.slot(number);
        self.stamps[slot] = Stamp {
            flight_sent_us: self.flight_sent_us,
            delivered_us: self.delivered_us,
            limited: self.limited_until.is_some(),
            in_flight,
            lost,
        };
    }

    /// Returns the sample of an acknowledgement after which `delivered` segments have arrived. Of
    /// the segments that it delivered, `last` was sent last. (BBR-1)
    pub(super) fn sample(
        &mut self,
        last: LastSent,
        totals: Totals,
        least_us: u64,
        now_us: u64,
    ) -> RateSample {
        let delivered = totals.delivered;
        if self.limited_until.is_some_and(|limit| delivered > limit) {
            self.limited_until = None;
        }
        let stamp = self.stamps[self.slot(last.number)];
        self.flight_sent_us = last.sent_us;
        self.delivered_us = now_us;
        let interval_us = (last.sent_us - stamp.flight_sent_us).max(now_us - stamp.delivered_us);
        let is_valid = interval_us >= least_us && interval_us > 0;
        RateSample {
            delivery: is_valid.then_some((delivered - last.prior_delivered, interval_us)),
            prior_delivered: last.prior_delivered,
            limited: stamp.limited,
            lost_since_sent: totals.lost.saturating_sub(stamp.lost),
            sent_in_flight: stamp.in_flight,
            ..RateSample::default()
        }
    }

    /// Marks samples as limited by the sender, not the network, until `delivered` segments have
    /// been delivered.
    pub(super) fn limit_until(&mut self, delivered: u64) {
        self.limited_until = Some(delivered.max(1));
    }

    fn slot(&self, number: u64) -> usize {
        number as usize & (self.stamps.len() - 1)
    }

    /// Doubles the ring until it holds all outstanding segments.
    fn make_room(&mut self, una: u64, next: u64) {
        let needed = (next - una) as usize;
        if needed <= self.stamps.len() {
            return;
        }
        let mut wide = vec![Stamp::default(); needed.next_power_of_two().max(32)];
        if !self.stamps.is_empty() {
            for number in una..next - 1 {
                wide[number as usize & (needed.next_power_of_two().max(32) - 1)] =
                    self.stamps[self.slot(number)];
            }
        }
        self.stamps = wide;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// BBR-1: ten segments a round trip of 100 us.
    #[test]
    fn a_steady_flight_shows_its_rate() {
        let mut rate = DeliveryRate::default();
        for number in 0..10 {
            rate.note_sent(number, (0, number), 1, 0, number);
        }
        let first = LastSent { number: 0, sent_us: 0, prior_delivered: 0 };
        assert_eq!(rate.sample(first, Totals { delivered: 1, lost: 0 }, 50, 100).delivery, Some((1, 100)));
        for number in 10..20 {
            rate.note_sent(number, (1, number), 1, 0, 100 + number - 10);
        }
        let next = LastSent { number: 10, sent_us: 100, prior_delivered: 1 };
        assert_eq!(rate.sample(next, Totals { delivered: 11, lost: 0 }, 50, 200).delivery, Some((10, 100)));
    }

    /// BBR-1
    #[test]
    fn an_interval_below_the_round_trip_is_no_sample() {
        let mut rate = DeliveryRate::default();
        rate.note_sent(0, (0, 0), 1, 0, 0);
        let last = LastSent { number: 0, sent_us: 0, prior_delivered: 0 };
        assert_eq!(rate.sample(last, Totals { delivered: 1, lost: 0 }, 101, 100).delivery, None);
    }
}
