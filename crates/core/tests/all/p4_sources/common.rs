//! The common parts of the programs: Ethernet, the corruption of a link, and the ports of a switch.

use super::comparison::Numbers;
use super::frames::Header;
use super::layout::Values;
use lossylink_core::loss::Quantised;
use lossylink_core::wire::MINIMUM_FRAME;
use lossylink_core::wire::ethernet::{EtherType, EthernetHeader, MacAddress};

/// Returns the constants that stand in `p4/common`.
pub(crate) fn constants() -> Vec<(&'static str, u128)> {
    let draws = Quantised::new(1.0).expect("every frame may be lost").values();
    vec![("MINIMUM_FRAME_BYTES", u128::from(MINIMUM_FRAME.0)), ("CORRUPTION_DRAW_MAX", u128::from(draws) - 1)]
}

/// The ports, priorities and packets of BMv2.
pub(crate) const INSIDE: [&str; 12] = [
    "PORT_HOST",
    "PORT_LINK",
    "PORT_CONTROL",
    "PORT_TX_LOOP",
    "PORT_RX_LOOP",
    "PORT_TIMER_LOOP",
    "PORT_WAITING_LOOP",
    "PRIORITY_LOWEST",
    "PRIORITY_NORMAL",
    "PRIORITY_URGENT",
    "INSTANCE_INGRESS_CLONE",
    "INSTANCE_RECIRCULATED",
];

/// Returns the header of Ethernet with these values.
pub(crate) fn ethernet(header: &EthernetHeader) -> Header {
    let mut bytes = vec![0; EthernetHeader::LEN];
    header.emit(&mut bytes);
    Header { name: "ethernet_t", values: ethernet_values(header), bytes }
}

pub(crate) fn ethernet_values(header: &EthernetHeader) -> Values {
    let address = |address: MacAddress| address.0.iter().fold(0, |sum, byte| sum << 8 | u128::from(*byte));
    [
        ("destination", address(header.destination)),
        ("source", address(header.source)),
        ("ethertype", u128::from(header.ethertype.0)),
    ]
    .into()
}

/// Returns the values of the EtherType behind a header (WIRE-8, FEC-2).
pub(crate) fn next_values(ethertype: EtherType) -> Values {
    [("ethertype", u128::from(ethertype.0))].into()
}

/// Returns an Ethernet header with random addresses.
pub(crate) fn ethernet_of(n: &Numbers, ethertype: EtherType) -> EthernetHeader {
    let address = |number: u64| std::array::from_fn(|byte| (number >> (8 * byte)) as u8);
    let (destination, source) = (MacAddress(address(n[0])), MacAddress(address(n[1])));
    EthernetHeader { destination, source, ethertype }
}
