//! Models from numbers and from JSON, what is refused, and the means.

use super::*;
use alloc::string::ToString;
use alloc::vec;

#[test]
fn only_probabilities_make_a_model() {
    for bad in [-1e-9, 1.000_001, f64::NAN, f64::INFINITY] {
        assert!(LossModel::bernoulli(bad).is_err());
        assert!(LossModel::quantised(bad).is_err());
        assert!(LossModel::bit_error_rate(bad).is_err());
        for place in 0..4 {
            let mut args = [0.1; 4];
            args[place] = bad;
            assert!(LossModel::gilbert_elliott(args[0], args[1], args[2], args[3]).is_err());
        }
    }
}

#[test]
fn a_chance_too_fine_to_draw_is_refused_not_rounded() {
    assert!(LossModel::bernoulli(1e-16).is_ok());
    let error = LossModel::bernoulli(0.9e-16).unwrap_err();
    assert_eq!(error.to_string(), "loss rate 9e-17 is too small to draw: write 0 or at least 1e-16");
}

#[test]
fn no_chance_is_a_clean_link() {
    assert!(LossModel::bernoulli(0.0).unwrap().is_clean());
    assert!(!LossModel::bernoulli(1e-16).unwrap().is_clean());
}

#[test]
fn the_mean_of_a_bit_error_rate_depends_on_the_frame() {
    let model = LossModel::bit_error_rate(1e-6).unwrap();
    // 1 - (1 - 1e-6)^(8 * 1518) and 1 - (1 - 1e-6)^(8 * 64), computed with 30 decimal digits.
    assert!((model.mean_loss_rate(1518) - 0.012_070_565).abs() < 1e-9);
    assert!((model.mean_loss_rate(64) - 0.000_511_869).abs() < 1e-9);
    assert_eq!(LossModel::bit_error_rate(1.0).unwrap().mean_loss_rate(64), 1.0);
}

#[test]
fn the_other_means_do_not() {
    let mean = |model: Result<LossModel, LossError>| model.unwrap().mean_loss_rate(1518);
    assert!((mean(LossModel::bernoulli(1e-3)) - 1e-3).abs() < 1e-18);
    assert_eq!(mean(LossModel::quantised(1e-3)), 1048.0 / 1_048_576.0);
    assert_eq!(mean(LossModel::at(vec![4, 2])), 0.0);
    assert_eq!(mean(LossModel::trace(&[true, false, false, true])), 0.5);
    assert_eq!(mean(LossModel::fades(Duration::from_ms(3), Duration::from_ms(1))), 0.25);
    // Stationary share of the bad state: 0.1 / (0.1 + 0.3).
    let chain = mean(LossModel::gilbert_elliott(0.1, 0.3, 0.01, 0.5));
    assert!((chain - (0.75 * 0.01 + 0.25 * 0.5)).abs() < 1e-12);
}

fn read(text: &str) -> Result<LossModel, serde_json::Error> {
    serde_json::from_str(text)
}

#[test]
fn every_model_has_a_name() {
    let line = PhySettings {
        code: Code::RS544,
        bit_error_ratio: 2e-4,
        interleaved: 2,
        repeat: 0.5,
        is_precoded: true,
        lanes: 4,
        line_bits: 2,
    };
    let equal = [
        (r#"{"model":"none"}"#, Ok(LossModel::None)),
        (r#"{"model":"bernoulli","p":1e-3}"#, LossModel::bernoulli(1e-3)),
        (r#"{"model":"quantised","p":1e-3}"#, LossModel::quantised(1e-3)),
        (r#"{"model":"bit-error-rate","ber":1e-12}"#, LossModel::bit_error_rate(1e-12)),
        (
            r#"{"model":"gilbert-elliott","p":1e-4,"r":0.3,"loss_good":0,"loss_bad":1}"#,
            LossModel::gilbert_elliott(1e-4, 0.3, 0.0, 1.0),
        ),
        (
            r#"{"model":"fades","clear_ps":980000,"fade_ps":20000}"#,
            LossModel::fades(Duration::from_ns(980), Duration::from_ns(20)),
        ),
        (
            r#"{"model":"phy","code":"rs544","ber":2e-4,"interleave":2,"burst":0.5,"precoding":true,"lanes":4,"line_bits":2}"#,
            LossModel::phy(line),
        ),
        (r#"{"model":"at","positions":[18,17]}"#, LossModel::at(vec![17, 18])),
        (r#"{"model":"trace","lost":[false,true]}"#, LossModel::trace(&[false, true])),
    ];
    for (text, model) in equal {
        assert_eq!(read(text).unwrap(), model.unwrap(), "{text}");
    }
}

#[test]
fn a_model_has_its_own_parameters_and_no_others() {
    let refusal = |text: &str| read(text).expect_err(text).to_string();
    assert!(refusal(r#"{"model":"bernouli","p":1}"#).contains("unknown variant `bernouli`"));
    assert!(refusal(r#"{"model":"bernoulli"}"#).contains("missing field `p`"));
    let chain = r#"{"model":"gilbert-elliott","p":1,"r":1,"loss_good":0,"loss_bad":1,"q":1}"#;
    assert!(refusal(chain).contains("unknown field `q`"));
    assert!(refusal(r#"{"model":"fades","clear_ps":1,"fade_ps":1,"p":1}"#).contains("unknown field `p`"));
    assert!(refusal(r#"{"model":"trace","lost":[true],"p":1}"#).contains("unknown field `p`"));
}

#[test]
fn what_makes_no_model_is_refused_when_it_is_read() {
    let refusal = |text: &str| read(text).expect_err(text).to_string();
    assert!(refusal(r#"{"model":"bernoulli","p":1.5}"#).contains("loss rate 1.5 is not a probability"));
    assert!(
        refusal(r#"{"model":"bit-error-rate","ber":2}"#).contains("bit error rate 2 is not a probability")
    );
    assert!(refusal(r#"{"model":"at","positions":[]}"#).contains("no position"));
    assert!(refusal(r#"{"model":"at","positions":[3,3]}"#).contains("position 3 is given twice"));
    assert!(refusal(r#"{"model":"trace","lost":[]}"#).contains("the trace is empty"));
    assert!(refusal(r#"{"model":"fades","clear_ps":0,"fade_ps":1}"#).contains("at least 1 ps"));
    assert!(refusal(r#"{"model":"quantised","p":1e-7}"#).contains("write bernoulli:1e-7"));
    let chain = r#"{"model":"gilbert-elliott","p":0,"r":0,"loss_good":0,"loss_bad":1}"#;
    assert!(refusal(chain).contains("never changes state"));
    let line = r#"{"model":"phy","code":"kp4","ber":0,"interleave":1,"burst":0,"precoding":false,"lanes":1,"line_bits":2}"#;
    assert!(refusal(line).contains("'kp4' is no code"));
    assert!(refusal(&line.replace("kp4", "rs544").replace("\"lanes\":1", "\"lanes\":3")).contains("lanes 3"));
}
