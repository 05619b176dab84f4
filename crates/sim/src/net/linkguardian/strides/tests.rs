//! What the switches do ahead of each other is what they do event by event.

use super::super::{HEADER_OCTETS, LinkGuardianLink, Options};
use crate::Control;
use crate::config::switch_profile;
use crate::kernel::Trains;
use crate::net::source::Saturated;
use crate::net::source::filling::step_filling;
use crate::net::{Ecn, Frame, LineRate, LineRates, ProtectedLink};
use crate::world::stress::{self, Stress};
use lossylink_core::engine::linkguardian::{Position, SenderConfig};
use lossylink_core::loss::{LossModel, LossProcess};
use lossylink_core::rng::Streams;
use lossylink_core::time::{Duration, Instant};
use lossylink_core::units::BitRate;
use proptest::prelude::*;

/// A link that loses one frame in twenty, both ways.
fn link(gbps: u64, ordered: bool, seed: u64) -> LinkGuardianLink<u64> {
    let sender = SenderConfig { copies: 2, dummies: 3, hole_cap: Some(5) };
    let options = Options { sender, control_copies: 1, ordered, backpressure: true, deduplicate: true };
    let streams = Streams::new(seed);
    let loss = |name| LossProcess::new(&LossModel::bernoulli(0.05).unwrap(), streams.stream(name));
    LinkGuardianLink::new(
        &switch_profile("tofino1"),
        LineRate::new(BitRate::from_gbps(gbps)),
        Duration::ZERO,
        &options,
        (loss("forward"), loss("back")),
        &mut streams.stream("phases"),
    )
}

/// All that comes out of the link by now, and what it tells about itself.
fn seen(link: &mut LinkGuardianLink<u64>, now: Instant) -> String {
    let delivered: Vec<_> = std::iter::from_fn(|| link.delivered().pop_due(now)).collect();
    let returned: Vec<_> = std::iter::from_fn(|| link.returned().pop_due(now)).collect();
    format!("{:?} {delivered:?} {returned:?} {:?}", link.poll_timeout(), link.counters(now))
}

/// Lets happen what happens up to and including `now`, event by event; says when the last of it happened.
fn step_to(link: &mut LinkGuardianLink<u64>, now: Instant) -> Instant {
    let mut last = Instant::ZERO;
    while link.poll_timeout() <= now {
        last = link.advance(link.poll_timeout());
    }
    last
}

