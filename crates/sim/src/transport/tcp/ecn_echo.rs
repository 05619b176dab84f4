//! How congestion marks travel back: latched until the sender reduces (RFC 3168), or exactly, run
//! by run (DCTCP, RFC 8257 section 3.2).

/// What a data packet's mark asks of the receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reaction {
    /// Nothing.
    None,
    /// Acknowledge the next two segments at once: the sender's window may be tiny.
    Quick,
    /// The mark changed: acknowledge at once, and what was delayed before with the old mark.
    Changed,
}

/// The echo state of one receiver.
#[derive(Clone, Copy, Debug)]
pub(super) struct EcnEcho {
    exact: bool,
    /// Whether acknowledgements carry the echo.
    pub(super) echoing: bool,
    /// The mark of the last packet (DCTCP's CE state).
    marked: bool,
    /// Whether the sender marks packets ECN-capable at all.
    capable_seen: bool,
}

impl EcnEcho {
    /// An echo that is `exact` for DCTCP.
    pub(super) const fn new(exact: bool) -> Self {
        Self { exact, echoing: false, marked: false, capable_seen: false }
    }

    /// Data arrived, `marked` or not. (TCP-50, DCTCP-4)
    pub(super) fn note_data(&mut self, capable: bool, marked: bool) -> Reaction {
        if !capable && !marked {
            let quick = self.capable_seen && !self.exact;
            return if quick { Reaction::Quick } else { Reaction::None };
        }
        self.capable_seen = true;
        if self.exact {
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

    /// The exact echo follows the mark, once older acknowledgements are out.
    pub(super) fn follow(&mut self) {
        if self.exact {
            self.echoing = self.marked;
        }
    }

    /// The sender says that it reduced its window. (TCP-50)
    pub(super) fn note_reduction(&mut self) {
        self.echoing = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// TCP-50
    #[test]
    fn the_classic_echo_lasts_until_the_sender_reduces() {
        let mut echo = EcnEcho::new(false);
        assert_eq!(echo.note_data(true, true), Reaction::Quick);
        assert_eq!(echo.note_data(true, false), Reaction::None);
        assert!(echo.echoing);
        echo.note_reduction();
        assert!(!echo.echoing);
    }

    /// DCTCP-4
    #[test]
    fn the_exact_echo_tells_each_change() {
        let mut echo = EcnEcho::new(true);
        let reactions: Vec<_> = [false, true, true, false].map(|marked| echo.note_data(true, marked)).into();
        assert_eq!(reactions, [Reaction::None, Reaction::Changed, Reaction::None, Reaction::Changed]);
    }
}
