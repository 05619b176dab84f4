// The model's decoder: counts unmarked packets, and holds marked ones until their block has ended (FEC-25..27).
//
//   link -> DecoderIngress --+-- unmarked data -----------------------------> host
//              ^             +-- parity: counted, then dropped
//              |             +-- marked data --> Rx loop (a queue, recirculated) --+
//              |                                                                   |
//              +-- comes round: its block is open -> again; ended, with k -> host; else dropped
//
// Source: docs/protocols/fec.md. A packet touches a register once in each pass. The first packet of a newer block
// does not touch the block that it ends: a block has ended if its last packet came, or if it is not the newest one.
// Its count then stays as it is, because packets of older blocks are not counted. Tofino would not take a cell
// whose four fields change each in its own way: there they would stand in registers of their own, touched once each.
//
// The decoder need not know k and h. The last index is a parity packet's, which says the code of its block; and a
// block of which no parity came has fewer than k unmarked packets if one of its data packets is marked.
//
// A block is remembered until the block BLOCKS after it takes its place. A marked packet comes round once in the time
// in which its loop turns over, so that many blocks must last longer. A packet that comes too late is dropped, and counted.
//
// Left out: what the loop's queue drops is not noticed, and looks as if it went on circulating. The decoder follows
// no restart of the other end's numbers, as the model does not: the control plane lets both start over.

#ifndef FEC_MODEL_DECODER_P4
#define FEC_MODEL_DECODER_P4

#include "headers.p4"

// FEC-9: the sign of a distance of 24 bits.
#define IS_OLDER(distance) ((distance)[23:23] == 1)
#define IS_NEWER(distance) ((distance) != 0 && (distance)[23:23] == 0)

// Blocks that are remembered. A packet that comes round later than 1023 blocks after its own is forgotten.
const bit<32> BLOCKS = 1024;
#define PLACE_OF(block) ((bit<32>)(block)[9:0])

// Whether there is one (bit 24), and the newest block of which a packet came.
register<bit<25>>(1) decoder_newest;
// A block: its number (24 bits), whether its last packet came (8 bits), its size (8 bits, 0 until parity says it),
// and how many unmarked packets of it came (8 bits).
register<bit<48>>(BLOCKS) decoder_blocks;
#define BLOCK_OF(state) ((state)[47:24])
#define HAS_ENDED(state) ((state)[16:16] == 1)
#define SIZE_OF(state) ((state)[15:8])
#define UNMARKED_OF(state) ((state)[7:0])

// Events, by number.
const bit<32> DECODER_FROM_LINK = 0;
const bit<32> DECODER_MALFORMED = 1;
const bit<32> DECODER_BARE = 2;
const bit<32> DECODER_INTACT = 3;
const bit<32> DECODER_PARITY = 4;
const bit<32> DECODER_HELD = 5;
const bit<32> DECODER_LATE = 6;
const bit<32> DECODER_ROUNDS = 7;
const bit<32> DECODER_RECOVERED = 8;
const bit<32> DECODER_UNRECOVERED = 9;
const bit<32> DECODER_FORGOTTEN = 10;
const bit<32> DECODER_TO_HOST = 11;
const bit<32> DECODER_EVENTS = 12;
counter(DECODER_EVENTS, CounterType.packets) decoder_events;

