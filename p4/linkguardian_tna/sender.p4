// compiles, never run: the sending end of a protected link, for Tofino (TNA).
//
//   host -> SenderIngress -> queue -> SenderEgress: number -> link
//                                          |  egress mirror
//           +------------------------------+
//           v
//        Tx loop: SenderIngress looks at each copy: hold | release | retransmit, past egress, by multicast -> link
//
//   A dummy goes round the lowest queue of the link all the time (egress mirror). The control plane sends the first.
//
// Source: docs/protocols/linkguardian.md and the v1model program ../linkguardian/sender.p4. A packet executes one
// action of a register in each pass, and ingress and egress share none.
//
// Left out against the v1model program, mostly because ingress cannot see the next position, which egress keeps:
// - An acknowledgement of what was never sent is believed (the second half of LG-8), and its marks are made (LG-10).
// - The window of LG-33. Nothing lets go of the oldest copy but word from the receiver.
// - Pauses (LG-25): the port obeys priority flow control by itself, for the class of the normal queue.
// - Acknowledgements that ride on protected frames, and with them both roles in one switch: see receiver.p4.
// - Most counters, the number of positions beyond the cap of LG-9 among them.

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
            // What a host sends is content, whatever its EtherType; a dummy of the control plane is read in egress.
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

    // What is one width in a header and another one in a word, or lies elsewhere, passes through a hash that changes
    // nothing: an action moves nothing between containers of two sizes.
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

parser SenderEgressParser(packet_in packet,
                          out sender_headers_t headers,
                          out sender_egress_t meta,
                          out egress_intrinsic_metadata_t intrinsic) {
    state start {
        packet.extract(intrinsic);
        packet.extract(headers.origin);
        packet.extract(headers.ethernet);
        transition select(headers.origin.origin) {
            ORIGIN_DUMMY: dummy;
            default: accept;
        }
    }

    state dummy {
        packet.extract(headers.data);
        transition accept;
    }
}

// Frames that leave for the link, copies on their way into the loop, and the dummy that goes round.
control SenderEgress(inout sender_headers_t headers,
                     inout sender_egress_t meta,
                     in egress_intrinsic_metadata_t intrinsic,
                     in egress_intrinsic_metadata_from_parser_t from_parser,
                     inout egress_intrinsic_metadata_for_deparser_t for_deparser,
                     inout egress_intrinsic_metadata_for_output_port_t for_port) {
    // The position of the next data frame.
    Register<word_t, bit<1>>(1, 0) next;
    // How many dummies are due (LG-4).
    Register<bit<8>, bit<1>>(1, 0) dummies_due;

    // LG-3: after the queue, so that a frame that the queue drops leaves no hole.
    RegisterAction<word_t, bit<1>, word_t>(next) take_next = {
        void apply(inout word_t value, out word_t position) {
            position = value;
            value = value + STEP;
        }
    };

    // LG-12: a dummy carries the position that the next data frame will take.
    RegisterAction<word_t, bit<1>, word_t>(next) look_at_next = {
        void apply(inout word_t value, out word_t position) {
            position = value;
        }
    };

    RegisterAction<bit<8>, bit<1>, bit<1>>(dummies_due) arm = {
        void apply(inout bit<8> value) {
            value = meta.dummies;
        }
    };

    RegisterAction<bit<8>, bit<1>, bit<1>>(dummies_due) take_dummy = {
        void apply(inout bit<8> value, out bit<1> is_due) {
            is_due = 0;
            if (value > 0) {
                is_due = 1;
                value = value - 1;
            }
        }
    };

    Hash<bit<1>>(HashAlgorithm_t.IDENTITY) era_of_word;
    Hash<bit<16>>(HashAlgorithm_t.IDENTITY) number_of_word;

    action protect(bit<1> in_order, bit<8> dummies_after_data) {
        meta.dummies = dummies_after_data;
        headers.data.setValid();
        headers.data.kind = KIND_DATA;
        headers.data.pad = 0;
        headers.data.era = 0;
        headers.data.is_retransmission = 0;
        headers.data.is_dummy = 0;
        headers.data.blocking_mode = in_order;
        headers.data.rx_buffered = 0;
        headers.data_next.setValid();
        headers.data_next.ethertype = headers.ethernet.ethertype; // WIRE-8
        headers.ethernet.ethertype = ETHERTYPE_LINKGUARDIAN;
    }

    // Unless the control plane says otherwise, frames leave as they are.
    table protection {
        actions = { protect; NoAction; }
        default_action = NoAction();
        size = 1;
    }

    action take_position() {
        meta.position = take_next.execute(0);
    }

    action look_at_position() {
        meta.position = look_at_next.execute(0);
    }

    action arm_dummies() {
        arm.execute(0);
    }

    action take_due_dummy() {
        meta.is_due = take_dummy.execute(0);
    }

    action write_position() {
        headers.data.era = era_of_word.get({ meta.position[31:31] });
        headers.data.sequence = number_of_word.get({ meta.position[30:15] });
    }

    // LG-5: the mirror of a numbered frame goes into the loop.
    action mirror_copy() {
        for_deparser.mirror_type = MIRROR;
        meta.session = SESSION_TO_TX_LOOP;
        meta.origin = ORIGIN_COPY;
    }

    action tag_copy() {
        headers.tx_tag.setValid();
        headers.tx_tag.kind = KIND_TX_TAG;
        headers.tx_tag.pad = 0;
        headers.tx_tag.egress_port = PORT_LINK;
    }

    // LG-18: round again, whether one is due or not.
    action mirror_dummy() {
        for_deparser.mirror_type = MIRROR;
        meta.session = SESSION_DUMMY_AGAIN;
        meta.origin = ORIGIN_DUMMY;
    }

    action drop() {
        for_deparser.drop_ctl = DROP;
    }

    apply {
        if (headers.origin.origin == ORIGIN_FRAME) {
            protection.apply();
            if (headers.data.isValid()) {
                take_position();
                arm_dummies();
                write_position();
                mirror_copy();
            }
        } else if (headers.origin.origin == ORIGIN_COPY) {
            tag_copy();
        } else {
            look_at_position();
            take_due_dummy();
            write_position();
            mirror_dummy();
            if (meta.is_due == 0) {
                drop();
            }
        }
    }
}

control SenderEgressDeparser(packet_out packet,
                             inout sender_headers_t headers,
                             in sender_egress_t meta,
                             in egress_intrinsic_metadata_for_deparser_t for_deparser) {
    Mirror(MIRROR) mirror;

    apply {
        if (for_deparser.mirror_type == MIRROR) {
            mirror.emit<origin_t>(meta.session, { meta.origin });
        }
        packet.emit(headers.ethernet);
        packet.emit(headers.tx_tag);
        packet.emit(headers.data);
        packet.emit(headers.data_next);
    }
}

Pipeline(
    SenderIngressParser(),
    SenderIngress(),
    SenderIngressDeparser(),
    SenderEgressParser(),
    SenderEgress(),
    SenderEgressDeparser()
) sender;

Switch(sender) main;
