//! Flows one after another over one link, as on a testbed: the common part of the completion-time experiments of all protocols.

#[cfg_attr(not(feature = "fast"), path = "every_trial.rs")]
mod clean;
mod counters;
mod results;
mod trial;
mod trials;

pub(super) use counters::{Counters, Repair};
pub(super) use results::Totals;

use super::blocks::{Block, Blocks, TRIALS_PER_BLOCK, Workers};
use super::capturing::Capture;
use super::inspecting::{inspected, states};
use super::row::Row;
use super::setup::Setup;
use crate::capture::Carries;
use crate::config::{Config, FlowConfig, HostProfile, PartConfig};
use crate::net::{AnyLink, ProtectedLink, Tap};
use crate::numbers::{Packing, Store};
use crate::world::limits::wait_for_flow_alone;
use crate::world::network::{Addressed, Conversation};
use crate::world::{MessageLatency, Network, Path, Protocol, Reception};
use crate::{ConfigError, Control, Outcome, Stop};
use clean::CleanFlows;
use lossylink_core::loss::LossModel;
use lossylink_core::rng::{RngCore, Stream, StreamName, Streams, uniform};
use lossylink_core::time::{Duration, Instant};
use lossylink_core::units::Bytes;
use results::Piece;
use trial::Trial;

/// The number of ticks of the wheel on which timers fall anywhere.
const WHEEL_TICKS: u64 = 4096;

/// A protocol whose flows can be run one after another.
pub(super) trait SerialProtocol: Protocol + Clone + Sync {
    /// The knowledge that a capture needs of the packets.
    type Carries: Carries<Addressed<Self::Packet>> + 'static;

    /// Returns the knowledge that a capture of flows of `flow_bytes` needs.
    fn carries(&self, flow_bytes: u64) -> Self::Carries;

    /// Returns the payload of a full packet, and the octets of that packet on the wire.
    fn full_packet(&self) -> (u32, u32);

    /// Returns the two ends before the first flow.
    fn conversation(&self, flow_bytes: u64) -> Conversation<Self>;

    /// Whether each flow has a connection of its own, so that packets of an earlier flow do not reach the flow.
    const CONNECTS: bool;

    /// Starts a flow between hosts whose timers tick at these phases.
    fn start(now: Instant, ends: &mut Conversation<Self>, flow_bytes: u64, phases: (Duration, Duration));

    /// Starts a flow between ends that know the round trip of an earlier flow, as ends do that served one before.
    fn resume(
        now: Instant,
        ends: &mut Conversation<Self>,
        flow_bytes: u64,
        phases: (Duration, Duration),
        _round_trip: Duration,
    ) {
        Self::start(now, ends, flow_bytes, phases);
    }

    /// Returns the number of phases that flows of `flow_bytes` have.
    #[cfg(feature = "fast")]
    fn phases(&self, _flow_bytes: u64) -> usize {
        1
    }

    /// Returns the phase of the next flow, a number below [`phases`](Self::phases). Flows of one phase that meet no loss take
    /// equally long, if the hosts add nothing. Returns `None` if earlier flows have left more than a phase to the next flow.
    #[cfg(feature = "fast")]
    fn phase(_ends: &Conversation<Self>, _flow_bytes: u64) -> Option<usize> {
        Some(0)
    }

    /// Leaves the ends as a flow of `flow_bytes` does that meets no loss, without the packets of that flow. Ends that begin anew
    /// with each flow stay as they are.
    #[cfg(feature = "fast")]
    fn pass(_ends: &mut Conversation<Self>, _flow_bytes: u64) {}

    /// Returns the mean round trip that the ends have measured, or zero if the ends measure none.
    fn round_trip(_ends: &Conversation<Self>) -> Duration {
        Duration::ZERO
    }

    /// Ends a flow that nobody waits for any more. A flow that gives up by itself needs no call.
    fn abandon(_ends: &mut Conversation<Self>) {}

    /// Returns the payload of the flow in progress that has not been sent for a first time, as far as that is known.
    fn unsent_bytes(_ends: &Conversation<Self>) -> u64 {
        0
    }

    /// Whether the flow in progress has ended, completed or failed.
    fn has_ended(ends: &Conversation<Self>) -> bool;

