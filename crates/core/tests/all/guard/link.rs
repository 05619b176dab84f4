//! The knowledge of two guards about their link: the longest frame that the link carries, and its
//! losses.

use super::pair::{NONE, Pair, count, frame, ratio};
use super::swarm::ids;
use super::{agreed, lines, non_blocking, ordered, stream};
use lossylink_core::guard::Peer;
use lossylink_core::protection::Protection;
use lossylink_core::time::Duration;

/// The longest frame of LinkGuardian with a LAN of 1514 bytes: 10 of headers, 4 of the tag.
const LONGEST: usize = 1528;

fn peers(pair: &Pair) -> [Peer; 2] {
    pair.guards.each_ref().map(|guard| guard.session().unwrap().peer)
}

// G-32: hellos get through, and full frames would not if they were protected.
#[test]
fn frames_pass_unprotected_where_protected_ones_are_too_long() {
    let mut pair = Pair::new(1, lines, [ordered(), ordered()], [NONE, NONE]);
    pair.narrow(LONGEST - 1);
    pair.run_for(Duration::from_secs(3));
    assert_eq!(peers(&pair), [Peer::Known, Peer::Known]);
    let state = pair.guards[0].session().unwrap();
    assert_eq!((state.needed_and_carried.0, state.peer_longest), (LONGEST as u16, Some(1514)));
    assert!(state.is_too_narrow);
    assert!(state.needed_and_carried.1 < 100, "short messages got through: {state:?}");
    stream(&mut pair, 0..100, 1514);
    assert_eq!(ids(&pair.delivered[1]), Vec::from_iter(0..100));
    pair.narrow(LONGEST);
    pair.run_for(Duration::from_ms(300));
    assert_eq!(peers(&pair), [Peer::Agreed, Peer::Agreed]);
    assert_eq!(pair.guards[0].session().unwrap().needed_and_carried, (LONGEST as u16, LONGEST as u16));
}

// G-9, G-32: a long hello takes longer, and gives no measure of the loop of short frames.
#[test]
fn long_messages_do_not_lengthen_the_loop() {
    let mut pair = agreed(1, ordered(), [NONE, NONE]);
    let mut loops = Vec::new();
    for _ in 0..300 {
        pair.run_for(Duration::from_ms(10));
        loops.extend(pair.guards[0].session().unwrap().loop_time);
    }
    let longest = loops.iter().max().unwrap();
    // Two flights of 100 us, and two messages of 83 bytes at 1 Gb/s with 24 around them.
    assert_eq!(*longest, Duration::from_ns(200_000 + 2 * (83 + 24) * 8));
}

// G-32: a path that turns narrow while it is guarded.
#[test]
fn full_frames_pass_again_after_the_link_has_become_narrow() {
    let mut pair = agreed(1, ordered(), [NONE, NONE]);
    pair.run_for(Duration::from_secs(1));
    pair.narrow(LONGEST - 1);
    // The time covers the memory of long messages, the time between two of them, and a hello.
    pair.run_for(Duration::from_ms(11_100));
    assert_eq!(peers(&pair), [Peer::Known, Peer::Known]);
    let before = pair.delivered[1].len();
    stream(&mut pair, 0..100, 1514);
    assert_eq!(pair.delivered[1].len() - before, 100);
}

// G-32: each end must find its longest frame by itself, because one direction is narrow.
#[test]
fn a_link_may_be_narrow_in_one_direction() {
    let mut pair = Pair::new(1, lines, [ordered(), Protection::None], [NONE, NONE]);
    pair.narrow(LONGEST - 1);
    pair.run_for(Duration::from_secs(1));
    assert_eq!(peers(&pair), [Peer::Known, Peer::Agreed], "the far end sends nothing long");
}

// G-33: under any protection both ends know the losses of the link, to the frame once the link rests.
#[test]
fn both_ends_count_what_the_link_loses() {
    for protection in [Protection::None, ordered(), non_blocking()] {
        let mut pair = agreed(7, protection.clone(), [NONE, NONE]);
        pair.run_for(Duration::from_secs(1));
        let before = pair.lost();
        pair.set_loss([ratio(0.01), ratio(0.003)]);
        for round in 0..20 {
            stream(&mut pair, round * 1000..(round + 1) * 1000, 1514);
        }
        pair.set_loss([NONE, NONE]);
        pair.run_for(Duration::from_secs(2));
        let lost = [0, 1].map(|end| pair.lost()[end] - before[end]);
        let read = |end: usize, group: &str, name: &str| count(&pair.guards[end], group, name);
        for end in [0, 1] {
            assert_eq!(read(1 - end, "arriving", "lost"), lost[end], "{protection} from end {end}");
            assert_eq!(read(end, "leaving", "lost"), lost[end], "{protection} from end {end}");
        }
        let delivered = pair.delivered[1].len() as u64;
        assert_eq!(read(1, "arriving", "contents"), 20_000);
        assert_eq!(read(1, "arriving", "missing"), 20_000 - delivered, "{protection}");
        assert_eq!(read(0, "leaving", "missing"), 20_000 - delivered, "{protection}");
        if protection == Protection::None {
            assert!((100..300).contains(&(20_000 - delivered)), "one in a hundred: {delivered}");
        }
    }
}

// G-33: neither a restart of the peer nor an outage counts as loss.
#[test]
fn an_outage_is_not_corruption() {
    let mut pair = agreed(3, ordered(), [NONE, NONE]);
    stream(&mut pair, 0..1000, 1514);
    pair.cut(true);
    for id in 0..1000 {
        pair.send(0, &frame(id, 1514));
        pair.run_for(Duration::from_ms(1));
    }
    pair.cut(false);
    pair.run_for(Duration::from_secs(2));
    pair.restart(0, ordered());
    pair.run_for(Duration::from_secs(2));
    stream(&mut pair, 0..1000, 1514);
    pair.run_for(Duration::from_secs(1));
    assert_eq!(peers(&pair), [Peer::Agreed, Peer::Agreed]);
    assert_eq!(count(&pair.guards[1], "arriving", "lost"), 0);
    assert!(count(&pair.guards[1], "arriving", "contents") >= 2000);
}

// G-33: a drop of a port is no loss of the link.
#[test]
fn drops_of_the_ports_are_told_apart() {
    let mut pair = agreed(5, Protection::None, [NONE, NONE]);
    pair.run_for(Duration::from_secs(1));
    pair.set_loss([ratio(0.5), NONE]);
    let before = pair.lost()[0];
    stream(&mut pair, 0..1000, 1514);
    let dropped = pair.lost()[0] - before;
    pair.set_loss([NONE, NONE]);
    // The sending port reports 40 refused frames, and the receiving port reports that it missed the
    // other lost frames.
    pair.guards[0].set_port_drops(0, 40);
    pair.guards[1].set_port_drops(dropped - 40, 0);
    pair.run_for(Duration::from_secs(2));
    assert_eq!(count(&pair.guards[1], "arriving", "lost"), 0);
}
