//! Questions to Python whether a run that grows has enough trials.

use crate::convert::outcome_to_dict;
use lossylink_sim::{Control, Outcome};
use pyo3::prelude::*;
use std::sync::{Arc, Mutex, PoisonError};

/// The exception that Python raised when it was asked, if it raised one.
#[derive(Default)]
pub(crate) struct Answers(Arc<Mutex<Option<PyErr>>>);

impl Answers {
    /// Raises the exception, if there is one.
    pub(crate) fn check(self) -> PyResult<()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take().map_or(Ok(()), Err)
    }
}

/// Returns the control of a run that grows. Python is asked after each number of trials in `looks`, and the
/// run ends when `is_enough` returns true or raises.
pub(crate) fn growing(looks: Vec<u64>, is_enough: Py<PyAny>) -> (Control, Answers) {
    let answers = Answers::default();
    let errors = Arc::clone(&answers.0);
    let ask = move |outcome: &Outcome| {
        let answer = Python::attach(|py| {
            let dict = outcome_to_dict(py, outcome.clone())?;
            is_enough.bind(py).call1((dict,))?.is_truthy()
        });
        answer.unwrap_or_else(|error| {
            *errors.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            true
        })
    };
    (Control::growing(looks, ask), answers)
}
