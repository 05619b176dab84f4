//! Two guards, a link and a clock: the stage for dialogues of guards, in this crate and in every crate with
//! a line protocol.

use lossylink_core::engine::report::Reading;
use lossylink_core::guard::{Frame, Guard, GuardConfig, LineProtocol, Peer, QueueLimits, Side};
use lossylink_core::loss::{LossModel, LossProcess};
use lossylink_core::protection::Protection;
use lossylink_core::rng::Streams;
use lossylink_core::time::{Duration, Instant};
use lossylink_core::units::{BitRate, Bytes};
use lossylink_core::wire::wire_octets;
use std::collections::VecDeque;

/// A function that makes the line protocols of one guard.
pub type Lines = fn() -> Vec<Box<dyn LineProtocol>>;

/// The one-way delay of the link.
const PROPAGATION: Duration = Duration::from_us(100);
/// The rate of the link.
const RATE: BitRate = BitRate::from_gbps(1);

/// A clean direction.
pub const NONE: LossModel = LossModel::None;

/// Returns independent losses of the share `p` of the frames.
pub fn ratio(p: f64) -> LossModel {
    LossModel::bernoulli(p).unwrap()
}

/// Returns the loss of exactly the frames at these positions.
pub fn at(positions: &[u64]) -> LossModel {
    LossModel::at(positions.to_vec()).unwrap()
}

/// One direction of the link.
struct Direction {
    free_from: Instant,
    sending: bool,
    flying: VecDeque<(Instant, Frame)>,
    loss: LossProcess,
    /// Whether no frame gets through.
    is_cut: bool,
    /// The length of the longest frame that gets through.
    longest: usize,
    /// The number of frames that did not get through.
    lost: u64,
}

impl Direction {
    fn next_event(&self) -> Instant {
        let free = if self.sending { self.free_from } else { Instant::NEVER };
        self.flying.front().map_or(free, |(arrival, _)| free.min(*arrival))
    }
}

/// A near guard, a link and a far guard.
pub struct Pair {
    pub guards: [Guard; 2],
    directions: [Direction; 2],
    pub now: Instant,
    /// The frames that each end handed to its LAN.
    pub delivered: [Vec<Vec<u8>>; 2],
    lines: Lines,
    streams: Streams,
    restarts: u64,
}

/// Returns the parameters of a guard in these tests.
pub fn config() -> GuardConfig {
    let queue = QueueLimits { capacity: Bytes(560_000), mark_from: None };
    GuardConfig { queue, longest_frame: 1514, frames: 20_000, secret: None }
}

/// Returns a frame for the other host that carries `id`, of at least 60 bytes.
pub fn frame(id: u32, length: usize) -> Vec<u8> {
    let mut frame = vec![0x5a; length.max(60)];
    frame[..12].copy_from_slice(&[2, 0, 0, 0, 0, 8, 2, 0, 0, 0, 0, 4]);
    frame[12..14].copy_from_slice(&[0x08, 0x00]);
    frame[14..18].copy_from_slice(&id.to_be_bytes());
    frame
}

/// Returns the number that a delivered frame carries.
pub fn id(frame: &[u8]) -> u32 {
    u32::from_be_bytes([frame[14], frame[15], frame[16], frame[17]])
}

/// Returns the reading of a counter of a guard.
pub fn count(guard: &Guard, group: &str, name: &str) -> u64 {
    let groups = guard.report();
    let group = groups.iter().find(|found| found.name == group).expect(group);
    let counter = group.counters.iter().find(|found| found.name == name).expect(name);
    match counter.reading {
        Reading::Number(number) => number,
        other => panic!("{name} is no number: {other:?}"),
    }
}

impl Pair {
    /// Returns guards that have not heard of each other. Each protects its own direction by its own
    /// protection.
    pub fn new(seed: u64, lines: Lines, protections: [Protection; 2], loss: [LossModel; 2]) -> Self {
        let streams = Streams::new(seed);
        let guard = |name: &str, protection: &Protection| {
            Guard::new(config(), lines(), protection.clone(), 0.0, streams.stream(name))
        };
        let direction = |name: &str, loss: &LossModel| Direction {
            free_from: Instant::ZERO,
            sending: false,
            flying: VecDeque::new(),
            loss: LossProcess::new(loss, streams.stream(name)),
            is_cut: false,
            longest: usize::MAX,
            lost: 0,
        };
        Self {
            guards: [guard("near", &protections[0]), guard("far", &protections[1])],
            directions: [direction("forward", &loss[0]), direction("reverse", &loss[1])],
            now: Instant::ZERO,
            delivered: [Vec::new(), Vec::new()],
            lines,
            streams,
            restarts: 0,
        }
    }

