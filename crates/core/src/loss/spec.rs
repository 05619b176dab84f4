//! The text form of a loss model, as users write it and as results echo it.
//!
//! ```text
//! none                 0.1%                 1e-3              bernoulli:1e-3
//! quantised:1e-3       ber:1e-12            at:17,18          trace:FILE (the caller loads it)
//! gilbert-elliott:p=1e-4,r=0.3,good=0,bad=1                   (good and bad are these by default)
//! ```
//!
//! Wherever a chance is expected a ratio and a percentage both do. A bare number above one could
//! be either by mistake, so it is refused with both readings spelt out.

use super::{LossError, LossModel, Quantised};
use crate::probability::Probability;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

impl FromStr for LossModel {
    type Err = LossError;

    fn from_str(text: &str) -> Result<Self, LossError> {
        let text = text.trim();
        let Some((name, value)) = text.split_once(':') else {
            return if text == "none" { Ok(Self::None) } else { Self::bernoulli(bare_ratio(text)?) };
        };
        match name.trim() {
            "bernoulli" => Self::bernoulli(ratio(value)?),
            "quantised" => Self::quantised(ratio(value)?),
            "ber" => Self::bit_error_rate(ratio(value)?),
            "gilbert-elliott" => gilbert_elliott(value),
            "at" => at(value),
            "trace" => Err(LossError::TraceNotLoaded { path: value.trim().to_string() }),
            unknown => Err(LossError::UnknownModel { name: unknown.to_string() }),
        }
    }
}

/// The canonical text form, which parses back to the same model; only a trace has none, because
/// its text form names a file.
impl fmt::Display for LossModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::Bernoulli(p) => write!(f, "bernoulli:{}", shortest(*p)),
            Self::Quantised(quantised) => write!(f, "quantised:{}", shortest_quantised(*quantised)),
            Self::BitErrorRate(ber) => write!(f, "ber:{}", shortest(*ber)),
            Self::GilbertElliott(chain) => {
                let [p, r] = [chain.p(), chain.r()].map(shortest);
                let [good, bad] = [chain.loss_good(), chain.loss_bad()].map(shortest);
                write!(f, "gilbert-elliott:p={p},r={r},good={good},bad={bad}")
            }
            Self::At(positions) => {
                let list: Vec<String> = positions.lost().iter().map(ToString::to_string).collect();
                write!(f, "at:{}", list.join(","))
            }
            Self::Trace(trace) => {
                let frames = trace.period().unwrap_or(0);
                write!(f, "trace of {frames} frames, {} of them lost", trace.lost().len())
            }
        }
    }
}

/// A ratio without a model in front: a word there is an unknown model, not a bad number.
fn bare_ratio(text: &str) -> Result<f64, LossError> {
    match ratio(text) {
        Err(LossError::NotANumber { text }) if text.starts_with(|c: char| c.is_ascii_alphabetic()) => {
            Err(LossError::UnknownModel { name: text })
        }
        result => result,
    }
}

/// A ratio up to one, or a percentage up to a hundred.
fn ratio(text: &str) -> Result<f64, LossError> {
    let text = text.trim();
    match text.strip_suffix('%') {
        Some(percent) => match number(percent.trim_end(), text)? {
            percent if percent > 100.0 => Err(LossError::AboveAll { text: text.to_string() }),
            percent => Ok(hundredth(percent)),
        },
        None => match number(text, text)? {
            value if value > 100.0 => Err(LossError::AboveAll { text: text.to_string() }),
            value if value > 1.0 => Err(LossError::RatioOrPercent { value, ratio: hundredth(value) }),
            value => Ok(value),
        },
    }
}

/// A decimal number, finite: Rust would read `inf` and `nan` as well.
fn number(digits: &str, text: &str) -> Result<f64, LossError> {
    match digits.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value),
        Ok(value) => Err(LossError::NotAProbability { name: "loss rate", value }),
        Err(_) => Err(LossError::NotANumber { text: text.to_string() }),
    }
}

