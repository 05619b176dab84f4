// ns-3 on the stress test: full packets at line rate over one link of 100 Gb/s that loses one in a thousand.
//
// A ready packet is given to the network device, and the far device counts it: the least that ns-3 can do.
//   ns3_stress PACKETS
#include <cstdlib>

#include "ns3/core-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "usage.h"

using namespace ns3;

static uint64_t to_send, sent, received;
static Ptr<NetDevice> device;
static Address peer;
static Time gap;

static bool receive(Ptr<NetDevice>, Ptr<const Packet>, uint16_t, const Address &) {
    ++received;
    return true;
}

static void send() {
    // With the two bytes that ns-3 puts in front: 1538, the wire's share of a full packet.
    device->Send(Create<Packet>(1536), peer, 0x0800);
    if (++sent < to_send) Simulator::Schedule(gap, &send);
}

int main(int, char **arguments) {
    to_send = strtoull(arguments[1], nullptr, 10);
    Time::SetResolution(Time::PS);
    // The fastest of its schedulers here.
    GlobalValue::Bind("SchedulerType", StringValue("ns3::PriorityQueueScheduler"));
    GlobalValue::Bind("ChecksumEnabled", BooleanValue(false));
    NodeContainer nodes(2);
    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", StringValue("100Gbps"));
    link.SetDeviceAttribute("Mtu", UintegerValue(9000));
    link.SetChannelAttribute("Delay", StringValue("100ns"));
    NetDeviceContainer devices = link.Install(nodes);
    Ptr<RateErrorModel> loss = CreateObject<RateErrorModel>();
    loss->SetAttribute("ErrorUnit", StringValue("ERROR_UNIT_PACKET"));
    loss->SetAttribute("ErrorRate", DoubleValue(1e-3));
    devices.Get(1)->SetAttribute("ReceiveErrorModel", PointerValue(loss));
    devices.Get(1)->SetReceiveCallback(MakeCallback(&receive));
    device = devices.Get(0);
    peer = devices.Get(1)->GetAddress();
    gap = DataRate("100Gbps").CalculateBytesTxTime(1538);
    Simulator::Schedule(Seconds(0), &send);
    double before = processor_seconds();
    Simulator::Run();
    report(double(sent), processor_seconds() - before, "lost_share", 1 - double(received) / double(sent));
    Simulator::Destroy();
}
