//! Counters as Prometheus text: every number of the answer to `counters`, with its place as labels.

use serde_json::Value;
use std::fmt::Write;

/// Groups whose members differ by where they are counted: the member's name becomes a label.
const PLACED: [&str; 4] = ["directions", "guards", "ports", "lateness"];

/// An HTTP response that carries the counters.
pub fn page(counters: &Value) -> String {
    let body = text(counters);
    let length = body.len();
    format!(
        "HTTP/1.0 200 OK\r\nContent-Type: text/plain; version=0.0.4\r\nContent-Length: {length}\r\n\r\n{body}"
    )
}

/// The counters, one metric a line.
pub fn text(counters: &Value) -> String {
    let mut out = String::new();
    let Value::Object(groups) = counters else { return out };
    for (group, members) in groups {
        match members {
            Value::Object(places) if PLACED.contains(&group.as_str()) => {
                for (place, numbers) in places {
                    write_numbers(&mut out, group, &format!("{{at=\"{place}\"}}"), numbers);
                }
            }
            other => write_numbers(&mut out, group, "", other),
        }
    }
    out
}

/// Writes every number below `value`, the names on the way joined by underscores.
fn write_numbers(out: &mut String, name: &str, labels: &str, value: &Value) {
    match value {
        Value::Number(number) => {
            writeln!(out, "lossylink_{name}{labels} {number}").expect("a string takes every line");
        }
        Value::Bool(flag) => {
            writeln!(out, "lossylink_{name}{labels} {}", u8::from(*flag)).expect("a string takes every line");
        }
        Value::Object(members) => {
            for (member, inner) in members {
                write_numbers(out, &format!("{name}_{member}"), labels, inner);
            }
        }
        Value::Null | Value::String(_) | Value::Array(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn places_become_labels_and_texts_are_left_out() {
        let counters = json!({
            "kind": "path",
            "uptime_seconds": 2.5,
            "directions": {"forward": {"frames_lost": 3}},
        });
        let expected = "lossylink_directions_frames_lost{at=\"forward\"} 3\nlossylink_uptime_seconds 2.5\n";
        assert_eq!(text(&counters), expected);
    }
}
