//! The slowdown of flows: their completion times over those of the same flows alone, by classes of size.

use super::counted_flow::Flow;
use super::row::Row;
use crate::measure::Description;

/// Classes of flow sizes: the end of the class's name, and the most bytes of a flow in it.
const CLASSES: [(&str, u64); 4] =
    [("to_10kb", 10_000), ("to_100kb", 100_000), ("to_1mb", 1_000_000), ("above_1mb", u64::MAX)];

/// The percentiles reported, and the beginnings of their names.
const PERCENTILES: [(&str, f64); 3] = [("p50", 0.5), ("p99", 0.99), ("p99_9", 0.999)];

/// Adds the slowdowns of all flows and of each class; nulls for a class without flows.
pub(super) fn set_slowdowns(row: &mut Row, flows: &[Flow]) {
    let all = Description::of(flows.iter().map(|flow| flow.slowdown).collect());
    row.set("slowdown_mean", all.as_ref().map(Description::mean));
    for (name, fraction) in PERCENTILES {
        row.set(&format!("slowdown_{name}"), all.as_ref().map(|all| all.percentile(fraction)));
    }
    let mut above = 0;
    for (class, most) in CLASSES {
        let members = flows.iter().filter(|flow| flow.bytes > above && flow.bytes <= most);
        let described = Description::of(members.clone().map(|flow| flow.slowdown).collect());
        row.set(&format!("flows_{class}"), members.count());
        for (name, fraction) in PERCENTILES {
            let value = described.as_ref().map(|class| class.percentile(fraction));
            row.set(&format!("slowdown_{name}_{class}"), value);
        }
        above = most;
    }
}
