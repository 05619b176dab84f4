//! Prints stress results of forward error correction:
//! `fec_probe PROTECTION K H LOSS FRAMES [GBPS]`, with a source that keeps the line busy.
use lossylink_core::engine::fec::{Code, Release};
use lossylink_core::loss::{LossModel, LossProcess};
use lossylink_core::rng::Streams;
use lossylink_core::time::Duration;
use lossylink_core::units::{BitRate, Bytes};
use lossylink_sim::config::SwitchProfile;
use lossylink_sim::net::fec::FecOptions;
use lossylink_sim::net::fec_model::FecModelOptions;
use lossylink_sim::net::{FecLink, FecModelLink, LineRate, ProtectedLink};
use lossylink_sim::world::stress::{Source, Stress, run};

fn main() {
    let words: Vec<String> = std::env::args().collect();
    let number = |place: usize| words[place].parse::<f64>().expect("a number");
    let text = std::fs::read_to_string("scenarios/switch/tofino1.toml").expect("run it at the root");
    let profile: SwitchProfile = toml::from_str(&text).expect("a switch profile");
    let rate =
        LineRate::new(BitRate::from_gbps(words.get(6).map_or(10, |rate| rate.parse().expect("a rate"))));
    let streams = Streams::new(1);
    let loss = LossModel::bernoulli(number(4)).expect("a ratio");
    let losses = (
        LossProcess::new(&loss, streams.stream("link/0/loss")),
        LossProcess::new(&LossModel::None, streams.stream("link/0/reverse-loss")),
    );
    let code = Code::new(number(2) as u32, number(3) as u32).expect("a code");
    let mut options = FecOptions::new(code, rate, Bytes(profile.queue_bytes));
    let frames = number(5) as u64;
    match words[1].as_str() {
        "fec-model" => {
            let options = FecModelOptions::published(code);
            measure(FecModelLink::new(&profile, rate, Duration::ZERO, &options, losses), frames, |link| {
                println!("{:?}", link.counters());
                link.latency().clone()
            });
        }
        name => {
            options.release = if name == "fec-in-order" { Release::InOrder } else { Release::Eager };
            measure(FecLink::new(&profile, rate, Duration::ZERO, &options, losses), frames, |link| {
                println!("{:#?}", link.counters());
                link.latency().clone()
            });
        }
    }
}

fn measure<L: ProtectedLink<u64>>(
    mut link: L,
    frames: u64,
    show: impl Fn(&L) -> lossylink_sim::net::fec::Latency,
) {
    let stress = Stress { packets: frames, frame_bytes: 1514, source: Source::Saturated };
    let start = std::time::Instant::now();
    let result = run(&mut link, stress, &lossylink_sim::Control::default());
    let wall = start.elapsed().as_secs_f64();
    let latency = show(&link);
    let (first, last) = result.first_and_last.expect("something arrived");
    let delivered = result.delivered.received();
    let gbps = (delivered - 1) as f64 * 1538.0 * 8.0 / (last - first).as_secs_f64() / 1e9;
    println!("{:?}", link.traffic());
    println!(
        "intact mean {:?} ps, recovered mean {:?} max {:?} ps",
        latency.intact().mean(),
        latency.recovered().mean(),
        latency.recovered().max()
    );
    println!(
        "residual {:.3e}, {gbps:.3} Gb/s, {} reordered, {} duplicated, rx max {:?} B, {:.1} ns a frame",
        (frames - delivered) as f64 / frames as f64,
        result.delivered.reordered(),
        result.delivered.duplicated(),
        result.samples.iter().map(|sample| sample.rx_bytes).max(),
        wall * 1e9 / frames as f64
    );
}
