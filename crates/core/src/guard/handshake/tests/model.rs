//! Every order of events that two handshakes can meet, to a depth: hellos that are lost, repeated, reordered,
//! replayed, altered and made up, clocks that jump, ends that start anew (G-20, G-21).
//!
//! From each state that such events lead to, the link is left alone, and both ends must agree within a second.

use super::super::*;
use super::SAYS;
use crate::protection::LinkGuardian;
use crate::rng::Streams;
use alloc::vec::Vec;
use proptest::prelude::*;

const OTHER: Protection = Protection::LinkGuardian(LinkGuardian::NON_BLOCKING);
/// The time that a message takes across the link.
const FLIGHT: Duration = Duration::from_us(100);
/// Two silences: the first may end a session that only one end is in.
const HEALED: Duration = Duration::from_ms(1_100);

/// The next event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Event {
    /// Time passes, and the ends carry out their deadlines. Their messages reach the other end if `heard`.
    Pass { span: Duration, heard: bool },
    /// An old message leaves the link at an end: again, late, or to its own sender.
    Deliver { message: usize, end: usize },
    /// An old message leaves the link at an end, with one field altered by an attacker who knows the format.
    Alter { message: usize, end: usize, field: u8 },
    /// An attacker who does not read the link makes a message up; its identity is the partner's or a stranger's.
    Invent { end: usize, is_partner: bool },
    /// An end stops, and another begins in its place.
    Restart { end: usize },
    /// An end begins a new session of its own accord.
    Renew { end: usize },
}

/// The number of fields that can be altered.
const FIELDS: u8 = 7;

/// A session that an end has begun: its own identity, the other identity, the session's number, and the other's
/// protection.
#[derive(Clone, Debug, PartialEq)]
struct Begun {
    key: (u32, u32, u32),
    protection: Protection,
}

/// Two ends, all messages ever sent, and the sessions that each end has begun.
#[derive(Clone)]
struct World {
    ends: [Handshake; 2],
    said: Vec<Hello>,
    begun: [Vec<Begun>; 2],
    now: Instant,
    restarts: u64,
}

impl World {
    fn new(seed: u64) -> Self {
        let streams = Streams::new(seed);
        Self {
            ends: ["near", "far"].map(|name| Handshake::new(streams.stream(name))),
            said: Vec::new(),
            begun: [Vec::new(), Vec::new()],
            now: Instant::ZERO,
            restarts: seed << 32,
        }
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Pass { span, heard } => self.pass(span, heard),
            Event::Deliver { message, end } => {
                self.hear(end, &self.said[message].clone(), true);
            }
            Event::Alter { message, end, field } => {
                let mut altered = self.said[message].clone();
                match field {
                    0 => altered.identity ^= 0x55,
                    1 => altered.session = altered.session.wrapping_add(1),
                    2 => altered.session = u32::MAX,
                    3 => altered.number = altered.number.wrapping_add(1),
                    4 => altered.number = altered.number.wrapping_add(u32::MAX / 2),
                    5 => altered.protection = OTHER,
                    _ => altered.nonce ^= 0x55,
                }
                self.hear(end, &altered, true);
            }
            Event::Invent { end, is_partner } => self.invent(end, is_partner),
            Event::Restart { end } => {
                self.restarts += 1;
                self.ends[end] = Handshake::new(Streams::new(self.restarts).stream("again"));
                self.begun[end].clear();
            }
            Event::Renew { end } => {
                self.ends[end].renew(self.now);
                self.note(end);
            }
        }
    }

    /// Hands an end a message that nobody on the link has sent. Nothing may change (G-20).
    fn invent(&mut self, end: usize, is_partner: bool) {
        let Handshake { identity, session, partner, is_agreed, .. } = self.ends[end].clone();
        let (who, number) = partner.as_ref().map_or((1, 1), |partner| (partner.identity, partner.number));
        let invented = Hello {
            kind: Kind::Reply,
            identity: if is_partner { who } else { who ^ 0x5555 },
            peer: identity,
            session: session.wrapping_add(1),
            number: number.wrapping_add(1),
            nonce: 0x5555,
            echo: 0x5555,
            protection: OTHER,
            sent: [0; 3],
            received: [0; 3],
            longest: 9014,
            widest: 9038,
            tally: Tally { frames: 0x5555, contents: 0x5555 },
            account: [0x5555; 4],
        };
        self.hear(end, &invented, true);
        let after = &self.ends[end];
        assert_eq!((session, partner, is_agreed), (after.session, after.partner.clone(), after.is_agreed));
    }

    /// Lets time pass with both ends awake. A message takes its flight.
    fn pass(&mut self, span: Duration, heard: bool) {
        let until = self.now + span;
        let mut flying: Vec<(Instant, usize, Hello)> = Vec::new();
        loop {
            let due = self.ends.each_ref().map(|end| end.poll_timeout().max(self.now));
            let landing = flying.first().map_or(Instant::NEVER, |(at, ..)| *at);
            let next = due[0].min(due[1]).min(landing);
            if next > until {
                break;
            }
            self.now = next;
            if landing == next {
                let (_, end, message) = flying.remove(0);
                let answer = self.hear(end, &message, false);
                flying.extend(answer.map(|answer| (self.now + FLIGHT, 1 - end, answer)));
            } else {
                let end = usize::from(due[1] < due[0]);
                let said = self.wake(end);
                flying.extend(said.map(|said| (self.now + FLIGHT, 1 - end, said)));
            }
            if !heard {
                flying.clear();
            }
        }
        self.now = until;
    }

    /// Carries out the deadlines of an end. Returns its message.
    fn wake(&mut self, end: usize) -> Option<Hello> {
        let due = self.ends[end].handle_timeout(self.now);
        if due.silent {
            self.note(end);
        }
        due.hello.then(|| {
            let said = self.ends[end].message(Kind::Hello, SAYS);
            self.said.push(said.clone());
            said
        })
    }

    /// Hands a message to an end. Returns the answer of the end. An answer to an attacker's message is kept
    /// among the messages, and may arrive later.
    fn hear(&mut self, end: usize, message: &Hello, is_kept: bool) -> Option<Hello> {
        let meaning = self.ends[end].handle(self.now, message);
        if meaning.begins {
            self.note(end);
        }
        let answer = meaning.is_asking.then(|| self.ends[end].reply(message, SAYS));
        if is_kept {
            self.said.extend(answer.clone());
        }
        answer
    }

    /// Takes note that an end has begun a session, which must be one in which the end has never been.
    fn note(&mut self, end: usize) {
        let begun = self.present(end);
        let again = self.begun[end].iter().any(|before| before.key == begun.key);
        assert!(!again, "end {end} begins {begun:?} a second time");
        self.begun[end].push(begun);
    }

    /// Returns the session in which an end is.
    fn present(&self, end: usize) -> Begun {
        let it = &self.ends[end];
        let protection = it.peer_protection().clone();
        Begun { key: (it.identity, it.partner_identity(), it.session), protection }
    }

    /// Leaves the link alone. Returns whether both ends are then in one session, which both have begun.
    fn heals(mut self) -> bool {
        self.pass(HEALED, true);
        let [near, far] = &self.ends;
        let agreed = near.peer() == Peer::Agreed && far.peer() == Peer::Agreed;
        let alike = near.names() == far.names().swapped();
        // Each end is in the session that it has begun last, and began it knowing the other's protection.
        let begun = (0..2).all(|end| self.begun[end].last() == Some(&self.present(end)));
        let known = self.ends.iter().all(|end| *end.peer_protection() == SAYS.protection);
        agreed && alike && begun && known
    }
}

