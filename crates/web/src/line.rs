//! A line with bit errors: the share of frames that the line loses, and the wrong symbols of its codewords.

use crate::configuration::{Configuration, text};
use lossylink_sim::{ConfigError, Simulation};
use serde_json::{Value, json};

/// Returns the share of its frames that the line of a configuration loses, at each bit error ratio of `ber`.
///
/// # Errors
/// If the forward loss has no bit error ratio, or the line cannot be simulated.
pub fn ratios(configuration: &Configuration, ber: &[f64]) -> Result<Value, ConfigError> {
    let mut configuration = configuration.clone();
    let mut ratios = Vec::new();
    for &ratio in ber {
        let place = configuration
            .get_mut("loss")
            .and_then(|loss| loss.get_mut("forward"))
            .and_then(|forward| forward.get_mut("ber"))
            .ok_or_else(|| ConfigError("the loss of this line has no bit error ratio".to_owned()))?;
        *place = json!(ratio);
        ratios.push(Simulation::new(&text(&configuration))?.frame_loss());
    }
    Ok(json!({ "ratios": ratios }))
}

/// Returns the shares of codewords with no wrong symbol, with one, and so on up to as many as the code corrects, and last the share
/// with more.
///
/// # Errors
/// If the forward loss is no line with a code of symbols, or cannot be simulated.
pub fn symbols(configuration: &Configuration) -> Result<Value, ConfigError> {
    let shares = Simulation::new(&text(configuration))?.wrong_symbols();
    let shares = shares.ok_or_else(|| ConfigError("the code of this line has no symbols".to_owned()))?;
    Ok(json!({ "shares": shares }))
}
