//! Counters of the two ends.

/// Counters of one requester since the connection opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RequesterStatistics {
    /// Request packets sent, repetitions included.
    pub packets_sent: u64,
    /// Request packets sent again.
    pub retransmissions: u64,
    /// Local ACK timeouts.
    pub timeouts: u64,
    /// PSN sequence errors acted upon (go-back-N).
    pub naks: u64,
    /// Reports of packets kept out of order (selective repeat).
    pub selective_naks: u64,
    /// Gaps in READ responses acted upon.
    pub implied_naks: u64,
    /// READ responses that came twice or could not be used.
    pub responses_dropped: u64,
    /// Congestion notifications received.
    pub congestion_notifications: u64,
    /// Bytes that READs brought in, in order.
    pub bytes_read: u64,
    /// Operations that ended with success.
    pub completed: u64,
    /// Operations that ended with an error.
    pub failed: u64,
}

/// Counters of one responder since the connection opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ResponderStatistics {
    /// Request packets that arrived.
    pub packets_received: u64,
    /// Request packets that had been executed before.
    pub duplicates: u64,
    /// Request packets that came before their turn: dropped by go-back-N, kept by selective repeat.
    pub out_of_order: u64,
    /// Acknowledgements sent.
    pub acks_sent: u64,
    /// PSN sequence errors sent, selective ones included.
    pub naks_sent: u64,
    /// READ response packets sent.
    pub responses_sent: u64,
    /// Congestion notifications sent.
    pub congestion_notifications: u64,
    /// WRITE and SEND messages executed to their end.
    pub messages: u64,
    /// Bytes of WRITEs and SENDs executed, in order and once.
    pub bytes_in_order: u64,
}
