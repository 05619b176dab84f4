//! The storm over a link, and its end: frames are offered both ways, faults strike, and events happen in their order.

use super::scene::{Arrivals, Direction, Scene};
use lossylink_core::loss::{LossModel, LossProcess};
use lossylink_core::rng::Streams;
use lossylink_core::time::{Duration, Instant};
use lossylink_sim::net::{Frame, LinkGuardianLink, LlrLink, ProtectedLink, Traffic};

/// The number of waiting frames from which on a saturated source waits for the port.
const SATURATED_BACKLOG: usize = 2;

/// A link over which storms break.
pub(crate) trait Subject: ProtectedLink<u64> {
    fn set_reverse_loss(&mut self, loss: LossProcess);
}

impl Subject for LinkGuardianLink<u64> {
    fn set_reverse_loss(&mut self, loss: LossProcess) {
        Self::set_reverse_loss(self, loss);
    }
}

impl Subject for LlrLink<u64> {
    fn set_reverse_loss(&mut self, loss: LossProcess) {
        Self::set_reverse_loss(self, loss);
    }
}

/// A record of the frames of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Record {
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
    pub(crate) traffic: Traffic,
    pub(crate) reverse: Traffic,
    pub(crate) backlog: usize,
}

/// The limits of a storm.
#[derive(Clone, Copy)]
pub(crate) struct Limits {
    /// The number of events that no sound world needs.
    pub(crate) most_steps: u64,
    /// The time without a frame taken after which a saturated source offers the next frame anyway.
    pub(crate) patience: Option<Duration>,
}

pub(crate) struct Storm<'a, L> {
    scene: &'a Scene,
    limits: Limits,
    pub(crate) link: L,
    pub(crate) now: Instant,
    steps: u64,
    record: Record,
}

impl<'a, L: Subject> Storm<'a, L> {
    pub(crate) fn new(scene: &'a Scene, link: L, limits: Limits) -> Self {
        Self { scene, limits, link, now: Instant::ZERO, steps: 0, record: Record::default() }
    }

    /// Offers all frames, with frames on the way back and faults in between. `strike` lets the faults of a protection strike
    /// that are due before the frame of a number.
    ///
    /// # Errors
    /// If events go on without an end, or out of their order.
    pub(crate) fn rage(&mut self, mut strike: impl FnMut(&mut L, Instant, u64)) -> Result<(), String> {
        let mut next_back = self.scene.back.map_or(Instant::NEVER, |period| Instant::ZERO + period);
        let mut next_offer = Instant::ZERO;
        while self.record.offered.0 < self.scene.frames {
            let offer = self.offer_due(next_offer);
            let due = self.link.poll_timeout();
            if due <= offer && due <= next_back {
                self.step(due)?;
            } else if next_back <= offer {
                self.now = next_back;
                self.offer_back();
                next_back += self.scene.back.unwrap_or(Duration::ZERO);
            } else {
                self.now = offer;
                self.black_out();
                strike(&mut self.link, self.now, self.record.offered.0);
                self.offer();
                next_offer = self.next_offer();
            }
        }
        Ok(())
    }

    /// Returns when the next frame is offered.
    fn offer_due(&self, next_offer: Instant) -> Instant {
        match self.scene.arrivals {
            Arrivals::Saturated if self.link.backlog() < SATURATED_BACKLOG => self.now,
            Arrivals::Saturated => {
                self.limits.patience.map_or(Instant::NEVER, |patience| next_offer + patience)
            }
            Arrivals::Periodic(_) | Arrivals::Bursty { .. } => next_offer,
        }
    }

    fn next_offer(&self) -> Instant {
        match self.scene.arrivals {
            Arrivals::Saturated => self.now,
            Arrivals::Periodic(period) => self.now + period,
            Arrivals::Bursty { burst, gap } if self.record.offered.0.is_multiple_of(burst) => self.now + gap,
            Arrivals::Bursty { .. } => self.now,
        }
    }

    /// Begins and ends the blackouts that do so before the next frame.
    fn black_out(&mut self) {
        let number = self.record.offered.0;
        for blackout in &self.scene.blackouts {
            if [blackout.frames.start, blackout.frames.end].contains(&number) {
                self.set_loss(blackout.direction, &self.scene.loss_at(blackout.direction, number));
            }
        }
    }

    fn set_loss(&mut self, direction: Direction, model: &LossModel) {
        let name = format!("swarm/loss/{}", self.record.offered.0);
        let loss = LossProcess::new(model, Streams::new(self.scene.seed).stream(&name));
        match direction {
            Direction::Forward => self.link.set_loss(loss),
            Direction::Reverse => self.link.set_reverse_loss(loss),
        }
    }

    /// Ends all losses.
    pub(crate) fn heal(&mut self) {
        self.set_loss(Direction::Forward, &LossModel::None);
        self.set_loss(Direction::Reverse, &LossModel::None);
    }

    pub(crate) fn offer(&mut self) {
        let frame = self.scene.frame(self.record.offered.0);
        let dropped = self.link.queue().dropped();
        self.link.offer(self.now, frame);
        if self.link.queue().dropped() == dropped {
            self.record.taken_octets += u64::from(frame.octets);
        }
        self.record.offered.0 += 1;
    }

    fn offer_back(&mut self) {
        self.link.offer_back(self.now, self.scene.frame(self.record.offered.1));
        self.record.offered.1 += 1;
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
        let most = self.limits.most_steps;
        if self.steps > most { Err(format!("no end after {most} events")) } else { Ok(()) }
    }

    fn collect(&mut self, now: Instant) {
        while let Some((_, frame)) = self.link.delivered().pop_due(now) {
            self.record.delivered.push(frame);
        }
        while let Some((_, frame)) = self.link.returned().pop_due(now) {
            self.record.returned.push(frame.payload);
        }
    }

    /// Lets the events until `end` happen.
    ///
    /// # Errors
    /// Those of [`Storm::rage`].
    pub(crate) fn run_until(&mut self, end: Instant) -> Result<(), String> {
        while self.link.poll_timeout() <= end {
            self.step(self.link.poll_timeout())?;
        }
        self.now = end;
        Ok(())
    }

    /// Lets the queue run down, so that the next frame is not dropped there.
    ///
    /// # Errors
    /// Those of [`Storm::rage`].
    pub(crate) fn make_room(&mut self) -> Result<(), String> {
        while self.link.backlog() >= SATURATED_BACKLOG {
            self.step(self.link.poll_timeout())?;
        }
        Ok(())
    }

    /// Lets every event happen that needs no new frame.
    ///
    /// # Errors
    /// Those of [`Storm::rage`].
    pub(crate) fn drain(&mut self) -> Result<(), String> {
        while !self.link.poll_timeout().is_never() {
            self.step(self.link.poll_timeout())?;
        }
        Ok(())
    }

    /// Returns the link, and the record of the run.
    pub(crate) fn finish(mut self) -> (L, Record) {
        self.collect(Instant::NEVER);
        let Self { link, record, .. } = self;
        let record = Record {
            queue_drops: link.queue().dropped(),
            traffic: *link.traffic(),
            reverse: *link.reverse_traffic(),
            backlog: link.backlog(),
            ..record
        };
        (link, record)
    }
}
