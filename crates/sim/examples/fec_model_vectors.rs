//! Arrivals at the switch model of FEC and its decisions about them, for `tests/p4`: `fec_model_vectors SEED...`.
//!
//! Each seed gives one line of JSON: the frames and changes of code that enter the encoder, the packets that the
//! encoder makes of them, the packets that leave on the wire once a small queue has dropped some and losses have
//! marked some, and after each arrival the frames that go on and how many marked packets were let go, dropped, or
//! wait. At the end the line is healed and has room, until no packet waits.

use lossylink_core::engine::fec::Code;
use lossylink_core::engine::report::Reading;
use lossylink_core::loss::{LossModel, LossProcess};
use lossylink_core::rng::{RngCore, Stream, Streams};
use lossylink_core::time::{Duration, Instant};
use lossylink_core::units::BitRate;
use lossylink_core::wire::fec::{FecHeader, FecPart};
use lossylink_sim::config::SwitchProfile;
use lossylink_sim::net::fec_model::FecModelOptions;
use lossylink_sim::net::frame::{FCS_OCTETS, GAP_OCTETS};
use lossylink_sim::net::tap::{Content, LegName, Watch};
use lossylink_sim::net::{Ecn, FecModelLink, Frame, LineRate, ProtectedLink, Sight, Tap};
use serde_json::{Value, json};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::process::ExitCode;
use std::rc::Rc;

/// The octets of the corruption header, which a tap leaves out (FEC-25).
const CORRUPTION_OCTETS: u32 = 1;
/// The codes that are drawn, the published ones among them; the last code tags nothing (FEC-1).
const CODES: [(u32, u32); 9] = [(1, 1), (2, 1), (5, 1), (5, 5), (10, 3), (25, 1), (25, 5), (128, 32), (4, 0)];
/// The shares of packets that are marked, in percent.
const LOSS_PERCENT: [u32; 5] = [0, 3, 10, 20, 50];
/// The room of the queue in bytes, from a packet or two to more than is ever offered.
const QUEUE_BYTES: [u64; 4] = [2_000, 5_000, 20_000, 100_000_000];
/// The longest pause between two frames: two full frames at the line's rate of 10 Gb/s.
const GAP_PS: u64 = 2 * 1_236_000;

fn main() -> ExitCode {
    let seeds: Result<Vec<u64>, _> = std::env::args().skip(1).map(|word| word.parse()).collect();
    match seeds {
        Ok(seeds) if !seeds.is_empty() => {
            for seed in seeds {
                println!("{}", vector(seed));
            }
            ExitCode::SUCCESS
        }
        _ => {
            eprintln!("usage: fec_model_vectors SEED...");
            ExitCode::from(2)
        }
    }
}

/// The frames and changes of code that enter the encoder.
struct Traffic {
    /// The codes, each with the frame from which on it is in force.
    codes: Vec<(usize, Code)>,
    /// The frames: the time of each, and its bytes without the check sequence.
    frames: Vec<(Instant, u32)>,
}

impl Traffic {
    fn draw(rng: &mut Stream) -> Self {
        let count = 20 + below(rng, 101) as usize;
        let mut codes = vec![(0, code(rng))];
        if below(rng, 2) == 0 {
            codes.push((1 + below(rng, count as u64 - 1) as usize, code(rng)));
        }
        let mut now = Instant::ZERO;
        let frames = (0..count).map(|_| {
            // Every other frame comes right behind the one before.
            now += Duration::from_ps(below(rng, 2) * below(rng, GAP_PS));
            let bytes = match below(rng, 4) {
                0 => 60,
                1 => 1514,
                _ => 60 + below(rng, 1455) as u32,
            };
            (now, bytes)
        });
        let frames = frames.collect();
        Self { codes, frames }
    }
}

fn code(rng: &mut Stream) -> Code {
    let (size, rows) = pick(rng, &CODES);
    Code::new(size, rows).expect("a code of the list")
}

fn pick<T: Copy>(rng: &mut Stream, list: &[T]) -> T {
    list[below(rng, list.len() as u64) as usize]
}

fn below(rng: &mut Stream, bound: u64) -> u64 {
    rng.next_u64() % bound
}

