//! The receiving host: reassembly, acknowledgements, and its side of the handshake. The application
//! reads all data at once.

#[cfg(feature = "fast")]
mod fast;

use super::clock::Clock;
use super::compression::Compression;
use super::config::Config;
use super::delayed_ack::DelayedAck;
use super::ecn_echo::{EcnEcho, Reaction};
use super::handshake::Handshake;
use super::packet::{Ack, Block, Data, Packet, SackBlocks};
use super::reassembly::{Reassembly, SackList};
use super::rtt::RoundTrip;
use super::timers::ReceiverTimer;
use lossylink_core::time::{Duration, Instant};

/// Number of segments acknowledged at once after a congestion mark (Linux).
const QUICK_AFTER_MARK: u32 = 2;
/// The most packets that one event makes a receiver send: a delayed acknowledgement with the old
/// congestion mark and a new one.
const MOST_PACKETS: usize = 2;

/// The receiver of one flow.
///
/// The driver calls [`handle_packet`](Self::handle_packet) for every packet that arrives and
/// [`handle_timeout`](Self::handle_timeout) when [`poll_timeout`](Self::poll_timeout) is due; after
/// each, at the same instant, [`poll_transmit`](Self::poll_transmit) until there is no packet left.
#[derive(Clone, Debug)]
pub struct Receiver {
    config: Config,
    clock: Clock,
    handshake: Handshake,
    handshake_timer: Option<Instant>,
    rtt: RoundTrip,
    payload: u32,
    /// Receive window, segments.
    window: u64,
    /// The next segment expected.
    next: u64,
    /// The next segment expected before the last packet, up to which a delayed acknowledgement
    /// acknowledges.
    next_before: u64,
    /// The last segment if it has arrived and is short, else `u64::MAX`, and the number of bytes by
    /// which it is short.
    short: u64,
    missing_in_short: u32,
    reassembly: Reassembly,
    sacks: SackList,
    duplicate: Option<Block>,
    delayed: DelayedAck,
    compression: Compression,
    ecn: EcnEcho,
    /// The timestamp to echo, and the segment up to which the last acknowledgement went.
    recent: u32,
    acknowledged: u64,
    /// Packets to send, of which `polled` of `caused` have left.
    outbox: [Packet; MOST_PACKETS],
    caused: usize,
    polled: usize,
    duplicates_received: u64,
}

impl Receiver {
    /// Returns a receiver on a host whose timer ticks come at `tick_phase` and every tick
    /// thereafter.
    pub fn new(config: &Config, tick_phase: Duration) -> Self {
        let clock = Clock::of(config, tick_phase);
        Self {
            rtt: RoundTrip::new(config.rto_min, &clock),
            delayed: DelayedAck::new(config, &clock),
            clock,
            handshake: Handshake::new(),
            handshake_timer: None,
            payload: config.payload_bytes(),
            window: config.receive_window_segments(),
            next: 0,
            next_before: 0,
            short: u64::MAX,
            missing_in_short: 0,
            reassembly: Reassembly::default(),
            sacks: SackList::default(),
            duplicate: None,
            compression: Compression::default(),
            ecn: EcnEcho::new(config),
            recent: 0,
            acknowledged: 0,
            outbox: [Packet::SynAck; MOST_PACKETS],
            caused: 0,
            polled: 0,
            duplicates_received: 0,
            config: config.clone(),
        }
    }

    /// Listens for another flow on a new connection, keeping the memory of this one.
    pub fn reopen(&mut self, tick_phase: Duration) {
        let mut reassembly = std::mem::take(&mut self.reassembly);
        reassembly.clear();
        *self = Self { reassembly, ..Self::new(&self.config, tick_phase) };
    }

    /// Receives on a connection that stands and has measured this round trip, without a handshake.
    pub fn resume(&mut self, now: Instant, round_trip_us: u64) {
        self.clock.refresh(now);
        self.handshake.skip();
        self.rtt.begin(Some(round_trip_us), &self.clock);
    }

    /// Takes a packet from the sender; `marked` says that a queue marked it (CE).
    pub fn handle_packet(&mut self, now: Instant, packet: &Packet, marked: bool) {
        self.clock.refresh(now);
        match packet {
            Packet::Syn if !self.handshake.is_established() => self.answer(),
            Packet::Syn | Packet::SynAck => {}
            Packet::Ack(_) => self.establish(),
            Packet::Data(data) => {
                self.establish();
                self.take_data(data, marked);
            }
        }
    }