    /// Returns the completion time of a flow that has ended; `None` if the flow failed.
    fn completion(ends: &mut Conversation<Self>) -> Option<Duration>;

    /// Returns the counters of the flow, or of all flows so far.
    fn counters(ends: &Conversation<Self>) -> Counters;

    /// Returns how the hosts receive the packets of a flow.
    fn reception(host: &HostProfile) -> Reception;

    /// Returns the longest time of a loss-free flow of `flow_bytes` in which the behaviour of its ends does not depend on when
    /// packets are handed to them; `None` if the behaviour always depends on that.
    #[cfg(feature = "fast")]
    fn timing_invariant_for(&self, _flow_bytes: u64) -> Option<Duration> {
        None
    }

    /// Returns the latency that the hosts add to a whole flow, if the hosts do not add all latency to packets.
    fn once(_host: &HostProfile) -> Option<MessageLatency> {
        None
    }
}

/// The set-up that all blocks share.
pub(super) struct Serial<'a, T> {
    setup: Setup<'a>,
    host: &'a HostProfile,
    flow: FlowConfig,
    /// The latency that the hosts add to a whole flow.
    once: Option<MessageLatency>,
    reception: Reception,
    protocol: T,
    path: Path,
    /// The longest time for which a flow is waited for. A flow that has not ended by then is reported as unfinished.
    patience: Duration,
    /// Whether a flow that meets no loss always takes the same time.
    is_repeatable: bool,
    clean: CleanFlows,
}

type SerialNetwork<T> = Network<T, AnyLink<Addressed<<T as Protocol>::Packet>>>;

impl<'a, T: SerialProtocol> Serial<'a, T> {
    /// Returns the set-up for flows of `protocol` between hosts that are `one_way_ns` apart.
    pub(super) fn new(setup: Setup<'a>, protocol: T, one_way_ns: f64) -> Result<Self, ConfigError> {
        let config: &Config = setup.config;
        let host = config.require(&config.host, "host")?;
        let flow = *config.require(&config.flow, "flow")?;
        let (once, reception) = (T::once(host), T::reception(host));
        let per_frame = !config.loss.forward.depends_on_length();
        let clean_reverse = config.loss.reverse == LossModel::None;
        let has_clean_hops = setup.has_clean_hops();
        let crosses_alike = setup.plan.forgets() && per_frame && clean_reverse && has_clean_hops;
        let is_repeatable = crosses_alike && reception.is_free();
        let path = setup.path(one_way_ns)?;
        let round_trip = setup.rtt().unwrap_or(Duration::from_ns_f64(one_way_ns) * 2);
        let least = round_trip + Bytes(flow.size_bytes) / setup.rate.bit_rate();
        let patience = wait_for_flow_alone(least);
        let clean = CleanFlows::none();
        let mut serial =
            Self { host, flow, once, reception, path, patience, protocol, is_repeatable, clean, setup };
        if has_clean_hops {
            serial.clean = serial.clean_flows(crosses_alike);
        }
        Ok(serial)
    }

    /// Runs all trials, or the trials that are enough, and completes the row that `describe` begins and `detail` ends.
    pub(super) fn run(
        &self,
        control: &Control,
        describe: impl Fn(&T, &mut Row),
        detail: impl Fn(&T, &Totals, &mut Row),
    ) -> Result<Outcome, ConfigError> {
        let config = self.setup.config;
        let workers = Workers::new(config.threads)?;
        if let Some(part) = config.part {
            return self.run_part(&workers, part, control);
        }
        let (mut pieces, mut outcome) = (results::read(&config.parts)?, Outcome::default());
        let store = trials::store();
        for trials in control.looks(self.flow.trials) {
            let ran: u64 = pieces.iter().map(|piece| piece.blocks).sum();
            let missing = Blocks::new((trials, TRIALS_PER_BLOCK), config.seed).at(ran..u64::MAX);
            control.set_total(trials);
            let (more, interrupted) = self.run_blocks(&workers, &missing, &store, control)?;
            pieces.extend(more);
            outcome = Outcome { interrupted, ..self.outcome(&workers, &pieces, &describe, &detail)? };
            if interrupted || control.is_enough(&outcome) {
                break;
            }
            // A piece whose last block is not whole runs anew: the longer run has a whole block in its place.
            pieces.retain(Piece::is_whole);
        }
        Ok(outcome)
    }

