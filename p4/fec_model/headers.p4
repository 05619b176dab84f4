// The headers of the switch model, bit by bit (FEC-2, FEC-3, FEC-25), and what a switch keeps of a packet.
//
//   Ethernet 081C | block 3 | 0 index 1 | EtherType 2 | corruption 1 | payload      data
//   Ethernet 081C | block 3 | 1 row 1 | size 1 | rows 1 | corruption 1 | payload    parity
//
// Parity carries the payload of the packet of which it is a clone (FEC-24). A packet outside a block leaves unchanged.

#ifndef FEC_MODEL_HEADERS_P4
#define FEC_MODEL_HEADERS_P4

#include "../common/ethernet.p4"
#include "../common/switch.p4"

const ethertype_t ETHERTYPE_FEC = 0x081C;

// FEC-1: data and parity packets of a block, at most.
const bit<8> SIZE_MAX = 128;
const bit<8> ROWS_MAX = 32;

// A block's number (FEC-9).
typedef bit<24> block_t;

// The beginning of both headers (FEC-2, FEC-3): the place is an index among data packets, or a row among parity.
header fec_t {
    block_t block;
    bit<1> is_parity;
    bit<7> place;
}

// The rest of a parity packet's header. That of a data packet's is the EtherType of the host.
header code_t {
    bit<8> size;
    bit<8> rows;
}

// FEC-25: a marked packet stands for a lost one.
header corruption_t {
    bit<1> is_marked;
    bit<7> zeros;
}

struct headers_t {
    ethernet_t ethernet;
    fec_t fec;
    next_t data_next;
    code_t code;
    corruption_t corruption;
}

// Metadata that a marked packet takes along when it is recirculated.
const bit<8> FIELDS_RECIRCULATED = 1;

struct metadata_t {
    // The code of the block that this packet belongs to.
    bit<8> size;
    bit<8> rows;
    // How often a marked packet went round: BMv2 recirculates with a list of one field at least.
    @field_list(FIELDS_RECIRCULATED)
    bit<32> rounds;
}

// The replicas of a block's last packet: itself, and a clone for each row from RID_FIRST_ROW on. Multicast group h
// has these for h rows, so that a block ends with the code with which it began (FEC-8).
const bit<16> RID_DATA = 0;
const bit<16> RID_FIRST_ROW = 1;

#endif
