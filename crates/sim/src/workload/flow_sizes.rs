//! Distributions of flow sizes: tables of points, linear in between.

use lossylink_core::rng::{RngCore, uniform};
use serde::Deserialize;

/// A table of flow sizes as it stands in a file (`scenarios/workload/*.toml`).
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlowSizeTable {
    /// The name of the table.
    pub name: String,
    /// The source of the numbers.
    pub source: String,
    /// The points of the distribution: a size in bytes, and the share of flows that are no longer.
    pub points: Vec<(f64, f64)>,
}

/// The reasons why a table is refused: one line each, with the mend.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum FlowSizeError {
    /// A table without points.
    #[error("the flow sizes are empty: write at least one point, a size in bytes and a share")]
    Empty,
    /// A line of a table that is not two numbers.
    #[error("flow sizes, line {line}: {text:?} is not a size and a share: write for example 10000,0.15")]
    NotAPoint {
        /// Number of the line, from 1.
        line: usize,
        /// The text of the line.
        text: String,
    },
    /// A size below one byte.
    #[error("flow size {0} is not positive: write bytes from 1 on")]
    NotASize(f64),
    /// A share outside [0, 1].
    #[error("share {0} is not a ratio: write a number from 0 to 1")]
    NotAShare(f64),
    /// Points whose sizes or shares do not rise.
    #[error("the point {size},{share} lies below the one before it: sort sizes and shares")]
    NotSorted {
        /// The point's size.
        size: f64,
        /// The point's share.
        share: f64,
    },
    /// A last share other than one.
    #[error("the last share is {0}: it must be 1, the share of all flows")]
    NotComplete(f64),
}

/// A distribution of flow sizes.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowSizes {
    /// Sizes and shares, both rising, the last share one.
    points: Vec<(f64, f64)>,
}

impl FlowSizes {
    /// Returns the distribution in which every flow has `bytes` bytes.
    pub fn fixed(bytes: u64) -> Self {
        Self { points: vec![(bytes as f64, 1.0)] }
    }

    /// Returns the distribution through `points`: size in bytes, share of flows that are no longer.
    /// Flows up to the share of the first point all have the size of that point.
    ///
    /// # Errors
    /// If the points are no distribution.
    pub fn new(points: Vec<(f64, f64)>) -> Result<Self, FlowSizeError> {
        let mut before = (0.0, 0.0);
        for &(size, share) in &points {
            if !(size.is_finite() && size >= 1.0) {
                return Err(FlowSizeError::NotASize(size));
            }
            if !(0.0..=1.0).contains(&share) {
                return Err(FlowSizeError::NotAShare(share));
            }
            if size < before.0 || share < before.1 {
                return Err(FlowSizeError::NotSorted { size, share });
            }
            before = (size, share);
        }
        match points.last() {
            None => Err(FlowSizeError::Empty),
            Some(&(_, share)) if share < 1.0 => Err(FlowSizeError::NotComplete(share)),
            Some(_) => Ok(Self { points }),
        }
    }

    /// Reads lines of `size,share`. Ignores empty lines, and the text from a `#` on.
    ///
    /// # Errors
    /// If a line is no point, or the points are no distribution.
    pub fn from_csv(text: &str) -> Result<Self, FlowSizeError> {
        let mut points = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default().trim();
            if line.is_empty() {
                continue;
            }
            let point = line
                .split_once(',')
                .and_then(|(size, share)| Some((size.trim().parse().ok()?, share.trim().parse().ok()?)));
            let refusal = || FlowSizeError::NotAPoint { line: index + 1, text: line.to_owned() };
            points.push(point.ok_or_else(refusal)?);
        }
        Self::new(points)
    }

    /// Returns the size that `share` of all flows do not exceed, in whole bytes.
    pub fn quantile(&self, share: f64) -> u64 {
        let above = self.points.partition_point(|point| point.1 < share).min(self.points.len() - 1);
        let (size1, share1) = self.points[above];
        let (size0, share0) = if above == 0 { (size1, 0.0) } else { self.points[above - 1] };
        let weight = if share1 > share0 { (share - share0) / (share1 - share0) } else { 1.0 };
        (size0 + weight * (size1 - size0)).round() as u64
    }

    /// Draws a flow's size.
    pub fn draw(&self, rng: &mut impl RngCore) -> u64 {
        self.quantile(uniform(rng))
    }

    /// Returns the mean size of a flow in bytes.
    pub fn mean(&self) -> f64 {
        self.moment(f64::midpoint)
    }

    /// Returns the variance of the size in square bytes.
    pub fn variance(&self) -> f64 {
        self.moment(|a, b| (a * a + a * b + b * b) / 3.0) - self.mean() * self.mean()
    }

    /// Returns the sum of `of_piece` over all pieces, weighted by their shares. A piece is a uniform
    /// size between two points.
    fn moment(&self, of_piece: fn(f64, f64) -> f64) -> f64 {
        let (first, share) = self.points[0];
        let pieces = self.points.windows(2);
        let sum: f64 = pieces.map(|pair| (pair[1].1 - pair[0].1) * of_piece(pair[0].0, pair[1].0)).sum();
        share * of_piece(first, first) + sum
    }
}

impl TryFrom<FlowSizeTable> for FlowSizes {
    type Error = FlowSizeError;

