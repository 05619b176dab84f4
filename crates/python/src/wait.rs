//! Runs of the simulation on a thread of their own, while the calling thread reports progress and listens for signals.

use std::any::Any;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

use lossylink_sim::{ConfigError, Control, Outcome, Simulation};
use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError, PyValueError};
use pyo3::prelude::*;

/// How long the caller sleeps between two looks at the simulation.
const POLL: Duration = Duration::from_millis(100);

type Answer = Result<Outcome, ConfigError>;

/// Runs a simulation with the interpreter lock released. A `KeyboardInterrupt`, from a signal or raised by `progress`,
/// cancels the run and returns the results that had finished. Any other exception of `progress` cancels the run and is
/// raised.
pub(crate) fn run_watched(
    py: Python<'_>,
    simulation: Simulation,
    control: Control,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Outcome> {
    let control = Arc::new(control);
    let (sender, receiver) = sync_channel(1);
    let worker = {
        let control = Arc::clone(&control);
        thread::Builder::new().name("lossylink-sim".into()).spawn(move || {
            // The receiver is gone when `progress` raised; the result is then of no use.
            let _ = sender.send(simulation.run(&control));
        })?
    };
    let watched = watch(py, receiver, &control, progress);
    if watched.is_err() {
        control.cancel();
    }
    let joined = py.detach(|| worker.join());
    let answer = watched?;
    joined.map_err(|payload| PyRuntimeError::new_err(panic_message(&*payload)))?;
    match answer {
        Some(answer) => answer.map_err(|error| PyValueError::new_err(error.to_string())),
        None => Err(PyRuntimeError::new_err("the simulator ended without an answer")),
    }
}

/// Waits for the answer; `None` means that the simulation's thread is gone without one.
fn watch(
    py: Python<'_>,
    mut receiver: Receiver<Answer>,
    control: &Control,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Option<Answer>> {
    loop {
        // The receiver travels into the closure and back: it may move between threads, but not be shared.
        let (returned, received) = py.detach(move || {
            let received = receiver.recv_timeout(POLL);
            (receiver, received)
        });
        receiver = returned;
        if let Err(RecvTimeoutError::Disconnected) = received {
            return Ok(None);
        }
        match report(control, progress).and_then(|()| py.check_signals()) {
            Err(error) if error.is_instance_of::<PyKeyboardInterrupt>(py) => control.cancel(),
            other => other?,
        }
        if let Ok(answer) = received {
            return Ok(Some(answer));
        }
    }
}

fn report(control: &Control, progress: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
    let Some(progress) = progress else { return Ok(()) };
    let (done, total) = control.progress();
    progress.call1((done as f64, total as f64)).map(drop)
}

pub(crate) fn panic_message(payload: &(dyn Any + Send)) -> String {
    let words = payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message");
    format!("an invariant of the simulator broke: {words}")
}
