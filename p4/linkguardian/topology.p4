// A switch of the lab under LinkGuardian: a host on one port, the link that corrupts on the other, both roles at once.
//
//   h4 ---- [ sw2 ] ==== [ sw6 ] ---- h8
//
// Both switches run this program. A switch protects what it sends over the link when the control plane says so, and
// receives what the other one protects. It corrupts what arrives over the link, as the published receiver does.

#include <core.p4>
#include <v1model.p4>

#include "../common/corruption.p4"
#include "headers.p4"
#include "parser.p4"
#include "receiver.p4"
#include "sender.p4"

control SwitchIngress(inout headers_t headers,
                      inout metadata_t meta,
                      inout standard_metadata_t standard) {
    Corruption() corruption;
    SenderIngress() sender;
    ReceiverIngress() receiver;
    bit<1> is_lost;

    apply {
        bool is_from_link = standard.ingress_port == PORT_LINK && standard.instance_type != INSTANCE_RECIRCULATED;
        corruption.apply(is_from_link, is_lost);
        // Dropped, unless a role says where to.
        mark_to_drop(standard);
        if (is_lost == 1) {
            exit;
        }
        if (is_from_link) {
            receiver_events.count(RECEIVER_FROM_LINK);
            // WIRE-3..9: what cannot be, what exists inside a switch only, and what contradicts itself.
            if (standard.parser_error != error.NoError
                || headers.tx_tag.isValid()
                || (headers.data.isValid() && (headers.data.kind != KIND_DATA || headers.data.rx_buffered == 1))
                || (headers.data.isValid() && headers.data.is_dummy == 1 && headers.ack.isValid())
                || (headers.notification.isValid() && headers.notification.is_piggybacked == 1)
                || (headers.notification.isValid() && headers.notification.hole_size == 0)) {
                receiver_events.count(RECEIVER_MALFORMED);
                exit;
            }
            if (!headers.data.isValid() && !headers.notification.isValid() && !headers.pfc.isValid()
                && !(headers.ack.isValid() && headers.ack.is_piggybacked == 0)) {
                standard.egress_spec = PORT_HOST;
                standard.priority = PRIORITY_URGENT;
            }
        }
        meta.position = headers.data.era ++ headers.data.sequence;
        if (headers.ack.isValid()) {
            meta.acknowledged = headers.ack.era ++ headers.ack.leading_ack;
        }
        if (headers.notification.isValid()) {
            meta.acknowledged = headers.notification.era ++ headers.notification.leading_ack;
            // The first lost position lies less than an era before the leading one (WIRE-7).
            bit<16> distance = headers.notification.leading_ack - headers.notification.first_lost;
            meta.first_lost = meta.acknowledged - (position_t)distance;
        }
        sender.apply(headers, meta, standard);
        receiver.apply(headers, meta, standard);
    }
}

control SwitchEgress(inout headers_t headers,
                     inout metadata_t meta,
                     inout standard_metadata_t standard) {
    SenderEgress() sender;
    ReceiverEgress() receiver;

    apply {
        sender.apply(headers, meta, standard);
        receiver.apply(headers, meta, standard);
        if (standard.egress_port == PORT_LINK && meta.stays == 0) {
            sender_events.count(SENDER_TO_LINK);
        }
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
