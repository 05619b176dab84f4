//! Taps: whoever taps a hop sees the frames as they set out on it, and does not touch them.
//!
//! A frame that nobody looks at costs one comparison, too little to be measured. A world generic over its tap would save the
//! comparison and have two copies of everything. The compiler then no longer folds in what both copies share, which was measured
//! to cost 10 % of a stress run.

use super::Frame;
use lossylink_core::time::Instant;
use lossylink_core::wire::ethernet::EtherType;
use std::fmt;
use std::rc::Rc;

/// The direction of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// The direction of the data: from the near host to the far one.
    Forward,
    /// The direction of the acknowledgements.
    Backward,
}

/// A sequence of hops in one direction, between a host and the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LegName {
    /// From the near host to the link.
    ToLink,
    /// From the link to the far host.
    ToFar,
    /// From the far host back to the link.
    BackToLink,
    /// From the link back to the near host.
    ToNear,
}

impl LegName {
    /// Returns the direction of the frames on this leg.
    pub const fn direction(self) -> Direction {
        match self {
            Self::ToLink | Self::ToFar => Direction::Forward,
            Self::BackToLink | Self::ToNear => Direction::Backward,
        }
    }
}

/// The content of a frame on the wire. Frames of the hosts are as the hosts made them.
#[derive(Clone, Copy, Debug)]
pub enum Content<P> {
    /// A frame of the hosts without any header of the protection.
    Bare(Frame<P>),
    /// A frame of the hosts behind headers of the protection.
    Behind(Headers, Frame<P>),
    /// A frame of the protection itself, from switch to switch.
    Own {
        /// The headers, which are all that the frame says.
        headers: Headers,
        /// The receiver of the frame: the other switch, or whoever is at the other end.
        to: Neighbour,
        /// Octets on the wire; octets that the headers do not fill are zeros.
        octets: u32,
    },
}

/// The neighbour that a frame of the protection is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Neighbour {
    /// The switch at the other end, by its address.
    Switch,
    /// Whichever station is at the other end: the group address of MAC control.
    Anyone,
}

/// Room for the longest headers: a pause frame's 20 octets.
const HEADERS_MAX: usize = 20;

/// The headers that a protection writes between Ethernet's addresses and the frame that they carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Headers {
    /// The EtherType that announces the headers.
    pub ethertype: EtherType,
    octets: [u8; HEADERS_MAX],
    length: u8,
}

impl Headers {
    /// Builds the headers that `emit` writes into a buffer of zeros; `emit` returns their length.
    pub fn new(ethertype: EtherType, emit: impl FnOnce(&mut [u8]) -> usize) -> Self {
        let mut octets = [0; HEADERS_MAX];
        let length = emit(&mut octets);
        Self { ethertype, octets, length: length as u8 }
    }

    /// Returns the octets behind the EtherType.
    pub fn octets(&self) -> &[u8] {
        &self.octets[..usize::from(self.length)]
    }
}

/// A frame that sets out on a hop.
#[derive(Clone, Copy, Debug)]
pub struct Sight<P> {
    /// The time at which the first bit of the frame is on the wire; not before the present.
    pub at: Instant,
    /// The direction of the frame.
    pub direction: Direction,
    /// Whether the frame will arrive whole.
    pub arrives: bool,
    /// The content of the frame.
    pub content: Content<P>,
}

/// An observer of frames that carry `P`.
pub trait Watch<P> {
    /// Sees a frame that sets out on the protected link; `now` is the present.
    fn see_on_link(&self, now: Instant, sight: Sight<P>);

    /// Returns which hop of `leg` is looked at, if any.
    fn watched_hop(&self, leg: LegName) -> Option<usize>;

    /// Sees a frame that sets out on the watched hop of a leg; `now` is the present.
    fn see_on_hop(&self, now: Instant, sight: Sight<P>);

    /// Announces that the frames to come belong to the flow with this number.
    fn begin_flow(&self, number: u64);
}

/// A place where an observer may look at frames that carry `P`; by default no observer does. Clones are the same tap.
#[derive(Clone)]
pub struct Tap<P>(Option<Rc<dyn Watch<P>>>);

impl<P> Tap<P> {
    /// Builds a tap at which `watch` looks.
    pub fn new(watch: Rc<dyn Watch<P>>) -> Self {
        Self(Some(watch))
    }

    /// Whether an observer looks.
    pub const fn is_open(&self) -> bool {
        self.0.is_some()
    }

    /// Shows a frame that sets out on the protected link. The sight is made only if an observer looks.
    #[inline]
    pub fn see_on_link(&self, now: Instant, sight: impl FnOnce() -> Sight<P>) {
        if let Some(watch) = &self.0 {
            show(&**watch, now, sight);
        }
    }

    /// Returns the observer that looks at a hop of `leg`, and the hop.
    #[inline]
    pub fn on_leg(&self, leg: LegName) -> Option<(&dyn Watch<P>, usize)> {
        let watch = self.0.as_deref()?;
        watch.watched_hop(leg).map(|hop| (watch, hop))
    }

    /// Announces that the frames to come belong to the flow with this number.
    pub fn begin_flow(&self, number: u64) {
        if let Some(watch) = &self.0 {
            watch.begin_flow(number);
        }
    }
}

impl<P> Default for Tap<P> {
    fn default() -> Self {
        Self(None)
    }
}

impl<P> fmt::Debug for Tap<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Tap").field(&self.0.is_some()).finish()
    }
}

/// Shows a frame to the observer; apart, so that frames that nobody looks at do not pay for it.
#[cold]
#[inline(never)]
fn show<P>(watch: &dyn Watch<P>, now: Instant, sight: impl FnOnce() -> Sight<P>) {
    watch.see_on_link(now, sight());
}
