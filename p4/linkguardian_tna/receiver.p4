// compiles, never run: the receiving end of a protected link, for Tofino (TNA).
//
//   link -> ReceiverIngress: detect -> in order, or passed on at once, past egress ----> host
//              |        ^        |  not its turn
//              |        |        +--> Rx loop: ReceiverEgress notes the depth --+
//              |        +-------------------------------------------------------+
//              +-- ingress mirror, cut short: update or notification -> ReceiverEgress -> link
//   generator -> ReceiverIngress: time, pauses, past egress -----------------------------> link
//
//   An ACK goes round the lowest queue of the link all the time (egress mirror). The control plane sends the first.
//   The packet of the generator is the pause itself, without the quanta; it is dropped while nothing is to be said.
//
// Source: docs/protocols/linkguardian.md and the v1model program ../linkguardian/receiver.p4. A packet executes one
// action of a register in each pass, and ingress and egress share none: an update of the acknowledgement rides to
// egress on a mirrored packet, in the queue of the notifications, so that neither overtakes the other (LG-16, LG-26).
//
// Left out against the v1model program:
// - A new frame behind the expected position reports nothing, but moves the expected position back (LG-32).
// - The window of LG-33: no position is given up because too many wait.
// - Copies of a retransmission are all forwarded out of order (LG-28), as published.
// - Word of the other direction's receiver, and with it both roles in one switch: ACKs that arrive are dropped.
// - The Rx tag: a header of our own stands in front of the data header of a frame in the loop (held_t).
// - Zeros as padding of a notification: there remain octets of the frame that showed the loss.
// - Most counters. Those of the tables say how often each line of theirs was taken.

#include "receiver_egress.p4"
#include "receiver_ingress.p4"

Pipeline(
    ReceiverIngressParser(),
    ReceiverIngress(),
    ReceiverIngressDeparser(),
    ReceiverEgressParser(),
    ReceiverEgress(),
    ReceiverEgressDeparser()
) receiver;

Switch(receiver) main;
