//! Arrivals at a switch: frames of its host, and frames of a peer as a bad link can change them.

use super::switch::{Options, Switch, between_hosts, emit};
use lossylink_core::engine::linkguardian::{Position, SenderConfig};
use lossylink_core::rng::{RngCore, Stream, Streams};
use lossylink_core::wire::ethernet::{EtherType, EthernetHeader};
use lossylink_core::wire::linkguardian::{
    AckHeader, Content, DataHeader, LinkGuardianFrame, LossNotification,
};

/// The hosts' addresses end with these.
const HERE: u8 = 4;
const THERE: u8 = 8;
/// A leap that gives positions up at once (LG-33).
const LEAP: u32 = 40_000;
/// A hole that its notification cannot count (LG-13).
const LONG_HOLE: u32 = 300;

/// One event at a switch.
pub(crate) enum Arrival {
    /// A frame comes from the host.
    Host(Vec<u8>),
    /// A frame comes over the link.
    Link(Vec<u8>),
    /// A timer packet passes.
    Timer,
}

/// The peer, as far as its frames tell.
pub(crate) struct Arrivals {
    stream: Stream,
    options: Options,
    /// The peer's next position.
    next: Position,
    /// Positions that a notification asked for, and that may come again.
    asked: Vec<Position>,
    /// Holes beyond what one notification can ask for: where, and how many. Nothing of them comes again.
    unasked: Vec<(Position, u32)>,
}

impl Arrivals {
    pub(crate) fn new(options: Options, stream: Stream) -> Self {
        Self { stream, options, next: options.start, asked: Vec::new(), unasked: Vec::new() }
    }

    pub(crate) fn draw(&mut self, switch: &Switch) -> Arrival {
        match self.below(100) {
            0..=27 => Arrival::Host(self.host_frame()),
            28..=55 => Arrival::Link(self.new_frame(switch)),
            56..=61 => Arrival::Link(self.dummy()),
            62..=73 => Arrival::Link(self.retransmission(switch)),
            74..=76 => Arrival::Link(self.stale(switch)),
            77..=81 => Arrival::Link(self.acknowledgement(switch)),
            82..=88 => Arrival::Link(self.notification(switch)),
            89..=90 => Arrival::Link(self.unnumbered(switch)),
            91..=93 => Arrival::Link(self.malformed()),
            _ => Arrival::Timer,
        }
    }

    fn below(&mut self, bound: u32) -> u32 {
        self.stream.next_u32() % bound
    }

    fn host_frame(&mut self) -> Vec<u8> {
        // Whatever a host sends is content, in the sender's eyes.
        let ethertypes = [EtherType::IPV4, EtherType::ARP, EtherType(0x88b6), EtherType::LINKGUARDIAN];
        let ethertype = ethertypes[self.below(ethertypes.len() as u32) as usize];
        let mut frame = vec![0; EthernetHeader::LEN];
        between_hosts(HERE, THERE, ethertype).emit(&mut frame);
        frame.extend(payload(&mut self.stream));
        frame
    }

    fn numbered(&self, position: Position, is_retransmission: bool, ack: Option<AckHeader>) -> Vec<u8> {
        let data = DataHeader { is_retransmission, ..self.options.header(position) };
        // Copies of one frame are alike.
        let payload = payload(&mut Streams::new(position.index() as u64).stream("payload"));
        let content = Content { ethertype: EtherType::IPV4, payload: &payload };
        emit(from_there(), &LinkGuardianFrame::Data { ack, data, content })
    }

    /// Frames before the next one get lost.
    fn lose(&mut self) {
        let lost = match self.below(40) {
            0..=25 => 0,
            26..=32 => 1,
            33..=37 => 1 + self.below(7),
            38 => LONG_HOLE,
            _ => LEAP,
        };
        if lost == LEAP {
            self.asked.clear();
        }
        let asked = lost.min(SenderConfig::PUBLISHED_HOLE_CAP.into());
        self.asked.extend((0..asked).map(|step| self.next.plus(step)));
        if lost > asked {
            self.unasked.push((self.next.plus(asked), lost - asked));
        }
        self.next = self.next.plus(lost);
    }

    fn new_frame(&mut self, switch: &Switch) -> Vec<u8> {
        self.lose();
        let position = self.next;
        self.next = position.next();
        let rides = self.below(3) == 0;
        let ack = rides.then(|| self.ack(switch, true));
        self.numbered(position, false, ack)
    }

    fn dummy(&mut self) -> Vec<u8> {
        self.lose();
        // The other fields of a dummy do not matter.
        let is_retransmission = self.below(4) == 0;
        let header = DataHeader { is_dummy: true, is_retransmission, ..self.options.header(self.next) };
        emit(from_there(), &LinkGuardianFrame::Dummy(header))
    }

