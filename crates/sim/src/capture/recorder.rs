//! The tap that records one hop into a file.

use super::frame::{self, FrameBytes};
use super::order::InOrder;
use super::{Carries, PcapngFile, Place};
use crate::net::tap::{Direction, LegName, Sight, Tap};
use lossylink_core::time::Instant;
use std::cell::RefCell;
use std::io::{self, Write};
use std::rc::Rc;

/// A recorder of one hop, whose frames carry what `C` knows. Clones record into the same file.
pub struct Recorder<C, W: Write> {
    place: Place,
    recording: Rc<RefCell<Recording<C, W>>>,
}

struct Recording<C, W: Write> {
    carries: C,
    ordered: bool,
    waiting: InOrder<Seen>,
    file: PcapngFile<W>,
}

#[derive(Debug)]
struct Seen {
    direction: Direction,
    arrives: bool,
    bytes: FrameBytes,
}

impl<C, W: Write> Recorder<C, W> {
    /// A recorder of `place`; `ordered` is the delivery that LinkGuardian's frames ask for.
    pub fn new(place: Place, ordered: bool, carries: C, file: PcapngFile<W>) -> Self {
        let recording = Recording { carries, ordered, waiting: InOrder::new(), file };
        Self { place, recording: Rc::new(RefCell::new(recording)) }
    }

    /// Ends the file, when the world with its clones is gone, and gives the output back.
    ///
    /// # Errors
    /// The first thing that went wrong when writing.
    ///
    /// # Panics
    /// If a clone is left, which could record on.
    pub fn finish(self) -> io::Result<W> {
        let recording = Rc::into_inner(self.recording).expect("the world that was recorded is gone");
        let mut recording = recording.into_inner();
        recording.write_until(Instant::NEVER);
        recording.file.finish()
    }
}

impl<C, W: Write> Recording<C, W> {
    fn record<P>(&mut self, now: Instant, sight: &Sight<P>)
    where
        C: Carries<P>,
    {
        debug_assert!(sight.at >= now, "a frame was seen after it had left");
        let bytes = frame::bytes(&sight.content, sight.direction, self.ordered, &self.carries);
        self.waiting.push(sight.at, Seen { direction: sight.direction, arrives: sight.arrives, bytes });
        self.write_until(now);
    }

    fn write_until(&mut self, now: Instant) {
        while let Some((at, seen)) = self.waiting.pop_due(now) {
            self.file.append(at, seen.direction, seen.arrives, &seen.bytes);
        }
    }
}

impl<C, W: Write> Clone for Recorder<C, W> {
    fn clone(&self) -> Self {
        Self { place: self.place, recording: Rc::clone(&self.recording) }
    }
}

impl<P, C: Carries<P>, W: Write> Tap<P> for Recorder<C, W> {
    fn see_on_link(&self, now: Instant, sight: Sight<P>) {
        if self.place == Place::Link {
            self.recording.borrow_mut().record(now, &sight);
        }
    }

    fn watched_hop(&self, leg: LegName) -> Option<usize> {
        self.place.index_in(leg)
    }

    fn see_on_hop(&self, now: Instant, sight: Sight<P>) {
        self.recording.borrow_mut().record(now, &sight);
    }

    fn begin_flow(&self, number: u64) {
        self.recording.borrow_mut().carries.begin_flow(number);
    }
}
