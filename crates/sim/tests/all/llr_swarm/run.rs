//! The run of a world: the storm, the healing, the drain, and a while on a healed link.

use super::draw::{Arrivals, Direction};
use super::{Fault, World};
use lossylink_core::engine::llr::{ReceiverState, SenderState};
use lossylink_core::loss::{LossModel, LossProcess};
use lossylink_core::rng::Streams;
use lossylink_core::time::{Duration, Instant};
use lossylink_sim::net::llr::LlrCounters;
use lossylink_sim::net::{Frame, LineRate, LlrLink, ProtectedLink, Traffic};

/// The number of waiting frames from which on a saturated source waits for the port.
const SATURATED_BACKLOG: usize = 2;
/// The number of frames on the healed link, which must all arrive.
pub(crate) const PROBES: u64 = 20;
/// The number of events that no sound world needs.
const MOST_STEPS: u64 = 10_000_000;
/// The time without a frame taken after which a link counts as stuck, or blocked: the next frame is
/// offered anyway.
const PATIENCE: Duration = Duration::from_us(5);
/// The time for which the storm goes on after the last frame.
const AFTERMATH: Duration = Duration::from_us(200);

/// The evidence of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Evidence {
    /// The delivered frames, in order.
    pub(crate) delivered: Vec<Frame<u64>>,
    /// The frames delivered on the way back, in order.
    pub(crate) returned: Vec<u64>,
    /// The number of frames offered forward and backward, probes included.
    pub(crate) offered: (u64, u64),
    /// The number of frames that the queue dropped.
    pub(crate) queue_drops: u64,
    pub(crate) counters: LlrCounters,
    pub(crate) traffic: Traffic,
    pub(crate) reverse: Traffic,
    /// The number of frames in the replay buffer when no event is due any more.
    pub(crate) kept: usize,
    pub(crate) backlog: usize,
}

struct Run<'a> {
    world: &'a World,
    streams: Streams,
    link: LlrLink<u64>,
    now: Instant,
    steps: u64,
    faults: std::slice::Iter<'a, (u64, Fault)>,
    evidence: Evidence,
}

/// Runs `world` to the end.
///
/// # Errors
/// If it does not end.
pub(crate) fn run(world: &World) -> Result<Evidence, String> {
    let mut run = Run::new(world);
    run.storm()?;
    run.run_until(run.now + AFTERMATH)?;
    run.heal();
    run.drain()?;
    for _ in 0..PROBES {
        run.offer();
        run.drain()?;
    }
    Ok(run.finish())
}

impl<'a> Run<'a> {
    fn new(world: &'a World) -> Self {
        let streams = Streams::new(world.seed);
        let loss = |direction, name| LossProcess::new(&world.loss_at(direction, 0), streams.stream(name));
        let losses = (loss(Direction::Forward, "swarm/forward"), loss(Direction::Reverse, "swarm/reverse"));
        let (rate, options) = (LineRate::new(world.rate), &world.options);
        let (profile, propagation) = (&world.profile, world.propagation);
        let link = if world.is_established {
            LlrLink::new(profile, rate, propagation, options, losses, world.start)
        } else {
            LlrLink::unprotected(profile, rate, propagation, options, losses)
        };
        let faults = world.faults.iter();
        Self { world, streams, link, now: Instant::ZERO, steps: 0, faults, evidence: Evidence::default() }
    }

    /// Offers all frames, with frames on the way back and faults in between.
    fn storm(&mut self) -> Result<(), String> {
        let mut next_back = self.world.back.map_or(Instant::NEVER, |period| Instant::ZERO + period);
        let mut next_offer = Instant::ZERO;
        while self.evidence.offered.0 < self.world.frames {
            let offer = self.offer_due(next_offer);
            let due = self.link.poll_timeout();
            if due <= offer && due <= next_back {
                self.step(due)?;
            } else if next_back <= offer {
                self.now = next_back;
                self.offer_back();
                next_back += self.world.back.unwrap_or(Duration::ZERO);
            } else {
                self.now = offer;
                self.strike();
                self.offer();
                next_offer = self.next_offer();
            }
        }
        Ok(())
    }

    /// Returns when the next frame is offered.
    fn offer_due(&self, next_offer: Instant) -> Instant {
        match self.world.arrivals {
            Arrivals::Saturated if self.link.backlog() < SATURATED_BACKLOG => self.now,
            Arrivals::Saturated => next_offer + PATIENCE,
            Arrivals::Periodic(_) | Arrivals::Bursty { .. } => next_offer,
        }
    }

