//! The interface between a guard and the protection of its link: a line protocol, and the things that a
//! guard lends it.
//!
//! ```text
//!   queue --handle_lan--> [sending end]   --to_link--> link
//!   LAN <-----to_lan----- [receiving end] <--handle_link-- link
//! ```
//!
//! A line protocol turns frames of the LAN into frames of the link and back. It knows nothing of sessions,
//! hellos and queues: those are the guard's, and the same for every protocol. A guard holds one value for
//! each family. The value's sending end works while our protection is of that family, its receiving end
//! while the peer's is. The two directions of a link may be protected by different families.

use super::{Frame, FramePool, GuardCounters, Origin, Seal};
use crate::engine::linkguardian::PauseRequest;
use crate::engine::report::Group;
use crate::loss::LossLaw;
use crate::protection::Protection;
use crate::time::{Duration, Instant};
use crate::wire::ethernet::EtherType;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::fmt;

/// The octets that one end of a line protocol has in each hello: as many as a position takes.
pub type HelloOctets = [u8; 3];

/// A request to the peer's guard to hold its frames back, or to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PauseMessage {
    /// Whether to pause or to resume.
    pub request: PauseRequest,
    /// How often the request is sent, in case the link loses it (G-26).
    pub copies: u8,
}

/// The things that a guard lends its line protocol for one call.
#[derive(Debug)]
pub struct Surroundings<'a> {
    /// The present instant.
    pub now: Instant,
    /// The pool that every frame comes from and goes back to.
    pub pool: &'a mut FramePool,
    /// Frames for the LAN, in the order in which they leave.
    pub to_lan: &'a mut VecDeque<Frame>,
    /// Frames for the link, in the order in which they leave: ahead of all frames that still wait.
    pub to_link: &'a mut VecDeque<Frame>,
    /// The keys of the session.
    pub seal: &'a mut Seal,
    /// The longest of the recent round trips between the guards; `None` before the first.
    pub loop_time: Option<Duration>,
    /// A request for the peer's guard to hold its frames back, or to go on. A line protocol sets it.
    pub pause: &'a mut Option<PauseMessage>,
    /// The counters of the guard, for events that the guard cannot see itself.
    pub counters: &'a mut GuardCounters,
}

impl Surroundings<'_> {
    /// Returns an empty frame. Counts a frame that is lost because none is free.
    pub fn empty_frame(&mut self) -> Option<Frame> {
        let frame = self.pool.empty();
        self.counters.no_room += u64::from(frame.is_none());
        frame
    }

    /// Returns a copy of `bytes` in a frame. Counts a frame that is lost, as [`Surroundings::empty_frame`]
    /// does.
    pub fn copy(&mut self, bytes: &[u8]) -> Option<Frame> {
        let frame = self.pool.copy(bytes);
        self.counters.no_room += u64::from(frame.is_none());
        frame
    }
}

/// A protection of a link, with both of its ends, on whole frames.
///
/// Polling order: [`start_over`](Self::start_over) at each new session, and [`protect`](Self::protect)
/// right after it when our own protection changes. In between, in any order,
/// [`handle_lan`](Self::handle_lan) while our frames go by this protocol, both guards know each other and
/// [`may_send`](Self::may_send) allows it, [`handle_link`](Self::handle_link) for each frame with one of
/// its EtherTypes, and [`handle_timeout`](Self::handle_timeout) when [`poll_timeout`](Self::poll_timeout)
/// has come. [`poll_fill`](Self::poll_fill) follows once [`fill_at`](Self::fill_at) has come, the
/// transmitter is free and no more urgent frame waits. Every call may leave frames in `to_lan` and
/// `to_link`; the guard takes them after the call.
pub trait LineProtocol: fmt::Debug {
    /// Whether this line protocol carries out that protection.
    fn carries(&self, protection: &Protection) -> bool;

    /// Returns the EtherTypes of the protocol's frames on the link: the LAN may not send them (G-3).
    fn ethertypes(&self) -> &'static [EtherType];

