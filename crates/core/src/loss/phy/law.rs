//! The law of losses on a busy line with a code, for frames of one size that follow each other.

use super::crossing::LastGroup;
use super::{Code, PREAMBLE_OCTETS, Phy, Place, any_of};
use crate::loss::GilbertElliott;
use crate::wire::PREAMBLE_AND_GAP;

/// The chance below which longer runs of losses are not followed.
const NEGLIGIBLE: f64 = 1e-40;

/// Frames of one size, one behind another, on a line with a code.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LineLaw {
    phy: Phy,
    frame_bytes: u32,
}

impl LineLaw {
    pub(in crate::loss) const fn new(phy: Phy, frame_bytes: u32) -> Self {
        Self { phy, frame_bytes }
    }

    /// Returns the share of frames lost in the long run.
    pub fn rate(&self) -> f64 {
        self.phy.mean_loss_rate(self.frame_bytes)
    }

    /// Returns the chance that each of `frames` frames in a row is lost. The first frame begins anywhere in a group.
    ///
    /// A failed group takes all frames that share it. Two full frames in a row share most of their groups with each other, and are
    /// lost nearly as often as a group fails. Three are lost only if two groups fail.
    pub fn lost_in_a_row(&self, frames: u32) -> f64 {
        let (octets, part) = self.phy.group_octets;
        let places = octets.div_ceil(part);
        let each = |place| self.lost_in_a_row_from(places + place, frames);
        ((0..places).map(each).sum::<f64>() / places as f64).min(1.0)
    }

    /// Returns the chance that each of `frames` frames is lost, of which the first begins with octet `first` of the stream.
    fn lost_in_a_row_from(&self, first: u64, frames: u32) -> f64 {
        let mut last = self.phy.group_of(first) - 1;
        let mut group = LastGroup { corrected: self.phy.start(), failed: [0.0; 2] };
        let mut lost = 1.0;
        for frame in 0..u64::from(frames) {
            let begin = first + frame * (u64::from(self.frame_bytes) + PREAMBLE_AND_GAP.0);
            let end = begin + u64::from(self.frame_bytes) + PREAMBLE_OCTETS - 1;
            let place = Place { first: self.phy.group_of(begin), last: self.phy.group_of(end) };
            let crossing = self.phy.cross(group, last, place);
            (group, last, lost) = (crossing.behind_lost(), place.last, crossing.lost());
            if lost < NEGLIGIBLE {
                break;
            }
        }
        lost
    }

    /// Returns the chain with the share of losses and the mean burst of this law, as if groups failed independently: its bursts end
    /// with a chance a frame, and so are longer at times than those of the line. `None` where losses come alone.
    pub(in crate::loss) fn as_chain(&self) -> Option<GilbertElliott> {
        let (rate, failure, each) =
            (self.rate(), self.phy.group_failure_ratio(), u64::from(self.frame_bytes));
        // Without a code only frames that share an octet would die together.
        if self.phy.settings.code == Code::None || failure == 0.0 || rate >= 1.0 {
            return None;
        }
        let first = 1.0 + (each + PREAMBLE_OCTETS - 1) as f64 / self.phy.group_octets();
        // The chance that a frame is lost and the frame before it is not: the product, since a difference would lose digits.
        let more = (each + PREAMBLE_AND_GAP.0) as f64 / self.phy.group_octets();
        let begins = (1.0 - any_of(failure, first)) * any_of(failure, more);
        let chance = |p: f64| p.clamp(0.0, 1.0);
        GilbertElliott::new(chance(begins / (1.0 - rate)), chance(begins / rate), 0.0, 1.0).ok()
    }
}
