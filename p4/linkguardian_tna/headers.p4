// compiles, never run: LinkGuardian for Tofino (TNA), what the sender's and the receiver's program share.
//
// The formats on the wire are those of ../linkguardian/headers.p4. Here: how a position is counted, ports and queues,
// and what travels in front of a packet from one pipeline to the next.
//
// Neither program has run on a switch or on a model of one: a compiler took them, and that is all that is known. It
// was p4c 1.2.5.16 (commit 34b86e9b), back end bf-p4c 9.13.4, assembler bfas, with one line of the compiler mended:
// where parde/allocate_parser_match_register.cpp binds a use, this commit forgets all registers but the scratch ones,
// and so every select of every parser. Stages taken, of 12: sender 7 in ingress and 3 in egress, receiver 9 and 4.
//
// No control plane comes with them. It would set up the ports, the queues and their priorities, the mirror sessions,
// the multicast groups, the packet generator and the tables, and send the first dummy and the first ACK round.

#ifndef LINKGUARDIAN_TNA_HEADERS_P4
#define LINKGUARDIAN_TNA_HEADERS_P4

#include <core.p4>
#include <tna.p4>

#include "../linkguardian/headers.p4"

// A position (era, then number) in the upper 17 bits of a word: where 32 bits wrap, the era turns with them (LG-1),
// and the uppermost bit of a difference says which of two positions is the later one (LG-2).
typedef bit<32> word_t;
const word_t STEP = 0x8000;
// The lowest bit of a word has no use of its own: it tells a position that stands somewhere from an empty place.
const word_t OCCUPIED = 1;

// LG-10: marked positions. A mark holds the position itself, era included. Marks that lie MARKS apart share a place.
const bit<32> MARKS = 4096;
#define PLACE_OF_WORD(word) ((word)[26:15])

// All of them in one pipe, because a register belongs to a pipe. The front-panel ports are those of common/switch.p4,
// the loops among them set to loop back. Frames of the control plane come in at the processor's port.
const PortId_t PORT_PROCESSOR = 64;
const PortId_t PORT_GENERATOR = 68;

// Queues of a port, served strictly by priority, the last one first (LG-29): the control plane gives them those.
const QueueId_t QUEUE_LOWEST = 0;
const QueueId_t QUEUE_NORMAL = 1;
const QueueId_t QUEUE_URGENT = 2;

const bit<3> DROP = 1;

// The task of egress for a packet, in front of each packet that ingress hands on and of each that a mirror made.
const bit<8> ORIGIN_FRAME = 1;
const bit<8> ORIGIN_COPY = 2;
const bit<8> ORIGIN_DUMMY = 3;
const bit<8> ORIGIN_HELD = 4;
const bit<8> ORIGIN_UPDATE = 5;
const bit<8> ORIGIN_NOTIFICATION = 6;
const bit<8> ORIGIN_ACK = 7;

header origin_t {
    bit<8> origin;
}

// One kind of mirror in each program. Its sessions lead to a port and a queue; those named SHORT also cut the packet.
const MirrorType_t MIRROR = 1;
const MirrorId_t SESSION_TO_TX_LOOP = 1;
const MirrorId_t SESSION_DUMMY_AGAIN = 2;
const MirrorId_t SESSION_ACK_AGAIN = 3;
// Both of the urgent queue of the link: nothing that they carry overtakes anything else of them (LG-26).
const MirrorId_t SESSION_SHORT_UPDATE = 4;
const MirrorId_t SESSION_SHORT_NOTIFICATION = 5;

#endif
