//! The planes of a process: a path (two ports, the link between them) or one guard between two ports.

mod guard_box;
mod path_plane;
mod routed;

use crate::clock::Clock;
use crate::config::{Config, Role};
use crate::control::Control;
use crate::error::{Attempt, Result};
use crate::runner::{Pace, Plane, Runner};
use crate::sys::privilege::{self, OF_HELPERS};
use crate::sys::process::termination;
use crate::traffic;
use guard_box::GuardBox;
use lossylink_core::guard::GuardConfig;
use lossylink_core::time::Duration;
use lossylink_core::units::Bytes;
use lossylink_core::wire::ethernet::EthernetHeader;
use path_plane::PathPlane;

/// Bytes of two VLAN tags. On the link they stand behind an EtherType of the guards, where an MTU counts them.
const TAGS: usize = 8;
/// Bytes of an Ethernet header with two VLAN tags.
const LONGEST_HEADER: usize = EthernetHeader::LEN + TAGS;
/// Frames that a guard may hold beyond the queue and the flight: copies, reorder buffer, control frames. The
/// number is half of the largest window of unacknowledged frames, which is more than any measured loop needs
/// at 10 Gb/s.
const SPARE_FRAMES: u64 = 32_768;
/// Bytes of a frame by which the number of frames in a queue is estimated; with shorter frames the pool is the
/// limit.
const SMALL_FRAME: u64 = 256;

/// Runs the data plane that `text` (JSON, see [`Config`]) describes until it is told to stop.
///
/// # Errors
/// When the configuration makes no sense or the system refuses a port.
pub fn run(text: &str) -> Result<()> {
    let config = Config::parse(text)?;
    // Signals are taken over first: the control thread must not catch them.
    let termination = termination().attempting("take over SIGTERM")?;
    let clock = Clock::start();
    match &config.role {
        Role::Path(path) => {
            let plane = PathPlane::build(&config, path, clock)?;
            serve(plane, &config, clock, termination)
        }
        Role::Guard(ports) => {
            let plane = GuardBox::build(&config, ports, clock)?;
            serve(plane, &config, clock, termination)
        }
        Role::Load(load) => {
            let outcome = serde_json::to_string(&traffic::run(load)?);
            println!("{}", outcome.expect("an outcome is numbers and words"));
            Ok(())
        }
    }
}

/// Opens the control socket, which says that the plane is ready, and runs the loop.
fn serve(plane: impl Plane, config: &Config, clock: Clock, termination: std::os::fd::OwnedFd) -> Result<()> {
    let control = Control::listen(&config.control, config.keeps.is_some())?;
    let pace = Pace {
        fifo_priority: config.fifo_priority,
        processor: config.processor,
        spin: Duration::from_us(config.spin_us),
    };
    let runner = Runner::new(plane, clock, control, termination, pace);
    if let Some(kept) = &config.keeps {
        privilege::keep_only(&[kept, OF_HELPERS].concat()).attempting("give up privileges")?;
    }
    runner.run()
}

/// Returns the configuration of a guard; `in_flight` bytes may be on the link.
fn guard_config(config: &Config, in_flight: Bytes) -> Result<GuardConfig> {
    let frames = SPARE_FRAMES + (in_flight.0 + config.queue.capacity.0) / SMALL_FRAME;
    Ok(GuardConfig {
        queue: config.queue,
        longest_frame: config.mtu_bytes + LONGEST_HEADER,
        frames: usize::try_from(frames).unwrap_or(usize::MAX),
        secret: config.secret()?,
    })
}
