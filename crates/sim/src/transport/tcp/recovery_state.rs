//! The states of loss recovery, and the transitions between them.
//!
//! ```text
//!             SACK or old retransmission        SACK gone
//!      Open <----------------------------- Disorder
//!        |  ----------------------------->     |
//!        |  ECN echo: Reduced -> Open          |
//!        +-------------+-----------------------+
//!          segment lost|            timeout
//!                      v                 \
//!                  Recovery --timeout--> Loss --retransmission lost--> Recovery
//!                      |                   |
//!                      +--> Open <---------+   window repaired or undone
//! ```

/// The state of loss recovery (Linux `tcp_ca_state`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// No segment is missing.
    Open,
    /// A segment was SACKed or retransmitted, and none is known to be lost.
    Disorder,
    /// The window is being reduced after an ECN echo.
    Reduced,
    /// Fast recovery.
    Recovery,
    /// A retransmission timeout expired.
    Loss,
}

impl State {
    /// Whether proportional rate reduction sets the window.
    pub(super) const fn reduces_window(self) -> bool {
        matches!(self, Self::Reduced | Self::Recovery)
    }

    /// Whether `next` may follow this state. Any state may, but for a reduction during a repair
    /// after a timeout. (TCP-40)
    pub(super) const fn may_become(self, next: Self) -> bool {
        !matches!((self, next), (Self::Loss, Self::Reduced))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// TCP-40
    #[test]
    fn a_timeout_leads_out_of_every_state_and_never_to_an_ecn_reduction() {
        let all = [State::Open, State::Disorder, State::Reduced, State::Recovery, State::Loss];
        assert!(all.iter().all(|state| state.may_become(State::Loss)));
        assert!(!State::Loss.may_become(State::Reduced));
    }
}
