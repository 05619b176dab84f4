// ns-3 on completion times: DCTCP flows of 24,387 bytes one after another, each a connection, over six links of 100 Gb/s,
// the fourth of which loses one data packet in a thousand.
//   ns3_fct FLOWS
#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"
#include "usage.h"

using namespace ns3;

static const uint32_t FLOW_BYTES = 24387, SEGMENT_BYTES = 1460, LINKS = 6, LOSSY = 3, MARKED_FROM_PACKETS = 65;

static uint32_t flows, received;
static std::vector<double> completion_us;
static Time begun;
static Ptr<Node> client;
static Address server;

static void connected(Ptr<Socket> socket) {
    begun = Simulator::Now();
    for (uint32_t left = FLOW_BYTES; left > 0;) {
        uint32_t part = std::min(left, SEGMENT_BYTES);
        socket->Send(Create<Packet>(part));
        left -= part;
    }
    socket->Close();
}

static void start() {
    received = 0;
    Ptr<Socket> socket = Socket::CreateSocket(client, TcpSocketFactory::GetTypeId());
    socket->SetConnectCallback(MakeCallback(&connected), MakeNullCallback<void, Ptr<Socket>>());
    socket->Bind();
    socket->Connect(server);
}

static void receive(Ptr<Socket> socket) {
    for (Ptr<Packet> packet = socket->Recv(); packet && packet->GetSize() > 0; packet = socket->Recv()) {
        received += packet->GetSize();
        if (received < FLOW_BYTES) continue;
        completion_us.push_back((Simulator::Now() - begun).GetNanoSeconds() / 1e3);
        if (completion_us.size() == flows)
            Simulator::Stop();
        else
            Simulator::Schedule(MicroSeconds(100), &start);
    }
}

static void close(Ptr<Socket> socket) { socket->Close(); }

static void accepted(Ptr<Socket> socket, const Address &) {
    socket->SetRecvCallback(MakeCallback(&receive));
    socket->SetCloseCallbacks(MakeCallback(&close), MakeCallback(&close));
}

static void configure() {
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TypeId::LookupByName("ns3::TcpDctcp")));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(SEGMENT_BYTES));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocket::DelAckTimeout", TimeValue(MilliSeconds(1)));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(4 << 20));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(4 << 20));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::ConnTimeout", TimeValue(MilliSeconds(1)));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(1)));
    Config::SetDefault("ns3::TcpSocketBase::ClockGranularity", TimeValue(MicroSeconds(1)));
    // Ended connections are not kept: they would slow down those that follow.
    Config::SetDefault("ns3::TcpSocketBase::MaxSegLifetime", DoubleValue(0.0001));
    Config::SetDefault("ns3::RttEstimator::InitialEstimation", TimeValue(MilliSeconds(1)));
    Config::SetDefault("ns3::DropTailQueue<Packet>::MaxSize", QueueSizeValue(QueueSize("10000p")));
    Config::SetDefault("ns3::RedQueueDisc::UseEcn", BooleanValue(true));
    Config::SetDefault("ns3::RedQueueDisc::UseHardDrop", BooleanValue(false));
    Config::SetDefault("ns3::RedQueueDisc::QW", DoubleValue(1));
    Config::SetDefault("ns3::RedQueueDisc::MeanPktSize", UintegerValue(1500));
    Config::SetDefault("ns3::RedQueueDisc::MaxSize", QueueSizeValue(QueueSize("2000p")));
    Config::SetDefault("ns3::RedQueueDisc::LinkBandwidth", StringValue("100Gbps"));
    Config::SetDefault("ns3::RedQueueDisc::MinTh", DoubleValue(MARKED_FROM_PACKETS));
    Config::SetDefault("ns3::RedQueueDisc::MaxTh", DoubleValue(MARKED_FROM_PACKETS));
}

int main(int, char **arguments) {
    flows = uint32_t(strtoul(arguments[1], nullptr, 10));
    Time::SetResolution(Time::PS);
    configure();
    NodeContainer nodes(LINKS + 1);
    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", StringValue("100Gbps"));
    link.SetChannelAttribute("Delay", TimeValue(NanoSeconds(2380)));
    InternetStackHelper stack;
    stack.SetIpv6StackInstall(false);
    stack.Install(nodes);
    Ipv4AddressHelper addresses;
    Ipv4InterfaceContainer last;
    TrafficControlHelper marking;
    marking.SetRootQueueDisc("ns3::RedQueueDisc");
    for (uint32_t i = 0; i < LINKS; ++i) {
        NetDeviceContainer ends = link.Install(nodes.Get(i), nodes.Get(i + 1));
        if (i > 0) {
            // Packets wait where they are marked.
            DynamicCast<PointToPointNetDevice>(ends.Get(0))->GetQueue()->SetMaxSize(QueueSize("10p"));
            marking.Install(ends.Get(0));
        }
        addresses.SetBase(("10.0." + std::to_string(i + 1) + ".0").c_str(), "255.255.255.0");
        last = addresses.Assign(ends);
        if (i == 0) TrafficControlHelper().Uninstall(ends.Get(0));
        TrafficControlHelper().Uninstall(ends.Get(1));
        if (i == LOSSY) {
            Ptr<RateErrorModel> loss = CreateObject<RateErrorModel>();
            loss->SetAttribute("ErrorUnit", StringValue("ERROR_UNIT_PACKET"));
            loss->SetAttribute("ErrorRate", DoubleValue(1e-3));
            ends.Get(1)->SetAttribute("ReceiveErrorModel", PointerValue(loss));
        }
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    client = nodes.Get(0);
    server = InetSocketAddress(last.GetAddress(1), 9);
    Ptr<Socket> listener = Socket::CreateSocket(nodes.Get(LINKS), TcpSocketFactory::GetTypeId());
    listener->Bind(InetSocketAddress(Ipv4Address::GetAny(), 9));
    listener->Listen();
    listener->SetAcceptCallback(MakeNullCallback<bool, Ptr<Socket>, const Address &>(), MakeCallback(&accepted));
    Simulator::Schedule(MicroSeconds(1), &start);
    Simulator::Stop(Seconds(100000));
    double before = processor_seconds();
    Simulator::Run();
    double took = processor_seconds() - before;
    std::nth_element(completion_us.begin(), completion_us.begin() + completion_us.size() / 2, completion_us.end());
    report(double(completion_us.size()), took, "median_us", completion_us[completion_us.size() / 2]);
    Simulator::Destroy();
}
