//! A switch around the engines, without time: each arrival gives the frames that leave because of it.

use lossylink_core::engine::linkguardian::{
    AckNoTimeout, AckUpdate, Acknowledgement, CopyFate, Delivery, Notification, Position, Receiver, Sender,
    SenderConfig,
};
use lossylink_core::rng::{RngCore, Stream};
use lossylink_core::time::{Duration, Instant};
use lossylink_core::wire::MINIMUM_FRAME;
use lossylink_core::wire::ethernet::{EtherType, EthernetHeader, MacAddress};
use lossylink_core::wire::linkguardian::{
    AckHeader, Content, DataHeader, LinkGuardianFrame, LossNotification,
};
use std::fmt;

const TIMER_PERIOD: Duration = Duration::from_ns(100);

/// A frame and the port that it leaves by.
pub(crate) type Output = (&'static str, Vec<u8>);

/// How a switch is set up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Options {
    /// Whether frames of the host are numbered.
    pub is_on: bool,
    pub in_order: bool,
    pub copies: u8,
    pub control_copies: u8,
    pub dummies: u8,
    pub deduplicate: bool,
    /// Value that the countdown of a wait starts from (LG-21).
    pub reload: u32,
    /// Whether acknowledgements only ride on frames of the host; else explicit ones carry them (LG-17).
    pub only_rides: bool,
    /// Where both ends begin.
    pub start: Position,
}

impl Options {
    pub(crate) fn draw(stream: &mut Stream) -> Self {
        let mut below = |bound: u32| stream.next_u32() % bound;
        let starts = [(0, false), (65_530, false), (65_525, true), (40_000, true)];
        let (number, era) = starts[below(4) as usize];
        Self {
            is_on: below(8) > 0,
            in_order: below(2) == 0,
            copies: 1 + below(3) as u8,
            control_copies: 1 + below(3) as u8,
            dummies: below(4) as u8,
            deduplicate: below(4) > 0,
            reload: below(4),
            only_rides: below(2) == 0,
            start: Position::new(number, era),
        }
    }
}

impl Options {
    /// The header of a frame that is sent for the first time.
    pub(crate) const fn header(self, position: Position) -> DataHeader {
        DataHeader {
            era: position.era(),
            is_retransmission: false,
            is_dummy: false,
            blocking_mode: self.in_order,
            rx_buffered: false,
            sequence: position.number(),
        }
    }
}

impl fmt::Display for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = |is: bool| u8::from(is);
        write!(
            f,
            "is_on={} in_order={} copies={} control_copies={} dummies={} deduplicate={} reload={} only_rides={} start={}",
            number(self.is_on),
            number(self.in_order),
            self.copies,
            self.control_copies,
            self.dummies,
            number(self.deduplicate),
            self.reload,
            number(self.only_rides),
            self.start.index()
        )
    }
}

/// Both roles of a switch at one end of a link.
pub(crate) struct Switch {
    options: Options,
    sender: Sender,
    copies: Vec<(Position, Vec<u8>)>,
    receiver: Receiver,
    register: Acknowledgement,
    /// Frames in the reorder loop, in the order in which they came.
    held: Vec<(Position, Vec<u8>)>,
    given_up: u64,
    now: Instant,
}

impl Switch {
    pub(crate) fn new(options: Options) -> Self {
        let Options { copies, dummies, .. } = options;
        let hole_cap = Some(SenderConfig::PUBLISHED_HOLE_CAP);
        let mut sender = Sender::new(SenderConfig { copies, dummies, hole_cap });
        let mut receiver = match options.in_order {
            true => Receiver::ordered(AckNoTimeout { period: TIMER_PERIOD, reload: options.reload }),
            false => Receiver::non_blocking(options.deduplicate),
        };
        sender.synchronise(options.start);
        receiver.synchronise(Instant::ZERO, options.start);
        Self {
            options,
            sender,
            copies: Vec::new(),
            receiver,
            register: Acknowledgement::default(),
            held: Vec::new(),
            given_up: 0,
            now: Instant::ZERO,
        }
    }

    pub(crate) const fn sender(&self) -> &Sender {
        &self.sender
    }

    pub(crate) const fn receiver(&self) -> &Receiver {
        &self.receiver
    }

