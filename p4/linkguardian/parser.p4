// Which headers follow each other (WIRE-8, WIRE-9), on a wire and inside a switch.

#ifndef LINKGUARDIAN_PARSER_P4
#define LINKGUARDIAN_PARSER_P4

#include "headers.p4"
#include "../common/pipeline.p4"

parser SwitchParser(packet_in packet,
                    out headers_t headers,
                    inout metadata_t meta,
                    inout standard_metadata_t standard) {
    state start {
        packet.extract(headers.ethernet);
        transition select(standard.instance_type, standard.ingress_port) {
            (INSTANCE_RECIRCULATED, _): inside;
            (_, PORT_LINK): wire;
            (_, PORT_CONTROL): inside;
            // Frames of a host are content, whatever their EtherType.
            default: accept;
        }
    }

    state wire {
        transition select(headers.ethernet.ethertype) {
            ETHERTYPE_LINKGUARDIAN: linkguardian;
            ETHERTYPE_MAC_CONTROL: mac_control;
            default: accept;
        }
    }

    state inside {
        transition select(headers.ethernet.ethertype) {
            ETHERTYPE_LINKGUARDIAN: linkguardian;
            ETHERTYPE_TIMER: timer;
            ETHERTYPE_WAITING: waiting;
            default: accept;
        }
    }

    state linkguardian {
        transition select(packet.lookahead<bit<2>>()) {
            KIND_DATA: data;
            KIND_ACK: ack;
            KIND_NOTIFICATION: notification;
            KIND_TX_TAG: tx_tag;
        }
    }

    state ack {
        packet.extract(headers.ack);
        transition select(headers.ack.is_piggybacked) {
            1: ack_next;
            default: accept;
        }
    }

    // WIRE-8: after a piggy-backed ACK, 0xABCD announces a data header.
    state ack_next {
        packet.extract(headers.ack_next);
        transition select(headers.ack_next.ethertype) {
            ETHERTYPE_LINKGUARDIAN: data;
            default: accept;
        }
    }

    state tx_tag {
        packet.extract(headers.tx_tag);
        transition data;
    }

    state data {
        packet.extract(headers.data);
        transition select(headers.data.is_dummy, headers.data.rx_buffered) {
            (1, _): accept;
            (0, 1): rx_tag;
            default: data_next;
        }
    }

    state rx_tag {
        packet.extract(headers.rx_tag);
        transition data_next;
    }

    state data_next {
        packet.extract(headers.data_next);
        transition accept;
    }

    state notification {
        packet.extract(headers.notification);
        transition accept;
    }

    state mac_control {
        transition select(packet.lookahead<bit<16>>()) {
            PFC_OPCODE: pfc;
            default: accept;
        }
    }

    state pfc {
        packet.extract(headers.pfc);
        transition accept;
    }

    state timer {
        packet.extract(headers.timer);
        transition accept;
    }

    state waiting {
        packet.extract(headers.waiting);
        packet.extract(headers.waiting_next);
        transition accept;
    }
}

#endif