    /// Acts on the timers that are due.
    pub fn handle_timeout(&mut self, now: Instant) {
        self.clock.refresh(now);
        while let Some(timer) = self.due_timer(now) {
            self.expire(timer);
        }
    }

    /// Returns the next packet to leave at this instant, if any.
    #[inline]
    pub fn poll_transmit(&mut self, now: Instant) -> Option<Packet> {
        if self.caused == 0 {
            return None;
        }
        debug_assert!(now == self.clock.now(), "poll at the instant of the cause");
        let packet = self.outbox[self.polled];
        self.polled += 1;
        if self.polled == self.caused {
            (self.polled, self.caused) = (0, 0);
        }
        Some(packet)
    }

    /// Returns when [`handle_timeout`](Self::handle_timeout) is due; [`Instant::NEVER`] without a
    /// timer.
    pub fn poll_timeout(&self) -> Instant {
        let acknowledgement = self.delayed.poll_timeout().min(self.compression.poll_timeout());
        self.handshake_timer.map_or(acknowledgement, |answer| acknowledgement.min(answer))
    }

    /// Returns the bytes delivered to the application: in order, each once.
    pub fn bytes_in_order(&self) -> u64 {
        self.bytes_between(0, self.next)
    }

    /// Returns the number of data packets that brought no new segment.
    pub const fn duplicates_received(&self) -> u64 {
        self.duplicates_received
    }

    /// Returns a timer that has to fire by `now`.
    fn due_timer(&self, now: Instant) -> Option<ReceiverTimer> {
        let handshake = self.handshake_timer.map(ReceiverTimer::ConnectionAnswer);
        let timers = [handshake, self.compression.timer(), self.delayed.timer()];
        timers.into_iter().flatten().find(|timer| timer.at() <= now)
    }

    /// Acts on a timer. Each timer is disarmed by that, or armed for a later instant.
    fn expire(&mut self, timer: ReceiverTimer) {
        match timer {
            ReceiverTimer::ConnectionAnswer(_) => {
                self.rtt.back_off(&self.clock);
                self.answer();
            }
            ReceiverTimer::CompressedAck(_) => self.acknowledge(),
            ReceiverTimer::DelayedAck(_) => {
                self.delayed.miss(self.rtt.timeout());
                self.acknowledge();
            }
        }
    }

    /// Answers a connection request. (TCP-1)
    fn answer(&mut self) {
        self.handshake.note_sent(self.clock.micros());
        self.handshake_timer = Some(self.clock.fires_after(self.rtt.timeout()));
        self.send(Packet::SynAck);
    }

    /// Ends the handshake, on its last acknowledgement or on data. (TCP-2)
    fn establish(&mut self) {
        if !self.handshake.is_waiting() {
            return;
        }
        self.handshake_timer = None;
        let sample_us = self.handshake.complete(self.clock.micros());
        self.rtt.begin(sample_us, &self.clock);
    }

    /// Takes data that arrives in order or out of order. (TCP-57)
    fn take_data(&mut self, data: &Data, marked: bool) {
        self.note_short(data);
        if data.window_reduced {
            self.ecn.note_reduction();
            self.delayed.hurry();
        }
        if self.config.timestamps && data.first <= self.acknowledged {
            self.recent = data.timestamp;
        }
        if data.end() <= self.next {
            self.take_duplicate(Block { start: data.first, end: data.end() });
        } else if data.first <= self.next {
            self.take_in_order(data, marked);
        } else {
            self.take_out_of_order(data, marked);
        }
    }

    /// Takes a packet without a new segment: reports it, and acknowledges at once. (TCP-16)
    fn take_duplicate(&mut self, block: Block) {
        self.duplicates_received += 1;
        self.duplicate = Some(block);
        self.delayed.enter_quick_mode(self.delayed.most_quick());
        self.acknowledge();
    }

    fn take_in_order(&mut self, data: &Data, marked: bool) {
        if data.first < self.next {
            self.duplicate = Some(Block { start: data.first, end: self.next });
        }
        let before = self.next;
        self.next = data.end();
        let had_holes = !self.reassembly.is_empty();
        if had_holes {
            self.next = self.reassembly.advance(self.next);
            self.sacks.forget_before(self.next);
            if self.reassembly.is_empty() {
                self.delayed.hurry();
            }
        }
        self.delayed.note_in_order(self.bytes_between(before, self.next));
        self.compression.note_in_order(self.next, self.payload, self.window, &self.clock);
        self.delayed.note_data(self.segment_payload(data), self.rtt.timeout(), &self.clock);
        self.note_mark(data.ecn_capable, marked);
        self.acknowledge_in_time(had_holes);
    }

