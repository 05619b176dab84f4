//! Generic receive offload in a network of two hosts: acknowledgements, and the effect of loss and
//! reordering on merges.

use crate::profiles;
use lossylink_core::loss::{LossModel, LossProcess};
use lossylink_core::rng::Streams;
use lossylink_core::time::{Duration, Instant};
use lossylink_core::units::BitRate;
use lossylink_sim::net::direct::DirectConfig;
use lossylink_sim::net::{LineRate, PlainLink, ProtectedLink, queue_limits};
use lossylink_sim::transport::tcp::{self, CongestionControl, Statistics};
use lossylink_sim::world::network::{Addressed, Conversation};
use lossylink_sim::world::protocol::TcpPacket;
use lossylink_sim::world::{Network, Path, Reception, Rooms, Tcp};

const PAYLOAD: u64 = 1460;
const ROOMS: Rooms = Rooms { queue_bytes: 560_000, receiver_queue_bytes: 120_000 };

type TcpNetwork = Network<Tcp, PlainLink<Addressed<TcpPacket>>>;

/// Returns the reception of hosts that take `wake_up_us` to wake up, and merge or not.
fn reception(wake_up_us: f64, merges: bool) -> Reception {
    let always = |us: f64| vec![(0.0, us * 1e3), (1.0, us * 1e3)];
    Reception::new(&always(wake_up_us), &always(0.0), Duration::ZERO, merges)
}

/// Returns a network with open flows of `segments` full segments each, over 30 us and a link at 100G that
/// loses the frames at `positions`.
fn network(reception: &Reception, segments: &[u64], positions: &[u64]) -> TcpNetwork {
    let profile = profiles::profile("tofino1");
    let rate = LineRate::new(BitRate::from_gbps(100));
    let flight = Duration::from_ns(659);
    let process = |model| LossProcess::new(&model, Streams::new(1).stream("loss"));
    let lost =
        if positions.is_empty() { LossModel::None } else { LossModel::at(positions.to_vec()).unwrap() };
    let plain = DirectConfig { rates: rate.into(), flight, queue: queue_limits(&profile) };
    let link = PlainLink::new(plain, process(lost), process(LossModel::None));
    let path = Path::artifact(rate, rate, Duration::from_us(15), flight, ROOMS);
    let congestion_control = CongestionControl::Reno;
    let rto_min = Duration::from_ms(1);
    let config = tcp::Config { congestion_control, rto_min, ..tcp::Config::default() };
    let flow = |segments: &u64| Conversation {
        near: tcp::Sender::new(&config, Some(segments * PAYLOAD), Duration::ZERO),
        far: tcp::Receiver::new(&config, Duration::ZERO),
    };
    let flows: Vec<_> = segments.iter().map(flow).collect();
    let count = flows.len();
    let mut network = Network::new(Tcp { config: config.clone(), cuts_bursts: true }, link, path, flows);
    network.set_reception(reception);
    (0..count).for_each(|index| network.act(index, |now, ends| ends.near.open(now)));
    network
}

/// Runs until no event is due any more. Returns the counters of each flow's sender.
fn finish(mut network: TcpNetwork) -> Vec<Statistics> {
    while network.step(Instant::NEVER) {}
    let ends = network.conversations();
    assert!(ends.iter().all(|ends| ends.near.completed_at().is_some()), "every flow ends");
    ends.iter().map(|ends| *ends.near.statistics()).collect()
}

/// Returns the number of acknowledgements of one flow without loss.
fn acknowledgements(reception: &Reception, segments: u64) -> u64 {
    finish(network(reception, &[segments], &[]))[0].acknowledgements
}

// HOST-4: ten segments, then ten; in quick mode each segment would be acknowledged by itself.
#[test]
fn a_merged_window_is_acknowledged_once() {
    assert_eq!(acknowledgements(&reception(10.0, true), 20), 2);
    assert_eq!(acknowledgements(&reception(10.0, false), 20), 18, "sixteen at once, then every second");
}

/// A window of 160 segments makes four packets of 44 segments at most; windows of 10 to 80 segments make
/// one or two.
// HOST-6
#[test]
fn large_windows_come_in_packets_of_64_kilobytes() {
    // Windows: 10, 20, 40 in one packet each, 80 in two, 160 in four.
    assert_eq!(acknowledgements(&reception(25.0, true), 10 + 20 + 40), 3);
    let more = acknowledgements(&reception(25.0, true), 10 + 20 + 40 + 80 + 160);
    assert!((9..=12).contains(&more), "{more}");
}

#[test]
fn hosts_that_wake_up_at_once_have_nothing_to_merge() {
    assert_eq!(acknowledgements(&reception(0.0, true), 20), acknowledgements(&reception(0.0, false), 20));
}

/// The fifth of ten data frames is lost (the handshake takes two): four become one packet, the five
/// behind the gap another, which is reported once instead of five times. Five segments above a hole
/// are a loss at once: the repair is not slower for being reported once.
// HOST-6
#[test]
fn a_gap_ends_a_merge() {
    let lossy = |merges| finish(network(&reception(10.0, merges), &[10], &[7]))[0];
    let (merged, apart) = (lossy(true), lossy(false));
    assert_eq!(merged.acknowledgements, 3, "what came before the gap, behind it, and the repair");
    assert_eq!(apart.acknowledgements, 10);
    assert_eq!((merged.retransmissions, merged.fast_recoveries, merged.timeouts), (1, 1, 0));
    assert_eq!((apart.retransmissions, apart.fast_recoveries, apart.timeouts), (1, 1, 0));
}

/// Two flows whose packets alternate on the link have a core each: both merge whole windows, and
/// neither waits for the other.
// HOST-1, HOST-5
#[test]
fn flows_that_share_a_link_merge_apart() {
    let both = finish(network(&reception(10.0, true), &[20, 20], &[]));
    assert_eq!(both.iter().map(|flow| flow.acknowledgements).collect::<Vec<_>>(), [2, 2]);
}

/// Merging keeps all bytes, in order, each once, whatever is lost.
#[test]
fn merged_flows_deliver_every_byte() {
    let mut hit = 0;
    for lost in 3..60 {
        let mut network = network(&reception(8.0, true), &[30, 17], &[lost, lost + 2]);
        while network.step(Instant::NEVER) {}
        let bytes: Vec<u64> = network.conversations().iter().map(|ends| ends.far.bytes_in_order()).collect();
        assert_eq!(bytes, [30 * PAYLOAD, 17 * PAYLOAD], "frames {lost} and {} lost", lost + 2);
        hit += u64::from(network.link.traffic().data_lost > 0);
    }
    assert!(hit > 40, "data were lost in {hit} of 57 runs");
}
