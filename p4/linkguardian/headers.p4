// LinkGuardian's headers, bit by bit (WIRE-4..10), and what a switch keeps of a packet while it works on it.
//
//   Ethernet ABCD | data 3 | EtherType 2 | payload                       protected
//   Ethernet ABCD | ACK p 3 | EtherType 2 | payload                      unprotected, with an ACK
//   Ethernet ABCD | ACK p 3 | ABCD 2 | data 3 | EtherType 2 | payload    protected, with an ACK
//   Ethernet ABCD | data 3 (dummy) | padding                             dummy
//   Ethernet ABCD | ACK 3 | padding                                      explicit ACK
//   Ethernet ABCD | notification 6 | padding                             loss notification
//
// Inside a switch only, and refused from a cable:
//
//   Ethernet ABCD | Tx tag 2 | data 3 | EtherType 2 | payload            a copy in the sender's loop
//   Ethernet ABCD | data 3 | Rx tag 1 | EtherType 2 | payload            a frame in the receiver's loop
//   Ethernet 88B5 | timer 1 | padding                                    a timer packet
//   Ethernet 88B6 | waiting 2 | EtherType 2 | payload                    a frame that a pause holds back

#ifndef LINKGUARDIAN_HEADERS_P4
#define LINKGUARDIAN_HEADERS_P4

#include "../common/ethernet.p4"
#include "../common/switch.p4"

const ethertype_t ETHERTYPE_LINKGUARDIAN = 0xABCD;
const ethertype_t ETHERTYPE_MAC_CONTROL = 0x8808;
// Inside a switch only: IEEE 802's EtherTypes for local experiments. Those of frames on a cable are content.
const ethertype_t ETHERTYPE_TIMER = 0x88B5;
const ethertype_t ETHERTYPE_WAITING = 0x88B6;

// WIRE-4: what the first two bits of a header say.
const bit<2> KIND_DATA = 0;
const bit<2> KIND_ACK = 1;
const bit<2> KIND_NOTIFICATION = 2;
const bit<2> KIND_TX_TAG = 3;

// WIRE-5
header data_t {
    bit<2> kind;
    bit<1> pad;
    bit<1> era;
    bit<1> is_retransmission;
    bit<1> is_dummy;
    bit<1> blocking_mode;
    bit<1> rx_buffered;
    bit<16> sequence;
}

// WIRE-6
header ack_t {
    bit<2> kind;
    bit<1> is_piggybacked;
    bit<1> era;
    bit<4> pad;
    bit<16> leading_ack;
}

// WIRE-7
header notification_t {
    bit<2> kind;
    bit<1> is_piggybacked;
    bit<1> era;
    bit<4> pad;
    bit<16> leading_ack;
    bit<8> hole_size;
    bit<16> first_lost;
}

// In front of the data header of a copy in the sender's loop.
header tx_tag_t {
    bit<2> kind;
    bit<5> pad;
    port_t egress_port;
}

// Behind the data header of a frame in the receiver's loop.
header rx_tag_t {
    bit<8> ingress_port;
}

// WIRE-10: priority flow control, after an Ethernet header with the EtherType of MAC control.
header pfc_t {
    bit<16> opcode;
    bit<16> class_enable;
    bit<16> quanta_0;
    bit<16> quanta_1;
    bit<80> quanta_2_to_6;
    bit<16> quanta_7;
}

const bit<16> PFC_OPCODE = 0x0101;
// LinkGuardian pauses class 1, for as long as can be said.
const bit<16> PFC_CLASS_1 = 0x0002;
const bit<16> PFC_QUANTA_PAUSE = 65535;
const bit<16> PFC_QUANTA_RESUME = 0;
const mac_t MAC_CONTROL_DESTINATION = 0x0180C2000001;

// A timer packet goes round as long as it is told to; the control plane may send one that passes once.
header timer_t {
    bit<8> circulates;
}

// The place in the line of a frame that a pause holds back.
header waiting_t {
    bit<16> ticket;
}

// Octets that fill a control frame up to a minimum frame; the shortest header in one has 3.
header padding_t {
    bit<344> zeros;
}

struct headers_t {
    ethernet_t ethernet;
    timer_t timer;
    waiting_t waiting;
    next_t waiting_next;
    ack_t ack;
    next_t ack_next;
    notification_t notification;
    tx_tag_t tx_tag;
    data_t data;
    rx_tag_t rx_tag;
    next_t data_next;
    pfc_t pfc;
    padding_t padding;
}

// A place in the sequence space: the era, then the number (LG-1).
typedef bit<17> position_t;

// Metadata that a recirculated frame takes along.
const bit<8> FIELDS_RECIRCULATED = 1;

struct metadata_t {
    // The position of the frame in hand, and the one that it acknowledges.
    position_t position;
    position_t acknowledged;
    // A hole, as the receiver finds it or as a notification tells: its first position, how many, and what leads.
    position_t first_lost;
    position_t lost;
    position_t leading;
    // The expected position after a frame, and how many positions it makes the receiver give up (LG-33).
    position_t expected;
    position_t overrun;
    // Which pause the receiver wants with this timer packet.
    bit<2> pause_request;
    // Frames in the receiver's loop when this one left it.
    bit<19> rx_loop_frames;
    // When a frame left the waiting loop. BMv2 gives a recirculated packet no new time of ingress.
    @field_list(FIELDS_RECIRCULATED)
    bit<48> left_loop_us;
    // Whether a frame has waited for a pause to end, and whether it does not leave for the link after all.
    bit<1> has_waited;
    bit<1> stays;
}

// Purpose of a packet's replica: multicast groups give each a number.
const bit<16> RID_NONE = 0;
@noWarn("unused")
const bit<16> RID_FORWARD = 1;
const bit<16> RID_RETRANSMISSION = 2;
const bit<16> RID_NOTIFICATION = 3;
const bit<16> RID_PAUSE = 4;
const bit<16> RID_COPY = 5;
const bit<16> RID_DUMMY = 6;
const bit<16> RID_ACK = 7;
@noWarn("unused")
const bit<16> RID_TIMER = 8;
const bit<16> RID_NOTIFICATION_COPY = 9;

// Multicast groups. The control plane fills them: N copies of a retransmission (LG-7), C of a control frame (LG-46).
const group_t GROUP_RETRANSMISSION = 1;
const group_t GROUP_NOTIFICATION = 2;
const group_t GROUP_NOTIFICATION_AND_HOST = 3;
const group_t GROUP_NOTIFICATION_AND_LOOP = 4;
const group_t GROUP_PAUSE = 5;

// Mirror sessions; each leads to the multicast group of its number.
const bit<32> SESSION_COPY = 6;
const bit<32> SESSION_COPY_AND_DUMMY = 7;
const bit<32> SESSION_DUMMY = 8;
const bit<32> SESSION_ACK = 9;

#endif
