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
pub use linkguardian::fast::{Calm, FastLinkGuardianLink};
pub use llr::LlrLink;
pub use marking::{Marker, Red};
pub use passage::Passage;
pub use payload::Payload;
pub use plain::PlainLink;
pub use queue::FrameQueue;
pub use report::{Figure, Report, Value};
pub use state::{Carried, Ends, State};
pub use tap::{Direction, Sight, Tap};

pub use wire::{Traffic, Wire};

use crate::kernel::{Pipe, Train, Trains};
use lossylink_core::loss::LossProcess;
use lossylink_core::time::{Duration, Instant};
use source::Source;

/// What whoever switches a protection on knows of the link. What it is worth is the protection's to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Advice {
    /// Copies of each retransmission that reach the target loss (LG-19).
    pub copies: u8,
    /// Copies of each control frame on the way back that do (LG-46).
    pub control_copies: u8,
}

/// What of the data stays lost together when a protection fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GivesUp {
    /// A frame whose repairs were lost.
    Frames {
        /// How long after the last of them nothing of the frame can come any more, at the longest.
        settled: Duration,
        /// Frames behind it, at most, that are given up along with it.
        together: u64,
    },
    /// A block.
    Block {
        /// Frames of a full block.
        frames: u32,
        /// Losses that it survives.
        spare: u32,
    },
}

impl Default for GivesUp {
    /// Each frame by itself, at once.
    fn default() -> Self {
        Self::Frames { settled: Duration::ZERO, together: 0 }
    }
}

/// A link between two switches, with whatever protects it.
///
/// The owner calls [`ProtectedLink::offer`] and [`ProtectedLink::offer_back`] as frames reach the
/// two switches, [`ProtectedLink::advance`] when [`ProtectedLink::poll_timeout`] has come, and takes
/// the frames that come out of the two pipes. Time never goes back.
///
/// ```text
///            protect                      leave, until it returns true
///  off, bare --------> on, protecting  --------------------------------> off, bare
/// ```
pub trait ProtectedLink<P: Payload> {
    /// A frame reaches the queue in front of the link.
    fn offer(&mut self, now: Instant, frame: Frame<P>);

    /// A frame reaches the far switch on its way back.
    fn offer_back(&mut self, now: Instant, frame: Frame<P>);

    /// When the link next does something by itself.
    fn poll_timeout(&self) -> Instant;

    /// Does everything that is due up to and including `until`, each at its time. When it
    /// returns, [`ProtectedLink::poll_timeout`] is later than `until`. Gives the time of the last of it,
    /// [`Instant::ZERO`] if there was nothing to do.
    fn advance(&mut self, until: Instant) -> Instant;

    /// Takes the frames that `source` has up to and including `until`, each at its time. What is due by then beyond the
    /// sending switch may wait for the next [`ProtectedLink::advance`], which comes before any other call. Gives the time of
    /// the last that happened, as that does.
    fn feed(&mut self, until: Instant, source: &mut impl Source<P>) -> Instant {
        let mut latest = Instant::ZERO;
        loop {
            let entry = source.poll_timeout(self.backlog());
            let next = if source.waits_for_room() { entry.min(self.poll_timeout()) } else { entry };
            if next > until || next.is_never() {
                return latest;
            }
            latest = latest.max(next);
            self.advance(latest);
            if entry <= latest {
                source.take(self.backlog(), |at, frame| self.offer(at.max(latest), frame));
            }
        }
    }

    /// Lets happen what happens up to and including `until`: what is due by itself, and the frames
    /// that the two pipes bring. On a tie the link goes first, then what comes forward. Gives the time of
    /// the last that happened, as [`ProtectedLink::advance`] does.
    #[inline]
    fn run(
        &mut self,
        until: Instant,
        forward: &mut Trains<Frame<P>>,
        backward: &mut Trains<Frame<P>>,
    ) -> Instant {
        let mut latest = Instant::ZERO;
        loop {
            let entry = forward.poll_timeout().min(backward.poll_timeout());
            latest = latest.max(self.advance(entry.min(until)));
            if entry > until || entry.is_never() {
                return latest;
            }
            latest = entry;
            if forward.poll_timeout() == entry {
                forward.take(|at, frame| self.offer(at, *frame));
            } else {
                backward.take(|at, frame| self.offer_back(at, *frame));
            }
        }
    }

    /// When the forward direction next does something by itself, if the two may go apart for now: what the way back does concerns only
    /// what leaves it, and no frame of a host waits there.
    fn poll_forward(&self) -> Option<Instant> {
        None
    }

    /// Lets happen in the forward direction alone what happens up to and including `until`, as far as the two may go apart. Gives the
    /// time of the last that happened, as [`ProtectedLink::advance`] does.
    fn run_forward(&mut self, _until: Instant, _forward: &mut Trains<Frame<P>>) -> Instant {
        Instant::ZERO
    }

    /// The same on the way back, up to an instant before the forward direction next does something, while the two may go apart.
    fn run_back(&mut self, _until: Instant, _backward: &mut Trains<Frame<P>>) -> Instant {
        Instant::ZERO
    }

    /// Frames that leave the far switch forward, by the time of its decision.
    fn delivered(&mut self) -> &mut Trains<Frame<P>>;

