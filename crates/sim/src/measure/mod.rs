//! Measurements of an experiment: histograms, percentiles, sequences, samples over time.

mod batches;
mod clusters;
mod delays;
mod describe;
mod figures;
mod histogram;
mod rank_interval;
mod sequence;
mod spans;

pub use batches::Batches;
pub use clusters::{DesignEffect, Foreseen};
pub use delays::{Delays, SMOOTHING_GAIN};
pub use describe::{Description, Sorted, percentile_sorted};
pub use figures::{Ascending, Figures};
pub use histogram::Histogram;
pub use rank_interval::{RankInterval, enclosing_places};
pub use sequence::SequenceCheck;
pub use spans::{NEVER_PS, SortedSpans, Spans};
