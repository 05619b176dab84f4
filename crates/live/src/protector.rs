//! A guard and, where the protection is forward error correction, the coder around it.
//!
//! ```text
//!   LAN -- [guard: queue, hellos] -- [coder: data, parity] -- link
//! ```
//!
//! The guard finds the peer and agrees on the session whatever the protection is; with forward error
//! correction it hands its frames on unsealed, and the coder numbers them and adds parity. The
//! protocol of the coder is `docs/protocols/fec.md`.

use lossylink_codec::{Cauchy, Receiver, Sender};
use lossylink_core::engine::fec::{
    BlockNumber, Code, DecoderConfig, DecoderCounters, EncoderCounters, Release,
};
use lossylink_core::engine::guard::{Frame, Guard, GuardConfig, LinkProtection, Peer, Protection, Side};
use lossylink_core::rng::Stream;
use lossylink_core::time::{Duration, Instant};
use lossylink_core::units::{BitRate, Bytes};
use lossylink_core::wire::ethernet::{EtherType, EthernetHeader};
use lossylink_core::wire::fec::FecHeader;
use lossylink_core::wire::wire_octets;
use std::collections::VecDeque;

/// By how much a parity frame is longer than the longest frame of its block.
pub const PARITY_HEADROOM: usize = FecHeader::PARITY_OVERHEAD.0 as usize;
/// A partial block is closed after so many times of a full one at link rate, as in the simulator.
const FLUSH_BLOCKS: u64 = 4;
/// The longest frame, by which the time of a block is reckoned.
const FULL_FRAME: Bytes = Bytes(1514);
/// The rate by which times are reckoned when nobody has said one.
const ASSUMED_RATE: BitRate = BitRate::from_gbps(1);
/// What a decoder allows for beside two flush times: a late wake-up of the other end.
const SLACK: Duration = Duration::from_ms(5);
/// Blocks that may be open: a veth may hand frames over in another order.
const OPEN_BLOCKS: u32 = 4;
/// The most bytes that a decoder keeps.
const KEPT_MAX: Bytes = Bytes(32 << 20);

/// One end of a protected link, on whole frames. It is driven like a [`Guard`].
#[derive(Debug)]
pub struct Protector {
    guard: Guard,
    rate: BitRate,
    sender: Option<Sender<Cauchy>>,
    receiver: Option<Receiver<Cauchy>>,
    to_link: VecDeque<Frame>,
    to_lan: VecDeque<Frame>,
    delivered: u64,
    malformed: u64,
}

/// What the coder has done.
#[derive(Clone, Copy, Debug, Default)]
pub struct CoderCounters {
    /// The sending end.
    pub encoder: EncoderCounters,
    /// The receiving end.
    pub decoder: DecoderCounters,
    /// Frames that claimed to be coded and were malformed.
    pub malformed: u64,
}

impl Protector {
    /// An end that protects by `protection`, or a plain wire's that looks into no frame. Times follow
    /// from the link's `rate`.
    pub fn new(
        config: GuardConfig,
        protection: Option<Protection>,
        rate: Option<BitRate>,
        rng: Stream,
    ) -> Self {
        let guard = match protection {
            Some(protection) => Guard::new(config, protection, rng),
            None => Guard::transparent(config),
        };
        let mut protector = Self {
            guard,
            rate: rate.unwrap_or(ASSUMED_RATE),
            sender: None,
            receiver: None,
            to_link: VecDeque::new(),
            to_lan: VecDeque::new(),
            delivered: 0,
            malformed: 0,
        };
        if let Some(protection) = protection {
            protector.set_sender(protection);
            protector.receiver = Some(protector.new_receiver());
        }
        protector
    }

    /// Protects by another protection from now on.
    pub fn protect(&mut self, now: Instant, protection: Protection, rng: Stream) {
        self.guard.protect(now, protection, rng);
        self.set_sender(protection);
        if self.receiver.is_none() {
            self.receiver = Some(self.new_receiver());
        }
    }

    fn set_sender(&mut self, protection: Protection) {
        self.sender = code_of(protection.link).map(|code| {
            let flush = self.flush_time(code);
            Sender::new(Cauchy::new(), code, flush, BlockNumber::ZERO)
        });
    }

