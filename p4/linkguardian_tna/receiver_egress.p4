// compiles, never run: word for the sender, and the depth of the loop, at the receiver for Tofino.

#ifndef LINKGUARDIAN_TNA_RECEIVER_EGRESS_P4
#define LINKGUARDIAN_TNA_RECEIVER_EGRESS_P4

#include "receiver_headers.p4"

parser ReceiverEgressParser(packet_in packet,
                            out receiver_headers_t headers,
                            out receiver_egress_t meta,
                            out egress_intrinsic_metadata_t intrinsic) {
    state start {
        packet.extract(intrinsic);
        transition select(packet.lookahead<bit<8>>()) {
            ORIGIN_UPDATE: report;
            ORIGIN_NOTIFICATION: report;
            ORIGIN_HELD: held;
            ORIGIN_ACK: acknowledgement;
            default: frame;
        }
    }

    state report {
        packet.extract(headers.report);
        packet.extract(headers.ethernet);
        // The data header and the EtherType behind it, or two octets of a dummy's padding.
        packet.advance(40);
        transition accept;
    }

    state held {
        packet.extract(headers.origin);
        packet.extract(headers.ethernet);
        packet.extract(headers.held);
        transition accept;
    }

    state acknowledgement {
        packet.extract(headers.origin);
        packet.extract(headers.ethernet);
        packet.extract(headers.ack);
        transition accept;
    }

    state frame {
        packet.extract(headers.origin);
        packet.extract(headers.ethernet);
        transition accept;
    }
}

