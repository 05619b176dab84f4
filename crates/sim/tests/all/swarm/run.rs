//! The run of a world: the storm, the drain, and a while on a healed link.

use super::draw::Arrivals;
use super::{Direction, World};
use lossylink_core::engine::linkguardian::Position;
use lossylink_core::loss::{LossModel, LossProcess};
use lossylink_core::rng::Streams;
use lossylink_core::time::{Duration, Instant};
use lossylink_sim::net::linkguardian::Counters;
use lossylink_sim::net::{Frame, LineRate, LinkGuardianLink, ProtectedLink, Traffic};

/// The number of waiting frames from which on a saturated source waits for the port.
const SATURATED_BACKLOG: usize = 2;
/// The number of frames on the healed link, which must all arrive. The first reveals the losses
/// that the storm hid.
pub(crate) const PROBES: u64 = 20;
/// The number of events that no sound world needs.
const MOST_STEPS: u64 = 1_000_000_000;
/// The time from the last event to the last look at a copy: more than any round of a loop.
const SETTLING: Duration = Duration::from_ms(50);

/// The evidence of a run.
#[derive(Clone, Debug)]
pub(crate) struct Evidence {
    /// The delivered frames, in order.
    pub(crate) delivered: Vec<Frame<u64>>,
    /// The frames delivered on the way back, in order.
    pub(crate) returned: Vec<u64>,
    /// The number of frames offered forward and backward, probes included.
    pub(crate) offered: (u64, u64),
    /// The octets of the frames that the queue took.
    pub(crate) taken_octets: u64,
    /// The number of frames that the queue dropped.
    pub(crate) queue_drops: u64,
    pub(crate) counters: Counters,
    pub(crate) traffic: Traffic,
    pub(crate) reverse: Traffic,
    /// The copies, and the bytes in the reorder buffer, when no event is due any more.
    pub(crate) copies_held: usize,
    pub(crate) rx_bytes: u64,
    pub(crate) backlog: usize,
    /// The time of the last event.
    pub(crate) end: Instant,
}

struct Run<'a> {
    world: &'a World,
    streams: Streams,
    link: LinkGuardianLink<u64>,
    now: Instant,
    steps: u64,
    restarts: std::slice::Iter<'a, (u64, u32)>,
    evidence: Evidence,
}

/// Runs `world` to the end.
///
/// # Errors
/// If it does not end.
pub(crate) fn run(world: &World) -> Result<Evidence, String> {
    let mut run = Run::new(world);
    run.storm()?;
    run.drain()?;
    run.heal();
    run.offer();
    run.drain()?;
    for _ in 1..PROBES {
        run.make_room()?;
        run.offer();
    }
    run.drain()?;
    Ok(run.finish())
}

impl<'a> Run<'a> {
    fn new(world: &'a World) -> Self {
        let streams = Streams::new(world.seed);
        let loss = |direction, name| LossProcess::new(&world.loss_at(direction, 0), streams.stream(name));
        let mut link = LinkGuardianLink::new(
            &world.profile,
            LineRate::new(world.rate),
            world.propagation,
            &world.options,
            (loss(Direction::Forward, "swarm/forward"), loss(Direction::Reverse, "swarm/reverse")),
            &mut streams.stream("swarm/phases"),
        );
        if world.start != Position::ZERO {
            link.synchronise(Instant::ZERO, world.start);
        }
        let evidence = Evidence {
            delivered: Vec::new(),
            returned: Vec::new(),
            offered: (0, 0),
            taken_octets: 0,
            queue_drops: 0,
            counters: Counters::default(),
            traffic: Traffic::default(),
            reverse: Traffic::default(),
            copies_held: 0,
            rx_bytes: 0,
            backlog: 0,
            end: Instant::ZERO,
        };
        let restarts = world.restarts.iter();
        Self { world, streams, link, now: Instant::ZERO, steps: 0, restarts, evidence }
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
            Arrivals::Saturated => Instant::NEVER,
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
        while let Some(&(_, jump)) = self.restarts.as_slice().first().filter(|(at, _)| *at == number) {
            self.restarts.next();
            self.link.synchronise(self.now, self.link.next_position().plus(jump));
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
        let frame = self.world.frame(self.evidence.offered.0);
        let dropped = self.link.queue().dropped();
        self.link.offer(self.now, frame);
        if self.link.queue().dropped() == dropped {
            self.evidence.taken_octets += u64::from(frame.octets);
        }
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

    /// Lets the queue run down, so that the next frame is not dropped there.
    fn make_room(&mut self) -> Result<(), String> {
        while self.link.backlog() >= SATURATED_BACKLOG {
            self.step(self.link.poll_timeout())?;
        }
        Ok(())
    }

    /// Lets every event happen that needs no new frame.
    fn drain(&mut self) -> Result<(), String> {
        while !self.link.poll_timeout().is_never() {
            self.step(self.link.poll_timeout())?;
        }
        Ok(())
    }

    fn heal(&mut self) {
        self.set_loss(Direction::Forward, &LossModel::None);
        self.set_loss(Direction::Reverse, &LossModel::None);
    }

    fn finish(mut self) -> Evidence {
        self.collect(Instant::NEVER);
        let end = self.now + SETTLING;
        let mut evidence = self.evidence;
        evidence.queue_drops = self.link.queue().dropped();
        evidence.counters = self.link.counters(end);
        evidence.traffic = *self.link.traffic();
        evidence.reverse = *self.link.reverse_traffic();
        evidence.copies_held = self.link.copies_held(end);
        evidence.rx_bytes = self.link.buffer_bytes(end).1;
        evidence.backlog = self.link.backlog();
        evidence.end = self.now;
        evidence
    }
}
