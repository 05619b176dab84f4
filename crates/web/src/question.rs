//! The questions that a page asks.

use crate::configuration::Configuration;
use crate::{line, run, watch};
use lossylink_sim::ConfigError;
use serde::Deserialize;
use serde_json::{Value, json};

/// A question. In JSON the key `do` names the variant.
#[derive(Debug, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Question {
    /// Runs an experiment.
    Run {
        /// The experiment and its protection.
        configuration: Configuration,
        /// Numbers of flows, rising, after which there is an answer; the flows of the configuration do not count then.
        #[serde(default)]
        looks: Vec<u64>,
    },
    /// Runs an experiment once for each of its hops, and tells the frames that passed.
    Watch {
        /// The experiment and its protection.
        configuration: Configuration,
        /// The packet that the link loses, counted from one among the packets with data; the losses of the configuration do not
        /// count then.
        #[serde(default)]
        lost: Option<usize>,
    },
    /// Tells which share of its full frames a line loses.
    Line {
        /// The experiment; its forward loss has a bit error ratio.
        configuration: Configuration,
        /// Bit error ratios of the forward loss.
        ber: Vec<f64>,
    },
    /// Tells how many wrong symbols the codewords of a line have.
    Symbols {
        /// The experiment; its forward loss is a line with a code.
        configuration: Configuration,
    },
}

/// Answers a question. `look` is called with each answer before the last one.
pub fn answer(question: &[u8], look: impl Fn(&Value) + Send + Sync + 'static) -> Value {
    let answered = serde_json::from_slice(question)
        .map_err(|error| ConfigError(format!("the page asked what the simulator does not know: {error}")))
        .and_then(|question| match question {
            Question::Run { configuration, looks } => run::run(&configuration, looks, look),
            Question::Watch { configuration, lost } => watch::watch(&configuration, lost),
            Question::Line { configuration, ber } => line::ratios(&configuration, &ber),
            Question::Symbols { configuration } => line::symbols(&configuration),
        });
    answered.unwrap_or_else(|refused| json!({ "error": refused.to_string() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_question_is_refused_in_words() {
        for question in ["", "{}", r#"{"do": "dance"}"#, r#"{"do": "run"}"#] {
            let refused = answer(question.as_bytes(), |_| {});
            assert!(refused["error"].as_str().unwrap().starts_with("the page asked"), "{refused}");
        }
        let refused = answer(br#"{"do": "run", "configuration": {"experiment": "stress"}}"#, |_| {});
        assert!(refused["error"].as_str().unwrap().contains("missing field"), "{refused}");
    }
}