    fn flush_time(&self, code: Code) -> Duration {
        wire_octets(FULL_FRAME) / self.rate * u64::from(code.size()) * FLUSH_BLOCKS
    }

    /// The receiving end needs no code: parity tells it. Its patience is that of the largest block.
    fn new_receiver(&self) -> Receiver<Cauchy> {
        let largest = Code::new(32, 1).expect("a code within its bounds");
        let timeout = self.flush_time(largest) * 2 + SLACK;
        let config =
            DecoderConfig { release: Release::InOrder, window: OPEN_BLOCKS, timeout, kept_max: KEPT_MAX };
        Receiver::new(Cauchy::new(), config)
    }

    /// A frame arrives on one side.
    pub fn handle_frame(&mut self, now: Instant, side: Side, bytes: &[u8]) {
        let Self { guard, receiver, to_lan, malformed, .. } = self;
        match receiver {
            Some(receiver) if side == Side::Link && is_coded(bytes) => {
                let outcome = receiver.receive(now, bytes, |delivery| keep(guard, to_lan, delivery.frame));
                *malformed += u64::from(outcome.is_err());
            }
            _ => guard.handle_frame(now, side, bytes),
        }
    }

    /// The next frame for one side.
    pub fn poll_transmit(&mut self, now: Instant, side: Side) -> Option<Frame> {
        match side {
            Side::Lan => {
                let frame = self.to_lan.pop_front().or_else(|| self.guard.poll_transmit(now, Side::Lan));
                frame.inspect(|_| self.delivered += 1)
            }
            Side::Link => self.poll_link(now),
        }
    }

    /// Parity that is due goes before the next data frame; frames of the guards stay as they are.
    fn poll_link(&mut self, now: Instant) -> Option<Frame> {
        if let Some(frame) = self.to_link.pop_front() {
            return Some(frame);
        }
        let frame = self.guard.poll_transmit(now, Side::Link)?;
        let Self { guard, sender, to_link, .. } = self;
        match sender {
            Some(sender) if !guard.is_message(&frame) && is_agreed(guard) => {
                sender.send(now, &frame, |bytes| keep(guard, to_link, bytes));
                guard.recycle(frame);
                to_link.pop_front()
            }
            _ => Some(frame),
        }
    }

    /// Takes back a frame that `poll_transmit` gave.
    pub fn recycle(&mut self, frame: Frame) {
        self.guard.recycle(frame);
    }

    /// When `handle_timeout` is due.
    pub fn poll_timeout(&self) -> Instant {
        let sender = self.sender.as_ref().map_or(Instant::NEVER, Sender::poll_timeout);
        let receiver = self.receiver.as_ref().map_or(Instant::NEVER, Receiver::poll_timeout);
        self.guard.poll_timeout().min(sender).min(receiver)
    }

    /// A deadline has come.
    pub fn handle_timeout(&mut self, now: Instant) {
        let Self { guard, sender, receiver, to_link, to_lan, .. } = self;
        guard.handle_timeout(now);
        if let Some(sender) = sender {
            sender.handle_timeout(now, |bytes| keep(guard, to_link, bytes));
        }
        if let Some(receiver) = receiver {
            receiver.handle_timeout(now, |delivery| keep(guard, to_lan, delivery.frame));
        }
    }

    /// Whether a frame could leave toward the link as soon as the transmitter is free.
    pub fn has_frames(&self, now: Instant) -> bool {
        !self.to_link.is_empty() || self.guard.has_frames(now)
    }

    /// Frames held, queues and flight included.
    pub fn frames_held(&self) -> usize {
        self.guard.frames_held()
    }

    /// The guard, for its counters.
    pub fn guard(&self) -> &Guard {
        &self.guard
    }

    /// Frames handed to the LAN.
    pub fn delivered(&self) -> u64 {
        self.delivered
    }

