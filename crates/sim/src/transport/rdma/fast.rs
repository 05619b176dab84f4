//! Packets in the middle of a message, which differ in their numbers alone, in one call. The result equals that of one call a
//! packet; the checks that matter only when something else happens between the packets are left out.

use super::operation::Posted;
use super::packet::Packet;
use super::{Config, Requester, Responder, psn};
use crate::kernel::Train;
use lossylink_core::time::{Duration, Instant};

impl Config {
    /// Returns how many values [`Requester::phase`] has.
    pub fn phases(&self, bytes: u64) -> usize {
        Posted::packets(bytes, self.mtu).min(1 + self.ack_interval()) as usize
    }
}

impl Requester {
    /// Sends the packets behind `packet`, which was polled at `now`, as long as they differ from `packet` in their number alone.
    /// Packets leave `spacing` apart up to `horizon`, as the interface takes them, or all at once. Returns the times at which
    /// they leave, `packet` included. (RDMA-5, RDMA-19)
    pub fn repeat(&mut self, packet: &Packet, now: Instant, spacing: Duration, horizon: Instant) -> Train {
        let alone = Train::of_one(now);
        let Packet::Request(request) = packet else { return alone };
        let Some(operation) = self.operations.get(self.cursor.operation) else { return alone };
        if !request.is_plain() || self.selective.is_some() || self.pacer.limiter.is_some() {
            return alone;
        }
        let (start, interval) = (self.cursor.position, self.config.ack_interval());
        let before_end = (operation.end - 1).min(self.acknowledged + self.config.window());
        let before_question = interval - 1 - start % interval;
        let most = before_end.saturating_sub(start).min(before_question) as u32;
        let train = Train { spacing, count: 1 + most, ..alone };
        // A packet that waits for the line leaves by a timer, and the ACK timer goes first.
        let until = horizon.min(self.timer.poll_timeout().just_before());
        let train = if spacing == Duration::ZERO { train } else { train.up_to(train.come_by(until).max(1)) };
        let more = train.count - 1;
        if more > 0 {
            self.statistics.packets_sent += u64::from(more);
            self.statistics.retransmissions += self.cursor.advance(start + u64::from(more), false);
        }
        train
    }

    /// Returns the first packet of the next WRITE of `bytes` that asks for an acknowledgement while other packets follow, counted
    /// from 1. Returns 0 if only the last packet asks. (RDMA-5)
    pub fn phase(&self, bytes: u64) -> usize {
        let start = if self.has_failed() { psn::start(self.config.first_psn) } else { self.posted_end };
        let (packets, interval) = (Posted::packets(bytes, self.config.mtu), self.config.ack_interval());
        let first = interval - start % interval;
        if first < packets { first as usize } else { 0 }
    }

    /// Leaves the connection as a WRITE of `bytes` does that loses no packet while no other operation is in progress. (RDMA-4,
    /// RDMA-5)
    pub fn pass_write(&mut self, bytes: u64) {
        debug_assert!(self.operations.is_empty() && !self.has_failed(), "the connection is idle and stands");
        let end = self.posted_end + Posted::packets(bytes, self.config.mtu);
        (self.posted_end, self.acknowledged, self.confirmed) = (end, end, end);
        self.cursor.pass(end);
        if let Some(selective) = &mut self.selective {
            selective.advance(end);
        }
    }
}

impl Responder {
    /// Leaves the responder as a WRITE of `bytes` does that loses no packet while nothing else is under way.
    pub fn pass_write(&mut self, bytes: u64) {
        self.expected += Posted::packets(bytes, self.config.mtu);
        self.acknowledgeable = self.expected;
    }

    /// Takes packets in the middle of a message, `packet` first, that come in their turn. Returns how many packets were taken.
    pub fn take_train(&mut self, train: Train, packet: &Packet) -> u32 {
        let Packet::Request(request) = packet else { return 0 };
        let is_next = train.step == 1 && request.psn.near(self.expected) == self.expected;
        let is_idle = self.reassembly.is_none() && self.reply.is_none() && self.responses.is_empty();
        if !(request.is_plain() && is_next && is_idle) {
            return 0;
        }
        self.take_plain(train.count, request.payload);
        train.count
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Config, Operation};
    use super::*;
    use crate::net::{Ecn, Frame, LineRate, Payload};
    use crate::transport::Departure;
    use lossylink_core::units::BitRate;
    use proptest::prelude::*;

    type Sent = Vec<(Instant, Packet)>;

    /// A requester behind a line.
    struct Sender {
        requester: Requester,
        line: Option<LineRate>,
        free_at: Instant,
    }

    impl Sender {
        /// Lets the requester send up to and including `until`.
        fn send(&mut self, from: Instant, until: Instant, in_trains: bool, sent: &mut Sent) {
            let mut now = from;
            while now <= until {
                self.requester.handle_timeout(now);
                let line = self.send_now(&mut now, until, in_trains, sent);
                now = self.requester.poll_timeout().min(line);
            }
        }

