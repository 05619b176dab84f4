//! The configuration of a data plane: one JSON object, every key in base units, unknown keys refused.

use crate::error::{Attempt, Error, Result};
use crate::port::MAX_MTU;
use crate::sys::privilege::Capability;
use crate::traffic::Load;
use crate::values;
use lossylink_core::guard::{QueueLimits, Secret};
use lossylink_core::loss::LossModel;
use lossylink_core::protection::Protection;
use lossylink_core::time::Duration;
use lossylink_core::units::BitRate;
use serde::Deserialize;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The most bytes of a secret.
const LONGEST_SECRET: u64 = 4096;

/// The configuration of one data plane process.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The largest IP packet of the hosts, in bytes.
    pub mtu_bytes: usize,
    /// The path at which the control socket is made; a load has none.
    #[serde(default)]
    pub control: PathBuf,
    /// Seed of every random stream.
    #[serde(default)]
    pub seed: u64,
    /// Real-time priority (SCHED_FIFO) to ask for; the loop runs without it when it is refused.
    #[serde(default)]
    pub fifo_priority: Option<i32>,
    /// The processor on which the loop stays. A veth queues a frame on the sender's processor: a sender that moves
    /// from one processor to another reorders its frames.
    #[serde(default)]
    pub processor: Option<usize>,
    /// How long before a deadline the process stops sleeping and spins.
    #[serde(default = "default_spin_us")]
    pub spin_us: u64,
    /// The queue toward the link.
    #[serde(default)]
    pub queue: QueueLimits,
    /// The file of the secret that the guards of the link share; without it the link is trusted (G-27).
    #[serde(default)]
    pub key_file: Option<PathBuf>,
    /// The privileges that the loop keeps once the ports are open, beside the right to lock memory. The other
    /// threads keep that right only. The process keeps all privileges if absent.
    #[serde(default)]
    pub keeps: Option<Vec<Capability>>,
    /// Whether hosts may send and receive many frames as one packet. On the link their frames are the same.
    #[serde(default)]
    pub super_frames: bool,
    /// The role of the process.
    pub role: Role,
}

/// The role of a process.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Role {
    /// A link emulator between two ports, with a guard at each end unless it is a plain wire.
    Path(PathConfig),
    /// One guard between a LAN port and a link port.
    Guard(GuardPortsConfig),
    /// A load of numbered frames between two hosts; ends by itself and prints its account.
    Load(Load),
}

/// A link emulator between two ports.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PathConfig {
    /// The port at the near end.
    pub near: String,
    /// The port at the far end.
    pub far: String,
    /// The rate of the link, in bits per second.
    pub rate_bps: u64,
    /// One-way propagation, in picoseconds.
    pub propagation_ps: u64,
    /// Loss from near to far.
    #[serde(default)]
    pub loss_forward: LossModel,
    /// Loss from far to near.
    #[serde(default)]
    pub loss_reverse: LossModel,
    /// The protection of the link, `none` included; a plain wire without guards if absent (G-25).
    #[serde(default)]
    pub protection: Option<Protection>,
}

/// The two ports of a guard, and its protection.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GuardPortsConfig {
    /// The port toward the protected network.
    pub lan: String,
    /// The port toward the corrupting link.
    pub link: String,
    /// The rate at which to send toward the link; unlimited if absent.
    #[serde(default)]
    pub rate_bps: Option<u64>,
    /// The protection of frames toward the link; `None` if absent.
    #[serde(default)]
    pub protection: Option<Protection>,
}

/// Returns the default of `spin_us`: the sleep of a thread that is allowed to run at once ends at most about this
/// late.
fn default_spin_us() -> u64 {
    60
}

impl Config {
    /// Reads a configuration.
    ///
    /// # Errors
    /// On any key or value that the fields above do not describe.
    pub fn parse(text: &str) -> Result<Self> {
        let config: Self = serde_json::from_str(text).map_err(|error| Error::Usage(words(&error)))?;
        if !(68..=MAX_MTU).contains(&config.mtu_bytes) {
            let mtu = config.mtu_bytes;
            return Err(Error::Usage(format!("an MTU of {mtu} is impossible: 68 to {MAX_MTU} bytes")));
        }
        Ok(config)
    }

    /// Reads the secret that the guards share, from its file.
    ///
    /// # Errors
    /// If the file cannot be read, others may read it, or it holds too little or too much.
    pub fn secret(&self) -> Result<Option<Secret>> {
        self.key_file.as_deref().map(read_secret).transpose()
    }
}

impl PathConfig {
    /// Returns the rate of the link.
    pub fn rate(&self) -> Result<BitRate> {
        values::rate(self.rate_bps)
    }

