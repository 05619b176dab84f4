//! The data plane as a program of its own, for tests and benches without Python.

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    std::process::exit(lossylink_live::main(&arguments));
}
