//! Priority flow control: a MAC control frame that pauses or resumes classes of the neighbour.
//!
//! Source: IEEE 802.1Q, 36 (priority-based flow control) and IEEE 802.3, 31. After the Ethernet
//! header: opcode 16, class-enable vector 16 (the upper octet reserved), eight quanta of 16 bits,
//! class 0 first; padded to a minimum frame.

use super::ethernet::{EtherType, EthernetHeader, MacAddress};
use super::{MINIMUM_FRAME, WireError, be16, demand, put16, require};
use crate::time::Duration;
use crate::units::{BitRate, Bytes};

/// The opcode of priority flow control (WIRE-10); source: IEEE 802.1Q, 36.
pub const OPCODE: u16 = 0x0101;
/// The number of classes.
pub const CLASSES: usize = 8;
/// The unit of pausing: 512 bit times; source: IEEE 802.3, 31B.2.
pub const QUANTUM: Bytes = Bytes(64);
/// The longest pause, in quanta.
pub const QUANTA_MAX: u16 = u16::MAX;
/// The class that LinkGuardian pauses: the normal queue of a protected port.
pub const LINKGUARDIAN_CLASS: usize = 1;

/// Returns how long a pause of `quanta` lasts on a link of `rate`.
pub fn pause_span(quanta: u16, rate: BitRate) -> Duration {
    QUANTUM * u64::from(quanta) / rate
}

/// Bytes, after an Ethernet header, that start with a PFC message.
#[derive(Clone, Copy, Debug)]
pub struct PfcView<'a>(&'a [u8]);

impl<'a> PfcView<'a> {
    /// Checks length and opcode once.
    ///
    /// # Errors
    /// If the bytes are too short or hold another MAC control message.
    pub fn new_checked(bytes: &'a [u8]) -> Result<Self, WireError> {
        require("PFC", bytes, PauseFrame::LEN)?;
        let opcode = be16(bytes, 0);
        demand("PFC", "opcode", opcode, opcode == OPCODE)?;
        Ok(Self(bytes))
    }

    /// Returns the classes that the message pauses or resumes, class 0 in the lowest bit.
    pub fn class_enable(self) -> u8 {
        self.0[3]
    }

    /// Returns the quanta of `class`, whether enabled or not.
    ///
    /// # Panics
    /// If `class` is not below [`CLASSES`].
    pub fn quanta(self, class: usize) -> u16 {
        assert!(class < CLASSES, "there are {CLASSES} classes");
        be16(self.0, 4 + 2 * class)
    }
}

/// A PFC message: for each class the quanta to pause (zero resumes), or `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PauseFrame {
    /// Quanta of each class that the message pauses or resumes.
    pub quanta: [Option<u16>; CLASSES],
}

impl PauseFrame {
    /// Length in bytes, without Ethernet header and padding.
    pub const LEN: usize = 4 + 2 * CLASSES;

    /// Returns a message that pauses `class` for `quanta`; zero resumes it.
    ///
    /// # Panics
    /// If `class` is not below [`CLASSES`].
    pub fn for_class(class: usize, quanta: u16) -> Self {
        let mut message = Self::default();
        message.quanta[class] = Some(quanta);
        message
    }

    /// Reads the bytes behind an Ethernet header with the EtherType of MAC control.
    ///
    /// # Errors
    /// If the bytes are too short or hold another MAC control message.
    pub fn parse(bytes: &[u8]) -> Result<Self, WireError> {
        let view = PfcView::new_checked(bytes)?;
        let is_enabled = |class: usize| view.class_enable() >> class & 1 == 1;
        let quanta = core::array::from_fn(|class| is_enabled(class).then(|| view.quanta(class)));
        Ok(Self { quanta })
    }

    /// Writes the message at the start of `buffer`.
    ///
    /// # Panics
    /// If `buffer` is shorter than [`LEN`](Self::LEN).
    pub fn emit(&self, buffer: &mut [u8]) {
        put16(buffer, 0, OPCODE);
        let enabled = (0..CLASSES).filter(|class| self.quanta[*class].is_some());
        put16(buffer, 2, enabled.fold(0, |vector, class| vector | 1 << class));
        for (class, quanta) in self.quanta.iter().enumerate() {
            put16(buffer, 4 + 2 * class, quanta.unwrap_or(0));
        }
    }

    /// Returns the whole frame that the station `source` sends, padded, without FCS.
    pub fn to_frame(&self, source: MacAddress) -> [u8; MINIMUM_FRAME.0 as usize] {
        let mut frame = [0; MINIMUM_FRAME.0 as usize];
        let ethertype = EtherType::MAC_CONTROL;
        EthernetHeader { destination: MacAddress::MAC_CONTROL, source, ethertype }.emit(&mut frame);
        self.emit(&mut frame[EthernetHeader::LEN..]);
        frame
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    // WIRE-10
    #[test]
    fn a_pause_of_class_one_has_its_bytes() {
        let frame = PauseFrame::for_class(LINKGUARDIAN_CLASS, QUANTA_MAX).to_frame(MacAddress([2; 6]));
        let head = [
            0x01, 0x80, 0xc2, 0, 0, 1, 2, 2, 2, 2, 2, 2, 0x88, 0x08, // Ethernet
            0x01, 0x01, 0x00, 0x02, 0, 0, 0xff, 0xff, // opcode, classes, quanta of 0 and 1
        ];
        assert_eq!(frame[..head.len()], head);
        assert!(frame[head.len()..].iter().all(|byte| *byte == 0));
        assert_eq!(frame.len(), 60);
    }

    // WIRE-10
    #[test]
    fn a_resume_is_a_pause_of_zero_quanta() {
        let resume = PauseFrame::for_class(1, 0);
        let frame = resume.to_frame(MacAddress::default());
        let (header, payload) = EthernetHeader::parse(&frame).unwrap();
        assert_eq!(header.ethertype, EtherType::MAC_CONTROL);
        assert_eq!(PauseFrame::parse(payload), Ok(resume));
    }

    #[test]
    fn other_messages_and_short_bytes_are_refused() {
        let mut bytes = [0; PauseFrame::LEN];
        PauseFrame::default().emit(&mut bytes);
        for length in 0..PauseFrame::LEN {
            let error = WireError::Truncated { header: "PFC", needed: 20, available: length };
            assert_eq!(PauseFrame::parse(&bytes[..length]), Err(error));
        }
        bytes[1] = 0x02;
        let error = WireError::Invalid { header: "PFC", field: "opcode", value: 0x0102 };
        assert_eq!(PauseFrame::parse(&bytes), Err(error));
    }

    #[test]
    fn the_longest_pause_depends_on_the_rate() {
        for (gbps, ns) in [(100, 335_539), (25, 1_342_156), (10, 3_355_392)] {
            let span = pause_span(QUANTA_MAX, BitRate::from_gbps(gbps));
            assert_eq!(span.as_ps() / 1000, ns);
        }
    }

    proptest! {
        #[test]
        fn messages_round_trip(quanta: [Option<u16>; CLASSES]) {
            let message = PauseFrame { quanta };
            let mut buffer = [0xee; PauseFrame::LEN];
            message.emit(&mut buffer);
            prop_assert_eq!(PauseFrame::parse(&buffer), Ok(message));
        }
    }
}
