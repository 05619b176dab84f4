// The parts of every program's pipeline beside ingress and egress: headers go out as they are.

#ifndef COMMON_PIPELINE_P4
#define COMMON_PIPELINE_P4

control SwitchDeparser(packet_out packet, in headers_t headers) {
    apply {
        packet.emit(headers);
    }
}

// Ethernet's own check sequence is the cable's business.
control NothingToVerify(inout headers_t headers, inout metadata_t meta) {
    apply { }
}

control NothingToCompute(inout headers_t headers, inout metadata_t meta) {
    apply { }
}

#endif