/// A tap that keeps the packets that leave on the link.
#[derive(Default)]
struct Wire(RefCell<VecDeque<Sight<u32>>>);

impl Watch<u32> for Wire {
    fn see_on_link(&self, _now: Instant, sight: Sight<u32>) {
        self.0.borrow_mut().push_back(sight);
    }

    fn watched_hop(&self, _leg: LegName) -> Option<usize> {
        None
    }

    fn see_on_hop(&self, _now: Instant, _sight: Sight<u32>) {}

    fn begin_flow(&self, _number: u64) {}
}

/// A link, and the arrivals at its decoder so far.
struct Line {
    link: FecModelLink<u32>,
    wire: Rc<Wire>,
    rate: LineRate,
    flight: Duration,
    offered: u32,
    arrivals: Vec<Value>,
}

impl Line {
    fn new(queue_bytes: u64, code: Code, loss: LossProcess, streams: Streams) -> Self {
        let text = include_str!("../../../scenarios/switch/ideal.toml");
        let mut profile: SwitchProfile = toml::from_str(text).expect("a profile of the repository");
        profile.queue_bytes = queue_bytes;
        let rate = LineRate::new(BitRate::from_gbps(10));
        // A marked packet goes on when its block ends: which packets go on does not depend on their rounds.
        let options = FecModelOptions { recirculates: false, ..FecModelOptions::published(code) };
        let back = LossProcess::new(&LossModel::None, streams.stream("reverse-loss"));
        let mut link = FecModelLink::new(&profile, rate, Duration::ZERO, &options, (loss, back));
        let wire = Rc::new(Wire::default());
        link.set_tap(Tap::new(Rc::clone(&wire) as Rc<dyn Watch<u32>>));
        let flight = Duration::from_ns_f64(profile.data_pipeline_ns);
        Self { link, wire, rate, flight, offered: 0, arrivals: Vec::new() }
    }

    fn offer(&mut self, now: Instant, bytes: u32) {
        self.run(now);
        self.link.offer(now, Frame::of_frame_bytes(bytes, Ecn::NotCapable, self.offered));
        self.offered += 1;
    }

    /// Lets every event happen up to `until`, one arrival after the other.
    fn run(&mut self, until: Instant) {
        while self.link.poll_timeout() <= until && !self.link.poll_timeout().is_never() {
            let now = self.link.advance(self.link.poll_timeout());
            if !self.take_arrival(now) {
                assert!(self.link.delivered().pop().is_none(), "a frame goes on without an arrival");
            }
        }
    }

    /// Takes the packet whose last bit has come to the decoder at `now`. Returns whether there is one.
    fn take_arrival(&mut self, now: Instant) -> bool {
        let first = self.wire.0.borrow().front().copied();
        let Some(sight) = first else { return false };
        let (bytes, tag) = shown(&sight);
        let octets = bytes + FCS_OCTETS + GAP_OCTETS;
        let arrives = sight.at + self.rate.serialisation(octets) + self.flight;
        if arrives != now {
            assert!(arrives > now, "an arrival was missed");
            return false;
        }
        self.wire.0.borrow_mut().pop_front();
        let delivered = self.link.delivered();
        let goes_on: Vec<u32> =
            std::iter::from_fn(|| delivered.pop()).map(|(_, frame)| frame.payload).collect();
        let [recovered, unrecovered, circulating] = self.counts(now);
        self.arrivals.push(json!({
            "tag": tag, "bytes": bytes, "is_marked": !sight.arrives, "goes_on": goes_on,
            "recovered": recovered, "unrecovered": unrecovered, "circulating": circulating,
        }));
        true
    }

    fn counts(&mut self, now: Instant) -> [u64; 3] {
        let far = self.link.state(now).far;
        ["recovered", "unrecovered", "circulating"].map(|name| {
            let mut counters = far.iter().flat_map(|group| &group.counters);
            match counters.find(|counter| counter.name == name).map(|counter| counter.reading) {
                Some(Reading::Number(number)) => number,
                other => panic!("{name} reads {other:?}"),
            }
        })
    }

    /// Lets every packet arrive that is under way.
    fn drain(&mut self) {
        self.run(Instant::NEVER);
        assert!(self.wire.0.borrow().is_empty(), "what set out has arrived");
    }