// Packets from the link, and marked ones that come round.
control DecoderIngress(inout headers_t headers,
                       inout metadata_t meta,
                       inout standard_metadata_t standard) {
    block_t distance;
    bit<1> is_any;
    bool is_newer;
    bool is_older;
    bool has_ended;
    bool is_known;
    bool has_enough;

    // FEC-26: a packet of a newer block ends the one before.
    action advance() {
        bit<25> state;
        decoder_newest.read(state, 0);
        is_any = state[24:24];
        distance = headers.fec.block - state[23:0];
        is_newer = is_any == 0 || IS_NEWER(distance);
        is_older = is_any == 1 && IS_OLDER(distance);
        if (is_newer) {
            decoder_newest.write(0, 1w1 ++ headers.fec.block);
        }
    }

    // FEC-25, FEC-26: the packet is counted, then it may be the last of its block. Later packets change
    // nothing any more.
    action count_packet() {
        bit<48> state;
        decoder_blocks.read(state, PLACE_OF(headers.fec.block));
        if (is_newer) {
            state = headers.fec.block ++ 24w0;
        }
        has_ended = HAS_ENDED(state);
        if (!has_ended) {
            bit<8> ends = 0;
            if (headers.fec.is_parity == 1) {
                state[15:8] = headers.code.size;
                if ((bit<8>)headers.fec.place + 1 == headers.code.rows) {
                    ends = 1;
                }
            }
            bit<8> unmarked = UNMARKED_OF(state) |+| (bit<8>)(headers.corruption.is_marked ^ 1);
            decoder_blocks.write(PLACE_OF(headers.fec.block), BLOCK_OF(state) ++ ends ++ SIZE_OF(state) ++ unmarked);
        }
    }

    action look_at_newest() {
        bit<25> state;
        decoder_newest.read(state, 0);
        distance = headers.fec.block - state[23:0];
    }

    action look_at_block() {
        bit<48> state;
        decoder_blocks.read(state, PLACE_OF(headers.fec.block));
        is_known = BLOCK_OF(state) == headers.fec.block;
        has_ended = HAS_ENDED(state) || IS_OLDER(distance);
        has_enough = SIZE_OF(state) != 0 && UNMARKED_OF(state) >= SIZE_OF(state);
    }

    action forward() {
        standard.egress_spec = PORT_HOST;
        standard.priority = PRIORITY_NORMAL;
    }

    action hold() {
        standard.egress_spec = PORT_RX_LOOP;
        standard.priority = PRIORITY_NORMAL;
    }

    apply {
        if (standard.instance_type == INSTANCE_RECIRCULATED) {
            look_at_newest();
            look_at_block();
            if (!is_known) {
                decoder_events.count(DECODER_FORGOTTEN);
            } else if (!has_ended) {
                decoder_events.count(DECODER_ROUNDS);
                hold();
            } else if (has_enough) {
                decoder_events.count(DECODER_RECOVERED);
                forward(); // FEC-25, FEC-27
            } else {
                decoder_events.count(DECODER_UNRECOVERED);
            }
        } else {
            decoder_events.count(DECODER_FROM_LINK);
            // WIRE-3, FEC-3: too short, or impossible.
            if (standard.parser_error != error.NoError
                || (headers.code.isValid()
                    && (headers.code.size == 0 || headers.code.size > SIZE_MAX
                        || headers.code.rows > ROWS_MAX
                        || (bit<8>)headers.fec.place >= headers.code.rows))
                || (headers.corruption.isValid() && headers.corruption.zeros != 0)) {
                decoder_events.count(DECODER_MALFORMED);
                exit;
            }
            if (!headers.fec.isValid()) {
                decoder_events.count(DECODER_BARE);
                forward(); // FEC-19
                exit;
            }
            advance();
            has_ended = true;
            if (!is_older) {
                count_packet();
            }
            if (headers.fec.is_parity == 1) {
                decoder_events.count(DECODER_PARITY);
            } else if (headers.corruption.is_marked == 0) {
                decoder_events.count(DECODER_INTACT);
                forward();
            } else if (!has_ended) {
                decoder_events.count(DECODER_HELD);
                hold();
            } else {
                decoder_events.count(DECODER_LATE);
            }
        }
    }
}

// Packets for the host, and the loop.
control DecoderEgress(inout headers_t headers,
                      inout metadata_t meta,
                      inout standard_metadata_t standard) {
    // The host's own packet is left.
    action strip() {
        headers.ethernet.ethertype = headers.data_next.ethertype;
        headers.fec.setInvalid();
        headers.data_next.setInvalid();
        headers.corruption.setInvalid();
    }

    apply {
        if (standard.egress_port == PORT_HOST) {
            if (headers.data_next.isValid()) {
                strip();
            }
            decoder_events.count(DECODER_TO_HOST);
        } else if (standard.egress_port == PORT_RX_LOOP) {
            meta.rounds = meta.rounds + 1;
            recirculate_preserving_field_list(FIELDS_RECIRCULATED);
        }
    }
}

#endif
