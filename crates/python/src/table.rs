//! The columns of one simulation, which Python gets by name or has written to a file.

use lossylink_sim::write_parquet as write;
use pyo3::exceptions::{PyKeyError, PyOSError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::fs::File;
use std::io;
use std::path::PathBuf;

/// Named columns of equal length; see `_native.pyi` for the contract.
#[pyclass(frozen, module = "lossylink._native")]
pub(crate) struct Columns(pub(crate) lossylink_sim::Columns);

#[pymethods]
impl Columns {
    /// Returns the names of the columns, in order.
    #[getter]
    fn names(&self) -> Vec<&str> {
        self.0.iter().map(|(name, _)| name.as_str()).collect()
    }

    /// Returns how many values each column has.
    fn __len__(&self) -> usize {
        self.0.first().map_or(0, |(_, column)| column.len())
    }

    /// Returns the values of a column as little-endian float64.
    fn __getitem__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyBytes>> {
        let (_, column) = self
            .0
            .iter()
            .find(|(known, _)| known == name)
            .ok_or_else(|| PyKeyError::new_err(name.to_owned()))?;
        PyBytes::new_with(py, size_of::<f64>() * column.len(), |bytes| {
            let mut slots = bytes.chunks_exact_mut(size_of::<f64>());
            column.for_each(|value| {
                slots.next().into_iter().for_each(|slot| slot.copy_from_slice(&value.to_le_bytes()));
            })?;
            Ok(())
        })
    }
}

/// Writes columns under their labels as a Parquet file; see `_native.pyi` for the contract.
#[pyfunction]
pub(crate) fn write_parquet(
    py: Python<'_>,
    path: PathBuf,
    parts: Vec<(String, Py<Columns>)>,
    facts: Vec<(String, String)>,
) -> PyResult<()> {
    let parts: Vec<_> = parts.iter().map(|(label, columns)| (label.as_str(), &columns.get().0)).collect();
    let written = py.detach(|| write(File::create(path)?, &parts, &facts));
    written.map(drop).or_else(|error| Err(refusal(py, error)?))
}

/// Returns a system error with its number, as Python's own functions raise it.
fn refusal(py: Python<'_>, error: io::Error) -> PyResult<PyErr> {
    let Some(number) = error.raw_os_error() else { return Ok(error.into()) };
    let words: String = py.import("os")?.call_method1("strerror", (number,))?.extract()?;
    Ok(PyOSError::new_err((number, words)))
}
