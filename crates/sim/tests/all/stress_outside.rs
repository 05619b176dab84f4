//! The stress test with its source outside of the simulation: the link gives the results that it gives in
//! the simulator.

use crate::support::{config, number, run};
use lossylink_core::time::{Duration, Instant};
use lossylink_sim::EmulatedPath;
use lossylink_sim::net::Ecn;
use lossylink_sim::world::End;
use lossylink_sim::world::protocol::Carried;
use serde_json::{Map, Value, json};

const PACKETS: u64 = 300_000;
/// The number of frames beyond the last arrival that are under way.
const WINDOW: u64 = 2_000;

/// The knowledge of a source that looks at the clock only when a frame arrives, and the number of its
/// looks.
struct Seen {
    row: Map<String, Value>,
    delivered: u64,
    looks: u64,
}

fn settings(protection: &str) -> Value {
    let mut config = config("stress", protection);
    config["traffic"] = json!({"packets": PACKETS, "frame_bytes": 1514, "source": "saturated"});
    config
}

fn from_outside(protection: &str) -> Seen {
    let mut config = settings(protection);
    // The hosts are 10 us from either end of the link, behind an interface at the link's rate.
    config["path"] = json!({"rtt_ps": 2 * (659_000 + 10_000_000)});
    config["host"]["nic_rate_bps"] = config["link"]["rate_bps"].clone();
    let mut path = EmulatedPath::new(&config.to_string()).expect("the configuration is valid");
    let (mut now, mut sent, mut highest) = (Instant::ZERO, 0, 0);
    let (mut delivered, mut looks) = (0, 0);
    loop {
        while sent < PACKETS.min(highest + WINDOW) {
            path.send(now, End::Near, Carried { number: sent, bytes: 1514, ecn: Ecn::NotCapable });
            sent += 1;
        }
        let next = path.poll_timeout();
        if next.is_never() {
            break;
        }
        now = next;
        looks += 1;
        while let Some((end, arrival)) = path.take_arrival(now) {
            assert_eq!((end, arrival.at), (End::Far, now), "late, or at the wrong host");
            highest = highest.max(arrival.number + 1);
            delivered += 1;
        }
    }
    // No event is due any more, and no look is taken.
    Seen { row: path.report(now + Duration::from_ms(100)), delivered, looks }
}

#[test]
fn the_same_frames_are_lost_as_in_the_simulator() {
    let inside = run(&settings("none"));
    let outside = from_outside("none");
    assert_eq!(outside.delivered as f64, number(&inside, "packets_delivered"));
    assert!(outside.delivered < PACKETS);
    for key in ["actual_loss_rate", "octets_data", "octets_header", "octets_copies", "frames_simulated"] {
        assert_eq!(outside.row[key], inside.row[key], "{key}");
    }
}

#[test]
fn buffers_are_as_deep_as_in_the_simulator_and_looked_at_as_often() {
    let inside = run(&settings("lg"));
    let outside = from_outside("lg");
    assert_eq!(outside.delivered, PACKETS);
    let depth =
        |row: &Map<String, Value>, key: &str| row[key].as_f64().unwrap_or_else(|| panic!("{key}: {row:?}"));
    for (key, frames) in [("tx_buffer_kb_max", 2.0), ("rx_buffer_kb_max", 2.0), ("tx_buffer_kb_min", 6.0)] {
        let difference = depth(&outside.row, key) - depth(&inside.row, key);
        assert!(difference.abs() <= frames * 1.6, "{key} differs by {difference} KB");
    }
    // Three samples fall into 40 ms of traffic, and none into the 100 ms behind it, in which the buffers
    // are empty.
    assert!(depth(&outside.row, "tx_buffer_kb_min") > 0.0);
}

#[test]
fn the_owner_wakes_up_for_arrivals_and_little_else() {
    let outside = from_outside("lg");
    assert!(outside.looks < PACKETS + PACKETS / 20, "{} looks", outside.looks);
}
