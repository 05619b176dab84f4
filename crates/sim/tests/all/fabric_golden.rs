//! The fabric against runs of the published simulator, which `reference/fabric` holds: every row, both with and without
//! LinkGuardian.

use lossylink_sim::fabric::{
    Between, Counts, Failure, Performance, Plan, Point, Protection, Repairs, Row, Side, Topology, Year,
};
use std::collections::{HashMap, VecDeque};
use std::path::PathBuf;

fn lines(name: &str) -> Vec<String> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../reference/fabric").join(name);
    let packed = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut text = Vec::new();
    lzma_rs::xz_decompress(&mut packed.as_slice(), &mut text).expect("the file is packed by xz");
    String::from_utf8(text).expect("text").lines().skip(1).map(str::to_owned).collect()
}

fn number<T: std::str::FromStr>(word: &str) -> T {
    word.parse().unwrap_or_else(|_| panic!("{word} is no number"))
}

fn trace(name: &str) -> Vec<Failure> {
    let failure = |line: &String| {
        let words: Vec<&str> = line.split(',').collect();
        Failure { at_s: number(words[0]), link: number(words[1]), loss: number(words[2]) }
    };
    lines(name).iter().map(failure).collect()
}

/// The recorded order of links that left service together, and the recorded time of each repair.
struct Recorded {
    /// The places in the list by event and link.
    places: HashMap<(u64, u32), usize>,
    takes_s: VecDeque<(u32, u32)>,
}

impl Recorded {
    fn read(name: &str) -> Self {
        let (mut places, mut takes_s) = (HashMap::new(), VecDeque::new());
        for (place, line) in lines(name).iter().enumerate() {
            let words: Vec<&str> = line.split(',').collect();
            let link = number(words[4]);
            places.insert((number(words[0]), link), place);
            takes_s.push_back((link, number(words[5])));
        }
        Self { places, takes_s }
    }
}

impl Repairs for Recorded {
    fn takes_s(&mut self, link: u32) -> u32 {
        let (recorded, takes_s) = self.takes_s.pop_front().expect("a link leaves service that did not");
        assert_eq!(link, recorded, "another link leaves service");
        takes_s
    }

    fn order(&mut self, event: u64, links: &mut [u32]) {
        links.sort_by_key(|&link| {
            self.places.get(&(event, link)).copied().expect("a link leaves that did not")
        });
    }
}

/// Returns LinkGuardian at 100G, as published: hundredths of Gb/s.
fn published() -> Performance {
    let point = |(loss, effective_loss, carried)| Point { loss, effective_loss, carried };
    let points =
        [(1.43e-5, 5.97e-10, 9876), (9.16e-5, 7.56e-9, 9874), (1.16e-3, 1.29e-9, 9088), (1e-2, 1e-8, 6000)];
    Performance::new(points.map(point).to_vec(), Between::Nearest)
}

/// The time that the published series have before the first event and after the last.
const MARGIN_S: u32 = 4 * 86_400;

fn near(ours: f64, theirs: &str, relative: f64, absolute: f64) -> bool {
    let theirs: f64 = number(theirs);
    (ours - theirs).abs() <= relative * theirs.abs() + absolute
}

fn compare(topology: &Topology, row: &Row, side: &Side, line: &str) {
    let words: Vec<&str> = line.split('\t').collect();
    let integers = [row.least_paths, row.disabled, row.corrupting, side.ports].map(u64::from);
    let recorded = [words[4], words[8], words[9], words[10]].map(number::<u64>);
    assert_eq!(integers, recorded, "{line}");
    // Running sums of floats carry the remainders of rounding.
    assert!(near(row.penalty.to_f64(), words[1], 1e-9, 1e-15), "{} {line}", row.penalty.to_f64());
    assert!(near(side.penalty.to_f64(), words[2], 1e-9, 1e-15), "{} {line}", side.penalty.to_f64());
    let tors = f64::from(topology.pods * topology.tors);
    assert!(near(row.paths as f64 / tors, words[3], 1e-12, 0.0), "{line}");
    let capacity = side.capacity as f64 / 100.0 / f64::from(topology.pods);
    assert!(near(capacity, words[5], 1e-9, 0.0), "{capacity} {line}");
    assert!(near(f64::from(side.least_capacity) / 100.0, words[6], 1e-9, 0.0), "{line}");
    assert_eq!(row.max_loss, number::<f64>(words[7]), "{line}");
}

/// Replays a run and compares every row with the recorded series of its two sides.
fn replay(plan: &Plan, folder: &str, decisions: &str, bare: Option<&str>, protected: Option<&str>) -> Counts {
    let failures = trace(&format!("{folder}/trace.csv.xz"));
    let recorded = Recorded::read(&format!("{folder}/{decisions}.csv.xz"));
    let mut rows = Vec::new();
    let counts = Year::new(plan, recorded).run(&failures, |row| rows.push(*row));
    for (series, side) in [(bare, (|row| row.bare) as fn(&Row) -> Side), (protected, |row| row.protected)] {
        let Some(series) = series else { continue };
        let lines = lines(&format!("{folder}/{series}.dat.xz"));
        // The series has a line before the first event, two lines for each event, of which the second is the state
        // after it, and a last line.
        assert_eq!(lines.len(), 2 * rows.len(), "{series}");
        for (place, row) in rows.iter().enumerate() {
            let line = &lines[2 * place];
            let at_s: u32 = number(line.split('\t').next().expect("a time"));
            assert_eq!(at_s, if place == 0 { row.at_s - MARGIN_S } else { row.at_s }, "{line}");
            compare(&plan.topology, row, &side(row), line);
        }
    }
    counts
}

fn plan(topology: Topology, percent: u32, pods: Option<Vec<bool>>) -> Plan {
    let protection = Protection { performance: published(), pods };
    Plan { topology, constraint_ppm: percent * 10_000, full: 10_000, protection: Some(protection) }
}

#[test]
fn four_planes_are_as_published() {
    let fabric = Topology::fb_fabric(6, 16, 2).unwrap();
    let all = plan(fabric, 75, None);
    let counts = replay(&all, "fb_p6os2", "decisions_75", Some("corropt_75"), Some("lg_corropt_75"));
    assert_eq!(counts, Counts { failures: 1160 - 43, skipped: 43, repairs: 1080, refused: 640 });
    let half = plan(fabric, 50, Some((0..6).map(|pod| (2..5).contains(&pod)).collect()));
    let counts = replay(&half, "fb_p6os2", "decisions_50_dep50", None, Some("lg_corropt_50_dep50"));
    assert_eq!(counts, Counts { failures: 1160 - 39, skipped: 39, repairs: 1118, refused: 61 });
}

#[test]
fn a_fat_tree_is_as_published() {
    let tree = Topology::fat_tree(8).unwrap();
    let half = plan(tree, 50, None);
    let counts = replay(&half, "ft_k8", "decisions_50", Some("corropt_50"), Some("lg_corropt_50"));
    assert_eq!(counts, Counts { failures: 708 - 41, skipped: 41, repairs: 665, refused: 27 });
    let most = plan(tree, 75, None);
    let counts = replay(&most, "ft_k8", "decisions_75", None, Some("lg_corropt_75"));
    assert_eq!(counts, Counts { failures: 708 - 29, skipped: 29, repairs: 658, refused: 343 });
}
