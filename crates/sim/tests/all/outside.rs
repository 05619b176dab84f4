//! Hosts outside of the simulation: a path under TCP whose time comes from outside gives the results that the
//! path gives inside.

use crate::flow_worlds::{World, any_world};
use lossylink_core::time::{Duration, Instant};
use lossylink_sim::net::{AnyLink, Ecn, Frame, ProtectedLink};
use lossylink_sim::transport::tcp;
use lossylink_sim::world::network::{Addressed, Conversation};
use lossylink_sim::world::protocol::{Carried, Mailbox, Outside, TcpPacket};
use lossylink_sim::world::{End, Network, Protocol, Reception, Tcp};
use proptest::prelude::*;

/// TCP at both hosts, a clock, and the path, which knows only the number of a packet.
struct Hosts {
    path: Network<Outside, AnyLink<Addressed<Carried>>>,
    ends: Conversation<Tcp>,
    protocol: Tcp,
    sent: Vec<tcp::Packet>,
    now: Instant,
}

impl Hosts {
    fn new(world: &World) -> Self {
        let mailboxes = Conversation { near: Mailbox::default(), far: Mailbox::default() };
        let path = world.between(Outside, vec![mailboxes]);
        let protocol = Tcp { config: world.config(), cuts_bursts: false };
        let mut hosts = Self { path, ends: world.flow(0), protocol, sent: Vec::new(), now: Instant::ZERO };
        hosts.ends.near.open(Instant::ZERO);
        hosts.flush();
        hosts
    }

    fn run_until(&mut self, end: Instant) {
        loop {
            let timers = self.ends.near.poll_timeout().min(self.ends.far.poll_timeout());
            let next = self.path.poll_outside().min(timers);
            if next > end || next.is_never() {
                self.now = end;
                return;
            }
            assert!(next >= self.now, "{next} lies before {}", self.now);
            self.now = next;
            while let Some((place, arrival)) = self.path.take_arrival(next) {
                assert_eq!(arrival.at, next, "a frame was handed over late");
                let packet = self.sent[arrival.number as usize];
                match place {
                    End::Near => self.ends.near.handle_packet(next, &packet),
                    End::Far => self.ends.far.handle_packet(next, &packet, arrival.marked),
                }
                self.flush();
            }
            if self.ends.far.poll_timeout() <= next {
                self.ends.far.handle_timeout(next);
                self.flush();
            }
            if self.ends.near.poll_timeout() <= next {
                self.ends.near.handle_timeout(next);
                self.flush();
            }
        }
    }

    fn flush(&mut self) {
        while let Some(packet) = self.ends.near.poll_transmit(self.now) {
            self.send(End::Near, packet);
        }
        while let Some(packet) = self.ends.far.poll_transmit(self.now) {
            self.send(End::Far, packet);
        }
    }

    fn send(&mut self, end: End, packet: tcp::Packet) {
        let frame: Frame<TcpPacket> = self.protocol.frame(TcpPacket(packet));
        let bytes = frame.frame_bytes_with_fcs() - 4;
        let number = self.sent.len() as u64;
        self.sent.push(packet);
        self.path.send(self.now, end, Carried { number, bytes, ecn: frame.ecn });
    }

    fn seen(&self) -> String {
        let (near, far) = (*self.ends.near.statistics(), self.ends.far.bytes_in_order());
        format!("{:?}", (near, far, self.path.link.traffic(), self.path.link.queue().high_water_bytes()))
    }
}

fn seen_inside(network: &crate::flow_worlds::TcpNetwork) -> String {
    let ends = network.conversation(0);
    let (near, far) = (*ends.near.statistics(), ends.far.bytes_in_order());
    format!("{:?}", (near, far, network.link.traffic(), network.link.queue().high_water_bytes()))
}

/// Returns a world with one flow between hosts that merge nothing: the hosts outside merge by themselves.
fn any_plain_world() -> impl Strategy<Value = World> {
    (any_world(), 0u64..20, 0u64..20, 0u64..3).prop_map(|(world, wake_up, moderation, segment)| {
        let up_to = |us: u64| vec![(0.0, 0.0), (1.0, us as f64 * 1e3)];
        let reception =
            Reception::new(&up_to(wake_up), &up_to(moderation), Duration::from_us(segment), false);
        World { flows: 1, reception, ..world }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_path_from_outside_is_the_path_from_inside(world in any_plain_world()) {
        let (mut inside, mut outside) = (world.network(), Hosts::new(&world));
        for end in [3, 400, 401, 2_000].map(|us| Instant::ZERO + Duration::from_us(us)) {
            while inside.step(end) {}
            inside.wait_until(end);
            outside.run_until(end);
            // Outside, the link has run ahead, so its counts agree once no frame is under way.
            let (near, far) = (inside.conversation(0), &outside.ends);
            prop_assert_eq!(format!("{:?}", near.near.statistics()), format!("{:?}", far.near.statistics()));
            prop_assert_eq!(near.far.bytes_in_order(), far.far.bytes_in_order());
        }
    }
}

/// A host may send before the owner has taken the frame that arrives at that instant: the arrival is not
/// forgotten.
#[test]
fn what_has_come_while_a_host_sent_is_asked_for_at_once() {
    let world = plain_world(1);
    let mut path =
        world.between(Outside, vec![Conversation { near: Mailbox::default(), far: Mailbox::default() }]);
    let frame = |number| Carried { number, bytes: 1514, ecn: Ecn::NotCapable };
    path.send(Instant::ZERO, End::Near, frame(7));
    let later = Instant::ZERO + Duration::from_ms(1);
    path.send(later, End::Far, frame(8));
    assert_eq!(path.poll_outside(), later);
    let (end, arrival) = path.take_arrival(later).expect("the first frame has come");
    assert_eq!((end, arrival.number), (End::Far, 7));
    assert!(path.poll_outside() > later);
}

/// Returns a world in which only the losses are drawn.
fn plain_world(seed: u64) -> World {
    World {
        is_fast: true,
        seed,
        gbps: 10,
        back_mbps: None,
        loss: 0.0,
        fades: false,
        hop_loss: 0.0,
        jitter: (Duration::ZERO, true),
        ordered: None,
        profile: "tofino1",
        extra_rtt: None,
        reception: Reception::default(),
        flows: 1,
        algorithm: tcp::CongestionControl::Reno,
        stack_gbps: None,
        flow_bytes: None,
        delayed_ack: 2,
    }
}

/// The canary of the property: a world whose losses come from another seed gives another outcome.
#[test]
fn another_seed_is_another_world() {
    let world = World { loss: 0.02, ..plain_world(1) };
    let mut inside = world.network();
    let mut outside = Hosts::new(&World { seed: 2, ..world });
    let end = Instant::ZERO + Duration::from_ms(2);
    inside.run_until(end);
    outside.run_until(end);
    assert_ne!(seen_inside(&inside), outside.seen());
}
