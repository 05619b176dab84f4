//! Tests of single messages, a silence and a restart; `model.rs` tries every other order of events.

mod model;

use super::*;
use crate::protection::LinkGuardian;
use crate::rng::Streams;

fn pair() -> (Handshake, Handshake) {
    let streams = Streams::new(1);
    (Handshake::new(streams.stream("near")), Handshake::new(streams.stream("far")))
}

const SAYS: Says = Says {
    protection: Protection::LinkGuardian(LinkGuardian::ORDERED),
    sent: [0; 3],
    received: [0; 3],
    longest: 1514,
    widest: 0,
    tally: Tally { frames: 0, contents: 0 },
    account: [0; 4],
};

fn at(us: u64) -> Instant {
    Instant::ZERO + Duration::from_us(us)
}

/// Returns the hello that is due.
fn hello(end: &mut Handshake, now: Instant) -> Hello {
    assert!(end.handle_timeout(now).hello, "a hello was due");
    end.message(Kind::Hello, SAYS)
}

/// Returns both ends of a session, agreed within 0.4 ms.
fn agreed() -> (Handshake, Handshake) {
    let (mut near, mut far) = pair();
    // The first hello of the far end is lost.
    hello(&mut far, at(0));
    let question = hello(&mut near, at(0));
    assert!(far.handle(at(100), &question).is_asking);
    let answer = far.reply(&question, SAYS);
    assert!(near.handle(at(200), &answer).begins);
    assert!(far.handle(at(300), &hello(&mut near, at(200))).begins);
    let answer = hello(&mut far, at(300));
    assert!(near.handle(at(400), &answer).counts);
    (near, far)
}

// G-5, G-6, G-7, G-9
#[test]
fn four_messages_make_a_session() {
    let (near, far) = agreed();
    assert_eq!((near.peer(), far.peer()), (Peer::Agreed, Peer::Agreed));
    assert_eq!(near.names(), far.names().swapped());
    assert_eq!(near.loop_time(), Some(Duration::from_us(200)));
}

// G-8
#[test]
fn silence_ends_the_session() {
    let (mut near, _) = agreed();
    let before = near.names();
    assert!(!near.handle_timeout(at(500_399)).silent);
    assert!(near.handle_timeout(at(500_400)).silent);
    assert_eq!(near.peer(), Peer::Absent);
    assert_ne!(near.names(), before);
}

// G-20
#[test]
fn what_comes_again_or_late_changes_nothing() {
    let (mut near, mut far) = agreed();
    let first = hello(&mut far, at(60_000));
    let second = hello(&mut far, at(120_000));
    near.handle_timeout(at(60_000));
    assert!(near.handle(at(120_100), &second).counts);
    for stale in [&first, &second] {
        assert!(!near.handle(at(120_200), stale).counts);
    }
    // The nonce that the message gives back is older than a silence.
    let third = hello(&mut far, at(180_000));
    assert_eq!(near.handle(at(700_000), &third), Meaning { is_asking: true, ..Meaning::default() });
}

// G-6, G-20
#[test]
fn a_restarted_peer_is_taken_once_the_former_is_quiet() {
    let (mut near, _) = agreed();
    let mut again = Handshake::new(Streams::new(2).stream("far"));
    hello(&mut again, at(50_000));
    let question = hello(&mut near, at(60_000));
    again.handle(at(60_100), &question);
    let answer = again.reply(&question, SAYS);
    assert_eq!(near.handle(at(60_200), &answer), Meaning::default());
    assert_eq!(near.peer(), Peer::Agreed);
    let question = hello(&mut near, at(110_000));
    again.handle(at(110_100), &question);
    let answer = again.reply(&question, SAYS);
    assert!(near.handle(at(110_200), &answer).begins);
    assert_eq!(near.peer(), Peer::Known);
}

// G-21
#[test]
fn the_last_number_makes_somebody_else() {
    let (mut near, mut far) = agreed();
    let mut last = hello(&mut far, at(60_000));
    last.session = u32::MAX;
    assert!(near.handle(at(60_100), &last).begins);
    let before = near.identity;
    near.renew(at(60_200));
    assert_eq!((near.peer(), near.session), (Peer::Absent, 1));
    assert_ne!(near.identity, before);
}

// G-20: forged questions are answered, ten in a hello interval at most.
#[test]
fn answers_are_few_whoever_asks() {
    let (mut near, mut far) = pair();
    let question = hello(&mut far, at(0));
    let answered = (0..50_000).filter(|&us| near.handle(at(us), &question).is_asking).count();
    assert_eq!(answered, 10);
}
