//! Outcomes as Python objects: JSON values become plain Python values, tables stay columns.

use crate::table::Columns;
use lossylink_sim::Outcome;
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use serde_json::{Map, Value};

pub(crate) fn outcome_to_dict<'py>(py: Python<'py>, outcome: Outcome) -> PyResult<Bound<'py, PyDict>> {
    let tables = PyDict::new(py);
    for (table, columns) in outcome.columns {
        tables.set_item(table, Columns(columns).into_bound_py_any(py)?)?;
    }
    let dict = PyDict::new(py);
    dict.set_item("row", map_to_dict(py, &outcome.row)?)?;
    dict.set_item("columns", tables)?;
    let states = outcome.states.iter().map(|state| value_to_object(py, state));
    dict.set_item("states", PyList::new(py, states.collect::<PyResult<Vec<_>>>()?)?)?;
    dict.set_item("interrupted", outcome.interrupted)?;
    Ok(dict)
}

fn map_to_dict<'py>(py: Python<'py>, map: &Map<String, Value>) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (key, value) in map {
        dict.set_item(key, value_to_object(py, value)?)?;
    }
    Ok(dict)
}

fn value_to_object<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    match value {
        Value::Null => Ok(py.None().into_bound(py)),
        Value::Bool(flag) => flag.into_bound_py_any(py),
        Value::Number(number) => match (number.as_u64(), number.as_i64()) {
            (Some(unsigned), _) => unsigned.into_bound_py_any(py),
            (None, Some(signed)) => signed.into_bound_py_any(py),
            (None, None) => number.as_f64().into_bound_py_any(py),
        },
        Value::String(text) => text.into_bound_py_any(py),
        Value::Array(items) => {
            let list = PyList::empty(py);
            for item in items {
                list.append(value_to_object(py, item)?)?;
            }
            list.into_bound_py_any(py)
        }
        Value::Object(map) => map_to_dict(py, map)?.into_bound_py_any(py),
    }
}
