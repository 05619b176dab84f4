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

#include "headers.p4"

const bit<8> PAUSE_NOTHING = 0;
const bit<8> PAUSE_STOP = 1;
const bit<8> PAUSE_RESUME = 2;

// LG-15: how often one state of the acknowledgement register is sent.
const bit<32> SENDS_PER_UPDATE = 2;
// LG-13: the size of a hole has eight bits.
const bit<8> LARGEST_HOLE = 255;

// What an ingress mirror tells egress: the position up to which all is known, and a hole in front of it, if any.
header report_t {
    bit<8> origin;
    word_t leading;
    word_t first_lost;
    word_t lost;
}

// In front of the data header of a frame in the receiver's loop, in place of the Rx tag behind it: so egress need not
// read the data header. The cells in the queue of the loop when this frame left it.
header held_t {
    bit<8> ingress_port;
    bit<5> pad;
    bit<19> cells;
}

struct receiver_headers_t {
    origin_t origin;
    report_t report;
    pktgen_timer_header_t timer;
    ethernet_t ethernet;
    ack_t ack;
    next_t ack_next;
    notification_t notification;
    held_t held;
    data_t data;
    next_t data_next;
    pfc_t pfc;
}

struct receiver_ingress_t {
    bit<20> draw;
    bit<1> is_lost;
    word_t position;
    // The expected position before and after this frame, and how far the frame lies ahead of the former.
    word_t expected;
    word_t next;
    word_t lost;
    word_t leading;
    // What the turn is compared with; then the turn, and how far the frame lies ahead of it.
    word_t candidate;
    word_t turn;
    word_t ahead;
    bit<32> reload;
    bit<32> pause_cells;
    bit<32> resume_cells;
    bit<32> cells;
    bit<32> above_pause;
    bit<32> below_resume;
    bit<8> pause_request;
    bit<8> origin;
    MirrorId_t session;
}

struct receiver_egress_t {
    word_t leading;
    word_t acknowledged;
    bit<8> origin;
    MirrorId_t session;
}

// LG-20, LG-21: the position whose turn it is, and timer packets until it is given up.
struct order_t {
    word_t turn;
    bit<32> ticks;
}

// LG-23, LG-24: what the sender was told last (1: to pause), and the request that waits for a timer packet.
struct pausing_t {
    bit<8> told;
    bit<8> request;
}

// LG-15: the position, occupied (see headers.p4), and how often it is to be sent.
struct acknowledgement_t {
    word_t leading;
    bit<32> sends;
}

parser ReceiverIngressParser(packet_in packet,
                             out receiver_headers_t headers,
                             out receiver_ingress_t meta,
                             out ingress_intrinsic_metadata_t intrinsic) {
    state start {
        packet.extract(intrinsic);
        packet.advance(PORT_METADATA_SIZE);
        transition select(intrinsic.ingress_port) {
            PORT_GENERATOR: timer;
            default: ethernet;
        }
    }

    state timer {
        packet.extract(headers.timer);
        packet.extract(headers.ethernet);
        packet.extract(headers.pfc);
        transition accept;
    }

    state ethernet {
        packet.extract(headers.ethernet);
        transition select(intrinsic.ingress_port, headers.ethernet.ethertype) {
            (PORT_LINK, ETHERTYPE_LINKGUARDIAN): wire;
            (PORT_RX_LOOP, _): held;
            // What a host sends is content, whatever its EtherType.
            default: accept;
        }
    }

    // Anything else is not for this role (WIRE-3): no match, and so dropped.
    state wire {
        transition select(packet.lookahead<bit<2>>()) {
            KIND_DATA: data;
        }
    }

    state held {
        packet.extract(headers.held);
        transition data;
    }

    state data {
        packet.extract(headers.data);
        transition select(intrinsic.ingress_port, headers.data.is_dummy, headers.data.rx_buffered) {
            (PORT_RX_LOOP, _, _): data_next;
            (_, 1, 0): accept;
            (_, 0, 0): data_next;
        }
    }

    state data_next {
        packet.extract(headers.data_next);
        transition accept;
    }
}

