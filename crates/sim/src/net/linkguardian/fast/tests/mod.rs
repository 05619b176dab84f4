//! The fast twin is compared with the model: equal frames at equal times, equal states, equal counts.

mod world;

use super::FastLinkGuardianLink;
use crate::Control;
use crate::kernel::Trains;
use crate::net::linkguardian::{HEADER_OCTETS, Options};
use crate::net::source::filling::step_filling;
use crate::net::source::{NoFrames, Saturated};
use crate::net::tap::{LegName, Sight, Tap, Watch};
use crate::net::{Advice, Direction, Ecn, Frame, ProtectedLink as _};
use crate::world::stress::{self, Stress};
use lossylink_core::engine::linkguardian::{Position, SenderConfig};
use lossylink_core::time::{Duration, Instant};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use std::cell::RefCell;
use std::rc::Rc;
use world::{Action, Burst, Model, Pace, Twins, World, actions, bursts, frames_of, reaches, worlds};

/// Returns the frames that have come out of a link by now, as text.
fn outcome(link: &mut impl Model, now: Instant) -> String {
    let delivered: Vec<_> = std::iter::from_fn(|| link.delivered().pop_due(now)).collect();
    let returned: Vec<_> = std::iter::from_fn(|| link.returned().pop_due(now)).collect();
    format!("{delivered:?} {returned:?}")
}

/// Returns the state and the counts that an owner may ask of a link, as text: buffers, traffic, and the counts of both ends.
fn described(link: &mut impl Model, now: Instant) -> String {
    let (bytes, high_water) = (link.buffer_bytes(now), link.take_rx_high_water(now));
    let queue = link.queue();
    let queued = (queue.len(), queue.bytes(), queue.high_water_bytes(), queue.dropped(), queue.marked());
    let carried = (*link.traffic(), *link.reverse_traffic());
    let (counters, ends) = (link.counters(now), link.state(now));
    format!("{bytes:?} {high_water} {queued:?} {carried:?} {counters:?} {ends:?} {:?}", link.delays())
}

fn assert_alike((fast, model): &mut Twins, now: Instant) -> Result<(), TestCaseError> {
    prop_assert_eq!(outcome(fast, now), outcome(model, now));
    prop_assert_eq!(described(fast, now), described(model, now));
    Ok(())
}

/// Runs the model up to and including `now`, event by event.
fn step_to(link: &mut impl Model, now: Instant) {
    while link.poll_timeout() <= now {
        link.advance(link.poll_timeout());
    }
}

/// Records each frame that leaves on the link: when, in which direction, and its content.
#[derive(Default)]
struct Record(RefCell<Vec<(Instant, bool, String)>>);

impl Record {
    /// Returns the frames in order of time. At one instant the two directions are independent.
    fn sorted(&self) -> Vec<(Instant, bool, String)> {
        let mut sights = self.0.take();
        sights.sort_by_key(|&(at, is_forward, _)| (at, is_forward));
        sights
    }
}

impl Watch<u64> for Record {
    fn see_on_link(&self, _now: Instant, sight: Sight<u64>) {
        let is_forward = sight.direction == Direction::Forward;
        self.0.borrow_mut().push((sight.at, is_forward, format!("{sight:?}")));
    }

    fn watched_hop(&self, _leg: LegName) -> Option<usize> {
        None
    }

    fn see_on_hop(&self, _now: Instant, _sight: Sight<u64>) {}

    fn begin_flow(&self, _number: u64) {}
}

/// Runs the fast twin up to `until`, but first its two directions one behind the other, each up to its percentage of the way, as
/// long as the directions may run apart.
fn run_apart(
    link: &mut FastLinkGuardianLink<u64>,
    (now, until): (Instant, Instant),
    shares: &[(u8, u8)],
    forward: &mut Trains<Frame<u64>>,
    backward: &mut Trains<Frame<u64>>,
) {
    let at = |percent: u8| now + Duration::from_ps((until - now).as_ps() * u64::from(percent) / 100);
    for &(far, back) in shares.iter().filter(|_| until > now) {
        if link.poll_apart().is_some() {
            link.run_apart(Direction::Forward, at(far), forward);
        }
        if let Some(next) = link.poll_apart() {
            let known = next.min(forward.poll_timeout()).just_before();
            link.run_apart(Direction::Backward, at(back).min(known), backward);
        }
    }
    link.run(until, forward, backward);
}

