//! A configuration for any bytes: protections over dead, nearly dead, one-way and usual links, of any rate and
//! length.

use serde_json::{Value, json};

/// Simulated picoseconds of a second.
const SECOND_PS: u64 = 1_000_000_000_000;

/// A reader of choices from bytes. Once the bytes are used up, each choice is its first.
pub(crate) struct Script<'a>(std::slice::Iter<'a, u8>);

impl<'a> Script<'a> {
    /// Returns a reader of these bytes.
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes.iter())
    }

    pub(crate) fn byte(&mut self) -> usize {
        self.0.next().copied().unwrap_or_default().into()
    }

    pub(crate) fn pick<T: Clone>(&mut self, among: &[T]) -> T {
        among[self.byte() % among.len()].clone()
    }

    pub(crate) fn flag(&mut self) -> bool {
        self.byte() % 2 == 1
    }

    pub(crate) fn number(&mut self, below: u64) -> u64 {
        (self.byte() as u64 * 256 + self.byte() as u64) % below
    }
}

/// The switches and hosts from which every configuration takes its own.
pub(crate) struct Profiles {
    /// Profiles of switches.
    pub(crate) switches: Vec<Value>,
    /// Profiles of hosts.
    pub(crate) hosts: Vec<Value>,
}

/// Returns the configuration that these bytes describe.
pub(crate) fn config(bytes: &[u8], profiles: &Profiles) -> Value {
    let mut script = Script::new(bytes);
    let experiment = script.pick(&[
        "stress",
        "tcp-fct",
        "rdma-fct",
        "throughput",
        "stress",
        "timeline",
        "fec",
        "workload",
        "mathis",
        "rare",
    ]);
    let rate_bps = script.pick(&[
        100_000_000_000,
        1_000,
        10_000,
        1_000_000,
        10_000_000,
        1_000_000_000,
        10_000_000_000,
        25_000_000_000,
        400_000_000_000,
        1_600_000_000_000_u64,
    ]);
    let propagation_ps = script.pick(&[0, 25_000, 500_000, 50_000_000, 10_000_000_000_u64]);
    let protocol = script.pick(&["tcp", "rdma"]);
    let mtu_bytes = script.pick(&[1500, 1500, 576, 9000_u32]);
    let mut config = json!({
        "experiment": if experiment == "rare" { "stress" } else { experiment },
        "seed": script.number(1 << 16),
        "threads": 1,
        "skip": !script.flag(),
        "link": {"rate_bps": rate_bps, "propagation_ps": propagation_ps, "mtu_bytes": mtu_bytes},
        "loss": {"forward": loss(&mut script), "reverse": loss(&mut script)},
        "switch": script.pick(&profiles.switches),
        "host": script.pick(&profiles.hosts),
        "protection": protection(&mut script),
        "traffic": traffic(&mut script, experiment, mtu_bytes),
        "transport": transport(&mut script, protocol, mtu_bytes),
        "flow": {"size_bytes": 1 + script.number(1 << 15), "trials": 1 + script.number(3), "count": 1 + script.number(3)},
        "workload": {
            "protocol": protocol, "distribution": "drawn", "load": 0.3,
            "points": [[1_000.0, 0.4], [30_000.0, 0.9], [60_000.0, 1.0]],
        },
    });
    let frames_ps = 12_000 * SECOND_PS / rate_bps;
    let duration_ps = (frames_ps * (1 + script.number(2_000))).clamp(1_000_000, 100 * SECOND_PS);
    config["run"] = json!({"duration_ps": duration_ps, "warmup_ps": 0, "cooldown_ps": 0});
    if script.flag() {
        config["path"] = json!({"rtt_ps": script.pick(&[0, 40_000_000, 1_000_000_000_u64])});
    }
    if experiment == "timeline" {
        config["timeline"] = json!({
            "corruption_ps": duration_ps / 8, "protection_ps": duration_ps / 4, "corruption_end_ps": duration_ps / 2,
            "poll_ps": duration_ps / 10 + 1, "bin_ps": duration_ps / 10 + 1,
        });
    }
    if experiment == "rare" {
        config["rare"] = json!({"looks": 1 + script.number(200), "tail": script.flag()});
    }
    config
}

