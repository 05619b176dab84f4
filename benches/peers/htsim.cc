// csg-htsim on the works that lossylink is compared with, written against its public classes.
//
//   htsim stress PACKETS     full packets at line rate over one link of 100 Gb/s
//   htsim tcp SECONDS FLOWS  long flows of NewReno, 10 Gb/s, a round trip of 50 us, an acknowledgement a packet
//   htsim fct FLOWS          DCTCP flows of 17 packets one after another, over six links of 100 Gb/s
//   htsim writes COUNT       RoCE writes of 24 packets one after another, over six links of 100 Gb/s
//   htsim workload FLOWS     DCTCP flows of a web search cluster, over six links of 100 Gb/s at half load
//
// A link is a queue and a pipe each way. One data packet in a thousand is lost on the middle one. What csg-htsim prints as it
// runs is switched off, which only makes it faster.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "config.h"
#include "dctcp.h"
#include "ecnqueue.h"
#include "eventlist.h"
#include "exoqueue.h"
#include "network.h"
#include "pipe.h"
#include "queue.h"
#include "roce.h"
#include "tcp.h"
#include "tcppacket.h"
#include "usage.h"

namespace {

const double LOSS = 1e-3, FABRIC_RATE = 100e9;
const int FABRIC_HOPS = 6;
const mem_b MARKED_FROM = 100000;

simtime_picosec ps(double seconds) { return simtime_picosec(seconds * 1e12 + 0.5); }

EventList *events;

/// Runs until nothing is left, or `done` says so.
template <class Done> void run(Done done) {
    while (!done() && EventList::doNextEvent()) {
    }
}

/// Links in a row, each a queue and a pipe; the loss lies on the middle one, in the forward direction.
struct Chain {
    std::vector<PacketSink *> out, back;

    Chain(int hops, double rate, double oneway, mem_b room, mem_b mark) {
        for (int hop = 0; hop < hops; ++hop) {
            for (int way = 0; way < 2; ++way) {
                Queue *queue = mark > 0 && way == 0 ? new ECNQueue(linkspeed_bps(rate), room, *events, nullptr, mark)
                                                    : new Queue(linkspeed_bps(rate), room, *events, nullptr);
                auto &route = way == 0 ? out : back;
                route.push_back(queue);
                route.push_back(new Pipe(ps(oneway / hops), *events));
                if (way == 0 && hop == hops / 2) route.push_back(new ExoQueue(LOSS));
            }
        }
    }

    Route *route(const std::vector<PacketSink *> &through, PacketSink *end) const {
        Route *route = new Route();
        for (PacketSink *sink : through) route->push_back(sink);
        route->push_back(end);
        return route;
    }
};

/// Counts and frees.
struct Counter : PacketSink {
    uint64_t received = 0;
    std::string name = "counter";
    void receivePacket(Packet &packet) override {
        ++received;
        packet.free();
    }
    const std::string &nodename() override { return name; }
};

/// Full packets at line rate.
struct Generator : EventSource {
    PacketFlow flow{nullptr};
    const Route *route = nullptr;
    uint64_t left;
    uint64_t sent = 0;
    int octets;
    simtime_picosec gap;

    Generator(uint64_t n, int octets, simtime_picosec gap)
        : EventSource(*events, "generator"), left(n), octets(octets), gap(gap) {}

    void doNextEvent() override {
        TcpPacket::newpkt(flow, *route, sent * octets + 1, octets)->sendOn();
        ++sent;
        if (--left > 0) eventlist().sourceIsPendingRel(*this, gap);
    }
};

/// A TCP flow that carries whole packets, and can start again.
struct Flow : DCTCPSrc {
    std::function<void(Flow &)> ended;
    uint64_t packets = 0;
    simtime_picosec begun = 0;
    bool active = false;
    bool dctcp;
    TcpSink sink;

    explicit Flow(bool dctcp) : DCTCPSrc(nullptr, nullptr, *events), dctcp(dctcp) {}

    void wire(const Chain &chain) {
        connect(*chain.route(chain.out, &sink), *chain.route(chain.back, this), sink, TcpSrc::eventlist().now());
        events->cancelPendingSource(*this);
    }

