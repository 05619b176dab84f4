//! The calls of a kernel, from Rust: frames cross the path in the expected time, and a record shows them.

use lossylink_guest::calls::{
    Arrival, lossylink_path_close, lossylink_path_next, lossylink_path_open, lossylink_path_send,
    lossylink_path_take,
};
use lossylink_guest::path::Path;
use pcap_file::pcap::PcapReader;
use serde_json::{Value, json};
use std::ffi::{CStr, CString, c_char};
use std::fs::{self, File};
use std::path::PathBuf;

/// The artifact's path at 100 Gb/s under the profile `ideal`, as Python writes it.
const PATH: &str = include_str!("path.json");
/// The latency of hosts and cables one way, in the profile.
const ONE_WAY_NS: u64 = 14_900;
/// The number of times that a frame is put on a wire: by the sender's interface, and by five ports of switches.
const SERIALISATIONS: u64 = 6;
/// The time of a frame of 1,514 bytes with FCS, preamble and gap, at 100 Gb/s.
const FRAME_NS: f64 = 1_538.0 * 8.0 / 100.0;
const FRAME_BYTES: u32 = 1_514;
const NEAR: u32 = 0;
const FAR: u32 = 1;

/// Makes a directory of its own for each test.
fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// Writes a configuration for the kernel, changed by `change`.
fn configuration(name: &str, change: impl FnOnce(&mut Value)) -> PathBuf {
    let folder = folder(name);
    let mut path: Value = serde_json::from_str(PATH).unwrap();
    change(&mut path);
    let whole = json!({
        "path": path,
        "report": folder.join("report.json"),
        "record": folder.join("record.pcap"),
    });
    let file = folder.join("configuration.json");
    fs::write(&file, whole.to_string()).unwrap();
    file
}

/// A user of a path that calls as a kernel does.
struct Kernel {
    path: *mut Path,
}

impl Kernel {
    fn open(file: &std::path::Path) -> Result<(Self, u64), String> {
        let name = CString::new(file.to_str().unwrap()).unwrap();
        let (mut patience_ns, mut problem) = (0, [0 as c_char; 200]);
        // SAFETY: the name ends in zero, and the rest can be written.
        let path = unsafe {
            lossylink_path_open(name.as_ptr(), &raw mut patience_ns, problem.as_mut_ptr(), problem.len())
        };
        if path.is_null() {
            // SAFETY: the call has written a string.
            return Err(unsafe { CStr::from_ptr(problem.as_ptr()) }.to_str().unwrap().to_owned());
        }
        Ok((Self { path }, patience_ns))
    }

    fn send(&self, side: u32, now_ns: u64, number: u64, head: &[u8], bytes: u32) -> u64 {
        let length = u32::try_from(head.len()).unwrap();
        // SAFETY: the path is open, and the head can be read.
        unsafe { lossylink_path_send(self.path, side, now_ns, number, head.as_ptr(), length, bytes) }
    }

    /// Takes every arrival, with the instant at which the kernel took it.
    fn arrivals(&self) -> Vec<(u64, Arrival)> {
        let mut taken = Vec::new();
        loop {
            // SAFETY: the path is open.
            let next = unsafe { lossylink_path_next(self.path) };
            if next == u64::MAX {
                return taken;
            }
            let mut arrival = Arrival::default();
            // SAFETY: the path is open, and the arrival can be written.
            while unsafe { lossylink_path_take(self.path, next, &raw mut arrival) } == 1 {
                taken.push((next, arrival));
            }
        }
    }

    fn close(self, now_ns: u64) {
        // SAFETY: the path is open, and nobody uses it any more.
        assert_eq!(unsafe { lossylink_path_close(self.path, now_ns) }, 0);
    }
}

/// Returns a code with a parity frame behind each frame: a link that is half as fast as the interface before it.
fn half_a_link() -> Value {
    json!({
        "family": "fec", "k": 1, "h": 1, "release": "eager", "flush_ps": null, "meter": "off", "priority": "off",
        "change": null,
    })
}