    /// A frame of the host leaves for the link, and dummies after it.
    pub(crate) fn handle_host(&mut self, frame: &[u8]) -> Vec<Output> {
        let (ethernet, payload) = EthernetHeader::parse(frame).expect("a frame of ours");
        let content = Content { ethertype: ethernet.ethertype, payload };
        let is_taken_for_ours = !self.options.is_on && ethernet.ethertype == EtherType::LINKGUARDIAN;
        let rides = if is_taken_for_ours { None } else { self.register.poll() };
        let ack = rides.map(|leading| ack_header(leading, true));
        if !self.options.is_on {
            let sent = match ack {
                Some(ack) => emit(ethernet, &LinkGuardianFrame::Unprotected { ack, content }),
                None => frame.to_vec(),
            };
            return vec![("link", sent)];
        }
        let position = self.sender.stamp();
        let data = self.options.header(position);
        self.copies.push((position, emit(ethernet, &LinkGuardianFrame::Data { ack: None, data, content })));
        let mut outputs = vec![("link", emit(ethernet, &LinkGuardianFrame::Data { ack, data, content }))];
        while let Some(position) = self.sender.poll_dummy() {
            let header = DataHeader { is_dummy: true, ..self.options.header(position) };
            outputs.push(("link", emit(ethernet, &LinkGuardianFrame::Dummy(header))));
        }
        outputs
    }

    /// A frame arrives over the link.
    pub(crate) fn handle_link(&mut self, frame: &[u8]) -> Vec<Output> {
        let (ethernet, body) = EthernetHeader::parse(frame).expect("a frame of ours");
        if ethernet.ethertype != EtherType::LINKGUARDIAN {
            return vec![("host", frame.to_vec())];
        }
        match LinkGuardianFrame::parse(body) {
            Err(_) => Vec::new(),
            Ok(LinkGuardianFrame::Data { ack, data, content }) => {
                ack.into_iter()
                    .for_each(|ack| self.sender.handle_ack(Position::new(ack.leading_ack, ack.era)));
                self.free_copies();
                self.handle_data(ethernet, &data, content)
            }
            Ok(LinkGuardianFrame::Unprotected { ack, content }) => {
                self.sender.handle_ack(Position::new(ack.leading_ack, ack.era));
                self.free_copies();
                vec![("host", bare(ethernet, content))]
            }
            Ok(LinkGuardianFrame::Dummy(data)) => {
                let position = Position::new(data.sequence, data.era);
                let detection = self.receiver.detect_dummy(self.now, position);
                self.give_up_overrun();
                let mut outputs = self.tell(ethernet, detection.notification, detection.ack);
                outputs.extend(self.release());
                outputs
            }
            Ok(LinkGuardianFrame::Ack(ack)) => {
                self.sender.handle_ack(Position::new(ack.leading_ack, ack.era));
                self.free_copies()
            }
            Ok(LinkGuardianFrame::Notification(told)) => {
                let leading = Position::new(told.leading_ack, told.era);
                let steps = told.leading_ack.wrapping_sub(told.first_lost);
                let first_lost = leading.plus(Position::COUNT as u32 - u32::from(steps));
                self.sender.handle_notification(&Notification {
                    leading,
                    first_lost,
                    hole_size: told.hole_size,
                });
                self.free_copies()
            }
        }
    }

    /// A timer packet passes.
    pub(crate) fn handle_timer(&mut self) -> Vec<Output> {
        self.now += TIMER_PERIOD;
        if self.receiver.poll_timeout() <= self.now && self.receiver.handle_timeout(self.now).is_some() {
            self.given_up += 1;
        }
        self.release()
    }

    /// Values of the registers and counters of a switch, by the names of the switch program.
    pub(crate) fn state(&self) -> Vec<(&'static str, u64)> {
        let (sent, received) = (self.sender.counters(), self.receiver.counters());
        let number = |position: Position| position.index() as u64;
        let mut state = vec![
            ("sender_next", number(self.sender.next())),
            ("sender_leading_ack", number(self.sender.leading_ack())),
            ("sender_beyond_cap", sent.beyond_cap),
            ("SENDER_DATA", sent.data),
            ("SENDER_DUMMIES", sent.dummies),
            ("SENDER_RETRANSMITTED", sent.retransmitted),
            ("SENDER_ACKS", sent.acks),
            ("SENDER_NOTIFICATIONS", sent.notifications),
            ("SENDER_REPEATED", sent.repeated),
            ("SENDER_OUT_OF_RANGE", sent.out_of_range),
            ("receiver_expected", number(self.receiver.expected())),
            ("receiver_lost", received.lost),
            ("RECEIVER_DATA", received.data),
            ("RECEIVER_RETRANSMISSIONS", received.retransmissions),
            ("RECEIVER_DUMMIES", received.dummies),
            ("RECEIVER_NOTIFICATIONS", received.notifications),
            ("RECEIVER_FORWARDED", received.forwarded),
            ("RECEIVER_DUPLICATES", received.duplicates),
            ("RECEIVER_STALE", received.stale),
            ("given_up", self.given_up),
            ("acknowledgement_pending", self.register.pending().into()),
            ("acknowledgement_leading", number(self.register.leading())),
        ];
        let turn = self.receiver.as_ordered().map_or(self.receiver.expected(), |side| side.next());
        state.push(("turn", number(turn)));
        state
    }