    /// Returns guards that know each other.
    pub fn agreed(seed: u64, lines: Lines, protections: [Protection; 2], loss: [LossModel; 2]) -> Self {
        let mut pair = Self::new(seed, lines, protections, [NONE, NONE]);
        pair.run_for(Duration::from_ms(2));
        let agreed = pair.guards.iter().all(|guard| guard.session().unwrap().peer == Peer::Agreed);
        assert!(agreed, "two guards on a clean link agree");
        pair.set_loss(loss);
        pair
    }

    pub fn set_loss(&mut self, loss: [LossModel; 2]) {
        for (direction, model) in self.directions.iter_mut().zip(loss) {
            direction.loss = LossProcess::new(&model, self.streams.stream("changed"));
        }
    }

    pub fn cut(&mut self, is_cut: bool) {
        self.directions.iter_mut().for_each(|direction| direction.is_cut = is_cut);
    }

    /// Lets no frame longer than `longest` through.
    pub fn narrow(&mut self, longest: usize) {
        self.directions.iter_mut().for_each(|direction| direction.longest = longest);
    }

    /// Returns the number of frames from each end that did not get through.
    pub fn lost(&self) -> [u64; 2] {
        self.directions.each_ref().map(|direction| direction.lost)
    }

    /// Ends one guard, with all that it holds, and starts another in its place.
    pub fn restart(&mut self, end: usize, protection: Protection) {
        self.restarts += 1;
        let stream = self.streams.trial(self.restarts).stream("restarted");
        self.guards[end] = Guard::new(config(), (self.lines)(), protection, 0.0, stream);
    }

    /// Protects the direction from `end` by another protection.
    pub fn protect(&mut self, end: usize, protection: Protection) {
        self.protect_under(end, protection, 0.0);
    }

    /// Protects the direction from `end` by another protection, with `loss` as the stated loss of that
    /// direction.
    pub fn protect_under(&mut self, end: usize, protection: Protection, loss: f64) {
        self.restarts += 1;
        let stream = self.streams.trial(self.restarts).stream("protected");
        self.guards[end].protect(self.now, protection, loss, stream);
    }

    /// Returns the reading of a counter of the guard at `end`.
    pub fn count(&self, end: usize, group: &str, name: &str) -> u64 {
        count(&self.guards[end], group, name)
    }

    /// Sends a frame of the host at `end`.
    pub fn send(&mut self, end: usize, bytes: &[u8]) {
        self.guards[end].handle_frame(self.now, Side::Lan, bytes);
        self.drive(end);
    }

    /// Delivers a frame that nobody sent from the link to `end`.
    pub fn inject(&mut self, end: usize, bytes: &[u8]) {
        self.guards[end].handle_frame(self.now, Side::Link, bytes);
        self.drive(end);
    }

    pub fn run_for(&mut self, span: Duration) {
        let until = self.now + span;
        loop {
            // A timer of a guard that has just been started is overdue from the first moment.
            let due = [0, 1].map(|end| {
                self.guards[end].poll_timeout().min(self.directions[end].next_event()).max(self.now)
            });
            let end = usize::from(due[1] < due[0]);
            if due[end] > until {
                break;
            }
            self.now = due[end];
            self.happen(end);
        }
        self.now = until;
    }

    fn happen(&mut self, end: usize) {
        if self.guards[end].poll_timeout() <= self.now {
            self.guards[end].handle_timeout(self.now);
            assert!(self.guards[end].poll_timeout() > self.now, "a timer that was served is not due");
        }
        let direction = &mut self.directions[end];
        direction.sending &= direction.free_from > self.now;
        while self.directions[end].flying.front().is_some_and(|(arrival, _)| *arrival <= self.now) {
            let (_, frame) = self.directions[end].flying.pop_front().unwrap();
            self.guards[1 - end].handle_frame(self.now, Side::Link, &frame);
            self.drive(1 - end);
        }
        self.drive(end);
    }

    fn drive(&mut self, end: usize) {
        let guard = &mut self.guards[end];
        while let Some(frame) = guard.poll_transmit(self.now, Side::Lan) {
            self.delivered[end].push(frame.clone());
            guard.recycle(frame);
        }
        let direction = &mut self.directions[end];
        while !direction.sending {
            let Some(frame) = guard.poll_transmit(self.now, Side::Link) else { break };
            direction.sending = true;
            direction.free_from = self.now + wire_octets(Bytes(frame.len() as u64)) / RATE;
            let fits = frame.len() <= direction.longest && !direction.is_cut;
            if !direction.loss.is_lost(frame.len() as u32) && fits {
                direction.flying.push_back((direction.free_from + PROPAGATION, frame.clone()));
            } else {
                direction.lost += 1;
            }
            guard.recycle(frame);
        }
    }
}
