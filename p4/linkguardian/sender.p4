// The sending end of a protected link: numbers frames, keeps copies of them, sends lost ones again (LG-3..10).
//
//   host -> SenderIngress -> queue -> SenderEgress: number -> link
//               ^   |                   |        |  mirror
//               |   +-- waiting loop    |        v
//               +-----------------------+     Tx loop: SenderIngress looks at each copy: hold | release | retransmit
//                       paused
//
// Source: docs/protocols/linkguardian.md. A packet touches a register once in each pass. That is one of Tofino's
// conditions; others are not kept. Ingress and egress share sender_next, sender_leading_ack, sender_line and the
// counters, registers have other widths than 8, 16 or 32 bits, and some actions are more than one stateful ALU does.
// ../linkguardian_tna says what such conditions cost. Tofino has a pause in hardware, and needs no waiting loop.
//
// Left out:
// - A copy unseen for a whole window is not looked for (LG-33): the loop shows every copy all the time.
// - A notification that claims more than was sent marks nothing, where the engine marks the part that was sent.
// - A copy that its loop has no room for is not noticed (LG-34). Its frame cannot be sent again.
// - To switch off, the control plane waits until all is at rest (LG-36); the program does not.
// - The rate of the link is that of the normal queue. Dummies, retransmissions and control frames come on top (LG-4).

#ifndef LINKGUARDIAN_SENDER_P4
#define LINKGUARDIAN_SENDER_P4

#include "position.p4"

// LG-9: how many positions a notification marks, each in a register of its own.
const bit<8> HOLE_CAP = 5;
// Frames that a pause may hold back: fewer than the queue of their loop takes, for a gap in the line would stop it.
const bit<16> WAITING_MAX = 512;
// Later than any time of a switch.
const bit<48> NEVER = 0xFFFFFFFFFFFF;

// The position of the next data frame (LG-3), and that up to which all has arrived or is known to be lost (LG-8).
register<position_t>(1) sender_next;
register<position_t>(1) sender_leading_ack;
// Register i holds the i-th position of each hole.
register<mark_t>(MARKS) sender_hole_0;
register<mark_t>(MARKS) sender_hole_1;
register<mark_t>(MARKS) sender_hole_2;
register<mark_t>(MARKS) sender_hole_3;
register<mark_t>(MARKS) sender_hole_4;
// Lost positions beyond the cap, as far as a notification counts them.
register<bit<32>>(1) sender_beyond_cap;
// LG-18: whether a dummy goes round (bit 7), and how many are due (the rest).
register<bit<8>>(1) sender_dummies;
// When the pause ends, in microseconds of the switch (LG-25); and whether the control plane holds the link.
register<bit<48>>(1) sender_paused_until;
register<bit<1>>(1) sender_on_hold;
// The line of frames that a pause holds back: the ticket that the next one draws, and the ticket whose turn it is.
register<bit<32>>(1) sender_line;

// Events, by number.
const bit<32> SENDER_DATA = 0;
const bit<32> SENDER_DUMMIES = 1;
const bit<32> SENDER_RETRANSMITTED = 2;
const bit<32> SENDER_ACKS = 3;
const bit<32> SENDER_NOTIFICATIONS = 4;
const bit<32> SENDER_REPEATED = 5;
const bit<32> SENDER_OUT_OF_RANGE = 6;
const bit<32> SENDER_ABANDONED = 7;
const bit<32> SENDER_FROM_HOST = 8;
const bit<32> SENDER_TO_LINK = 9;
const bit<32> SENDER_HELD_BACK = 10;
const bit<32> SENDER_NO_ROOM = 11;
// Frames of the host that left for the link, numbered or not.
const bit<32> SENDER_SENT = 12;
const bit<32> SENDER_EVENTS = 13;
counter(SENDER_EVENTS, CounterType.packets) sender_events;

