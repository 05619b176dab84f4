//! The recorder of a capture, which writes the frames of one hop into a file.

use super::frame::{self, FrameBytes};
use super::order::InOrder;
use super::{Carries, PcapngFile, Place};
use crate::net::tap::{Direction, LegName, Sight, Tap, Watch};
use lossylink_core::time::Instant;
use std::cell::RefCell;
use std::io::{self, Write};
use std::rc::Rc;

/// A recorder of one hop. `carries` of type `C` knows the packets that the frames carry.
pub struct Recorder<C, W: Write> {
    place: Place,
    recording: Rc<RefCell<Recording<C, W>>>,
}

struct Recording<C, W: Write> {
    carries: C,
    waiting: InOrder<Seen>,
    /// The file; `None` once it has ended.
    file: Option<PcapngFile<W>>,
}

#[derive(Debug)]
struct Seen {
    direction: Direction,
    arrives: bool,
    bytes: FrameBytes,
}

impl<C, W: Write> Recorder<C, W> {
    /// Builds a recorder of `place`.
    pub fn new(place: Place, carries: C, file: PcapngFile<W>) -> Self {
        let recording = Recording { carries, waiting: InOrder::new(), file: Some(file) };
        Self { place, recording: Rc::new(RefCell::new(recording)) }
    }

    /// Returns the tap through which the recorder looks.
    pub fn tap<P>(&self) -> Tap<P>
    where
        C: Carries<P> + 'static,
        W: 'static,
    {
        Tap::new(Rc::new(Self { place: self.place, recording: Rc::clone(&self.recording) }))
    }

    /// Ends the file and returns the output.
    ///
    /// # Errors
    /// The first error of writing.
    ///
    /// # Panics
    /// If the file has ended already.
    pub fn finish(&self) -> io::Result<W> {
        let mut recording = self.recording.borrow_mut();
        recording.write_until(Instant::NEVER);
        recording.file.take().expect("a capture ends once").finish()
    }
}

impl<C, W: Write> Recording<C, W> {
    fn record<P>(&mut self, now: Instant, sight: &Sight<P>)
    where
        C: Carries<P>,
    {
        debug_assert!(sight.at >= now, "a frame was seen after it had left");
        let bytes = frame::bytes(&sight.content, sight.direction, &self.carries);
        self.waiting.push(sight.at, Seen { direction: sight.direction, arrives: sight.arrives, bytes });
        self.write_until(now);
    }

    fn write_until(&mut self, now: Instant) {
        while let Some((at, seen)) = self.waiting.pop_due(now) {
            let file = self.file.as_mut().expect("the world ends before its capture");
            file.append(at, seen.direction, seen.arrives, &seen.bytes);
        }
    }
}

impl<P, C: Carries<P>, W: Write> Watch<P> for Recorder<C, W> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::{Description, NumberedDatagrams};
    use crate::net::tap::Content;
    use crate::net::{Ecn, Frame};
    use lossylink_core::units::BitRate;
    use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketOption;
    use pcap_file::pcapng::{Block, PcapNgReader};

    const DESCRIPTION: Description<'_> =
        Description { hop: "sw2-sw6", experiment: "stress", rate: BitRate::from_gbps(100) };

    fn sight(at_ps: u64, arrives: bool, number: u64) -> Sight<u64> {
        let content = Content::Bare(Frame::of_frame_bytes(1514, Ecn::NotCapable, number));
        Sight { at: Instant::from_ps(at_ps), direction: Direction::Forward, arrives, content }
    }

    /// Returns the time in nanoseconds, the number, the flags and whether there is a comment, of every frame.
    fn read(file: &[u8]) -> Vec<(u128, u8, u32, bool)> {
        let mut reader = PcapNgReader::new(file).unwrap();
        let mut found = Vec::new();
        while let Some(block) = reader.next_block() {
            let Block::EnhancedPacket(packet) = block.unwrap() else { continue };
            assert_eq!((packet.original_len, packet.data.len()), (1514, frame::SNAP_BYTES));
            let flags = packet.options.iter().find_map(|option| match option {
                EnhancedPacketOption::Flags(flags) => Some(*flags),
                _ => None,
            });
            let is_commented =
                packet.options.iter().any(|option| matches!(option, EnhancedPacketOption::Comment(_)));
            let number = packet.data[14 + 20 + 8 + 7];
            found.push((packet.timestamp.as_nanos(), number, flags.unwrap(), is_commented));
        }
        found
    }

    #[test]
    fn frames_are_written_by_time_and_corrupted_ones_are_marked() {
        let file = PcapngFile::begin(Vec::new(), &DESCRIPTION);
        let recorder = Recorder::new(Place::Link, NumberedDatagrams, file);
        let now = Instant::ZERO;
        recorder.see_on_link(now, sight(7_999, true, 2));
        recorder.see_on_link(now, sight(5_000, false, 1));
        recorder.see_on_link(Instant::from_ps(6_000), sight(9_000, true, 3));
        let file = recorder.finish().unwrap();
        let crc_error = 1 << 24;
        assert_eq!(
            read(&file),
            [(5, 1, 0b10 | crc_error, true), (7, 2, 0b10, false), (9, 3, 0b10, false)],
            "picoseconds are rounded down"
        );
    }

    #[test]
    fn the_link_is_not_seen_from_another_hop() {
        let place = Place::named("sw6-sw10").unwrap();
        let file = PcapngFile::begin(Vec::new(), &DESCRIPTION);
        let recorder = Recorder::new(place, NumberedDatagrams, file);
        recorder.see_on_link(Instant::ZERO, sight(1_000, true, 1));
        recorder.see_on_hop(Instant::ZERO, sight(2_000, true, 2));
        assert_eq!(read(&recorder.finish().unwrap()), [(2, 2, 0b10, false)]);
    }

    /// A disk that is full after this number of bytes.
    struct FullAfter(usize);

    impl Write for FullAfter {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 = self.0.checked_sub(bytes.len()).ok_or(io::ErrorKind::StorageFull)?;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_full_disk_is_told_at_the_end_wherever_it_filled() {
        for room in [0, 200, 1_000] {
            let file = PcapngFile::begin(FullAfter(room), &DESCRIPTION);
            let recorder = Recorder::new(Place::Link, NumberedDatagrams, file);
            (0..20).for_each(|at| recorder.see_on_link(Instant::ZERO, sight(at, true, at)));
            let error = recorder.finish().err().expect("it did not fit");
            assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        }
    }
}
