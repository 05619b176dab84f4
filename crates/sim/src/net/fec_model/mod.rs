//! The switch model of Wharf's evaluation: real packets and real time, but no coding.
//!
//! ```text
//!  offer -> [encoder: clones the last packet h times] -> [queue] -> [marks with p] == wire ==>
//!        [decoder: marked packets circulate until their block ends] -> delivered
//! ```
//!
//! Source: the evaluation of "In-network computing to the rescue of faulty links" on two Tofino
//! switches. A marked packet stands for a lost one: it uses the wire, and waits in recirculation
//! until its block has ended. If at least k of the packets of the block came unmarked it goes on,
//! else it is dropped. Packets that the queue dropped cannot come back (FEC-25).

mod decoder;
mod options;
#[cfg(test)]
mod tests;

pub use options::{BlockEnd, FecModelOptions, ParitySize};

use super::fec::Latency;
use super::fec::port::{Line, Port};
use super::linkguardian::timing::queue_limits;
use super::queue::QueueLimits;
use super::wire::Kind;
use super::{Ecn, Frame, FrameQueue, LineRate, ProtectedLink, Traffic, Wire};
use crate::config::SwitchProfile;
use crate::kernel::Pipe;
use decoder::ModelDecoder;
use lossylink_core::engine::fec::Code;
use lossylink_core::loss::LossProcess;
use lossylink_core::time::{Duration, Instant};
use lossylink_core::units::BitRate;
use lossylink_core::wire::fec::FecHeader;

/// Octets of Wharf's header, as long as ours.
const HEADER_OCTETS: u32 = FecHeader::DATA_OVERHEAD.0 as u32;
/// Period of the series of latencies.
const LATENCY_PERIOD: Duration = Duration::from_ms(1);

/// Counters of the model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FecModelCounters {
    /// Blocks closed by the encoder.
    pub blocks: u64,
    /// Parity packets made.
    pub parity: u64,
    /// Data packets for which the queue had no room.
    pub data_dropped: u64,
    /// Parity packets for which the queue had no room.
    pub parity_dropped: u64,
    /// Marked data packets that were let go when their block ended.
    pub recovered: u64,
    /// Marked data packets that were dropped.
    pub unrecovered: u64,
}

/// What the header says of a packet, and when it came to the encoder.
#[derive(Clone, Copy, Debug, Default)]
struct Tag {
    entered: Instant,
    block: u64,
    /// 0 to k - 1 for data, from k on for parity.
    index: u8,
    /// Data packets of the block, once it is closed; else the code's k.
    size: u8,
    rows: u8,
}

impl Tag {
    const fn is_data(&self) -> bool {
        self.index < self.size
    }

    /// Packets of a code without parity carry no header (FEC-1).
    const fn header_octets(&self) -> u32 {
        if self.rows == 0 { 0 } else { HEADER_OCTETS }
    }

    const fn is_last(&self) -> bool {
        self.index + 1 == self.size + self.rows
    }
}

/// A packet at the far end of the wire.
#[derive(Clone, Copy, Debug, Default)]
struct Arrival<P> {
    tag: Tag,
    frame: Frame<P>,
    is_marked: bool,
}

/// The wire, and what is under way on it.
#[derive(Clone, Debug)]
struct ForwardLine<P: Copy + Default> {
    wire: Wire,
    flight: Duration,
    arrivals: Pipe<Arrival<P>>,
}

impl<P: Copy + Default> Line<P, Tag> for ForwardLine<P> {
    #[inline]
    fn send(&mut self, end: Instant, tag: Tag, frame: Frame<P>) {
        let header_octets = tag.header_octets();
        let kind = if tag.is_data() { Kind::Data { header_octets } } else { Kind::Parity };
        let is_marked = !self.wire.carry(frame.octets, kind);
        if is_marked && tag.rows == 0 {
            return;
        }
        self.arrivals.push(end + self.flight, Arrival { tag, frame, is_marked });
    }
}

