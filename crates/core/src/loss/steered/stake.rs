//! The role of a frame for a protection, the losses that are steered, and the target of the steering.

/// The role of a frame for the protection, as the link that sends the frame knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stake {
    /// The frame carries no data that can stay lost, and saves no other frame.
    Nothing,
    /// A data frame is sent for the first time; `unit` names it.
    Fresh {
        /// Name of the data frame.
        unit: u64,
    },
    /// A data frame is sent again along with another data frame that is missing.
    Again {
        /// Name of the data frame.
        unit: u64,
        /// Data frames that were sent for the first time after this data frame.
        behind: u32,
    },
    /// The frame saves a missing data frame, or asks for it.
    Repair {
        /// Name of the missing data frame.
        unit: u64,
    },
    /// A frame of a block, whose frames are lost or saved together.
    Member {
        /// Name of the block.
        unit: u64,
        /// Place of the frame in the block, if it is a data frame: the first has 0.
        index: Option<u32>,
        /// Frames of the block from this frame on, if the frame tells.
        left: Option<u32>,
    },
}

/// The losses that are steered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aim {
    /// No losses, until a target is named: the other direction of a link.
    Follow {
        /// As in [`Aim::Frame`].
        lead_frames: u32,
    },
    /// The next frame is lost and begins a burst, and the `nth` data frame that the burst takes is the
    /// target: its repairs are lost more often.
    Frame {
        /// Number of the target among the data frames of the burst, counted from one.
        nth: u32,
        /// Where losses come in bursts, each other frame is lost with a chance of at least one in
        /// `lead_frames`, because a burst that takes a repair may have begun before it.
        lead_frames: u32,
        /// Frames that nothing repairs if they are all lost in a row; 0 if each frame is repaired by
        /// itself.
        window: u32,
    },
    /// Only repairs of the target are lost, to find out where they are.
    Rehearse,
    /// The next frame is lost and begins a cluster, in which every frame is lost more often.
    Cluster {
        /// Frames in a row without a loss that end the cluster.
        clean_frames: u32,
    },
    /// The next block that begins is the target: its frames are lost more often.
    Block {
        /// Frames of a full block.
        frames: u32,
        /// Losses that the block survives.
        spare: u32,
    },
}

impl Stake {
    pub(super) const fn is_repair(self) -> bool {
        matches!(self, Self::Repair { .. })
    }
}

/// The state of the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// Name of the target.
    pub unit: u64,
    /// The first data frame of the target, counted from the first data frame of which the process was
    /// asked. Negative: sent before.
    pub first: i64,
    /// Data frames of the target so far.
    pub frames: u64,
    /// Frames so far that belong to the target or repair it.
    pub touched: u64,
    /// Whether all frames of a block have been sent.
    pub is_complete: bool,
}