    /// Runs some of the blocks, for a run that puts parts together.
    fn run_part(
        &self,
        workers: &Workers,
        part: PartConfig,
        control: &Control,
    ) -> Result<Outcome, ConfigError> {
        let all = Blocks::new((self.flow.trials, TRIALS_PER_BLOCK), self.setup.config.seed);
        let some = all.at(part.first_block..part.first_block.saturating_add(part.blocks));
        control.set_total(some.trials());
        let (pieces, interrupted) = self.run_blocks(workers, &some, &Store::default(), control)?;
        let part = (!interrupted).then(|| results::write(&pieces));
        Ok(Outcome { part, interrupted, ..Outcome::default() })
    }

    /// Runs these blocks. Returns the results of the finished blocks in order, and whether blocks are missing because the run was
    /// cancelled. The results of the trials are in the store.
    fn run_blocks(
        &self,
        workers: &Workers,
        blocks: &Blocks,
        store: &Store,
        control: &Control,
    ) -> Result<(Vec<Piece>, bool), ConfigError> {
        let run_piece = |blocks: &Blocks| {
            let mut piece = Piece::new(store);
            for block in blocks.iter().take_while(|_| !control.is_cancelled()) {
                self.run_block(&block, &mut piece, control.stop())?;
                if control.is_cancelled() {
                    break;
                }
                piece.blocks += 1;
                control.add_done(block.trials);
            }
            Ok(piece.finish())
        };
        let pieces = workers.run_pieces(blocks, run_piece)?;
        let ran: u64 = pieces.iter().map(|piece| piece.blocks).sum();
        Ok((pieces, ran < blocks.count()))
    }

    fn outcome(
        &self,
        workers: &Workers,
        pieces: &[Piece],
        describe: impl Fn(&T, &mut Row),
        detail: impl Fn(&T, &Totals, &mut Row),
    ) -> Result<Outcome, ConfigError> {
        let states = pieces.first().map(|piece| piece.states.clone()).unwrap_or_default();
        let mut totals = Totals::default();
        pieces.iter().for_each(|piece| totals.merge(&piece.totals));
        let mut row = Row::new(&self.setup);
        describe(&self.protocol, &mut row);
        row.set("flow_bytes", self.flow.size_bytes).set("trials", totals.trials);
        let trials: Vec<_> = pieces.iter().map(|piece| &piece.trials).collect();
        workers.share(|| trials::set_completion_times(&mut row, &trials))?;
        row.set("flows_hit", totals.hit).set("flows_unfinished", totals.unfinished);
        detail(&self.protocol, &totals, &mut row);
        row.set("retransmissions", totals.retransmissions)
            .set("timeouts", totals.timeouts)
            .set("frames_simulated", totals.frames_simulated)
            .set("frames_skipped", totals.frames_skipped);
        let columns = vec![("trials".to_owned(), trials::columns(&trials))];
        Ok(Outcome { row: row.finish(), columns, states, ..Outcome::default() })
    }

    /// Runs a block and adds its results to a piece.
    fn run_block(&self, block: &Block, piece: &mut Piece<Packing>, stop: &Stop) -> Result<(), ConfigError> {
        let capture = self.capture(block)?;
        let mut network = self.network(block, capture.tap())?.stopping(stop);
        for index in 0..block.trials {
            let streams = block.streams.trial(index);
            // A flow that is computed once would be recorded once, so under a capture every flow is run.
            if !capture.is_on()
                && let Some((trial, frames)) = self.clean.take(self, &mut network, &streams, stop)
            {
                piece.add(trial);
                piece.totals.frames_skipped += frames;
                continue;
            }
            let mut hosts = streams.stream("hosts");
            let once = draw_once(self.once.as_ref(), &mut hosts, self.flow.size_bytes);
            network.tap().begin_flow(index);
            let before = network.link.traffic().frames;
            let (near, far) = draws(&streams);
            network.set_draws(near, far);
            let ran = self.run_flow(&mut network, &mut hosts);
            if network.is_stopped() {
                break; // This flow is not over; the flows before it are kept.
            }
            piece.add(ran.with(once));
            piece.totals.frames_simulated += network.link.traffic().frames - before;
        }
        let (end, is_stopped) = (network.now(), network.is_stopped());
        if block.index == 0 {
            piece.states = states(&self.setup, &mut network.link, end, is_stopped)?;
        }
        capture.finish()
    }