// Numbered frames from the link, frames that come round, and timer packets.
control ReceiverIngress(inout receiver_headers_t headers,
                        inout receiver_ingress_t meta,
                        in ingress_intrinsic_metadata_t intrinsic,
                        in ingress_intrinsic_metadata_from_parser_t from_parser,
                        inout ingress_intrinsic_metadata_for_deparser_t for_deparser,
                        inout ingress_intrinsic_metadata_for_tm_t for_tm) {
    Random<bit<20>>() uniform;

    // The position that the next new frame should carry (LG-11).
    Register<word_t, bit<1>>(1, 0) expected;
    Register<order_t, bit<1>>(1, { 0, 0 }) order;
    Register<pausing_t, bit<1>>(1, { 0, 0 }) pausing;

    DirectCounter<bit<32>>(CounterType_t.PACKETS) corruption_events;
    DirectCounter<bit<32>>(CounterType_t.PACKETS) detection_events;
    DirectCounter<bit<32>>(CounterType_t.PACKETS) order_events;

    RegisterAction<word_t, bit<1>, word_t>(expected) move_expected = {
        void apply(inout word_t value, out word_t before) {
            before = value;
            value = meta.next;
        }
    };

    RegisterAction<word_t, bit<1>, word_t>(expected) look_at_expected = {
        void apply(inout word_t value, out word_t before) {
            before = value;
        }
    };

    // LG-20. A step past number 65535 turns the era by itself (LG-22).
    RegisterAction<order_t, bit<1>, word_t>(order) take_turn = {
        void apply(inout order_t value, out word_t turn) {
            turn = value.turn;
            if (value.turn == meta.candidate) {
                value.turn = value.turn + STEP;
                value.ticks = meta.reload;
            }
        }
    };

    // LG-27: nothing waits out of order. The turn follows, so that a change of mode finds it right.
    RegisterAction<order_t, bit<1>, word_t>(order) follow = {
        void apply(inout order_t value) {
            value.turn = meta.candidate;
            value.ticks = meta.reload;
        }
    };

    // LG-21: a timer packet counts down while something is missing; the one that finds zero gives it up.
    RegisterAction<order_t, bit<1>, word_t>(order) count_down = {
        void apply(inout order_t value) {
            if (value.turn == meta.candidate) {
                value.ticks = meta.reload;
            } else if (value.ticks == 0) {
                value.turn = value.turn + STEP;
                value.ticks = meta.reload;
            } else {
                value.ticks = value.ticks - 1;
            }
        }
    };

    // LG-24: a request that says nothing new is not made.
    RegisterAction<pausing_t, bit<1>, bit<8>>(pausing) ask_to_pause = {
        void apply(inout pausing_t value) {
            if (value.told == 0) {
                value.told = 1;
                value.request = PAUSE_STOP;
            }
        }
    };

    RegisterAction<pausing_t, bit<1>, bit<8>>(pausing) ask_to_resume = {
        void apply(inout pausing_t value) {
            if (value.told == 1) {
                value.told = 0;
                value.request = PAUSE_RESUME;
            }
        }
    };

    RegisterAction<pausing_t, bit<1>, bit<8>>(pausing) take_request = {
        void apply(inout pausing_t value, out bit<8> request) {
            request = value.request;
            value.request = PAUSE_NOTHING;
        }
    };

    // The published reload value of 100G is 70 timer packets, its thresholds are 500 and 460 cells (LG-21, LG-23).
    action set_reception(bit<32> timer_reload, bit<32> pause_at_cells, bit<32> resume_at_cells) {
        meta.reload = timer_reload;
        meta.pause_cells = pause_at_cells;
        meta.resume_cells = resume_at_cells;
    }

    table reception {
        actions = { set_reception; }
        default_action = set_reception(70, 500, 460);
        size = 1;
    }

    action draw_number() {
        meta.draw = uniform.get();
    }

    action lose() {
        corruption_events.count();
        meta.is_lost = 1;
    }

    action keep() {
        corruption_events.count();
    }

    // The link corrupts here, as on the published switch: the control plane gives away those of 2^20 numbers that lie
    // below a threshold, as one line for each set bit of the threshold. 1e-3 is 1048 = 1024 + 16 + 8.
    table corruption {
        key = { meta.draw: ternary; }
        actions = { lose; keep; }
        default_action = keep();
        counters = corruption_events;
        size = 20;
    }

    // A hash that changes nothing: an action moves nothing between containers of two sizes.
    Hash<word_t>(HashAlgorithm_t.IDENTITY) word_of_position;
    Hash<bit<32>>(HashAlgorithm_t.IDENTITY) word_of_depth;

    action read_position() {
        meta.position = word_of_position.get({ headers.data.era, headers.data.sequence, 15w0 });
    }

    // LG-11, LG-12: a dummy carries the position that comes next, and takes none.
    action look_beyond_data() {
        meta.next = meta.position + STEP;
        meta.leading = meta.position + OCCUPIED;
    }

    action look_beyond_dummy() {
        meta.next = meta.position;
        meta.leading = meta.position - (STEP - OCCUPIED);
    }

    action detect() {
        meta.expected = move_expected.execute(0);
    }

    action read_expected() {
        meta.expected = look_at_expected.execute(0);
    }

    // One table for each register, so that all that touches it lies in one stage. LG-14: a retransmission says
    // nothing about the link, nor does a frame that comes round.
    table expectation {
        key = {
            headers.timer.isValid(): ternary;
            headers.data.is_retransmission: ternary;
            headers.data.rx_buffered: ternary;
        }
        actions = { read_expected; detect; NoAction; }
        const default_action = NoAction();
        const entries = {
            (true, _, _): read_expected();
            (false, 0, 0): detect();
        }
        size = 2;
    }

    action find_lost() {
        meta.lost = meta.position - meta.expected;
    }

    action nothing_to_report() {
        detection_events.count();
    }

    action report(bit<8> origin, MirrorId_t session) {
        detection_events.count();
        for_deparser.mirror_type = MIRROR;
        meta.origin = origin;
        meta.session = session;
    }

    // LG-13: a loss is notified at once; LG-15: a frame in sequence updates the acknowledgement, a dummy does not.
    table detection {
        key = {
            headers.data.is_dummy: ternary;
            meta.lost: ternary;
        }
        actions = { nothing_to_report; report; }
        const entries = {
            (_, 0x80000000 &&& 0x80000000): nothing_to_report(); // LG-32
            (0, 0): report(ORIGIN_UPDATE, SESSION_SHORT_UPDATE);
            (1, 0): nothing_to_report();
            (_, _): report(ORIGIN_NOTIFICATION, SESSION_SHORT_NOTIFICATION);
        }
        counters = detection_events;
        size = 4;
    }

    action compare_expected() {
        meta.candidate = meta.expected;
    }

    action compare_own_position() {
        meta.candidate = meta.position;
    }

    action compare_next_position() {
        meta.candidate = meta.next;
    }

    action order_in_turn() {
        meta.turn = take_turn.execute(0);
    }

    action order_at_once() {
        follow.execute(0);
    }

    action count_time() {
        count_down.execute(0);
    }

    table turn {
        key = {
            headers.timer.isValid(): ternary;
            headers.data.blocking_mode: ternary;
            headers.data.is_dummy: ternary;
            headers.data.is_retransmission: ternary;
        }
        actions = { count_time; order_in_turn; order_at_once; NoAction; }
        const default_action = NoAction();
        const entries = {
            (true, _, _, _): count_time();
            (false, 1, 0, _): order_in_turn();
            (false, 0, _, 0): order_at_once();
        }
        size = 3;
    }

    action find_ahead() {
        meta.ahead = meta.position - meta.turn;
    }

    action forward() {
        order_events.count();
        headers.ethernet.ethertype = headers.data_next.ethertype;
        headers.data.setInvalid();
        headers.held.setInvalid();
        headers.data_next.setInvalid();
        for_tm.ucast_egress_port = PORT_HOST;
        for_tm.qid = QUEUE_URGENT;
        for_tm.bypass_egress = 1;
    }

    action hold() {
        order_events.count();
        headers.data.rx_buffered = 1;
        headers.held.setValid();
        headers.held.ingress_port = (bit<8>)PORT_LINK;
        headers.origin.setValid();
        headers.origin.origin = ORIGIN_HELD;
        for_tm.ucast_egress_port = PORT_RX_LOOP;
        for_tm.qid = QUEUE_URGENT;
    }

    action drop() {
        order_events.count();
        for_deparser.drop_ctl = DROP;
    }

    // LG-20: forward the one whose turn it is, hold later ones, drop earlier ones. LG-27: or forward all at once.
    table verdict {
        key = {
            headers.data.is_dummy: ternary;
            headers.data.blocking_mode: ternary;
            meta.ahead: ternary;
        }
        actions = { forward; hold; drop; }
        const entries = {
            (1, _, _): drop();
            (0, 0, _): forward();
            (0, 1, 0): forward();
            (0, 1, 0x80000000 &&& 0x80000000): drop();
            (0, 1, _): hold();
        }
        counters = order_events;
        size = 5;
    }

    action read_depth() {
        meta.cells = word_of_depth.get({ 13w0, headers.held.cells });
    }

    // LG-23: looked at when a frame has left the loop. The uppermost bit says on which side of a threshold it is.
    action compare_depth() {
        meta.above_pause = meta.cells - meta.pause_cells;
        meta.below_resume = meta.resume_cells - meta.cells;
    }

    action begin_pause() {
        ask_to_pause.execute(0);
    }

    action end_pause() {
        ask_to_resume.execute(0);
    }

    action take_pause_request() {
        meta.pause_request = take_request.execute(0);
    }

    table pause {
        key = {
            headers.timer.isValid(): ternary;
            headers.data.rx_buffered: ternary;
            meta.above_pause[31:31]: ternary @name("above_pause");
            meta.below_resume[31:31]: ternary @name("below_resume");
        }
        actions = { take_pause_request; begin_pause; end_pause; NoAction; }
        const default_action = NoAction();
        const entries = {
            (true, _, _, _): take_pause_request();
            (false, 1, 0, _): begin_pause();
            (false, 1, 1, 0): end_pause();
        }
        size = 3;
    }

    // LG-25: 65535 quanta, or none. LG-46: the group has as many members as there are to be copies.
    action send_pause(bit<16> quanta) {
        headers.pfc.quanta_1 = quanta;
        for_tm.mcast_grp_a = GROUP_PAUSE;
        for_tm.qid = QUEUE_URGENT;
        for_tm.bypass_egress = 1;
    }

    action discard() {
        for_deparser.drop_ctl = DROP;
    }

    action to_host() {
        for_tm.ucast_egress_port = PORT_HOST;
        for_tm.qid = QUEUE_URGENT;
        for_tm.bypass_egress = 1;
    }

    action to_link(bit<8> origin, QueueId_t queue) {
        headers.origin.setValid();
        headers.origin.origin = origin;
        for_tm.ucast_egress_port = PORT_LINK;
        for_tm.qid = queue;
    }

    apply {
        reception.apply();
        draw_number();
        if (intrinsic.ingress_port == PORT_LINK) {
            corruption.apply();
        }
        if (meta.is_lost == 1) {
            discard();
        } else if (headers.timer.isValid() || headers.data.isValid()) {
            read_position();
            if (headers.data.is_dummy == 1) {
                look_beyond_dummy();
            } else {
                look_beyond_data();
            }
            expectation.apply();
            if (headers.timer.isValid()) {
                compare_expected();
            } else if (headers.data.blocking_mode == 1) {
                compare_own_position();
            } else {
                compare_next_position();
            }
            turn.apply();
            read_depth();
            compare_depth();
            pause.apply();
            if (headers.timer.isValid()) {
                if (meta.pause_request == PAUSE_STOP) {
                    send_pause(PFC_QUANTA_PAUSE);
                } else if (meta.pause_request == PAUSE_RESUME) {
                    send_pause(PFC_QUANTA_RESUME);
                } else {
                    discard();
                }
            } else {
                if (headers.data.is_retransmission == 0 && headers.data.rx_buffered == 0) {
                    find_lost();
                    detection.apply();
                }
                find_ahead();
                verdict.apply();
            }
        } else if (intrinsic.ingress_port == PORT_LINK) {
            to_host();
        } else if (intrinsic.ingress_port == PORT_HOST) {
            to_link(ORIGIN_FRAME, QUEUE_NORMAL);
        } else if (intrinsic.ingress_port == PORT_PROCESSOR) {
            to_link(ORIGIN_ACK, QUEUE_LOWEST);
        } else {
            discard();
        }
    }
}