// Word for the sender, frames of the host, and the depth of the loop.
control ReceiverEgress(inout receiver_headers_t headers,
                       inout receiver_egress_t meta,
                       in egress_intrinsic_metadata_t intrinsic,
                       in egress_intrinsic_metadata_from_parser_t from_parser,
                       inout egress_intrinsic_metadata_for_deparser_t for_deparser,
                       inout egress_intrinsic_metadata_for_output_port_t for_port) {
    Register<acknowledgement_t, bit<1>>(1, { 0, 0 }) acknowledgement;

    RegisterAction<acknowledgement_t, bit<1>, word_t>(acknowledgement) update = {
        void apply(inout acknowledgement_t value) {
            value.leading = meta.leading;
            value.sends = SENDS_PER_UPDATE;
        }
    };

    // LG-16: an acknowledgement sent after the notification could free the very copies that it asks for.
    RegisterAction<acknowledgement_t, bit<1>, word_t>(acknowledgement) replace = {
        void apply(inout acknowledgement_t value) {
            value.leading = meta.leading;
            value.sends = 0;
        }
    };

    // Zero when nothing is due: a position in the register is never zero, because it is marked occupied.
    RegisterAction<acknowledgement_t, bit<1>, word_t>(acknowledgement) take = {
        void apply(inout acknowledgement_t value, out word_t acknowledged) {
            acknowledged = 0;
            if (value.sends > 0) {
                acknowledged = value.leading;
                value.sends = value.sends - 1;
            }
        }
    };

    Hash<bit<16>>(HashAlgorithm_t.IDENTITY) number_of_acknowledged;
    Hash<bit<16>>(HashAlgorithm_t.IDENTITY) number_of_leading;
    Hash<bit<16>>(HashAlgorithm_t.IDENTITY) number_of_first_lost;
    Hash<bit<8>>(HashAlgorithm_t.IDENTITY) size_of_hole;

    action read_report() {
        meta.leading = headers.report.leading;
    }

    action update_acknowledgement() {
        update.execute(0);
    }

    action replace_acknowledgement() {
        replace.execute(0);
    }

    action take_acknowledgement() {
        meta.acknowledged = take.execute(0);
    }

    action write_ack(bit<1> is_piggybacked, bit<1> era) {
        headers.ack.setValid();
        headers.ack.kind = KIND_ACK;
        headers.ack.is_piggybacked = is_piggybacked;
        headers.ack.era = era;
        headers.ack.pad = 0;
        headers.ack.leading_ack = number_of_acknowledged.get({ meta.acknowledged[30:15] });
    }

    table acknowledge {
        key = {
            headers.origin.origin: exact;
            meta.acknowledged[31:31]: exact @name("era");
        }
        actions = { write_ack; @defaultonly NoAction; }
        const default_action = NoAction();
        const entries = {
            (ORIGIN_ACK, 0): write_ack(0, 0);
            (ORIGIN_ACK, 1): write_ack(0, 1);
            (ORIGIN_FRAME, 0): write_ack(1, 0);
            (ORIGIN_FRAME, 1): write_ack(1, 1);
        }
        size = 4;
    }

    // WIRE-8
    action ride() {
        headers.ack_next.setValid();
        headers.ack_next.ethertype = headers.ethernet.ethertype;
        headers.ethernet.ethertype = ETHERTYPE_LINKGUARDIAN;
    }

    action begin_notification(bit<1> era) {
        headers.notification.setValid();
        headers.notification.kind = KIND_NOTIFICATION;
        headers.notification.is_piggybacked = 0;
        headers.notification.era = era;
        headers.notification.pad = 0;
        mac_t destination = headers.ethernet.destination;
        headers.ethernet.destination = headers.ethernet.source;
        headers.ethernet.source = destination;
    }

    action write_leading() {
        headers.notification.leading_ack = number_of_leading.get({ headers.report.leading[30:15] });
    }

    // Apart, because no more than 32 bits of one table come from hashes.
    action write_hole() {
        headers.notification.first_lost = number_of_first_lost.get({ headers.report.first_lost[30:15] });
        headers.notification.hole_size = size_of_hole.get({ headers.report.lost[22:15] });
    }

    action saturate() {
        headers.notification.hole_size = LARGEST_HOLE;
    }

    // LG-17: round again, whether one is due or not.
    action mirror_ack() {
        for_deparser.mirror_type = MIRROR;
        meta.session = SESSION_ACK_AGAIN;
        meta.origin = ORIGIN_ACK;
    }

    action note_depth() {
        headers.held.pad = 0;
        headers.held.cells = intrinsic.deq_qdepth;
    }

    action drop() {
        for_deparser.drop_ctl = DROP;
    }

    apply {
        if (headers.report.isValid()) {
            read_report();
            if (headers.report.origin == ORIGIN_UPDATE) {
                update_acknowledgement();
                drop();
            } else {
                replace_acknowledgement();
                if (headers.report.leading[31:31] == 0) {
                    begin_notification(0);
                } else {
                    begin_notification(1);
                }
                write_leading();
                write_hole();
                if (headers.report.lost[31:23] != 0) {
                    saturate();
                }
            }
        } else if (headers.origin.origin == ORIGIN_HELD) {
            note_depth();
        } else if (headers.origin.origin == ORIGIN_ACK || headers.ethernet.ethertype != ETHERTYPE_LINKGUARDIAN) {
            // A frame of the host whose EtherType is ours already would be taken for a numbered one, and gets none.
            take_acknowledgement();
            if (meta.acknowledged != 0) {
                acknowledge.apply();
                if (headers.origin.origin == ORIGIN_FRAME) {
                    ride();
                }
            }
            if (headers.origin.origin == ORIGIN_ACK) {
                mirror_ack();
                if (meta.acknowledged == 0) {
                    drop();
                }
            }
        }
    }
}

control ReceiverEgressDeparser(packet_out packet,
                               inout receiver_headers_t headers,
                               in receiver_egress_t meta,
                               in egress_intrinsic_metadata_for_deparser_t for_deparser) {
    Mirror(MIRROR) mirror;

    apply {
        if (for_deparser.mirror_type == MIRROR) {
            mirror.emit<origin_t>(meta.session, { meta.origin });
        }
        packet.emit(headers.ethernet);
        packet.emit(headers.ack);
        packet.emit(headers.ack_next);
        packet.emit(headers.notification);
        packet.emit(headers.held);
    }
}

#endif