    fn try_from(table: FlowSizeTable) -> Result<Self, FlowSizeError> {
        Self::new(table.points)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lossylink_core::rng::Streams;
    use proptest::prelude::*;

    /// Returns the distributions of the tables that come with the simulator.
    fn packaged() -> [FlowSizes; 2] {
        [
            include_str!("../../../../scenarios/workload/web-search.toml"),
            include_str!("../../../../scenarios/workload/rpc.toml"),
        ]
        .map(|text| toml::from_str::<FlowSizeTable>(text).unwrap().try_into().unwrap())
    }

    #[test]
    fn quantiles_pass_through_the_points_and_are_linear_between() {
        let sizes = FlowSizes::new(vec![(100.0, 0.2), (300.0, 0.4), (300.0, 0.6), (1300.0, 1.0)]).unwrap();
        let expected =
            [(0.0, 100), (0.2, 100), (0.3, 200), (0.4, 300), (0.5, 300), (0.6, 300), (0.8, 800), (1.0, 1300)];
        for (share, size) in expected {
            assert_eq!(sizes.quantile(share), size, "at {share}");
        }
        // 0.2 * 100 + 0.2 * 200 + 0.2 * 300 + 0.4 * 800.
        assert!((sizes.mean() - 440.0).abs() < 1e-9);
    }

    #[test]
    fn a_fixed_size_is_a_distribution() {
        let sizes = FlowSizes::fixed(24_387);
        assert_eq!([0.0, 0.5, 1.0].map(|share| sizes.quantile(share)), [24_387; 3]);
        assert_eq!((sizes.mean(), sizes.variance()), (24_387.0, 0.0));
    }

    /// Web search: 0.15 * 5000.5 + 0.05 * 15000 + 0.1 * 25000 + ... = 1.711 MB by hand.
    #[test]
    fn packaged_means_are_those_of_their_sources() {
        let [web_search, rpc] = packaged().map(|sizes| sizes.mean());
        assert!((web_search - 1_711_250.0).abs() < 100.0, "web search: {web_search}");
        // Homa's W3 has a mean of about 3 kB.
        assert!((2_000.0..4_000.0).contains(&rpc), "rpc: {rpc}");
    }

    /// The mean of n draws lies within four standard errors, and so does the share below each point.
    #[test]
    fn draws_follow_the_table() {
        let n = 100_000u32;
        for sizes in packaged() {
            let mut rng = Streams::new(3).stream("workload/sizes");
            let draws: Vec<u64> = (0..n).map(|_| sizes.draw(&mut rng)).collect();
            let mean = draws.iter().sum::<u64>() as f64 / f64::from(n);
            let error = (sizes.variance() / f64::from(n)).sqrt();
            assert!((mean - sizes.mean()).abs() < 4.0 * error, "{mean} is not {}", sizes.mean());
            for (index, &(size, share)) in sizes.points.iter().enumerate() {
                let below = draws.iter().filter(|&&draw| draw as f64 <= size).count() as f64 / f64::from(n);
                // Sizes up to half a byte above the point are rounded down to it.
                let next = sizes.points.get(index + 1).copied().unwrap_or((size + 1.0, share));
                let expected = share + 0.5 * (next.1 - share) / (next.0 - size);
                let error = (expected * (1.0 - expected) / f64::from(n)).sqrt();
                assert!((below - expected).abs() <= 4.0 * error, "{below} are up to {size}, not {expected}");
            }
        }
    }

    #[test]
    fn lines_of_size_and_share_are_read() {
        let sizes = FlowSizes::from_csv("# bytes,share\n\n100, 0.5 # small\n1000,1\n").unwrap();
        assert_eq!(sizes.quantile(0.75), 550);
    }

    #[test]
    fn refusals_say_what_is_wrong() {
        for (text, words) in [
            ("", "empty"),
            ("100;0.5", "line 1: \"100;0.5\" is not a size and a share"),
            ("0,0.5\n1,1", "0 is not positive"),
            ("10,1.5", "share 1.5"),
            ("100,0.5\n50,1", "50,1 lies below"),
            ("100,0.5\n200,0.4", "200,0.4 lies below"),
            ("100,0.5", "the last share is 0.5"),
            ("100,NaN", "share NaN"),
        ] {
            let refusal = FlowSizes::from_csv(text).unwrap_err().to_string();
            assert!(refusal.contains(words), "{refusal}");
        }
    }

    proptest! {
        #[test]
        fn quantiles_rise(steps in prop::collection::vec((1u32..5_000, 1u32..100), 1..20), a in 0.0..1.0f64, b in 0.0..1.0f64) {
            let total: u32 = steps.iter().map(|step| step.1).sum();
            let (mut size, mut share) = (0u32, 0u32);
            let points = steps.iter().map(|step| {
                size += step.0;
                share += step.1;
                (f64::from(size), f64::from(share) / f64::from(total))
            });
            let sizes = FlowSizes::new(points.collect()).unwrap();
            prop_assert!(sizes.quantile(a.min(b)) <= sizes.quantile(a.max(b)));
            prop_assert!(sizes.quantile(1.0) == u64::from(size));
            prop_assert!(sizes.quantile(0.0) >= u64::from(steps[0].0));
            prop_assert!(sizes.variance() >= -1e-6 * sizes.mean() * sizes.mean());
        }
    }
}
