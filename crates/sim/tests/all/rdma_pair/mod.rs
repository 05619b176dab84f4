//! A requester and a responder on two lossy lines of one rate: the smallest world for RDMA.

use lossylink_core::loss::LossProcess;
use lossylink_core::time::{Duration, Instant};
use lossylink_sim::kernel::{Agenda, Pipe};
use lossylink_sim::net::{Ecn, Frame, LineRate};
use lossylink_sim::transport::rdma::{Completion, Config, Operation, Packet, Requester, Responder};

/// The sources of events, in the order in which ties break.
const ARRIVAL: usize = 0;
const ANSWER: usize = 1;
const TIMER: usize = 2;
const LINE: usize = 3;
const LINE_BACK: usize = 4;

/// One direction: a line that serialises, a delay, and losses.
struct Direction {
    rate: LineRate,
    propagation: Duration,
    loss: LossProcess,
    free_at: Instant,
    flying: Pipe<Packet>,
}

impl Direction {
    /// Puts a packet on the free line.
    fn send(&mut self, now: Instant, packet: Packet) {
        let frame = Frame::of_ip_bytes(packet.ip_bytes(), Ecn::NotCapable, ());
        self.free_at = now + self.rate.serialisation(frame.octets);
        if !self.loss.is_lost(frame.frame_bytes_with_fcs()) {
            self.flying.push(self.free_at + self.propagation, packet);
        }
    }
}

/// Both ends and the two directions between them.
pub(crate) struct Pair {
    pub(crate) requester: Requester,
    pub(crate) responder: Responder,
    forward: Direction,
    back: Direction,
    agenda: Agenda<5>,
    pub(crate) now: Instant,
}

impl Pair {
    pub(crate) fn new(
        config: &Config,
        rate: LineRate,
        propagation: Duration,
        losses: (LossProcess, LossProcess),
    ) -> Self {
        let direction =
            |loss| Direction { rate, propagation, loss, free_at: Instant::ZERO, flying: Pipe::new() };
        Self {
            requester: Requester::new(config),
            responder: Responder::new(config),
            forward: direction(losses.0),
            back: direction(losses.1),
            agenda: Agenda::new(),
            now: Instant::ZERO,
        }
    }

    /// Runs one operation to its end.
    pub(crate) fn run(&mut self, operation: Operation) -> Completion {
        self.requester.post(self.now, operation);
        self.serve_requester();
        loop {
            if let Some(completion) = self.requester.poll_completion() {
                return completion;
            }
            self.step();
        }
    }

    /// Runs the next event that is due.
    fn step(&mut self) {
        let now = self.agenda.poll_timeout();
        assert!(!now.is_never(), "the connection has come to rest with work left");
        self.now = now;
        let source = self.agenda.poll(now).expect("something is due at the earliest deadline");
        match source {
            ARRIVAL => {
                let (_, packet) = self.forward.flying.pop().expect("an arrival is due");
                self.responder.handle_packet(now, &packet, false);
                self.serve_responder();
            }
            ANSWER => {
                let (_, packet) = self.back.flying.pop().expect("an answer is due");
                self.requester.handle_packet(now, &packet, false);
                self.serve_requester();
            }
            TIMER => {
                self.requester.handle_timeout(now);
                self.serve_requester();
            }
            LINE => self.serve_requester(),
            _ => self.serve_responder(),
        }
    }

    /// Lets the requester send if its line is free.
    fn serve_requester(&mut self) {
        if self.forward.free_at <= self.now {
            let packet = self.requester.poll_transmit(self.now);
            if let Some(packet) = packet {
                self.forward.send(self.now, packet);
            }
            self.agenda.set(LINE, if packet.is_some() { self.forward.free_at } else { Instant::NEVER });
            self.agenda.set(ARRIVAL, self.forward.flying.poll_timeout());
        }
        self.agenda.set(ANSWER, self.back.flying.poll_timeout());
        self.agenda.set(TIMER, self.requester.poll_timeout());
    }

    /// Lets the responder send if its line is free.
    fn serve_responder(&mut self) {
        if self.back.free_at <= self.now {
            let packet = self.responder.poll_transmit(self.now);
            if let Some(packet) = packet {
                self.back.send(self.now, packet);
            }
            self.agenda.set(LINE_BACK, if packet.is_some() { self.back.free_at } else { Instant::NEVER });
            self.agenda.set(ANSWER, self.back.flying.poll_timeout());
        }
        self.agenda.set(ARRIVAL, self.forward.flying.poll_timeout());
    }
}
