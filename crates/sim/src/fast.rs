//! The fast paths: each computes at once the events that the plain model runs one by one, and gives the same outcome to the bit.
//!
//! The feature `fast` compiles the fast half of this crate, and is on by default. `run.skip=off` runs the plain half. The
//! feature `ablation` lets a benchmark switch paths off alone, by the variable `LOSSYLINK_WITHOUT`: names of [`Path`]s,
//! separated by commas (`benches/ablation.py`).

/// A fast path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Path {
    /// Hosts and link take turns as long as the legs between them ([`crate::world::Network::run_until`]).
    Places,
    /// Frames cross a link that decides at once in the turn of the host that sends them.
    AheadOfLink,
    /// The two directions of LinkGuardian take turns while nothing is missing.
    Directions,
    /// Packets that follow each other are one train for hosts and hops.
    Trains,
    /// The two switches of LinkGuardian take turns.
    Switches,
    /// LinkGuardian's sending switch sends trains.
    SendingTrains,
    /// LinkGuardian's receiving switch takes in trains.
    ReceivingTrains,
    /// Explicit acknowledgements leave in trains.
    AckTrains,
    /// Copies that do not meet at the port of their loop are looked at only at the end.
    CopiesApart,
    /// Copies that follow each other closely go round in trains.
    CopyTrains,
    /// Copies that go round unchanged for long are put off by whole rounds.
    CopyRounds,
    /// A trial that meets no loss takes over the outcome of the trial before it.
    CleanTrials,
    /// The completion time of a trial that meets no loss on LinkGuardian is computed as a sum.
    CleanSums,
}

/// Whether a path is taken. Without the feature `ablation` every path is, at no cost.
#[cfg(not(feature = "ablation"))]
#[inline(always)]
pub const fn takes(_path: Path) -> bool {
    true
}

/// Whether a path is taken. Every path is, unless `LOSSYLINK_WITHOUT` names it.
///
/// # Panics
/// If the variable names a path that does not exist.
#[cfg(feature = "ablation")]
pub fn takes(path: Path) -> bool {
    use std::sync::LazyLock;
    static LEFT_OUT: LazyLock<u32> = LazyLock::new(|| {
        let names = std::env::var("LOSSYLINK_WITHOUT").unwrap_or_default();
        names.split(',').filter(|name| !name.is_empty()).map(|name| 1 << named(name) as u32).sum()
    });
    *LEFT_OUT >> path as u32 & 1 == 0
}

#[cfg(feature = "ablation")]
fn named(name: &str) -> Path {
    const ALL: [Path; 13] = [
        Path::Places,
        Path::AheadOfLink,
        Path::Directions,
        Path::Trains,
        Path::Switches,
        Path::SendingTrains,
        Path::ReceivingTrains,
        Path::AckTrains,
        Path::CopiesApart,
        Path::CopyTrains,
        Path::CopyRounds,
        Path::CleanTrials,
        Path::CleanSums,
    ];
    let found = ALL.into_iter().find(|path| format!("{path:?}") == name);
    found.unwrap_or_else(|| panic!("there is no fast path {name}: one of {ALL:?}"))
}
