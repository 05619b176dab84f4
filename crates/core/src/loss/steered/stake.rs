//! What hangs on a frame, which losses are wanted, and what is known of the target.

/// What hangs on a frame, as the link that sends it knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stake {
    /// Nothing that can stay lost, and nothing that saves another frame.
    Nothing,
    /// A data frame is sent for the first time; `unit` names it.
    Fresh {
        /// Its name.
        unit: u64,
    },
    /// A data frame is sent again along with another one that is missing.
    Again {
        /// Its name.
        unit: u64,
        /// Data frames that were sent for the first time after it.
        behind: u32,
    },
    /// The frame saves a missing data frame, or asks for it.
    Repair {
        /// Name of the missing one.
        unit: u64,
    },
    /// A frame of a block that is lost or saved together.
    Member {
        /// Name of the block.
        unit: u64,
        /// Its place, if it is a data frame: the first has 0.
        index: Option<u32>,
        /// Frames of the block from this one on, if it tells.
        left: Option<u32>,
    },
}

/// Which losses are steered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aim {
    /// None, until a target is named: the other direction of a link.
    Follow {
        /// As of a frame.
        lead_frames: u32,
    },
    /// The next frame is lost and begins a burst, and the `nth` data frame that the burst takes is the
    /// target: its repairs are lost more often.
    Frame {
        /// Counted from one.
        nth: u32,
        /// Where losses come in bursts, each other frame is lost with a chance of one in so many at least,
        /// because a burst that takes a repair may have begun before it.
        lead_frames: u32,
        /// Frames that nothing repairs if they are all lost in a row; 0 if each is repaired by itself.
        window: u32,
    },
    /// Repairs of the target are lost, and nothing else: where are they?
    Rehearse,
    /// The next frame is lost and begins a cluster, in which every frame is lost more often.
    Cluster {
        /// Frames in a row without a loss that end it.
        clean_frames: u32,
    },
    /// The next block that begins is the target: its frames are lost more often.
    Block {
        /// Frames of a full block.
        frames: u32,
        /// Losses that it survives.
        spare: u32,
    },
}

impl Stake {
    pub(super) const fn is_repair(self) -> bool {
        matches!(self, Self::Repair { .. })
    }
}

/// What is known of the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// Its name.
    pub unit: u64,
    /// Its first data frame, counted from the first data frame of which the process was asked. Negative:
    /// sent before.
    pub first: i64,
    /// Its data frames so far.
    pub frames: u64,
    /// Frames so far that belong to it or repair it.
    pub touched: u64,
    /// Whether all frames of a block have been sent.
    pub is_complete: bool,
}
