// The receiving end of a protected link: finds losses, asks for what was lost, keeps order (LG-11..28).
//
//   link -> ReceiverIngress: detect -> in order, or passed on at once ------------> host
//              |        ^        |  not its turn
//              |        |        +--> Rx loop (a queue, recirculated) --+
//              |        +------------------------------------------------+
//              +--> notification, acknowledgement, pause -> ReceiverEgress -> link
//
// Source: docs/protocols/linkguardian.md. A packet touches a register once in each pass: the position whose turn it is
// and the time that is left to it stand in one register for that. sender.p4 lists the other statements that Tofino would refuse.
//
// Left out:
// - A retransmission that comes after its frame was given up is dropped as a duplicate, and not counted apart (LG-21).
// - Out of order, only the first five positions of a hole are known as missing: no others are sent again (LG-9).
// - A frame that BMv2 drops in the loop is not noticed. It counts as held until both ends start over (LG-34).

#ifndef LINKGUARDIAN_RECEIVER_P4
#define LINKGUARDIAN_RECEIVER_P4

#include "position.p4"

// LG-13: the size of a hole has eight bits.
const position_t LARGEST_HOLE = 255;
// LG-15: how often one state of the acknowledgement register is sent.
const bit<2> SENDS_PER_UPDATE = 2;
// LG-34: frames that may be held, fewer than the queues of the loop take.
const bit<19> HELD_MAX = 512;

// The position that the next new frame should carry (LG-11).
register<position_t>(1) receiver_expected;
// LG-20, LG-21: the position whose turn it is (17 bits), and timer packets until it is given up (15 bits in front).
register<bit<32>>(1) receiver_order;
// LG-15..17: whether a packet goes round to send it (bit 19), how often it is to be sent (bits 18..17), the position.
// LG-26: notifications that wait for the link stand in front (bits 23..20); nothing is sent before they are.
register<bit<24>>(1) receiver_acknowledgement;
// LG-34: frames in the loop.
register<bit<19>>(1) receiver_held;
// LG-23, LG-24: the request that waits for a timer packet (bits 2..1), and what the sender was told last (bit 0).
register<bit<3>>(1) receiver_pausing;
// LG-28: register i holds the i-th position of each hole that has not come back.
register<mark_t>(MARKS) receiver_missing_0;
register<mark_t>(MARKS) receiver_missing_1;
register<mark_t>(MARKS) receiver_missing_2;
register<mark_t>(MARKS) receiver_missing_3;
register<mark_t>(MARKS) receiver_missing_4;
// Positions found missing, and positions given up because too many waited (LG-33).
register<bit<32>>(1) receiver_lost;
register<bit<32>>(1) receiver_overrun;

const bit<2> PAUSE_NOTHING = 0;
const bit<2> PAUSE_STOP = 1;
const bit<2> PAUSE_RESUME = 2;

// Events, by number.
const bit<32> RECEIVER_DATA = 0;
const bit<32> RECEIVER_RETRANSMISSIONS = 1;
const bit<32> RECEIVER_DUMMIES = 2;
const bit<32> RECEIVER_NOTIFICATIONS = 3;
const bit<32> RECEIVER_FORWARDED = 4;
const bit<32> RECEIVER_DUPLICATES = 5;
const bit<32> RECEIVER_STALE = 6;
const bit<32> RECEIVER_GIVEN_UP = 7;
const bit<32> RECEIVER_TIMER_PACKETS = 8;
const bit<32> RECEIVER_PAUSES = 9;
const bit<32> RECEIVER_RESUMES = 10;
const bit<32> RECEIVER_FROM_LINK = 11;
const bit<32> RECEIVER_TO_HOST = 12;
const bit<32> RECEIVER_MALFORMED = 13;
const bit<32> RECEIVER_NO_ROOM = 14;
const bit<32> RECEIVER_EVENTS = 15;
counter(RECEIVER_EVENTS, CounterType.packets) receiver_events;