fn head(type_of_service: u8) -> Vec<u8> {
    let mut head = vec![0; 54];
    head[12] = 0x08;
    head[14] = 0x45;
    head[15] = type_of_service;
    head
}

#[test]
fn frames_take_what_the_path_takes() {
    let file = configuration("times", |_| ());
    let (kernel, patience_ns) = Kernel::open(&file).unwrap();
    assert!(patience_ns > 2 * ONE_WAY_NS);
    let sent = [
        kernel.send(NEAR, 1_000, 0, &head(0), FRAME_BYTES),
        kernel.send(FAR, 1_000, 1, &head(0), FRAME_BYTES),
    ];
    // An interface is busy as long as the frame takes; the kernel counts whole nanoseconds.
    assert_eq!(sent, [1_000 + FRAME_NS.ceil() as u64; 2]);
    let arrivals = kernel.arrivals();
    let took = ONE_WAY_NS as f64 + SERIALISATIONS as f64 * FRAME_NS;
    assert_eq!(arrivals.len(), 2);
    for (at, _) in &arrivals {
        assert_eq!(*at, 1_000 + took.ceil() as u64);
    }
    let mut places: Vec<_> = arrivals.iter().map(|(_, arrival)| (arrival.number, arrival.side)).collect();
    places.sort_unstable();
    assert_eq!(places, [(0, FAR), (1, NEAR)]);
    kernel.close(100_000);
    let folder = file.parent().unwrap();
    let report: Value =
        serde_json::from_str(&fs::read_to_string(folder.join("report.json")).unwrap()).unwrap();
    let row = &report["row"];
    assert_eq!(row["frames_offered"], 1);
    assert_eq!(row["frames_handed_over"], 2);
    assert!(row["lateness_ns_max"].as_f64().unwrap() < 1.0);
    let mut record = PcapReader::new(File::open(folder.join("record.pcap")).unwrap()).unwrap();
    let mut times = Vec::new();
    while let Some(packet) = record.next_packet() {
        let packet = packet.unwrap();
        times.push((packet.timestamp.as_nanos() as u64, packet.orig_len));
    }
    assert_eq!(times, [(1_000, FRAME_BYTES), (1_000 + took.ceil() as u64, FRAME_BYTES)]);
}

#[test]
fn a_queue_marks_frames_that_say_they_can_be() {
    let crowded = |type_of_service| {
        let name = format!("marks-{type_of_service}");
        let file = configuration(&name, |path| path["protection"] = half_a_link());
        let (kernel, _) = Kernel::open(&file).unwrap();
        for number in 0..1_000 {
            kernel.send(NEAR, 1_000, number, &head(type_of_service), FRAME_BYTES);
        }
        let arrivals = kernel.arrivals();
        kernel.close(10_000_000);
        arrivals.iter().filter(|(_, arrival)| arrival.marked == 1).count()
    };
    assert_eq!(crowded(0), 0);
    assert!(crowded(2) > 0);
}

#[test]
fn a_mistake_is_one_line() {
    let file = configuration("mistake", |path| path["path"]["rtt_ps"] = json!(1));
    let problem = Kernel::open(&file).err().unwrap();
    assert!(!problem.is_empty() && !problem.contains('\n'), "{problem}");
    let problem = Kernel::open(&folder("nothing").join("none.json")).err().unwrap();
    assert!(problem.contains("none.json: No such file"), "{problem}");
}

/// The instant at which the link starts to corrupt; the frames reach it about 10 us after they were sent.
const CORRUPTION_NS: u64 = 1_000_000;
const HEALING_NS: u64 = 3_000_000;
const BIN_NS: u64 = 500_000;