    fn take_out_of_order(&mut self, data: &Data, marked: bool) {
        let run = Block { start: data.first, end: data.end() };
        self.note_mark(data.ecn_capable, marked);
        if self.sacks.overflows(run) && self.compression.is_holding() {
            self.acknowledge();
        }
        if let Some(known) = self.reassembly.insert(run) {
            self.duplicate = Some(known);
            self.duplicates_received += u64::from(known == run);
        }
        self.sacks.report(run);
        self.acknowledge_in_time(true);
    }

    /// Reacts to the congestion mark of a packet. (TCP-50, DCTCP-4)
    fn note_mark(&mut self, capable: bool, marked: bool) {
        if !self.ecn.is_on() {
            return;
        }
        match self.ecn.note_data(capable, marked) {
            Reaction::None => {}
            Reaction::Quick => self.delayed.enter_quick_mode(QUICK_AFTER_MARK),
            Reaction::Changed => {
                if self.delayed.is_delaying() {
                    self.acknowledge_up_to(self.next_before);
                }
                self.delayed.hurry();
            }
        }
        self.ecn.follow();
        self.next_before = self.next;
    }

    /// Acknowledges now, with other segments in one acknowledgement, or later. (TCP-54, TCP-56)
    fn acknowledge_in_time(&mut self, may_have_holes: bool) {
        let has_holes = may_have_holes && !self.reassembly.is_empty();
        let is_now = if has_holes { self.reports_holes() } else { self.is_to_acknowledge() };
        if is_now {
            self.acknowledge();
        }
    }

    /// Whether all segments that have arrived in order are acknowledged now; otherwise the timer is
    /// armed.
    fn is_to_acknowledge(&mut self) -> bool {
        self.delayed.is_due()
            || self.delayed.is_pushed()
            || !self.delayed.delay(self.rtt.smoothed_us(), &self.clock)
    }

    /// Whether a segment out of order is acknowledged now; otherwise it is summed up.
    fn reports_holes(&mut self) -> bool {
        self.delayed.is_due()
            || !self.config.sack_compression
            || self.compression.lets_pass(self.next, self.rtt.smoothed_us(), &self.clock)
    }

    fn acknowledge(&mut self) {
        self.acknowledge_up_to(self.next);
        self.note_acknowledged();
    }

    /// Notes that an acknowledgement of all segments in order leaves.
    #[inline]
    fn note_acknowledged(&mut self) {
        self.acknowledged = self.next;
        self.delayed.acknowledged();
        self.compression.acknowledged();
    }

    fn acknowledge_up_to(&mut self, next: u64) {
        let mut sack = SackBlocks::default();
        let most = if self.config.timestamps { 3 } else { 4 };
        let blocks = self.duplicate.take().into_iter().chain(self.sacks.iter());
        blocks.take(most).for_each(|block| sack.push(next, block));
        self.acknowledged = next;
        self.send(Packet::Ack(Ack {
            next,
            sack,
            ecn_echo: self.ecn.is_echoing(),
            ecn_capable: self.ecn.is_exact(),
            echo: self.recent,
        }));
    }

    /// Adds a packet to those that leave. An event causes at most two packets, and they are polled
    /// at once.
    fn send(&mut self, packet: Packet) {
        assert!(self.caused < MOST_PACKETS, "what an earlier event caused was not polled");
        self.outbox[self.caused] = packet;
        self.caused += 1;
    }

    /// Returns the bytes of the segments `start .. end`, the short last segment counted as short.
    fn bytes_between(&self, start: u64, end: u64) -> u64 {
        let missing = if (start..end).contains(&self.short) { self.missing_in_short } else { 0 };
        (end - start) * u64::from(self.payload) - u64::from(missing)
    }

    /// Returns the payload of each full segment of a packet, for the measure of a full segment.
    fn segment_payload(&self, data: &Data) -> u32 {
        if data.segments == 1 { data.payload } else { self.payload }
    }

    /// Notes the last segment if it is short.
    fn note_short(&mut self, data: &Data) {
        let missing = u32::from(data.segments) * self.payload - data.payload;
        if missing > 0 {
            (self.short, self.missing_in_short) = (data.end() - 1, missing);
        }
    }
}
