//! Privileges of a thread beyond those of an ordinary one (capabilities(7)), given up for good.

use super::check;
use std::io;

/// A capability that may be kept, by the kernel's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Capability {
    /// The right to set MTU and offloads.
    NetAdmin = 12,
    /// The right to lock memory beyond the limit: under `MCL_FUTURE` each new mapping is locked, or refused.
    IpcLock = 14,
    /// The right to enter network namespaces.
    SysAdmin = 21,
}

/// The capabilities of threads that only ask and answer: they live in locked memory, too.
pub const OF_HELPERS: &[Capability] = &[Capability::IpcLock];
/// `_LINUX_CAPABILITY_VERSION_3`: sets of 64 bits in two halves.
const VERSION: u32 = 0x2008_0522;
/// A number greater than that of any capability of a kernel.
const MOST: libc::c_ulong = 64;

/// The header that `capset(2)` reads first.
#[repr(C)]
struct Header {
    version: u32,
    thread: libc::c_int,
}

/// One half of the three sets of capabilities: 32 bits of each.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Half {
    effective: u32,
    permitted: u32,
    inheritable: u32,
}

/// Leaves the calling thread those of the `kept` capabilities that it has, and gives up all others: neither this
/// thread nor a thread that it starts nor a program that one of them starts gets them back. Programs that it
/// starts have the kept capabilities, whoever their user is.
///
/// # Errors
/// On a kernel before 4.3, which has no ambient capabilities.
pub fn keep_only(kept: &[Capability]) -> io::Result<()> {
    let wanted = kept.iter().fold(0, |set, capability| set | 1u64 << *capability as u32);
    limit_programs(wanted);
    control(libc::PR_SET_NO_NEW_PRIVS, 1, 0)?;
    let left = permitted()? & wanted;
    set(left)?;
    control(libc::PR_CAP_AMBIENT, libc::PR_CAP_AMBIENT_CLEAR_ALL as libc::c_ulong, 0)?;
    for capability in (0..MOST).filter(|number| left >> number & 1 == 1) {
        control(libc::PR_CAP_AMBIENT, libc::PR_CAP_AMBIENT_RAISE as libc::c_ulong, capability)?;
    }
    Ok(())
}

/// Takes all capabilities but those `wanted` out of the bounding set. A thread that may not do so gains nothing
/// through that set either, because it can gain no privileges at all.
fn limit_programs(wanted: u64) {
    for capability in (0..MOST).filter(|number| wanted >> number & 1 == 0) {
        if control(libc::PR_CAPBSET_DROP, capability, 0).is_err() {
            break;
        }
    }
}

/// Returns the capabilities that the calling thread may use.
fn permitted() -> io::Result<u64> {
    let mut halves = [Half::default(); 2];
    let header = Header { version: VERSION, thread: 0 };
    // SAFETY: the kernel reads the header and writes two halves, as this version says.
    check(unsafe { libc::syscall(libc::SYS_capget, &raw const header, halves.as_mut_ptr()) } as libc::c_int)?;
    Ok(u64::from(halves[1].permitted) << 32 | u64::from(halves[0].permitted))
}

/// Sets all three sets of the calling thread to `capabilities`.
fn set(capabilities: u64) -> io::Result<()> {
    let half = |bits: u64| {
        let bits = bits as u32;
        Half { effective: bits, permitted: bits, inheritable: bits }
    };
    let halves = [half(capabilities), half(capabilities >> 32)];
    let header = Header { version: VERSION, thread: 0 };
    // SAFETY: the kernel reads the header and two halves, as this version says.
    check(unsafe { libc::syscall(libc::SYS_capset, &raw const header, halves.as_ptr()) } as libc::c_int)
        .map(drop)
}

/// Calls `prctl` with whole numbers.
fn control(option: libc::c_int, first: libc::c_ulong, second: libc::c_ulong) -> io::Result<()> {
    let none: libc::c_ulong = 0;
    // SAFETY: the options that are used here take numbers, and no pointers.
    check(unsafe { libc::prctl(option, first, second, none, none) }).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;
    use std::{fs, thread};

    /// Returns a set of capabilities, or a number, in the text of `/proc/PID/status`.
    fn field(status: &str, name: &str) -> u64 {
        let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        u64::from_str_radix(line.trim_start_matches(':').trim(), 16).unwrap()
    }

    #[test]
    fn a_thread_and_its_programs_keep_what_was_said_and_others_keep_theirs() {
        let read = || fs::read_to_string("/proc/thread-self/status").unwrap();
        let before = read();
        let kept = field(&before, "CapPrm") & 1 << Capability::NetAdmin as u32;
        let within = thread::spawn(move || {
            keep_only(&[Capability::NetAdmin]).unwrap();
            let program = Command::new("cat").arg("/proc/self/status").output().unwrap();
            (read(), String::from_utf8(program.stdout).unwrap())
        });
        let (thread, program) = within.join().unwrap();
        for status in [&thread, &program] {
            for set in ["CapPrm", "CapEff", "CapInh", "CapAmb"] {
                assert_eq!(field(status, set), kept, "{set} of\n{status}");
            }
            assert_eq!(field(status, "NoNewPrivs"), 1);
        }
        // A thread that has every capability may limit the bounding set.
        if kept != 0 {
            assert_eq!(field(&thread, "CapBnd"), kept);
        }
        let sets = |status: &str| ["CapPrm", "CapEff", "CapBnd"].map(|set| field(status, set));
        assert_eq!(sets(&read()), sets(&before), "another thread lost something");
    }
}