/// A link with the switch model in its forward direction.
#[derive(Clone, Debug)]
pub struct FecModelLink<P: Copy + Default> {
    rate: LineRate,
    /// When the link next does something by itself.
    due: Instant,
    options: FecModelOptions,
    next_code: Code,
    /// The encoder's registers: block, packet index, and the length of the longest packet.
    block: u64,
    index: u8,
    longest_octets: u32,
    flush_at: Instant,
    port: Port<P, Tag>,
    line: ForwardLine<P>,
    decoder: ModelDecoder<P>,
    delivered: Pipe<Frame<P>>,
    reverse: Wire,
    reverse_busy_until: Instant,
    returned: Pipe<Frame<P>>,
    latency: Latency,
    counters: FecModelCounters,
}

impl<P: Copy + Default> FecModelLink<P> {
    /// A link at `rate` between two switches of `profile`, with these losses in its directions.
    pub fn new(
        profile: &SwitchProfile,
        rate: LineRate,
        propagation: Duration,
        options: &FecModelOptions,
        losses: (LossProcess, LossProcess),
    ) -> Self {
        let flight = Duration::from_ns_f64(profile.data_pipeline_ns) + propagation;
        let recirculation = BitRate::from_bps(profile.recirculation_bps.max(rate.bit_rate().as_bps()));
        let limits = QueueLimits { header_bytes: 0, ..queue_limits(profile) };
        let rounds = if profile.recirculates && options.recirculates {
            Duration::from_ns_f64(profile.rx_loop_fixed_ns)
        } else {
            Duration::ZERO
        };
        Self {
            rate,
            due: Instant::NEVER,
            options: *options,
            next_code: options.code,
            block: 0,
            index: 0,
            longest_octets: 0,
            flush_at: Instant::NEVER,
            port: Port::new(rate, limits, options.data_first),
            line: ForwardLine { wire: Wire::new(losses.0), flight, arrivals: Pipe::new() },
            decoder: ModelDecoder::new(options.block_end, recirculation, rounds),
            delivered: Pipe::new(),
            reverse: Wire::new(losses.1),
            reverse_busy_until: Instant::ZERO,
            returned: Pipe::new(),
            latency: Latency::new(LATENCY_PERIOD),
            counters: FecModelCounters::default(),
        }
    }

    /// Counts of what happened so far.
    pub fn counters(&self) -> FecModelCounters {
        let (recovered, unrecovered) = self.decoder.decided();
        FecModelCounters { recovered, unrecovered, ..self.counters }
    }

    /// Latencies from the encoder's entry to the decoder's exit.
    pub const fn latency(&self) -> &Latency {
        &self.latency
    }

    /// Bytes that circulate at the decoder.
    pub const fn circulating_bytes(&self) -> u64 {
        self.decoder.bytes()
    }

    /// The most bytes that ever circulated.
    pub const fn most_circulating_bytes(&self) -> u64 {
        self.decoder.most_bytes()
    }

    /// Changes the code at the next block boundary: at once when no block is open (FEC-8).
    pub fn set_code(&mut self, code: Code) {
        self.next_code = code;
        if self.index == 0 {
            self.options.code = code;
        }
    }

    /// Replaces the forward loss process.
    pub fn set_loss(&mut self, loss: LossProcess) {
        self.line.wire.set_loss(loss);
    }

    #[inline]
    fn schedule(&mut self) {
        let sending = self.port.deadline().min(self.flush_at);
        self.due = sending.min(self.line.arrivals.due()).min(self.decoder.deadline());
    }

    /// The block ends: its last packet is cloned (FEC-24).
    fn close(&mut self, now: Instant, last: Frame<P>) {
        let (size, rows) = (self.index, self.options.code.rows());
        let octets = match self.options.parity_size {
            ParitySize::LastPacket => last.octets,
            ParitySize::LongestPacket => self.longest_octets,
        };
        for row in 0..rows {
            let tag = Tag { entered: now, block: self.block, index: size + row, size, rows };
            let clone = Frame { octets, ecn: Ecn::NotCapable, payload: P::default() };
            let accepted = self.port.offer_parity(now, tag, clone, &mut self.line);
            self.counters.parity_dropped += u64::from(!accepted);
        }
        self.counters.parity += u64::from(rows);
        self.counters.blocks += 1;
        self.block += 1;
        self.index = 0;
        self.longest_octets = 0;
        self.flush_at = Instant::NEVER;
        self.options.code = self.next_code;
    }

