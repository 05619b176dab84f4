//! A path through one process: port, guard, link, guard, port.
//!
//! ```text
//!   h4 --port-- [near guard] == forward, reverse == [far guard] --port-- h8
//! ```
//!
//! Events happen in the order of their times, as in a simulator. Frames that wait in the ports are taken in
//! between, at the time at which they are seen. In a plain wire the guards look into no frame (G-25).

use super::Direction;
use crate::clock::Clock;
use crate::error::Result;
use crate::histogram::Histogram;
use crate::port::Port;
use lossylink_core::guard::{Guard, Side};
use lossylink_core::time::Instant;
use std::os::fd::BorrowedFd;

/// Frames taken from one port before due events are carried out again: 64 full frames are 0.8 ms of
/// serialisation at 1 Gb/s, and about 0.1 ms of work where each crosses by itself.
const RECEIVE_BATCH: usize = 64;
/// The most rounds of due events before the ports are looked at in any case.
const CATCH_UP_ROUNDS: usize = 4;
/// The two ends of the path: near and far.
pub(crate) const ENDS: [usize; 2] = [0, 1];

/// An end of the path: its port and its guard.
#[derive(Debug)]
pub struct Station {
    /// The port toward the host.
    pub port: Box<dyn Port>,
    /// The guard between the host and the link.
    pub guard: Guard,
    /// How late frames were handed to the host.
    pub lateness: Histogram,
    /// When each frame that the port has gathered was due.
    gathered: Vec<Instant>,
}

impl Station {
    /// Builds a station that has passed no frame yet.
    pub fn new(port: Box<dyn Port>, guard: Guard) -> Self {
        Self { port, guard, lateness: Histogram::default(), gathered: Vec::new() }
    }

    /// Hands to the host the frames that the guard has for it; `due` is when that should have happened. The
    /// lateness of a frame counts until its handing over begins: on a TAP the rest is the host's own receive
    /// path, up to its answer and the waking of its program. Frames that the port gathers are handed over by
    /// `flush`.
    fn deliver(&mut self, due: Instant, clock: &Clock) {
        while let Some(frame) = self.guard.poll_transmit(due, Side::Lan) {
            if self.port.gathers() {
                self.gathered.push(due);
            } else {
                self.lateness.record(clock.now().saturating_since(due));
            }
            self.port.send(&frame);
            self.guard.recycle(frame);
        }
    }

    /// Hands over the frames that the port has gathered.
    fn flush(&mut self, clock: &Clock) {
        if !self.gathered.is_empty() {
            let now = clock.now();
            self.gathered.drain(..).for_each(|due| self.lateness.record(now.saturating_since(due)));
        }
        self.port.flush();
    }
}

/// Frames in one buffer, one after another.
#[derive(Debug, Default)]
struct Inbox {
    bytes: Vec<u8>,
    /// The offset at which each frame ends.
    ends: Vec<usize>,
}

impl Inbox {
    fn put(&mut self, frame: &[u8]) {
        self.bytes.extend_from_slice(frame);
        self.ends.push(self.bytes.len());
    }

    fn frames(&self) -> impl Iterator<Item = &[u8]> {
        let starts = std::iter::once(&0).chain(&self.ends);
        starts.zip(&self.ends).map(|(&start, &end)| &self.bytes[start..end])
    }

    fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }
}

/// A whole path.
#[derive(Debug)]
pub struct Path {
    /// The ends: near (h4) and far (h8).
    pub stations: [Station; 2],
    /// Direction `i` leads away from station `i`.
    pub directions: [Direction; 2],
    /// When the timers of the guards are due, as of the last event of each.
    timers: [Instant; 2],
    clock: Clock,
    /// The frames that have just been read.
    inbox: Inbox,
    is_retired: bool,
}

impl Path {
    /// Builds a path between two stations.
    pub fn new(stations: [Station; 2], directions: [Direction; 2], clock: Clock) -> Self {
        Self {
            stations,
            directions,
            timers: [Instant::NEVER; 2],
            clock,
            inbox: Inbox::default(),
            is_retired: false,
        }
    }

    /// Takes no more frames from the hosts, so that the frames that are held can drain.
    pub fn retire(&mut self) {
        self.is_retired = true;
    }

