//! The results of `--rare` are those of closed forms, exact chains and counting (`docs/protocols/rare.md`).

use crate::residual_law;
use crate::support;
use lossylink_sim::Outcome;
use residual_law::{BlockLaw, Channel, closed_form};
use serde_json::{Value, json};
use support::{config, number, refusal, run};

/// The factor from the 95 % interval of a row to one of 99.9 %: quantiles of Student's law with 99 degrees of
/// freedom.
const WIDER: f64 = 3.392 / 1.984;
/// The number of frames that a flush gives up between `tofino1` switches at 100G: 23,647 B hold 15 frames of 1518
/// B.
const WINDOW: f64 = 15.0;

fn rare(protection: Value, loss: Value, looks: u64) -> Value {
    let mut config = config("stress", "none");
    config["protection"] = protection;
    config["loss"]["forward"] = loss;
    // `tails.rs` has the tests of the tail, which takes most of the time.
    config["rare"] = json!({"looks": looks, "tail": false});
    config
}

fn lg(mode: &str, copies: u32) -> Value {
    let mut protection = support::protection(mode);
    protection["copies"] = json!(copies);
    protection
}

fn llr(replays: u32) -> Value {
    json!({"family": "llr", "replays": replays})
}

fn code(family: &str, k: u32, h: u32) -> Value {
    json!({"family": family, "k": k, "h": h})
}

fn independent(p: f64) -> Value {
    json!({"model": "bernoulli", "p": p})
}

fn bursts(p: f64, r: f64, bad: f64) -> Value {
    json!({"model": "gilbert-elliott", "p": p, "r": r, "loss_good": 0.0, "loss_bad": bad})
}

/// Returns a configuration with a queue that is never empty, so that no dummy stands between two frames.
fn saturated(mut config: Value) -> Value {
    config["traffic"]["source"] = json!("saturated");
    config
}

/// Returns the estimate and the half width of the 95 % interval.
fn estimate(outcome: &Outcome) -> (f64, f64) {
    let row = &outcome.row;
    assert_eq!(row["rare_verdict"], "sound", "{row:?}");
    let mean = number(outcome, "residual_loss_rate");
    (mean, number(outcome, "rare_relative_error") * mean)
}

/// Runs a configuration and compares the estimate with `theory`, which is right but for the share `slack` of
/// itself. One comparison of a sound estimate in a thousand would fail, and the seed is fixed.
fn agrees(name: &str, config: &Value, theory: f64, slack: f64) {
    let outcome = run(config);
    let (mean, half_width) = estimate(&outcome);
    println!(
        "{name}: {mean:.4e} +- {:.1} %, theory {theory:.4e}, {} effective of {} looks, {} frames",
        100.0 * half_width / mean,
        number(&outcome, "rare_effective_samples") as u64,
        number(&outcome, "rare_looks"),
        number(&outcome, "frames_simulated"),
    );
    assert!(half_width <= 0.1 * mean, "{name}: the interval is wider than 10 %");
    let off = (mean - theory).abs();
    assert!(off <= WIDER * half_width + slack * theory, "{name}: {mean:e} +- {half_width:e}, not {theory:e}");
}

// RARE-1, RARE-3, RARE-7: p^(N + 1) from 1e-6 to 1e-15.
#[test]
fn linkguardian_leaves_what_its_copies_lose() {
    for (mode, copies, theory) in [
        ("lg", 1, 1e-6),
        ("lg", 2, 1e-9),
        ("lg", 3, 1e-12),
        ("lg", 4, 1e-15),
        ("lg-nb", 2, 1e-9),
        ("lg-nb", 4, 1e-15),
    ] {
        let config = rare(lg(mode, copies), independent(1e-3), 3000);
        agrees(&format!("{mode} {copies}"), &config, theory, 0.0);
    }
    // Every look has one weight, so any difference is rounding.
    agrees("none", &rare(json!({"family": "none"}), independent(1e-3), 200), 1e-3, 1e-9);
}

// RARE-6: a window for each flush, p^(replays + 1). Frames that go without a number until INIT is echoed, and
// losses that follow each other within a loop of W frames, are of the order p W beside it.
#[test]
fn link_level_retry_leaves_a_window_for_each_flush() {
    for (replays, p, theory) in [(1, 1e-3, 1e-6), (2, 1e-3, 1e-9), (3, 1e-3, 1e-12), (4, 1e-3, 1e-15)] {
        let config = rare(llr(replays), independent(p), 5000);
        agrees(&format!("llr {replays}"), &config, WINDOW * theory, 0.02);
    }
}

