//! Selective repeat at the responder: request packets that came before their turn.

/// The part of a request packet that its execution needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Body {
    /// A packet of a WRITE or SEND message.
    Data {
        /// Payload, bytes.
        payload: u16,
        /// Whether the packet is the last of its message.
        is_last: bool,
    },
    /// A READ request.
    Read {
        /// Number of bytes that are asked for.
        bytes: u32,
    },
}

/// A window of packets that are kept until all packets before them have arrived (RDMA-20).
#[derive(Clone, Debug)]
pub(super) struct Reassembly {
    slots: Vec<Option<Body>>,
    kept: usize,
}

impl Reassembly {
    /// Returns an empty window of `window` packets, a power of two.
    pub(super) fn new(window: u32) -> Self {
        assert!(window.is_power_of_two(), "a window of {window} packets is not a power of two");
        Self { slots: vec![None; window as usize], kept: 0 }
    }

    #[inline]
    fn slot(&self, position: u64) -> usize {
        position as usize & (self.slots.len() - 1)
    }

    /// Keeps the packet that arrived at `position`. Returns false if a packet is there already, or
    /// if `position` is beyond the window.
    pub(super) fn keep(&mut self, expected: u64, position: u64, body: Body) -> bool {
        let slot = self.slot(position);
        let is_new = position - expected < self.slots.len() as u64 && self.slots[slot].is_none();
        if is_new {
            self.slots[slot] = Some(body);
            self.kept += 1;
        }
        is_new
    }

    /// Takes out the packet that is kept at `position`.
    #[inline]
    pub(super) fn take(&mut self, position: u64) -> Option<Body> {
        if self.kept == 0 {
            return None;
        }
        let slot = self.slot(position);
        let body = self.slots[slot].take();
        self.kept -= usize::from(body.is_some());
        body
    }

    /// Forgets the packets in `start..end`, which a longer READ has covered.
    pub(super) fn discard(&mut self, start: u64, end: u64) {
        let mut position = start;
        while self.kept > 0 && position < end {
            self.take(position);
            position += 1;
        }
    }

    /// Forgets all packets.
    pub(super) fn clear(&mut self) {
        self.slots.fill(None);
        self.kept = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BODY: Body = Body::Data { payload: 1024, is_last: false };

    // RDMA-20: a test on each side of the window's end.
    #[test]
    fn the_window_ends_where_it_says() {
        let mut reassembly = Reassembly::new(64);
        assert!(reassembly.keep(1000, 1063, BODY));
        assert!(!reassembly.keep(1000, 1064, BODY));
        assert!(reassembly.keep(1001, 1064, BODY));
    }

    #[test]
    fn a_second_copy_is_not_kept() {
        let mut reassembly = Reassembly::new(64);
        assert!(reassembly.keep(10, 12, BODY));
        assert!(!reassembly.keep(10, 12, Body::Read { bytes: 1 }));
        assert_eq!(reassembly.take(12), Some(BODY));
        assert_eq!(reassembly.take(12), None);
    }

    #[test]
    fn discarding_covers_a_range() {
        let mut reassembly = Reassembly::new(64);
        for position in [12, 14, 20] {
            assert!(reassembly.keep(10, position, BODY));
        }
        reassembly.discard(12, 20);
        assert_eq!([12, 14, 20].map(|position| reassembly.take(position)), [None, None, Some(BODY)]);
    }
}