    /// Takes the frames that wait in the ports; `true` when there were any.
    ///
    /// # Errors
    /// When a port is gone.
    pub fn receive(&mut self) -> Result<bool> {
        let mut any = false;
        for end in ENDS {
            any |= !self.is_retired && self.receive_from(end)?;
        }
        Ok(any)
    }

    /// Takes frames from the port at `end`. The frames enter at a time after the reading, so that none
    /// crosses faster than the link allows. No older event is left undone, because a guard's time never goes
    /// back.
    fn receive_from(&mut self, end: usize) -> Result<bool> {
        let Self { stations, inbox, .. } = self;
        inbox.clear();
        // Frames that the port has dropped are taken as well.
        let taken = stations[end].port.receive(RECEIVE_BATCH, &mut |frame| inbox.put(frame))?;
        if inbox.is_empty() {
            return Ok(taken > 0);
        }
        let now = self.catch_up();
        let Self { stations, inbox, .. } = self;
        inbox.frames().for_each(|frame| stations[end].guard.handle_frame(now, Side::Lan, frame));
        self.drive(end, now);
        Ok(true)
    }

    /// Carries out due events until no event is due, and returns the time. Delivering a frame runs the
    /// kernel's receive path, whose answers wait in the ports at once: the answers must not enter at a time
    /// at which they were not there yet. A loop that cannot keep up goes on after a few rounds.
    fn catch_up(&mut self) -> Instant {
        let mut now = self.clock.now();
        for _ in 0..CATCH_UP_ROUNDS {
            if self.next_event() > now {
                break;
            }
            self.happen_until(now);
            now = self.clock.now();
        }
        now
    }

    /// Carries out every event that is due by `now`, in order of time, and lets the frames leave.
    pub fn advance(&mut self, now: Instant) {
        // Between two rounds a guard may have been told to protect in another way.
        self.timers = ENDS.map(|end| self.stations[end].guard.poll_timeout());
        self.happen_until(now);
        self.flush();
    }

    fn happen_until(&mut self, now: Instant) {
        loop {
            let (end, due) = self.earliest();
            if due > now {
                break;
            }
            self.happen(end, due);
        }
    }

    /// Sends the frames that the ports have gathered.
    pub fn flush(&mut self) {
        self.stations.iter_mut().for_each(|station| station.flush(&self.clock));
    }

    /// Returns when the next event is due.
    pub fn next_event(&self) -> Instant {
        self.earliest().1
    }

    /// Returns the ports to watch while asleep.
    pub fn readable(&self) -> [Option<BorrowedFd<'_>>; 2] {
        ENDS.map(|end| (!self.is_retired).then(|| self.stations[end].port.readable()))
    }

    /// Returns the end with the earliest event, and when that event is due. Ties go to the near end.
    fn earliest(&self) -> (usize, Instant) {
        let due = ENDS.map(|end| self.timers[end].min(self.directions[end].next_event()));
        if due[1] < due[0] { (1, due[1]) } else { (0, due[0]) }
    }

    /// Carries out the events that are due at `end`: its timer, its transmitter, the arrival at the other
    /// end.
    fn happen(&mut self, end: usize, due: Instant) {
        if self.timers[end] <= due {
            self.stations[end].guard.handle_timeout(due);
            self.drive(end, due);
        }
        if self.directions[end].finish_sending(due) {
            self.drive(end, due);
        }
        while let Some(frame) = self.directions[end].arrive(due) {
            self.stations[1 - end].guard.handle_frame(due, Side::Link, &frame);
            self.stations[end].guard.recycle(frame);
            self.drive(1 - end, due);
        }
    }

    /// Follows an event of a guard: delivers to its host and starts its next frame on the link.
    fn drive(&mut self, end: usize, now: Instant) {
        let (station, direction) = (&mut self.stations[end], &mut self.directions[end]);
        station.deliver(now, &self.clock);
        while direction.is_idle() {
            let Some(frame) = station.guard.poll_transmit(now, Side::Link) else { break };
            if let Some(lost) = direction.start(now, frame) {
                station.guard.recycle(lost);
            }
        }
        self.timers[end] = station.guard.poll_timeout();
    }
}