// Numbered frames from the link, frames that come round, and timer packets.
control ReceiverIngress(inout headers_t headers,
                        inout metadata_t meta,
                        inout standard_metadata_t standard) {
    bit<15> reload;
    bit<1> deduplicate;
    bit<1> backpressure;
    bit<19> pause_frames;
    bit<19> resume_frames;
    bool is_stale;
    bool is_first;
    bool is_given_up;
    bool begins;
    bool has_room;
    position_t ahead;

    action set_reception(bit<15> timer_reload, bit<1> drop_duplicates, bit<1> may_pause,
                         bit<19> pause_at_frames, bit<19> resume_at_frames) {
        reload = timer_reload;
        deduplicate = drop_duplicates;
        backpressure = may_pause;
        pause_frames = pause_at_frames;
        resume_frames = resume_at_frames;
    }

    table reception {
        actions = { set_reception; }
        default_action = set_reception(135, 1, 0, 33, 31);
    }

    // LG-11, LG-12, LG-32: a dummy carries the position that comes next, and takes none.
    action detect() {
        receiver_expected.read(meta.first_lost, 0);
        ahead = meta.position - meta.first_lost;
        is_stale = IS_BEHIND(ahead);
        meta.expected = meta.first_lost;
        if (!is_stale) {
            if (headers.data.is_dummy == 1) {
                meta.expected = meta.position;
                meta.leading = meta.position - 1;
            } else {
                meta.expected = meta.position + 1;
                meta.leading = meta.position;
            }
            meta.lost = ahead;
            receiver_expected.write(0, meta.expected);
        }
    }

    action count_lost() {
        bit<32> sum;
        receiver_lost.read(sum, 0);
        receiver_lost.write(0, sum + (bit<32>)meta.lost);
    }

    // LG-16: an acknowledgement sent after the notification could free the very copies that it asks for.
    action acknowledge_by_notification() {
        bit<24> state;
        receiver_acknowledgement.read(state, 0);
        receiver_acknowledgement.write(0, (state[23:20] + 1) ++ state[19:19] ++ 2w0 ++ meta.leading);
    }

    // LG-15, LG-17: if no packet goes round to send it, this frame's mirror begins one.
    action acknowledge() {
        bit<24> state;
        receiver_acknowledgement.read(state, 0);
        begins = state[19:19] == 0;
        receiver_acknowledgement.write(0, state[23:20] ++ 1w1 ++ SENDS_PER_UPDATE ++ meta.leading);
    }

    // LG-33: a frame that takes the wait beyond a window gives the oldest up at once. LG-20: then its own turn.
    action order_new() {
        bit<32> state;
        receiver_order.read(state, 0);
        position_t turn = state[16:0];
        bit<15> time = state[31:17];
        position_t waits = meta.expected - turn;
        meta.overrun = 0;
        if (headers.data.blocking_mode == 1 && waits > WINDOW) {
            meta.overrun = waits - WINDOW;
            turn = turn + meta.overrun;
            time = reload;
        }
        ahead = meta.position - turn;
        if (headers.data.blocking_mode == 0) {
            // LG-27: nothing waits out of order. The turn follows, so that a change to order finds it right. The
            // opposite change would lose held frames: the control plane waits until no frame is held.
            turn = meta.expected;
            time = reload;
        } else if (headers.data.is_dummy == 0 && ahead == 0) {
            turn = turn + 1;
            time = reload;
        }
        receiver_order.write(0, time ++ turn);
    }

    // LG-20: a retransmission, or a frame that comes round.
    action order_awaited() {
        bit<32> state;
        receiver_order.read(state, 0);
        ahead = meta.position - state[16:0];
        if (ahead == 0) {
            receiver_order.write(0, reload ++ (state[16:0] + 1));
        }
    }

    // LG-21, LG-22: a timer packet counts down while something is missing; the one that finds zero gives it up.
    action count_down() {
        bit<32> state;
        receiver_expected.read(meta.expected, 0);
        receiver_order.read(state, 0);
        is_given_up = false;
        position_t missing = meta.expected - state[16:0];
        if (!IS_AHEAD(missing)) {
            receiver_order.write(0, reload ++ state[16:0]);
        } else if (state[31:17] == 0) {
            is_given_up = true;
            receiver_order.write(0, reload ++ (state[16:0] + 1));
        } else {
            receiver_order.write(0, (state[31:17] - 1) ++ state[16:0]);
        }
    }

    action count_overrun() {
        bit<32> sum;
        receiver_overrun.read(sum, 0);
        receiver_overrun.write(0, sum + (bit<32>)meta.overrun);
    }

    // LG-28
#define NOTE_MISSING(i)                                                                     \
    action note_missing_##i() {                                                             \
        position_t lost = meta.first_lost + i;                                              \
        receiver_missing_##i.write(PLACE_OF(lost), MARK_OF(lost));                          \
    }

    NOTE_MISSING(0)
    NOTE_MISSING(1)
    NOTE_MISSING(2)
    NOTE_MISSING(3)
    NOTE_MISSING(4)

