//! The line protocols of a guard: which of them sends, which receives, and to which a frame belongs.

use super::hello;
use super::line::{LineProtocol, PassthroughLine, Surroundings};
use crate::engine::report::Group;
use crate::loss::LossLaw;
use crate::protection::Protection;
use crate::time::Instant;
use crate::wire::ethernet::EtherType;
use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

/// The place of the line protocol of no protection, which takes the frames that no other protocol carries.
const PASSTHROUGH: usize = 0;

/// One line protocol for each family, and the two that are in use.
#[derive(Debug)]
pub(super) struct Lines {
    all: Vec<Box<dyn LineProtocol>>,
    /// Every EtherType of the line protocols, and the place of its protocol.
    routes: Vec<(EtherType, usize)>,
    /// The place of the protocol of the frames that this end sends.
    ours: usize,
    /// The place of the protocol of the frames that the peer sends.
    theirs: usize,
}

impl Lines {
    /// Returns this line protocol alone, in use both ways under any protection of the link (RT-1).
    pub(super) fn only(line: Box<dyn LineProtocol>) -> Self {
        let routes = line.ethertypes().iter().map(|ethertype| (*ethertype, PASSTHROUGH)).collect();
        Self { all: vec![line], routes, ours: PASSTHROUGH, theirs: PASSTHROUGH }
    }

    /// Returns these line protocols and that of no protection, which is in use both ways.
    ///
    /// # Panics
    /// If two of the protocols want one EtherType, or one wants that of the hellos.
    pub(super) fn new(lines: Vec<Box<dyn LineProtocol>>) -> Self {
        let mut all: Vec<Box<dyn LineProtocol>> = vec![Box::new(PassthroughLine)];
        all.extend(lines);
        let mut routes = Vec::new();
        for (place, line) in all.iter().enumerate() {
            for &ethertype in line.ethertypes() {
                let is_free =
                    ethertype != hello::ETHERTYPE && !routes.iter().any(|(used, _)| *used == ethertype);
                assert!(is_free, "an EtherType belongs to one line protocol");
                routes.push((ethertype, place));
            }
        }
        Self { all, routes, ours: PASSTHROUGH, theirs: PASSTHROUGH }
    }

    /// Whether guards use an EtherType among themselves (G-3).
    pub(super) fn is_reserved(&self, ethertype: EtherType) -> bool {
        ethertype == hello::ETHERTYPE || self.routes.iter().any(|(used, _)| *used == ethertype)
    }

    /// Returns the line protocol whose frames have this EtherType.
    pub(super) fn owner(&mut self, ethertype: EtherType) -> Option<&mut dyn LineProtocol> {
        let (_, place) = self.routes.iter().find(|(used, _)| *used == ethertype)?;
        Some(self.all[*place].as_mut())
    }

    /// Returns the line protocol of the frames that this end sends.
    pub(super) fn ours(&self) -> &dyn LineProtocol {
        self.all[self.ours].as_ref()
    }

    /// Returns the line protocol of the frames that this end sends.
    pub(super) fn ours_mut(&mut self) -> &mut dyn LineProtocol {
        self.all[self.ours].as_mut()
    }

    /// Returns the line protocol of the frames that the peer sends.
    pub(super) fn theirs(&self) -> &dyn LineProtocol {
        self.all[self.theirs].as_ref()
    }

    /// Returns the line protocol of the frames that the peer sends.
    pub(super) fn theirs_mut(&mut self) -> &mut dyn LineProtocol {
        self.all[self.theirs].as_mut()
    }

    /// Returns the line protocols that our frames do not use: no acknowledgement of theirs can ride on our frames.
    pub(super) fn others_mut(&mut self) -> impl Iterator<Item = &mut Box<dyn LineProtocol>> {
        let ours = self.ours;
        self.all.iter_mut().enumerate().filter(move |(place, _)| *place != ours).map(|(_, line)| line)
    }

    /// Protects the frames to be sent by this protection from now on.
    pub(super) fn protect(&mut self, protection: &Protection, law: LossLaw) {
        self.ours = self.place_of(protection);
        self.all.iter_mut().for_each(|line| line.protect(protection, law));
    }

    /// Begins a new session, in which the peer protects by `peer` (G-6).
    pub(super) fn start_over(&mut self, around: &mut Surroundings<'_>, peer: &Protection) {
        self.theirs = self.place_of(peer);
        self.all.iter_mut().for_each(|line| line.start_over(around, peer));
    }

    fn place_of(&self, protection: &Protection) -> usize {
        self.all.iter().position(|line| line.carries(protection)).unwrap_or(PASSTHROUGH)
    }

    /// Returns when the first of the line protocols would fill an idle link.
    pub(super) fn fill_at(&self) -> Instant {
        self.earliest(|line| line.fill_at())
    }

    /// Returns the first deadline of the line protocols.
    pub(super) fn poll_timeout(&self) -> Instant {
        self.earliest(|line| line.poll_timeout())
    }

    fn earliest(&self, time: impl Fn(&dyn LineProtocol) -> Instant) -> Instant {
        self.all.iter().map(|line| time(line.as_ref())).min().unwrap_or(Instant::NEVER)
    }

    /// Carries out the deadlines that have come.
    pub(super) fn handle_timeout(&mut self, around: &mut Surroundings<'_>) {
        self.all.iter_mut().for_each(|line| line.handle_timeout(around));
    }

    /// Returns by how much a frame on the link may be longer than on the LAN, under any protection, without the
    /// seal (G-4).
    pub(super) fn headroom(&self) -> usize {
        self.all.iter().map(|line| line.headroom()).max().unwrap_or(0)
    }

    /// Returns the counters of all line protocols.
    pub(super) fn report(&self) -> Vec<Group> {
        self.all.iter().flat_map(|line| line.report()).collect()
    }
}
