//! Rules that Rust decides and Python asks for: which settings are refused, and which values are
//! interpolated.

use lossylink_core::binomial::exact_interval;
use lossylink_core::protection::Protection;
use lossylink_core::time::Duration;
use lossylink_core::units::BitRate;
use lossylink_sim::config::{RateThresholds, thresholds_at};
use lossylink_sim::measure::{self, DesignEffect, Foreseen};
use lossylink_sim::world::limits::wait_for_flow_alone;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::fmt::Display;

/// Refuses options of a protection that are out of range; for a `live` data plane, also a protection that
/// only the simulator has.
#[pyfunction]
pub(crate) fn check_protection(protection_json: &str, live: bool) -> PyResult<()> {
    let protection: Protection = serde_json::from_str(protection_json).map_err(|error| refusal(&error))?;
    let checked = if live { protection.check_live() } else { protection.check() };
    checked.map_err(|error| refusal(&error))
}

/// Returns how long a flow that runs by itself is waited for; see `_native.pyi` for the contract.
#[pyfunction]
pub(crate) fn flow_patience_s(least_s: f64) -> f64 {
    wait_for_flow_alone(Duration::from_ns_f64(least_s * 1e9)).as_secs_f64()
}

/// Returns LinkGuardian's thresholds at a rate, from the thresholds of a switch profile.
#[pyfunction]
#[pyo3(name = "thresholds_at")]
pub(crate) fn interpolated<'py>(
    py: Python<'py>,
    thresholds_json: &str,
    rate_bps: u64,
) -> PyResult<Bound<'py, PyDict>> {
    let points: Vec<RateThresholds> =
        serde_json::from_str(thresholds_json).map_err(|error| refusal(&error))?;
    if points.is_empty() || rate_bps == 0 {
        return Err(PyValueError::new_err("thresholds need a point at least, and a rate above 0"));
    }
    let at = thresholds_at(&points, BitRate::from_bps(rate_bps));
    let dict = PyDict::new(py);
    dict.set_item("rate_bps", at.rate_bps)?;
    dict.set_item("resume_bytes", at.resume_bytes)?;
    dict.set_item("pause_bytes", at.pause_bytes)?;
    dict.set_item("ack_no_timeout_ticks", at.ack_no_timeout_ticks)?;
    Ok(dict)
}

/// Returns the exact interval of a ratio of counted events; see `_native.pyi` for the contract.
#[pyfunction]
pub(crate) fn binomial_interval(events: u64, trials: u64, confidence: f64) -> PyResult<(f64, f64)> {
    if events > trials || trials == 0 {
        return Err(PyValueError::new_err(format!(
            "{events} events in {trials} trials are no binomial outcome"
        )));
    }
    if !(confidence > 0.0 && confidence < 1.0) {
        return Err(PyValueError::new_err(format!(
            "confidence must lie between 0 and 1, not at {confidence}"
        )));
    }
    Ok(exact_interval(events, trials, confidence))
}

/// Returns the interval of a ratio whose events come in clusters; see `_native.pyi` for the contract.
#[pyfunction]
pub(crate) fn clustered_interval(
    events: u64,
    trials: u64,
    design_effect: f64,
    batches: usize,
    confidence: f64,
) -> PyResult<(f64, f64)> {
    binomial_interval(events, trials, confidence)?;
    if !(design_effect > 0.0 && design_effect.is_finite()) {
        return Err(PyValueError::new_err(format!("a design effect is above 0, not {design_effect}")));
    }
    Ok(DesignEffect { factor: design_effect, batches }.interval((events, trials), confidence))
}

/// Returns the chances of a chain that loses frames in bursts; see `_native.pyi` for the contract.
#[pyfunction]
pub(crate) fn burst_chances(mean: f64, burst: f64) -> PyResult<(f64, f64)> {
    lossylink_core::loss::burst_chances(mean, burst).map_err(|error| refusal(&error))
}

/// Returns by how much events come together; see `_native.pyi` for the contract.
#[pyfunction]
#[pyo3(signature = (batches, foreseen=None, confidence=None))]
pub(crate) fn design_effect(
    batches: Vec<(u64, u64)>,
    foreseen: Option<(f64, f64)>,
    confidence: Option<f64>,
) -> (f64, usize) {
    let found = match foreseen {
        None => DesignEffect::seen(&batches),
        Some((mean, seen_from_one)) => DesignEffect::of(&batches, Foreseen { mean, seen_from_one }),
    };
    (confidence.map_or(found.factor, |confidence| found.widened(confidence)), found.batches)
}

/// Returns which two of many values enclose a quantile; see `_native.pyi` for the contract.
#[pyfunction]
pub(crate) fn enclosing_places(
    values: u64,
    independent: u64,
    quantile: f64,
    confidence: f64,
) -> PyResult<(Option<u64>, Option<u64>)> {
    if !(1..=values).contains(&independent) || !(0.0..=1.0).contains(&quantile) {
        return Err(PyValueError::new_err(format!(
            "{independent} independent values of {values} have no quantile {quantile}"
        )));
    }
    let [low, high] = measure::enclosing_places(values, independent, quantile, confidence);
    Ok((low, high))
}

/// Returns by how much the lost frames of a link come together; see `_native.pyi` for the contract.
#[pyfunction]
pub(crate) fn loss_design_effect(config_json: &str, batches: Vec<(u64, u64)>) -> PyResult<(f64, usize)> {
    let found = lossylink_sim::loss_design_effect(config_json, &batches).map_err(|error| refusal(&error))?;
    Ok((found.factor, found.batches))
}

/// Returns the copies of a retransmission that a link needs; see `_native.pyi`.
#[pyfunction]
pub(crate) fn copies_for(config_json: &str, target_loss: f64) -> PyResult<u8> {
    lossylink_sim::copies_for(config_json, target_loss).map_err(|error| refusal(&error))
}

/// Returns the share of frames that stay lost with `copies` copies when losses come in bursts; see
/// `_native.pyi`.
#[pyfunction]
#[pyo3(signature = (config_json, copies, holes=None))]
pub(crate) fn copies_leave(config_json: &str, copies: u8, holes: Option<u8>) -> PyResult<f64> {
    lossylink_sim::copies_leave(config_json, copies, holes).map_err(|error| refusal(&error))
}

pub(crate) fn refusal(error: &dyn Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}