    /// `count` packets, or without end for 0.
    void begin(uint64_t count) {
        packets = count;
        _flow_size = count ? count * _mss - 1 : uint64_t(1) << 62;
        _highest_sent = _last_acked = 0;
        _cwnd = 10 * _mss;
        _ssthresh = 0xffffffff;
        _dupacks = 0;
        _rtt = _mdev = 0;
        _rto = timeFromMs(3000);
        _recoverq = 0;
        _in_fast_recovery = _established = _rtx_timeout_pending = false;
        _RFC2988_RTO_timeout = 0;
        sink._cumulative_ack = 0;
        sink._received.clear();
        active = true;
        begun = TcpSrc::eventlist().now();
        startflow();
    }

    void receivePacket(Packet &packet) override {
        if (!active) {
            packet.free();
            return;
        }
        if (dctcp)
            DCTCPSrc::receivePacket(packet);
        else
            TcpSrc::receivePacket(packet);
        if (packets && _last_acked >= _flow_size) {
            active = false;
            _RFC2988_RTO_timeout = 0;
            if (ended) ended(*this);
        }
    }

    void rtx_timer_hook(simtime_picosec now, simtime_picosec period) override {
        if (active) TcpSrc::rtx_timer_hook(now, period);
    }
};

/// Calls a function at a time.
struct Call : EventSource {
    std::function<void()> function;
    Call() : EventSource(*events, "call") {}
    void doNextEvent() override { function(); }
};

/// Data packets, those that were sent again included.
uint64_t packets_sent(const std::vector<std::unique_ptr<Flow>> &flows) {
    uint64_t sent = 0;
    for (auto &flow : flows) sent += flow->_packets_sent / flow->_mss;
    return sent;
}

void stress(uint64_t packets) {
    Chain chain(1, FABRIC_RATE, 100e-9, memFromPkt(1000), 0);
    Counter counter;
    Generator generator(packets, 1538, 123040);
    generator.route = chain.route(chain.out, &counter);
    events->sourceIsPendingRel(generator, 0);
    double before = processor_seconds();
    run([] { return false; });
    report(double(packets), processor_seconds() - before, "lost_share", 1 - double(counter.received) / packets);
}

void tcp(double seconds, int flows) {
    Chain chain(1, 10e9, 25e-6, 560000, 0);
    TcpRtxTimerScanner scanner(timeFromMs(10), *events);
    std::vector<std::unique_ptr<Flow>> all;
    for (int i = 0; i < flows; ++i) {
        all.emplace_back(new Flow(false));
        all.back()->wire(chain);
        scanner.registerTcp(*all.back());
        all.back()->begin(0);
    }
    simtime_picosec end = ps(seconds);
    double before = processor_seconds();
    run([&] { return EventList::now() >= end; });
    double took = processor_seconds() - before;
    uint64_t acknowledged = 0;
    for (auto &flow : all) acknowledged += flow->_last_acked;
    report(double(packets_sent(all)), took, "gbps", acknowledged * 8 / seconds / 1e9);
}

double median(std::vector<double> &values) {
    std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
    return values[values.size() / 2];
}

void fct(uint64_t flows) {
    uint64_t done = 0;
    Chain chain(FABRIC_HOPS, FABRIC_RATE, 14.9e-6, 10000000, MARKED_FROM);
    TcpRtxTimerScanner scanner(timeFromMs(10), *events);
    Flow flow(true);
    flow.wire(chain);
    scanner.registerTcp(flow);
    Call next;
    std::vector<double> us;
    next.function = [&] { flow.begin(17); };
    flow.ended = [&](Flow &one) {
        us.push_back((EventList::now() - one.begun) / 1e6);
        if (++done < flows) events->sourceIsPendingRel(next, ps(100e-6));
    };
    double before = processor_seconds();
    events->sourceIsPendingRel(next, 0);
    run([&] { return done == flows; });
    report(double(flows), processor_seconds() - before, "median_us", median(us));
}

/// A RoCE flow that can start again.
struct Write : RoceSrc {
    std::function<void()> ended;
    RoceSink sink;
    uint64_t bytes = 0;
    bool active = false;

    explicit Write(linkspeed_bps rate) : RoceSrc(nullptr, nullptr, *events, rate) {}

    void wire(const Chain &chain) {
        connect(chain.route(chain.out, &sink), chain.route(chain.back, this), sink, TRIGGER_START);
        sink.set_src(UINT32_MAX);
    }

    void begin(uint64_t size) {
        bytes = size;
        set_flowsize(size);
        sink._cumulative_ack = 0;
        active = true;
        startflow();
    }

