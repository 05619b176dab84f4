//! Arrivals at a protected switch and the answers of its engines, for comparison with a switch program.
//!
//! ```text
//! cargo run -p lossylink-core --example linkguardian_vectors -- SEED...
//!
//! seed 7 in_order=1 copies=2 ...        a switch that starts over, and its parameters
//! in link 0200...                       a frame arrives; `in timer` is a timer packet
//! out host 0200...                      what leaves because of it, before the next arrival
//! state sender_next 131071              at the end: a register or a counter, and its value
//! ```
//!
//! Frames are hexadecimal, without frame check sequences. Nothing is under way when a frame arrives.

mod arrivals;
mod switch;

use arrivals::{Arrival, Arrivals};
use lossylink_core::rng::Streams;
use std::fmt::Write as _;
use std::io::{self, Write as _};
use switch::{Options, Switch};

/// Arrivals of one seed.
const ARRIVALS: usize = 40;

fn main() -> io::Result<()> {
    let seeds: Result<Vec<u64>, _> = std::env::args().skip(1).map(|word| word.parse()).collect();
    let Some(seeds) = seeds.ok().filter(|seeds| !seeds.is_empty()) else {
        eprintln!("usage: linkguardian_vectors SEED...");
        std::process::exit(2);
    };
    let mut output = io::stdout().lock();
    seeds.into_iter().try_for_each(|seed| output.write_all(vector(seed).as_bytes()))
}

/// The vector of one seed, as text.
fn vector(seed: u64) -> String {
    let mut stream = Streams::new(seed).stream("linkguardian/vectors");
    let options = Options::draw(&mut stream);
    let mut switch = Switch::new(options);
    let mut arrivals = Arrivals::new(options, stream);
    let mut text = format!("seed {seed} {options}\n");
    for _ in 0..ARRIVALS {
        let (arrival, outputs) = match arrivals.draw(&switch) {
            Arrival::Host(frame) => (format!("host {}", hex(&frame)), switch.handle_host(&frame)),
            Arrival::Link(frame) => (format!("link {}", hex(&frame)), switch.handle_link(&frame)),
            Arrival::Timer => ("timer".to_string(), switch.handle_timer()),
        };
        writeln!(text, "in {arrival}").expect("a string takes all");
        for (port, frame) in outputs {
            writeln!(text, "out {port} {}", hex(&frame)).expect("a string takes all");
        }
    }
    for (name, value) in switch.state() {
        writeln!(text, "state {name} {value}").expect("a string takes all");
    }
    text
}

fn hex(frame: &[u8]) -> String {
    frame.iter().fold(String::new(), |mut text, octet| {
        write!(text, "{octet:02x}").expect("a string takes all");
        text
    })
}