// RARE-6, RARE-12, RARE-13: a flush begins with the first frame of a burst. Each replay comes long after it, or
// the burst takes the whole window and waits for the replay.
#[test]
fn link_level_retry_under_bursts_leaves_a_window_for_each_flush() {
    for (replays, p, r) in [(1, 1e-4, 0.8), (1, 1e-4, 0.5), (2, 1e-4, 0.5), (2, 4e-5, 0.9), (3, 1e-5, 0.6)] {
        let bad: f64 = p / (p + r);
        let theory = WINDOW * p * (1.0 - bad) * (bad + (1.0 - r).powf(WINDOW)).powi(replays);
        let config = rare(llr(replays as u32), bursts(p, r, 1.0), 10_000);
        agrees(&format!("llr {replays} p {p} r {r}"), &config, theory, 0.03);
    }
}

// RARE-10: p P[Bin(k + h - 1, p) >= h].
#[test]
fn codes_leave_what_the_binomial_tail_says() {
    for (family, k, h, p) in [
        ("fec", 25, 5, 1e-2),
        ("fec", 25, 5, 1e-3),
        ("fec", 25, 5, 3e-4),
        ("fec", 5, 1, 4e-4),
        ("fec", 5, 3, 1e-3),
        ("fec-model", 25, 5, 1e-3),
    ] {
        let config = rare(code(family, k, h), independent(p), 3000);
        agrees(&format!("{family} {k}/{h} {p}"), &config, closed_form(k, h, p), 0.0);
    }
}

// RARE-1, RARE-10: the exact recursion over a block with the hidden state.
#[test]
fn codes_under_bursts_leave_what_the_chain_says() {
    for (k, h, p, r, bad) in
        [(25, 5, 2.8e-5, 0.25, 0.9), (25, 5, 1e-6, 0.9, 1.0), (5, 5, 1e-5, 0.5, 0.5), (50, 5, 1e-4, 0.6, 1.0)]
    {
        let channel = Channel { loses: [0.0, bad], leaves: [p, r] };
        let theory = BlockLaw::new(k, h, channel).residual();
        let config = rare(code("fec", k, h), bursts(p, r, bad), 12_000);
        agrees(&format!("fec {k}/{h} p {p} r {r} bad {bad}"), &config, theory, 0.0);
    }
}

/// Returns the chance that a chain loses a frame, and after `apart` frames `copies` frames in a row.
fn all_lost(channel: Channel, apart: u32, copies: u32) -> f64 {
    let [out, back] = channel.leaves;
    let step = |[good, bad]: [f64; 2]| [good * (1.0 - out) + bad * back, good * out + bad * (1.0 - back)];
    let lose = |[good, bad]: [f64; 2]| step([good * channel.loses[0], bad * channel.loses[1]]);
    let mut state = lose([back / (out + back), out / (out + back)]);
    for _ in 1..apart {
        state = step(state);
    }
    for _ in 0..copies {
        state = lose(state);
    }
    state[0] + state[1]
}

/// Returns how many frames after a lost frame its copy follows, found by losing both. The distances are taken at
/// several places, because they depend on where the circulating packets are.
fn distances(mode: &str) -> Vec<u32> {
    let places = (1000..1200).step_by(9);
    let apart = |place: u32| {
        (1..200).find(|apart| {
            let mut config = saturated(config("stress", mode));
            config["protection"] = lg(mode, 1);
            config["loss"]["forward"] = json!({"model": "at", "positions": [place, place + apart]});
            config["traffic"]["packets"] = json!(place + 300);
            number(&run(&config), "effective_lost_packets") == 1.0
        })
    };
    places.map(|place| apart(place).expect("a copy follows")).collect()
}

// RARE-4, RARE-5, RARE-12: copies that follow each other share a burst.
#[test]
fn linkguardian_under_bursts_leaves_what_the_chain_says() {
    let distances = distances("lg-nb");
    println!("copies follow after {distances:?} frames");
    for (copies, p, r, bad) in [(2, 1e-6, 0.8, 1.0), (3, 1e-4, 0.5, 0.5), (2, 2e-5, 0.6, 1.0)] {
        let channel = Channel { loses: [0.0, bad], leaves: [p, r] };
        let mean = |of: &dyn Fn(u32) -> f64| {
            distances.iter().map(|&apart| of(apart)).sum::<f64>() / distances.len() as f64
        };
        let theory = mean(&|apart| all_lost(channel, apart, copies));
        let mut protection = lg("lg-nb", copies);
        protection["holes"] = Value::Null;
        let config = saturated(rare(protection, bursts(p, r, bad), 12_000));
        // Copies of several frames lie a little further apart than those of one.
        agrees(&format!("lg-nb {copies} p {p} r {r} bad {bad}"), &config, theory, 0.01);
    }
}

// RARE-5: a burst of six is one more than is asked for (LG-9), whatever the copies do.
#[test]
fn a_burst_beyond_the_published_hole_is_found() {
    let (p, r) = (1e-5, 0.9);
    let theory = p / (p + r) * 0.1_f64.powi(5);
    let config = saturated(rare(lg("lg-nb", 4), bursts(p, r, 1.0), 30_000));
    agrees("six in a row", &config, theory, 0.01);
}

