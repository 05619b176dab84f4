//! The answers to a page, against the simulator that is asked without a page.

use lossylink_sim::{Control, simulate};
use lossylink_web::answer;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

const LG: &str = include_str!("configurations/tcp-fct-lg.json");
const LLR: &str = include_str!("configurations/tcp-fct-llr.json");
const STRESS: &str = include_str!("configurations/stress-lg.json");

fn configuration(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// Asks, and returns all answers.
fn ask(question: &Value) -> Vec<Value> {
    let early = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&early);
    let last = answer(question.to_string().as_bytes(), move |answer: &Value| {
        kept.lock().unwrap().push(answer.clone())
    });
    let mut answers = early.lock().unwrap().clone();
    answers.push(last);
    answers
}

fn only(question: &Value) -> Value {
    let answers = ask(question);
    assert_eq!(answers.len(), 1);
    answers[0].clone()
}

#[test]
fn a_run_is_that_of_the_simulator_at_each_look() {
    let answers = ask(&json!({ "do": "run", "configuration": configuration(LG), "looks": [100, 300] }));
    assert_eq!(answers.len(), 2);
    for (answer, trials) in answers.iter().zip([100, 300]) {
        let mut alone = configuration(LG);
        alone["flow"]["trials"] = json!(trials);
        let outcome = simulate(&alone.to_string(), &Control::default()).unwrap();
        assert_eq!(answer["row"], Value::from(outcome.row));
        assert_eq!((&answer["final"], &answer["flows"]["count"]), (&json!(trials == 300), &json!(trials)));
    }
}

#[test]
fn an_effective_loss_has_its_interval() {
    let answer = only(&json!({ "do": "run", "configuration": configuration(STRESS) }));
    let row = &answer["row"];
    let interval: [f64; 2] = serde_json::from_value(row["effective_loss_ci95"].clone()).unwrap();
    let ratio = row["effective_lost_packets"].as_f64().unwrap() / row["packets_sent"].as_f64().unwrap();
    assert!(interval[0] <= ratio && ratio < interval[1], "{interval:?} {ratio}");
    assert_eq!(row.get("lost_by_batch"), None);
}

/// Returns the frames of the link: their kinds, whether each is lost, and the words of each.
fn on_link(watched: &Value) -> Vec<(&str, bool, &str)> {
    let frames = watched["frames"].as_array().unwrap().iter().filter(|frame| frame["hop"] == "sw2-sw6");
    frames
        .map(|frame| {
            let text = |key: &str| frame[key].as_str().unwrap();
            (text("kind"), frame["lost"].as_bool().unwrap(), text("words"))
        })
        .collect()
}

#[test]
fn a_lost_packet_is_asked_for_and_sent_again() {
    for (text, again) in [(LG, "copy of "), (LLR, "replay of ")] {
        let watched = only(&json!({ "do": "watch", "configuration": configuration(text), "lost": 11 }));
        let times: Vec<f64> = watched["frames"]
            .as_array()
            .unwrap()
            .iter()
            .map(|frame| frame["at_us"].as_f64().unwrap())
            .collect();
        assert!(times.is_sorted());
        let frames = on_link(&watched);
        let lost: Vec<_> = frames.iter().filter(|(_, is_lost, _)| *is_lost).collect();
        let number = lost[0].2.split_once(':').unwrap().0.trim_start_matches("number ");
        assert_eq!(lost, [&("data", true, &*format!("number {number}: TCP bytes 14601 to 16060"))]);
        let place = frames.iter().position(|(_, is_lost, _)| *is_lost).unwrap();
        let after = &frames[place..];
        let asked = after.iter().position(|(kind, ..)| *kind == "notification").unwrap();
        let sent = after.iter().position(|(kind, ..)| *kind == "retransmission").unwrap();
        assert!(asked < sent && after[sent].2.starts_with(&format!("{again}{number}: TCP bytes 14601")));
        assert_eq!(watched["row"]["flows_hit"], 1);
    }
}

