//! Tests of an attacker who reads the link, knows the format, and puts frames of his own on the link (G-20..G-22,
//! G-27..G-31).

use super::super::hello::{ETHERTYPE, Hello, Kind};
use super::super::seal::{MessageSeal, Names};
use super::super::*;
use crate::protection::LinkGuardian;
use crate::rng::Streams;
use crate::units::Bytes;
use crate::wire::ethernet::EtherType;
use crate::wire::linkguardian::{DataHeader, LinkGuardianFrame, LossNotification};

/// One-way time between the guards.
const FLIGHT: Duration = Duration::from_us(100);
/// Time between two frames of a host.
const SPACING: Duration = Duration::from_us(50);

/// Two guards on a clean link, and a record of the frames on it.
struct Wire {
    guards: [Guard; 2],
    flying: Vec<(Instant, usize, Frame)>,
    now: Instant,
    heard: Vec<(usize, Frame)>,
    delivered: Vec<u32>,
    sent: u32,
    secret: Option<Secret>,
}

impl Wire {
    fn agreed() -> Self {
        Self::with(None, LinkGuardian::ORDERED)
    }

    fn with(secret: Option<Secret>, options: LinkGuardian) -> Self {
        let queue = QueueLimits { capacity: Bytes(500_000), mark_from: None };
        let config = GuardConfig { queue, longest_frame: 1514, frames: 40_000, secret: secret.clone() };
        let streams = Streams::new(5);
        let guards = ["near", "far"].map(|name| {
            let protection = Protection::LinkGuardian(options);
            let lines: Vec<Box<dyn LineProtocol>> = vec![Box::new(LinkGuardianLine::new())];
            Guard::new(config.clone(), lines, protection, 1e-3, streams.stream(name))
        });
        let mut wire = Self {
            guards,
            flying: Vec::new(),
            now: Instant::ZERO,
            heard: Vec::new(),
            delivered: Vec::new(),
            sent: 0,
            secret,
        };
        wire.run(Duration::from_ms(120));
        assert!(wire.is_agreed());
        wire
    }

    fn is_agreed(&self) -> bool {
        self.guards.iter().all(|guard| guard.session().is_some_and(|session| session.peer == Peer::Agreed))
    }

    fn run(&mut self, span: Duration) {
        let until = self.now + span;
        loop {
            let due = self.guards.each_ref().map(|guard| guard.poll_timeout().max(self.now));
            let landing = self.flying.first().map_or(Instant::NEVER, |(at, ..)| *at);
            self.now = due[0].min(due[1]).min(landing).min(until);
            if landing <= self.now {
                let (_, end, frame) = self.flying.remove(0);
                self.guards[end].handle_frame(self.now, Side::Link, &frame);
            } else if self.now == until {
                return;
            } else {
                self.guards[usize::from(due[1] < due[0])].handle_timeout(self.now);
            }
            self.drive();
        }
    }

    fn drive(&mut self) {
        for end in [0, 1] {
            while let Some(frame) = self.guards[end].poll_transmit(self.now, Side::Link) {
                self.heard.push((1 - end, frame.clone()));
                self.flying.push((self.now + FLIGHT, 1 - end, frame.clone()));
                self.guards[end].recycle(frame);
            }
            while let Some(frame) = self.guards[end].poll_transmit(self.now, Side::Lan) {
                if end == 1 {
                    self.delivered.push(u32::from_be_bytes([frame[14], frame[15], frame[16], frame[17]]));
                }
                self.guards[end].recycle(frame);
            }
        }
    }

    /// Sends a frame of the near host. Returns its number.
    fn stream_one(&mut self) -> u32 {
        let mut frame = vec![0x5a; 200];
        frame[12..14].copy_from_slice(&[0x08, 0x00]);
        frame[14..18].copy_from_slice(&self.sent.to_be_bytes());
        self.sent += 1;
        self.guards[0].handle_frame(self.now, Side::Lan, &frame);
        self.drive();
        self.run(SPACING);
        self.sent - 1
    }

