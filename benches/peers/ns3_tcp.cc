// ns-3 on one long TCP flow: Reno as Linux has it, 10 Gb/s, a round trip of 50 us, one data packet in a thousand lost,
// an acknowledgement a packet.
//   ns3_tcp SECONDS
#include <cstdlib>

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"
#include "usage.h"

using namespace ns3;

static uint64_t data_packets;

static void count(Ptr<const Packet>) { ++data_packets; }

int main(int, char **arguments) {
    double seconds = atof(arguments[1]);
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TypeId::LookupByName("ns3::TcpLinuxReno")));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1460));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocket::DelAckTimeout", TimeValue(MilliSeconds(1)));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(16 << 20));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(16 << 20));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(1)));
    Config::SetDefault("ns3::TcpSocketBase::ClockGranularity", TimeValue(MicroSeconds(1)));
    Config::SetDefault("ns3::DropTailQueue<Packet>::MaxSize", QueueSizeValue(QueueSize("364p")));
    NodeContainer nodes(2);
    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", StringValue("10Gbps"));
    link.SetChannelAttribute("Delay", StringValue("25us"));
    NetDeviceContainer devices = link.Install(nodes);
    InternetStackHelper stack;
    stack.SetIpv6StackInstall(false);
    stack.Install(nodes);
    Ipv4AddressHelper addresses;
    addresses.SetBase("10.0.1.0", "255.255.255.0");
    Ipv4InterfaceContainer interfaces = addresses.Assign(devices);
    TrafficControlHelper().Uninstall(devices);
    Ptr<RateErrorModel> loss = CreateObject<RateErrorModel>();
    loss->SetAttribute("ErrorUnit", StringValue("ERROR_UNIT_PACKET"));
    loss->SetAttribute("ErrorRate", DoubleValue(1e-3));
    devices.Get(1)->SetAttribute("ReceiveErrorModel", PointerValue(loss));
    devices.Get(0)->TraceConnectWithoutContext("PhyTxBegin", MakeCallback(&count));
    BulkSendHelper source("ns3::TcpSocketFactory", InetSocketAddress(interfaces.GetAddress(1), 9));
    source.SetAttribute("MaxBytes", UintegerValue(0));
    source.SetAttribute("SendSize", UintegerValue(1460));
    source.Install(nodes.Get(0)).Start(Seconds(0));
    PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), 9));
    ApplicationContainer sinks = sink.Install(nodes.Get(1));
    sinks.Start(Seconds(0));
    Simulator::Stop(Seconds(seconds));
    double before = processor_seconds();
    Simulator::Run();
    double took = processor_seconds() - before;
    double received = double(DynamicCast<PacketSink>(sinks.Get(0))->GetTotalRx());
    report(double(data_packets), took, "gbps", received * 8 / seconds / 1e9);
    Simulator::Destroy();
}
