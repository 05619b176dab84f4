// compiles, never run: what the receiver for Tofino keeps of a packet, and what its registers hold.

#ifndef LINKGUARDIAN_TNA_RECEIVER_HEADERS_P4
#define LINKGUARDIAN_TNA_RECEIVER_HEADERS_P4

#include "headers.p4"

const bit<8> PAUSE_NOTHING = 0;
const bit<8> PAUSE_STOP = 1;
const bit<8> PAUSE_RESUME = 2;

// LG-15: how often one state of the acknowledgement register is sent.
const bit<32> SENDS_PER_UPDATE = 2;
// LG-13: the size of a hole has eight bits.
const bit<8> LARGEST_HOLE = 255;

// Report of an ingress mirror to egress: the position up to which all is known, and a hole in front of it, if any.
header report_t {
    bit<8> origin;
    word_t leading;
    word_t first_lost;
    word_t lost;
}

// In front of the data header of a frame in the receiver's loop, in place of the Rx tag behind it: so egress need not
// read the data header. The cells in the queue of the loop when this frame left it.
header held_t {
    bit<8> ingress_port;
    bit<5> pad;
    bit<19> cells;
}

struct receiver_headers_t {
    origin_t origin;
    report_t report;
    pktgen_timer_header_t timer;
    ethernet_t ethernet;
    ack_t ack;
    next_t ack_next;
    notification_t notification;
    held_t held;
    data_t data;
    next_t data_next;
    pfc_t pfc;
}

struct receiver_ingress_t {
    bit<20> draw;
    bit<1> is_lost;
    word_t position;
    // The expected position before and after this frame, and how far the frame lies ahead of the former.
    word_t expected;
    word_t next;
    word_t lost;
    word_t leading;
    // The word that the turn is compared with; then the turn, and the distance of the frame ahead of the turn.
    word_t candidate;
    word_t turn;
    word_t ahead;
    bit<32> reload;
    bit<32> pause_cells;
    bit<32> resume_cells;
    bit<32> cells;
    bit<32> above_pause;
    bit<32> below_resume;
    bit<8> pause_request;
    bit<8> origin;
    MirrorId_t session;
}

struct receiver_egress_t {
    word_t leading;
    word_t acknowledged;
    bit<8> origin;
    MirrorId_t session;
}

// LG-20, LG-21: the position whose turn it is, and timer packets until it is given up.
struct order_t {
    word_t turn;
    bit<32> ticks;
}

// LG-23, LG-24: what the sender was told last (1: to pause), and the request that waits for a timer packet.
struct pausing_t {
    bit<8> told;
    bit<8> request;
}

// LG-15: the position, occupied (see headers.p4), and how often it is to be sent.
struct acknowledgement_t {
    word_t leading;
    bit<32> sends;
}

#endif
