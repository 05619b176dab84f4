//! Two RDMA endpoints whose packets are written as words: `w3?` is packet 3 of a WRITE that asks for
//! an acknowledgement, `nak1` a sequence error, `snak1<4` a selective report, `read0x3000` a READ
//! request for 3000 bytes, `r2` its third response.

use lossylink_core::time::{Duration, Instant};
use lossylink_sim::transport::rdma::{
    Config, Operation, Packet, Place, Psn, ReadRequest, ReadResponse, Requester, Responder, Status, Verb,
};
use std::collections::HashMap;

/// Returns the instant `us` microseconds after the start.
pub(crate) fn at(us: u64) -> Instant {
    Instant::ZERO + Duration::from_us(us)
}

/// Returns the instant `ns` nanoseconds after the start.
pub(crate) fn at_ns(ns: u64) -> Instant {
    Instant::ZERO + Duration::from_ns(ns)
}

/// Both ends of a connection; the test is the network between them.
pub(crate) struct Script {
    pub(crate) requester: Requester,
    pub(crate) responder: Responder,
    /// The last packet that each word showed.
    seen: HashMap<String, Packet>,
}

impl Script {
    pub(crate) fn new(config: Config) -> Self {
        Self { requester: Requester::new(&config), responder: Responder::new(&config), seen: HashMap::new() }
    }

    pub(crate) fn post(&mut self, now: Instant, operation: Operation) {
        self.requester.post(now, operation);
    }

    /// Returns all packets that the requester sends now.
    pub(crate) fn requests(&mut self, now: Instant) -> String {
        self.some_requests(now, usize::MAX)
    }

    /// Returns at most `count` of the packets that the requester sends now.
    pub(crate) fn some_requests(&mut self, now: Instant, count: usize) -> String {
        let requester = &mut self.requester;
        let packets = std::iter::from_fn(|| requester.poll_transmit(now)).take(count).collect();
        self.show(packets)
    }

    /// Returns all packets that the responder sends now.
    pub(crate) fn replies(&mut self, now: Instant) -> String {
        let responder = &mut self.responder;
        let packets = std::iter::from_fn(|| responder.poll_transmit(now)).collect();
        self.show(packets)
    }

    /// Gives the responder packets that the requester has sent. Returns the answers after the last
    /// packet.
    pub(crate) fn deliver(&mut self, now: Instant, words: &str) -> String {
        self.bring(now, words, false);
        self.replies(now)
    }

    /// Delivers as [`deliver`](Self::deliver) does, with congestion marks.
    pub(crate) fn deliver_marked(&mut self, now: Instant, words: &str) -> String {
        self.bring(now, words, true);
        self.replies(now)
    }

    /// Gives the responder packets, with congestion marks or without, and asks for no answer yet.
    pub(crate) fn bring(&mut self, now: Instant, words: &str, is_marked: bool) {
        for word in words.split_whitespace() {
            let packet = self.parse(word);
            self.responder.handle_packet(now, &packet, is_marked);
        }
    }

    /// Gives the requester packets.
    pub(crate) fn answer(&mut self, now: Instant, words: &str) {
        for word in words.split_whitespace() {
            let packet = self.parse(word);
            self.requester.handle_packet(now, &packet, false);
        }
    }

    /// Gives the requester one packet with a congestion mark.
    pub(crate) fn answer_marked(&mut self, now: Instant, word: &str) {
        let packet = self.parse(word);
        self.requester.handle_packet(now, &packet, true);
    }

    pub(crate) fn timeout(&mut self, now: Instant) {
        self.requester.handle_timeout(now);
    }

    /// Returns the index, the status and the time of the next completion.
    pub(crate) fn completion(&mut self) -> Option<(u64, Status, Instant)> {
        self.requester.poll_completion().map(|done| (done.index, done.status, done.completed_at))
    }

    fn show(&mut self, packets: Vec<Packet>) -> String {
        let words: Vec<String> = packets
            .into_iter()
            .map(|packet| {
                let word = word(&packet);
                self.seen.insert(word.clone(), packet);
                word
            })
            .collect();
        words.join(" ")
    }

    /// Returns the packet of a word: a packet that was sent, or an answer put together from its
    /// numbers.
    fn parse(&self, word: &str) -> Packet {
        self.seen.get(word).copied().unwrap_or_else(|| parse_answer(word))
    }
}

fn word(packet: &Packet) -> String {
    match packet {
        Packet::Request(request) => {
            let verb = if request.verb == Verb::Write { 'w' } else { 's' };
            let question = if request.ack_request { "?" } else { "" };
            format!("{verb}{}{question}", request.psn.value())
        }
        Packet::ReadRequest(ReadRequest { psn, bytes }) => format!("read{}x{bytes}", psn.value()),
        Packet::ReadResponse(response) => format!("r{}", response.psn.value()),
        Packet::Ack { psn } => format!("ack{}", psn.value()),
        Packet::Nak { expected } => format!("nak{}", expected.value()),
        Packet::SelectiveNak { expected, received } => {
            format!("snak{}<{}", expected.value(), received.value())
        }
        Packet::Cnp => "cnp".to_owned(),
    }
}

fn parse_answer(word: &str) -> Packet {
    let psn = |digits: &str| Psn::of(digits.parse().unwrap_or_else(|_| panic!("{word:?} was never sent")));
    if word == "cnp" {
        Packet::Cnp
    } else if let Some(numbers) = word.strip_prefix("snak") {
        let (expected, received) = numbers.split_once('<').expect("snakE<R");
        Packet::SelectiveNak { expected: psn(expected), received: psn(received) }
    } else if let Some(number) = word.strip_prefix("nak") {
        Packet::Nak { expected: psn(number) }
    } else if let Some(number) = word.strip_prefix("ack") {
        Packet::Ack { psn: psn(number) }
    } else if let Some(number) = word.strip_prefix('r') {
        Packet::ReadResponse(ReadResponse { psn: psn(number), place: Place::Middle, payload: 1024 })
    } else {
        panic!("{word:?} was never sent")
    }
}
