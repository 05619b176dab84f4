//! Sends a load of frames at equal distances and waits for the last frames to arrive.

use super::{Ledger, Tally};
use crate::clock::Clock;
use crate::error::{Attempt, Error, Result};
use crate::port::{ETHERNET_BYTES, Port, PortCounters};
use crate::sys::poll::wait;
use crate::sys::process::monotonic_ns;
use crate::values;
use lossylink_core::time::{Duration, Instant};
use lossylink_core::units::Bytes;
use lossylink_core::wire::wire_octets;
use serde::{Deserialize, Serialize};

/// Frames taken from the sink in a round.
const RECEIVE_BATCH: usize = 256;
/// The lag that a load makes up by sending frames all at once after a late wake-up. Beyond it the load gives
/// up its lag, because a burst would overflow the queue that it is to measure.
const CATCH_UP: Duration = Duration::from_ms(2);
/// Settling times after which the wait for last frames ends even though frames go on arriving.
const LONGEST_SETTLE: u64 = 10;
/// How long the loop sleeps between two rounds.
const ROUND_NS: u64 = 100_000;

/// The configuration of a load.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Load {
    /// The port into which frames go.
    pub source: String,
    /// The port at which frames come out.
    pub sink: String,
    /// The MAC addresses of the frames, target first.
    pub addresses: [[u8; 6]; 2],
    /// The number of frames.
    pub frames: u64,
    /// Bytes of each frame, without FCS.
    pub frame_bytes: usize,
    /// The rate on the wire, in bits per second.
    pub rate_bps: u64,
    /// How long to wait for the last frames after the last was sent or has arrived, in milliseconds.
    pub settle_ms: u64,
}

/// The result of a load.
#[derive(Clone, Debug, Serialize)]
pub struct Outcome {
    /// The account of its frames.
    pub tally: Tally,
    /// Frames that never arrived, and frames sent, by batches of consecutive frames.
    pub lost_by_batch: Vec<(u64, u64)>,
    /// How long sending took, in seconds.
    pub seconds: f64,
    /// The counters of the load's own two ports.
    pub ports: LoadPorts,
}

/// The ports of a load.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct LoadPorts {
    /// The counters of the port into which frames go.
    pub source: PortCounters,
    /// The counters of the port at which frames come out.
    pub sink: PortCounters,
}

/// Sends the load and returns its result.
///
/// # Errors
/// When a port is refused, or the load makes no sense.
pub fn run(load: &Load) -> Result<Outcome> {
    if load.frames == 0 {
        return Err(Error::Usage("a load of no frames measures nothing: give at least 1".to_owned()));
    }
    let mtu = load.frame_bytes.saturating_sub(ETHERNET_BYTES);
    let mut source = values::port(&load.source)?.open(mtu, false)?;
    let mut sink = values::port(&load.sink)?.open(mtu, false)?;
    let name = (monotonic_ns() / 1_000) as u32;
    let mut ledger = Ledger::new(name, load.frames, load.frame_bytes);
    let clock = Clock::start();
    send_all(load, &clock, source.as_mut(), sink.as_mut(), &mut ledger)?;
    let sent_at = clock.now();
    let settle = Duration::from_ms(load.settle_ms);
    let latest = sent_at + settle * LONGEST_SETTLE;
    let mut last = sent_at;
    while clock.now() < latest.min(last + settle) {
        let before = ledger.tally();
        receive(sink.as_mut(), &mut ledger)?;
        if ledger.tally() != before {
            last = clock.now();
        }
        wait(&[sink.readable()], Some(ROUND_NS)).attempting("wait for frames")?;
    }
    let ports = LoadPorts { source: source.counters(), sink: sink.counters() };
    let lost_by_batch = ledger.lost_by_batch();
    Ok(Outcome { tally: ledger.tally(), lost_by_batch, seconds: sent_at.as_secs_f64(), ports })
}

fn send_all(
    load: &Load,
    clock: &Clock,
    source: &mut dyn Port,
    sink: &mut dyn Port,
    ledger: &mut Ledger,
) -> Result<()> {
    let spacing = wire_octets(Bytes(load.frame_bytes as u64)) / values::rate(load.rate_bps)?;
    let mut next = Instant::ZERO;
    let mut frame = Vec::with_capacity(load.frame_bytes);
    while ledger.tally().sent < load.frames {
        let now = clock.now();
        next = next.max(Instant::from_ps(now.as_ps().saturating_sub(CATCH_UP.as_ps())));
        while next <= now && ledger.tally().sent < load.frames {
            ledger.write_next(&mut frame, load.addresses);
            source.send(&frame);
            next += spacing;
        }
        source.flush();
        if receive(sink, ledger)? == 0 {
            wait(&[sink.readable()], Some(ROUND_NS)).attempting("wait for frames")?;
        }
    }
    Ok(())
}

fn receive(sink: &mut dyn Port, ledger: &mut Ledger) -> Result<usize> {
    sink.receive(RECEIVE_BATCH, &mut |frame| ledger.enter(frame))
}
