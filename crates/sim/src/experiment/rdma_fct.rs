//! Completion times of RDMA writes on one connection, with one write outstanding at a time.
//!
//! A completion time is measured by the published rule: from the posting of a write to its
//! completion, at the requester.

use super::serial::{Counters, Repair, Serial, SerialProtocol};
use super::setup::Setup;
use crate::capture::RdmaConnection;
use crate::config::{Config, HostProfile};
use crate::transport::rdma::{Operation, Packet, Place, Psn, Request, Requester, Responder, Status, Verb};
use crate::world::network::Conversation;
use crate::world::{MessageLatency, Protocol, Rdma, Reception};
use crate::{ConfigError, Control, Outcome};
use lossylink_core::time::{Duration, Instant};

pub(super) fn run(config: &Config, control: &Control) -> Result<Outcome, ConfigError> {
    let setup = Setup::new(config);
    let protocol = setup.rdma()?;
    let one_way_ns = setup.host()?.rdma_one_way_ns;
    Serial::new(setup, protocol, one_way_ns)?.run(
        control,
        |rdma, row| {
            row.set("recovery", rdma.config.recovery.name());
        },
        |rdma, totals, row| {
            row.set("repaired_nak", totals.repaired(Repair::Fast))
                .set("repaired_timeout", totals.repaired(Repair::Timeout))
                .set("rdma_mtu_bytes", rdma.config.mtu.bytes());
        },
    )
}

/// A flow is a message. All messages use one connection, which is opened anew only after a failure.
impl SerialProtocol for Rdma {
    type Carries = RdmaConnection;

    fn carries(&self, flow_bytes: u64) -> RdmaConnection {
        RdmaConnection::new(flow_bytes)
    }

    fn full_packet(&self) -> (u32, u32) {
        let payload = self.config.mtu.bytes() as u32;
        let (psn, verb, place) = (Psn::default(), Verb::Write, Place::Middle);
        let request = Request { psn, verb, place, ack_request: false, payload: payload as u16 };
        (payload, self.frame(Packet::Request(request)).octets)
    }

    fn conversation(&self, _flow_bytes: u64) -> Conversation<Self> {
        Conversation { near: Requester::new(&self.config), far: Responder::new(&self.config) }
    }

    /// Messages share one connection.
    const CONNECTS: bool = false;

    fn start(now: Instant, ends: &mut Conversation<Self>, flow_bytes: u64, _phases: (Duration, Duration)) {
        connect(ends);
        ends.near.post(now, Operation::Write(flow_bytes));
    }

    #[cfg(feature = "fast")]
    fn phases(&self, flow_bytes: u64) -> usize {
        self.config.phases(flow_bytes)
    }

    #[cfg(feature = "fast")]
    fn phase(ends: &Conversation<Self>, flow_bytes: u64) -> Option<usize> {
        let near = ends.near.statistics().congestion_notifications;
        let far = ends.far.statistics().congestion_notifications;
        (near + far == 0).then(|| ends.near.phase(flow_bytes))
    }

    #[cfg(feature = "fast")]
    fn pass(ends: &mut Conversation<Self>, flow_bytes: u64) {
        connect(ends);
        ends.near.pass_write(flow_bytes);
        ends.far.pass_write(flow_bytes);
    }

    #[inline]
    fn has_ended(ends: &Conversation<Self>) -> bool {
        ends.near.outstanding() == 0
    }

    fn completion(ends: &mut Conversation<Self>) -> Option<Duration> {
        let completion = ends.near.poll_completion()?;
        let took = completion.completed_at - completion.posted_at;
        (completion.status == Status::Success).then_some(took)
    }

    fn counters(ends: &Conversation<Self>) -> Counters {
        let counted = ends.near.statistics();
        let mut repairs = [0; Repair::COUNT];
        repairs[Repair::Fast as usize] = counted.naks + counted.selective_naks;
        repairs[Repair::Timeout as usize] = counted.timeouts;
        Counters { retransmissions: counted.retransmissions, repairs }
    }

    /// The interface answers without the host, so no host wakes up before the message is complete.
    fn reception(_host: &HostProfile) -> Reception {
        Reception::default()
    }

    fn once(host: &HostProfile) -> Option<MessageLatency> {
        Some(MessageLatency::of(host))
    }
}

/// Opens the connection anew if the connection has failed.
fn connect(ends: &mut Conversation<Rdma>) {
    if ends.near.has_failed() {
        ends.near.reconnect();
        ends.far.reconnect();
    }
}
