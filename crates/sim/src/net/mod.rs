//! The network between two hosts: frames, queues, hops, and the link that may be protected.
//!
//! ```text
//!  upstream hops --offer--> [queue | sending switch] == wire ==> [receiving switch] --delivered-->
//!  <--returned-- [sending switch] <== wire == [receiving switch] <--offer_back-- downstream hops
//! ```

mod any;
mod backward;
mod blueprint;
pub mod cells;
pub mod coded;
pub mod direct;
pub mod fec;
pub mod fec_model;
pub mod frame;
pub mod hop;
mod inspected;
mod latency;
mod line_rates;
pub mod linkguardian;
pub mod llr;
pub mod marking;
pub mod meter;
#[cfg(feature = "fast")]
mod passage;
mod payload;
pub mod plain;
pub mod queue;
mod report;
pub mod source;
mod state;
pub mod tap;
pub mod wire;

pub use any::{AnyLink, Visit};
pub use blueprint::{Blueprint, Losses, clean, queue_limits};
pub use cells::Cells;
pub use direct::{DirectLink, Handover};
pub use fec::FecLink;
pub use fec_model::FecModelLink;
pub use frame::{Ecn, Frame, LineRate};
pub use hop::Hop;
pub use inspected::Inspected;
pub use latency::Latency;
pub use line_rates::LineRates;
pub use linkguardian::LinkGuardianLink;
#[cfg(feature = "fast")]
pub use linkguardian::fast::{FastLinkGuardianLink, IdleLink};
pub use llr::LlrLink;
pub use marking::{Marker, Red};
#[cfg(feature = "fast")]
pub use passage::Passage;
pub use payload::Payload;
pub use plain::PlainLink;
pub use queue::FrameQueue;
pub use report::{Figure, Report, Value};
pub use state::{Carried, Ends, State};
pub use tap::{Direction, Sight, Tap};

pub use wire::{Traffic, Wire};

#[cfg(feature = "fast")]
use crate::kernel::Train;
use crate::kernel::{Pipe, Trains};
use lossylink_core::loss::LossProcess;
use lossylink_core::time::{Duration, Instant};
use source::Source;

/// The facts about a link that are known to whoever switches its protection on. The protection decides what use it makes of the advice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Advice {
    /// Copies of each retransmission that reach the target loss (LG-19).
    pub copies: u8,
    /// Copies of each control frame on the way back that reach the target loss (LG-46).
    pub control_copies: u8,
}

/// The frames that stay lost together when a protection fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GivesUp {
    /// A frame whose repairs were lost.
    Frames {
        /// The longest time from the last repair to the last event that the frame causes.
        lifetime: Duration,
        /// The largest number of frames behind the lost frame that are given up along with it.
        together: u64,
    },
    /// A block.
    Block {
        /// Frames of a full block.
        frames: u32,
        /// Losses that a block survives.
        spare: u32,
    },
}

impl Default for GivesUp {
    /// Returns frames that are given up each by itself, at once.
    fn default() -> Self {
        Self::Frames { lifetime: Duration::ZERO, together: 0 }
    }
}

/// A link between two switches, with or without a protection.
///
/// The owner calls [`ProtectedLink::offer`] and [`ProtectedLink::offer_back`] as frames reach the two switches, and
/// [`ProtectedLink::advance`] when [`ProtectedLink::poll_timeout`] has come. The owner takes the frames that come out of the two
/// pipes. Time never goes back.
///
/// ```text
///            protect                      leave, until it returns true
///  off, bare --------> on, protecting  --------------------------------> off, bare
/// ```
pub trait ProtectedLink<P: Payload> {
    /// Takes in a frame that reaches the queue in front of the link.
    fn offer(&mut self, now: Instant, frame: Frame<P>);

    /// Takes in a frame that reaches the far switch on its way back.
    fn offer_back(&mut self, now: Instant, frame: Frame<P>);

    /// Returns when the link next has an event of its own.
    fn poll_timeout(&self) -> Instant;

    /// Runs every event of the link that is due up to and including `until`, each at its time. When it returns,
    /// [`ProtectedLink::poll_timeout`] is later than `until`. Returns the time of the last event, [`Instant::ZERO`] if none was
    /// due.
    fn advance(&mut self, until: Instant) -> Instant;

    /// Runs everything that happens up to and including `until`, each at its time: the link's own events, and the frames that the
    /// two sources have by then. At equal times the link goes first, then the frames that come forward. Returns the time of the
    /// last event or frame, as [`ProtectedLink::advance`] does.
    #[inline]
    fn run(&mut self, until: Instant, forward: &mut impl Source<P>, backward: &mut impl Source<P>) -> Instant
    where
        Self: Sized,
    {
        run_one_by_one(self, until, forward, backward)
    }

    /// Returns the frames that leave the far switch forward, by the time of its decision.
    fn delivered(&mut self) -> &mut Trains<Frame<P>>;

    /// Returns the frames that leave the near switch backward.
    fn returned(&mut self) -> &mut Pipe<Frame<P>>;

    /// Returns how many frames wait in the queue in front of the link.
    fn backlog(&self) -> usize {
        self.queue().len()
    }

    /// Returns the buffer space of the frames that wait in front of the link, in all queues.
    fn waiting_bytes(&self) -> u64 {
        self.queue().bytes()
    }

    /// Returns the counts of frames and octets on the forward direction of the link.
    fn traffic(&self) -> &Traffic;

    /// Returns the counts of frames and octets on the reverse direction of the link.
    fn reverse_traffic(&self) -> &Traffic;

    /// Returns the queue in front of the link, for its counters.
    fn queue(&self) -> &FrameQueue<P>;

    /// Returns the queue in front of the link to write to, to start a measurement.
    fn queue_mut(&mut self) -> &mut FrameQueue<P>;

