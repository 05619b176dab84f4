//! One TCP flow of the simulator over a path that loses packets, bare or between two real guards, in virtual time.
//!
//! ```text
//!  sender --> [guard] --> queue, rate, delay, loss --> [guard] --> receiver
//!  sender <-- [guard] <-- queue, rate, delay, loss <-- [guard] <-- receiver
//! ```
//!
//! The guards are those of the live data plane, with all their sessions, seals and messages: a packet of the simulator
//! crosses them as a frame that carries its place in a table. The path takes the octets of real datagrams.

use lossylink_codec::Gf256;
use lossylink_core::engine::report::Reading;
use lossylink_core::guard::routed::RoutedLine;
use lossylink_core::guard::{Guard, GuardConfig, QueueLimits, Secret, Side};
use lossylink_core::loss::{LossModel, LossProcess};
use lossylink_core::protection::Protection;
use lossylink_core::rng::{RngCore, Streams};
use lossylink_core::time::{Duration, Instant};
use lossylink_core::units::{BitRate, Bytes};
use lossylink_core::wire::checksum::Checksum;
use lossylink_core::wire::routed::unsent;
use lossylink_sim::transport::tcp::{Config, Packet, Receiver, Sender};
use std::collections::VecDeque;

/// The octets of IPv4 and UDP that a port adds.
const DATAGRAM: u64 = 28;
/// The octets around an IP packet on Ethernet.
const AROUND: u64 = 38;
/// The length of the largest packet of the path.
const PATH_MTU: u32 = 1500;
/// The octets by which a repair is longer than the longest packet of a TUN that the repair covers.
const OVERHEAD: u32 = 47;
/// The length of an Ethernet header, and the place in a frame of the place of its packet: the timestamp of TCP.
const ETHERNET: usize = 14;
const PLACE: usize = ETHERNET + 44;
/// The time before the flow begins, in which the guards find each other and measure the path.
const BEFORE: Duration = Duration::from_secs(3);

/// The parameters of a path.
#[derive(Clone, Debug)]
pub(super) struct PathConfig {
    pub(super) rate: BitRate,
    pub(super) rtt: Duration,
    pub(super) loss: LossModel,
    pub(super) reverse_loss: LossModel,
    pub(super) queue: Bytes,
    pub(super) seed: u64,
}

/// A packet or a datagram that crosses the path.
enum Load {
    Packet(Packet),
    Datagram(Vec<u8>),
}

/// One direction of the path: a queue, a serialiser, a loss and a wire.
struct Pipe {
    rate: BitRate,
    delay: Duration,
    queue: Duration,
    loss: LossProcess,
    busy_until: Instant,
    flying: VecDeque<(Instant, Load)>,
    dropped: u64,
}

impl Pipe {
    fn send(&mut self, now: Instant, ip_octets: u64, load: Load) {
        if self.busy_until.saturating_since(now) > self.queue {
            self.dropped += 1;
            return;
        }
        self.busy_until = self.busy_until.max(now) + Bytes((ip_octets + AROUND).max(84)) / self.rate;
        if !self.loss.is_lost(ip_octets as u32) {
            self.flying.push_back((self.busy_until + self.delay, load));
        }
    }

    fn next(&self) -> Instant {
        self.flying.front().map_or(Instant::NEVER, |(at, _)| *at)
    }
}

/// The outcome of a run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outcome {
    pub(super) goodput_bps: f64,
    pub(super) rtt_mean: Duration,
    pub(super) tcp_retransmissions: u64,
    pub(super) timeouts: u64,
    /// The number of frames of the sender that the path lost to its loss or queue and that never arrived, and the
    /// number of all frames.
    pub(super) missing: (u64, u64),
    /// The octets of repetitions, and of all frames that were sent for the first time.
    pub(super) repeated: (u64, u64),
    /// The octets of repairs that were sent ahead, and of all frames that were sent for the first time.
    pub(super) ahead: (u64, u64),
    /// The number of frames that were rebuilt from repairs ahead, and the number of lost frames.
    pub(super) rebuilt: (u64, u64),
    /// The number of drops of the queue on the forward path.
    pub(super) dropped: u64,
}