fn loss(script: &mut Script<'_>) -> Value {
    match script.byte() % 9 {
        0 => json!({"model": "none"}),
        1 => json!({"model": "bernoulli", "p": 1.0}),
        2 => json!({"model": "bernoulli", "p": script.pick(&[0.999, 0.99, 0.9, 0.5, 0.1, 1e-3])}),
        3 => json!({"model": "trace", "lost": [true]}),
        4 => {
            let lost: Vec<bool> =
                (0..1 + script.number(24)).map(|_| !script.byte().is_multiple_of(8)).collect();
            json!({"model": "trace", "lost": lost})
        }
        5 => json!({
            "model": "gilbert-elliott", "p": script.pick(&[1e-3, 0.1, 1.0]), "r": script.pick(&[1e-4, 0.1, 1.0]),
            "loss_good": script.pick(&[0.0, 0.01]), "loss_bad": script.pick(&[1.0, 0.5]),
        }),
        6 => json!({"model": "bit-error-rate", "ber": script.pick(&[1e-6, 1e-4, 1e-2])}),
        7 => json!({
            "model": "phy", "code": script.pick(&["rs544", "rs272", "none"]), "ber": script.pick(&[1e-9, 1e-3, 0.1, 0.5]),
            "interleave": 1, "burst": script.pick(&[0.0, 0.5]), "precoding": false, "lanes": 1, "line_bits": 2,
        }),
        _ => {
            let first = script.number(40);
            let positions: Vec<u64> = (first..first + 1 + script.number(200)).collect();
            json!({"model": "at", "positions": positions})
        }
    }
}

fn protection(script: &mut Script<'_>) -> Value {
    match script.byte() % 8 {
        0 | 1 => llr(script),
        2 => json!({"family": "none"}),
        3 => json!({
            "family": "linkguardian", "copies": script.pick(&[json!(null), json!(1), json!(3), json!(255)]),
            "dummies": script.pick(&[0, 1, 3, 255]), "holes": script.pick(&[1, 5]),
            "mode": {"ordered": {"backpressure": script.flag()}},
        }),
        4 => json!({
            "family": "linkguardian", "copies": script.pick(&[json!(null), json!(1), json!(2)]), "dummies": 3, "holes": 5,
            "mode": {"non-blocking": {"deduplicate": script.flag()}},
        }),
        5 | 6 => json!({
            "family": "fec", "k": script.pick(&[1, 5, 25]), "h": script.pick(&[1, 2, 5]),
            "release": script.pick(&["eager", "in-order"]),
            "flush_ps": script.pick(&[json!(null), json!(1_000), json!(1_000_000_000_u64)]),
        }),
        _ => json!({"family": "fec-model", "k": script.pick(&[5, 25]), "h": script.pick(&[1, 5])}),
    }
}

fn llr(script: &mut Script<'_>) -> Value {
    let actions = ["best-effort", "discard", "block"];
    json!({
        "family": "llr", "replays": script.pick(&[3, 1, 255, 254]),
        "timer_ns": script.pick(&[json!(null), json!(null), json!(65_535), json!(100), json!(1)]),
        "spacing_bytes": script.pick(&[2048, 400, 16_384]),
        "init": script.pick(&actions), "flush": script.pick(&actions), "reinit": !script.flag(),
        "errors": script.pick(&["dropped", "seen"]),
    })
}

fn traffic(script: &mut Script<'_>, experiment: &str, mtu_bytes: u32) -> Value {
    let frame_bytes = script.pick(&[mtu_bytes + 14, 60, 124]).max(60);
    let (packets, source) = (1 + script.number(400), script.byte());
    if experiment == "fec" {
        let source = ["udp-smooth", "udp-bursty", "tcp"][source % 3];
        return json!({
            "frame_bytes": frame_bytes, "source": source, "rate_bps": script.pick(&[100_000_000, 1_000_u64]),
            "burst_packets": 1 + script.number(80),
        });
    }
    let source = if experiment == "rare" { 1 } else { source % 3 };
    let follow = source == 2;
    let source = ["generator", "saturated", "saturated"][source];
    json!({
        "packets": packets, "frame_bytes": frame_bytes, "source": source,
        "follow": follow,
    })
}

fn transport(script: &mut Script<'_>, protocol: &str, mtu_bytes: u32) -> Value {
    json!({
        "congestion_control": script.pick(&["dctcp", "cubic", "reno", "bbr", "bbr3"]),
        "mss_bytes": mtu_bytes - 40, "timestamps": false, "delayed_ack": script.pick(&[1, 2]),
        "rto_min_ps": script.pick(&[1_000_000_000_u64, 200_000_000_000]), "initial_window": 10,
        "segmentation_offload": script.flag(), "recovery": script.pick(&["go-back-n", "selective-repeat"]),
        "mtu_bytes": script.pick(&[1024, 256]), "dcqcn": script.flag(), "protocol": protocol,
    })
}
