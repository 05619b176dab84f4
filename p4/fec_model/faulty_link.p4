// The model of the faulty link: marks what it would have lost, after the queue (FEC-25).
//
//   queue -> EncoderEgress -> FaultyLink --+--> link    of a block: with a corruption header, marked or not
//                                          +--> link    of no block, and intact
//                                          +--> gone    of no block, and lost
//
// A marked packet uses the wire as any other. Each packet is drawn by itself.
//
// Losses of the way back are made by the other switch, which runs this program, too.

#ifndef FEC_MODEL_FAULTY_LINK_P4
#define FEC_MODEL_FAULTY_LINK_P4

#include "../common/corruption.p4"
#include "headers.p4"

control FaultyLink(inout headers_t headers, inout standard_metadata_t standard) {
    Corruption() corruption;
    bit<1> is_lost;

    apply {
        corruption.apply(standard.egress_port == PORT_LINK, is_lost);
        if (standard.egress_port == PORT_LINK) {
            if (headers.fec.isValid()) {
                headers.corruption.setValid();
                headers.corruption.is_marked = is_lost;
                headers.corruption.zeros = 0;
            } else if (is_lost == 1) {
                mark_to_drop(standard);
            }
        }
    }
}

#endif
