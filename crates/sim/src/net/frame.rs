//! A frame as the simulator sees it: the time for which it occupies a link, and its payload.

use super::Payload;
use crate::kernel::Member;
use lossylink_core::time::Duration;
use lossylink_core::units::{BitRate, Bytes};

/// Preamble, start delimiter and inter-frame gap, in octets (IEEE 802.3).
pub const GAP_OCTETS: u32 = 20;
/// Frame check sequence, in octets.
pub const FCS_OCTETS: u32 = 4;
/// A minimum frame on the wire: 64 B and the gap. Dummies, explicit ACKs, loss notifications and
/// pause frames are of this size.
pub const MINIMUM_OCTETS: u32 = 64 + GAP_OCTETS;
/// The largest usual frame on the wire, with preamble, gap and check sequence.
pub const USUAL_OCTETS: u32 = 1538;
/// Octets of the Ethernet header.
pub const ETHERNET_OCTETS: u32 = 14;

/// The explicit congestion notification field of a packet (RFC 3168). The field is as wide as its neighbour in a [`Frame`],
/// because a frame without padding is copied in whole words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u32)]
pub enum Ecn {
    /// Not capable: never marked.
    #[default]
    NotCapable,
    /// Capable and not marked.
    Capable,
    /// Marked: congestion was experienced.
    Experienced,
}

/// A frame with its size on the wire and a payload that the network does not look into.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Frame<P> {
    /// Size on the wire in octets: Ethernet frame, check sequence, preamble and gap.
    pub octets: u32,
    /// Congestion marking.
    pub ecn: Ecn,
    /// The payload, which the end hosts read.
    pub payload: P,
}

impl<P> Frame<P> {
    /// Builds a frame of `frame_bytes` (Ethernet header and payload, no check sequence), padded to the minimum size.
    pub const fn of_frame_bytes(frame_bytes: u32, ecn: Ecn, payload: P) -> Self {
        let octets = frame_bytes + FCS_OCTETS + GAP_OCTETS;
        Self { octets: if octets < MINIMUM_OCTETS { MINIMUM_OCTETS } else { octets }, ecn, payload }
    }

    /// Builds a frame that carries an IP packet of `ip_bytes`.
    pub const fn of_ip_bytes(ip_bytes: u32, ecn: Ecn, payload: P) -> Self {
        Self::of_frame_bytes(ip_bytes + ETHERNET_OCTETS, ecn, payload)
    }

    /// Returns the bytes of the frame with its check sequence, without preamble and gap.
    pub const fn frame_bytes_with_fcs(&self) -> u32 {
        self.octets - GAP_OCTETS
    }
}

impl<P: Payload> Member for Frame<P> {
    #[inline]
    fn distance(&self, next: &Self, count: u32) -> Option<u32> {
        let is_alike = (self.octets, self.ecn) == (next.octets, next.ecn);
        if is_alike { self.payload.distance(&next.payload, count) } else { None }
    }

    #[inline]
    fn follow(&mut self, count: u32, step: u32) {
        self.payload.follow(count, step);
    }
}

/// A line rate that serialises frames without a division when the rate allows it.
#[derive(Clone, Copy, Debug)]
pub struct LineRate {
    rate: BitRate,
    /// Picoseconds in an octet if that is a whole number, else zero.
    ps_per_octet: u64,
}

impl LineRate {
    /// Builds the line rate of `rate`.
    pub fn new(rate: BitRate) -> Self {
        let octet = Bytes(1) / rate;
        let is_exact = rate * octet == Bytes(1);
        Self { rate, ps_per_octet: if is_exact { octet.as_ps() } else { 0 } }
    }

    /// Returns the rate in bits per second.
    pub const fn bit_rate(self) -> BitRate {
        self.rate
    }

    /// Returns how long `octets` occupy the line.
    #[inline]
    pub fn serialisation(self, octets: u32) -> Duration {
        if self.ps_per_octet > 0 {
            Duration::from_ps(u64::from(octets) * self.ps_per_octet)
        } else {
            self.divide(octets)
        }
    }

    /// Divides, for the rates at which an octet is no whole number of picoseconds; apart, so that other rates do not pay for it.
    #[cold]
    #[inline(never)]
    fn divide(self, octets: u32) -> Duration {
        Bytes(u64::from(octets)) / self.rate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_frame_is_1538_octets_and_a_short_one_is_padded() {
        assert_eq!(Frame::of_frame_bytes(1514, Ecn::NotCapable, ()).octets, 1538);
        assert_eq!(Frame::of_ip_bytes(1500, Ecn::NotCapable, ()).octets, 1538);
        assert_eq!(Frame::of_ip_bytes(40, Ecn::NotCapable, ()).octets, MINIMUM_OCTETS);
    }

    #[test]
    fn line_rates_agree_with_the_division() {
        for bps in [10_000_000_000, 100_000_000_000, 3_000_000_000, 123_456_789, 25_000_000_000] {
            let rate = BitRate::from_bps(bps);
            for octets in [84, 1538, 1541, 9038] {
                assert_eq!(LineRate::new(rate).serialisation(octets), Bytes(u64::from(octets)) / rate);
            }
        }
    }
}
