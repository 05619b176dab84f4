//! The octets of headers: the room that a configuration leaves for payload, and the length of a packet.

/// IPv4 header without options (RFC 791), bytes.
const IP_HEADER: u32 = 20;
/// TCP header without options (RFC 9293 section 3.1), bytes.
const TCP_HEADER: u32 = 20;
/// IPv4 and TCP header together, bytes.
pub(super) const HEADERS: u32 = IP_HEADER + TCP_HEADER;
/// Timestamps option padded to a multiple of four (RFC 7323 section 3.2), bytes.
pub(super) const TIMESTAMPS_OPTION: u32 = 12;
