//! A path of the simulator under frames whose bytes the kernel keeps.

use crate::record::Record;
use lossylink_core::time::{Duration, Instant};
use lossylink_sim::EmulatedPath;
use lossylink_sim::net::Ecn;
use lossylink_sim::world::End;
use lossylink_sim::world::protocol::{Arrival, Carried};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::{fs, io};

/// The configuration of the path. The kernel's command line names a file that holds it in JSON.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Configuration {
    /// The simulated path, as a configuration of the simulator.
    path: serde_json::Value,
    /// The file to which the row of the path, and the bins of its time line, go at the end.
    report: PathBuf,
    /// The file that records the frames that pass the near host, if they are recorded.
    record: Option<PathBuf>,
}

/// The reason why there is no path.
#[derive(Debug, thiserror::Error)]
pub enum PathError {
    /// A file could not be read or written.
    #[error("{0}: {1}")]
    File(PathBuf, std::io::Error),
    /// The file does not hold the JSON that is expected.
    #[error("{0}: {1}")]
    Json(PathBuf, serde_json::Error),
    /// The path cannot be simulated.
    #[error("{0}")]
    Scenario(#[from] lossylink_sim::ConfigError),
}

/// A path with its record and its report.
pub struct Path {
    emulated: EmulatedPath,
    report: PathBuf,
    record: Option<Record>,
    /// First bytes and lengths of the frames that a record will show as they arrive, by number.
    heads: BTreeMap<u64, (Vec<u8>, u32)>,
}

impl Path {
    /// Opens the path of the configuration in the file `name`.
    ///
    /// # Errors
    /// If the path cannot be opened: one line that says why.
    pub fn open(name: &str) -> Result<Self, PathError> {
        let file = PathBuf::from(name);
        let text = fs::read_to_string(&file).map_err(|error| PathError::File(file.clone(), error))?;
        let configuration: Configuration =
            serde_json::from_str(&text).map_err(|error| PathError::Json(file, error))?;
        let record = configuration
            .record
            .map(|file| Record::create(&file).map_err(|error| PathError::File(file, error)));
        Ok(Self {
            emulated: EmulatedPath::new(&configuration.path.to_string())?,
            report: configuration.report,
            record: record.transpose()?,
            heads: BTreeMap::new(),
        })
    }

    /// Sends frame `number` of a host, which has `bytes` bytes and begins with `head`; returns when the
    /// interface of the host has sent it.
    pub fn send(&mut self, now: Instant, end: End, number: u64, head: &[u8], bytes: u32) -> Instant {
        if let Some(record) = &mut self.record {
            let head = record.head(head);
            match end {
                End::Near => record.add(now, head, bytes),
                End::Far => {
                    self.heads.insert(number, (head.to_vec(), bytes));
                }
            }
        }
        self.emulated.send(now, end, Carried { number, bytes, ecn: ecn(head) })
    }

    /// Returns when to ask for arrivals again.
    pub fn poll_timeout(&self) -> Instant {
        self.emulated.poll_timeout()
    }

    /// Takes the next frame that has come out of the path by `now`, and returns it with the end at which it
    /// came out.
    pub fn take(&mut self, now: Instant) -> Option<(End, Arrival)> {
        let (end, arrival) = self.emulated.take_arrival(now)?;
        if let (Some(record), End::Near) = (&mut self.record, end)
            && let Some((head, bytes)) = self.heads.remove(&arrival.number)
        {
            record.add(now, &head, bytes);
        }
        Some((end, arrival))
    }

    /// Returns how long a frame may be under way before its owner forgets it.
    pub const fn patience(&self) -> Duration {
        self.emulated.patience()
    }

    /// Writes the report, and completes the record.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn close(mut self, now: Instant) -> io::Result<()> {
        let timeline: serde_json::Map<_, _> = self
            .emulated
            .timeline()
            .into_iter()
            .map(|(name, column)| Ok((name, column.values()?.into())))
            .collect::<io::Result<_>>()?;
        let report = serde_json::json!({ "row": self.emulated.report(now), "timeline": timeline });
        if let Some(record) = self.record {
            record.finish()?;
        }
        fs::write(self.report, report.to_string())
    }
}

/// Offset of the EtherType of an Ethernet frame, and that of its payload.
const ETHERTYPE: usize = 12;
const NETWORK: usize = 14;

/// Returns the ECN field of a frame that begins with `head`.
fn ecn(head: &[u8]) -> Ecn {
    let field = match (head.get(ETHERTYPE..NETWORK), head.get(NETWORK..NETWORK + 2)) {
        (Some([0x08, 0x00]), Some(&[_, class])) => class & 0b11,
        // The traffic class of IPv6 begins in the middle of a byte.
        (Some([0x86, 0xdd]), Some(&[_, class])) => class >> 4 & 0b11,
        _ => 0,
    };
    match field {
        0 => Ecn::NotCapable,
        3 => Ecn::Experienced,
        _ => Ecn::Capable,
    }
}