pub(super) struct World {
    config: Config,
    sender: Sender,
    receiver: Receiver,
    guards: Option<[Guard; 2]>,
    pipes: [Pipe; 2],
    /// The packets that guards carry, by their place.
    packets: Vec<Packet>,
    now: Instant,
}

impl World {
    pub(super) fn new(config: &Config, path: &PathConfig, protection: Option<Protection>) -> Self {
        let streams = Streams::new(path.seed);
        let mut phases = streams.stream("tick phases");
        let mut phase = || Duration::from_ps(phases.next_u64() % (4096 * config.tick.as_ps()));
        let mtu_bytes = if protection.is_some() { PATH_MTU - OVERHEAD } else { PATH_MTU };
        let config = Config { mtu_bytes, ..config.clone() };
        let pipe = |loss: &LossModel, name: &str| Pipe {
            rate: path.rate,
            delay: path.rtt / 2,
            queue: path.queue / path.rate,
            loss: LossProcess::new(loss, streams.stream(name)),
            busy_until: Instant::ZERO,
            flying: VecDeque::new(),
            dropped: 0,
        };
        let guard = |protection: Protection, name: &str| {
            let queue = QueueLimits { capacity: Bytes(560_000), mark_from: None };
            let longest_frame = ETHERNET + mtu_bytes as usize;
            let secret = Secret::new(b"sixteen bytes or more");
            let limits = GuardConfig { queue, longest_frame, frames: 100_000, secret };
            Guard::closed(
                limits,
                Box::new(RoutedLine::new(Box::new(Gf256))),
                protection,
                streams.stream(name),
            )
        };
        Self {
            sender: Sender::new(&config, None, phase()),
            receiver: Receiver::new(&config, phase()),
            guards: protection.map(|one| [guard(one.clone(), "near"), guard(one, "far")]),
            pipes: [pipe(&path.loss, "loss"), pipe(&path.reverse_loss, "reverse loss")],
            packets: Vec::new(),
            now: Instant::ZERO,
            config,
        }
    }

    /// Lets the flow send for `span`.
    pub(super) fn run(&mut self, span: Duration) -> Outcome {
        self.advance(Instant::ZERO + BEFORE);
        self.sender.open(self.now);
        self.flush(0);
        self.advance(Instant::ZERO + BEFORE + span);
        let statistics = self.sender.statistics();
        let read = |end: usize, group: &str, name: &str| {
            self.guards.as_ref().map_or(0, |guards| count(&guards[end], group, name))
        };
        Outcome {
            goodput_bps: self.sender.bytes_acknowledged() as f64 * 8.0 / span.as_secs_f64(),
            rtt_mean: Duration::from_us(statistics.rtt_sum_us / statistics.rtt_samples.max(1)),
            tcp_retransmissions: statistics.retransmissions,
            timeouts: statistics.timeouts,
            missing: (read(1, "routed", "given_up"), read(0, "routed", "data")),
            repeated: (read(0, "routed", "repeated_bytes"), read(0, "routed", "data_bytes")),
            ahead: (read(0, "routed", "repair_bytes"), read(0, "routed", "data_bytes")),
            rebuilt: (read(1, "routed", "rebuilt"), read(1, "routed", "lost")),
            dropped: self.pipes[0].dropped,
        }
    }

    fn advance(&mut self, until: Instant) {
        loop {
            let arrivals = [self.pipes[0].next(), self.pipes[1].next()];
            let hosts = [self.sender.poll_timeout(), self.receiver.poll_timeout()];
            let guards = self
                .guards
                .as_ref()
                .map(|guards| guards.each_ref().map(|guard| guard.poll_timeout().max(self.now)));
            let guards = guards.unwrap_or([Instant::NEVER; 2]);
            let next = arrivals.into_iter().chain(hosts).chain(guards).min().expect("six instants");
            if next > until || next.is_never() {
                break;
            }
            self.now = next;
            for end in [0, 1] {
                // Datagrams and packets that fly in a direction arrive at its opposite end.
                if arrivals[end] == next {
                    let (_, load) = self.pipes[end].flying.pop_front().expect("it has an arrival");
                    self.arrive(1 - end, load);
                }
                if guards[end] == next {
                    self.guards.as_mut().expect("a guard has a deadline")[end].handle_timeout(next);
                    self.drive(end);
                }
            }
            if hosts[0] == next {
                self.sender.handle_timeout(next);
                self.flush(0);
            }
            if hosts[1] == next {
                self.receiver.handle_timeout(next);
                self.flush(1);
            }
        }
        self.now = until;
    }