    fn circulating(&mut self) -> u64 {
        self.counts(Instant::ZERO)[2]
    }
}

/// Returns the bytes of a packet on the wire without its check sequence, and the fields of its header.
fn shown(sight: &Sight<u32>) -> (u32, Value) {
    let parsed = |octets: &[u8]| FecHeader::parse(octets).expect("a header of the model").0;
    let (octets, tag) = match sight.content {
        Content::Bare(frame) => (frame.octets, json!({"kind": "bare", "number": frame.payload})),
        Content::Behind(headers, frame) => {
            let FecHeader { block, part: FecPart::Data { index, .. } } = parsed(headers.octets()) else {
                panic!("a host's frame is data")
            };
            let tag = json!({"kind": "data", "number": frame.payload, "block": block, "index": index});
            (frame.octets + headers.octets().len() as u32 + CORRUPTION_OCTETS, tag)
        }
        Content::Own { headers, octets, .. } => {
            let FecHeader { block, part: FecPart::Parity { row, size, rows } } = parsed(headers.octets())
            else {
                panic!("the model's own packets are parity")
            };
            let tag = json!({"kind": "parity", "block": block, "row": row, "size": size, "rows": rows});
            (octets + CORRUPTION_OCTETS, tag)
        }
    };
    (octets - FCS_OCTETS - GAP_OCTETS, tag)
}

fn vector(seed: u64) -> Value {
    let streams = Streams::new(seed);
    let mut rng = streams.stream("vectors");
    let mut traffic = Traffic::draw(&mut rng);
    let percent = pick(&mut rng, &LOSS_PERCENT);
    let queue_bytes = pick(&mut rng, &QUEUE_BYTES);
    let model = LossModel::bernoulli(f64::from(percent) / 100.0).expect("a share");
    let loss = LossProcess::new(&model, streams.stream("loss"));

    let first = traffic.codes[0].1;
    let mut line = Line::new(queue_bytes, first, loss, streams);
    offer_all(&mut line, &traffic);
    line.drain();
    let healed_from = line.arrivals.len();
    heal(&mut line, &mut traffic, &streams);

    // The encoder alone: all its packets reach the wire.
    let none = LossProcess::new(&LossModel::None, streams.stream("none"));
    let mut encoder = Line::new(u64::MAX, first, none, streams);
    offer_all(&mut encoder, &traffic);
    encoder.drain();
    let made: Vec<Value> = encoder
        .arrivals
        .iter()
        .map(|packet| json!({"tag": packet["tag"], "bytes": packet["bytes"]}))
        .collect();

    let codes: Vec<Value> =
        traffic.codes.iter().map(|(from, code)| json!([from, code.size(), code.rows()])).collect();
    let frames: Vec<u32> = traffic.frames.iter().map(|&(_, bytes)| bytes).collect();
    json!({
        "seed": seed, "codes": codes, "frames": frames, "made": made,
        "arrivals": line.arrivals, "healed_from": healed_from,
    })
}

fn offer_all(line: &mut Line, traffic: &Traffic) {
    let mut codes = traffic.codes.iter().skip(1).peekable();
    for (number, &(at, bytes)) in traffic.frames.iter().enumerate() {
        if let Some(&(_, code)) = codes.next_if(|&&(from, _)| from == number) {
            line.link.set_code(code);
        }
        line.offer(at, bytes);
    }
}

/// Sends single frames under a short code, without loss, until no packet waits for the end of its block.
fn heal(line: &mut Line, traffic: &mut Traffic, streams: &Streams) {
    if line.circulating() == 0 {
        return;
    }
    line.link.set_loss(LossProcess::new(&LossModel::None, streams.stream("healed")));
    let short = Code::new(1, 1).expect("the shortest code");
    line.link.set_code(short);
    traffic.codes.push((traffic.frames.len(), short));
    let mut now = traffic.frames.last().map_or(Instant::ZERO, |&(at, _)| at);
    while line.circulating() > 0 {
        // The pause is longer than the queue can take to drain.
        now += Duration::from_ms(1);
        traffic.frames.push((now, 60));
        line.offer(now, 60);
        line.drain();
    }
}
