//! The loop of a data plane: carry out due events, take waiting frames, answer commands, sleep, spin, repeat.

use crate::clock::Clock;
use crate::control::{Command, Control};
use crate::error::{Attempt, Result};
use crate::margin::Margin;
use crate::report;
use crate::rest::{REST, Rest};
use crate::sys;
use crate::sys::poll::wait;
use crate::sys::process;
use lossylink_core::engine::report::Kind;
use lossylink_core::loss::LossModel;
use lossylink_core::protection::Protection;
use lossylink_core::time::{Duration, Instant};
use serde_json::{Value, json};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// How long a loop without deadlines sleeps at most; nothing depends on it.
const LONGEST_SLEEP: Duration = Duration::from_secs(1);
/// How long after a frame a loop with a processor of its own keeps looking instead of sleeping: a
/// sleeping processor takes tens of microseconds to wake up, and hosts that ping do so each 0.2 s.
const LINGER: Duration = Duration::from_ms(250);
/// How long frames in flight may take to drain after the order to stop.
const DRAIN: Duration = Duration::from_ms(500);
/// Rounds without sleep between two looks at signals and commands, which cost a system call each.
const ROUNDS_BETWEEN_LOOKS: u32 = 256;
/// Picoseconds in a nanosecond.
const PS_PER_NS: u64 = 1_000;

/// A data plane that a loop drives.
pub trait Plane {
    /// Takes the frames that wait in the ports; `true` when there were any.
    ///
    /// # Errors
    /// When a port is gone.
    fn receive(&mut self) -> Result<bool>;

    /// Carries out every event that is due by `now`.
    ///
    /// # Errors
    /// When a port is gone.
    fn advance(&mut self, now: Instant) -> Result<()>;

    /// Sends the frames that the ports have gathered.
    fn flush(&mut self);

    /// Returns when the next event is due.
    fn next_event(&self) -> Instant;

    /// Returns the ports to watch while asleep. A port from which no more frames are taken is not among them,
    /// because it would end every sleep at once.
    fn readable(&self) -> [Option<BorrowedFd<'_>>; 2];

    /// Returns every counter, as an object.
    fn counters(&mut self) -> Value;

    /// Returns the help texts of the counters, in the same places as far as there are texts.
    fn describe(&self) -> Value;

    /// Takes other loss models from now on, and leaves the former models in their place: freeing a long list
    /// is not the loop's work.
    ///
    /// # Errors
    /// When this plane has no link of its own, or its protection cannot work with these losses.
    fn set_loss(&mut self, now: Instant, models: [&mut Option<LossModel>; 2]) -> Result<()>;

    /// Sets another protection from now on.
    ///
    /// # Errors
    /// When this plane does not know the protection, or protects nothing.
    fn protect(&mut self, now: Instant, protection: Option<&Protection>) -> Result<()>;

    /// Forgets the lateness recorded so far.
    fn clear(&mut self);

    /// Stops protecting, so that the frames that are held can drain.
    fn retire(&mut self, now: Instant);

    /// Whether no frame is held any more.
    fn is_drained(&self) -> bool;
}

/// How a loop is scheduled.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// Real-time priority to ask for.
    pub fifo_priority: Option<i32>,
    /// The processor to stay on.
    pub processor: Option<usize>,
    /// The least time before a deadline at which sleeping ends and spinning begins.
    pub spin: Duration,
}

/// A plane, its clock and its control socket.
#[derive(Debug)]
pub struct Runner<P> {
    plane: P,
    clock: Clock,
    control: Control,
    termination: OwnedFd,
    margin: Margin,
    /// Why the loop has no real-time priority; `None` when it has.
    ordinary: Option<String>,
    rest: Rest,
    /// How long the loop does not sleep after a frame.
    linger: Duration,
    /// The instant until which the loop does not sleep.
    awake_until: Instant,
    /// The instant until which the account of rest is kept.
    looked_at: Instant,
    stopping_since: Option<Instant>,
}

impl<P: Plane> Runner<P> {
    /// Prepares the calling thread (priority, memory, timers) and builds the loop.
    pub fn new(plane: P, clock: Clock, control: Control, termination: OwnedFd, pace: Pace) -> Self {
        let ordinary = prepare_thread(pace);
        let has_processor = ordinary.is_none() && pace.processor.is_some();
        Self {
            plane,
            clock,
            control,
            termination,
            margin: Margin::new(pace.spin),
            ordinary,
            rest: Rest::default(),
            linger: if has_processor { LINGER } else { Duration::ZERO },
            awake_until: Instant::ZERO,
            looked_at: Instant::ZERO,
            stopping_since: None,
        }
    }

