//! Events at the two ends of a direction, by the names of S1 where S1 has one (LLR-19).

/// Events at the sending end of a direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SenderCounters {
    /// INITs sent.
    pub tx_init: u64,
    /// INIT_ECHOes taken in.
    pub rx_init_echo: u64,
    /// ACKs taken in.
    pub rx_ack: u64,
    /// NACKs taken in.
    pub rx_nack: u64,
    /// ACKs and NACKs whose number is not that of an outstanding frame, or of the one before.
    pub rx_ack_nack_seq_error: u64,
    /// New frames sent with a number.
    pub tx_ok: u64,
    /// New frames sent with a number that were poisoned upstream.
    pub tx_poisoned: u64,
    /// New frames dropped because the action for the state says so.
    pub tx_discard: u64,
    /// Replays begun.
    pub tx_replay: u64,
    /// Frames sent again in replays (ours).
    pub replayed_frames: u64,
    /// Replays that the timer began (ours).
    pub timer_replays: u64,
    /// Flushes (ours).
    pub flushes: u64,
    /// Outstanding frames given up, by a flush or by a new start (ours).
    pub given_up: u64,
    /// New frames sent without a number (ours).
    pub unnumbered: u64,
}

/// Events at the receiving end of a direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReceiverCounters {
    /// INITs taken in.
    pub rx_init: u64,
    /// INIT_ECHOes sent.
    pub tx_init_echo: u64,
    /// ACKs sent.
    pub tx_ack: u64,
    /// NACKs sent.
    pub tx_nack: u64,
    /// Numbered frames whose check sequence was right.
    pub rx_ok: u64,
    /// Numbered frames that were poisoned upstream.
    pub rx_poisoned: u64,
    /// Numbered frames whose check sequence was wrong.
    pub rx_bad: u64,
    /// Right frames with the expected number; they are forwarded.
    pub rx_expected_seq_good: u64,
    /// Poisoned frames with the expected number; they are forwarded as they are.
    pub rx_expected_seq_poisoned: u64,
    /// Wrong frames with the expected number.
    pub rx_expected_seq_bad: u64,
    /// Frames with a number beyond the expected one.
    pub rx_missing_seq: u64,
    /// Frames with a number before the expected one.
    pub rx_duplicate_seq: u64,
    /// Replays that brought the missing frame.
    pub rx_replay: u64,
    /// Numbered frames that came while the receiver was off; dropped (ours).
    pub rx_discard: u64,
    /// Frames without a number; forwarded unless their check sequence was wrong (ours).
    pub unnumbered: u64,
}
