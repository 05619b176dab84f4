//! Places of a network that take turns give the results of a network step by step, and allocate hardly any memory.

use crate::flow_worlds::{TcpNetwork, World, any_world};
use lossylink_core::time::{Duration, Instant};
use lossylink_sim::net::ProtectedLink as _;
use lossylink_sim::transport::tcp::CongestionControl;
use lossylink_sim::world::Reception;
use proptest::prelude::*;

/// Returns the visible state of a network at its present.
fn seen(network: &TcpNetwork) -> String {
    let ends = network.conversations().iter();
    let flows: Vec<_> = ends.map(|ends| (*ends.near.statistics(), ends.far.bytes_in_order())).collect();
    let queue = network.link.queue();
    let queue = (queue.bytes(), queue.high_water_bytes(), queue.dropped());
    format!("{:?}", (network.now(), flows, network.link.traffic(), network.link.reverse_traffic(), queue))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn strides_equal_steps(world in any_world()) {
        let model = World { is_fast: false, ..world.clone() };
        let (mut striding, mut stepping) = (world.network(), model.network());
        for end in [3, 400, 401, 2_000].map(|us| Instant::ZERO + Duration::from_us(us)) {
            striding.run_until(end);
            while stepping.step(end) {}
            stepping.wait_until(end);
            prop_assert_eq!(seen(&striding), seen(&stepping));
        }
    }
}

/// The most allocations: some ten rings, each of which may double a few times when a backlog is larger than any
/// before.
const MOST_GROWTH: u64 = 40;

/// No packet costs an allocation: only a ring that has never been as full allocates.
#[test]
fn a_running_flow_allocates_next_to_nothing() {
    for ordered in [None, Some(true), Some(false)] {
        let world = World {
            is_fast: true,
            seed: 1,
            gbps: 10,
            back_mbps: None,
            loss: 1e-3,
            fades: false,
            hop_loss: 0.0,
            jitter: (Duration::ZERO, true),
            ordered,
            profile: "tofino1",
            extra_rtt: None,
            reception: Reception::waking_in(Duration::from_us(10)),
            flows: 1,
            algorithm: CongestionControl::Cubic,
            stack_gbps: None,
            flow_bytes: None,
            delayed_ack: 2,
        };
        let mut network = world.network();
        network.run_until(Instant::ZERO + Duration::from_ms(100));
        let sent = network.conversation(0).near.statistics().segments_sent;
        let end = Instant::ZERO + Duration::from_ms(200);
        let allocated = allocation_counter::measure(|| network.run_until(end));
        assert!(allocated.count_total <= MOST_GROWTH, "{ordered:?}: {allocated:?}");
        let segments = network.conversation(0).near.statistics().segments_sent - sent;
        assert!(segments > 10_000, "{ordered:?}: {segments} segments are no traffic");
    }
}