    void processAck(const RoceAck &ack) override {
        RoceSrc::processAck(ack);
        if (active && ack.ackno() >= bytes) {
            active = false;
            if (ended) ended();
        }
    }
};

void writes(uint64_t count) {
    Chain chain(FABRIC_HOPS, FABRIC_RATE, 7.656e-6, 100000000, 0);
    Write write{linkspeed_bps(FABRIC_RATE)};
    write.wire(chain);
    uint64_t bytes = 24 * Packet::data_packet_size(), hung = 0;
    double before = processor_seconds();
    // The network falls silent between two writes. One whose last packet was lost never ends: no timer is armed.
    for (uint64_t i = 0; i < count; ++i) {
        write.begin(bytes);
        run([] { return false; });
        hung += write.active;
        write.active = false;
    }
    report(double(count), processor_seconds() - before, "hung_share", double(hung) / count);
}

/// Flow sizes of a web search cluster (Alizadeh et al. 2010, figure 4): bytes and the share of flows no longer.
const double WEB_SEARCH[][2] = {{1, 0},       {10e3, .15}, {20e3, .20}, {30e3, .30}, {50e3, .40},  {80e3, .53},
                                {200e3, .60}, {1e6, .70},  {2e6, .80},  {5e6, .90},  {10e6, .97}, {30e6, 1}};

double draw_bytes() {
    double share = drand();
    for (size_t i = 1; i < sizeof WEB_SEARCH / sizeof *WEB_SEARCH; ++i) {
        const double *low = WEB_SEARCH[i - 1], *high = WEB_SEARCH[i];
        if (share <= high[1]) return low[0] + (share - low[1]) / (high[1] - low[1]) * (high[0] - low[0]);
    }
    return 30e6;
}

double mean_bytes() {
    double mean = 0;
    for (size_t i = 1; i < sizeof WEB_SEARCH / sizeof *WEB_SEARCH; ++i) {
        const double *low = WEB_SEARCH[i - 1], *high = WEB_SEARCH[i];
        mean += (high[1] - low[1]) * (high[0] + low[0]) / 2;
    }
    return mean;
}

void workload(uint64_t flows) {
    uint64_t begun = 0, done = 0;
    double between = mean_bytes() * 8 / (0.5 * FABRIC_RATE);
    Chain chain(FABRIC_HOPS, FABRIC_RATE, 14.9e-6, mem_b(100e6), MARKED_FROM);
    TcpRtxTimerScanner scanner(timeFromMs(10), *events);
    std::vector<std::unique_ptr<Flow>> all;
    // Idle ones wait a millisecond before they serve again: nothing of the old flow is under way then.
    std::vector<std::pair<simtime_picosec, Flow *>> idle;
    size_t first_idle = 0;
    Call next;
    std::vector<double> us;
    next.function = [&] {
        Flow *flow;
        if (first_idle < idle.size() && idle[first_idle].first <= EventList::now())
            flow = idle[first_idle++].second;
        else {
            all.emplace_back(new Flow(true));
            flow = all.back().get();
            flow->wire(chain);
            scanner.registerTcp(*flow);
            flow->ended = [&](Flow &one) {
                us.push_back((EventList::now() - one.begun) / 1e6);
                idle.emplace_back(EventList::now() + ps(1e-3), &one);
                ++done;
            };
        }
        flow->begin(uint64_t(std::ceil(draw_bytes() / 1460)));
        if (++begun < flows) events->sourceIsPendingRel(next, ps(between * exponential(1)));
    };
    double before = processor_seconds();
    events->sourceIsPendingRel(next, 0);
    run([&] { return done == flows; });
    report(double(flows), processor_seconds() - before, "median_us", median(us));
}

}  // namespace

int main(int count, char **arguments) {
    std::string work = count > 2 ? arguments[1] : "";
    double size = count > 2 ? atof(arguments[2]) : 0;
    std::cout.rdbuf(nullptr);
    events = &EventList::getTheEventList();
    srand(1);
    Packet::set_packet_size(work == "writes" ? 1024 : 1538);
    if (work == "stress") stress(uint64_t(size));
    else if (work == "tcp" && count > 3) tcp(size, atoi(arguments[3]));
    else if (work == "fct") fct(uint64_t(size));
    else if (work == "writes") writes(uint64_t(size));
    else if (work == "workload") workload(uint64_t(size));
    else {
        fprintf(stderr, "usage: htsim stress|tcp|fct|writes|workload SIZE [FLOWS]\n");
        return 2;
    }
    // Without its destructors, which take longer than the work.
    _Exit(0);
}
