//! Flows that meet no loss: one computation serves all flows that follow one chain of turns. Equals [`Serial::run_flow`].

use super::trial::Trial;
use super::{Serial, SerialNetwork, SerialProtocol, draw_once, draws};
use crate::Stop;
use crate::fast::{Path as Fast, takes};
use crate::net::{AnyLink, ProtectedLink};
use crate::world::network::{Taken, TurnChain};
use crate::world::{Network, Reception};
use lossylink_core::rng::Streams;
use lossylink_core::time::Duration;
use std::sync::OnceLock;

/// The most rehearsals of a flow, the first included. From one rehearsal to the next the hosts take twice as long to wake up.
const WAKE_UPS_TRIED: u32 = 4;
/// The most flows that bring the ends to a phase. A requester asks for an acknowledgement more often than once in that many
/// packets.
const FLOWS_BEFORE_MAX: u32 = 1 << 12;

/// The flows of an experiment that meet no loss and are computed instead of run.
#[derive(Debug)]
pub(super) struct CleanFlows {
    chain: Option<CleanChain>,
    /// The result of a flow of each phase ([`SerialProtocol::phase`]), once computed; `None` inside if flows of that phase have
    /// no repeatable result.
    by_phase: Vec<OnceLock<Option<CleanFlow>>>,
    /// The number of frames that a flow of any phase puts on the link forward, and the octets of the largest, once a flow was
    /// computed.
    crossing: OnceLock<(u64, u32)>,
}

/// A flow between hosts that add nothing to its packets. Each flow of its phase that meets no loss takes exactly as long.
#[derive(Clone, Copy, Debug)]
struct CleanFlow {
    trial: Trial,
    /// The time from the opening of the flow until the network is at rest.
    whole: Duration,
    frames: u64,
    octets: u32,
}

impl CleanFlows {
    /// Returns no flows to skip, so that every flow is run.
    pub(super) const fn none() -> Self {
        Self { chain: None, by_phase: Vec::new(), crossing: OnceLock::new() }
    }

    /// Lets the next flow happen without its packets, if the flow is certain to meet no loss and its result is known. Returns its
    /// result and the number of frames that the flow puts on the link forward. Returns `None` and changes nothing if the flow
    /// must be run.
    #[inline]
    pub(super) fn take<T: SerialProtocol>(
        &self,
        serial: &Serial<'_, T>,
        network: &mut SerialNetwork<T>,
        streams: &Streams,
        stop: &Stop,
    ) -> Option<(Trial, u64)> {
        let by_chain = self.chain.as_ref().and_then(|chain| chain.take(network, &serial.reception, streams));
        by_chain.or_else(|| {
            let flow = self.flow(serial, network, stop)?;
            let end = network.now() + flow.whole;
            if !network.link.skip_clean(flow.frames, flow.octets, end) {
                return None;
            }
            network.wait_until(end);
            network.take(0, |ends| T::pass(ends, serial.flow.size_bytes));
            let once = draw_once(serial.once.as_ref(), &mut streams.stream("hosts"), serial.flow.size_bytes);
            Some((flow.trial.with(once), flow.frames))
        })
    }

    /// Returns the flow that the next flow repeats if the next flow meets no loss. Computes a result that is not known yet,
    /// unless the next flow is certain to be run.
    #[inline]
    fn flow<T: SerialProtocol>(
        &self,
        serial: &Serial<'_, T>,
        network: &mut SerialNetwork<T>,
        stop: &Stop,
    ) -> Option<CleanFlow> {
        if self.by_phase.is_empty() {
            return None;
        }
        let phase = T::phase(network.conversation(0), serial.flow.size_bytes)?;
        let known = self.by_phase.get(phase)?;
        if let Some(flow) = known.get() {
            return *flow;
        }
        let now = network.now();
        if self
            .crossing
            .get()
            .is_some_and(|&(frames, octets)| !network.link.is_clear_for(frames, octets, now))
        {
            return None;
        }
        let flow = *known.get_or_init(|| serial.repeatable_flow(phase, stop));
        if let Some(flow) = flow {
            self.crossing.get_or_init(|| (flow.frames, flow.octets));
        }
        flow
    }
}

/// The chain of turns of a flow between hosts that draw their latencies. The next flow that meets no loss follows this chain, with draws
/// of its own.
#[derive(Clone, Debug)]
struct CleanChain {
    chain: TurnChain,
    /// The completion time from which on a flow is not certain to follow this chain.
    limit: Duration,
    /// The number of frames that the flow puts on an unprotected link, forward, and the octets of the largest.
    frames: u64,
    octets: u32,
    /// Whether every flow crosses the link like the flow before it.
    crosses_alike: bool,
}

impl CleanChain {
    /// Lets a flow follow this chain at once, and lets the time of the flow pass. Returns its result and the number of frames that
    /// the flow put on the link forward. Returns `None` and changes nothing if the flow is not certain to follow this chain.
    #[inline]
    fn take<T: SerialProtocol>(
        &self,
        network: &mut SerialNetwork<T>,
        reception: &Reception,
        streams: &Streams,
    ) -> Option<(Trial, u64)> {
        let (taken, frames) = if self.crosses_alike {
            (self.skip(network, reception, streams)?, self.frames)
        } else {
            let before = network.link.traffic().frames;
            (self.carry(network, reception, streams)?, network.link.traffic().frames - before)
        };
        network.wait_until(network.now() + taken.whole);
        Some((Trial::clean(taken.counted), frames))
    }

