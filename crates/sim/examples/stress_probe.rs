//! Prints the stress results of one configuration: `stress_probe PROFILE PROTECTION SOURCE PACKETS LOSS COPIES`.
use lossylink_core::engine::linkguardian::SenderConfig;
use lossylink_core::loss::{LossModel, LossProcess};
use lossylink_core::rng::Streams;
use lossylink_core::time::Duration;
use lossylink_core::units::BitRate;
use lossylink_sim::config::SwitchProfile;
use lossylink_sim::net::linkguardian::{Options, timing::queue_limits};
use lossylink_sim::net::plain::PlainConfig;
use lossylink_sim::net::*;
use lossylink_sim::world::stress::*;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let profile: SwitchProfile =
        toml::from_str(&std::fs::read_to_string(format!("scenarios/switch/{}.toml", a[1])).unwrap()).unwrap();
    let packets: u64 = a[4].parse().unwrap();
    let loss = LossModel::quantised(a[5].parse().unwrap()).unwrap();
    let rate = LineRate::new(BitRate::from_gbps(a.get(7).map_or(100, |r| r.parse().unwrap())));
    let streams = Streams::new(1);
    let source = if a[3] == "generator" {
        Source::Generator {
            period: Duration::from_ps(profile.generator_period_ps),
            queue_packets: profile.sender_queue_packets,
        }
    } else {
        Source::Saturated
    };
    let stress = Stress { packets, frame_bytes: 1514, source };
    let f = LossProcess::new(&loss, streams.stream("link/0/loss"));
    let r = LossProcess::new(&LossModel::None, streams.stream("link/0/reverse-loss"));
    let t = std::time::Instant::now();
    let control = lossylink_sim::Control::default();
    if a[2] == "none" {
        let mut link = PlainLink::new(
            PlainConfig { rate, flight: Duration::from_ns(659), queue: queue_limits(&profile) },
            f,
            r,
        );
        let out = run(&mut link, stress, &control);
        println!("{:?}", link.traffic());
        let el = t.elapsed().as_secs_f64();
        println!("delivered {} {:.1} ns/frame", out.delivered.received(), el * 1e9 / packets as f64);
        return;
    }
    let options = Options {
        sender: SenderConfig {
            copies: a[6].parse().unwrap(),
            dummies: profile.dummy_count,
            hole_cap: Some(5),
        },
        ordered: a[2] == "lg",
        backpressure: true,
        deduplicate: true,
    };
    let mut link = LinkGuardianLink::new(
        &profile,
        rate,
        Duration::ZERO,
        &options,
        (f, r),
        &mut streams.stream("phases"),
    );
    let out = run(&mut link, stress, &control);
    let el = t.elapsed().as_secs_f64();
    let (first, last) = out.first_and_last.unwrap();
    let n = out.delivered.received();
    println!(
        "speed {:.3} Gb/s  delivered {} reordered {} dup {} ",
        (n - 1) as f64 * 1538.0 * 8.0 / (last - first).as_secs_f64() / 1e9,
        n,
        out.delivered.reordered(),
        out.delivered.duplicated()
    );
    println!("effective loss {:.3e}", (packets - n) as f64 / packets as f64);
    println!("{:?}", link.traffic());
    println!("{:#?}", link.counters(out.end));
    let h = link.retransmission_delay().histogram();
    println!("retx delay p50 {:?} max {:?}", h.percentile(0.5), h.max());
    let tx: Vec<_> = out.samples.iter().map(|s| s.tx_bytes).collect();
    let rx: Vec<_> = out.samples.iter().map(|s| s.rx_bytes).collect();
    println!("tx samples {:?}..{:?} rx {:?}", tx.iter().min(), tx.iter().max(), rx.iter().max());
    println!("{:.1} ns/frame", el * 1e9 / packets as f64);
}