#define TAKE_MISSING(i)                                                                     \
    action take_missing_##i() {                                                             \
        mark_t mark;                                                                        \
        receiver_missing_##i.read(mark, PLACE_OF(meta.position));                           \
        if (mark == MARK_OF(meta.position)) {                                               \
            is_first = true;                                                                \
            receiver_missing_##i.write(PLACE_OF(meta.position), 0);                         \
        }                                                                                   \
    }

    TAKE_MISSING(0)
    TAKE_MISSING(1)
    TAKE_MISSING(2)
    TAKE_MISSING(3)
    TAKE_MISSING(4)

    // LG-34: one more is held, if there is room.
    action take_in() {
        bit<19> held;
        receiver_held.read(held, 0);
        has_room = held < HELD_MAX;
        if (has_room) {
            receiver_held.write(0, held + 1);
        }
    }

    // A frame that came round goes on waiting, or leaves for good. After a new start old ones may still leave.
    action look_at_depth(bit<19> leaving) {
        bit<19> held;
        receiver_held.read(held, 0);
        meta.rx_loop_frames = held;
        receiver_held.write(0, held |-| leaving);
    }

    // LG-23, LG-24: looked at when a frame leaves the loop; a request that says nothing new is not made.
    action observe_depth() {
        bit<3> state;
        receiver_pausing.read(state, 0);
        if (state[0:0] == 0 && meta.rx_loop_frames >= pause_frames) {
            receiver_pausing.write(0, PAUSE_STOP ++ 1w1);
        } else if (state[0:0] == 1 && meta.rx_loop_frames <= resume_frames) {
            receiver_pausing.write(0, PAUSE_RESUME ++ 1w0);
        }
    }

    action take_pause_request() {
        bit<3> state;
        receiver_pausing.read(state, 0);
        meta.pause_request = state[2:1];
        receiver_pausing.write(0, PAUSE_NOTHING ++ state[0:0]);
    }

    action forward() {
        standard.egress_spec = PORT_HOST;
        // One priority for all that goes to the host: a replicated frame is urgent, and must not overtake others.
        standard.priority = PRIORITY_URGENT;
    }

    action hold() {
        headers.data.rx_buffered = 1;
        headers.rx_tag.setValid();
        headers.rx_tag.ingress_port = (bit<8>)PORT_LINK;
        standard.egress_spec = PORT_RX_LOOP;
        standard.priority = PRIORITY_URGENT;
    }

    apply {
        reception.apply();
        if (headers.timer.isValid()) {
            count_down();
            if (is_given_up) {
                receiver_events.count(RECEIVER_GIVEN_UP);
            } else {
                receiver_events.count(RECEIVER_TIMER_PACKETS);
            }
            take_pause_request();
            standard.egress_spec = PORT_TIMER_LOOP;
            if (meta.pause_request == PAUSE_STOP) {
                receiver_events.count(RECEIVER_PAUSES);
            } else if (meta.pause_request == PAUSE_RESUME) {
                receiver_events.count(RECEIVER_RESUMES);
            }
            if (meta.pause_request != PAUSE_NOTHING) {
                standard.mcast_grp = GROUP_PAUSE;
                standard.priority = PRIORITY_URGENT;
            }
        } else if (headers.data.isValid() && !headers.tx_tag.isValid()) {
            // A dummy is one, whatever else it says (WIRE-5).
            bool is_new = headers.data.is_dummy == 1
                || (headers.data.is_retransmission == 0 && headers.data.rx_buffered == 0);
            bool is_awaited = true;
            meta.lost = 0;
            ahead = 0;
            if (is_new) {
                detect();
                order_new();
                if (meta.overrun != 0) { count_overrun(); }
                if (headers.data.is_dummy == 1) {
                    receiver_events.count(RECEIVER_DUMMIES);
                } else {
                    receiver_events.count(RECEIVER_DATA);
                }
                if (is_stale) {
                    receiver_events.count(RECEIVER_STALE); // LG-32
                } else if (meta.lost != 0) {
                    count_lost();
                    acknowledge_by_notification();
                    receiver_events.count(RECEIVER_NOTIFICATIONS);
                    if (headers.data.blocking_mode == 0) {
                        note_missing_0();
                        if (meta.lost > 1) { note_missing_1(); }
                        if (meta.lost > 2) { note_missing_2(); }
                        if (meta.lost > 3) { note_missing_3(); }
                        if (meta.lost > 4) { note_missing_4(); }
                    }
                } else if (headers.data.is_dummy == 0) {
                    acknowledge();
                    if (begins) {
                        clone(CloneType.I2E, SESSION_ACK);
                    }
                }
            } else if (headers.data.rx_buffered == 1) {
                order_awaited();
                if (IS_AHEAD(ahead)) { look_at_depth(0); } else { look_at_depth(1); }
                if (backpressure == 1) { observe_depth(); }
            } else {
                receiver_events.count(RECEIVER_RETRANSMISSIONS); // LG-14
                if (headers.data.blocking_mode == 1) {
                    order_awaited();
                } else {
                    is_first = false;
                    take_missing_0();
                    take_missing_1();
                    take_missing_2();
                    take_missing_3();
                    take_missing_4();
                    is_awaited = is_first || deduplicate == 0;
                }
            }

            if (headers.data.is_dummy == 1) {
                // Dropped: it has said what it knows.
            } else if ((headers.data.blocking_mode == 0 && is_awaited) || (headers.data.blocking_mode == 1 && ahead == 0)) {
                receiver_events.count(RECEIVER_FORWARDED);
                forward();
            } else if (headers.data.blocking_mode == 1 && IS_AHEAD(ahead)) {
                has_room = true;
                if (headers.data.rx_buffered == 0) { take_in(); }
                if (has_room) {
                    hold();
                } else {
                    receiver_events.count(RECEIVER_NO_ROOM);
                }
            } else {
                receiver_events.count(RECEIVER_DUPLICATES);
            }

            // LG-13: a loss is notified at once. The frame that shows it is replicated.
            if (meta.lost != 0) {
                if (standard.egress_spec == PORT_HOST) {
                    standard.mcast_grp = GROUP_NOTIFICATION_AND_HOST;
                } else if (standard.egress_spec == PORT_RX_LOOP) {
                    standard.mcast_grp = GROUP_NOTIFICATION_AND_LOOP;
                } else {
                    standard.mcast_grp = GROUP_NOTIFICATION;
                }
                standard.priority = PRIORITY_URGENT;
            }
        }
    }
}

