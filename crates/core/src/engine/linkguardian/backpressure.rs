//! Pausing the sender before the reorder buffer overflows (LG-23, LG-24).

/// Depths of the reorder buffer at which the sender is paused and resumed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thresholds {
    /// Depth at or above which a running sender is paused, in bytes.
    pub pause_bytes: u64,
    /// Depth at or below which a paused sender is resumed, in bytes.
    pub resume_bytes: u64,
}

/// Whether the sender has been told to stop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PauseState {
    /// The sender may send.
    #[default]
    Running,
    /// The sender was told to stop.
    Paused,
}

/// A priority flow control frame that waits for the next timer packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PauseRequest {
    /// Stop the normal queue: quanta 65535.
    Pause,
    /// Let the normal queue run again: quanta 0.
    Resume,
}

/// The receiver's side of backpressure.
#[derive(Clone, Debug)]
pub struct Backpressure {
    thresholds: Thresholds,
    state: PauseState,
    request: Option<PauseRequest>,
    pauses: u64,
    resumes: u64,
}

impl Backpressure {
    /// Returns backpressure with these thresholds, for a sender that runs.
    ///
    /// # Panics
    /// If the resume threshold is not below the pause threshold.
    pub fn new(thresholds: Thresholds) -> Self {
        assert!(
            thresholds.resume_bytes < thresholds.pause_bytes,
            "the resume threshold must lie below the pause threshold"
        );
        Self { thresholds, state: PauseState::Running, request: None, pauses: 0, resumes: 0 }
    }

    /// Takes note of a buffered frame that leaves the buffer, which holds `depth_bytes` up to then
    /// (LG-23). A request that would repeat the sender's state is not made (LG-24).
    pub fn observe(&mut self, depth_bytes: u64) {
        match self.state {
            PauseState::Running if depth_bytes >= self.thresholds.pause_bytes => {
                self.state = PauseState::Paused;
                self.request = Some(PauseRequest::Pause);
            }
            PauseState::Paused if depth_bytes <= self.thresholds.resume_bytes => {
                self.state = PauseState::Running;
                self.request = Some(PauseRequest::Resume);
            }
            PauseState::Running | PauseState::Paused => {}
        }
    }

    /// Whether [`Backpressure::observe`] may act on one of the frames that leave the buffer before
    /// another enters, when it holds `depth_bytes` now.
    #[inline]
    pub const fn may_act(&self, depth_bytes: u64) -> bool {
        depth_bytes >= self.acts_from()
    }

    /// Returns the least depth at which [`Backpressure::may_act`] is true.
    #[inline]
    pub const fn acts_from(&self) -> u64 {
        match self.state {
            PauseState::Running => self.thresholds.pause_bytes,
            PauseState::Paused => 0,
        }
    }

    /// Takes the pause or resume frame to be sent, if there is one.
    pub fn poll_request(&mut self) -> Option<PauseRequest> {
        let request = self.request.take()?;
        match request {
            PauseRequest::Pause => self.pauses += 1,
            PauseRequest::Resume => self.resumes += 1,
        }
        Some(request)
    }

    /// Whether the sender was told to stop, or a pause or resume frame is to be sent.
    pub fn is_active(&self) -> bool {
        self.state == PauseState::Paused || self.request.is_some()
    }

    /// Whether a pause or resume frame is to be sent.
    pub const fn has_request(&self) -> bool {
        self.request.is_some()
    }

    /// Returns the depths at which the sender is paused and resumed.
    pub const fn thresholds(&self) -> &Thresholds {
        &self.thresholds
    }

    /// Returns whether the sender was told last to stop or to send.
    pub const fn state(&self) -> PauseState {
        self.state
    }

    /// Returns how many pause frames have been sent.
    pub const fn pauses(&self) -> u64 {
        self.pauses
    }

    /// Returns how many resume frames have been sent.
    pub const fn resumes(&self) -> u64 {
        self.resumes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn backpressure() -> Backpressure {
        Backpressure::new(Thresholds { pause_bytes: 40_000, resume_bytes: 36_800 })
    }

    // LG-23
    #[test]
    fn a_depth_that_cannot_matter_need_not_be_observed() {
        let mut side = backpressure();
        assert!(!side.may_act(39_999) && side.may_act(40_000));
        side.observe(40_000);
        assert!(side.may_act(39_999), "it will fall to the resume threshold");
    }

    // LG-23, LG-24
    #[test]
    fn each_threshold_acts_once() {
        let mut side = backpressure();
        side.observe(39_999);
        assert_eq!(side.poll_request(), None);
        side.observe(40_000);
        side.observe(50_000);
        assert_eq!(side.poll_request(), Some(PauseRequest::Pause));
        assert_eq!(side.poll_request(), None);
        side.observe(36_801);
        assert_eq!(side.poll_request(), None);
        side.observe(36_800);
        assert_eq!(side.poll_request(), Some(PauseRequest::Resume));
        assert_eq!((side.pauses(), side.resumes()), (1, 1));
    }

    #[test]
    #[should_panic(expected = "resume threshold")]
    fn thresholds_must_not_cross() {
        Backpressure::new(Thresholds { pause_bytes: 10, resume_bytes: 10 });
    }
}