    /// A copy of a frame that was asked for or was received long ago. One copy may come several times.
    fn retransmission(&mut self, switch: &Switch) -> Vec<u8> {
        let is_wanted = !self.asked.is_empty() && self.below(8) > 0;
        let position = if is_wanted {
            // The oldest ones mostly, or nothing would ever be in order again.
            let place = self.below(self.asked.len().min(3) as u32) as usize;
            if self.below(3) == 0 { self.asked[place] } else { self.asked.remove(place) }
        } else {
            let old = back(switch.receiver().expected(), 1 + self.below(30));
            let is_in = |&&(first, count): &&(Position, u32)| old.steps_after(first) < count;
            self.unasked.iter().find(is_in).map_or(old, |(first, _)| first.previous())
        };
        self.numbered(position, true, None)
    }

    fn stale(&mut self, switch: &Switch) -> Vec<u8> {
        let position = back(switch.receiver().expected(), 1 + self.below(30));
        self.numbered(position, false, None)
    }

    /// A position near those that may be acknowledged: older, newer, or never sent.
    fn ack(&mut self, switch: &Switch, is_piggybacked: bool) -> AckHeader {
        let sender = switch.sender();
        let leading = back(sender.leading_ack(), 2).plus(self.below(sender.outstanding() + 5));
        AckHeader { is_piggybacked, era: leading.era(), leading_ack: leading.number() }
    }

    fn acknowledgement(&mut self, switch: &Switch) -> Vec<u8> {
        let ack = self.ack(switch, false);
        emit(from_there(), &LinkGuardianFrame::Ack(ack))
    }

    /// About something that was sent, acknowledged already or not.
    fn notification(&mut self, switch: &Switch) -> Vec<u8> {
        let (oldest, outstanding) = (switch.sender().leading_ack(), switch.sender().outstanding());
        let leading = oldest.plus(self.below(outstanding + 1));
        let hole_size = 1 + self.below(7) as u8;
        let first_lost = back(leading, u32::from(hole_size) - self.below(2));
        let header = LossNotification {
            era: leading.era(),
            leading_ack: leading.number(),
            hole_size,
            first_lost: first_lost.number(),
        };
        emit(from_there(), &LinkGuardianFrame::Notification(header))
    }

    /// A frame of a direction that is not protected, perhaps with an acknowledgement.
    fn unnumbered(&mut self, switch: &Switch) -> Vec<u8> {
        let payload = payload(&mut self.stream);
        let content = Content { ethertype: EtherType::ARP, payload: &payload };
        if self.below(2) == 0 {
            let ack = self.ack(switch, true);
            return emit(from_there(), &LinkGuardianFrame::Unprotected { ack, content });
        }
        let mut frame = vec![0; EthernetHeader::LEN];
        EthernetHeader { ethertype: content.ethertype, ..from_there() }.emit(&mut frame);
        frame.extend_from_slice(content.payload);
        frame
    }

    /// A frame that no sender makes: it exists inside a switch only, or contradicts itself.
    fn malformed(&mut self) -> Vec<u8> {
        let (kind, place) = (self.below(4), self.next);
        let mut frame = emit(
            from_there(),
            &LinkGuardianFrame::Dummy(DataHeader { is_dummy: true, ..self.options.header(place) }),
        );
        let header = &mut frame[EthernetHeader::LEN..];
        match kind {
            // A copy in the sender's loop.
            0 => header[0] = 0b1100_0000,
            // A frame in the receiver's loop.
            1 => DataHeader { rx_buffered: true, ..self.options.header(place) }.emit(header),
            // A notification of nothing.
            2 => {
                let (leading_ack, first_lost) = (place.number(), place.number());
                LossNotification { era: place.era(), leading_ack, hole_size: 1, first_lost }.emit(header);
                header[3] = 0;
            }
            // A dummy behind an acknowledgement.
            _ => {
                AckHeader { is_piggybacked: true, era: place.era(), leading_ack: place.number() }
                    .emit(header);
                header[3..5].copy_from_slice(&EtherType::LINKGUARDIAN.0.to_be_bytes());
                DataHeader { is_dummy: true, ..self.options.header(place) }.emit(&mut header[5..]);
            }
        }
        frame
    }
}

/// A payload of a minimum frame or more.
fn payload(stream: &mut Stream) -> Vec<u8> {
    let mut payload = vec![0; 46 + stream.next_u32() as usize % 200];
    stream.fill_bytes(&mut payload);
    payload
}

fn back(position: Position, steps: u32) -> Position {
    position.plus(Position::COUNT as u32 - steps)
}

fn from_there() -> EthernetHeader {
    between_hosts(THERE, HERE, EtherType::LINKGUARDIAN)
}
