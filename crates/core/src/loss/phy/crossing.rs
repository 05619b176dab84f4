//! Frames across groups of codewords, one frame behind another: with which chance the next frame is lost, by the fates of those
//! before it.

use super::{Phy, Place};

/// The last group that frames have touched: the chances that it was corrected, and that it failed, each with the state of the line
/// behind it.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::loss) struct LastGroup {
    pub(in crate::loss) corrected: [f64; 2],
    pub(in crate::loss) failed: [f64; 2],
}

/// A frame across its groups: the chances that all of them are corrected; that its last group fails; and that another one does, and
/// the last does not. Each with the state of the line behind the last group.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::loss) struct Crossing {
    pub(in crate::loss) survives: [f64; 2],
    pub(in crate::loss) last_fails: [f64; 2],
    pub(in crate::loss) other_fails: [f64; 2],
}

pub(in crate::loss) fn sum(row: [f64; 2]) -> f64 {
    row[0] + row[1]
}

fn add(one: [f64; 2], other: [f64; 2]) -> [f64; 2] {
    [0, 1].map(|state| one[state] + other[state])
}

impl Crossing {
    /// Returns the chance that the frame is lost.
    pub(in crate::loss) fn lost(&self) -> f64 {
        sum(self.last_fails) + sum(self.other_fails)
    }

    /// Returns the frame's last group where the frame is lost.
    pub(in crate::loss) const fn behind_lost(&self) -> LastGroup {
        LastGroup { corrected: self.other_fails, failed: self.last_fails }
    }

    /// Returns the frame's last group where the frame survives.
    pub(in crate::loss) const fn behind_surviving(&self) -> LastGroup {
        LastGroup { corrected: self.survives, failed: [0.0; 2] }
    }
}

impl Phy {
    /// Returns a frame at `place` across its groups, behind frames whose last group is the one numbered `last`.
    pub(in crate::loss) fn cross(&self, group: LastGroup, last: u64, place: Place) -> Crossing {
        let mut crossing = Crossing::default();
        let new = if place.first <= last {
            (crossing.survives, crossing.last_fails) = (group.corrected, group.failed);
            place.last.saturating_sub(last)
        } else {
            crossing.survives = self.after(add(group.corrected, group.failed), place.first - last - 1);
            place.last - place.first + 1
        };
        for _ in 0..new {
            let (survives, fails) = self.over_group(crossing.survives);
            let (others, fails_again) = self.over_group(add(crossing.last_fails, crossing.other_fails));
            crossing = Crossing { survives, last_fails: add(fails, fails_again), other_fails: others };
        }
        crossing
    }
}
