// compiles, never run: what the sender for Tofino keeps of a packet, and what its registers hold.

#ifndef LINKGUARDIAN_TNA_SENDER_HEADERS_P4
#define LINKGUARDIAN_TNA_SENDER_HEADERS_P4

#include "headers.p4"

struct sender_headers_t {
    origin_t origin;
    ethernet_t ethernet;
    ack_t ack;
    next_t ack_next;
    notification_t notification;
    tx_tag_t tx_tag;
    data_t data;
    next_t data_next;
}

// The leading acknowledgement. Before the first frame it is the position in front of the first.
struct leading_t {
    bit<16> number;
    bit<16> era;
}

// Number and era of the position in hand, apart: so can a stateful ALU order two of them with two comparisons.
struct sender_ingress_t {
    bit<16> number;
    bit<16> era;
    bit<16> distance;
    word_t leading;
    word_t distance_word;
    word_t first_lost;
    // The i-th position of a hole, or the position of a copy five times.
    word_t mark_0;
    word_t mark_1;
    word_t mark_2;
    word_t mark_3;
    word_t mark_4;
    bit<1> is_later;
    bit<1> is_marked_0;
    bit<1> is_marked_1;
    bit<1> is_marked_2;
    bit<1> is_marked_3;
    bit<1> is_marked_4;
}

struct sender_egress_t {
    word_t position;
    bit<1> is_due;
    bit<8> dummies;
    bit<8> origin;
    MirrorId_t session;
}

#endif
