//! Tells the module the commit from which it is built: `LOSSYLINK_COMMIT` of the environment if it is set, else the
//! commit that git names for this workspace, with `+changes` if tracked files differ from it; `unknown` without git.
//!
//! Cargo runs it again only when the commit or the crates change, and then this crate is compiled again in any case.

use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-env-changed=LOSSYLINK_COMMIT");
    println!("cargo::rerun-if-changed=build.rs");
    let workspace =
        PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("../..");
    for place in watched(&workspace) {
        println!("cargo::rerun-if-changed={}", place.display());
    }
    let given = std::env::var("LOSSYLINK_COMMIT").ok().filter(|commit| !commit.is_empty());
    let commit = given.or_else(|| commit_of(&workspace)).unwrap_or_else(|| "unknown".to_owned());
    println!("cargo::rustc-env=LOSSYLINK_COMMIT={commit}");
}

/// Returns the output of git, without the last newline; `None` if git fails or is not there.
fn git(workspace: &Path, arguments: &[&str]) -> Option<String> {
    let output = Command::new("git")
        .arg("--no-optional-locks")
        .current_dir(workspace)
        .args(arguments)
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim_end().to_owned())
}

/// Whether the workspace is the root of a repository, and not sources that were unpacked inside of another one.
fn is_repository(workspace: &Path) -> bool {
    let root = git(workspace, &["rev-parse", "--show-toplevel"]).map(PathBuf::from);
    root.and_then(|root| root.canonicalize().ok()) == workspace.canonicalize().ok()
}

fn commit_of(workspace: &Path) -> Option<String> {
    if !is_repository(workspace) {
        return None;
    }
    let commit = git(workspace, &["rev-parse", "HEAD"])?;
    let changes = git(workspace, &["status", "--porcelain", "--untracked-files=no"])?;
    Some(if changes.is_empty() { commit } else { commit + "+changes" })
}

/// Returns the sources, and the files of git that change with the commit. Cargo takes a file that is missing for a
/// changed one.
fn watched(workspace: &Path) -> Vec<PathBuf> {
    let mut places =
        vec![workspace.join("crates"), workspace.join("Cargo.toml"), workspace.join("Cargo.lock")];
    if is_repository(workspace) {
        let branch = git(workspace, &["symbolic-ref", "-q", "HEAD"]);
        let names = ["HEAD", "logs/HEAD"].map(str::to_owned).into_iter().chain(branch);
        let paths = names.filter_map(|name| git(workspace, &["rev-parse", "--git-path", &name]));
        places.extend(paths.map(|path| workspace.join(path)));
    }
    places.retain(|place| place.exists());
    places
}
