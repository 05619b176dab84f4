// compiles, never run: frames of the host, copies that come round and word from the receiver, at the sender for Tofino.

#ifndef LINKGUARDIAN_TNA_SENDER_INGRESS_P4
#define LINKGUARDIAN_TNA_SENDER_INGRESS_P4

#include "sender_headers.p4"

parser SenderIngressParser(packet_in packet,
                           out sender_headers_t headers,
                           out sender_ingress_t meta,
                           out ingress_intrinsic_metadata_t intrinsic) {
    state start {
        packet.extract(intrinsic);
        packet.advance(PORT_METADATA_SIZE);
        packet.extract(headers.ethernet);
        transition select(intrinsic.ingress_port, headers.ethernet.ethertype) {
            (PORT_LINK, ETHERTYPE_LINKGUARDIAN): word_of_receiver;
            (PORT_TX_LOOP, _): copy;
            // Frames of a host are content, whatever their EtherType. Egress reads a dummy of the control plane.
            default: accept;
        }
    }

    // Anything else does not come from a receiver (WIRE-3): no match, and so dropped.
    state word_of_receiver {
        transition select(packet.lookahead<bit<2>>()) {
            KIND_ACK: ack;
            KIND_NOTIFICATION: notification;
        }
    }

    state ack {
        packet.extract(headers.ack);
        transition select(headers.ack.is_piggybacked) {
            1: ack_next;
            default: accept;
        }
    }

    state ack_next {
        packet.extract(headers.ack_next);
        transition accept;
    }

    state notification {
        packet.extract(headers.notification);
        transition accept;
    }

    state copy {
        packet.extract(headers.tx_tag);
        packet.extract(headers.data);
        transition accept;
    }
}