/// Returns the result of a packet generator on a link.
fn generated(link: &mut impl Model, stress: Stress) -> String {
    let result = stress::run(link, stress, &Control::default());
    let (end, text) = (result.end, format!("{result:?}"));
    format!("{text} {}", described(link, end))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// LG-3 to LG-47: the hosts send frames in both directions, and the owner acts on the link between two turns.
    #[test]
    fn the_twins_carry_the_same_frames(
        world in worlds(),
        bursts in bursts(),
        feeds: bool,
        asks: bool,
        is_tapped in prop::sample::select(vec![true, false, false, false]),
        reaches in reaches(),
        shares in prop::collection::vec((0u8..=100, 0u8..=100), 0..4),
        actions in actions(),
    ) {
        let mut twins: Twins = (world.link(), world.link());
        let records = (Rc::new(Record::default()), Rc::new(Record::default()));
        if is_tapped {
            twins.0.set_tap(Tap::new(records.0.clone()));
            twins.1.set_tap(Tap::new(records.1.clone()));
        }
        let mut frames = frames_of(&bursts, world.rate());
        frames.retain(|&(_, goes_back, _)| !(feeds && goes_back));
        let end = frames.last().map_or(Instant::ZERO, |&(at, ..)| at) + Duration::from_us(100);
        let (mut forward, mut backward) = (Trains::new(), Trains::new());
        for &(at, goes_back, frame) in &frames {
            if goes_back { &mut backward } else { &mut forward }.push(at, &frame);
        }
        let (mut rest, mut until) = (frames.iter().copied().peekable(), Instant::ZERO);
        for (reach, action) in reaches.into_iter().cycle().zip(actions.into_iter().cycle()) {
            if until >= end {
                break;
            }
            let now = until;
            until = reach.end(until, rest.clone().map(|(at, ..)| at));
            let (fast, model) = &mut twins;
            while let Some((at, goes_back, frame)) = rest.next_if(|&(at, ..)| at <= until) {
                step_to(model, at);
                if goes_back { model.offer_back(at, frame) } else { model.offer(at, frame) }
            }
            step_to(model, until);
            if feeds {
                fast.run(until, &mut forward, &mut NoFrames);
            } else {
                run_apart(fast, (now, until), &shares, &mut forward, &mut backward);
            }
            if asks {
                assert_alike(&mut twins, until)?;
            }
            let (fast, model) = &mut twins;
            if action.on(fast, until) | action.on(model, until) {
                let back = Action::Protect(Advice { copies: 2, control_copies: 2 });
                back.on(fast, until);
                back.on(model, until);
            }
        }
        prop_assert!(forward.is_empty() && backward.is_empty());
        let rest = until + Duration::from_secs(1);
        let (fast, model) = &mut twins;
        fast.advance(rest);
        model.advance(rest);
        assert_alike(&mut twins, rest)?;
        prop_assert_eq!(records.0.sorted(), records.1.sorted());
    }

    #[test]
    fn a_saturated_source_finds_the_same_room(
        world in worlds(),
        turns_ns in prop::collection::vec(prop_oneof![100u64..2_000, 2_000u64..50_000], 1..20),
        frame_bytes in prop_oneof![Just(60u32), Just(1514), 60u32..1515],
    ) {
        let mut twins: Twins = (world.link(), world.link());
        let source = Saturated { frame_bytes, offered: 0, packets: 3000 };
        let (mut fast_source, mut model_source) = (source, source);
        let mut until = Instant::ZERO;
        for turn_ns in turns_ns {
            until += Duration::from_ns(turn_ns);
            twins.0.run(until, &mut fast_source, &mut NoFrames);
            step_filling(&mut twins.1, &mut model_source, until);
            prop_assert_eq!(fast_source.offered, model_source.offered);
            assert_alike(&mut twins, until)?;
        }
    }

    #[test]
    fn a_packet_generator_comes_to_the_same(
        world in worlds(),
        frame_bytes in prop_oneof![Just(60u32), Just(1514), 60u32..1515],
        pace in prop_oneof![(-1_000i64..2_000).prop_map(|offset_ps| (100, offset_ps)), (50u64..300).prop_map(|percent| (percent, 0))],
        queue_packets in prop_oneof![1usize..8, 8usize..400],
        packets in 1u64..1_500,
    ) {
        let line = world.rate().serialisation(Frame::of_frame_bytes(frame_bytes, Ecn::NotCapable, ()).octets + HEADER_OCTETS);
        let (percent, offset_ps) = pace;
        let period = Duration::from_ps((line.as_ps() * percent / 100).saturating_add_signed(offset_ps).max(1));
        let source = stress::Source::Generator { period, queue_packets };
        let stress = Stress { packets, frame_bytes, source };
        let (mut fast, mut model): Twins = (world.link(), world.link());
        prop_assert_eq!(generated(&mut fast, stress), generated(&mut model, stress));
    }
}