/// Returns the number of frames that stay lost in a plain run of `packets` frames.
fn counted(protection: &Value, loss: &Value, packets: u64) -> f64 {
    let mut config = config("stress", "none");
    config["protection"] = protection.clone();
    config["loss"]["forward"] = loss.clone();
    config["traffic"]["packets"] = json!(packets);
    config["seed"] = json!(7);
    number(&run(&config), "effective_lost_packets")
}

// RARE-2, RARE-3: at rates that can be counted, looks and counting agree. Losses come in clusters of at most
// `together`, so their count has a variance of at most `together` times its mean.
#[test]
fn counting_finds_the_same() {
    for (name, protection, loss, packets, together) in [
        ("lg", lg("lg", 1), independent(1e-3), 10_000_000, 1.0),
        ("lg-nb bursts", lg("lg-nb", 2), bursts(1e-4, 0.5, 1.0), 8_000_000, 4.0),
        ("llr", llr(1), independent(1e-3), 8_000_000, WINDOW),
        ("fec", code("fec", 5, 1), independent(5e-4), 10_000_000, 2.0),
    ] {
        let lost = counted(&protection, &loss, packets);
        let (mean, half_width) = estimate(&run(&rare(protection, loss, 10_000)));
        let expected = mean * packets as f64;
        println!("{name}: {lost} counted, {expected:.1} expected, rate {mean:.3e}");
        // 99.9 % of a normal law; the estimate's own error counts too.
        let noise = 3.291 * (expected * together).sqrt() + WIDER * half_width * packets as f64;
        assert!((lost - expected).abs() <= noise, "{name}: {lost} counted, {expected} expected");
        assert!(lost > 0.0, "{name}: nothing to compare with");
    }
}

/// Returns the least number of misses that at most one in a thousand sound families of `runs` intervals exceeds.
fn misses_at_most(runs: i32) -> usize {
    let (mut chance, mut below, mut misses) = (0.95_f64.powi(runs), 0.0, 0);
    while below + chance < 0.999 {
        below += chance;
        misses += 1;
        chance *= f64::from(runs + 1 - misses) / f64::from(misses) * 0.05 / 0.95;
    }
    misses as usize
}

// RARE-8: of forty intervals of 95 % at most seven miss, in all but one of a thousand families.
#[test]
fn intervals_cover_as_often_as_they_say() {
    const RUNS: u64 = 40;
    assert_eq!(misses_at_most(40), 7);
    for (name, protection, loss, theory) in [
        ("lg", lg("lg-nb", 3), independent(1e-3), 1e-12),
        ("fec", code("fec", 5, 3), independent(1e-3), closed_form(5, 3, 1e-3)),
    ] {
        let misses = (0..RUNS).filter(|&seed| {
            let mut config = rare(protection.clone(), loss.clone(), 1000);
            config["seed"] = json!(seed + 100);
            let (mean, half_width) = estimate(&run(&config));
            (mean - theory).abs() > half_width
        });
        let misses = misses.count();
        println!("{name}: {misses} of {RUNS} intervals miss");
        assert!(misses <= misses_at_most(RUNS as i32), "{name}: {misses} of {RUNS} intervals miss");
    }
}

// RARE-8
#[test]
fn the_same_seed_gives_the_same_row_on_any_number_of_threads() {
    let mut config = rare(lg("lg", 3), independent(1e-3), 500);
    let one = run(&config).row;
    config["threads"] = json!(2);
    assert_eq!(run(&config).row, one);
    config["seed"] = json!(2);
    assert_ne!(run(&config).row, one);
}

// RARE-9: without a figure there is no interval either.
#[test]
fn what_was_never_seen_has_no_interval() {
    for (protection, looks, words) in
        [(llr(255), 200, "nothing stayed lost"), (code("fec", 25, 5), 100, "effective samples")]
    {
        let row = run(&rare(protection, independent(1e-3), looks)).row;
        assert!(row["rare_verdict"].as_str().is_some_and(|verdict| verdict.contains(words)), "{row:?}");
        for key in ["residual_loss_rate", "residual_loss_ci95", "rare_relative_error"] {
            assert!(row[key].is_null(), "{key} is {}", row[key]);
        }
    }
}

// RARE-4, RARE-11
#[test]
fn what_cannot_be_steered_is_refused_in_one_line() {
    let list = json!({"model": "at", "positions": [3]});
    assert!(refusal(&rare(lg("lg", 1), list, 10)).contains("--rare steers"));
    let long = bursts(1e-6, 1e-5, 0.001);
    assert!(refusal(&rare(lg("lg", 1), long, 10)).contains("--rare steers"));
    assert!(refusal(&rare(lg("lg", 1), json!({"model": "none"}), 10)).contains("loses nothing"));
    let mut policed = rare(code("fec", 5, 1), independent(1e-3), 100);
    policed["protection"]["meter"] = json!("police");
    assert!(refusal(&policed).contains("drops frames"));
}
