//! The engine without protection: every frame is forwarded as it arrives.

/// No protection, with the counters that every engine keeps.
#[derive(Clone, Debug, Default)]
pub struct Passthrough {
    forwarded: u64,
}

impl Passthrough {
    /// Returns an engine that has forwarded no frame yet.
    pub const fn new() -> Self {
        Self { forwarded: 0 }
    }

    /// Counts a frame from the link, which is forwarded at once.
    #[inline]
    pub fn handle_frame(&mut self) {
        self.forwarded += 1;
    }

    /// Returns how many frames have been forwarded.
    pub const fn forwarded(&self) -> u64 {
        self.forwarded
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_counted() {
        let mut engine = Passthrough::new();
        engine.handle_frame();
        engine.handle_frame();
        assert_eq!(engine.forwarded(), 2);
    }
}
