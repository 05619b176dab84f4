//! Ends of the number ranges: ratios near one, octets beyond 64 bits, symbols of too many bits.

use lossylink_core::loss::{Code, LossModel, LossProcess, Phy, PhySettings};
use lossylink_core::rng::Streams;
use lossylink_core::time::Instant;
use lossylink_core::units::BitRate;

fn line(name: &str, bit_error_ratio: f64, repeat: f64) -> PhySettings {
    let code = Code::named(name).expect("a code");
    PhySettings { code, bit_error_ratio, interleaved: 1, repeat, is_precoded: false, lanes: 1, line_bits: 2 }
}

#[test]
fn ratios_stay_within_one() {
    for name in ["rs528", "rs544", "rs272", "rs3/1/2", "rs255/239/8", "rs4095/4065/12"] {
        for bit_error_ratio in [0.01, 0.1, 0.3, 0.5] {
            for repeat in [0.0, 0.3, 0.5, 0.75] {
                let phy = Phy::new(line(name, bit_error_ratio, repeat)).expect("a line");
                let ratios = [phy.group_failure_ratio(), phy.mean_loss_rate(64), phy.mean_loss_rate(1518)];
                assert!(
                    ratios.iter().all(|&ratio| ratio <= 1.0),
                    "{name} {bit_error_ratio} {repeat}: {ratios:?}"
                );
            }
        }
    }
}

/// More octets than 64 bits count: 170 days at 10 Tb/s.
#[test]
fn fast_lines_live_until_the_end_of_time() {
    let model = LossModel::phy(line("rs272", 1e-3, 0.0)).expect("a line");
    let stream = Streams::new(1).stream("link/0/loss");
    let mut process = LossProcess::on_line(&model, BitRate::from_gbps(10_000), stream);
    for before_end_ps in [10, 1] {
        process.is_lost_at(Instant::from_ps(u64::MAX - before_end_ps), 64);
    }
}

#[test]
fn a_refused_code_is_told_the_bits_that_symbols_may_have() {
    let refused = |name: &str| Code::named(name).err().map(|error| error.to_string()).unwrap_or_default();
    assert!(refused("rs3/1/13").contains("2 to 12 bits"));
    assert_eq!(refused("rs3/1/12"), "");
}
