//! A test-only path for one TCP flow: two FIFO pipes of one rate and half a round-trip time each,
//! with i.i.d. loss of data frames.

pub(crate) mod flows;

use lossylink_core::probability::Probability;
use lossylink_core::rng::{RngCore, Stream, Streams};
use lossylink_core::time::{Duration, Instant};
use lossylink_core::units::{BitRate, Bytes};
use lossylink_sim::transport::tcp::{Config, Packet, Receiver, Sender};
use std::collections::VecDeque;

/// Ethernet header, frame check sequence, preamble and gap around an IP packet, bytes.
const FRAME_OVERHEAD: u32 = 38;
/// Shortest frame with preamble and gap, bytes.
const SHORTEST_FRAME: u32 = 84;

/// The parameters of the path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PathConfig {
    pub rate: BitRate,
    pub rtt: Duration,
    pub loss: f64,
    pub queue_bytes: u64,
    /// The share of ECN-capable packets toward the receiver that are marked, whatever the queue.
    pub marking: f64,
}

/// One direction: a queue, a serialiser and a wire.
struct Pipe {
    rate: BitRate,
    delay: Duration,
    queue: Duration,
    busy_until: Instant,
    in_flight: VecDeque<(Instant, Packet)>,
}

impl Pipe {
    fn new(path: &PathConfig) -> Self {
        Self {
            rate: path.rate,
            delay: path.rtt / 2,
            queue: Bytes(path.queue_bytes) / path.rate,
            busy_until: Instant::ZERO,
            in_flight: VecDeque::with_capacity(64),
        }
    }

    fn send(&mut self, now: Instant, packet: Packet, config: &Config, lost: bool) {
        if self.busy_until.saturating_since(now) > self.queue {
            return;
        }
        let frame = (packet.ip_bytes(config) + FRAME_OVERHEAD).max(SHORTEST_FRAME);
        self.busy_until = self.busy_until.max(now) + Bytes(u64::from(frame)) / self.rate;
        if !lost {
            self.in_flight.push_back((self.busy_until + self.delay, packet));
        }
    }

    fn next_at(&self) -> Instant {
        self.in_flight.front().map_or(Instant::NEVER, |&(at, _)| at)
    }
}

/// A flow on its path.
pub(crate) struct World {
    pub config: Config,
    pub sender: Sender,
    pub receiver: Receiver,
    pub now: Instant,
    pub events: u64,
    forward: Pipe,
    reverse: Pipe,
    loss: Probability,
    rng: Stream,
    marking: Probability,
    until_loss: u64,
    pub data_frames: u64,
    pub lost_frames: u64,
    /// The number of the one data frame, counted from one, that is lost besides random losses.
    pub lost_frame: Option<u64>,
    /// Whether every packet is printed.
    pub trace: bool,
}

impl World {
    pub(crate) fn new(
        config: &Config,
        path: &PathConfig,
        flow_bytes: Option<u64>,
        streams: &Streams,
    ) -> Self {
        let mut phases = streams.stream("tick phases");
        // The phase is up to 4096 ticks: the wheel's coarse slots fall anywhere.
        let mut phase = || Duration::from_ps(phases.next_u64() % (4096 * config.tick.as_ps()));
        let loss = Probability::new(path.loss).expect("a probability");
        let marking = Probability::new(path.marking).expect("a probability");
        let mut rng = streams.stream("loss");
        let until_loss = loss.failures_before_success(&mut rng);
        Self {
            sender: Sender::new(config, flow_bytes, phase()),
            receiver: Receiver::new(config, phase()),
            config: config.clone(),
            now: Instant::ZERO,
            events: 0,
            forward: Pipe::new(path),
            reverse: Pipe::new(path),
            loss,
            marking,
            rng,
            until_loss,
            data_frames: 0,
            lost_frames: 0,
            lost_frame: None,
            trace: false,
        }
    }

    pub(crate) fn open(&mut self) {
        self.sender.open(self.now);
        self.flush_sender();
    }

    /// Runs one event unless the next event lies after `end`. Returns whether an event ran.
    pub(crate) fn step(&mut self, end: Instant) -> bool {
        let arrival = self.forward.next_at();
        let answer = self.reverse.next_at();
        let sender_timer = self.sender.poll_timeout();
        let receiver_timer = self.receiver.poll_timeout();
        let next = arrival.min(answer).min(sender_timer).min(receiver_timer);
        if next > end || next.is_never() {
            return false;
        }
        self.now = next;
        self.events += 1;
        if next == arrival {
            let (_, packet) = self.forward.in_flight.pop_front().expect("it has an arrival");
            let marked =
                !self.marking.is_never() && packet.is_ecn_capable() && self.marking.draw(&mut self.rng);
            self.receiver.handle_packet(next, &packet, marked);
            self.flush_receiver();
        } else if next == answer {
            let (_, packet) = self.reverse.in_flight.pop_front().expect("it has an arrival");
            self.sender.handle_packet(next, &packet);
            self.flush_sender();
        } else if next == sender_timer {
            self.sender.handle_timeout(next);
            self.flush_sender();
        } else {
            self.receiver.handle_timeout(next);
            self.flush_receiver();
        }
        true
    }

    pub(crate) fn run_until(&mut self, end: Instant) {
        while self.step(end) {}
        self.now = end;
    }

    /// Runs until the flow is acknowledged. Returns its completion time from the first data packet
    /// on.
    pub(crate) fn run_to_completion(&mut self, limit: Instant) -> Option<Duration> {
        while self.sender.completed_at().is_none() && self.step(limit) {}
        Some(self.sender.completed_at()? - self.sender.first_data_at()?)
    }

    fn flush_sender(&mut self) {
        while let Some(packet) = self.sender.poll_transmit(self.now) {
            let lost = packet.is_data() && self.draws_loss();
            if self.trace {
                let window = (self.sender.congestion_window(), self.sender.slow_start_threshold());
                println!("{} > {packet:?} lost {lost} window {window:?} {:?}", self.now, self.sender.state());
            }
            self.forward.send(self.now, packet, &self.config, lost);
        }
    }

    fn flush_receiver(&mut self) {
        while let Some(packet) = self.receiver.poll_transmit(self.now) {
            if self.trace {
                println!("{} < {packet:?}", self.now);
            }
            self.reverse.send(self.now, packet, &self.config, false);
        }
    }

    fn draws_loss(&mut self) -> bool {
        self.data_frames += 1;
        if self.lost_frame == Some(self.data_frames) {
            self.lost_frames += 1;
            return true;
        }
        if self.until_loss > 0 {
            self.until_loss -= 1;
            return false;
        }
        self.until_loss = self.loss.failures_before_success(&mut self.rng);
        self.lost_frames += 1;
        true
    }
}