    fn arrive(&mut self, end: usize, load: Load) {
        match load {
            Load::Packet(packet) => self.hand_to_host(end, packet),
            Load::Datagram(frame) => {
                let guards = self.guards.as_mut().expect("datagrams are of guards");
                guards[end].handle_frame(self.now, Side::Link, &frame);
                self.drive(end);
            }
        }
    }

    fn hand_to_host(&mut self, end: usize, packet: Packet) {
        match end {
            0 => self.sender.handle_packet(self.now, &packet),
            _ => self.receiver.handle_packet(self.now, &packet, false),
        }
        self.flush(end);
    }

    /// Takes the packets that a host has to send.
    fn flush(&mut self, end: usize) {
        loop {
            let packet = match end {
                0 => self.sender.poll_transmit(self.now),
                _ => self.receiver.poll_transmit(self.now),
            };
            let Some(packet) = packet else { break };
            let octets = packet.ip_bytes(&self.config);
            if self.guards.is_none() {
                self.pipes[end].send(self.now, octets.into(), Load::Packet(packet));
                continue;
            }
            let frame = self.frame(end, octets as usize);
            self.packets.push(packet);
            let guards = self.guards.as_mut().expect("just looked at");
            guards[end].handle_frame(self.now, Side::Lan, &frame);
            self.drive(end);
        }
    }

    /// Returns the frame of a TUN for the next packet, whose headers may travel short (RT-17).
    fn frame(&self, end: usize, octets: usize) -> Vec<u8> {
        let mut frame = vec![0; ETHERNET + octets];
        let place = self.packets.len() as u32;
        frame[12..16].copy_from_slice(&[0x08, 0x00, 0x45, 0x02]);
        let ip = &mut frame[ETHERNET..];
        ip[2..4].copy_from_slice(&(octets as u16).to_be_bytes());
        ip[4..6].copy_from_slice(&(place as u16).to_be_bytes());
        ip[6..10].copy_from_slice(&[0x40, 0, 64, 6]);
        ip[15] = end as u8;
        let checksum = Checksum::new().cover(&ip[..20]).finish();
        ip[10..12].copy_from_slice(&checksum.to_be_bytes());
        ip[32] = 0x80;
        ip[40..44].copy_from_slice(&[1, 1, 8, 10]);
        frame[PLACE..PLACE + 4].copy_from_slice(&place.to_be_bytes());
        frame
    }

    /// Takes the frames that a guard has for either side.
    fn drive(&mut self, end: usize) {
        let now = self.now;
        while let Some(frame) =
            self.guards.as_mut().and_then(|guards| guards[end].poll_transmit(now, Side::Link))
        {
            let octets = (frame.len() - unsent(&frame)) as u64 + DATAGRAM;
            self.pipes[end].send(now, octets, Load::Datagram(frame.clone()));
            self.guards.as_mut().expect("it gave a frame")[end].recycle(frame);
        }
        while let Some(frame) =
            self.guards.as_mut().and_then(|guards| guards[end].poll_transmit(now, Side::Lan))
        {
            let place = u32::from_be_bytes(frame[PLACE..PLACE + 4].try_into().expect("four bytes"));
            self.guards.as_mut().expect("it gave a frame")[end].recycle(frame);
            let packet = self.packets[place as usize];
            self.hand_to_host(end, packet);
        }
    }
}

/// Returns the reading of a counter of a guard.
fn count(guard: &Guard, group: &str, name: &str) -> u64 {
    let groups = guard.report();
    let found = groups.iter().find(|one| one.name == group).expect(group);
    match found.counters.iter().find(|one| one.name == name).expect(name).reading {
        Reading::Number(number) => number,
        other => panic!("{name} is no number: {other:?}"),
    }
}