// Frames of the host, copies that come round, and word from the receiver.
control SenderIngress(inout sender_headers_t headers,
                      inout sender_ingress_t meta,
                      in ingress_intrinsic_metadata_t intrinsic,
                      in ingress_intrinsic_metadata_from_parser_t from_parser,
                      inout ingress_intrinsic_metadata_for_deparser_t for_deparser,
                      inout ingress_intrinsic_metadata_for_tm_t for_tm) {
    // The position up to which all has arrived or is known to be lost.
    Register<leading_t, bit<1>>(1, { 65535, 1 }) leading_ack;

    // LG-8: forward only. Of two positions of one era the later has the larger number, of two eras the smaller one.
    RegisterAction<leading_t, bit<1>, bit<1>>(leading_ack) advance = {
        void apply(inout leading_t value, out bit<1> is_later) {
            bool is_larger = meta.number > value.number;
            bool is_same_era = meta.era == value.era;
            is_later = 0;
            if ((is_larger && is_same_era) || (!is_larger && !is_same_era)) {
                is_later = 1;
                value.number = meta.number;
                value.era = meta.era;
            }
        }
    };

    RegisterAction<leading_t, bit<1>, bit<1>>(leading_ack) compare = {
        void apply(inout leading_t value, out bit<1> is_later) {
            bool is_larger = meta.number > value.number;
            bool is_same_era = meta.era == value.era;
            is_later = 0;
            if ((is_larger && is_same_era) || (!is_larger && !is_same_era)) {
                is_later = 1;
            }
        }
    };

    // LG-9, LG-10: register i holds the i-th position of each hole, era included. LG-6: test and clear in one step.
#define HOLE(i)                                                                             \
    Register<word_t, bit<12>>(MARKS, 0) hole_##i;                                           \
    RegisterAction<word_t, bit<12>, bit<1>>(hole_##i) mark_##i = {                          \
        void apply(inout word_t value) {                                                    \
            value = meta.mark_##i;                                                          \
        }                                                                                   \
    };                                                                                      \
    RegisterAction<word_t, bit<12>, bit<1>>(hole_##i) take_##i = {                          \
        void apply(inout word_t value, out bit<1> is_marked) {                              \
            is_marked = 0;                                                                  \
            if (value == meta.mark_##i) {                                                   \
                is_marked = 1;                                                              \
                value = 0;                                                                  \
            }                                                                               \
        }                                                                                   \
    };                                                                                      \
    action mark_hole_##i() {                                                                \
        mark_##i.execute(PLACE_OF_WORD(meta.mark_##i));                                     \
    }                                                                                       \
    action take_mark_##i() {                                                                \
        meta.is_marked_##i = take_##i.execute(PLACE_OF_WORD(meta.mark_##i));                \
    }

    HOLE(0)
    HOLE(1)
    HOLE(2)
    HOLE(3)
    HOLE(4)

    // A value whose header field and word differ in width or place passes through a hash that changes nothing: an
    // action moves nothing between containers of two sizes.
    Hash<bit<16>>(HashAlgorithm_t.IDENTITY) era_of_ack;
    Hash<bit<16>>(HashAlgorithm_t.IDENTITY) era_of_notification;
    Hash<bit<16>>(HashAlgorithm_t.IDENTITY) era_of_copy;
    Hash<word_t>(HashAlgorithm_t.IDENTITY) word_of_notification;
    Hash<word_t>(HashAlgorithm_t.IDENTITY) word_of_distance;
    Hash<word_t>(HashAlgorithm_t.IDENTITY) word_of_copy;

    action read_ack() {
        meta.number = headers.ack.leading_ack;
        meta.era = era_of_ack.get({ 15w0, headers.ack.era });
    }

    action read_notification() {
        meta.number = headers.notification.leading_ack;
        meta.era = era_of_notification.get({ 15w0, headers.notification.era });
        meta.distance = headers.notification.leading_ack - headers.notification.first_lost;
    }

    action widen_leading() {
        meta.leading = word_of_notification.get({ headers.notification.era, headers.notification.leading_ack, 15w0 });
    }

    // The first lost position lies less than an era before the leading one (WIRE-7).
    action widen_distance() {
        meta.distance_word = word_of_distance.get({ 1w0, meta.distance, 15w0 });
    }

    action find_first_lost() {
        meta.first_lost = meta.leading - meta.distance_word;
    }

    action find_lost() {
        meta.mark_0 = meta.first_lost + OCCUPIED;
        meta.mark_1 = meta.first_lost + (STEP + OCCUPIED);
        meta.mark_2 = meta.first_lost + (2 * STEP + OCCUPIED);
        meta.mark_3 = meta.first_lost + (3 * STEP + OCCUPIED);
        meta.mark_4 = meta.first_lost + (4 * STEP + OCCUPIED);
    }

    action read_copy() {
        meta.number = headers.data.sequence;
        meta.era = era_of_copy.get({ 15w0, headers.data.era });
    }

    action widen_copy() {
        meta.first_lost = word_of_copy.get({ headers.data.era, headers.data.sequence, 15w1 });
    }

    action find_copy() {
        meta.mark_0 = meta.first_lost;
        meta.mark_1 = meta.first_lost;
        meta.mark_2 = meta.first_lost;
        meta.mark_3 = meta.first_lost;
        meta.mark_4 = meta.first_lost;
    }

    action advance_leading() {
        meta.is_later = advance.execute(0);
    }

    action compare_leading() {
        meta.is_later = compare.execute(0);
    }

    action drop() {
        for_deparser.drop_ctl = DROP;
    }

    action to_host() {
        for_tm.ucast_egress_port = PORT_HOST;
        for_tm.qid = QUEUE_NORMAL;
        for_tm.bypass_egress = 1;
    }

    action ack_to_host() {
        headers.ethernet.ethertype = headers.ack_next.ethertype;
        to_host();
    }

    action to_link(bit<8> origin, QueueId_t queue) {
        headers.origin.setValid();
        headers.origin.origin = origin;
        for_tm.ucast_egress_port = PORT_LINK;
        for_tm.qid = queue;
    }

    action hold() {
        for_tm.ucast_egress_port = PORT_TX_LOOP;
        for_tm.qid = QUEUE_NORMAL;
        for_tm.bypass_egress = 1;
    }

    // LG-7: the group has N members, all of them on the link. No egress, so no new position and no copy.
    action retransmit() {
        headers.tx_tag.setInvalid();
        headers.data.is_retransmission = 1;
        for_tm.mcast_grp_a = GROUP_RETRANSMISSION;
        for_tm.qid = QUEUE_URGENT;
        for_tm.bypass_egress = 1;
    }

    apply {
        if (headers.tx_tag.isValid()) {
            read_copy();
            widen_copy();
            find_copy();
            compare_leading();
            take_mark_0();
            take_mark_1();
            take_mark_2();
            take_mark_3();
            take_mark_4();
            // A mark on a copy that is not acknowledged is a stale one, and is gone now (LG-10).
            if (meta.is_later == 1) {
                hold();
            } else if (meta.is_marked_0 == 1 || meta.is_marked_1 == 1 || meta.is_marked_2 == 1
                       || meta.is_marked_3 == 1 || meta.is_marked_4 == 1) {
                retransmit();
            } else {
                drop();
            }
        } else if (headers.notification.isValid()) {
            read_notification();
            widen_leading();
            widen_distance();
            find_first_lost();
            find_lost();
            advance_leading();
            // A repeated notification says nothing new, and marks nothing (LG-31, LG-46).
            if (meta.is_later == 1) {
                mark_hole_0();
                if (headers.notification.hole_size > 1) { mark_hole_1(); }
                if (headers.notification.hole_size > 2) { mark_hole_2(); }
                if (headers.notification.hole_size > 3) { mark_hole_3(); }
                if (headers.notification.hole_size > 4) { mark_hole_4(); }
            }
            drop();
        } else if (headers.ack.isValid()) {
            read_ack();
            advance_leading();
            if (headers.ack_next.isValid()) {
                ack_to_host();
            } else {
                drop();
            }
        } else if (intrinsic.ingress_port == PORT_LINK) {
            to_host();
        } else if (intrinsic.ingress_port == PORT_HOST) {
            to_link(ORIGIN_FRAME, QUEUE_NORMAL);
        } else if (intrinsic.ingress_port == PORT_PROCESSOR) {
            to_link(ORIGIN_DUMMY, QUEUE_LOWEST);
        } else {
            drop();
        }
    }
}

control SenderIngressDeparser(packet_out packet,
                              inout sender_headers_t headers,
                              in sender_ingress_t meta,
                              in ingress_intrinsic_metadata_for_deparser_t for_deparser) {
    apply {
        packet.emit(headers.origin);
        packet.emit(headers.ethernet);
        packet.emit(headers.tx_tag);
        packet.emit(headers.data);
    }
}

#endif