/// A link with the usual options.
const WORLD: World = World {
    profile: "tofino1",
    gbps: 100,
    back_percent: 100,
    options: Options {
        sender: SenderConfig { copies: 2, dummies: 3, hole_cap: Some(5) },
        control_copies: 1,
        ordered: true,
        backpressure: true,
        deduplicate: true,
    },
    tight: false,
    narrow: false,
    losses: (0.0, 0.0),
    fades: false,
    seed: 1,
};

#[test]
fn the_directions_stay_together_while_a_copy_is_on_its_way() {
    let mut link: FastLinkGuardianLink<u64> = World { losses: (0.05, 0.05), ..WORLD }.link();
    for number in 0..200 {
        link.offer(Instant::ZERO, Frame::of_frame_bytes(1514, Ecn::NotCapable, number));
    }
    let (end, mut copies, mut apart) = (Instant::ZERO + Duration::from_us(100), 0, 0);
    while link.poll_timeout() <= end {
        link.advance(link.poll_timeout());
        let goes_apart = link.poll_apart().is_some();
        copies += usize::from(!link.forward.copies.is_empty());
        apart += usize::from(goes_apart);
        assert!(link.forward.copies.is_empty() || !goes_apart);
    }
    assert!(copies > 0 && apart > 0, "{copies} and {apart} of the instants show nothing");
}

// LG-33: the frame that fills the window costs the oldest its copy, so the looks before that frame come first.
#[test]
fn a_window_that_fills_in_silence_fills_as_it_would_one_by_one() {
    let world = World { losses: (0.0, 1.0), ..WORLD };
    for more in [0, 1, 100] {
        let count = u64::from(Position::WINDOW) + more;
        let pace = Pace::LineRate { offset_ps: 0 };
        let frames = frames_of(
            &[Burst { wait_ns: 0, bytes: 60, count, pace, ecn: Ecn::NotCapable, goes_back: false }],
            world.rate(),
        );
        let (mut fast, mut model): Twins = (world.link(), world.link());
        let mut forward = Trains::new();
        for (at, _, frame) in frames {
            forward.push(at, &frame);
            step_to(&mut model, at);
            model.offer(at, frame);
        }
        let until = forward.last_due() + Duration::from_us(1);
        step_to(&mut model, until);
        fast.run(until, &mut forward, &mut Trains::new());
        assert_eq!(fast.counters(until).sender.abandoned, more);
        assert_eq!(described(&mut fast, until), described(&mut model, until));
        assert_eq!(fast.copies_held(until), model.copies_held(until));
        assert_eq!(outcome(&mut fast, until), outcome(&mut model, until));
    }
}