    /// Closes a partial block, where the option says so: its parity is as long as the longest packet.
    fn flush(&mut self, now: Instant) {
        let octets = self.longest_octets;
        self.close(now, Frame { octets, ecn: Ecn::NotCapable, payload: P::default() });
    }

    /// Packets leave the far switch: the one that arrived, and those whose block has ended.
    #[inline]
    fn deliver_due(&mut self, now: Instant) {
        while let Some((at, tag, frame)) = self.decoder.poll(now) {
            self.deliver(at, tag, frame, true);
        }
    }

    #[inline]
    fn deliver(&mut self, now: Instant, tag: Tag, coded: Frame<P>, is_recovered: bool) {
        self.delivered.push(now, Frame { octets: coded.octets - tag.header_octets(), ..coded });
        self.latency.note(now, tag.entered, is_recovered);
    }
}

impl<P: Copy + Default> ProtectedLink<P> for FecModelLink<P> {
    #[inline]
    fn offer(&mut self, now: Instant, frame: Frame<P>) {
        if self.flush_at <= now {
            self.flush(now);
        }
        let (size, rows) = (self.options.code.size(), self.options.code.rows());
        let tag = Tag { entered: now, block: self.block, index: self.index, size, rows };
        let coded = Frame { octets: frame.octets + tag.header_octets(), ..frame };
        if rows == 0 {
            let accepted = self.port.offer(now, tag, coded, &mut self.line);
            self.counters.data_dropped += u64::from(!accepted);
            self.schedule();
            return;
        }
        if self.index == 0 {
            self.flush_at = self.options.flush.map_or(Instant::NEVER, |flush| now + flush);
        }
        self.index += 1;
        self.longest_octets = self.longest_octets.max(coded.octets);
        let accepted = self.port.offer(now, tag, coded, &mut self.line);
        self.counters.data_dropped += u64::from(!accepted);
        if self.index == size {
            self.close(now, coded);
        }
        self.schedule();
    }

    fn offer_back(&mut self, now: Instant, frame: Frame<P>) {
        let start = now.max(self.reverse_busy_until);
        self.reverse_busy_until = start + self.rate.serialisation(frame.octets);
        if self.reverse.carry(frame.octets, Kind::Data { header_octets: 0 }) {
            self.returned.push(self.reverse_busy_until + self.line.flight, frame);
        }
    }

    #[inline]
    fn deadline(&self) -> Instant {
        self.due
    }

    #[inline]
    fn advance(&mut self, now: Instant) {
        while self.due <= now {
            let due = self.due;
            if self.flush_at <= due {
                self.flush(due);
            }
            self.port.serve(due, &mut self.line);
            self.decoder.handle_timeout(due);
            self.deliver_due(due);
            while let Some((at, arrival)) = self.line.arrivals.pop_due(due) {
                if arrival.tag.rows == 0 || self.decoder.handle_packet(at, arrival) {
                    self.deliver(at, arrival.tag, arrival.frame, false);
                }
                self.deliver_due(at);
            }
            self.schedule();
        }
    }

    #[inline]
    fn delivered(&mut self) -> &mut Pipe<Frame<P>> {
        &mut self.delivered
    }

    #[inline]
    fn returned(&mut self) -> &mut Pipe<Frame<P>> {
        &mut self.returned
    }

    fn backlog(&self) -> usize {
        self.port.backlog()
    }

    fn traffic(&self) -> &Traffic {
        self.line.wire.traffic()
    }

    fn queue(&self) -> &FrameQueue<P> {
        self.port.queue()
    }

    fn queue_mut(&mut self) -> &mut FrameQueue<P> {
        self.port.queue_mut()
    }

    fn buffer_bytes(&mut self, _now: Instant) -> (u64, u64) {
        (0, self.circulating_bytes())
    }
}