    /// Computes the times of a flow on a link that every flow crosses like the flow before it.
    fn skip<T: SerialProtocol>(
        &self,
        network: &mut SerialNetwork<T>,
        reception: &Reception,
        streams: &Streams,
    ) -> Option<Taken> {
        let taken = self.chain.taken(reception, draws(streams))?;
        let is_certain = taken.whole < self.limit
            && network.link.skip_clean(self.frames, self.octets, network.now() + taken.whole);
        is_certain.then_some(taken)
    }

    /// Computes the times of a flow on an idle link, which tells when each frame leaves the link.
    fn carry<T: SerialProtocol>(
        &self,
        network: &mut SerialNetwork<T>,
        reception: &Reception,
        streams: &Streams,
    ) -> Option<Taken> {
        let (start, mut idle) = (network.now(), network.link.idle()?);
        let taken = self.chain.taken_over(&mut idle, start, reception, draws(streams))?;
        let is_certain =
            taken.whole < self.limit && network.link.carry_in_closed_form(idle, start + taken.whole);
        is_certain.then_some(taken)
    }
}

impl<T> Serial<'_, T> {
    fn skips(&self) -> bool {
        takes(Fast::CleanTrials) && self.setup.config.skip
    }
}

impl<T: SerialProtocol> Serial<'_, T> {
    /// Returns the flows that meet no loss, as far as they are computed. `crosses_alike` tells whether every flow crosses the
    /// link like the flow before it.
    pub(super) fn clean_flows(&self, crosses_alike: bool) -> CleanFlows {
        if !self.skips() {
            return CleanFlows::none();
        }
        let phases = if self.is_repeatable { self.protocol.phases(self.flow.size_bytes) } else { 0 };
        let by_phase = std::iter::repeat_with(OnceLock::new).take(phases).collect();
        CleanFlows { chain: self.rehearsed(crosses_alike), by_phase, crossing: OnceLock::new() }
    }

    /// Returns the result of a flow of this phase that meets no loss, if each such flow repeats that result.
    fn repeatable_flow(&self, phase: usize, stop: &Stop) -> Option<CleanFlow> {
        let (config, bytes) = (self.setup.config, self.flow.size_bytes);
        let mut ends = self.protocol.conversation(bytes);
        // Flows of one size have brought the ends to this phase, so more flows of that size do it again.
        let mut before = 0..FLOWS_BEFORE_MAX;
        while T::phase(&ends, bytes) != Some(phase) {
            before.next()?;
            T::pass(&mut ends, bytes);
        }
        let streams = Streams::new(config.seed);
        let link = AnyLink::bare(&self.setup.plan, &streams);
        let network = Network::new(self.protocol.clone(), link, self.path.clone(), vec![ends]);
        let mut network = network.skipping(true).stopping(stop);
        network.set_reception(&self.reception);
        let start = network.now();
        let trial = self.run_flow(&mut network, &mut streams.stream("hosts"));
        let leaves_a_phase = T::phase(network.conversation(0), bytes).is_some();
        let repeats = trial.took.is_some() && leaves_a_phase && !network.is_stopped();
        let traffic = network.link.traffic();
        let whole = network.now() - start;
        repeats.then_some(CleanFlow { trial, whole, frames: traffic.frames, octets: traffic.largest_octets })
    }

    /// Returns the chain of turns of a flow that meets no loss, if the flow has one.
    fn rehearsed(&self, crosses_alike: bool) -> Option<CleanChain> {
        if self.once.is_some() {
            return None;
        }
        let bytes = self.flow.size_bytes;
        let limit = self.protocol.timing_invariant_for(bytes)?.min(self.reception.sustained_after());
        // The wake-up must be long enough for all packets that are sent in a turn, and no longer than needed, because timers run.
        let least = self.reception.least_wake_up();
        let (chain, network) =
            (0..WAKE_UPS_TRIED).find_map(|doublings| self.rehearsed_in(least * (1 << doublings)))?;
        let traffic = network.link.traffic();
        let (frames, octets) = (traffic.frames, traffic.largest_octets);
        Some(CleanChain { chain, limit, frames, octets, crosses_alike })
    }

    /// Returns the chain of turns of a flow between hosts that always wake up in `wake_up`, if there is one, and the network in which the
    /// chain was found.
    fn rehearsed_in(&self, wake_up: Duration) -> Option<(TurnChain, SerialNetwork<T>)> {
        let (bytes, plan) = (self.flow.size_bytes, &self.setup.plan);
        let link = AnyLink::bare(plan, &Streams::new(self.setup.config.seed));
        let conversation = self.protocol.conversation(bytes);
        let mut network = Network::new(self.protocol.clone(), link, self.path.clone(), vec![conversation]);
        let no_phases = (Duration::ZERO, Duration::ZERO);
        let open = |now, ends: &mut _| T::start(now, ends, bytes, no_phases);
        let chain = network.rehearse((&self.reception, wake_up), plan.rates, open, T::completion)?;
        let counted = T::counters(network.conversation(0));
        let is_clean = counted.retransmissions == 0 && counted.slowest().is_none();
        is_clean.then_some((chain, network))
    }
}
