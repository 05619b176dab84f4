// Ethernet (WIRE-1), and the EtherType behind a header in front of a payload (WIRE-8).

#ifndef COMMON_ETHERNET_P4
#define COMMON_ETHERNET_P4

typedef bit<48> mac_t;
typedef bit<16> ethertype_t;

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
@noWarn("unused")
const bit<32> MINIMUM_FRAME_BYTES = 60;

#endif