// Frames of the host, copies that come round, and word from the receiver.
control SenderIngress(inout headers_t headers,
                      inout metadata_t meta,
                      inout standard_metadata_t standard) {
    position_t next;
    position_t leading_ack;
    bool is_sent;
    bool is_new;
    bool is_marked;
    bool goes_on;
    bit<48> paused_until;
    bit<48> pause_us;

    // LG-8: forward only, and never past what was sent.
    action advance() {
        sender_next.read(next, 0);
        sender_leading_ack.read(leading_ack, 0);
        position_t before_next = next - meta.acknowledged;
        position_t after_leading = meta.acknowledged - leading_ack;
        is_sent = IS_AHEAD(before_next);
        is_new = IS_AHEAD(after_leading);
        if (is_sent && is_new) {
            sender_leading_ack.write(0, meta.acknowledged);
        }
    }

    // LG-10: marks a position that was sent and is not acknowledged yet. Its copy goes round, or was never kept.
#define MARK_HOLE(i)                                                                        \
    action mark_hole_##i() {                                                                \
        position_t lost = meta.first_lost + i;                                              \
        position_t after_leading = lost - leading_ack;                                      \
        position_t before_next = next - lost;                                               \
        if (IS_AHEAD(after_leading) && IS_AHEAD(before_next)) {                             \
            sender_hole_##i.write(PLACE_OF(lost), MARK_OF(lost));                           \
        }                                                                                   \
    }

    MARK_HOLE(0)
    MARK_HOLE(1)
    MARK_HOLE(2)
    MARK_HOLE(3)
    MARK_HOLE(4)

    action count_beyond_cap() {
        bit<32> sum;
        sender_beyond_cap.read(sum, 0);
        sender_beyond_cap.write(0, sum + (bit<32>)(headers.notification.hole_size - HOLE_CAP));
    }

    action read_leading_ack() {
        sender_leading_ack.read(leading_ack, 0);
    }

    // LG-6: test and clear in one step.
#define TAKE_MARK(i)                                                                        \
    action take_mark_##i() {                                                                \
        mark_t mark;                                                                        \
        sender_hole_##i.read(mark, PLACE_OF(meta.position));                                \
        if (mark == MARK_OF(meta.position)) {                                               \
            is_marked = true;                                                               \
            sender_hole_##i.write(PLACE_OF(meta.position), 0);                              \
        }                                                                                   \
    }

    TAKE_MARK(0)
    TAKE_MARK(1)
    TAKE_MARK(2)
    TAKE_MARK(3)
    TAKE_MARK(4)

    // How long 65535 quanta last; any other number of quanta but zero counts as that.
    action set_pause_length(bit<48> microseconds) {
        pause_us = microseconds;
    }

    table pause_length {
        actions = { set_pause_length; }
        default_action = set_pause_length(0);
    }

    action read_pause() {
        bit<1> on_hold;
        sender_paused_until.read(paused_until, 0);
        sender_on_hold.read(on_hold, 0);
        if (on_hold == 1) {
            paused_until = NEVER;
        }
    }

    // A frame that comes round goes on when the pause is over and its turn has come, so that order is kept. It passes
    // the queue, whose frames come later. The turn is the next one's when the frame is at the link, in egress.
    action look_at_line() {
        bit<32> line;
        sender_line.read(line, 0);
        goes_on = headers.waiting.ticket == line[15:0] && paused_until <= meta.left_loop_us;
    }

    action send_to_link() {
        standard.egress_spec = PORT_LINK;
        standard.priority = PRIORITY_NORMAL;
    }

    apply {
        if (headers.pfc.isValid()) {
            if (headers.pfc.class_enable & PFC_CLASS_1 != 0) {
                pause_length.apply();
                if (headers.pfc.quanta_1 == PFC_QUANTA_RESUME) {
                    sender_paused_until.write(0, 0);
                } else {
                    sender_paused_until.write(0, standard.ingress_global_timestamp + pause_us); // LG-25
                }
            }
            mark_to_drop(standard);
        } else if (headers.notification.isValid()) {
            advance();
            sender_events.count(SENDER_NOTIFICATIONS);
            if (!is_sent) {
                sender_events.count(SENDER_OUT_OF_RANGE);
            } else if (!is_new) {
                sender_events.count(SENDER_REPEATED); // LG-31, LG-46
            } else {
                mark_hole_0();
                if (headers.notification.hole_size > 1) { mark_hole_1(); }
                if (headers.notification.hole_size > 2) { mark_hole_2(); }
                if (headers.notification.hole_size > 3) { mark_hole_3(); }
                if (headers.notification.hole_size > 4) { mark_hole_4(); }
                if (headers.notification.hole_size > HOLE_CAP) { count_beyond_cap(); }
            }
            mark_to_drop(standard);
        } else if (headers.tx_tag.isValid()) {
            // A mark on a copy that is not acknowledged is a stale one, and is gone now (LG-10).
            is_marked = false;
            take_mark_0();
            take_mark_1();
            take_mark_2();
            take_mark_3();
            take_mark_4();
            read_leading_ack();
            position_t after_leading = meta.position - leading_ack;
            if (IS_AHEAD(after_leading)) {
                standard.egress_spec = PORT_TX_LOOP;
            } else if (is_marked) {
                sender_events.count(SENDER_RETRANSMITTED);
                standard.mcast_grp = GROUP_RETRANSMISSION; // LG-7: the group has N members
                standard.priority = PRIORITY_URGENT;
            } else {
                mark_to_drop(standard);
            }
        } else if (headers.waiting.isValid()) {
            read_pause();
            look_at_line();
            if (goes_on) {
                headers.ethernet.ethertype = headers.waiting_next.ethertype;
                headers.waiting.setInvalid();
                headers.waiting_next.setInvalid();
                meta.has_waited = 1;
                standard.egress_spec = PORT_LINK;
                standard.priority = PRIORITY_URGENT;
            } else {
                standard.egress_spec = PORT_WAITING_LOOP;
            }
        } else if (standard.ingress_port == PORT_HOST && standard.instance_type != INSTANCE_RECIRCULATED) {
            sender_events.count(SENDER_FROM_HOST);
            send_to_link();
        } else if (headers.ack.isValid()) {
            advance();
            sender_events.count(SENDER_ACKS);
            if (!is_sent) {
                sender_events.count(SENDER_OUT_OF_RANGE);
            }
        }
    }
}