    /// Frames that leave the near switch backward.
    fn returned(&mut self) -> &mut Pipe<Frame<P>>;

    /// How many frames wait in the queue in front of the link.
    fn backlog(&self) -> usize {
        self.queue().len()
    }

    /// Buffer space of the frames that wait there, in all queues.
    fn waiting_bytes(&self) -> u64 {
        self.queue().bytes()
    }

    /// What went over the forward direction of the link.
    fn traffic(&self) -> &Traffic;

    /// What went over the reverse direction of the link.
    fn reverse_traffic(&self) -> &Traffic;

    /// The queue in front of the link, for its counters.
    fn queue(&self) -> &FrameQueue<P>;

    /// The queue in front of the link to write to, to start a measurement.
    fn queue_mut(&mut self) -> &mut FrameQueue<P>;

    /// Replaces the losses of the forward direction.
    fn set_loss(&mut self, loss: LossProcess);

    /// The loss processes of the two directions, the data's first.
    fn losses_mut(&mut self) -> (&mut LossProcess, &mut LossProcess);

    /// From then on data that is still under way does not move any more, unless more comes: the link has moved none for long, and only
    /// asks for an answer that does not come, or for nothing. Never, on a link that comes to rest by itself.
    fn standstill(&self) -> Instant {
        Instant::NEVER
    }

    /// Frames that wait in front of the link, or are kept until the far end has said that it has them.
    fn under_way(&self) -> u64 {
        self.backlog() as u64
    }

    /// What stays lost together: how rare losses are looked for.
    fn gives_up(&self) -> GivesUp {
        GivesUp::default()
    }

    /// Lets `tap` look at the wires.
    fn set_tap(&mut self, tap: Tap<P>);

    /// Switches the protection on, or makes it follow `advice` where it is on; what the user chose wins.
    /// Frames that left before are not protected.
    fn protect(&mut self, now: Instant, advice: Advice);

    /// Takes the protection off, as soon as everything protected has gone on: true once it is off. Until
    /// then the caller asks again, or calls [`ProtectedLink::protect`] to keep it.
    fn leave(&mut self, now: Instant) -> bool;

    /// What an unprotected link takes over in place of this one once [`ProtectedLink::leave`] has returned
    /// true; `None` if this link then carries frames as they come. An unprotected link always gives it.
    fn hand_over(&self) -> Option<Handover<P>> {
        None
    }

    /// Takes over from an unprotected link. This link has carried nothing yet.
    ///
    /// # Panics
    /// If it never hands over: then there is nothing to take over.
    fn take_over(&mut self, _now: Instant, _from: Handover<P>) {
        unreachable!("a link that never hands over takes nothing over");
    }

    /// Bytes in the buffers of the protection's two ends at `now`.
    fn buffer_bytes(&mut self, _now: Instant) -> (u64, u64) {
        (0, 0)
    }

    /// The most bytes that the far end held since this was asked last; a protection without such a mark
    /// says what it holds at `now`.
    fn take_rx_high_water(&mut self, now: Instant) -> u64 {
        self.buffer_bytes(now).1
    }

    /// Frames that the protection may add to the queue at once, beyond those that are offered.
    fn burst_frames(&self) -> usize {
        0
    }

    /// Lets `frames` data frames of `octets` pass without looking at each, if they are certain to cross
    /// as others before them did; false, and nothing has happened, if they are not.
    fn skip_clean(&mut self, _frames: u64, _octets: u32) -> bool {
        false
    }

    /// The link, if it is at rest, nobody looks at it, and it carries frames that are certain to arrive by arithmetic.
    fn calm(&self) -> Option<Calm> {
        None
    }

    /// Carries what `calm` has carried since it was this link, if all of it is certain to arrive and the link is at rest again
    /// by `end`; false, and nothing has happened, if not.
    fn carry_calmly(&mut self, _calm: Calm, _end: Instant) -> bool {
        false
    }

    /// Whether a frame's fate and its time of arrival are known when it is offered, whatever comes the other way, so
    /// that frames of one direction may be offered before earlier ones of the other.
    fn decides_at_once(&self) -> bool {
        false
    }

    /// Decides on the frames that wait in the queue, as far as it knows already what becomes of them, and they leave by
    /// `until`. A link that decides at once does so; the owner settles the queue ([`FrameQueue::settle`]) before it looks at it.
    fn decide_waiting(&mut self, _until: Instant) {}

    /// Carries the first frames of a train of such as `frame`, as far as it knows at once what becomes of them, and they
    /// leave the queue by `until`, like [`ProtectedLink::decide_waiting`]. What is delivered does not go through
    /// [`ProtectedLink::delivered`].
    fn carry_train(&mut self, _train: Train, _frame: &Frame<P>, _until: Instant) -> Passage {
        Passage::NONE
    }

    /// The same on the way back, for [`ProtectedLink::returned`].
    fn carry_train_back(&mut self, _train: Train, _frame: &Frame<P>) -> Passage {
        Passage::NONE
    }

    /// How long frames took across the link by what became of them, where the protection tells.
    fn latency(&self) -> Option<&Latency> {
        None
    }

    /// What the protection has done by `now`.
    fn report(&mut self, now: Instant) -> Report;

    /// What the two ends are about at `now`, once everything up to then has happened.
    fn state(&mut self, now: Instant) -> Ends;
}