    /// What the coder has done; nothing when no frame was ever coded here.
    pub fn coder(&self) -> Option<CoderCounters> {
        let encoder = self.sender.as_ref().map(|sender| *sender.counters()).unwrap_or_default();
        let decoder = self.receiver.as_ref().map(|receiver| *receiver.counters()).unwrap_or_default();
        let used = self.sender.is_some() || decoder.data > 0;
        used.then_some(CoderCounters { encoder, decoder, malformed: self.malformed })
    }
}

/// Keeps a copy of a frame, unless none is free: then it is lost, as in a full queue.
fn keep(guard: &mut Guard, queue: &mut VecDeque<Frame>, bytes: &[u8]) {
    queue.extend(guard.copy_frame(bytes));
}

fn is_agreed(guard: &Guard) -> bool {
    guard.peer() == Some(Peer::Agreed)
}

fn code_of(link: LinkProtection) -> Option<Code> {
    match link {
        LinkProtection::Fec { size, rows } => Code::new(u32::from(size), u32::from(rows)).ok(),
        LinkProtection::None | LinkProtection::Ordered | LinkProtection::NonBlocking => None,
    }
}

fn is_coded(frame: &[u8]) -> bool {
    EthernetHeader::parse(frame).is_ok_and(|(header, _)| header.ethertype == EtherType::FEC)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lossylink_core::engine::guard::QueueLimits;
    use lossylink_core::rng::Streams;

    fn protector(name: &str, link: LinkProtection) -> Protector {
        let queue = QueueLimits { capacity: Bytes(560_000), mark_from: None };
        let config = GuardConfig { queue, longest_frame: 1514, headroom: PARITY_HEADROOM, frames: 5_000 };
        let protection = Protection { link, ..Protection::NONE };
        Protector::new(config, Some(protection), None, Streams::new(1).stream(name))
    }

    /// Carries frames both ways until nothing moves, but for those whose place is in `lost`.
    fn settle(ends: &mut [Protector; 2], now: Instant, lost: &[u64], count: &mut u64) -> Vec<Vec<u8>> {
        let mut delivered = Vec::new();
        loop {
            let mut moved = false;
            for end in [0, 1] {
                while let Some(frame) = ends[end].poll_transmit(now, Side::Link) {
                    moved = true;
                    let counted = end == 0 && is_coded(&frame);
                    if !(counted && lost.contains(count)) {
                        ends[1 - end].handle_frame(now, Side::Link, &frame);
                    }
                    *count += u64::from(counted);
                    ends[end].recycle(frame);
                }
                while let Some(frame) = ends[end].poll_transmit(now, Side::Lan) {
                    delivered.push(frame.clone());
                    ends[end].recycle(frame);
                }
            }
            if !moved {
                return delivered;
            }
        }
    }

    #[test]
    fn parity_brings_lost_frames_back_in_their_order() {
        let link = LinkProtection::Fec { size: 5, rows: 2 };
        let mut ends = [protector("near", link), protector("far", link)];
        ends.iter_mut().for_each(|end| end.handle_timeout(Instant::ZERO));
        let mut count = 0;
        settle(&mut ends, Instant::ZERO, &[], &mut count);
        let sent: Vec<Vec<u8>> = (0..10u8).map(|id| vec![id; 100]).collect();
        // Two of the first seven coded frames (five data, two parity) are lost, one data frame of the next.
        let mut delivered = Vec::new();
        for frame in &sent {
            ends[0].handle_frame(Instant::ZERO, Side::Lan, frame);
            delivered.extend(settle(&mut ends, Instant::ZERO, &[1, 3, 9], &mut count));
        }
        assert_eq!(delivered, sent);
        let decoder = ends[1].coder().unwrap().decoder;
        assert_eq!((decoder.recovered, decoder.unrecovered), (3, 0));
        assert_eq!(ends.each_ref().map(Protector::frames_held), [0, 0]);
    }

    #[test]
    fn frames_pass_as_they_are_before_the_ends_agree() {
        let mut near = protector("near", LinkProtection::Fec { size: 5, rows: 2 });
        let frame = vec![9; 100];
        near.handle_frame(Instant::ZERO, Side::Lan, &frame);
        assert_eq!(near.poll_transmit(Instant::ZERO, Side::Link), Some(frame));
    }
}
