// The programs rely on these facts of a switch of the lab: its ports, its queues, and BMv2's own numbers.
//
//   host ---- PORT_HOST [ switch ] PORT_LINK ==== the link that corrupts
//                          PORT_CONTROL: the control plane injects frames
//                          PORT_..._LOOP: no cable; what leaves there is recirculated, no faster than the rate of its queue

#ifndef COMMON_SWITCH_P4
#define COMMON_SWITCH_P4

typedef bit<9> port_t;
typedef bit<16> group_t;

@noWarn("unused")
const port_t PORT_HOST = 1;
@noWarn("unused")
const port_t PORT_LINK = 2;
@noWarn("unused")
const port_t PORT_CONTROL = 3;
@noWarn("unused")
const port_t PORT_TX_LOOP = 4;
@noWarn("unused")
const port_t PORT_RX_LOOP = 5;
@noWarn("unused")
const port_t PORT_TIMER_LOOP = 6;
@noWarn("unused")
const port_t PORT_WAITING_LOOP = 7;

// Strict priorities, the most urgent one last (LG-29). BMv2 gives every clone the lowest.
@noWarn("unused")
const bit<3> PRIORITY_LOWEST = 0;
@noWarn("unused")
const bit<3> PRIORITY_NORMAL = 1;
@noWarn("unused")
const bit<3> PRIORITY_URGENT = 2;

// Source: v1model's standard_metadata.instance_type as simple_switch sets it.
@noWarn("unused")
const bit<32> INSTANCE_INGRESS_CLONE = 1;
@noWarn("unused")
const bit<32> INSTANCE_RECIRCULATED = 4;

#endif
