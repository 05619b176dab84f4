//! Swarm: the code changes at any time, under loss, and the two ends never disagree (FEC-8).
//!
//! An oracle that knows nothing of the engines counts the frames of each block on the wire and
//! determines the data frames that can be delivered. The link must deliver exactly these frames,
//! each once. `LOSSYLINK_SWARM_SEED=17` runs one seed.

use lossylink_core::engine::fec::{Code, Release};
use lossylink_core::loss::{LossModel, LossProcess};
use lossylink_core::rng::{RngCore, Stream, Streams};
use lossylink_core::time::{Duration, Instant};
use lossylink_core::units::{BitRate, Bytes};
use lossylink_sim::config::SwitchProfile;
use lossylink_sim::net::coded::{CodedLine, EgressOptions};
use lossylink_sim::net::fec::FecOptions;
use lossylink_sim::net::fec_model::FecModelOptions;
use lossylink_sim::net::{Ecn, FecLink, FecModelLink, Frame, LineRate, ProtectedLink};

const SEEDS: u64 = 200;
/// The number of frames that a seed sends.
const FRAMES: u64 = 600;

/// A world: all values that a seed draws.
#[derive(Clone, Debug)]
struct World {
    release: Release,
    /// The codes, each with the frame before which it becomes the code in force; the first is the
    /// initial code.
    changes: Vec<(u64, Code)>,
    /// Whether the wire loses each frame, data and parity alike, in turn.
    lost: Vec<bool>,
}

fn below(random: &mut Stream, bound: u64) -> u64 {
    random.next_u64() % bound
}

impl World {
    fn draw(seed: u64) -> Self {
        let mut random = Streams::new(seed).stream("fec-change");
        let release = if below(&mut random, 2) == 0 { Release::Eager } else { Release::InOrder };
        let mut changes = vec![(0, code(&mut random, 0))];
        for _ in 0..1 + below(&mut random, 12) {
            // A second change before one frame is a change as well.
            changes.push((below(&mut random, FRAMES), code(&mut random, 1)));
        }
        changes.sort_by_key(|&(at, _)| at);
        let mille = [10, 50, 150, 300][below(&mut random, 4) as usize];
        let lost = (0..997).map(|_| below(&mut random, 1000) < mille).collect();
        Self { release, changes, lost }
    }

    /// Returns the codes that are set before the frame with this number, but for the initial code.
    fn changes_before(&self, number: u64) -> impl Iterator<Item = Code> {
        self.changes[1..].iter().filter(move |&&(at, _)| at == number).map(|&(_, code)| code)
    }

    fn losses(&self) -> (LossProcess, LossProcess) {
        let stream = || Streams::new(0).stream("unused");
        let trace = LossModel::trace(&self.lost).unwrap();
        (LossProcess::new(&trace, stream()), LossProcess::new(&LossModel::None, stream()))
    }
}

/// Returns a code with parity, so that frames are tagged from the first to the last.
fn code(random: &mut Stream, spread: u64) -> Code {
    let size = 1 + below(random, 20 + 30 * spread) as u32;
    Code::new(size, 1 + below(random, 6) as u32).unwrap()
}

/// Returns whether each data frame can be delivered: the frame arrives, or its block loses no more
/// frames than it has parity frames. The wire carries the data of each block and then its parity;
/// the last block is flushed.
fn oracle(world: &World) -> Vec<bool> {
    let mut wire = world.lost.iter().copied().cycle();
    let (mut had, mut open) = (Vec::new(), Vec::new());
    let (mut current, mut next) = (world.changes[0].1, world.changes[0].1);
    for number in 0..FRAMES {
        for code in world.changes_before(number) {
            next = code;
        }
        if open.is_empty() {
            current = next;
        }
        open.push(wire.next().unwrap());
        if open.len() == usize::from(current.size()) || number + 1 == FRAMES {
            let parity_lost = (0..current.rows()).filter(|_| wire.next().unwrap()).count();
            let lost = parity_lost + open.iter().filter(|&&lost| lost).count();
            let rebuilt = lost <= usize::from(current.rows());
            had.extend(open.drain(..).map(|lost| !lost || rebuilt));
        }
    }
    had
}

