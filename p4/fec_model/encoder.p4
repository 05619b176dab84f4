// The model's encoder: numbers packets, and clones a block's last packet into its parity (FEC-24).
//
//   host -> EncoderIngress: number --+--------------------> queue -> EncoderEgress -> FaultyLink -> link
//                                    |  the k-th: group h     ^      a clone: rewrite as parity
//                                    +--> itself, h clones ---+
//
// Source: docs/protocols/fec.md. A packet is numbered before the queue, so what the queue drops is missing from its
// block (FEC-21). A packet touches a register once in each pass: block, index and the open block's code stand in one
// register for that. Tofino would not take such a cell: there they would stand in registers of their own.
//
// Left out: the flush timer, which the published switch does not have either (FEC-26); clones as long as the longest
// packet (FEC-24); the meter (FEC-22).

#ifndef FEC_MODEL_ENCODER_P4
#define FEC_MODEL_ENCODER_P4

#include "headers.p4"

// Numbers of the next packet: block (24 bits), index (8 bits, 0 when no block is open), and the open block's size and
// rows (8 bits each).
register<bit<48>>(1) encoder_next;
// Clones made, those that the queue then dropped included.
register<bit<32>>(1) encoder_clones;

// Events, by number.
const bit<32> ENCODER_FROM_HOST = 0;
const bit<32> ENCODER_DATA = 1;
const bit<32> ENCODER_BARE = 2;
const bit<32> ENCODER_AMBIGUOUS = 3;
const bit<32> ENCODER_BLOCKS = 4;
const bit<32> ENCODER_TO_LINK = 5;
const bit<32> ENCODER_PARITY_TO_LINK = 6;
const bit<32> ENCODER_EVENTS = 7;
counter(ENCODER_EVENTS, CounterType.packets) encoder_events;

// Packets of the host.
control EncoderIngress(inout headers_t headers,
                       inout metadata_t meta,
                       inout standard_metadata_t standard) {
    bit<8> next_size;
    bit<8> next_rows;
    block_t block;
    bit<8> index;
    bool is_last;

    // FEC-1: no rows, no tags.
    action set_code(bit<8> size, bit<8> rows) {
        next_size = size;
        next_rows = rows;
    }

    table code {
        actions = { set_code; }
        default_action = set_code(1, 0);
    }

    // FEC-8: another code begins with the next block. Without parity no block is opened.
    action take_place() {
        bit<48> state;
        encoder_next.read(state, 0);
        block = state[47:24];
        index = state[23:16];
        meta.size = state[15:8];
        meta.rows = state[7:0];
        if (index == 0) {
            meta.size = next_size;
            meta.rows = next_rows;
        }
        is_last = index + 1 == meta.size;
        if (meta.rows != 0) {
            if (is_last) {
                encoder_next.write(0, (block + 1) ++ 24w0);
            } else {
                encoder_next.write(0, block ++ (index + 1) ++ meta.size ++ meta.rows);
            }
        }
    }

    action count_clones() {
        bit<32> sum;
        encoder_clones.read(sum, 0);
        encoder_clones.write(0, sum + (bit<32>)meta.rows);
    }

    // FEC-2
    action tag() {
        headers.fec.setValid();
        headers.fec.block = block;
        headers.fec.is_parity = 0;
        headers.fec.place = index[6:0];
        headers.data_next.setValid();
        headers.data_next.ethertype = headers.ethernet.ethertype;
        headers.ethernet.ethertype = ETHERTYPE_FEC;
    }

    apply {
        encoder_events.count(ENCODER_FROM_HOST);
        code.apply();
        take_place();
        // FEC-21: data and parity share one queue.
        standard.priority = PRIORITY_NORMAL;
        if (meta.rows != 0) {
            encoder_events.count(ENCODER_DATA);
            tag();
            if (is_last) {
                encoder_events.count(ENCODER_BLOCKS);
                count_clones();
                standard.mcast_grp = (group_t)meta.rows;
            } else {
                standard.egress_spec = PORT_LINK;
            }
        } else if (headers.ethernet.ethertype != ETHERTYPE_FEC) {
            encoder_events.count(ENCODER_BARE);
            standard.egress_spec = PORT_LINK;
        } else {
            // The other end would take it for a tagged one.
            encoder_events.count(ENCODER_AMBIGUOUS);
        }
    }
}

// Packets that leave for the link.
control EncoderEgress(inout headers_t headers,
                      inout metadata_t meta,
                      inout standard_metadata_t standard) {
    // FEC-3
    action make_parity() {
        headers.fec.is_parity = 1;
        headers.fec.place = (bit<7>)(standard.egress_rid - RID_FIRST_ROW);
        headers.data_next.setInvalid();
        headers.code.setValid();
        headers.code.size = meta.size;
        headers.code.rows = meta.rows;
    }

    apply {
        if (standard.egress_port == PORT_LINK) {
            encoder_events.count(ENCODER_TO_LINK);
            if (standard.egress_rid != RID_DATA) {
                make_parity();
                encoder_events.count(ENCODER_PARITY_TO_LINK);
            }
        }
    }
}

#endif