    /// Replaces the losses of the forward direction.
    fn set_loss(&mut self, loss: LossProcess);

    /// Returns the loss processes of the two directions, the data's first.
    fn losses_mut(&mut self) -> (&mut LossProcess, &mut LossProcess);

    /// Returns the time from which data that is still under way does not move any more, unless more frames come. The link has
    /// then moved no data for long, and only asks for an answer that does not come, or for nothing. Never, on a link that comes
    /// to rest by itself.
    fn standstill(&self) -> Instant {
        Instant::NEVER
    }

    /// Returns how many frames wait in front of the link, or are kept until the far end has said that it has them.
    fn under_way(&self) -> u64 {
        self.backlog() as u64
    }

    /// Returns the frames that stay lost together. The search for rare losses needs them.
    fn gives_up(&self) -> GivesUp {
        GivesUp::default()
    }

    /// Lets `tap` look at the frames on the wires.
    fn set_tap(&mut self, tap: Tap<P>);

    /// Switches the protection on, or makes a protection that is on follow `advice`. A user's choice outranks the advice. Frames
    /// that left before are not protected.
    fn protect(&mut self, now: Instant, advice: Advice);

    /// Takes the protection off, as soon as every protected frame has gone on. Returns true once the protection is off. Until
    /// then the caller asks again, or calls [`ProtectedLink::protect`] to keep the protection.
    fn leave(&mut self, now: Instant) -> bool;

    /// Returns the frames and wires that an unprotected link takes over in place of this link, once [`ProtectedLink::leave`] has
    /// returned true. Returns `None` if this link then carries frames as they come. An unprotected link always returns them.
    fn hand_over(&self) -> Option<Handover<P>> {
        None
    }

    /// Takes over frames and wires from an unprotected link. This link has carried nothing yet.
    ///
    /// # Panics
    /// If this link never hands over: then there is nothing to take over.
    fn take_over(&mut self, _now: Instant, _from: Handover<P>) {
        unreachable!("a link that never hands over takes nothing over");
    }

    /// Returns the bytes in the buffers of the protection's two ends at `now`.
    fn buffer_bytes(&mut self, _now: Instant) -> (u64, u64) {
        (0, 0)
    }

    /// Returns the most bytes that the far end held since the last call. A protection without a high-water mark returns the bytes
    /// that it holds at `now`.
    fn take_rx_high_water(&mut self, now: Instant) -> u64 {
        self.buffer_bytes(now).1
    }

    /// Returns how many frames the protection may add to the queue at once, beyond the frames that are offered.
    fn burst_frames(&self) -> usize {
        0
    }

    /// Returns the latencies of frames across the link, for intact and rebuilt frames apart, if the protection measures them.
    fn latency(&self) -> Option<&Latency> {
        None
    }

    /// Returns the report of the protection up to `now`.
    fn report(&mut self, now: Instant) -> Report;

    /// Returns the state of the two ends at `now`, once everything up to `now` has happened.
    fn state(&mut self, now: Instant) -> Ends;

    // --- Batches, for the fast half alone. The defaults are right for any link.

    /// Decides the fate of the frames that wait in the queue and leave by `until`. Returns true for a link that always knows a
    /// frame's fate and time of arrival when the frame is offered, whatever comes the other way. Frames of one direction may then
    /// be offered before earlier frames of the other, and the owner settles the queue ([`FrameQueue::settle`]) before it looks at
    /// the queue.
    #[cfg(feature = "fast")]
    fn decide_until(&mut self, _until: Instant) -> bool {
        false
    }

    /// Takes the first frames of a train of frames like `frame` at either switch, on a link that decides at once: as many frames
    /// as share one fate and leave the queue by `until`. A frame that is delivered so does not go through
    /// [`ProtectedLink::delivered`] or [`ProtectedLink::returned`].
    #[cfg(feature = "fast")]
    fn take(&mut self, _direction: Direction, _train: Train, _frame: &Frame<P>, _until: Instant) -> Passage {
        Passage::NONE
    }

    /// Returns when the forward direction next has an event of its own, while the two directions may take turns. The way back
    /// then changes nothing that leaves the link forward, and no frame of a host waits on the way back.
    #[cfg(feature = "fast")]
    fn poll_apart(&self) -> Option<Instant> {
        None
    }

    /// Runs everything that happens in one direction up to and including `until`, as far as the two directions may take turns. On
    /// the way back the run ends before the next event of the forward direction. Returns the time of the last event, as
    /// [`ProtectedLink::advance`] does.
    #[cfg(feature = "fast")]
    fn run_apart(
        &mut self,
        _direction: Direction,
        _until: Instant,
        _frames: &mut Trains<Frame<P>>,
    ) -> Instant {
        Instant::ZERO
    }
}

/// Equals [`ProtectedLink::run`], event by event.
#[inline]
fn run_one_by_one<P: Payload, L: ProtectedLink<P>>(
    link: &mut L,
    until: Instant,
    forward: &mut impl Source<P>,
    backward: &mut impl Source<P>,
) -> Instant {
    let (mut now, mut latest) = (Instant::ZERO, Instant::ZERO);
    loop {
        let (entry, back) = (forward.poll_timeout(link.backlog()), backward.poll_timeout(0));
        let room = if forward.waits_for_room() { link.poll_timeout() } else { Instant::NEVER };
        let next = entry.min(back).min(room);
        if next > until || next.is_never() {
            return latest.max(link.advance(until));
        }
        now = now.max(next);
        latest = now;
        link.advance(now);
        if entry <= now {
            forward.take(link.backlog(), |at, frame| link.offer(at.max(now), frame));
        } else if back <= now {
            backward.take(0, |at, frame| link.offer_back(at, frame));
        }
    }
}
