//! Speed of the codec on one core, in bits of data frames a second: encoding, and rebuilding.
//!
//! Goals: (25, 5) with 1500 B frames encodes at 10 Gb/s and rebuilds one loss at 5 Gb/s.

use lossylink_codec::{BlockEncoder, BlockStore, Cauchy};
use std::hint::black_box;
use std::time::{Duration, Instant};

const FRAME_BYTES: usize = 1500;
/// The time for which a case runs.
const SPAN: Duration = Duration::from_millis(300);
/// Blocks that are timed together.
const BATCH: u32 = 64;
/// Goals for (25, 5), in Gb/s: encoding, and rebuilding one loss.
const GOALS: [(&str, f64); 2] = [("encode", 10.0), ("rebuild 1", 5.0)];

fn main() {
    println!("{:>8} {:>10} {:>12} {:>10} {:>8}", "code", "work", "us a block", "Gb/s", "goal");
    for (size, rows) in [(5, 1), (5, 5), (10, 5), (25, 1), (25, 5), (50, 5), (100, 10)] {
        let frames: Vec<Vec<u8>> = (0..size).map(frame).collect();
        let mut encoder = BlockEncoder::new(Cauchy::new());
        report(size, rows, "encode", seconds(|| encode(&mut encoder, rows, &frames)));

        let (code, mut store) = (Cauchy::new(), BlockStore::default());
        (0..).zip(&frames).for_each(|(index, frame)| store.keep_data(index, frame));
        (0..rows).for_each(|row| store.keep_body(row, encoder.body(row)));
        for lost in if rows > 1 { vec![1, rows] } else { vec![1] } {
            let missing = (1 << lost) - 1;
            let rebuild = || store.rebuild(&code, size, missing).expect("enough frames are there");
            report(size, rows, &format!("rebuild {lost}"), seconds(rebuild));
        }
    }
}

fn frame(index: u8) -> Vec<u8> {
    (0..FRAME_BYTES).map(|place| (place as u8).wrapping_mul(31) ^ index).collect()
}

fn encode(encoder: &mut BlockEncoder<Cauchy>, rows: u8, frames: &[Vec<u8>]) {
    encoder.begin(rows);
    (0..).zip(frames).for_each(|(index, frame)| encoder.add(index, black_box(frame)));
    black_box(encoder.body(0));
}

/// Returns the time of `work` in its fastest batch, because other work of the machine can only slow
/// a batch down.
fn seconds(mut work: impl FnMut()) -> f64 {
    work();
    let (start, mut fastest) = (Instant::now(), f64::INFINITY);
    while start.elapsed() < SPAN {
        let batch = Instant::now();
        (0..BATCH).for_each(|_| work());
        fastest = fastest.min(batch.elapsed().as_secs_f64() / f64::from(BATCH));
    }
    fastest
}

fn report(size: u8, rows: u8, work: &str, seconds: f64) {
    let gbps = f64::from(size) * FRAME_BYTES as f64 * 8.0 / seconds / 1e9;
    let goal = GOALS.iter().find(|(name, _)| (size, rows) == (25, 5) && *name == work);
    let verdict = goal.map_or("", |&(_, goal)| if gbps >= goal { "met" } else { "missed" });
    println!("{:>8} {work:>10} {:>12.2} {gbps:>10.1} {verdict:>8}", format!("{size}/{rows}"), seconds * 1e6);
}