    /// Sends frames of the near host for `span`.
    fn stream_span(&mut self, span: Duration) {
        for _ in 0..span / SPACING {
            self.stream_one();
        }
    }

    /// Sends frames of the near host for `span`. Returns how many of its frames arrived.
    fn stream(&mut self, span: Duration) -> usize {
        let before = self.delivered.len();
        self.stream_span(span);
        self.run(Duration::from_ms(5));
        self.delivered.len() - before
    }

    /// Returns the newest message toward an end that was on the link, as a frame.
    fn newest_frame(&self, end: usize) -> Frame {
        let toward = self.heard.iter().rev().filter(|(to, _)| *to == end);
        let mut hellos = toward.filter(|(_, frame)| envelope::ethertype(frame) == Some(ETHERTYPE));
        hellos.next().expect("a hello was heard").1.clone()
    }

    /// Returns the newest message toward an end that was on the link.
    fn newest(&self, end: usize) -> Hello {
        Hello::read(&self.newest_frame(end), &self.message_seal()).expect("it is a hello")
    }

    fn message_seal(&self) -> MessageSeal {
        MessageSeal::new(self.secret.as_ref())
    }

    /// Hands an end a message that was made from the newest one.
    fn forge(&mut self, end: usize, change: impl FnOnce(&mut Hello)) {
        let mut hello = self.newest(end);
        hello.number = hello.number.wrapping_add(1);
        change(&mut hello);
        let mut frame = Frame::new();
        hello.write(&mut frame, &self.message_seal(), 0);
        self.guards[end].handle_frame(self.now, Side::Link, &frame);
        self.drive();
    }

    /// Hands an end a control frame of LinkGuardian, with a seal that everybody can make.
    fn forge_control(&mut self, end: usize, inner: &LinkGuardianFrame<'_>) {
        let hello = self.newest(end);
        let names = Names { ours: hello.identity, theirs: hello.peer, session: hello.session };
        let mut frame = Frame::new();
        envelope::control_header(&mut frame, EtherType::LINKGUARDIAN);
        let mut headers = [0; 16];
        let length = inner.emit_headers(&mut headers);
        frame.extend_from_slice(&headers[..length]);
        Seal::new(None, names).finish(&mut frame, length);
        self.guards[end].handle_frame(self.now, Side::Link, &frame);
        self.drive();
    }

    /// Returns how many frames of the near end with a host's contents were on the link since `from`.
    fn carried(&self, from: usize) -> usize {
        self.heard[from..].iter().filter(|(end, frame)| *end == 1 && frame.len() > 200).count()
    }

    /// Asserts that after an attack both ends agree, and that a second's frames all arrive, once and in order.
    fn assert_healed(&mut self, what: &str) {
        self.stream(Duration::from_ms(1500));
        assert!(self.is_agreed(), "{what}: no agreement");
        let (first, before) = (self.sent, self.delivered.len());
        self.stream(Duration::from_ms(1000));
        let expected: Vec<u32> = (first..self.sent).collect();
        assert_eq!(self.delivered[before..], expected, "{what}: frames are missing");
        let mut once = self.delivered.clone();
        once.sort_unstable();
        once.dedup();
        assert_eq!(once.len(), self.delivered.len(), "{what}: a frame arrived twice");
    }
}

// G-20
#[test]
fn messages_that_come_again_change_nothing() {
    let mut wire = Wire::agreed();
    wire.stream(Duration::from_ms(300));
    let sessions = wire.guards.each_ref().map(|guard| guard.counters().sessions);
    let recorded: Vec<_> = wire
        .heard
        .iter()
        .filter(|(_, frame)| envelope::ethertype(frame) == Some(ETHERTYPE))
        .cloned()
        .collect();
    assert!(recorded.len() > 20);
    for (end, frame) in recorded.iter().chain(recorded.iter().rev()) {
        for end in [*end, 1 - *end] {
            wire.guards[end].handle_frame(wire.now, Side::Link, frame);
        }
        assert_eq!(wire.stream(Duration::from_ms(1)), 20);
    }
    assert_eq!(wire.guards.each_ref().map(|guard| guard.counters().sessions), sessions);
    for guard in &wire.guards {
        let loop_time = guard.session().and_then(|session| session.loop_time);
        assert_eq!(loop_time, Some(FLIGHT + FLIGHT), "an old answer is no measurement");
    }
}