#[test]
fn the_ends_have_their_state_after_each_frame_of_the_link() {
    for text in [LG, LLR] {
        let watched = only(&json!({ "do": "watch", "configuration": configuration(text), "lost": 11 }));
        let mut alone = configuration(text);
        alone["loss"] = json!({ "forward": { "model": "at", "positions": [watched["position"]] } });
        let states = watched["states"].as_array().unwrap();
        let instant = |state: &Value| (state["at_us"].as_f64().unwrap() * 1e6).round() as u64;
        alone["state_at_ps"] = states.iter().map(instant).collect();
        let outcome = simulate(&alone.to_string(), &Control::default()).unwrap();
        assert_eq!(watched["states"], Value::from(outcome.states));

        let on_link: Vec<_> = watched["frames"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|frame| frame["hop"] == watched["link"])
            .collect();
        for state in states {
            let passed = |is_counted: &dyn Fn(&Value) -> bool| {
                let before =
                    on_link.iter().filter(|frame| frame["at_us"].as_f64() <= state["at_us"].as_f64());
                before.filter(|frame| is_counted(frame)).count() as u64
            };
            let forward = &state["link"]["directions"]["forward"];
            assert_eq!(forward["frames_offered"], passed(&|frame| frame["direction"] == "forward"));
            assert_eq!(forward["frames_lost"], passed(&|frame| frame["lost"] == true));
        }
    }
}

#[test]
fn without_a_protection_the_host_sends_again() {
    let mut bare = configuration(LG);
    bare["protection"] = json!({ "family": "none" });
    let watched = only(&json!({ "do": "watch", "configuration": bare, "lost": 3 }));
    let frames = on_link(&watched);
    let again: Vec<_> = frames.iter().filter(|(kind, ..)| *kind == "retransmission").collect();
    assert_eq!(again, [&("retransmission", false, "TCP bytes 2921 to 4380, sent again by the host")]);
    // The SYN and the ACK of the handshake go before the third packet with data.
    assert_eq!(watched["position"], 4);
    let refused = only(&json!({ "do": "watch", "configuration": bare, "lost": 18 }));
    assert_eq!(refused["error"], "the flow has no packet 18: choose one from 1 to 17");
}

#[test]
fn a_line_loses_more_at_more_bit_errors() {
    let mut line = configuration(STRESS);
    line["loss"]["forward"] = json!({ "model": "bit-error-rate", "ber": 0.0 });
    let answer = only(&json!({ "do": "line", "configuration": line, "ber": [0.0, 1e-7, 0.5] }));
    let ratios: Vec<f64> = serde_json::from_value(answer["ratios"].clone()).unwrap();
    // 1518 octets with the check sequence.
    assert_eq!((ratios[0], ratios[2]), (0.0, 1.0));
    assert!((ratios[1] / (1.0 - (1.0 - 1e-7_f64).powi(1518 * 8)) - 1.0).abs() < 1e-6);
    line["loss"]["forward"] = json!({ "model": "none" });
    let refused = only(&json!({ "do": "line", "configuration": line, "ber": [1e-7] }));
    assert_eq!(refused["error"], "the loss of this line has no bit error ratio");
}

#[test]
fn codewords_tell_their_wrong_symbols() {
    let mut line = configuration(STRESS);
    line["loss"]["forward"] = json!({
        "model": "phy", "code": "rs544", "ber": 1e-4, "interleave": 1, "burst": 0.0, "precoding": false, "lanes": 1,
        "line_bits": 2,
    });
    let answer = only(&json!({ "do": "symbols", "configuration": line }));
    let shares: Vec<f64> = serde_json::from_value(answer["shares"].clone()).unwrap();
    // 5,440 bits of a codeword are right with this chance.
    assert!((shares.len() == 17) && (shares[0] / (1.0 - 1e-4_f64).powi(5440) - 1.0).abs() < 1e-9);
    line["loss"]["forward"] = json!({ "model": "none" });
    let refused = only(&json!({ "do": "symbols", "configuration": line }));
    assert_eq!(refused["error"], "the code of this line has no symbols");
}