    /// Returns the one-way propagation.
    pub fn propagation(&self) -> Duration {
        Duration::from_ps(self.propagation_ps)
    }
}

/// Returns the words of an error. A wrong value has been written by a user elsewhere, who does not know its place in this text.
fn words(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    if error.is_data() { text.trim_end_matches(&place).to_owned() } else { format!("configuration: {text}") }
}

/// Reads the secret in a file; the end of its last line does not count.
fn read_secret(path: &Path) -> Result<Secret> {
    let what = || format!("read the key file {}", path.display());
    let file = File::open(path).attempting(what())?;
    let mode = file.metadata().attempting(what())?.permissions().mode();
    if mode & 0o077 != 0 {
        let path = path.display();
        return Err(Error::Usage(format!("others may read the key file {path}: chmod 600 {path}")));
    }
    let mut bytes = Vec::new();
    file.take(LONGEST_SECRET + 1).read_to_end(&mut bytes).attempting(what())?;
    let length = bytes.trim_ascii_end().len();
    let secret = if length as u64 > LONGEST_SECRET { None } else { Secret::new(&bytes[..length]) };
    secret.ok_or_else(|| {
        let (path, least) = (path.display(), Secret::SHORTEST);
        Error::Usage(format!(
            "the key file {path} holds {length} bytes: {least} to {LONGEST_SECRET} are needed, \
             `head -c 32 /dev/urandom | base64` makes some"
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use lossylink_core::protection::LinkGuardian;

    #[test]
    fn a_path_is_read() {
        let text = r#"{"mtu_bytes": 1500, "control": "/x", "queue": {"bytes": 560000},
            "role": {"path": {"near": "tap:a", "far": "tap:b", "rate_bps": 1000, "propagation_ps": 5}}}"#;
        let config = Config::parse(text).unwrap();
        let Role::Path(path) = config.role else { panic!("a path was asked for") };
        assert_eq!(path.loss_forward, LossModel::None);
        assert_eq!((path.protection, config.spin_us), (None, 60));
    }

    #[test]
    fn a_guard_is_read_with_its_protection() {
        let text = r#"{"mtu_bytes": 1500, "role": {"guard": {"lan": "eth1", "link": "eth2",
            "protection": {"family": "linkguardian", "copies": 2, "mode": {"ordered": {"backpressure": true}}}}}}"#;
        let Role::Guard(guard) = Config::parse(text).unwrap().role else { panic!("a guard was asked for") };
        let options = LinkGuardian { copies: Some(2), holes: None, ..LinkGuardian::ORDERED };
        assert_eq!(guard.protection, Some(Protection::LinkGuardian(options)));
        let text = text.replace("copies", "copis");
        assert!(Config::parse(&text).unwrap_err().to_string().contains("unknown field `copis`"));
    }

    // G-27
    #[test]
    fn a_secret_is_read_if_it_is_one() {
        let path = std::env::temp_dir().join(format!("lossylink-key-{}", std::process::id()));
        let read = |bytes: &[u8], mode| {
            // Only root may write to a file that its owner may only read.
            _ = std::fs::remove_file(&path);
            std::fs::write(&path, bytes).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            read_secret(&path).map_err(|error| error.to_string())
        };
        let secret = read(&[b'k'; 16], 0o600).unwrap();
        assert_eq!(read(b"kkkkkkkkkkkkkkkk\n", 0o400), Ok(secret));
        assert!(read(&[b'k'; 16], 0o640).unwrap_err().contains("chmod 600"));
        assert!(read(b"kkkkkkkkkkkkkkk\n", 0o600).unwrap_err().contains("holds 15 bytes: 16 to 4096"));
        assert!(read(&[b'k'; 5000], 0o600).unwrap_err().contains("16 to 4096"));
        std::fs::remove_file(&path).unwrap();
        assert!(read_secret(&path).unwrap_err().to_string().contains("read the key file"));
    }

    #[test]
    fn mistakes_are_named() {
        let unknown = Config::parse(r#"{"mtu": 1500}"#).unwrap_err();
        assert!(unknown.to_string().contains("unknown field `mtu`"), "{unknown}");
        let loss = r#"{"mtu_bytes": 1500, "role": {"path": {"near": "tap:a", "far": "tap:b", "rate_bps": 1000,
            "propagation_ps": 5, "loss_forward": {"model": "bernoulli", "p": 2}}}}"#;
        let refused = Config::parse(loss).unwrap_err();
        assert!(refused.is_usage());
        assert_eq!(refused.to_string(), "loss rate 2 is not a probability: write a number from 0 to 1");
    }
}