// G-22: a copied message with numbers of frames that were never sent. The receiving end then waits for frames that never
// come, and takes those that come for old ones.
#[test]
fn a_forged_place_ends_in_a_new_session() {
    for jump in [100u16, 20_000, 32_000, 40_000, 65_000] {
        for end in [0, 1] {
            let mut wire = Wire::agreed();
            wire.stream(Duration::from_ms(100));
            wire.forge(end, |hello| {
                for octets in [&mut hello.sent, &mut hello.received] {
                    let number = u16::from_be_bytes([octets[1], octets[2]]).wrapping_add(jump);
                    octets[1..].copy_from_slice(&number.to_be_bytes());
                }
            });
            wire.assert_healed(&alloc::format!("{jump} at {end}"));
        }
    }
}

// G-20, G-21
#[test]
fn other_forged_messages_end_in_agreement() {
    type Change = fn(&mut Hello);
    let changes: [(&str, Change); 9] = [
        ("a stranger", |hello| hello.identity ^= 1),
        ("another session", |hello| hello.session += 1),
        ("the last session", |hello| hello.session = u32::MAX),
        ("no session", |hello| hello.session = 0),
        ("another protection", |hello| hello.protection = Protection::None),
        ("a number far ahead", |hello| hello.number = hello.number.wrapping_add(u32::MAX / 2 - 2)),
        ("another nonce", |hello| hello.nonce ^= 1),
        ("a pause", |hello| hello.kind = Kind::Pause),
        ("a reply", |hello| hello.kind = Kind::Reply),
    ];
    for (what, change) in changes {
        for end in [0, 1] {
            let mut wire = Wire::agreed();
            wire.stream(Duration::from_ms(100));
            wire.forge(end, change);
            wire.assert_healed(what);
        }
    }
}

// G-20: pauses that are made up by an attacker who does not read the link are not obeyed.
#[test]
fn invented_pauses_are_not_obeyed() {
    let mut wire = Wire::agreed();
    for nonce in 0..1000 {
        wire.forge(0, |hello| {
            hello.kind = Kind::Pause;
            hello.echo = nonce;
        });
    }
    assert_eq!(wire.guards[0].counters().pauses_obeyed, 0);
    assert_eq!(wire.stream(Duration::from_ms(10)), 200);
}

// G-29: every frame that leaves is reported as lost, and so are 254 before it.
#[test]
fn forged_notifications_cost_no_more_than_was_sent() {
    const FRAMES: usize = 8000;
    let mut wire = Wire::with(None, LinkGuardian { copies: Some(8), holes: None, ..LinkGuardian::ORDERED });
    let (from, first) = (wire.heard.len(), wire.sent);
    for sent in 0..FRAMES as u32 {
        assert_eq!(wire.stream_one(), first + sent);
        let leading = (first + sent) as u16;
        wire.forge_control(
            0,
            &LinkGuardianFrame::Notification(LossNotification {
                era: false,
                leading_ack: leading,
                hole_size: 255,
                first_lost: leading.wrapping_sub(254),
            }),
        );
    }
    // Each frame and its copy, one further copy for each frame, and the credit of a megabyte at the start.
    let most = 3 * FRAMES + (1 << 20) / 200;
    let carried = wire.carried(from);
    assert!((2 * FRAMES..=most).contains(&carried), "{carried} frames for {FRAMES}");
    wire.assert_healed("notifications");
}

