//! Congestion marking in real bytes: sets CE in an ECN-capable IP header and corrects the IPv4
//! checksum.
//!
//! Source: RFC 3168 (code points), RFC 1624 equation 3 (incremental checksum).

/// EtherType of IPv4.
const IPV4: [u8; 2] = [0x08, 0x00];
/// EtherType of IPv6.
const IPV6: [u8; 2] = [0x86, 0xDD];
/// Bytes in front of the IP header of an untagged frame.
const ETHERNET: usize = 14;
/// Bytes of an IP header up to the end of the IPv4 checksum, the last field that marking touches.
const IP_TOUCHED: usize = 12;
/// The two ECN bits; "not ECN-capable" is 0, "congestion experienced" is all of them.
const CONGESTION_EXPERIENCED: u8 = 0b11;

/// Returns the ECN field of a frame's IP header; zero, "not ECN-capable", for every other frame
/// (RT-4).
pub fn field(frame: &[u8]) -> u8 {
    let Some(ip) = frame.get(ETHERNET..).filter(|ip| ip.len() >= IP_TOUCHED) else { return 0 };
    match [frame[12], frame[13]] {
        IPV4 if ip[0] >> 4 == 4 => ip[1] & CONGESTION_EXPERIENCED,
        IPV6 if ip[0] >> 4 == 6 => ip[1] >> 4 & CONGESTION_EXPERIENCED,
        _ => 0,
    }
}

/// Marks the frame as having met congestion. Returns `false` when its transport is not ECN-capable.
pub fn mark(frame: &mut [u8]) -> bool {
    if frame.len() < ETHERNET + IP_TOUCHED {
        return false;
    }
    let (ethernet, ip) = frame.split_at_mut(ETHERNET);
    match [ethernet[12], ethernet[13]] {
        IPV4 if ip[0] >> 4 == 4 => mark_ipv4(ip),
        IPV6 if ip[0] >> 4 == 6 => mark_ipv6(ip),
        _ => false,
    }
}

fn mark_ipv4(ip: &mut [u8]) -> bool {
    if ip[1] & CONGESTION_EXPERIENCED == 0 {
        return false;
    }
    let before = u16::from_be_bytes([ip[0], ip[1]]);
    ip[1] |= CONGESTION_EXPERIENCED;
    let after = u16::from_be_bytes([ip[0], ip[1]]);
    let checksum = updated_checksum(u16::from_be_bytes([ip[10], ip[11]]), before, after);
    ip[10..12].copy_from_slice(&checksum.to_be_bytes());
    true
}

/// Marks an IPv6 header, which has no checksum. The traffic class straddles the first two bytes.
fn mark_ipv6(ip: &mut [u8]) -> bool {
    let shifted = CONGESTION_EXPERIENCED << 4;
    if ip[1] & shifted == 0 {
        return false;
    }
    ip[1] |= shifted;
    true
}

/// Returns the one's complement checksum after one 16-bit word changed: HC' = ~(~HC + ~m + m').
fn updated_checksum(checksum: u16, before: u16, after: u16) -> u16 {
    let sum = u32::from(!checksum) + u32::from(!before) + u32::from(after);
    let folded = (sum & 0xFFFF) + (sum >> 16);
    !((folded & 0xFFFF) + (folded >> 16)) as u16
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns the checksum computed from scratch, as RFC 1071 defines it.
    fn checksum(header: &[u8]) -> u16 {
        let words = header.chunks(2).map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]])));
        let sum: u32 = words.sum();
        let folded = (sum & 0xFFFF) + (sum >> 16);
        !((folded & 0xFFFF) + (folded >> 16)) as u16
    }

    fn ipv4_frame(traffic_class: u8, identification: u16) -> [u8; 34] {
        let mut frame = [0u8; 34];
        frame[12..14].copy_from_slice(&IPV4);
        frame[14..18].copy_from_slice(&[0x45, traffic_class, 0, 20]);
        frame[18..20].copy_from_slice(&identification.to_be_bytes());
        frame[22..34].copy_from_slice(&[64, 6, 0, 0, 10, 2, 2, 1, 10, 2, 2, 2]);
        let sum = checksum(&frame[14..34]);
        frame[24..26].copy_from_slice(&sum.to_be_bytes());
        frame
    }

    proptest! {
        #[test]
        fn a_marked_ipv4_header_keeps_a_valid_checksum(class: u8, identification: u16) {
            let mut frame = ipv4_frame(class, identification);
            let capable = class & 3 != 0;
            prop_assert_eq!(field(&frame), class & 3);
            prop_assert_eq!(mark(&mut frame), capable);
            // A header with its checksum inside sums to zero.
            prop_assert_eq!(checksum(&frame[14..34]), 0);
            prop_assert_eq!(frame[15], if capable { class | 3 } else { class });
        }
    }

    #[test]
    fn ipv6_is_marked_in_its_traffic_class() {
        let mut frame = [0u8; 54];
        frame[12..14].copy_from_slice(&IPV6);
        frame[14..16].copy_from_slice(&[0x60, 0x20]);
        assert!(mark(&mut frame));
        assert_eq!(frame[14..16], [0x60, 0x30]);
        assert_eq!(field(&frame), 3);
    }

    #[test]
    fn other_frames_stay_as_they_are() {
        let mut arp = [0u8; 60];
        arp[12..14].copy_from_slice(&[0x08, 0x06]);
        assert!(!mark(&mut arp));
        assert_eq!(field(&arp), 0);
        assert!(!mark(&mut [0u8; 13]));
    }
}
