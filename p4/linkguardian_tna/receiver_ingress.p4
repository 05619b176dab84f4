// compiles, never run: numbered frames, frames that come round and time, at the receiver for Tofino.

#ifndef LINKGUARDIAN_TNA_RECEIVER_INGRESS_P4
#define LINKGUARDIAN_TNA_RECEIVER_INGRESS_P4

#include "receiver_headers.p4"

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
            // Frames of a host are content, whatever their EtherType.
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

#endif