/// A hundredth of `value`, rounded once as a reader would: 1.1% is 0.011, though 1.1 / 100.0 is not.
fn hundredth(value: f64) -> f64 {
    format!("{value}e-2").parse().unwrap_or(value / 100.0)
}

/// `p=..,r=..[,good=..][,bad=..]` in any order.
fn gilbert_elliott(text: &str) -> Result<LossModel, LossError> {
    const NAMES: [&str; 4] = ["p", "r", "good", "bad"];
    let mut values = [None; NAMES.len()];
    for part in text.split(',') {
        let unknown = || LossError::UnknownParameter { text: part.trim().to_string() };
        let (name, value) = part.split_once('=').ok_or_else(unknown)?;
        let index = NAMES.iter().position(|known| *known == name.trim()).ok_or_else(unknown)?;
        if values[index].replace(ratio(value)?).is_some() {
            return Err(LossError::RepeatedParameter(NAMES[index]));
        }
    }
    let [p, r, good, bad] = values;
    let p = p.ok_or(LossError::MissingParameter("p"))?;
    let r = r.ok_or(LossError::MissingParameter("r"))?;
    LossModel::gilbert_elliott(p, r, good.unwrap_or(0.0), bad.unwrap_or(1.0))
}

/// Positions separated by commas.
fn at(text: &str) -> Result<LossModel, LossError> {
    if text.trim().is_empty() {
        return Err(LossError::NoPositions);
    }
    let position = |text: &str| {
        text.trim().parse().map_err(|_| LossError::NotAPosition { text: text.trim().to_string() })
    };
    LossModel::at(text.split(',').map(position).collect::<Result<_, _>>()?)
}

/// The shortest decimal that gives back the same probability.
fn shortest(p: Probability) -> String {
    shortest_that(p.as_f64(), |value| Probability::new(value) == Some(p))
}

/// The shortest decimal that gives back the same number of values out of 2^20.
fn shortest_quantised(quantised: Quantised) -> String {
    shortest_that(quantised.probability().as_f64(), |value| Quantised::new(value) == Ok(quantised))
}

