//! Counters as Prometheus text: every number of the answer to `counters`, with its place as labels.

use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Groups whose members differ by where they are counted: the member's name becomes a label.
const PLACED: [&str; 4] = ["directions", "guards", "ports", "lateness"];

/// One metric: the format wants its help text once, and all its samples together.
#[derive(Debug, Default)]
struct Metric {
    /// The help text and the type of the metric.
    help: Option<(String, String)>,
    /// The samples, each with its labels in front.
    samples: Vec<String>,
}

/// Metrics by name.
type Metrics = BTreeMap<String, Metric>;

/// The HTTP response to a request for anything but `/metrics`.
pub const NOT_FOUND: &str = "HTTP/1.0 404 Not Found\r\nContent-Type: text/plain\r\nContent-Length: 32\r\n\r\nthe counters are at `/metrics`.\n";

/// Returns an HTTP response that carries the counters, with the help texts of `help`.
pub fn page(counters: &Value, help: &Value) -> String {
    let body = text(counters, help);
    let length = body.len();
    format!(
        "HTTP/1.0 200 OK\r\nContent-Type: text/plain; version=0.0.4\r\nContent-Length: {length}\r\n\r\n{body}"
    )
}

/// Returns the counters as text, one sample a line; `help` has a text where the counters have a number.
pub fn text(counters: &Value, help: &Value) -> String {
    let mut metrics = Metrics::new();
    let Value::Object(groups) = counters else { return String::new() };
    for (group, members) in groups {
        match members {
            Value::Object(places) if PLACED.contains(&group.as_str()) => {
                for (place, numbers) in places {
                    let labels = format!("{{at=\"{place}\"}}");
                    collect(&mut metrics, group, &labels, numbers, &help[group][place]);
                }
            }
            other => collect(&mut metrics, group, "", other, &help[group]),
        }
    }
    metrics.iter().fold(String::new(), |out, (name, metric)| out + &written(name, metric))
}

/// Collects every number below `value`, under the names on the way joined by underscores.
fn collect(metrics: &mut Metrics, name: &str, labels: &str, value: &Value, help: &Value) {
    // Prometheus wants base units: seconds.
    if let (Some(name), Some(microseconds)) = (name.strip_suffix("_us"), value.as_f64()) {
        let seconds = Value::from(microseconds / 1e6);
        return collect(metrics, &format!("{name}_seconds"), labels, &seconds, help);
    }
    let sample = match value {
        Value::Number(number) => format!("{labels} {number}"),
        Value::Bool(flag) => format!("{labels} {}", u8::from(*flag)),
        Value::Object(members) => {
            for (member, inner) in members {
                collect(metrics, &format!("{name}_{member}"), labels, inner, &help[member]);
            }
            return;
        }
        Value::Null | Value::String(_) | Value::Array(_) => return,
    };
    let [text, kind] = [&help[0], &help[1]].map(|word| word.as_str().map(str::to_owned));
    let ending = if kind.as_deref() == Some("counter") { "_total" } else { "" };
    let metric = metrics.entry(format!("lossylink_{name}{ending}")).or_default();
    metric.samples.push(sample);
    metric.help = metric.help.take().or(text.zip(kind));
}

fn written(name: &str, metric: &Metric) -> String {
    let mut out = String::new();
    if let Some((help, kind)) = &metric.help {
        writeln!(out, "# HELP {name} {help}\n# TYPE {name} {kind}").expect("a string takes every line");
    }
    for sample in &metric.samples {
        writeln!(out, "{name}{sample}").expect("a string takes every line");
    }
    out
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
        assert_eq!(text(&counters, &json!({})), expected);
    }

    #[test]
    fn times_are_in_seconds() {
        let counters =
            json!({"lateness": {"link": {"p99_us": 7.5}}, "guards": {"guard": {"loop_us": 1_250_000}}});
        let expected = "lossylink_guards_loop_seconds{at=\"guard\"} 1.25\n\
            lossylink_lateness_p99_seconds{at=\"link\"} 7.5e-6\n";
        assert_eq!(text(&counters, &json!({})), expected);
    }

    #[test]
    fn a_metric_is_documented_once_above_all_its_samples() {
        let guard = json!({"sender": {"data": 7}, "copies": 2});
        let counters = json!({"guards": {"near": guard, "far": guard}});
        let meaning = json!({
            "copies": ["Copies of each.", "gauge"],
            "sender": {"data": ["Frames numbered.", "counter"]},
        });
        let expected = "# HELP lossylink_guards_copies Copies of each.\n# TYPE lossylink_guards_copies gauge\n\
            lossylink_guards_copies{at=\"far\"} 2\nlossylink_guards_copies{at=\"near\"} 2\n\
            # HELP lossylink_guards_sender_data_total Frames numbered.\n\
            # TYPE lossylink_guards_sender_data_total counter\n\
            lossylink_guards_sender_data_total{at=\"far\"} 7\nlossylink_guards_sender_data_total{at=\"near\"} 7\n";
        let help = json!({"guards": {"near": meaning, "far": meaning}});
        assert_eq!(text(&counters, &help), expected);
    }
}