// Frames that leave for the link, and copies on their way round.
control SenderEgress(inout headers_t headers,
                     inout metadata_t meta,
                     inout standard_metadata_t standard) {
    bit<1> protect;
    bit<1> blocking_mode;
    bit<7> dummies;
    bool is_due;
    bool goes_round;
    bool goes_on;
    bool has_room;
    bit<48> paused_until;
    bit<16> ticket;

    // LG-25: a pause stops the normal queue.
    action read_pause() {
        bit<1> on_hold;
        sender_paused_until.read(paused_until, 0);
        sender_on_hold.read(on_hold, 0);
        if (on_hold == 1) {
            paused_until = NEVER;
        }
    }

    // A frame from the queue goes on when nobody is before it, or joins the line.
    action join_line() {
        bit<32> line;
        sender_line.read(line, 0);
        bit<16> turn = line[15:0];
        ticket = line[31:16];
        has_room = ticket - turn < WAITING_MAX;
        goes_on = ticket == turn && paused_until <= standard.egress_global_timestamp;
        if (!goes_on && has_room) {
            sender_line.write(0, (ticket + 1) ++ turn);
        }
    }

    action leave_line() {
        bit<32> line;
        sender_line.read(line, 0);
        sender_line.write(0, line[31:16] ++ (line[15:0] + 1));
    }

    action hold_back() {
        headers.waiting.setValid();
        headers.waiting.ticket = ticket;
        headers.waiting_next.setValid();
        headers.waiting_next.ethertype = headers.ethernet.ethertype;
        headers.ethernet.ethertype = ETHERTYPE_WAITING;
        recirculate_preserving_field_list(FIELDS_RECIRCULATED);
    }

    action set_protection(bit<1> is_on, bit<1> in_order, bit<7> dummies_after_data) {
        protect = is_on;
        blocking_mode = in_order;
        dummies = dummies_after_data;
    }

    table protection {
        actions = { set_protection; }
        default_action = set_protection(0, 0, 0);
    }

    // LG-3: after the queue, so that a frame that the queue drops leaves no hole.
    action take_position() {
        sender_next.read(meta.position, 0);
        sender_next.write(0, meta.position + 1);
    }

    // LG-33: never more than a window without word from the receiver. The oldest position is let go.
    action bound_outstanding() {
        position_t leading_ack;
        sender_leading_ack.read(leading_ack, 0);
        position_t outstanding = meta.position - leading_ack - 1;
        is_due = outstanding == WINDOW;
        if (is_due) {
            sender_leading_ack.write(0, leading_ack + 1);
        }
    }

    action number() {
        headers.data.setValid();
        headers.data.kind = KIND_DATA;
        headers.data.pad = 0;
        headers.data.era = meta.position[16:16];
        headers.data.is_retransmission = 0;
        headers.data.is_dummy = 0;
        headers.data.blocking_mode = blocking_mode;
        headers.data.rx_buffered = 0;
        headers.data.sequence = meta.position[15:0];
        headers.data_next.setValid();
        headers.data_next.ethertype = headers.ethernet.ethertype; // WIRE-8
        headers.ethernet.ethertype = ETHERTYPE_LINKGUARDIAN;
    }

    // LG-4, LG-18: a dummy packet goes round while any is due. If none does, this frame's mirror begins one.
    action arm_dummies() {
        bit<8> state;
        sender_dummies.read(state, 0);
        goes_round = state[7:7] == 1;
        sender_dummies.write(0, 1w1 ++ dummies);
    }

    action take_dummy() {
        bit<8> state;
        sender_dummies.read(state, 0);
        is_due = state[6:0] != 0;
        goes_round = state[6:0] > 1;
        if (goes_round) {
            sender_dummies.write(0, state - 1);
        } else {
            sender_dummies.write(0, 0);
        }
    }

    // LG-12: a dummy carries the position that the next data frame will take.
    action make_dummy() {
        sender_next.read(meta.position, 0);
        headers.data.is_dummy = 1;
        headers.data.era = meta.position[16:16];
        headers.data.sequence = meta.position[15:0];
        headers.data_next.setInvalid();
        headers.ack.setInvalid();
        headers.ack_next.setInvalid();
        headers.padding.setValid();
        headers.padding.zeros = 0;
        truncate(MINIMUM_FRAME_BYTES);
    }

    // LG-5: the mirror of a frame becomes a copy that goes round.
    action make_copy() {
        headers.ack.setInvalid();
        headers.ack_next.setInvalid();
        headers.tx_tag.setValid();
        headers.tx_tag.kind = KIND_TX_TAG;
        headers.tx_tag.pad = 0;
        headers.tx_tag.egress_port = PORT_LINK;
    }

    apply {
        if (standard.egress_port == PORT_TX_LOOP) {
            if (standard.egress_rid == RID_COPY) {
                make_copy();
            }
            recirculate_preserving_field_list(FIELDS_RECIRCULATED);
        } else if (standard.egress_port == PORT_WAITING_LOOP) {
            meta.left_loop_us = standard.egress_global_timestamp;
            recirculate_preserving_field_list(FIELDS_RECIRCULATED);
        } else if (standard.egress_port == PORT_LINK) {
            if (meta.has_waited == 1) {
                leave_line();
            } else if (standard.egress_rid == RID_NONE) {
                read_pause();
                join_line();
                if (!goes_on && has_room) {
                    sender_events.count(SENDER_HELD_BACK);
                    hold_back();
                } else if (!goes_on) {
                    sender_events.count(SENDER_NO_ROOM);
                    mark_to_drop(standard);
                }
                meta.stays = goes_on ? 1w0 : 1w1;
            }
            if (meta.stays == 1) {
                // It does not leave.
            } else if (standard.egress_rid == RID_NONE) {
                sender_events.count(SENDER_SENT);
                protection.apply();
                if (protect == 1) {
                    take_position();
                    bound_outstanding();
                    if (is_due) {
                        sender_events.count(SENDER_ABANDONED);
                    }
                    number();
                    sender_events.count(SENDER_DATA);
                    goes_round = true;
                    if (dummies != 0) {
                        arm_dummies();
                    }
                    if (goes_round) {
                        clone(CloneType.E2E, SESSION_COPY);
                    } else {
                        clone(CloneType.E2E, SESSION_COPY_AND_DUMMY);
                    }
                }
            } else if (standard.egress_rid == RID_RETRANSMISSION) {
                headers.tx_tag.setInvalid();
                headers.data.is_retransmission = 1; // LG-7
            } else if (standard.egress_rid == RID_DUMMY) {
                take_dummy();
                if (is_due) {
                    make_dummy();
                    sender_events.count(SENDER_DUMMIES);
                } else {
                    meta.stays = 1;
                    mark_to_drop(standard);
                }
                if (goes_round) {
                    clone(CloneType.E2E, SESSION_DUMMY);
                }
            }
        }
    }
}

#endif
