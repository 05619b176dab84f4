//! The seam between a guard and what protects its link: a line protocol, and what a guard lends it.
//!
//! ```text
//!   queue --handle_lan--> [sending end]   --to_link--> link
//!   LAN <-----to_lan----- [receiving end] <--handle_link-- link
//! ```
//!
//! A line protocol turns frames of the LAN into frames of the link and back. It knows nothing of
//! sessions, hellos and queues: those are the guard's, and the same for every protocol. A guard holds one
//! value for each family. Its sending end works while our protection is of that family, its receiving end
//! while the peer's is; the two directions of a link may be protected by different families.

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

/// What rides in each hello for one end of a line protocol: as much as a position takes.
pub type HelloOctets = [u8; 3];

/// A word to the peer's guard to hold its frames back, or to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PauseMessage {
    /// Which of the two.
    pub request: PauseRequest,
    /// How often it is said, in case the link loses it (G-26).
    pub copies: u8,
}

/// What a guard lends its line protocol for one call.
#[derive(Debug)]
pub struct Surroundings<'a> {
    /// The present instant.
    pub now: Instant,
    /// Where every frame comes from and goes back to.
    pub pool: &'a mut FramePool,
    /// Frames for the LAN, in the order in which they leave.
    pub to_lan: &'a mut VecDeque<Frame>,
    /// Frames for the link, in the order in which they leave: ahead of everything that still waits.
    pub to_link: &'a mut VecDeque<Frame>,
    /// The session's keys.
    pub seal: &'a mut Seal,
    /// The longest of the recent round trips between the guards; `None` before the first.
    pub loop_time: Option<Duration>,
    /// Set to have the peer's guard hold its frames back, or go on.
    pub pause: &'a mut Option<PauseMessage>,
    /// The guard's events, for those that it cannot see itself.
    pub counters: &'a mut GuardCounters,
}

impl Surroundings<'_> {
    /// An empty frame; a frame that is lost because none is free is counted.
    pub fn empty_frame(&mut self) -> Option<Frame> {
        let frame = self.pool.empty();
        self.counters.no_room += u64::from(frame.is_none());
        frame
    }

    /// A copy of `bytes` in a frame; counted like [`Surroundings::empty_frame`].
    pub fn copy(&mut self, bytes: &[u8]) -> Option<Frame> {
        let frame = self.pool.copy(bytes);
        self.counters.no_room += u64::from(frame.is_none());
        frame
    }
}

/// One way of protecting a link, both of its ends, on whole frames.
///
/// Polling order: [`start_over`](Self::start_over) at each new session, and
/// [`protect`](Self::protect) right after it when our own protection changes. In between, in any order,
/// [`handle_lan`](Self::handle_lan) while our frames go by this protocol, both guards know each other and
/// [`may_send`](Self::may_send) allows it, [`handle_link`](Self::handle_link) for each frame with one
/// of its EtherTypes, and [`handle_timeout`](Self::handle_timeout) when
/// [`poll_timeout`](Self::poll_timeout) has come. [`poll_fill`](Self::poll_fill) follows once
/// [`fill_at`](Self::fill_at) has come, the transmitter is free and nothing more urgent waits. Every call
/// may leave frames in `to_lan` and `to_link`; the guard takes them after it.
pub trait LineProtocol: fmt::Debug {
    /// Whether this is the protocol of that protection.
    fn carries(&self, protection: &Protection) -> bool;

    /// The EtherTypes of its frames on the link: the LAN may not send them (G-3).
    fn ethertypes(&self) -> &'static [EtherType];

    /// By how much its longest frame is longer than the longest of the LAN, without the seal (G-4).
    fn headroom(&self) -> usize;

    /// How long a frame of the LAN is on the link, without the seal.
    fn length_of(&self, frame: &[u8]) -> usize {
        frame.len() + self.headroom()
    }

    /// Sends by this protection from now on, over a link that loses full frames by `law`. A
    /// protection of another family ends the sending.
    fn protect(&mut self, protection: &Protection, law: LossLaw);

    /// A new session, in which the peer protects by `peer`: what is held for the LAN goes out, what is
    /// kept of frames that were sent goes back to the pool, and numbers begin anew (G-6). Whatever waits in
    /// `to_link` afterwards is dropped.
    fn start_over(&mut self, around: &mut Surroundings<'_>, peer: &Protection);

    /// Whether a new frame may leave; if not, the guard's queue waits.
    fn may_send(&self, _now: Instant) -> bool {
        true
    }

    /// A frame of the LAN leaves: as any number of frames in `to_link`, the original among them if it
    /// is to go unprotected.
    fn handle_lan(&mut self, around: &mut Surroundings<'_>, frame: Frame);

    /// A frame with one of the [`ethertypes`](Self::ethertypes) arrived from the link; tells where its
    /// seal says that it is from. One of no session changes nothing (G-3), and of the session before only
    /// contents count (G-6).
    fn handle_link(&mut self, around: &mut Surroundings<'_>, frame: &[u8]) -> Origin;

    /// When an idle link is to carry a frame of the protocol's own; asked while both guards know each
    /// other.
    fn fill_at(&self) -> Instant {
        Instant::NEVER
    }

    /// The frame for an idle link, if its time has come.
    fn poll_fill(&mut self, _around: &mut Surroundings<'_>) -> Option<Frame> {
        None
    }

    /// When [`handle_timeout`](Self::handle_timeout) is due.
    fn poll_timeout(&self) -> Instant {
        Instant::NEVER
    }

    /// A deadline may have come.
    fn handle_timeout(&mut self, _around: &mut Surroundings<'_>) {}

    /// What the peer's receiving end must know should all else be lost: how far was sent (G-9).
    fn sent(&self) -> HelloOctets {
        [0; 3]
    }

    /// What the peer's sending end must know should all else be lost: how far has arrived (G-9).
    fn received(&self) -> HelloOctets {
        [0; 3]
    }

    /// How far the peer has sent, from its hello.
    fn handle_sent(&mut self, _around: &mut Surroundings<'_>, _octets: HelloOctets) {}

    /// How far the peer has received, from its hello.
    fn handle_received(&mut self, _around: &mut Surroundings<'_>, _octets: HelloOctets) {}

    /// Its counters, in groups; none as long as there is nothing to tell.
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
