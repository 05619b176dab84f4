//! The choice of a congestion control, as settings and tables name it.

use super::{Algorithm, Congestion};
use std::fmt;
use std::str::FromStr;

/// A congestion-control algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CongestionControl {
    /// Reno: RFC 5681 with Linux's growth per acknowledged segment.
    Reno,
    /// CUBIC: RFC 9438 as Linux has it, with HyStart.
    Cubic,
    /// DCTCP: RFC 8257.
    Dctcp,
    /// BBR version 1, paced.
    Bbr,
    /// BBR version 3, paced.
    Bbr3,
}

impl CongestionControl {
    /// All congestion-control algorithms.
    pub const ALL: [Self; 5] = [Self::Reno, Self::Cubic, Self::Dctcp, Self::Bbr, Self::Bbr3];

    /// Whether the algorithm counts congestion marks, see [`Algorithm::counts_marks`].
    pub(in super::super) fn counts_marks(self) -> bool {
        Congestion::new(self).counts_marks()
    }

    /// Whether the algorithm models the path, see [`Algorithm::models_path`].
    #[cfg(feature = "fast")]
    pub(in super::super) fn models_path(self) -> bool {
        Congestion::new(self).models_path()
    }

    /// Returns the name of the algorithm in settings and tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Reno => "reno",
            Self::Cubic => "cubic",
            Self::Dctcp => "dctcp",
            Self::Bbr => "bbr",
            Self::Bbr3 => "bbr3",
        }
    }
}

impl fmt::Display for CongestionControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that belongs to no algorithm.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown congestion control {0:?}: use one of {names}", names = names())]
pub struct UnknownCongestionControl(pub String);

/// Returns the valid names, for messages.
fn names() -> String {
    CongestionControl::ALL.map(CongestionControl::name).join(", ")
}

impl FromStr for CongestionControl {
    type Err = UnknownCongestionControl;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let known = Self::ALL.into_iter().find(|algorithm| algorithm.name() == name);
        known.ok_or_else(|| UnknownCongestionControl(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip_and_others_are_refused_with_the_list() {
        for algorithm in CongestionControl::ALL {
            assert_eq!(algorithm.name().parse(), Ok(algorithm));
        }
        let refusal = "tahoe".parse::<CongestionControl>().unwrap_err().to_string();
        assert!(
            refusal.contains("\"tahoe\"") && refusal.contains("reno, cubic, dctcp, bbr, bbr3"),
            "{refusal}"
        );
    }

    /// DCTCP-4: DCTCP alone needs every packet ECN-capable and every mark echoed.
    #[test]
    fn only_dctcp_counts_marks() {
        let counting: Vec<_> =
            CongestionControl::ALL.into_iter().filter(|choice| choice.counts_marks()).collect();
        assert_eq!(counting, [CongestionControl::Dctcp]);
    }
}