    fn next_offer(&self) -> Instant {
        match self.world.arrivals {
            Arrivals::Saturated => self.now,
            Arrivals::Periodic(period) => self.now + period,
            Arrivals::Bursty { burst, gap } if self.evidence.offered.0.is_multiple_of(burst) => {
                self.now + gap
            }
            Arrivals::Bursty { .. } => self.now,
        }
    }

    /// Lets the faults strike that are due before the next frame.
    fn strike(&mut self) {
        let number = self.evidence.offered.0;
        for blackout in &self.world.blackouts {
            if [blackout.frames.start, blackout.frames.end].contains(&number) {
                self.set_loss(blackout.direction, &self.world.loss_at(blackout.direction, number));
            }
        }
        while let Some(&(_, fault)) = self.faults.as_slice().first().filter(|(at, _)| *at == number) {
            self.faults.next();
            if matches!(fault, Fault::RestartReceiver | Fault::RestartBoth) {
                self.link.restart_receiver(self.now);
            }
            match fault {
                Fault::RestartSender | Fault::RestartBoth => self.link.start_over(self.now),
                Fault::Leave => {
                    self.link.leave(self.now);
                }
                Fault::RestartReceiver => {}
            }
        }
    }

    fn set_loss(&mut self, direction: Direction, model: &LossModel) {
        let name = format!("swarm/loss/{}", self.evidence.offered.0);
        let loss = LossProcess::new(model, self.streams.stream(&name));
        match direction {
            Direction::Forward => self.link.set_loss(loss),
            Direction::Reverse => self.link.set_reverse_loss(loss),
        }
    }

    fn offer(&mut self) {
        self.link.offer(self.now, self.world.frame(self.evidence.offered.0));
        self.evidence.offered.0 += 1;
    }

    fn offer_back(&mut self) {
        self.link.offer_back(self.now, self.world.frame(self.evidence.offered.1));
        self.evidence.offered.1 += 1;
    }

    fn step(&mut self, at: Instant) -> Result<(), String> {
        if at < self.now {
            return Err(format!("time goes back from {} to {at}", self.now));
        }
        self.now = at;
        self.link.advance(at);
        self.collect(at);
        if self.link.poll_timeout() <= at {
            return Err(format!("what was due at {at} is still due"));
        }
        self.steps += 1;
        if self.steps > MOST_STEPS { Err(format!("no end after {MOST_STEPS} events")) } else { Ok(()) }
    }

    fn collect(&mut self, now: Instant) {
        while let Some((_, frame)) = self.link.delivered().pop_due(now) {
            self.evidence.delivered.push(frame);
        }
        while let Some((_, frame)) = self.link.returned().pop_due(now) {
            self.evidence.returned.push(frame.payload);
        }
    }

    fn run_until(&mut self, end: Instant) -> Result<(), String> {
        while self.link.poll_timeout() <= end {
            self.step(self.link.poll_timeout())?;
        }
        self.now = end;
        Ok(())
    }

    /// Lets every event happen that needs no new frame. A protection that has given up for good is
    /// started again, as an operator does.
    fn drain(&mut self) -> Result<(), String> {
        loop {
            while !self.link.poll_timeout().is_never() {
                self.step(self.link.poll_timeout())?;
            }
            if self.link.states().0 != SenderState::Flush {
                return Ok(());
            }
            self.link.start_over(self.now);
        }
    }

    /// Ends all losses. A sender that never gives up does not find out that its receiver restarted,
    /// so the operator starts it again.
    fn heal(&mut self) {
        self.set_loss(Direction::Forward, &LossModel::None);
        self.set_loss(Direction::Reverse, &LossModel::None);
        let (sender, receiver) = self.link.states();
        if receiver == ReceiverState::Off && sender != SenderState::Off {
            self.link.start_over(self.now);
        }
    }

    fn finish(mut self) -> Evidence {
        self.collect(Instant::NEVER);
        let mut evidence = self.evidence;
        evidence.queue_drops = self.link.queue().dropped();
        evidence.counters = self.link.counters();
        evidence.traffic = *self.link.traffic();
        evidence.reverse = *self.link.reverse_traffic();
        evidence.kept = self.link.kept();
        evidence.backlog = self.link.backlog();
        evidence
    }
}
