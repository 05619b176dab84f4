//! The network between two hosts: frames, queues, hops, and the link that may be protected.
//!
//! ```text
//!  upstream hops --offer--> [queue | sending switch] == wire ==> [receiving switch] --delivered-->
//!  <--returned-- [sending switch] <== wire == [receiving switch] <--offer_back-- downstream hops
//! ```

mod any;
pub mod cells;
pub mod coded;
pub mod fec;
pub mod fec_model;
pub mod frame;
pub mod hop;
pub mod linkguardian;
pub mod llr;
pub mod marking;
pub mod meter;
pub mod plain;
pub mod queue;
pub mod tap;
pub mod wire;

pub use any::AnyLink;
pub use cells::Cells;
pub use fec::FecLink;
pub use fec_model::FecModelLink;
pub use frame::{Ecn, Frame, LineRate};
pub use hop::Hop;
pub use linkguardian::LinkGuardianLink;
pub use llr::LlrLink;
pub use marking::{Marker, Red};
pub use plain::PlainLink;
pub use queue::FrameQueue;
pub use tap::{Direction, Sight, Tap};
pub use wire::{Traffic, Wire};

use crate::kernel::Pipe;
use lossylink_core::time::Instant;

/// A link between two switches, with whatever protects it.
///
/// The owner calls [`ProtectedLink::offer`] and [`ProtectedLink::offer_back`] as frames reach the
/// two switches, [`ProtectedLink::advance`] when [`ProtectedLink::deadline`] has come, and takes
/// the frames that come out of the two pipes. Time never goes back.
pub trait ProtectedLink<P: Copy + Default> {
    /// A frame reaches the queue in front of the link.
    fn offer(&mut self, now: Instant, frame: Frame<P>);

    /// A frame reaches the far switch on its way back.
    fn offer_back(&mut self, now: Instant, frame: Frame<P>);

    /// When the link next does something by itself.
    fn deadline(&self) -> Instant;

    /// Does everything that is due up to and including `until`, each at its time. When it
    /// returns, the deadline lies behind `until`.
    fn advance(&mut self, until: Instant);

    /// Lets happen what happens up to and including `until`: what is due by itself, and the frames
    /// that the two pipes bring. On a tie the link goes first, then what comes forward.
    #[inline]
    fn run(&mut self, until: Instant, forward: &mut Pipe<Frame<P>>, backward: &mut Pipe<Frame<P>>) {
        loop {
            let entry = forward.due().min(backward.due());
            self.advance(entry.min(until));
            if entry > until || entry.is_never() {
                return;
            }
            if forward.due() == entry {
                forward.take(|at, frame| self.offer(at, *frame));
            } else {
                backward.take(|at, frame| self.offer_back(at, *frame));
            }
        }
    }

    /// Frames that leave the far switch forward, by the time of its decision.
    fn delivered(&mut self) -> &mut Pipe<Frame<P>>;

    /// Frames that leave the near switch backward.
    fn returned(&mut self) -> &mut Pipe<Frame<P>>;

    /// How many frames wait in the queue in front of the link.
    fn backlog(&self) -> usize;

    /// Buffer space of the frames that wait there, in all queues.
    fn waiting_bytes(&self) -> u64 {
        self.queue().bytes()
    }

    /// What went over the forward direction of the link.
    fn traffic(&self) -> &Traffic;

    /// The queue in front of the link, for its counters.
    fn queue(&self) -> &FrameQueue<P>;

    /// The same, to start a measurement.
    fn queue_mut(&mut self) -> &mut FrameQueue<P>;

    /// Bytes in the Tx and the Rx buffer of the protection at `now`.
    fn buffer_bytes(&mut self, _now: Instant) -> (u64, u64) {
        (0, 0)
    }
}