/// Frames by what was drawn: the time between them, ns, their size, and a kind: one in eight comes after a longer
/// time, one in eight the other way.
fn offers() -> impl Strategy<Value = Vec<(u64, u32, u8)>> {
    prop::collection::vec((0u64..400, 60u32..1515, 0u8..8), 1..200)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn running_ahead_changes_nothing(offers in offers(), gbps in speed(), ordered: bool, seed in 0u64..1000) {
        let (mut ahead, mut stepped) = (link(gbps, ordered, seed), link(gbps, ordered, seed));
        let mut now = Instant::ZERO;
        for (number, (wait, bytes, kind)) in (0..).zip(offers) {
            now += Duration::from_ns(if kind == 0 { 20 * wait } else { wait });
            prop_assert_eq!(ahead.advance(now), step_to(&mut stepped, now));
            prop_assert_eq!(seen(&mut ahead, now), seen(&mut stepped, now));
            for link in [&mut ahead, &mut stepped] {
                let frame = Frame::of_frame_bytes(bytes, Ecn::NotCapable, number);
                if kind == 1 { link.offer_back(now, frame) } else { link.offer(now, frame) }
            }
        }
    }

    #[test]
    fn frames_that_wait_for_the_link_are_taken_as_they_come(
        offers in offers(),
        gbps in speed(),
        ordered: bool,
        feeds: bool,
        turn_ns in 100u64..20_000,
        seed in 0u64..1000,
    ) {
        let (mut ahead, mut stepped) = (link(gbps, ordered, seed), link(gbps, ordered, seed));
        let (mut forward, mut backward) = (Trains::new(), Trains::new());
        let (mut at, mut until) = (Instant::ZERO, Instant::ZERO);
        let mut last = Instant::ZERO;
        for (number, (wait, bytes, kind)) in (0..).zip(offers) {
            at += Duration::from_ns(if kind == 0 { 20 * wait } else { wait });
            while until < at {
                let latest = if feeds {
                    ahead.feed(until, &mut forward);
                    ahead.advance(until);
                    prop_assert!(forward.is_empty());
                    None
                } else {
                    Some(ahead.run(until, &mut forward, &mut backward))
                };
                last = last.max(step_to(&mut stepped, until));
                prop_assert!(latest.is_none_or(|latest| latest == last));
                prop_assert_eq!(seen(&mut ahead, until), seen(&mut stepped, until));
                (until, last) = (until + Duration::from_ns(turn_ns), Instant::ZERO);
            }
            let frame = Frame::of_frame_bytes(bytes, Ecn::NotCapable, number);
            last = last.max(step_to(&mut stepped, at)).max(at);
            if kind == 1 && !feeds {
                backward.push(at, &frame);
                stepped.offer_back(at, frame);
            } else {
                forward.push(at, &frame);
                stepped.offer(at, frame);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_source_that_fills_what_room_there_is_finds_it_as_it_comes(
        turns_ns in prop::collection::vec(100u64..20_000, 1..20),
        frame_bytes in 60u32..1515,
        gbps in speed(),
        ordered: bool,
        seed in 0u64..1000,
    ) {
        let (mut ahead, mut stepped) = (link(gbps, ordered, seed), link(gbps, ordered, seed));
        let source = Saturated { frame_bytes, offered: 0, packets: 500 };
        let (mut ahead_source, mut stepped_source) = (source, source);
        let mut until = Instant::ZERO;
        for turn_ns in turns_ns {
            until += Duration::from_ns(turn_ns);
            let last = ahead.feed(until, &mut ahead_source);
            prop_assert_eq!(last.max(ahead.advance(until)), step_filling(&mut stepped, &mut stepped_source, until));
            prop_assert_eq!(ahead_source.offered, stepped_source.offered);
            prop_assert_eq!(seen(&mut ahead, until), seen(&mut stepped, until));
        }
    }
}

fn speed() -> impl Strategy<Value = u64> {
    prop::sample::select(vec![10, 100])
}
/// How long a burst lasts in the mean, if it is a time: some frames at 100 Gb/s.
const FADE: Duration = Duration::from_ns(400);

/// A link on which frames come in long runs, and losses are rare.
#[derive(Clone, Debug)]
struct World {
    profile: &'static str,
    gbps: u64,
    /// Rate of the way back in percent of that.
    back_percent: u64,
    ordered: bool,
    /// Whether buffers and thresholds are so small that frames are dropped and the sender is paused.
    tight: bool,
    /// Whether the queue is so small that frames are dropped, and marked if they can be.
    narrow: bool,
    dummies: u8,
    losses: (f64, f64),
    /// Whether losses come in bursts that last a time.
    fades: bool,
    seed: u64,
}

fn worlds() -> impl Strategy<Value = World> {
    let profile = prop_oneof![3 => Just("tofino1"), 1 => Just("ideal")];
    let rates = (prop::sample::select(vec![10, 100, 400]), prop_oneof![2 => Just(100u64), 1 => 1u64..200]);
    let losses = || prop::sample::select(vec![0.0, 0.001, 0.003, 0.01]);
    (profile, rates, any::<(bool, bool, bool, bool)>(), 0u8..4, (losses(), losses()), 0u64..1_000_000)
        .prop_map(
            |(profile, (gbps, back_percent), (ordered, tight, narrow, fades), dummies, losses, seed)| World {
                profile,
                gbps,
                back_percent,
                ordered,
                tight,
                narrow,
                dummies,
                losses,
                fades,
                seed,
            },
        )
}

impl World {
    fn rate(&self) -> LineRate {
        LineRate::new(BitRate::from_gbps(self.gbps))
    }

    fn link(&self) -> LinkGuardianLink<u64> {
        let mut profile = switch_profile(self.profile);
        if self.tight {
            (profile.rx_buffer_max_bytes, profile.tx_buffer_max_bytes) = (120_000, 40_000);
            for threshold in &mut profile.threshold {
                (threshold.resume_bytes, threshold.pause_bytes) = (7_920, 8_000);
            }
        }
        if self.narrow {
            (profile.queue_bytes, profile.ecn_threshold_bytes) = (40_000, 6_000);
        }
        let sender = SenderConfig { copies: 2, dummies: self.dummies, hole_cap: Some(5) };
        let options = Options {
            sender,
            control_copies: 1,
            ordered: self.ordered,
            backpressure: true,
            deduplicate: true,
        };
        let streams = Streams::new(self.seed);
        let model = |p: f64| {
            let clear = Duration::from_ns_f64(FADE.as_ns_f64() * (1.0 - p) / p);
            if self.fades && p > 0.0 { LossModel::fades(clear, FADE) } else { LossModel::bernoulli(p) }
        };
        let loss = |name, p| LossProcess::new(&model(p).unwrap(), streams.stream(name));
        let losses = (loss("forward", self.losses.0), loss("back", self.losses.1));
        let phases = &mut streams.stream("phases");
        let back = BitRate::from_bps(self.gbps * self.back_percent * 10_000_000);
        let rates = LineRates { forward: self.rate(), back: LineRate::new(back) };
        LinkGuardianLink::new(&profile, rates, Duration::ZERO, &options, losses, phases)
    }
}

/// So many equal frames, after a wait, one coming a little sooner or later than the line takes for the one before it, or all at
/// once; some go the other way.
#[derive(Clone, Copy, Debug)]
struct Burst {
    wait_ns: u64,
    bytes: u32,
    count: u64,
    pace: Pace,
    ecn: Ecn,
    goes_back: bool,
}

#[derive(Clone, Copy, Debug)]
enum Pace {
    AtOnce,
    LineRate { offset_ps: i64 },
    Percent(u64),
}

fn bursts() -> impl Strategy<Value = Vec<Burst>> {
    let pace = prop_oneof![
        Just(Pace::AtOnce),
        (-1i64..=1).prop_map(|offset_ps| Pace::LineRate { offset_ps }),
        (80u64..200).prop_map(Pace::Percent),
    ];
    // Frames of 74 bytes fill little more than half of their cells, so that a queue of them holds more bytes than one of others.
    let bytes = prop_oneof![2 => Just(1514u32), 1 => Just(60), 1 => Just(74), 1 => 60u32..1515];
    let count = prop_oneof![1u64..8, 8u64..100, 100u64..400];
    let ecn = prop_oneof![3 => Just(Ecn::NotCapable), 1 => Just(Ecn::Capable)];
    let burst = (0u64..3000, bytes, count, pace, ecn, 0u8..6);
    let burst = burst.prop_map(|(wait_ns, bytes, count, pace, ecn, way)| {
        let count = if way == 0 { count % 16 } else { count };
        Burst { wait_ns, bytes, count, pace, ecn, goes_back: way == 0 }
    });
    prop::collection::vec(burst, 1..8)
}

/// The frames of these bursts, each with when it comes and whether it goes back.
fn frames_of(bursts: &[Burst], rate: LineRate) -> Vec<(Instant, bool, Frame<u64>)> {
    let (mut at, mut frames) = (Instant::ZERO, Vec::new());
    for burst in bursts {
        at += Duration::from_ns(burst.wait_ns);
        let frame = |number| Frame::of_frame_bytes(burst.bytes, burst.ecn, number);
        let line = rate.serialisation(frame(0).octets + HEADER_OCTETS).as_ps();
        let apart = match burst.pace {
            Pace::AtOnce => 0,
            Pace::LineRate { offset_ps } => line.saturating_add_signed(offset_ps),
            Pace::Percent(percent) => line * percent / 100,
        };
        for _ in 0..burst.count {
            frames.push((at, burst.goes_back, frame(frames.len() as u64)));
            at += Duration::from_ps(apart);
        }
    }
    frames
}

/// All that whoever asks may see: what waits where, and what was carried.
fn described(link: &mut LinkGuardianLink<u64>, now: Instant) -> String {
    let (bytes, high_water) = (link.buffer_bytes(now), link.take_rx_high_water(now));
    let queue = link.queue();
    let queued = (queue.len(), queue.bytes(), queue.high_water_bytes(), queue.dropped(), queue.marked());
    format!(
        "{bytes:?} {high_water} {queued:?} {:?} {:?} {:?}",
        link.traffic(),
        link.reverse_traffic(),
        link.retransmission_delay()
    )
}

/// How far a turn goes: so long, or so close to when a frame comes, so many frames from now.
#[derive(Clone, Copy, Debug)]
enum Reach {
    Time(u64),
    Frame { ahead: usize, offset_ps: i8 },
}

fn reaches() -> impl Strategy<Value = Vec<Reach>> {
    let reach = prop_oneof![
        2 => (100u64..2_000).prop_map(Reach::Time),
        2 => (2_000u64..100_000).prop_map(Reach::Time),
        3 => (0usize..100, -1i8..=1).prop_map(|(ahead, offset_ps)| Reach::Frame { ahead, offset_ps }),
    ];
    prop::collection::vec(reach, 1..20)
}

impl Reach {
    /// The end of a turn from `now` on, beyond which these frames come.
    fn end(self, now: Instant, mut frames: impl Iterator<Item = Instant>) -> Instant {
        let (ns, near) = match self {
            Self::Time(ns) => (ns, None),
            Self::Frame { ahead, offset_ps } => (1000, frames.nth(ahead).zip(Some(offset_ps))),
        };
        let near = near.map(|(at, offset)| Instant::from_ps(at.as_ps().saturating_add_signed(offset.into())));
        near.map_or(now + Duration::from_ns(ns), |near| near.max(now + Duration::from_ps(1)))
    }
}

/// Runs up to `until`, but first the two directions one behind the other, each up to so many percent of the way, as long as they may
/// go apart. Says when the last of it happened.
fn run_apart(
    link: &mut LinkGuardianLink<u64>,
    (now, until): (Instant, Instant),
    shares: &[(u8, u8)],
    forward: &mut Trains<Frame<u64>>,
    backward: &mut Trains<Frame<u64>>,
) -> Instant {
    let at = |percent: u8| now + Duration::from_ps((until - now).as_ps() * u64::from(percent) / 100);
    let mut latest = Instant::ZERO;
    for &(far, back) in shares.iter().filter(|_| until > now) {
        if link.poll_forward().is_some() {
            latest = latest.max(link.run_forward(at(far), forward));
        }
        if let Some(next) = link.poll_forward() {
            let known = next.min(forward.poll_timeout()).just_before();
            latest = latest.max(link.run_back(at(back).min(known), backward));
        }
    }
    latest.max(link.run(until, forward, backward))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn long_runs_are_taken_as_they_come(
        world in worlds(),
        bursts in bursts(),
        feeds: bool,
        asks: bool,
        reaches in reaches(),
        shares in prop::collection::vec((0u8..=100, 0u8..=100), 0..4),
    ) {
        let (mut ahead, mut stepped) = (world.link(), world.link());
        let mut frames = frames_of(&bursts, world.rate());
        frames.retain(|&(_, goes_back, _)| !(feeds && goes_back));
        let end = frames.last().map_or(Instant::ZERO, |&(at, ..)| at) + Duration::from_us(100);
        let (mut forward, mut backward) = (Trains::new(), Trains::new());
        for &(at, goes_back, frame) in &frames {
            if goes_back { &mut backward } else { &mut forward }.push(at, &frame);
        }
        let (mut rest, mut until) = (frames.iter().copied().peekable(), Instant::ZERO);
        for reach in reaches.into_iter().cycle() {
            if until >= end {
                break;
            }
            let now = until;
            until = reach.end(until, rest.clone().map(|(at, ..)| at));
            let mut last = Instant::ZERO;
            while let Some((at, goes_back, frame)) = rest.next_if(|&(at, ..)| at <= until) {
                last = last.max(step_to(&mut stepped, at)).max(at);
                if goes_back { stepped.offer_back(at, frame) } else { stepped.offer(at, frame) }
            }
            last = last.max(step_to(&mut stepped, until));
            if feeds {
                ahead.feed(until, &mut forward);
                ahead.advance(until);
            } else {
                let latest = run_apart(&mut ahead, (now, until), &shares, &mut forward, &mut backward);
                prop_assert_eq!(latest, last);
            }
            prop_assert_eq!(ahead.poll_timeout(), stepped.poll_timeout());
            if asks {
                prop_assert_eq!(seen(&mut ahead, until), seen(&mut stepped, until));
                prop_assert_eq!(described(&mut ahead, until), described(&mut stepped, until));
            }
        }
        prop_assert!(forward.is_empty() && backward.is_empty());
        prop_assert_eq!(seen(&mut ahead, until), seen(&mut stepped, until));
        prop_assert_eq!(described(&mut ahead, until), described(&mut stepped, until));
    }

    #[test]
    fn a_long_run_of_a_saturated_source_finds_room_as_it_comes(
        world in worlds(),
        turns_ns in prop::collection::vec(prop_oneof![100u64..2_000, 2_000u64..50_000], 1..20),
        frame_bytes in prop_oneof![Just(60u32), Just(1514), 60u32..1515],
    ) {
        let (mut ahead, mut stepped) = (world.link(), world.link());
        let source = Saturated { frame_bytes, offered: 0, packets: 3000 };
        let (mut ahead_source, mut stepped_source) = (source, source);
        let mut until = Instant::ZERO;
        for turn_ns in turns_ns {
            until += Duration::from_ns(turn_ns);
            let last = ahead.feed(until, &mut ahead_source);
            let last_stepped = step_filling(&mut stepped, &mut stepped_source, until);
            prop_assert_eq!(last.max(ahead.advance(until)), last_stepped);
            prop_assert_eq!(ahead_source.offered, stepped_source.offered);
            prop_assert_eq!(seen(&mut ahead, until), seen(&mut stepped, until));
            prop_assert_eq!(described(&mut ahead, until), described(&mut stepped, until));
        }
    }

    #[test]
    fn a_packet_generator_is_taken_as_tick_by_tick(
        world in worlds(),
        frame_bytes in prop_oneof![Just(60u32), Just(1514), 60u32..1515],
        pace in prop_oneof![(-1_000i64..2_000).prop_map(|offset_ps| (100, offset_ps)), (50u64..300).prop_map(|percent| (percent, 0))],
        queue_packets in prop_oneof![1usize..8, 8usize..400],
        packets in 1u64..1_500,
    ) {
        let line = world.rate().serialisation(Frame::of_frame_bytes(frame_bytes, Ecn::NotCapable, ()).octets + HEADER_OCTETS);
        let (percent, offset_ps) = pace;
        let period = Duration::from_ps((line.as_ps() * percent / 100).saturating_add_signed(offset_ps).max(1));
        let told = |skips| {
            let mut link = world.link();
            let source = stress::Source::Generator { period, queue_packets };
            let stress = Stress { packets, frame_bytes, source, skips };
            let result = stress::run(&mut link, stress, &Control::default());
            let (end, text) = (result.end, format!("{result:?}"));
            format!("{text} {} {:?}", described(&mut link, end), link.counters(end))
        };
        prop_assert_eq!(told(true), told(false));
    }
}

#[test]
fn the_directions_stay_together_while_a_copy_is_on_its_way() {
    let mut link = link(100, false, 1);
    for number in 0..200 {
        link.offer(Instant::ZERO, Frame::of_frame_bytes(1514, Ecn::NotCapable, number));
    }
    let (end, mut copies, mut apart) = (Instant::ZERO + Duration::from_us(100), 0, 0);
    while link.poll_timeout() <= end {
        link.advance(link.poll_timeout());
        let goes_apart = link.poll_forward().is_some();
        copies += usize::from(!link.forward.copies.is_empty());
        apart += usize::from(goes_apart);
        assert!(link.forward.copies.is_empty() || !goes_apart);
    }
    assert!(copies > 0 && apart > 0, "{copies} and {apart} of the instants show nothing");
}

// LG-33: the frame that fills the window costs the oldest its copy, so the looks before it come first.
#[test]
fn a_window_that_fills_in_silence_fills_as_it_would_one_by_one() {
    let world = World {
        profile: "tofino1",
        gbps: 100,
        back_percent: 100,
        ordered: true,
        tight: false,
        narrow: false,
        dummies: 3,
        losses: (0.0, 1.0),
        fades: false,
        seed: 1,
    };
    for more in [0, 1, 100] {
        let count = u64::from(Position::WINDOW) + more;
        let pace = Pace::LineRate { offset_ps: 0 };
        let frames = frames_of(
            &[Burst { wait_ns: 0, bytes: 60, count, pace, ecn: Ecn::NotCapable, goes_back: false }],
            world.rate(),
        );
        let (mut ahead, mut stepped) = (world.link(), world.link());
        let mut forward = Trains::new();
        for (at, _, frame) in frames {
            forward.push(at, &frame);
            step_to(&mut stepped, at);
            stepped.offer(at, frame);
        }
        let until = forward.last_due() + Duration::from_us(1);
        step_to(&mut stepped, until);
        ahead.run(until, &mut forward, &mut Trains::new());
        assert_eq!(ahead.counters(until).sender.abandoned, more);
        assert_eq!(described(&mut ahead, until), described(&mut stepped, until));
        assert_eq!(ahead.copies_held(until), stepped.copies_held(until));
        assert_eq!(seen(&mut ahead, until), seen(&mut stepped, until));
    }
}
