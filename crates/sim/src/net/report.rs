//! The report of a protection, for readers who do not know which protection it is.

use super::FrameQueue;
use crate::net::Payload;

/// The counts and figures of a protected link so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// Data frames that the wire lost and the protection brought back.
    pub recovered: u64,
    /// Data frames that the protection gave up.
    pub given_up: u64,
    /// Frames that did not get beyond the sending switch.
    pub egress: EgressCounters,
    /// Data frames that had entered the protection when the queue behind it had no room for them. These frames were never on the
    /// wire, and may come back all the same.
    pub dropped_within: u64,
    /// The most bytes that were ever in the buffer of the sending end.
    pub tx_buffer_max_bytes: u64,
    /// The most bytes that were ever in the buffer of the receiving end.
    pub rx_buffer_max_bytes: u64,
    /// Further counts and measurements of the protection; their names are keys of rows.
    pub figures: Vec<Figure>,
}

/// Frames that did not get beyond the sending switch, and frames that the sending switch marked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EgressCounters {
    /// Frames dropped by the meter.
    pub meter_dropped: u64,
    /// Frames marked by the meter.
    pub meter_marked: u64,
    /// Data frames for which the queue had no room.
    pub data_dropped: u64,
    /// Parity frames for which the queue had no room.
    pub parity_dropped: u64,
}

/// One count or measurement of a protection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figure {
    /// The name of the figure: the key of a row, as in `docs/data-dictionary.md`.
    pub name: &'static str,
    /// The value of the figure so far.
    pub value: Value,
    /// The meaning of the figure, in one line.
    pub about: &'static str,
}

/// The value of a figure, and the rule that joins values when a protection was on more than once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// A number of events: the numbers of all turns add up.
    Count(u64),
    /// A setting: the setting of the last turn holds.
    Setting(u64),
    /// A measurement, in the unit of the name; `None` while there is nothing to measure. The measurement of the last turn holds.
    Measure(Option<f64>),
}

impl Figure {
    /// Builds a count of events.
    pub const fn count(name: &'static str, count: u64, about: &'static str) -> Self {
        Self { name, value: Value::Count(count), about }
    }

    /// Builds a setting.
    pub const fn setting(name: &'static str, setting: u64, about: &'static str) -> Self {
        Self { name, value: Value::Setting(setting), about }
    }

    /// Builds a measurement.
    pub const fn measure(name: &'static str, measure: Option<f64>, about: &'static str) -> Self {
        Self { name, value: Value::Measure(measure), about }
    }
}

impl EgressCounters {
    /// Returns the counters of a link that has no meter and no parity in front of `queue`.
    pub fn of<P: Payload>(queue: &FrameQueue<P>) -> Self {
        Self { data_dropped: queue.dropped(), ..Self::default() }
    }
}

impl Report {
    /// Returns the value called `name`, if the protection has it.
    pub fn figure(&self, name: &str) -> Option<Value> {
        self.figures.iter().find(|figure| figure.name == name).map(|figure| figure.value)
    }

    /// Returns the count or the setting called `name`, if the protection has it.
    pub fn count(&self, name: &str) -> Option<u64> {
        match self.figure(name)? {
            Value::Count(count) | Value::Setting(count) => Some(count),
            Value::Measure(_) => None,
        }
    }

    /// Adds the report on an earlier turn of the protection to this report. The queue in front of the link went from turn to
    /// turn: for the queue the figures of the last turn hold.
    #[must_use]
    pub fn after(mut self, earlier: &Self) -> Self {
        let Self {
            recovered,
            given_up,
            egress: _,
            dropped_within,
            tx_buffer_max_bytes,
            rx_buffer_max_bytes,
            figures,
        } = earlier;
        self.recovered += recovered;
        self.given_up += given_up;
        self.dropped_within += dropped_within;
        self.tx_buffer_max_bytes = self.tx_buffer_max_bytes.max(*tx_buffer_max_bytes);
        self.rx_buffer_max_bytes = self.rx_buffer_max_bytes.max(*rx_buffer_max_bytes);
        for figure in figures {
            match self.figures.iter_mut().find(|own| own.name == figure.name) {
                Some(own) => own.value = own.value.after(figure.value),
                None => self.figures.push(*figure),
            }
        }
        self
    }
}

impl Value {
    const fn after(self, earlier: Self) -> Self {
        match (self, earlier) {
            (Self::Count(now), Self::Count(before)) => Self::Count(now + before),
            (latest, _) => latest,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(losses: u64, copies: u64) -> Report {
        let figures = vec![
            Figure::count("losses", losses, "frames lost"),
            Figure::setting("copies", copies, "copies of each"),
            Figure::measure("delay_us", Some(losses as f64), "of the last"),
        ];
        Report { recovered: losses, rx_buffer_max_bytes: 10 * losses, figures, ..Report::default() }
    }

    #[test]
    fn counts_of_all_turns_add_up_and_settings_are_the_last() {
        let both = report(2, 1).after(&report(3, 4));
        assert_eq!((both.recovered, both.rx_buffer_max_bytes), (5, 30));
        assert_eq!((both.count("losses"), both.count("copies")), (Some(5), Some(1)));
        assert_eq!(both.figure("delay_us"), Some(Value::Measure(Some(2.0))));
        assert_eq!((both.count("delay_us"), both.count("unknown")), (None, None));
    }

    #[test]
    fn what_only_an_earlier_turn_knows_is_kept() {
        let none = Report::default().after(&report(3, 4));
        assert_eq!((none.count("losses"), none.count("copies")), (Some(3), Some(4)));
    }
}