/// Returns the possible events in a world in which `said` messages have been sent. Only the last six messages
/// are delivered again: older messages are as stale as these.
fn events(said: usize) -> Vec<Event> {
    let mut events = Vec::new();
    for heard in [true, false] {
        for ms in [1, 51, 101, 501] {
            events.push(Event::Pass { span: Duration::from_ms(ms), heard });
        }
    }
    for end in [0, 1] {
        events.extend([Event::Restart { end }, Event::Renew { end }]);
        events.extend([true, false].map(|is_partner| Event::Invent { end, is_partner }));
        for message in said.saturating_sub(6)..said {
            events.push(Event::Deliver { message, end });
            events.extend((0..FIELDS).map(|field| Event::Alter { message, end, field }));
        }
    }
    events
}

/// Tries all events in up to `steps` steps. Returns the number of states.
fn explore(world: &World, steps: u32, way: &mut Vec<Event>) -> usize {
    assert!(world.clone().heals(), "no agreement after {way:?}");
    if steps == 0 {
        return 1;
    }
    let mut states = 1;
    for event in events(world.said.len()) {
        let mut next = world.clone();
        way.push(event);
        next.happen(event);
        states += explore(&next, steps - 1, way);
        way.pop();
    }
    states
}

// G-20, G-21
#[test]
fn every_order_of_events_ends_in_agreement() {
    let fresh = World::new(1);
    let mut met = World::new(2);
    met.pass(Duration::from_ms(120), true);
    for (name, world, steps) in [("fresh", &fresh, 3), ("met", &met, 2)] {
        let states = explore(world, steps, &mut Vec::new());
        assert!(states > 1_000, "{name}: {states} states");
    }
}

/// Returns any event; messages are counted from the newest.
fn any_event() -> impl Strategy<Value = (u8, u8, u8, u8)> {
    any::<(u8, u8, u8, u8)>()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    // G-20, G-21: longer sequences of events than can all be tried.
    #[test]
    fn long_ways_end_in_agreement(seed in 0..1000u64, way in prop::collection::vec(any_event(), 0..60)) {
        let mut world = World::new(seed);
        for (what, which, end, field) in way {
            let choices = events(world.said.len());
            // Half of the steps let time pass: without it no message is ever fresh.
            let event = if what < 128 {
                choices[usize::from(which) % 8]
            } else {
                choices[(usize::from(which) << 8 | usize::from(end ^ field)) % choices.len()]
            };
            world.happen(event);
        }
        prop_assert!(world.heals());
    }
}
