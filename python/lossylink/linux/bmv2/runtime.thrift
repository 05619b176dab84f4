# The calls of a running BMv2 switch (simple_switch 1.15) that the control plane makes: names, types and field numbers of
# its Thrift interface, and nothing else of it. All three services answer on one port, told apart by their names.

exception InvalidTableOperation { 1: i32 code }
exception InvalidCounterOperation { 1: i32 code }
exception InvalidRegisterOperation { 1: i32 code }
exception InvalidMcOperation { 1: i32 code }
exception InvalidMirroringOperation { 1: i32 code }

struct BmCounterValue {
  1: i64 bytes,
  2: i64 packets
}

struct MirroringSessionConfig {
  1: optional i32 port,
  2: optional i32 mgid
}

service Standard {
  void bm_mt_set_default_action(
    1: i32 cxt_id, 2: string table_name, 3: string action_name, 4: list<binary> action_data
  ) throws (1: InvalidTableOperation ouch),
  BmCounterValue bm_counter_read(
    1: i32 cxt_id, 2: string counter_name, 3: i32 index
  ) throws (1: InvalidCounterOperation ouch),
  void bm_counter_reset_all(
    1: i32 cxt_id, 2: string counter_name
  ) throws (1: InvalidCounterOperation ouch),
  i64 bm_register_read(
    1: i32 cxt_id, 2: string register_array_name, 3: i32 idx
  ) throws (1: InvalidRegisterOperation ouch),
  list<i64> bm_register_read_all(
    1: i32 cxt_id, 2: string register_array_name
  ) throws (1: InvalidRegisterOperation ouch),
  void bm_register_write(
    1: i32 cxt_id, 2: string register_array_name, 3: i32 index, 4: i64 value
  ) throws (1: InvalidRegisterOperation ouch),
  void bm_register_reset(
    1: i32 cxt_id, 2: string register_array_name
  ) throws (1: InvalidRegisterOperation ouch)
}

service SimplePreLAG {
  i32 bm_mc_mgrp_create(1: i32 cxt_id, 2: i32 mgrp) throws (1: InvalidMcOperation ouch),
  i32 bm_mc_node_create(
    1: i32 cxt_id, 2: i32 rid, 3: string port_map, 4: string lag_map
  ) throws (1: InvalidMcOperation ouch),
  void bm_mc_node_associate(
    1: i32 cxt_id, 2: i32 mgrp_handle, 3: i32 l1_handle
  ) throws (1: InvalidMcOperation ouch),
  void bm_mc_node_dissociate(
    1: i32 cxt_id, 2: i32 mgrp_handle, 3: i32 l1_handle
  ) throws (1: InvalidMcOperation ouch),
  void bm_mc_node_destroy(1: i32 cxt_id, 2: i32 l1_handle) throws (1: InvalidMcOperation ouch)
}

service SimpleSwitch {
  void mirroring_session_add(
    1: i32 mirror_id, 2: MirroringSessionConfig config
  ) throws (1: InvalidMirroringOperation ouch),
  i32 set_egress_queue_depth(1: i32 port_num, 2: i32 depth_pkts),
  i32 set_egress_priority_queue_depth(1: i32 port_num, 2: i32 priority, 3: i32 depth_pkts),
  i32 set_egress_queue_rate(1: i32 port_num, 2: i64 rate_pps),
  i32 set_egress_priority_queue_rate(1: i32 port_num, 2: i32 priority, 3: i64 rate_pps)
}