// The mirror takes the frame as it arrived, and what ingress found out in front of it.
control ReceiverIngressDeparser(packet_out packet,
                                inout receiver_headers_t headers,
                                in receiver_ingress_t meta,
                                in ingress_intrinsic_metadata_for_deparser_t for_deparser) {
    // Not Mirror(MIRROR): with that form this compiler (p4c 34b86e9b) trips over a mirror of its own in ingress.
    Mirror() mirror;

    apply {
        if (for_deparser.mirror_type == MIRROR) {
            mirror.emit<report_t>(meta.session, { meta.origin, meta.leading, meta.expected, meta.lost });
        }
        packet.emit(headers.origin);
        packet.emit(headers.ethernet);
        packet.emit(headers.held);
        packet.emit(headers.data);
        packet.emit(headers.data_next);
        packet.emit(headers.pfc);
    }
}

parser ReceiverEgressParser(packet_in packet,
                            out receiver_headers_t headers,
                            out receiver_egress_t meta,
                            out egress_intrinsic_metadata_t intrinsic) {
    state start {
        packet.extract(intrinsic);
        transition select(packet.lookahead<bit<8>>()) {
            ORIGIN_UPDATE: report;
            ORIGIN_NOTIFICATION: report;
            ORIGIN_HELD: held;
            ORIGIN_ACK: acknowledgement;
            default: frame;
        }
    }

    state report {
        packet.extract(headers.report);
        packet.extract(headers.ethernet);
        // The data header and the EtherType behind it, or two octets of a dummy's padding.
        packet.advance(40);
        transition accept;
    }

    state held {
        packet.extract(headers.origin);
        packet.extract(headers.ethernet);
        packet.extract(headers.held);
        transition accept;
    }

    state acknowledgement {
        packet.extract(headers.origin);
        packet.extract(headers.ethernet);
        packet.extract(headers.ack);
        transition accept;
    }

    state frame {
        packet.extract(headers.origin);
        packet.extract(headers.ethernet);
        transition accept;
    }
}

