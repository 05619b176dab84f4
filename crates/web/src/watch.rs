//! The frames of a short run, hop by hop, from the captures that `--pcap` makes.
//!
//! A capture has one hop, so the run is repeated for each hop; all repetitions are alike, because a run depends on its seed alone.

use crate::configuration::{Configuration, text};
use crate::words::{Kind, Said, said};
use lossylink_sim::capture::Place;
use lossylink_sim::capture::file::{CRC_ERROR, OUTBOUND};
use lossylink_sim::config::Recording;
use lossylink_sim::{ConfigError, Control, Simulation};
use pcap_file::PcapError;
use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketOption;
use pcap_file::pcapng::{Block, PcapNgReader};
use serde_json::{Map, Value, json};
use std::collections::HashSet;

/// The most frames that a page is told.
const MOST_FRAMES: usize = 20_000;
/// The most states that a page is told.
const MOST_STATES: usize = 1000;

/// Runs an experiment once for each of its hops, and returns the frames that passed, by time. With `lost` the link loses this one of
/// the packets with data, counted from one, and the answer has the position of the packet among the frames of the link.
///
/// The answer also has the state of the link's two ends after each frame of the link, as `--state-at` tells it, of the first
/// [`MOST_STATES`] instants at which frames leave.
///
/// # Errors
/// If the experiment has no captures, cannot be run, has no such packet, or has too many frames to look at.
pub fn watch(configuration: &Configuration, lost: Option<usize>) -> Result<Value, ConfigError> {
    let mut configuration = configuration.clone();
    let mut position = None;
    if let Some(packet) = lost {
        configuration.insert("loss".to_owned(), json!({}));
        position = Some(place(&Simulation::new(&text(&configuration))?, packet)?);
        configuration
            .insert("loss".to_owned(), json!({ "forward": { "model": "at", "positions": [position] } }));
    }
    let simulation = Simulation::new(&text(&configuration))?;
    let hops = hops(&simulation)?;
    let (mut frames, mut row) = (Vec::new(), Map::new());
    for hop in &hops {
        let (more, told) = on_hop(&simulation, hop)?;
        frames.extend(more);
        row = told;
        if frames.len() > MOST_FRAMES {
            return Err(ConfigError(format!("more than {MOST_FRAMES} frames pass; watch a shorter flow")));
        }
    }
    // The sort is stable: frames of one instant stay in the order of the path.
    frames.sort_by_key(|frame| frame.at_ns);
    let states = states(&configuration, &frames)?;
    let frames: Vec<Value> = frames.iter().map(Seen::told).collect();
    Ok(json!({
        "hops": hops, "link": Place::LINK_NAME, "frames": frames, "states": states, "row": row, "position": position,
    }))
}

/// Runs an experiment once more, and returns the state of the link's two ends after each frame of the link.
fn states(configuration: &Configuration, frames: &[Seen]) -> Result<Vec<Value>, ConfigError> {
    let on_link = frames.iter().filter(|frame| frame.hop == Place::LINK_NAME);
    // A capture rounds down to whole nanoseconds.
    let mut instants: Vec<u128> = on_link.map(|frame| frame.at_ns * 1000 + 999).collect();
    instants.dedup();
    instants.truncate(MOST_STATES);
    let mut configuration = configuration.clone();
    configuration.insert("state_at_ps".to_owned(), json!(instants));
    Ok(Simulation::new(&text(&configuration))?.run(&Control::default())?.states)
}

/// A frame that passed on a hop.
struct Seen {
    at_ns: u128,
    hop: String,
    is_forward: bool,
    is_lost: bool,
    octets: u32,
    said: Said,
}

impl Seen {
    fn told(&self) -> Value {
        json!({
            "at_us": self.at_ns as f64 / 1e3,
            "hop": self.hop,
            "direction": if self.is_forward { "forward" } else { "backward" },
            "lost": self.is_lost,
            "octets": self.octets,
            "kind": self.said.kind,
            "words": self.said.words,
            "of": { "sequence": self.said.sequence },
        })
    }
}

fn hops(simulation: &Simulation) -> Result<Vec<&'static str>, ConfigError> {
    let hops = simulation.hops();
    let refused = || ConfigError("the frames of this experiment cannot be watched".to_owned());
    if hops.is_empty() { Err(refused()) } else { Ok(hops) }
}

/// Returns the position among the frames of the link, counted from zero, of a packet that is counted from one among the packets with
/// data.
fn place(simulation: &Simulation, packet: usize) -> Result<usize, ConfigError> {
    let (frames, _) = on_hop(simulation, Place::LINK_NAME)?;
    let forward = frames.iter().filter(|frame| frame.is_forward);
    let data: Vec<usize> = forward
        .enumerate()
        .filter_map(|(place, frame)| (frame.said.kind == Kind::Data).then_some(place))
        .collect();
    let found = packet.checked_sub(1).and_then(|index| data.get(index).copied());
    found.ok_or_else(|| {
        ConfigError(format!("the flow has no packet {packet}: choose one from 1 to {}", data.len()))
    })
}

/// Runs a simulation, and returns the frames that passed on a hop, and the row.
fn on_hop(simulation: &Simulation, hop: &str) -> Result<(Vec<Seen>, Map<String, Value>), ConfigError> {
    let recording = Recording::default();
    let row = simulation.clone().recorded(hop, &recording)?.run(&Control::default())?.row;
    Ok((seen(hop, &recording.take())?, row))
}

/// Returns the frames of a capture.
fn seen(hop: &str, capture: &[u8]) -> Result<Vec<Seen>, ConfigError> {
    let refused = |error: PcapError| ConfigError(format!("the capture of {hop} cannot be read: {error}"));
    let mut reader = PcapNgReader::new(capture).map_err(refused)?;
    let (mut frames, mut sent) = (Vec::new(), HashSet::new());
    while let Some(block) = reader.next_block() {
        let Block::EnhancedPacket(packet) = block.map_err(refused)? else { continue };
        let flags = packet.options.iter().find_map(|option| match option {
            EnhancedPacketOption::Flags(flags) => Some(*flags),
            _ => None,
        });
        let flags = flags.unwrap_or_default();
        let mut said = said(&whole(&packet.data, packet.original_len));
        if said.kind == Kind::Data && said.sequence.is_some_and(|sequence| !sent.insert(sequence)) {
            said = by_the_host(said);
        }
        frames.push(Seen {
            at_ns: packet.timestamp.as_nanos(),
            hop: hop.to_owned(),
            is_forward: flags & OUTBOUND != 0,
            is_lost: flags & CRC_ERROR != 0,
            octets: packet.original_len,
            said,
        });
    }
    Ok(frames)
}

/// Returns a packet that a host has sent before.
fn by_the_host(frame: Said) -> Said {
    Said { kind: Kind::Retransmission, words: format!("{}, sent again by the host", frame.words), ..frame }
}

/// Returns the whole frame: a capture leaves out the end of a long payload, which is zeros.
fn whole(kept: &[u8], length: u32) -> Vec<u8> {
    let mut frame = kept.to_vec();
    frame.resize(length as usize, 0);
    frame
}