/// Sends the frames, keeping the line busy. Returns the numbers of the delivered frames in order.
fn outcome<L: ProtectedLink<u64>>(link: &mut L, world: &World, set: fn(&mut L, Code)) -> Vec<u64> {
    let (mut now, mut number) = (Instant::ZERO, 0);
    loop {
        while link.backlog() < 3 && number < FRAMES {
            world.changes_before(number).for_each(|code| set(link, code));
            link.offer(now, Frame::of_frame_bytes(1514, Ecn::NotCapable, number));
            number += 1;
        }
        now = link.poll_timeout();
        if now.is_never() {
            break;
        }
        link.advance(now);
    }
    std::iter::from_fn(|| link.delivered().pop()).map(|(_, frame)| frame.payload).collect()
}

fn judge(world: &World, arrived: &[u64]) -> Result<(), String> {
    let mut times = vec![0; FRAMES as usize];
    arrived.iter().for_each(|&number| times[number as usize] += 1);
    for (number, (times, had)) in times.into_iter().zip(oracle(world)).enumerate() {
        if times != u32::from(had) {
            return Err(format!("frame {number} came out {times} times, and should {}", u32::from(had)));
        }
    }
    Ok(())
}

fn profile() -> SwitchProfile {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/switch/tofino1.toml");
    toml::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn rate() -> LineRate {
    LineRate::new(BitRate::from_gbps(10))
}

fn line() -> CodedLine {
    CodedLine { rate: rate(), full_octets: 1538 }
}

fn engine(world: &World) -> Result<(), String> {
    let usual = FecOptions::new(world.changes[0].1, EgressOptions::default(), line(), Bytes(1_000_000));
    // The timer is long enough for the largest block that a change may bring.
    let options = FecOptions { release: world.release, ..usual }.with_flush(
        Duration::from_us(300),
        line(),
        Bytes(1_000_000),
    );
    let mut link = FecLink::new(&profile(), rate(), Duration::ZERO, &options, world.losses());
    let arrived = outcome(&mut link, world, FecLink::set_code);
    let decoder = link.counters().decoder;
    if decoder.inconsistent + decoder.stale + decoder.restarts + decoder.duplicates > 0 {
        return Err(format!("the ends disagree: {decoder:?}"));
    }
    if world.release == Release::InOrder && !arrived.is_sorted() {
        return Err("out of order".into());
    }
    judge(world, &arrived)
}

fn model(world: &World) -> Result<(), String> {
    let published = FecModelOptions::published(world.changes[0].1);
    let options = FecModelOptions { flush: Some(Duration::from_us(300)), ..published };
    let mut link = FecModelLink::new(&profile(), rate(), Duration::ZERO, &options, world.losses());
    judge(world, &outcome(&mut link, world, FecModelLink::set_code))
}

// FEC-8
#[test]
fn the_ends_never_disagree_about_the_code() {
    let one = std::env::var("LOSSYLINK_SWARM_SEED").ok().and_then(|seed| seed.parse().ok());
    let seeds = one.map_or(0..SEEDS, |seed: u64| seed..seed + 1);
    let failures: Vec<String> = seeds
        .flat_map(|seed| {
            let world = World::draw(seed);
            [("fec", engine(&world)), ("fec-model", model(&world))].map(|(name, result)| {
                let line = "cargo test -p lossylink-sim --test all fec_change";
                result.err().map(|what| format!("LOSSYLINK_SWARM_SEED={seed} {line}: {name}: {what}"))
            })
        })
        .flatten()
        .collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// The canary: a check that could not fail would prove nothing.
#[test]
fn a_link_that_keeps_the_old_code_is_found_out() {
    let world = (0..SEEDS).map(World::draw).find(|world| world.changes.len() > 4).unwrap();
    let options = FecOptions::new(world.changes[0].1, EgressOptions::default(), line(), Bytes(1_000_000));
    let mut link = FecLink::new(&profile(), rate(), Duration::ZERO, &options, world.losses());
    let arrived = outcome(&mut link, &world, |_, _| {});
    assert!(judge(&world, &arrived).is_err());
}
