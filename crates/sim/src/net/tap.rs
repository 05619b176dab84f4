//! Taps: whoever looks at frames as they set out on a hop, without touching them.
//!
//! A frame that nobody looks at costs one comparison, too little to be measured. A world generic
//! over its tap would save it and have two copies of everything: the compiler then no longer folds
//! in what both share, which was measured to cost 10 % of a stress run.

use super::Frame;
use lossylink_core::time::Instant;
use lossylink_core::wire::ethernet::EtherType;
use std::fmt;
use std::rc::Rc;

/// Which way a frame goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// As the data: from the near host to the far one.
    Forward,
    /// As the acknowledgements.
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
    /// Which way its frames go.
    pub const fn direction(self) -> Direction {
        match self {
            Self::ToLink | Self::ToFar => Direction::Forward,
            Self::BackToLink | Self::ToNear => Direction::Backward,
        }
    }
}

/// What is on the wire; frames of the hosts are as the hosts made them.
#[derive(Clone, Copy, Debug)]
pub enum Content<P> {
    /// A frame of the hosts without any header of the protection.
    Bare(Frame<P>),
    /// A frame of the hosts behind headers of the protection.
    Behind(Headers, Frame<P>),
    /// A frame of the protection itself, from switch to switch.
    Own {
        /// All that it says.
        headers: Headers,
        /// Whom it is for: the other switch, or whoever is at the other end.
        to: Neighbour,
        /// Octets on the wire; what the headers do not fill is zeros.
        octets: u32,
    },
}

/// Whom a frame of the protection is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Neighbour {
    /// The switch at the other end, by its address.
    Switch,
    /// Whoever is there: the group address of MAC control.
    Anyone,
}

/// Room for the longest headers: a pause frame's 20 octets.
const HEADERS_MAX: usize = 20;

/// What a protection writes between Ethernet's addresses and what it carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Headers {
    /// Announces them.
    pub ethertype: EtherType,
    octets: [u8; HEADERS_MAX],
    length: u8,
}

impl Headers {
    /// The headers that `emit` writes into a buffer of zeros; it returns their length.
    pub fn new(ethertype: EtherType, emit: impl FnOnce(&mut [u8]) -> usize) -> Self {
        let mut octets = [0; HEADERS_MAX];
        let length = emit(&mut octets);
        Self { ethertype, octets, length: length as u8 }
    }

    /// The octets behind the EtherType.
    pub fn octets(&self) -> &[u8] {
        &self.octets[..usize::from(self.length)]
    }
}

/// A frame that sets out on a hop.
#[derive(Clone, Copy, Debug)]
pub struct Sight<P> {
    /// When its first bit is on the wire; not before the present.
    pub at: Instant,
    /// Which way it goes.
    pub direction: Direction,
    /// Whether it will arrive whole.
    pub arrives: bool,
    /// What it is.
    pub content: Content<P>,
}

/// Whoever looks at frames that carry `P`.
pub trait Watch<P> {
    /// A frame sets out on the protected link; `now` is the present.
    fn see_on_link(&self, now: Instant, sight: Sight<P>);

    /// Which hop of `leg` is looked at, if any.
    fn watched_hop(&self, leg: LegName) -> Option<usize>;

    /// A frame sets out on the watched hop of a leg; `now` is the present.
    fn see_on_hop(&self, now: Instant, sight: Sight<P>);

    /// The frames to come belong to the flow with this number.
    fn begin_flow(&self, number: u64);
}

/// Where somebody may look at frames that carry `P`; by default nobody does. Clones are the same
/// tap.
#[derive(Clone)]
pub struct Tap<P>(Option<Rc<dyn Watch<P>>>);

impl<P> Tap<P> {
    /// A tap at which `watch` looks.
    pub fn new(watch: Rc<dyn Watch<P>>) -> Self {
        Self(Some(watch))
    }

    /// Whether somebody looks.
    pub const fn is_open(&self) -> bool {
        self.0.is_some()
    }

    /// A frame sets out on the protected link; what there is to see is made only if somebody looks.
    #[inline]
    pub fn see_on_link(&self, now: Instant, sight: impl FnOnce() -> Sight<P>) {
        if let Some(watch) = &self.0 {
            show(&**watch, now, sight);
        }
    }

    /// Who looks at a hop of `leg`, and at which.
    #[inline]
    pub fn on_leg(&self, leg: LegName) -> Option<(&dyn Watch<P>, usize)> {
        let watch = self.0.as_deref()?;
        watch.watched_hop(leg).map(|hop| (watch, hop))
    }

    /// The frames to come belong to the flow with this number.
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

/// Out of the way of the frames that nobody looks at.
#[cold]
#[inline(never)]
fn show<P>(watch: &dyn Watch<P>, now: Instant, sight: impl FnOnce() -> Sight<P>) {
    watch.see_on_link(now, sight());
}