// Word for the sender, frames of the host, and the depth of the loop.
control ReceiverEgress(inout receiver_headers_t headers,
                       inout receiver_egress_t meta,
                       in egress_intrinsic_metadata_t intrinsic,
                       in egress_intrinsic_metadata_from_parser_t from_parser,
                       inout egress_intrinsic_metadata_for_deparser_t for_deparser,
                       inout egress_intrinsic_metadata_for_output_port_t for_port) {
    Register<acknowledgement_t, bit<1>>(1, { 0, 0 }) acknowledgement;

    RegisterAction<acknowledgement_t, bit<1>, word_t>(acknowledgement) update = {
        void apply(inout acknowledgement_t value) {
            value.leading = meta.leading;
            value.sends = SENDS_PER_UPDATE;
        }
    };

    // LG-16: an acknowledgement sent after the notification could free the very copies that it asks for.
    RegisterAction<acknowledgement_t, bit<1>, word_t>(acknowledgement) replace = {
        void apply(inout acknowledgement_t value) {
            value.leading = meta.leading;
            value.sends = 0;
        }
    };

    // Zero when nothing is due: a position in the register is never zero, because it is marked occupied.
    RegisterAction<acknowledgement_t, bit<1>, word_t>(acknowledgement) take = {
        void apply(inout acknowledgement_t value, out word_t acknowledged) {
            acknowledged = 0;
            if (value.sends > 0) {
                acknowledged = value.leading;
                value.sends = value.sends - 1;
            }
        }
    };

    Hash<bit<16>>(HashAlgorithm_t.IDENTITY) number_of_acknowledged;
    Hash<bit<16>>(HashAlgorithm_t.IDENTITY) number_of_leading;
    Hash<bit<16>>(HashAlgorithm_t.IDENTITY) number_of_first_lost;
    Hash<bit<8>>(HashAlgorithm_t.IDENTITY) size_of_hole;

    action read_report() {
        meta.leading = headers.report.leading;
    }

    action update_acknowledgement() {
        update.execute(0);
    }

    action replace_acknowledgement() {
        replace.execute(0);
    }

    action take_acknowledgement() {
        meta.acknowledged = take.execute(0);
    }

    action write_ack(bit<1> is_piggybacked, bit<1> era) {
        headers.ack.setValid();
        headers.ack.kind = KIND_ACK;
        headers.ack.is_piggybacked = is_piggybacked;
        headers.ack.era = era;
        headers.ack.pad = 0;
        headers.ack.leading_ack = number_of_acknowledged.get({ meta.acknowledged[30:15] });
    }

    table acknowledge {
        key = {
            headers.origin.origin: exact;
            meta.acknowledged[31:31]: exact @name("era");
        }
        actions = { write_ack; @defaultonly NoAction; }
        const default_action = NoAction();
        const entries = {
            (ORIGIN_ACK, 0): write_ack(0, 0);
            (ORIGIN_ACK, 1): write_ack(0, 1);
            (ORIGIN_FRAME, 0): write_ack(1, 0);
            (ORIGIN_FRAME, 1): write_ack(1, 1);
        }
        size = 4;
    }

    // WIRE-8
    action ride() {
        headers.ack_next.setValid();
        headers.ack_next.ethertype = headers.ethernet.ethertype;
        headers.ethernet.ethertype = ETHERTYPE_LINKGUARDIAN;
    }

    action begin_notification(bit<1> era) {
        headers.notification.setValid();
        headers.notification.kind = KIND_NOTIFICATION;
        headers.notification.is_piggybacked = 0;
        headers.notification.era = era;
        headers.notification.pad = 0;
        mac_t destination = headers.ethernet.destination;
        headers.ethernet.destination = headers.ethernet.source;
        headers.ethernet.source = destination;
    }

    action write_leading() {
        headers.notification.leading_ack = number_of_leading.get({ headers.report.leading[30:15] });
    }

    // Apart, because no more than 32 bits of one table come from hashes.
    action write_hole() {
        headers.notification.first_lost = number_of_first_lost.get({ headers.report.first_lost[30:15] });
        headers.notification.hole_size = size_of_hole.get({ headers.report.lost[22:15] });
    }

    action saturate() {
        headers.notification.hole_size = LARGEST_HOLE;
    }

    // LG-17: round again, whether one is due or not.
    action mirror_ack() {
        for_deparser.mirror_type = MIRROR;
        meta.session = SESSION_ACK_AGAIN;
        meta.origin = ORIGIN_ACK;
    }

    action note_depth() {
        headers.held.pad = 0;
        headers.held.cells = intrinsic.deq_qdepth;
    }

    action drop() {
        for_deparser.drop_ctl = DROP;
    }

    apply {
        if (headers.report.isValid()) {
            read_report();
            if (headers.report.origin == ORIGIN_UPDATE) {
                update_acknowledgement();
                drop();
            } else {
                replace_acknowledgement();
                if (headers.report.leading[31:31] == 0) {
                    begin_notification(0);
                } else {
                    begin_notification(1);
                }
                write_leading();
                write_hole();
                if (headers.report.lost[31:23] != 0) {
                    saturate();
                }
            }
        } else if (headers.origin.origin == ORIGIN_HELD) {
            note_depth();
        } else if (headers.origin.origin == ORIGIN_ACK || headers.ethernet.ethertype != ETHERTYPE_LINKGUARDIAN) {
            // A frame of the host whose EtherType is ours already would be taken for a numbered one, and gets none.
            take_acknowledgement();
            if (meta.acknowledged != 0) {
                acknowledge.apply();
                if (headers.origin.origin == ORIGIN_FRAME) {
                    ride();
                }
            }
            if (headers.origin.origin == ORIGIN_ACK) {
                mirror_ack();
                if (meta.acknowledged == 0) {
                    drop();
                }
            }
        }
    }
}

control ReceiverEgressDeparser(packet_out packet,
                               inout receiver_headers_t headers,
                               in receiver_egress_t meta,
                               in egress_intrinsic_metadata_for_deparser_t for_deparser) {
    Mirror(MIRROR) mirror;

    apply {
        if (for_deparser.mirror_type == MIRROR) {
            mirror.emit<origin_t>(meta.session, { meta.origin });
        }
        packet.emit(headers.ethernet);
        packet.emit(headers.ack);
        packet.emit(headers.ack_next);
        packet.emit(headers.notification);
        packet.emit(headers.held);
    }
}

Pipeline(
    ReceiverIngressParser(),
    ReceiverIngress(),
    ReceiverIngressDeparser(),
    ReceiverEgressParser(),
    ReceiverEgress(),
    ReceiverEgressDeparser()
) receiver;

Switch(receiver) main;
