// A switch of the lab under the published switch model of FEC: a host on one port, the faulty link on the other.
//
//   h4 ---- [ sw2 ] ==== [ sw6 ] ---- h8
//
// Both switches run this program. A switch encodes what its host sends when the control plane says so, marks what it
// sends over the link, and decodes what comes from there. Packets are real, and so is their time; coding is not: a
// marked packet waits until its block has ended, and goes on unchanged if a real code could have rebuilt it.
//
// Left out: detection of a faulty link, and classes of traffic with codes of their own.

#include <core.p4>
#include <v1model.p4>

#include "decoder.p4"
#include "encoder.p4"
#include "faulty_link.p4"
#include "headers.p4"
#include "parser.p4"

control SwitchIngress(inout headers_t headers,
                      inout metadata_t meta,
                      inout standard_metadata_t standard) {
    EncoderIngress() encoder;
    DecoderIngress() decoder;

    apply {
        // Dropped, unless a role says where to.
        mark_to_drop(standard);
        if (standard.instance_type == INSTANCE_RECIRCULATED || standard.ingress_port == PORT_LINK) {
            decoder.apply(headers, meta, standard);
        } else if (standard.ingress_port == PORT_HOST) {
            encoder.apply(headers, meta, standard);
        }
    }
}

control SwitchEgress(inout headers_t headers,
                     inout metadata_t meta,
                     inout standard_metadata_t standard) {
    EncoderEgress() encoder;
    FaultyLink() faulty_link;
    DecoderEgress() decoder;

    apply {
        encoder.apply(headers, meta, standard);
        faulty_link.apply(headers, standard);
        decoder.apply(headers, meta, standard);
    }
}

V1Switch(
    SwitchParser(),
    NothingToVerify(),
    SwitchIngress(),
    SwitchEgress(),
    NothingToCompute(),
    SwitchDeparser()
) main;
