// Which headers follow each other (FEC-2, FEC-3, FEC-25): the same on a wire and in the decoder's loop.

#ifndef FEC_MODEL_PARSER_P4
#define FEC_MODEL_PARSER_P4

#include "headers.p4"
#include "../common/pipeline.p4"

parser SwitchParser(packet_in packet,
                    out headers_t headers,
                    inout metadata_t meta,
                    inout standard_metadata_t standard) {
    state start {
        packet.extract(headers.ethernet);
        transition select(standard.instance_type, standard.ingress_port) {
            (INSTANCE_RECIRCULATED, _): tagged_or_not;
            (_, PORT_LINK): tagged_or_not;
            // Frames of a host are content, whatever their EtherType.
            default: accept;
        }
    }

    state tagged_or_not {
        transition select(headers.ethernet.ethertype) {
            ETHERTYPE_FEC: fec;
            default: accept;
        }
    }

    state fec {
        packet.extract(headers.fec);
        transition select(headers.fec.is_parity) {
            0: data_next;
            1: code;
        }
    }

    state data_next {
        packet.extract(headers.data_next);
        transition corruption;
    }

    state code {
        packet.extract(headers.code);
        transition corruption;
    }

    state corruption {
        packet.extract(headers.corruption);
        transition accept;
    }
}

#endif