    /// Opens the capture of the first block, or no capture: each block has a clock of its own, so only the first is captured.
    fn capture(&self, block: &Block) -> Result<Capture<T::Carries>, ConfigError> {
        if block.index > 0 {
            return Ok(Capture::none());
        }
        Capture::open(&self.setup, || self.protocol.carries(self.flow.size_bytes))
    }

    fn network(
        &self,
        block: &Block,
        tap: Tap<Addressed<T::Packet>>,
    ) -> Result<SerialNetwork<T>, ConfigError> {
        let conversation = self.protocol.conversation(self.flow.size_bytes);
        let mut link = self.setup.link(&block.streams)?;
        if block.index == 0 {
            link = inspected(&self.setup, link);
        }
        link.set_tap(tap.clone());
        let path = self.setup.impaired(self.path.clone(), &block.streams)?;
        let network = Network::new(self.protocol.clone(), link, path, vec![conversation]);
        let mut network = network.tapped(tap).skipping(self.setup.config.skip);
        network.set_reception(&self.reception);
        Ok(network)
    }

    /// Runs one flow, and then the network until no event is left or the link moves no data any more.
    fn run_flow(&self, network: &mut SerialNetwork<T>, hosts: &mut Stream) -> Trial {
        if self.is_repeatable {
            network.wait_until(next_stamp(network.now()));
        }
        let start = network.now();
        let phases = timer_phases(self.host, start, hosts);
        let lost_before = network.link.traffic().data_lost;
        let mut before = Counters::default();
        if T::CONNECTS {
            network.renew(0);
        }
        network.act(0, |now, ends| {
            T::start(now, ends, self.flow.size_bytes, phases);
            before = T::counters(ends);
        });
        network.run_while(0, |ends| !T::has_ended(ends), start + self.patience);
        if T::CONNECTS && !T::has_ended(network.conversation(0)) {
            network.renew(0);
            network.act(0, |_, ends| T::abandon(ends));
        }
        network.fall_silent();
        // Events after the end of the flow belong to the flow, too.
        let counted = T::counters(network.conversation(0)).since(&before);
        let mut took = None;
        network.act(0, |_, ends| took = T::completion(ends));
        Trial {
            took,
            lost_frames: (network.link.traffic().data_lost - lost_before) as u32,
            retransmissions: counted.retransmissions as u32,
            timeouts: counted.timeouts() as u32,
            repair: counted.slowest(),
        }
    }
}

/// Draws the latency that the hosts add to a whole flow of `bytes`.
pub(super) fn draw_once(latency: Option<&MessageLatency>, hosts: &mut Stream, bytes: u64) -> Duration {
    let quantile = uniform(hosts);
    latency.map_or(Duration::ZERO, |latency| latency.at(quantile, bytes))
}

/// Returns the random streams from which the near and the far host draw in a flow.
fn draws(streams: &Streams) -> (Stream, Stream) {
    const NEAR: StreamName = StreamName::new("hosts/near");
    const FAR: StreamName = StreamName::new("hosts/far");
    (streams.named(NEAR), streams.named(FAR))
}

/// Draws the places of the timer wheels of the two hosts relative to the start of the flow, so that the time of the flow does
/// not depend on when the flow starts. A place is the first tick after the start, and the jiffies counted by then as whole ticks.
pub(super) fn timer_phases(host: &HostProfile, start: Instant, hosts: &mut Stream) -> (Duration, Duration) {
    let tick = host.tick().as_ps();
    let mut phase = || {
        let drawn = hosts.next_u64() % (WHEEL_TICKS * tick);
        let first_tick = start.as_ps() + drawn % tick;
        let counted = (drawn / tick + WHEEL_TICKS - first_tick / tick % WHEEL_TICKS) % WHEEL_TICKS;
        Duration::from_ps(counted * tick + first_tick % tick)
    };
    (phase(), phase())
}

/// Returns the next whole millisecond. Hosts stamp packets in microseconds and milliseconds, so a flow that starts between two
/// stamps measures other round-trip times than a flow that starts on a stamp.
fn next_stamp(now: Instant) -> Instant {
    Instant::from_ps(now.as_ps().next_multiple_of(Duration::from_ms(1).as_ps()))
}