// Word for the sender, frames for the host, and the loops.
control ReceiverEgress(inout headers_t headers,
                       inout metadata_t meta,
                       inout standard_metadata_t standard) {
    bool is_due;
    bool goes_round;
    position_t leading;

    action take_for_frame() {
        bit<24> state;
        receiver_acknowledgement.read(state, 0);
        leading = state[16:0];
        is_due = state[23:20] == 0 && state[18:17] != 0;
        if (is_due) {
            receiver_acknowledgement.write(0, state[23:19] ++ (state[18:17] - 1) ++ leading);
        }
    }

    action take_for_round() {
        bit<24> state;
        receiver_acknowledgement.read(state, 0);
        leading = state[16:0];
        bool waits = state[23:20] != 0 && state[18:17] != 0;
        is_due = !waits && state[18:17] != 0;
        goes_round = waits || state[18:17] > 1;
        if (!goes_round) {
            receiver_acknowledgement.write(0, state[23:20] ++ 3w0 ++ leading);
        } else if (!waits) {
            receiver_acknowledgement.write(0, state[23:19] ++ (state[18:17] - 1) ++ leading);
        }
    }

    // LG-26: the first copy of a notification is on its way, and the others follow before anything else (LG-46).
    action note_notified() {
        bit<24> state;
        receiver_acknowledgement.read(state, 0);
        receiver_acknowledgement.write(0, (state[23:20] - 1) ++ state[19:0]);
    }

    action make_ack(bit<1> is_piggybacked) {
        headers.ack.setValid();
        headers.ack.kind = KIND_ACK;
        headers.ack.is_piggybacked = is_piggybacked;
        headers.ack.era = leading[16:16];
        headers.ack.pad = 0;
        headers.ack.leading_ack = leading[15:0];
    }

    // Nothing is left of the frame but Ethernet's header.
    action strip() {
        headers.ack.setInvalid();
        headers.ack_next.setInvalid();
        headers.data.setInvalid();
        headers.rx_tag.setInvalid();
        headers.data_next.setInvalid();
        headers.timer.setInvalid();
    }

    action turn_round() {
        mac_t destination = headers.ethernet.destination;
        headers.ethernet.destination = headers.ethernet.source;
        headers.ethernet.source = destination;
    }

    // WIRE-9: control frames are minimum frames.
    action pad() {
        headers.padding.setValid();
        headers.padding.zeros = 0;
        truncate(MINIMUM_FRAME_BYTES);
    }

    action make_notification() {
        headers.notification.setValid();
        headers.notification.kind = KIND_NOTIFICATION;
        headers.notification.is_piggybacked = 0;
        headers.notification.era = meta.leading[16:16];
        headers.notification.pad = 0;
        headers.notification.leading_ack = meta.leading[15:0];
        headers.notification.hole_size = (bit<8>)meta.lost;
        if (meta.lost > LARGEST_HOLE) {
            headers.notification.hole_size = (bit<8>)LARGEST_HOLE;
        }
        headers.notification.first_lost = meta.first_lost[15:0];
    }

    action make_pause() {
        headers.ethernet.destination = MAC_CONTROL_DESTINATION;
        headers.ethernet.ethertype = ETHERTYPE_MAC_CONTROL;
        headers.pfc.setValid();
        headers.pfc.opcode = PFC_OPCODE;
        headers.pfc.class_enable = PFC_CLASS_1;
        headers.pfc.quanta_0 = 0;
        headers.pfc.quanta_1 = PFC_QUANTA_RESUME;
        if (meta.pause_request == PAUSE_STOP) {
            headers.pfc.quanta_1 = PFC_QUANTA_PAUSE;
        }
        headers.pfc.quanta_2_to_6 = 0;
        headers.pfc.quanta_7 = 0;
    }

    apply {
        if (standard.egress_port == PORT_HOST) {
            receiver_events.count(RECEIVER_TO_HOST);
            if (headers.data_next.isValid()) {
                headers.ethernet.ethertype = headers.data_next.ethertype;
            } else if (headers.ack_next.isValid()) {
                headers.ethernet.ethertype = headers.ack_next.ethertype;
            }
            strip();
        } else if (standard.egress_port == PORT_RX_LOOP) {
            headers.ack.setInvalid();
            headers.ack_next.setInvalid();
            recirculate_preserving_field_list(FIELDS_RECIRCULATED);
        } else if (standard.egress_port == PORT_TIMER_LOOP) {
            if (headers.timer.circulates == 0) {
                mark_to_drop(standard);
            } else {
                recirculate_preserving_field_list(FIELDS_RECIRCULATED);
            }
        } else if (standard.egress_port == PORT_LINK) {
            if (meta.stays == 1) {
                // Nothing rides on it.
            } else if (standard.egress_rid == RID_NONE) {
                // A frame without a number whose EtherType is ours would be taken for a numbered one.
                if (headers.data.isValid() || headers.ethernet.ethertype != ETHERTYPE_LINKGUARDIAN) {
                    take_for_frame();
                    if (is_due) {
                        make_ack(1);
                        headers.ack_next.setValid();
                        headers.ack_next.ethertype = headers.ethernet.ethertype; // WIRE-8
                        headers.ethernet.ethertype = ETHERTYPE_LINKGUARDIAN;
                    }
                }
            } else if (standard.egress_rid == RID_ACK) {
                take_for_round();
                if (standard.instance_type == INSTANCE_INGRESS_CLONE) {
                    turn_round();
                }
                strip();
                make_ack(0);
                pad();
                if (goes_round) {
                    clone(CloneType.E2E, SESSION_ACK);
                }
                if (!is_due) {
                    meta.stays = 1;
                    mark_to_drop(standard);
                }
            } else if (standard.egress_rid == RID_NOTIFICATION || standard.egress_rid == RID_NOTIFICATION_COPY) {
                if (standard.egress_rid == RID_NOTIFICATION) {
                    note_notified();
                }
                turn_round();
                strip();
                make_notification();
                pad();
            } else if (standard.egress_rid == RID_PAUSE) {
                strip();
                make_pause();
                pad();
            }
        }
    }
}

#endif