/// Sends one frame each microsecond. Returns the numbers of the frames that did not arrive, and the bins.
fn time_line(name: &str, protection: &Value, protected_ns: Option<u64>) -> (Vec<u64>, Value) {
    let in_ps = |ns: u64| json!(ns * 1_000);
    let file = configuration(name, |path| {
        path["loss"]["forward"] = json!({ "model": "bernoulli", "p": 0.01 });
        path["protection"] = protection.clone();
        path["run"]["duration_ps"] = in_ps(4_000_000);
        path["timeline"] = json!({
            "corruption_ps": in_ps(CORRUPTION_NS),
            "corruption_end_ps": in_ps(HEALING_NS),
            "protection_ps": protected_ns.map(in_ps),
            "poll_ps": in_ps(100_000),
            "bin_ps": in_ps(BIN_NS),
        });
    });
    let (kernel, _) = Kernel::open(&file).unwrap();
    let mut came = vec![false; 4_100];
    for number in 0..came.len() as u64 {
        let now = 7_000_000 + number * 1_000;
        kernel.send(NEAR, now, number, &head(0), FRAME_BYTES);
        let mut arrival = Arrival::default();
        // SAFETY: the path is open, and the arrival can be written.
        while unsafe { lossylink_path_take(kernel.path, now, &raw mut arrival) } == 1 {
            came[arrival.number as usize] = true;
        }
    }
    for (_, arrival) in kernel.arrivals() {
        came[arrival.number as usize] = true;
    }
    kernel.close(20_000_000);
    let text = fs::read_to_string(file.parent().unwrap().join("report.json")).unwrap();
    let missing = came.iter().zip(0..).filter(|(came, _)| !**came).map(|(_, number)| number);
    (missing.collect(), serde_json::from_str(&text).unwrap())
}

#[test]
fn a_link_corrupts_and_is_protected_while_frames_cross() {
    let (missing, report) = time_line("time-line", &json!({ "family": "none" }), None);
    // From the first frame on, each number is a microsecond; hosts and hops take less than 20 us.
    assert!(missing.iter().all(|number| (980..3_000).contains(number)), "{missing:?}");
    assert!((5..50).contains(&missing.len()), "{} of 2,000 at 1 %", missing.len());
    let bins = &report["timeline"];
    assert_eq!(bins["time_s"], json!([0.0, 0.0005, 0.001, 0.0015, 0.002, 0.0025, 0.003, 0.0035]));
    for gbps in bins["send_gbps"].as_array().unwrap() {
        let expected = 1_538.0 * 8.0 / 1_000.0;
        assert!((gbps.as_f64().unwrap() - expected).abs() < 0.05 * expected, "{bins}");
    }
    assert_eq!(report["row"]["protected_at_s"], Value::Null);
    let lost_before = missing.iter().filter(|&&number| number < 2_000).count();

    let code = json!({
        "family": "fec", "k": 1, "h": 1, "release": "eager", "flush_ps": null, "meter": "off", "priority": "off",
        "change": null,
    });
    let (protected, report) = time_line("time-line-protected", &code, Some(2_000_000));
    assert_eq!(report["row"]["protected_at_s"], 0.002);
    assert_eq!(report["timeline"]["protected"], json!([0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0]));
    // Until the protection is on, both paths lose equal frames. Then, of a frame and its copy, one arrives
    // almost always.
    let lost = |numbers: &[u64], from: u64| numbers.iter().filter(|&&number| number >= from).count();
    assert!(lost(&protected, 2_000) <= 1 && lost(&missing, 2_000) > 1, "{protected:?} {missing:?}");
    assert!(protected.len().abs_diff(lost_before) <= 1, "{protected:?} {missing:?}");
}

#[test]
fn a_time_line_in_the_wrong_order_is_refused_before_it_runs() {
    let file = configuration("time-line-order", |path| {
        path["timeline"] = json!({ "corruption_ps": 2, "protection_ps": 1, "poll_ps": 1, "bin_ps": 1, "corruption_end_ps": null });
    });
    let problem = Kernel::open(&file).err().unwrap();
    assert!(problem.contains("timeline.protection comes before timeline.corruption"), "{problem}");
}
