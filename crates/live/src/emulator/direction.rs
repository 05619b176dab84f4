//! One direction of an emulated link: exact serialisation and propagation, and frames that corrupt.
//!
//! Times are computed, not read: a frame arrives at start + size / rate + propagation even when the
//! process woke up late, so lateness never adds up along a burst.

use lossylink_core::engine::report::Kind;
use lossylink_core::guard::Frame;
use lossylink_core::loss::{LossModel, LossProcess};
use lossylink_core::rng::Streams;
use lossylink_core::time::{Duration, Instant};
use lossylink_core::units::{BitRate, Bytes};
use lossylink_core::wire::ethernet::{EtherType, EthernetHeader};
use lossylink_core::wire::{FCS, padded, wire_octets};
use serde::Serialize;
use std::collections::VecDeque;

/// Offset of the protocol of the payload in an IPv4 header.
const IP_PROTOCOL: usize = 9;
/// The protocol number of TCP.
const TCP: u8 = 6;
/// Offset of the header's own length in a TCP header, and that of its flags.
const TCP_OFFSET: usize = 12;
const TCP_FLAGS: usize = 13;
const SYN: u8 = 0x02;
const FIN: u8 = 0x01;

/// Counters of one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DirectionCounters {
    /// Frames that began to be sent.
    pub frames_offered: u64,
    /// Bytes of those frames, without FCS.
    pub bytes_offered: u64,
    /// Frames that the loss model corrupted.
    pub frames_lost: u64,
    /// Lost frames that TCP must send again: with data, SYN or FIN, and not wrapped by a guard.
    pub segments_lost: u64,
    /// Frames that arrived.
    pub frames_delivered: u64,
    /// The longest frame seen, without FCS.
    pub longest_frame_bytes: u64,
}

impl DirectionCounters {
    /// The help texts of the counters.
    pub(crate) const HELP: [(&str, Kind, &str); 6] = [
        ("frames_offered", Kind::Count, "Frames that began to be sent."),
        ("bytes_offered", Kind::Count, "Bytes of those frames, without FCS."),
        ("frames_lost", Kind::Count, "Frames that the loss model corrupted."),
        ("segments_lost", Kind::Count, "Of those, segments that TCP must send again."),
        ("frames_delivered", Kind::Count, "Frames that arrived."),
        ("longest_frame_bytes", Kind::Level, "The longest frame seen, without FCS."),
    ];
}

/// A frame on the wire.
#[derive(Debug)]
struct Flying {
    arrival: Instant,
    frame: Frame,
}

/// One direction of a link.
#[derive(Debug)]
pub struct Direction {
    rate: BitRate,
    propagation: Duration,
    loss: LossProcess,
    free_from: Instant,
    sending: bool,
    flying: VecDeque<Flying>,
    counters: DirectionCounters,
}

impl Direction {
    /// Builds an idle direction.
    pub fn new(rate: BitRate, propagation: Duration, loss: LossProcess) -> Self {
        Self {
            rate,
            propagation,
            loss,
            free_from: Instant::ZERO,
            sending: false,
            flying: VecDeque::new(),
            counters: DirectionCounters::default(),
        }
    }

    /// Sets another loss model from now on.
    pub fn set_loss(&mut self, model: &LossModel, streams: &Streams, name: &str) {
        self.loss = LossProcess::on_line(model, self.rate, streams.stream(name));
    }

    /// Whether the transmitter is free.
    pub fn is_idle(&self) -> bool {
        !self.sending
    }

    /// Starts to send a frame; hands it back if it will be corrupted.
    ///
    /// # Panics
    /// While another frame is being sent.
    pub fn start(&mut self, now: Instant, frame: Frame) -> Option<Frame> {
        assert!(!self.sending, "a transmitter sends one frame at a time");
        let bytes = frame.len() as u64;
        self.free_from = now + wire_octets(Bytes(bytes)) / self.rate;
        self.sending = true;
        self.counters.frames_offered += 1;
        self.counters.bytes_offered += bytes;
        self.counters.longest_frame_bytes = self.counters.longest_frame_bytes.max(bytes);
        // A flipped bit in the padding or in the FCS corrupts the frame as well.
        if self.loss.is_lost_at(now, (padded(Bytes(bytes)) + FCS).0 as u32) {
            self.counters.frames_lost += 1;
            self.counters.segments_lost += u64::from(must_be_sent_again(&frame));
            return Some(frame);
        }
        self.flying.push_back(Flying { arrival: self.free_from + self.propagation, frame });
        None
    }

    /// Returns when the next event is due: the transmitter becomes free, or a frame arrives.
    pub fn next_event(&self) -> Instant {
        let free = if self.sending { self.free_from } else { Instant::NEVER };
        self.flying.front().map_or(free, |flying| flying.arrival.min(free))
    }

    /// Frees the transmitter when its frame has left; `true` if it did.
    pub fn finish_sending(&mut self, now: Instant) -> bool {
        let finished = self.sending && self.free_from <= now;
        self.sending &= !finished;
        finished
    }

