//! `lossylink._native`: conversions between Python and the simulator, and nothing else.

mod convert;
mod looking;
mod monitor;
mod rules;
mod simulation;
mod table;
mod wait;

use std::panic;

// The functions that a kernel in virtual time calls go into this library, too.
use lossylink_guest as _;

use lossylink_live::sys::privilege;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Returns the version of the simulator that is compiled in.
#[pyfunction]
fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// Returns the commit of the sources from which the module was built; `build.rs` says how it is known.
#[pyfunction]
fn commit() -> &'static str {
    env!("LOSSYLINK_COMMIT")
}

/// Runs a live data plane until it is told to stop, and returns its exit code; `arguments` is its configuration.
#[pyfunction]
fn live_main(py: Python<'_>, arguments: Vec<String>) -> i32 {
    py.detach(|| lossylink_live::main(&arguments))
}

/// Returns the counters of a data plane, given in JSON, as a page of Prometheus text with its HTTP header.
#[pyfunction]
fn prometheus_page(counters: &str) -> PyResult<String> {
    let counters =
        serde_json::from_str(counters).map_err(|error| PyValueError::new_err(error.to_string()))?;
    Ok(lossylink_live::prometheus::page(&counters, &serde_json::Value::Null))
}

/// Gives up the privileges of the calling thread for good, but for the right to live in locked memory.
#[pyfunction]
fn give_up_privileges() -> PyResult<()> {
    Ok(privilege::keep_only(privilege::OF_HELPERS)?)
}

/// Keeps the default panic hook quiet unless a backtrace was asked for. A broken invariant reaches Python as a
/// `RuntimeError` with the assertion's words; the default hook would print them a second time.
fn quiet_panics() {
    if std::env::var_os("RUST_BACKTRACE").is_none() {
        panic::set_hook(Box::new(|_| {}));
    }
}

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    quiet_panics();
    module.add_class::<monitor::LinkMonitor>()?;
    module.add_class::<simulation::Simulation>()?;
    module.add_class::<table::Columns>()?;
    module.add_function(wrap_pyfunction!(rules::binomial_interval, module)?)?;
    module.add_function(wrap_pyfunction!(rules::burst_chances, module)?)?;
    module.add_function(wrap_pyfunction!(rules::clustered_interval, module)?)?;
    module.add_function(wrap_pyfunction!(rules::design_effect, module)?)?;
    module.add_function(wrap_pyfunction!(rules::loss_design_effect, module)?)?;
    module.add_function(wrap_pyfunction!(rules::check_protection, module)?)?;
    module.add_function(wrap_pyfunction!(rules::enclosing_places, module)?)?;
    module.add_function(wrap_pyfunction!(rules::flow_patience_s, module)?)?;
    module.add_function(wrap_pyfunction!(rules::interpolated, module)?)?;
    module.add_function(wrap_pyfunction!(rules::copies_for, module)?)?;
    module.add_function(wrap_pyfunction!(rules::copies_leave, module)?)?;
    module.add_function(wrap_pyfunction!(table::write_parquet, module)?)?;
    module.add_function(wrap_pyfunction!(live_main, module)?)?;
    module.add_function(wrap_pyfunction!(prometheus_page, module)?)?;
    module.add_function(wrap_pyfunction!(give_up_privileges, module)?)?;
    module.add_function(wrap_pyfunction!(commit, module)?)?;
    module.add_function(wrap_pyfunction!(version, module)?)
}
