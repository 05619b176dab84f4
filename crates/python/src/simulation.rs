//! Simulations as Python objects: read, checked and built once, then asked and run.

use crate::rules::refusal;
use crate::{convert, looking, wait};
use lossylink_sim::Control;
use lossylink_sim::config::PartConfig;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::panic;

/// One experiment under one protection; see `_native.pyi` for the contract.
#[pyclass(frozen, module = "lossylink._native")]
pub(crate) struct Simulation(lossylink_sim::Simulation);

impl Simulation {
    /// Returns the simulation to run: with its own number of threads unless one is given.
    fn on(&self, threads: Option<usize>) -> lossylink_sim::Simulation {
        let simulation = self.0.clone();
        match threads {
            Some(threads) => simulation.on_threads(threads),
            None => simulation,
        }
    }
}

#[pymethods]
impl Simulation {
    #[new]
    fn new(py: Python<'_>, config_json: &str) -> PyResult<Self> {
        match py.detach(|| panic::catch_unwind(|| lossylink_sim::Simulation::new(config_json))) {
            Ok(built) => built.map(Self).map_err(|error| refusal(&error)),
            Err(payload) => Err(PyRuntimeError::new_err(wait::panic_message(&*payload))),
        }
    }

    #[pyo3(signature = (progress=None, *, threads=None, parts=None))]
    fn run<'py>(
        &self,
        py: Python<'py>,
        progress: Option<&Bound<'py, PyAny>>,
        threads: Option<usize>,
        parts: Option<Vec<String>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let mut simulation = self.on(threads);
        if let Some(parts) = parts {
            simulation = simulation.with_parts(parts);
        }
        let outcome = wait::run_watched(py, simulation, Control::default(), progress)?;
        convert::outcome_to_dict(py, outcome)
    }

    #[pyo3(signature = (progress, looks, is_enough, *, threads=None))]
    fn grow<'py>(
        &self,
        py: Python<'py>,
        progress: &Bound<'py, PyAny>,
        looks: Vec<u64>,
        is_enough: Py<PyAny>,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let (control, answers) = looking::growing(looks, is_enough);
        let outcome = wait::run_watched(py, self.on(threads), control, Some(progress))?;
        answers.check()?;
        convert::outcome_to_dict(py, outcome)
    }

    #[pyo3(signature = (progress, first_block, blocks, *, threads=None))]
    fn run_blocks(
        &self,
        py: Python<'_>,
        progress: &Bound<'_, PyAny>,
        first_block: u64,
        blocks: u64,
        threads: Option<usize>,
    ) -> PyResult<Option<String>> {
        let simulation = self.on(threads).of_blocks(PartConfig { first_block, blocks });
        Ok(wait::run_watched(py, simulation, Control::default(), Some(progress))?.part)
    }
}