    /// Returns by how much the protocol's longest frame is longer than the longest of the LAN, without the
    /// seal (G-4).
    fn headroom(&self) -> usize;

    /// Returns the length of a frame of the LAN on the link, without the seal.
    fn length_of(&self, frame: &[u8]) -> usize {
        frame.len() + self.headroom()
    }

    /// Protects the frames to be sent by this protection from now on, over a link that loses full frames by
    /// `law`. A protection of another family ends the sending.
    fn protect(&mut self, protection: &Protection, law: LossLaw);

    /// Begins a new session, in which the peer protects by `peer`. Frames held for the LAN leave, copies of
    /// sent frames go back to the pool, and numbers begin anew (G-6). Frames that wait in `to_link`
    /// afterwards are dropped.
    fn start_over(&mut self, around: &mut Surroundings<'_>, peer: &Protection);

    /// Whether a new frame may leave; if not, the guard's queue waits.
    fn may_send(&self, _now: Instant) -> bool {
        true
    }

    /// Sends a frame of the LAN as any number of frames in `to_link`, the original among them if it is to
    /// go unprotected.
    fn handle_lan(&mut self, around: &mut Surroundings<'_>, frame: Frame);

    /// Takes in a frame with one of the [`ethertypes`](Self::ethertypes) from the link. Returns its origin
    /// by its seal. A frame of no session changes nothing (G-3), and of a frame of the session before only
    /// the contents count (G-6).
    fn handle_link(&mut self, around: &mut Surroundings<'_>, frame: &[u8]) -> Origin;

    /// Returns when an idle link is to carry a frame of the protocol's own. The guard asks while both
    /// guards know each other.
    fn fill_at(&self) -> Instant {
        Instant::NEVER
    }

    /// Returns the frame for an idle link, if its time has come.
    fn poll_fill(&mut self, _around: &mut Surroundings<'_>) -> Option<Frame> {
        None
    }

    /// Returns when [`handle_timeout`](Self::handle_timeout) is due.
    fn poll_timeout(&self) -> Instant {
        Instant::NEVER
    }

    /// Carries out a deadline, if one has come.
    fn handle_timeout(&mut self, _around: &mut Surroundings<'_>) {}

    /// Returns the position up to which frames were sent, which a hello tells the peer's receiving end
    /// should all other frames be lost (G-9).
    fn sent(&self) -> HelloOctets {
        [0; 3]
    }

    /// Returns the position up to which frames have arrived, which a hello tells the peer's sending end
    /// should all other frames be lost (G-9).
    fn received(&self) -> HelloOctets {
        [0; 3]
    }

    /// Takes in from the peer's hello the position up to which the peer has sent.
    fn handle_sent(&mut self, _around: &mut Surroundings<'_>, _octets: HelloOctets) {}

    /// Takes in from the peer's hello the position up to which the peer has received.
    fn handle_received(&mut self, _around: &mut Surroundings<'_>, _octets: HelloOctets) {}

    /// Returns the protocol's counters, in groups; none as long as there is nothing to report.
    fn report(&self) -> Vec<Group> {
        Vec::new()
    }
}

/// The line protocol of no protection: frames pass as they are.
#[derive(Clone, Copy, Debug, Default)]
pub struct PassthroughLine;

impl LineProtocol for PassthroughLine {
    fn carries(&self, protection: &Protection) -> bool {
        *protection == Protection::None
    }

    fn ethertypes(&self) -> &'static [EtherType] {
        &[]
    }

    fn headroom(&self) -> usize {
        0
    }

    fn protect(&mut self, _protection: &Protection, _law: LossLaw) {}

    fn start_over(&mut self, _around: &mut Surroundings<'_>, _peer: &Protection) {}

    fn handle_lan(&mut self, around: &mut Surroundings<'_>, frame: Frame) {
        around.to_link.push_back(frame);
    }

    fn handle_link(&mut self, _around: &mut Surroundings<'_>, _frame: &[u8]) -> Origin {
        Origin::Foreign
    }
}
