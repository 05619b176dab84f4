// Ethernet, and the EtherTypes that the programs look at (WIRE-1, WIRE-10).

#ifndef COMMON_ETHERNET_P4
#define COMMON_ETHERNET_P4

typedef bit<48> mac_t;
typedef bit<16> ethertype_t;

const ethertype_t ETHERTYPE_LINKGUARDIAN = 0xABCD;
const ethertype_t ETHERTYPE_FEC = 0x081C;
const ethertype_t ETHERTYPE_MAC_CONTROL = 0x8808;
// Inside a switch only (IEEE 802 local experimental EtherTypes): a frame from a cable that has one of them is content.
const ethertype_t ETHERTYPE_TIMER = 0x88B5;
const ethertype_t ETHERTYPE_WAITING = 0x88B6;

header ethernet_t {
    mac_t destination;
    mac_t source;
    ethertype_t ethertype;
}

// The EtherType behind a header in front of a payload: it names what comes next (WIRE-8).
header next_t {
    ethertype_t ethertype;
}

// A frame without its frame check sequence has 60 B at least (WIRE-1).
const bit<32> MINIMUM_FRAME_BYTES = 60;

#endif