/// The shortest decimal near `value` that `gives_back` accepts; the exact one if none does.
fn shortest_that(value: f64, gives_back: impl Fn(f64) -> bool) -> String {
    /// Significant digits, less the first, that tell any two 64-bit floats apart.
    const DIGITS_MAX: usize = 16;
    let candidates = (0..=DIGITS_MAX).map(|digits| format!("{value:.digits$e}"));
    let mut accepted = candidates.filter(|text| text.parse().is_ok_and(&gives_back));
    let text = accepted.next().unwrap_or_else(|| format!("{value:e}"));
    // 0 and 1 look odd with an exponent.
    text.strip_suffix("e0").map(ToString::to_string).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parse(text: &str) -> LossModel {
        text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    fn refusal(text: &str) -> String {
        text.parse::<LossModel>().expect_err(text).to_string()
    }

    #[test]
    fn every_form_is_read() {
        let same = [
            ("none", LossModel::None),
            ("0%", LossModel::None),
            ("1e-3", LossModel::bernoulli(1e-3).unwrap()),
            ("0.1%", LossModel::bernoulli(1e-3).unwrap()),
            (" 0.1 % ", LossModel::bernoulli(1e-3).unwrap()),
            ("1", LossModel::bernoulli(1.0).unwrap()),
            ("100%", LossModel::bernoulli(1.0).unwrap()),
            ("bernoulli:1e-3", LossModel::bernoulli(1e-3).unwrap()),
            ("quantised:0.1%", LossModel::quantised(1e-3).unwrap()),
            ("ber:1e-12", LossModel::bit_error_rate(1e-12).unwrap()),
            ("at:18, 17", LossModel::at([17, 18].into()).unwrap()),
            ("gilbert-elliott:p=1e-4,r=0.3", LossModel::gilbert_elliott(1e-4, 0.3, 0.0, 1.0).unwrap()),
            (
                "gilbert-elliott:bad=50%,good=1e-6,r=0.3,p=1e-4",
                LossModel::gilbert_elliott(1e-4, 0.3, 1e-6, 0.5).unwrap(),
            ),
        ];
        for (text, model) in same {
            assert_eq!(parse(text), model, "{text}");
        }
    }

    #[test]
    fn the_canonical_form_is_the_shortest() {
        let same = [
            ("0.1%", "bernoulli:1e-3"),
            ("1e-8", "bernoulli:1e-8"),
            ("1", "bernoulli:1"),
            ("quantised:1e-3", "quantised:1e-3"),
            ("ber:1e-12", "ber:1e-12"),
            ("at:18,17", "at:17,18"),
            ("gilbert-elliott:r=0.3,p=1e-4", "gilbert-elliott:p=1e-4,r=3e-1,good=0,bad=1"),
        ];
        for (text, canonical) in same {
            assert_eq!(parse(text).to_string(), canonical);
        }
    }

    #[test]
    fn a_bare_number_above_one_is_refused_with_both_readings() {
        assert_eq!(refusal("15.66"), "15.66 is above 1: write 15.66% or a ratio such as 0.1566");
        assert_eq!(refusal("1.1"), "1.1 is above 1: write 1.1% or a ratio such as 0.011");
        assert_eq!(refusal("bernoulli:2"), "2 is above 1: write 2% or a ratio such as 0.02");
        for text in ["101", "101%", "1e300"] {
            assert!(refusal(text).contains("above 100%"), "{text}");
        }
    }

    #[test]
    fn what_is_no_probability_is_refused() {
        for text in
            ["-0.1", "-5%", "ber:-1e-9", "gilbert-elliott:p=-1,r=1", "nan", "ber:nan", "bernoulli:inf"]
        {
            assert!(refusal(text).contains("is not a probability"), "{text}");
        }
        for text in ["", "%", "1e", "quantised:", "0,1"] {
            assert!(refusal(text).contains("is not a loss rate"), "{text}");
        }
        for text in ["off", "burst:3"] {
            assert!(refusal(text).contains("unknown loss model"), "{text}");
        }
    }

    #[test]
    fn each_model_names_its_own_mistakes() {
        assert!(refusal("at:").contains("no position"));
        assert!(refusal("at:1,-2").contains("\"-2\" is not a position"));
        assert!(refusal("at:3,3").contains("position 3 is given twice"));
        assert!(refusal("trace:loss.txt").contains("read \"loss.txt\" and pass its frames"));
        assert!(refusal("quantised:1e-7").contains("write bernoulli:1e-7"));
        assert!(refusal("gilbert-elliott:p=1e-3").contains("needs r"));
        assert!(refusal("gilbert-elliott:").contains("unknown gilbert-elliott parameter"));
        assert!(refusal("gilbert-elliott:p=1e-3,q=1").contains("unknown gilbert-elliott parameter \"q=1\""));
        assert!(refusal("gilbert-elliott:p=1e-3,p=1,r=1").contains("p is given twice"));
    }

    fn parses_back(model: &LossModel) -> Result<(), TestCaseError> {
        prop_assert_eq!(&parse(&model.to_string()), model);
        Ok(())
    }

    proptest! {
        #[test]
        fn the_canonical_form_parses_back(
            exponent in -16.0..0.0f64,
            chances in prop::array::uniform4(1e-9..1.0f64),
            at in prop::collection::btree_set(any::<u64>(), 1..9),
        ) {
            let p = libm::pow(10.0, exponent).max(1e-16);
            let [a, b, c, d] = chances;
            parses_back(&LossModel::bernoulli(p).unwrap())?;
            parses_back(&LossModel::bit_error_rate(p).unwrap())?;
            parses_back(&LossModel::quantised(p.max(1e-6)).unwrap())?;
            parses_back(&LossModel::gilbert_elliott(a, b, c, d).unwrap())?;
            parses_back(&LossModel::at(at.into_iter().collect()).unwrap())?;
        }

        #[test]
        fn no_text_makes_the_parser_panic(text in ".{0,40}") {
            if let Ok(model) = text.parse::<LossModel>() {
                parses_back(&model)?;
            }
        }
    }
}