    fn handle_data(
        &mut self,
        ethernet: EthernetHeader,
        data: &DataHeader,
        content: Content<'_>,
    ) -> Vec<Output> {
        let position = Position::new(data.sequence, data.era);
        let frame = bare(ethernet, content);
        let (told, delivery) = if data.is_retransmission {
            (Vec::new(), self.receiver.deliver_retransmission(self.now, position))
        } else {
            let detection = self.receiver.detect(self.now, position);
            self.give_up_overrun();
            let told = self.tell(ethernet, detection.notification, detection.ack);
            (told, self.receiver.deliver(self.now, position))
        };
        let mut outputs = told;
        match delivery {
            Delivery::Forward => outputs.push(("host", frame)),
            Delivery::Hold => self.held.push((position, frame)),
            Delivery::Duplicate => {}
        }
        outputs.extend(self.release());
        outputs
    }

    /// Too much waits: the oldest positions are given up before anything else (LG-33).
    fn give_up_overrun(&mut self) {
        while self.receiver.is_overrun() && self.receiver.handle_timeout(self.now).is_some() {
            self.given_up += 1;
        }
    }

    /// A notification leaves at once; an acknowledgement leaves when nothing else does.
    fn tell(
        &mut self,
        ethernet: EthernetHeader,
        notification: Option<Notification>,
        ack: AckUpdate,
    ) -> Vec<Output> {
        let back = EthernetHeader {
            destination: ethernet.source,
            source: ethernet.destination,
            ethertype: EtherType::LINKGUARDIAN,
        };
        self.register.apply(ack);
        let mut outputs = Vec::new();
        if let Some(told) = notification {
            let header = LossNotification {
                era: told.leading.era(),
                leading_ack: told.leading.number(),
                hole_size: told.hole_size,
                first_lost: told.first_lost.number(),
            };
            let frame = emit(back, &LinkGuardianFrame::Notification(header));
            outputs.extend((0..self.options.control_copies).map(|_| ("link", frame.clone())));
        }
        if !self.options.only_rides {
            while let Some(leading) = self.register.poll() {
                outputs.push(("link", emit(back, &LinkGuardianFrame::Ack(ack_header(leading, false)))));
            }
        }
        outputs
    }

    /// Copies come round: those that are acknowledged go, lost ones to the link (LG-6, LG-7).
    fn free_copies(&mut self) -> Vec<Output> {
        let mut outputs = Vec::new();
        let (sender, times) = (&mut self.sender, self.options.copies);
        self.copies.retain(|(position, copy)| match sender.inspect_copy(*position) {
            CopyFate::Hold => true,
            CopyFate::Release => false,
            CopyFate::Retransmit => {
                let mut frame = copy.clone();
                let header = &mut frame[EthernetHeader::LEN..];
                let (data, _) = DataHeader::parse(header).expect("a copy of ours");
                DataHeader { is_retransmission: true, ..data }.emit(header);
                outputs.extend((0..times).map(|_| ("link", frame.clone())));
                false
            }
        });
        outputs
    }

    /// Held frames come round until none has its turn (LG-20).
    fn release(&mut self) -> Vec<Output> {
        let mut outputs = Vec::new();
        let mut held = self.held.len() + 1;
        while self.held.len() < held {
            held = self.held.len();
            for (position, frame) in std::mem::take(&mut self.held) {
                match self.receiver.deliver_buffered(self.now, position) {
                    Delivery::Forward => outputs.push(("host", frame)),
                    Delivery::Hold => self.held.push((position, frame)),
                    Delivery::Duplicate => {}
                }
            }
        }
        outputs
    }
}

fn ack_header(leading: Position, is_piggybacked: bool) -> AckHeader {
    AckHeader { is_piggybacked, era: leading.era(), leading_ack: leading.number() }
}

/// The frame as the host sent it.
fn bare(ethernet: EthernetHeader, content: Content<'_>) -> Vec<u8> {
    let mut frame = vec![0; EthernetHeader::LEN];
    EthernetHeader { ethertype: content.ethertype, ..ethernet }.emit(&mut frame);
    frame.extend_from_slice(content.payload);
    frame
}

/// A frame between these addresses as the wire shows it; control frames are padded (WIRE-9).
pub(crate) fn emit(ethernet: EthernetHeader, inner: &LinkGuardianFrame<'_>) -> Vec<u8> {
    let start = EthernetHeader::LEN;
    let mut frame = vec![0; start + inner.headers_len()];
    EthernetHeader { ethertype: EtherType::LINKGUARDIAN, ..ethernet }.emit(&mut frame);
    inner.emit_headers(&mut frame[start..]);
    frame.extend_from_slice(inner.payload());
    frame.resize(frame.len().max(MINIMUM_FRAME.0 as usize), 0);
    frame
}

/// The header of a frame between the two hosts, here toward one of them.
pub(crate) fn between_hosts(from: u8, to: u8, ethertype: EtherType) -> EthernetHeader {
    let address = |host| MacAddress([2, 0, 0, 0, 0, host]);
    EthernetHeader { destination: address(to), source: address(from), ethertype }
}
