//! The completion times of flows, as a page draws them: percentiles with their intervals, and a curve.

use lossylink_sim::experiment::TRIALS_PER_BLOCK;
use lossylink_sim::measure::{RankInterval, percentile_sorted};
use serde_json::{Value, json};

/// The percentiles of a table, from half of the flows to one in a hundred thousand.
const PERCENTS: [f64; 7] = [50.0, 90.0, 95.0, 99.0, 99.9, 99.99, 99.999];
/// The most points of a curve.
const POINTS: usize = 320;

/// Returns what a page is told of completion times in the order of the flows. An infinite time is that of a flow that never ended.
pub fn told(times: &[f64], confidence: f64) -> Value {
    let mut sorted = times.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    if sorted.is_empty() {
        return json!({ "count": 0, "percentiles": [], "curve": [] });
    }
    let percentiles: Vec<Value> =
        PERCENTS.iter().map(|&percent| percentile(times, &sorted, percent, confidence)).collect();
    json!({ "count": sorted.len(), "percentiles": percentiles, "curve": curve(&sorted) })
}

fn percentile(times: &[f64], sorted: &Vec<f64>, percent: f64, confidence: f64) -> Value {
    let RankInterval { value, low, high } =
        RankInterval::of(times, sorted, percent / 100.0, TRIALS_PER_BLOCK as usize, confidence);
    let beyond = sorted.len() - sorted.partition_point(|&time| time <= value);
    json!({ "percent": percent, "value": finite(value), "low": finite(low), "high": finite(high), "beyond": beyond })
}

/// Returns points of the curve: a share of the flows, and the time that this share takes longer than. The shares lie evenly on a
/// logarithmic scale, from all flows to the slowest.
fn curve(sorted: &Vec<f64>) -> Vec<(f64, Option<f64>)> {
    let (count, last) = (sorted.len() as f64, POINTS.min(sorted.len()).max(2) - 1);
    let share = |place: usize| count.powf(-(place as f64) / last as f64);
    (0..=last).map(|place| (share(place), finite(percentile_sorted(sorted, 1.0 - share(place))))).collect()
}

/// Returns a number that JSON can write.
fn finite(number: f64) -> Option<f64> {
    number.is_finite().then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_falls_from_all_flows_to_the_slowest() {
        let times: Vec<f64> = (1..=1000).map(f64::from).collect();
        let told = told(&times, 0.95);
        let curve: Vec<(f64, f64)> = serde_json::from_value(told["curve"].clone()).unwrap();
        assert_eq!((curve.len(), curve[0]), (POINTS, (1.0, 1.0)));
        assert!((curve[POINTS - 1].0 - 1e-3).abs() < 1e-12);
        assert!(curve.windows(2).all(|pair| pair[0].0 > pair[1].0 && pair[0].1 <= pair[1].1));
        // The median of 1 to 1000, and 500 values beyond it.
        assert_eq!(
            (&told["percentiles"][0]["value"], &told["percentiles"][0]["beyond"]),
            (&json!(500.5), &json!(500))
        );
    }

    #[test]
    fn flows_that_never_end_have_no_time() {
        let mut times = vec![1.0; 90];
        times.extend([f64::INFINITY; 10]);
        let told = told(&times, 0.95);
        assert_eq!(told["percentiles"][3]["value"], Value::Null);
        assert_eq!(told["curve"][99][1], Value::Null);
        assert_eq!(told["count"], 100);
    }

    #[test]
    fn no_flow_has_no_curve() {
        assert_eq!(told(&[], 0.95)["count"], 0);
        assert_eq!(told(&[7.0], 0.95)["curve"], json!([[1.0, 7.0], [1.0, 7.0]]));
    }
}
