//! The functions that a page calls, and the one that it is called with.
//!
//! ```text
//! page                                   module
//! room(length)         ----------------> a pointer; the page writes the question there
//! ask(length)          ----------------> reads the question
//! look(pointer, length) <---------------  an answer before the last one
//! answer(), answer_length() -----------> where the last answer stands
//! ```
//!
//! A module that panics leaves the words of the panic as its last answer, and traps.

use serde_json::{Value, json};
use std::panic;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The text of the question, and then that of the last answer. A module has one thread, so nobody waits for the lock.
static TEXT: Mutex<Vec<u8>> = Mutex::new(Vec::new());

#[link(wasm_import_module = "env")]
unsafe extern "C" {
    /// Hands an answer before the last one to the page.
    fn look(pointer: *const u8, length: usize);
}

/// Makes room for a question, and returns its place.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn room(length: usize) -> *mut u8 {
    let mut text = text();
    text.resize(length, 0);
    text.as_mut_ptr()
}

/// Answers the question that stands in the first `length` octets of the room.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn ask(length: usize) {
    panic::set_hook(Box::new(|broken| {
        // The panic may have come while the lock was held.
        if let Ok(mut text) = TEXT.try_lock() {
            *text = told(&json!({ "error": format!("an invariant of the simulator broke: {broken}") }));
        }
    }));
    let question = text()[..length].to_vec();
    let answer = crate::answer(&question, |early| {
        let octets = told(early);
        // SAFETY: the page copies the octets before it returns, and they live until then.
        unsafe { look(octets.as_ptr(), octets.len()) };
    });
    *text() = told(&answer);
}

/// Returns the place of the last answer.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn answer() -> *const u8 {
    text().as_ptr()
}

/// Returns the length of the last answer in octets.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn answer_length() -> usize {
    text().len()
}

fn text() -> MutexGuard<'static, Vec<u8>> {
    TEXT.lock().unwrap_or_else(PoisonError::into_inner)
}

fn told(answer: &Value) -> Vec<u8> {
    answer.to_string().into_bytes()
}
