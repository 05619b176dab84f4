//! The switch profiles of this repository.

use lossylink_sim::config::SwitchProfile;

/// Returns the profile `scenarios/switch/NAME.toml`.
pub(crate) fn profile(name: &str) -> SwitchProfile {
    let path = format!("{}/../../scenarios/switch/{name}.toml", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).expect("the profile is part of the repository");
    toml::from_str(&text).expect("the profile fits the structure")
}
