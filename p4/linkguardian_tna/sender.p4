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

#include "sender_egress.p4"
#include "sender_ingress.p4"

Pipeline(
    SenderIngressParser(),
    SenderIngress(),
    SenderIngressDeparser(),
    SenderEgressParser(),
    SenderEgress(),
    SenderEgressDeparser()
) sender;

Switch(sender) main;
