// compiles, never run: frames that leave for the link, copies and dummies, at the sender for Tofino.

#ifndef LINKGUARDIAN_TNA_SENDER_EGRESS_P4
#define LINKGUARDIAN_TNA_SENDER_EGRESS_P4

#include "sender_headers.p4"

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

#endif
