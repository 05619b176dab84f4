//! The echo of congestion marks: latched until the sender reduces (RFC 3168), or exact, run by run
//! (DCTCP, RFC 8257 section 3.2).

use super::config::Config;

/// The reaction of the receiver to the mark of a data packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reaction {
    /// No reaction.
    None,
    /// The next two segments are acknowledged at once: the sender's window may be tiny.
    Quick,
    /// The mark changed: the segment is acknowledged at once, and delayed acknowledgements leave
    /// before with the old mark.
    Changed,
}

/// The style of a connection's echo.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Style {
    /// No echo: ECN was not negotiated.
    Off,
    /// An echo that lasts until the sender reduces (RFC 3168).
    Latched,
    /// An echo of each change of the mark (RFC 8257).
    Exact,
}

/// The echo state of one receiver.
#[derive(Clone, Copy, Debug)]
pub(super) struct EcnEcho {
    style: Style,
    /// Whether acknowledgements carry the echo.
    echoing: bool,
    /// The mark of the last packet (DCTCP's CE state).
    marked: bool,
    /// Whether the sender marks packets ECN-capable at all.
    capable_seen: bool,
}

impl EcnEcho {
    /// Returns the echo that a connection negotiates.
    pub(super) fn new(config: &Config) -> Self {
        let latched = if config.ecn { Style::Latched } else { Style::Off };
        let style = if config.congestion_control.counts_marks() { Style::Exact } else { latched };
        Self { style, echoing: false, marked: false, capable_seen: false }
    }

    /// Whether the connection negotiated ECN.
    pub(super) fn is_on(&self) -> bool {
        self.style != Style::Off
    }

    /// Whether every change of the mark is echoed; acknowledgements are ECN-capable themselves then.
    pub(super) fn is_exact(&self) -> bool {
        self.style == Style::Exact
    }

    /// Whether acknowledgements carry the echo.
    pub(super) const fn is_echoing(&self) -> bool {
        self.echoing
    }

    /// Takes data that arrived, `marked` or not. Returns the reaction to its mark. (TCP-50, DCTCP-4)
    pub(super) fn note_data(&mut self, capable: bool, marked: bool) -> Reaction {
        if !capable && !marked {
            let quick = self.capable_seen && !self.is_exact();
            return if quick { Reaction::Quick } else { Reaction::None };
        }
        self.capable_seen = true;
        if self.is_exact() {
            let changed = self.marked != marked;
            self.marked = marked;
            return if changed { Reaction::Changed } else { Reaction::None };
        }
        if marked && !self.echoing {
            self.echoing = true;
            return Reaction::Quick;
        }
        Reaction::None
    }

    /// Sets the exact echo to the mark, once older acknowledgements have left.
    pub(super) fn follow(&mut self) {
        if self.is_exact() {
            self.echoing = self.marked;
        }
    }

    /// Ends a latched echo: the sender says that it reduced its window. (TCP-50)
    pub(super) fn note_reduction(&mut self) {
        self.echoing = false;
    }
}

#[cfg(test)]
mod tests {
    use super::super::congestion::CongestionControl;
    use super::*;

    /// TCP-50
    #[test]
    fn the_classic_echo_lasts_until_the_sender_reduces() {
        let mut echo = EcnEcho::new(&Config { ecn: true, ..Config::default() });
        assert_eq!(echo.note_data(true, true), Reaction::Quick);
        assert_eq!(echo.note_data(true, false), Reaction::None);
        assert!(echo.is_echoing());
        echo.note_reduction();
        assert!(!echo.is_echoing());
    }

    /// DCTCP-4
    #[test]
    fn the_exact_echo_tells_each_change() {
        let congestion_control = CongestionControl::Dctcp;
        let mut echo = EcnEcho::new(&Config { congestion_control, ..Config::default() });
        let reactions: Vec<_> = [false, true, true, false].map(|marked| echo.note_data(true, marked)).into();
        assert_eq!(reactions, [Reaction::None, Reaction::Changed, Reaction::None, Reaction::Changed]);
    }
}