// G-30: pauses by an attacker who reads the link, without end.
#[test]
fn forged_pauses_hold_frames_back_for_half_of_the_time_at_most() {
    let mut wire = Wire::agreed();
    let (from, mut number) = (wire.sent, wire.newest(0).number + 1000);
    let before = wire.delivered.len();
    for _ in 0..3000 {
        number += 1;
        wire.forge(0, |hello| (hello.kind, hello.number) = (Kind::Pause, number));
        wire.stream_span(Duration::from_ms(1));
    }
    assert!(wire.guards[0].counters().pauses_obeyed > 30);
    // The queue holds the frames that arrive in a tenth of a second.
    let sent = (wire.sent - from) as usize;
    wire.run(Duration::from_ms(100));
    assert!(wire.delivered.len() - before > sent * 9 / 10, "{} of {sent}", wire.delivered.len() - before);
    wire.assert_healed("pauses");
}

// G-31: a position far ahead, as soon as there is a session: the link carries less than without protection.
#[test]
fn what_never_moves_goes_unprotected() {
    let mut wire = Wire::agreed();
    let (sent, before) = (wire.sent, wire.delivered.len());
    for _ in 0..2000 {
        let next = (wire.sent as u16).wrapping_add(20_000);
        let dummy =
            DataHeader { is_dummy: true, blocking_mode: true, sequence: next, ..DataHeader::default() };
        wire.forge_control(1, &LinkGuardianFrame::Dummy(dummy));
        wire.stream_span(Duration::from_ms(10));
    }
    let (sent, arrived) = ((wire.sent - sent) as usize, wire.delivered.len() - before);
    assert!(arrived > sent * 8 / 10, "{arrived} of {sent}");
    assert!(wire.guards[1].counters().stood_aside > 1);
    wire.run(Duration::from_secs(6));
    wire.assert_healed("places far ahead");
}

// G-27, G-28: with a secret, recorded and made-up frames may come at either end.
#[test]
fn with_a_secret_neither_copies_nor_forgeries_change_anything() {
    let secret = Secret::new(b"sixteen or more bytes");
    let mut wire = Wire::with(secret, LinkGuardian::ORDERED);
    wire.stream(Duration::from_ms(300));
    let counters = |wire: &Wire| wire.guards.each_ref().map(Guard::counters);
    let before = counters(&wire);
    let recorded = wire.heard.clone();
    assert!(recorded.len() > 6000);
    for (end, frame) in recorded.iter().chain(recorded.iter().rev()) {
        wire.guards[*end].handle_frame(wire.now, Side::Link, frame);
        wire.guards[1 - *end].handle_frame(wire.now, Side::Link, frame);
        wire.drive();
    }
    for end in [0, 1] {
        let hello = Hello::read(&wire.newest_frame(end), &wire.message_seal()).unwrap();
        let mut open = Frame::new();
        hello.write(&mut open, &MessageSeal::new(None), 0);
        let mut other = Frame::new();
        hello.write(&mut other, &MessageSeal::new(Secret::new(&[1; 16]).as_ref()), 0);
        for frame in [open, other] {
            wire.guards[end].handle_frame(wire.now, Side::Link, &frame);
        }
    }
    let after = counters(&wire);
    for end in [0, 1] {
        assert_eq!(after[end].sessions, before[end].sessions);
        assert_eq!(after[end].other_seal, before[end].other_seal + 2);
        assert!(after[end].repeated > 500, "{}", after[end].repeated);
        assert_eq!(after[end].to_lan, before[end].to_lan);
    }
    wire.assert_healed("copies and forgeries");
}

// G-27: a guard with another secret is no peer. Frames pass as they are.
#[test]
fn guards_with_different_secrets_let_frames_pass() {
    for other in [None, Secret::new(&[2; 16])] {
        let mut wire = Wire::with(Secret::new(&[1; 16]), LinkGuardian::ORDERED);
        let mut others = Wire::with(other, LinkGuardian::ORDERED);
        core::mem::swap(&mut wire.guards[1], &mut others.guards[1]);
        wire.stream(Duration::from_ms(600));
        let (first, before) = (wire.sent, wire.delivered.len());
        wire.stream(Duration::from_ms(100));
        assert_eq!(wire.delivered[before..], Vec::from_iter(first..wire.sent));
        for guard in &wire.guards {
            assert_eq!(guard.session().map(|session| session.peer), Some(Peer::Absent));
            assert!(guard.counters().other_seal > 5);
        }
    }
}