    /// Takes the next frame that has arrived.
    pub fn arrive(&mut self, now: Instant) -> Option<Frame> {
        let due = self.flying.front().is_some_and(|flying| flying.arrival <= now);
        let flying = if due { self.flying.pop_front()? } else { return None };
        self.counters.frames_delivered += 1;
        Some(flying.frame)
    }

    /// Returns the counters so far.
    pub fn counters(&self) -> DirectionCounters {
        self.counters
    }
}

/// Whether the frame is an IPv4 TCP segment that takes sequence numbers, so that TCP must repair its loss; an
/// ACK alone is covered by the next ACK.
fn must_be_sent_again(frame: &[u8]) -> bool {
    segment_length(frame).is_some_and(|length| length > 0)
}

/// Returns how many sequence numbers an IPv4 TCP segment takes: its data, SYN and FIN.
fn segment_length(frame: &[u8]) -> Option<usize> {
    let (ethernet, packet) = EthernetHeader::parse(frame).ok()?;
    if ethernet.ethertype != EtherType::IPV4 || *packet.get(IP_PROTOCOL)? != TCP {
        return None;
    }
    let ip_header = usize::from(packet[0] & 0x0f) * 4;
    let total = usize::from(u16::from_be_bytes([packet[2], packet[3]]));
    let tcp_header = usize::from(packet.get(ip_header + TCP_OFFSET)? >> 4) * 4;
    let flags = packet.get(ip_header + TCP_FLAGS)?;
    let data = total.checked_sub(ip_header + tcp_header)?;
    Some(data + usize::from(flags & (SYN | FIN) != 0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use lossylink_core::loss::{Code, PhySettings};

    #[test]
    fn only_segments_that_take_numbers_must_be_sent_again() {
        let mut frame = vec![0; 14 + 40];
        frame[12..14].copy_from_slice(&[0x08, 0x00]);
        frame[14..18].copy_from_slice(&[0x45, 0, 0, 40]);
        frame[23] = TCP;
        frame[14 + 20 + TCP_OFFSET] = 5 << 4;
        assert!(!must_be_sent_again(&frame));
        frame[14 + 20 + TCP_FLAGS] = SYN;
        assert!(must_be_sent_again(&frame));
        frame[14 + 20 + TCP_FLAGS] = 0;
        frame[17] = 41;
        assert!(must_be_sent_again(&frame));
        for length in 0..frame.len() - 7 {
            assert!(!must_be_sent_again(&frame[..length]), "{length}");
        }
    }

    fn direction(model: LossModel) -> Direction {
        let process = LossProcess::new(&model, Streams::new(1).stream("test"));
        Direction::new(BitRate::from_gbps(1), Duration::from_us(100), process)
    }

    #[test]
    fn a_full_frame_takes_1538_octets_and_the_propagation() {
        let mut link = direction(LossModel::None);
        assert_eq!(link.start(Instant::ZERO, vec![0; 1514]), None);
        let serialised = Instant::from_ps(12_304_000);
        assert_eq!(link.next_event(), serialised);
        assert!(link.finish_sending(serialised));
        let arrival = serialised + Duration::from_us(100);
        assert_eq!(link.next_event(), arrival);
        assert_eq!(link.arrive(arrival - Duration::from_ps(1)), None);
        assert_eq!(link.arrive(arrival).map(|frame| frame.len()), Some(1514));
        assert!(link.next_event().is_never());
    }

    #[test]
    fn a_short_frame_takes_84_octets() {
        let mut link = direction(LossModel::None);
        link.start(Instant::ZERO, vec![0; 20]);
        assert_eq!(link.next_event(), Instant::from_ps(672_000));
    }

    #[test]
    fn a_corrupted_frame_takes_its_time_and_comes_back() {
        let mut link = direction(LossModel::at(vec![0]).unwrap());
        assert_eq!(link.start(Instant::ZERO, vec![7; 60]), Some(vec![7; 60]));
        assert!(!link.is_idle());
        assert!(link.finish_sending(link.next_event()));
        assert!(link.next_event().is_never());
        assert_eq!((link.counters().frames_lost, link.counters().frames_delivered), (1, 0));
    }

    /// The code of a line goes by the line's octets, so it has to know the line's rate.
    #[test]
    fn a_line_loses_frames_by_its_code() {
        let line = |bit_error_ratio| {
            let settings = PhySettings {
                code: Code::RS272,
                bit_error_ratio,
                interleaved: 1,
                repeat: 0.0,
                is_precoded: false,
                lanes: 1,
                line_bits: 2,
            };
            LossModel::phy(settings).unwrap()
        };
        let mut link = direction(LossModel::None);
        let lost_of = |model: &LossModel, link: &mut Direction| {
            link.set_loss(model, &Streams::new(2), "test");
            let mut lost = 0;
            for _ in 0..2_000 {
                lost += u32::from(link.start(link.free_from, vec![0; 1514]).is_some());
                assert!(link.finish_sending(link.free_from));
            }
            lost
        };
        assert_eq!(lost_of(&line(1e-6), &mut link), 0);
        assert_eq!(lost_of(&line(0.1), &mut link), 2_000);
        // One full frame in 27, five standard deviations of bursts of 1.24 frames around it.
        assert!((20..130).contains(&lost_of(&line(1e-3), &mut link)));
    }
}
