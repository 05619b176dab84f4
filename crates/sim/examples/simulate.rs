//! Runs one configuration without Python, for profilers: `simulate CONFIG.json` prints the row.

use std::process::ExitCode;

fn main() -> ExitCode {
    let Some(path) = std::env::args().nth(1) else {
        eprintln!("usage: simulate CONFIG.json");
        return ExitCode::from(2);
    };
    let config = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) => {
            eprintln!("error: cannot read {path}: {error}");
            return ExitCode::from(2);
        }
    };
    match lossylink_sim::simulate(&config, &lossylink_sim::Control::default()) {
        Ok(outcome) => {
            println!("{}", serde_json::Value::Object(outcome.row));
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}