        /// Sends the packets that may leave, and returns when the line is free for the next packet.
        fn send_now(
            &mut self,
            now: &mut Instant,
            until: Instant,
            in_trains: bool,
            sent: &mut Sent,
        ) -> Instant {
            loop {
                let mut packet = match self.requester.poll_at_line(*now, self.free_at <= *now) {
                    Departure::AtOnce(packet) | Departure::Formed(packet) => packet,
                    Departure::AwaitsLine => return self.free_at,
                    Departure::Nothing => return Instant::NEVER,
                };
                let octets = Frame::of_ip_bytes(packet.ip_bytes(), Ecn::NotCapable, ()).octets;
                let spacing = self.line.map_or(Duration::ZERO, |line| line.serialisation(octets));
                let repeat = |requester: &mut Requester| requester.repeat(&packet, *now, spacing, until);
                let train = if in_trains { repeat(&mut self.requester) } else { Train::of_one(*now) };
                for index in 0..train.count {
                    sent.push((train.nth(index), packet));
                    packet.follow(1, 1);
                }
                *now = train.last();
                self.free_at = *now + spacing;
            }
        }
    }

    fn receive(responder: &mut Responder, sent: &Sent, lost: &[usize], in_trains: bool) -> Sent {
        let (mut answers, mut place) = (Sent::new(), 0);
        let arrived: Sent =
            (0..).zip(sent).filter(|(index, _)| !lost.contains(index)).map(|(_, &sent)| sent).collect();
        while let Some(&(at, packet)) = arrived.get(place) {
            let follows = |other: &(Instant, Packet), index: u32| {
                packet.distance(&other.1, 1) == Some(index) && other.0 >= at
            };
            let alike = (0..).zip(&arrived[place..]).take_while(|&(index, other)| follows(other, index));
            let count = (alike.count() as u32).max(1);
            let train = Train { count, ..Train::of_one(at) };
            let taken = if in_trains && count > 1 { responder.take_train(train, &packet) } else { 0 };
            if taken == 0 {
                responder.handle_packet(at, &packet, false);
            }
            place += taken.max(1) as usize;
            while let Some(answer) = responder.poll_transmit(at) {
                answers.push((at, answer));
            }
        }
        answers
    }

    proptest! {
        /// RDMA-5, RDMA-6, RDMA-11, RDMA-19
        #[test]
        fn packets_together_are_what_they_are_one_by_one(
            messages in prop::collection::vec(1u64..400_000, 1..4),
            gbps in prop::option::of(prop::sample::select(vec![10u64, 100])),
            turns in prop::collection::vec((100u64..300_000, prop::collection::vec(0usize..300, 0..3)), 1..12),
            ack_interval in prop::sample::select(vec![1u32, 16, 256]),
        ) {
            let line = gbps.map(|gbps| LineRate::new(BitRate::from_gbps(gbps)));
            let config = Config { ack_interval, ..Config::default() };
            let drive = |in_trains| {
                let (requester, mut far) = (Requester::new(&config), Responder::new(&config));
                let mut near = Sender { requester, line, free_at: Instant::ZERO };
                let (mut now, mut all, mut answered) = (Instant::ZERO, Sent::new(), Sent::new());
                for &bytes in &messages {
                    near.requester.post(now, Operation::Write(bytes));
                }
                for (turn_ns, lost) in &turns {
                    let (until, mut sent) = (now + Duration::from_ns(*turn_ns), Sent::new());
                    near.send(now, until, in_trains, &mut sent);
                    let answers = receive(&mut far, &sent, lost, in_trains);
                    for (_, answer) in &answers {
                        near.requester.handle_packet(until, answer, false);
                    }
                    now = until;
                    all.extend(sent);
                    answered.extend(answers.into_iter().map(|(_, packet)| (until, packet)));
                }
                (all, answered, format!("{:?} {far:?}", near.requester))
            };
            let (together, apart) = (drive(true), drive(false));
            prop_assert_eq!(together.0, apart.0);
            prop_assert_eq!(together.1, apart.1);
            prop_assert_eq!(together.2, apart.2);
        }
    }

    /// The canary of the property: a message of a hundred packets leaves and arrives in three parts.
    #[test]
    fn the_middle_of_a_message_is_a_train() {
        let config = Config::default();
        let (mut near, mut far) = (Requester::new(&config), Responder::new(&config));
        near.post(Instant::ZERO, Operation::Write(100 * 1024));
        let first = near.poll_transmit(Instant::ZERO).unwrap();
        let repeat =
            |near: &mut Requester, packet| near.repeat(packet, Instant::ZERO, Duration::ZERO, Instant::ZERO);
        assert_eq!(repeat(&mut near, &first).count, 1);
        far.handle_packet(Instant::ZERO, &first, false);
        let middle = near.poll_transmit(Instant::ZERO).unwrap();
        let train = repeat(&mut near, &middle);
        assert_eq!((train.count, far.take_train(train, &middle)), (98, 98));
        assert_eq!(far.bytes_in_order(), 99 * 1024);
    }
}
