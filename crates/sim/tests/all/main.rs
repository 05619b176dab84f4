//! The tests of the simulator from outside, as one program: each module has one subject.

#[path = "../checks/mod.rs"]
#[expect(dead_code, reason = "an example uses the rest")]
mod checks;
mod clean_flows;
mod dialogue;
mod dialogue_linkguardian;
mod dialogue_llr;
mod ends;
mod experiments;
mod fabric_golden;
mod fec_change;
mod fec_experiment;
mod fec_residual;
mod flow_worlds;
mod gro;
mod host_profile;
mod llr_goodput;
mod llr_residual;
mod long_flows;
mod long_writes;
mod outside;
mod profiles;
mod rare;
mod rdma_cards;
mod rdma_dialogue;
mod rdma_experiment;
mod rdma_fct;
mod rdma_pair;
mod rdma_script;
mod rdma_selective;
mod rdma_swarm;
mod residual_law;
mod routed;
#[cfg(feature = "fast")]
mod slow_lines;
mod state;
mod stress_acceptance;
mod stress_outside;
#[cfg(feature = "fast")]
mod strides;
mod support;
mod swarm;
mod swarm_linkguardian;
mod swarm_llr;
mod tails;
mod tcp_bbr;
mod tcp_linux;
mod tcp_linux_losses;
mod tcp_property;
mod tcp_receiver;
#[cfg(feature = "fast")]
mod tcp_repeat;
mod tcp_sender;
mod tcp_support;
#[cfg(feature = "fast")]
mod tcp_trains;
mod timeline_experiment;
#[cfg(feature = "fast")]
mod trains;
#[cfg(feature = "fast")]
mod twins;
mod workload_experiment;
