//! The live data plane: the engines of the core under the kernel's own TCP.
//!
//! * [`port`]: where frames cross from and to the kernel.
//! * [`emulator`]: the emulated link between two ports.
//! * [`lines`]: the line protocols of a guard, and which protection belongs to which.
//! * [`traffic`]: a load of numbered frames and its account.
//! * [`control`], [`prometheus`]: the answers of a running process.
//! * [`plane`], [`runner`]: a configuration turned into a loop.
//! * [`margin`], [`rest`]: the waking and resting that keep the loop punctual.
//! * [`sys`]: system calls behind safe functions, the only `unsafe` code of this crate.

#[cfg(not(target_os = "linux"))]
compile_error!("the live data plane is made for Linux");

pub mod clock;
pub mod config;
pub mod control;
pub mod emulator;
pub mod error;
pub mod histogram;
pub mod lines;
pub mod margin;
pub mod plane;
pub mod port;
pub mod prometheus;
mod report;
pub mod rest;
pub mod runner;
pub mod sys;
pub mod traffic;
mod values;

/// Exit code of a run that failed.
const FAILED: i32 = 1;
/// Exit code of a user's mistake.
const MISTAKEN: i32 = 2;

/// Runs the program with one argument, the configuration in JSON. Returns the exit code.
pub fn main(arguments: &[String]) -> i32 {
    let [configuration] = arguments else {
        eprintln!("error: give one argument, the configuration in JSON");
        return MISTAKEN;
    };
    match plane::run(configuration) {
        Ok(()) => 0,
        Err(error) => {
            eprintln!("error: {error}");
            if error.is_usage() { MISTAKEN } else { FAILED }
        }
    }
}
