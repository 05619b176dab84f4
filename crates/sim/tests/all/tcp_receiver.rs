//! Dialogues with one receiver at a time, with every instant given. Ticks come at whole milliseconds.

use super::tcp_sender::{ack, ms, reno, us};
use lossylink_core::time::{Duration, Instant};
use lossylink_sim::transport::tcp::{Config, CongestionControl, Data, Packet, Receiver};

/// A receiver in a dialogue.
struct Listener(Receiver);

impl Listener {
    fn new(config: &Config) -> Self {
        let mut listener = Self(Receiver::new(config, Duration::ZERO));
        listener.0.handle_packet(ms(0), &Packet::Syn, false);
        assert_eq!(listener.0.poll_transmit(ms(0)), Some(Packet::SynAck));
        listener.0.handle_packet(ms(10), &ack(0, &[]), false);
        listener
    }

    fn answers(&mut self, now: Instant) -> Vec<(u64, Vec<(u64, u64)>)> {
        std::iter::from_fn(|| self.0.poll_transmit(now))
            .map(|packet| match packet {
                Packet::Ack(ack) => (ack.next, ack.blocks().map(|block| (block.start, block.end)).collect()),
                other => panic!("a receiver sends acknowledgements, not {other:?}"),
            })
            .collect()
    }

    fn hears(&mut self, now: Instant, number: u64) -> Vec<(u64, Vec<(u64, u64)>)> {
        self.0.handle_packet(now, &Packet::Data(segment(number)), false);
        self.answers(now)
    }
}

fn segment(number: u64) -> Data {
    Data {
        first: number,
        payload: 1460,
        segments: 1,
        retransmission: false,
        ecn_capable: true,
        window_reduced: false,
        timestamp: 0,
    }
}

/// TCP-52, TCP-54, TCP-55: one by one at first, then every second, the odd one after 40 ms.
#[test]
fn acknowledgements_are_quick_at_first_and_then_delayed() {
    let mut listener = Listener::new(&reno());
    for number in 0..16 {
        assert_eq!(listener.hears(ms(20), number), [(number + 1, vec![])]);
    }
    assert_eq!(listener.hears(ms(20), 16), []);
    assert_eq!(listener.hears(ms(20), 17), [(18, vec![])]);
    assert_eq!(listener.hears(us(20_500), 18), []);
    assert_eq!(listener.0.poll_timeout(), ms(61), "40 jiffies, at the next tick");
    listener.0.handle_timeout(ms(61));
    assert_eq!(listener.answers(ms(61)), [(19, vec![])]);
}

/// TCP-16, TCP-17, TCP-53, TCP-54: out of order at once, a filled hole at once, a duplicate reported.
#[test]
fn holes_and_duplicates_are_reported_at_once() {
    let mut listener = Listener::new(&reno());
    (0..18).for_each(|number| drop(listener.hears(ms(20), number)));
    assert_eq!(listener.hears(ms(21), 19), [(18, vec![(19, 20)])]);
    assert_eq!(listener.hears(ms(21), 21), [(18, vec![(21, 22), (19, 20)])]);
    assert_eq!(listener.hears(ms(21), 18), [(20, vec![(21, 22)])]);
    assert_eq!(listener.hears(ms(21), 20), [(22, vec![])]);
    assert_eq!(listener.hears(ms(22), 22), []);
    assert_eq!(listener.hears(ms(22), 23), [(24, vec![])]);
    assert_eq!(listener.hears(ms(22), 5), [(24, vec![(5, 6)])]);
    assert_eq!(listener.hears(ms(22), 24), [(25, vec![])], "one by one again");
    assert_eq!(listener.0.bytes_in_order(), 25 * 1460);
    assert_eq!(listener.0.duplicates_received(), 1);
}

/// TCP-56: past the third duplicate, acknowledgements wait for a twentieth of the round trip.
#[test]
fn duplicate_acknowledgements_are_thinned() {
    let mut listener = Listener::new(&reno());
    (0..18).for_each(|number| drop(listener.hears(ms(20), number)));
    let answered: Vec<usize> = (19..25).map(|number| listener.hears(ms(21), number).len()).collect();
    assert_eq!(answered, [1, 1, 1, 0, 0, 0]);
    assert_eq!(listener.0.poll_timeout(), us(21_100), "no estimate yet: the timer's slack alone");
    listener.0.handle_timeout(us(21_100));
    assert_eq!(listener.answers(us(21_100)), [(18, vec![(19, 25)])]);
}

/// DCTCP-4: each change of the mark is echoed exactly, a delayed acknowledgement with the old one.
#[test]
fn dctcp_echoes_runs_of_marks_exactly() {
    let config = Config { congestion_control: CongestionControl::Dctcp, ..reno() };
    let mut listener = Listener::new(&config);
    (0..17).for_each(|number| drop(listener.hears(ms(20), number)));
    let mut echoes = Vec::new();
    for (number, marked) in [(17, false), (18, false), (19, true), (20, true), (21, false)] {
        listener.0.handle_packet(ms(20), &Packet::Data(segment(number)), marked);
        while let Some(Packet::Ack(ack)) = listener.0.poll_transmit(ms(20)) {
            echoes.push((ack.next, ack.ecn_echo));
        }
    }
    // Segment 16 was waiting; 18 waits when the marked 19 comes.
    assert_eq!(echoes, [(18, false), (19, false), (20, true), (21, true), (22, false)]);
}

/// TCP-50: the classic echo stands until the sender says that it reduced.
#[test]
fn the_classic_echo_stands_until_the_reduction() {
    let mut listener = Listener::new(&Config { ecn: true, ..reno() });
    let mut echo = |data: Data, marked| {
        listener.0.handle_packet(ms(20), &Packet::Data(data), marked);
        match listener.0.poll_transmit(ms(20)) {
            Some(Packet::Ack(ack)) => ack.ecn_echo,
            other => panic!("{other:?}"),
        }
    };
    assert!(!echo(segment(0), false));
    assert!(echo(segment(1), true));
    assert!(echo(segment(2), false));
    assert!(!echo(Data { window_reduced: true, ..segment(3) }, false));
}

/// TCP-54: a short segment ends the data of one write; reading the segment acknowledges at once.
#[test]
fn a_short_last_segment_is_acknowledged_at_once() {
    let mut listener = Listener::new(&reno());
    (0..16).for_each(|number| drop(listener.hears(ms(20), number)));
    let last = Data { payload: 1027, ..segment(16) };
    listener.0.handle_packet(ms(20), &Packet::Data(last), false);
    assert_eq!(listener.answers(ms(20)), [(17, vec![])]);
    assert_eq!(listener.0.bytes_in_order(), 24_387);
}