    /// Runs until a signal or the command `stop`, and then until the frames that are held have drained.
    ///
    /// # Errors
    /// When a port is gone.
    pub fn run(mut self) -> Result<()> {
        let mut rounds = 0;
        loop {
            self.plane.advance(self.clock.now())?;
            let busy = self.plane.receive()?;
            self.plane.flush();
            if self.is_finished() {
                return Ok(());
            }
            let slept = self.pause(busy)?;
            rounds += 1;
            if slept || rounds == ROUNDS_BETWEEN_LOOKS {
                self.serve();
                rounds = 0;
            }
        }
    }

    fn is_finished(&self) -> bool {
        self.stopping_since
            .is_some_and(|since| self.plane.is_drained() || self.clock.now().saturating_since(since) > DRAIN)
    }

    /// Sleeps unless frames have come, or an event is due so soon that spinning is surer; `true` if it slept.
    fn pause(&mut self, busy: bool) -> Result<bool> {
        let now = self.clock.now();
        self.rest.worked(now.saturating_since(self.looked_at));
        self.looked_at = now;
        if busy {
            self.awake_until = now + self.linger;
        }
        let ahead = self.plane.next_event().saturating_since(now);
        if now >= self.awake_until && !busy && ahead > self.margin.ahead() {
            self.sleep(now, ahead.saturating_sub(self.margin.ahead()).min(LONGEST_SLEEP))?;
        } else if self.ordinary.is_none() && self.rest.is_due(ahead) {
            // The rest watches no descriptor: a rest that a waiting frame cuts short would be none.
            wait(&[], Some(REST.as_ps() / PS_PER_NS)).attempting("rest")?;
        } else {
            return Ok(false);
        }
        self.looked_at = self.clock.now();
        self.rest.slept(self.looked_at.saturating_since(now));
        Ok(true)
    }

    /// Sleeps until a frame, a command or a signal comes, for at most `longest`.
    fn sleep(&mut self, now: Instant, longest: Duration) -> Result<()> {
        let control = self.control.readable();
        let [near, far] = self.plane.readable().map(|port| port.unwrap_or(control));
        let watched = [near, far, control, self.termination.as_fd()];
        wait(&watched, Some(longest.as_ps() / PS_PER_NS)).attempting("wait for frames")?;
        let slept = self.clock.now().saturating_since(now);
        if slept >= longest {
            self.margin.woke_late(slept - longest);
        }
        Ok(())
    }

    /// Answers signals and commands.
    fn serve(&mut self) {
        let Self { plane, clock, control, ordinary, stopping_since, .. } = self;
        let now = clock.now();
        let mut stop = signalled(self.termination.as_fd());
        control.answer(|command| {
            stop |= *command == Command::Stop;
            answer(plane, command, now, ordinary.as_deref())
        });
        if stop && stopping_since.is_none() {
            plane.retire(now);
            *stopping_since = Some(now);
        }
    }
}

/// Carries out one command and returns the answer.
fn answer(plane: &mut impl Plane, command: &mut Command, now: Instant, ordinary: Option<&str>) -> Value {
    let done = match command {
        Command::Counters => {
            let mut counters = plane.counters();
            counters["uptime_seconds"] = json!(now.as_secs_f64());
            counters["scheduling"] = json!(ordinary.map_or("fifo", |_| "ordinary"));
            counters["scheduling_note"] = json!(ordinary);
            return counters;
        }
        Command::Describe => {
            let mut help = plane.describe();
            help["uptime_seconds"] = report::documented("How long the data plane has been up.", Kind::Level);
            return help;
        }
        Command::Loss { forward, reverse } => plane.set_loss(now, [forward, reverse]),
        Command::Protect { protection } => plane.protect(now, protection.as_ref()),
        Command::Clear => {
            plane.clear();
            Ok(())
        }
        Command::Stop => Ok(()),
    };
    match done {
        Ok(()) => json!({"done": true}),
        Err(error) => json!({"error": error.to_string()}),
    }
}

/// Whether a signal to end has come.
fn signalled(termination: BorrowedFd<'_>) -> bool {
    // One record of signalfd(2).
    let mut record = [0; 128];
    matches!(sys::read(termination, &mut record), Ok(Some(_)))
}

/// Makes the thread as punctual as its rights allow; returns the reason if it has no real-time priority.
fn prepare_thread(pace: Pace) -> Option<String> {
    // Without these settings the loop still works, a little later: lateness is recorded in any case.
    let _ = process::without_timer_slack();
    let _ = process::lock_memory();
    let _ = pace.processor.map(process::run_on);
    match pace.fifo_priority.map(process::run_fifo) {
        Some(Ok(())) => None,
        Some(Err(reason)) => Some(format!("SCHED_FIFO refused: {reason}")),
        None => Some("SCHED_FIFO not asked for".to_owned()),
    }
}
