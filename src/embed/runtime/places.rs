//! Where an installed ONNX Runtime may lie, most likely to work first.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::embed::directories::variable;

/// Prints the folder of the installed Python package without importing it.
const ASK_PYTHON: &str = "import importlib.util as u, os
s = u.find_spec('onnxruntime')
print(os.path.join(os.path.dirname(s.origin), 'capi') if s and s.origin else '')";

/// Interpreters by the names they go by.
pub(super) const PYTHONS: [&str; 2] = ["python3", "python"];

/// Libraries of an installed ONNX Runtime: beside the program, in the system's folders, in the
/// active Python environment, and, asked last since it costs a process, in Python's own package.
pub(super) fn installed() -> impl Iterator<Item = PathBuf> {
    folders()
        .into_iter()
        .flat_map(|folder| libraries(&folder))
        .chain(std::iter::once_with(python).flatten())
}

fn folders() -> Vec<PathBuf> {
    let program = std::env::current_exe().ok();
    let beside = program.and_then(|program| program.parent().map(Path::to_owned));
    beside
        .into_iter()
        .chain(search_path())
        .chain(system().iter().map(PathBuf::from))
        .chain(environments())
        .collect()
}

/// Folders of the loader's own variable. Windows has none of its own: its `PATH` and system
/// folder hold versions that other programs brought, which are too old more often than not.
fn search_path() -> Vec<PathBuf> {
    let name = if cfg!(target_os = "macos") {
        "DYLD_LIBRARY_PATH"
    } else {
        "LD_LIBRARY_PATH"
    };
    std::env::var_os(name).map_or_else(Vec::new, |value| std::env::split_paths(&value).collect())
}

fn system() -> &'static [&'static str] {
    if cfg!(target_os = "macos") {
        &["/opt/homebrew/lib", "/usr/local/lib", "/opt/local/lib"]
    } else if cfg!(target_os = "linux") {
        &[
            "/usr/local/lib",
            "/usr/lib",
            "/usr/lib64",
            "/usr/lib/x86_64-linux-gnu",
            "/usr/lib/aarch64-linux-gnu",
            "/opt/onnxruntime/lib",
            "/home/linuxbrew/.linuxbrew/lib",
        ]
    } else {
        &[]
    }
}

/// The package's folder in an active virtual or conda environment.
fn environments() -> Vec<PathBuf> {
    let roots = ["VIRTUAL_ENV", "CONDA_PREFIX"]
        .into_iter()
        .filter_map(variable);
    roots
        .flat_map(|root| {
            let versions = std::fs::read_dir(root.join("lib"))
                .into_iter()
                .flatten()
                .flatten();
            let unix = versions.map(|entry| entry.path().join("site-packages"));
            let sites: Vec<PathBuf> = unix.chain([root.join("Lib/site-packages")]).collect();
            sites
        })
        .map(|site| site.join("onnxruntime").join("capi"))
        .filter(|folder| folder.is_dir())
        .collect()
}

fn python() -> Vec<PathBuf> {
    PYTHONS
        .iter()
        .find_map(|python| {
            let output = Command::new(python)
                .args(["-c", ASK_PYTHON])
                .stdin(Stdio::null())
                .output()
                .ok()?;
            output.status.success().then_some(output.stdout)
        })
        .map(|answer| String::from_utf8_lossy(&answer).trim().to_owned())
        .filter(|folder| !folder.is_empty())
        .map_or_else(Vec::new, |folder| libraries(Path::new(&folder)))
}

/// ONNX Runtime libraries in `folder`, newest version first. Those of one version that differ in
/// name only (links) are one.
pub(super) fn libraries(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|path| {
            path.file_name()
                .and_then(|name| name.to_str())
                .is_some_and(is_library)
        })
        .filter_map(|path| path.canonicalize().ok())
        .collect();
    found.sort_by_key(|path| (std::cmp::Reverse(version(path)), path.clone()));
    found.dedup();
    found
}

/// `libonnxruntime.so`, `libonnxruntime.so.1.24.4`, `libonnxruntime.1.24.4.dylib`,
/// `onnxruntime.dll`; not `libonnxruntime_providers_shared.so`.
fn is_library(name: &str) -> bool {
    if cfg!(windows) {
        return name == "onnxruntime.dll";
    }
    let kind = if cfg!(target_os = "macos") {
        ".dylib"
    } else {
        ".so"
    };
    name.strip_prefix("libonnxruntime.")
        .is_some_and(|rest| format!(".{rest}").contains(kind))
}

/// The `24` of version 1.24 in a library's file name, where it tells.
pub(super) fn version(library: &Path) -> Option<u32> {
    let name = library.file_name()?.to_str()?;
    let (_, after) = name.split_once(".1.")?;
    let digits: String = after.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_from_names() {
        let read = |name: &str| version(Path::new(name));
        assert_eq!(read("libonnxruntime.so.1.24.4"), Some(24));
        assert_eq!(read("libonnxruntime.1.32.0.dylib"), Some(32));
        assert_eq!(read("libonnxruntime.so"), None);
        assert_eq!(read("libonnxruntime.so.1"), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_newest_library_of_a_folder_comes_first_and_other_files_do_not_count() {
        let folder = tempfile::tempdir().unwrap();
        for name in [
            "libonnxruntime.so.1.24.4",
            "libonnxruntime.so.1.30.0",
            "libonnxruntime_providers_shared.so",
            "readme.txt",
        ] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        std::os::unix::fs::symlink(
            folder.path().join("libonnxruntime.so.1.30.0"),
            folder.path().join("libonnxruntime.so"),
        )
        .unwrap();
        let names: Vec<String> = libraries(folder.path())
            .iter()
            .map(|path| path.file_name().unwrap().to_string_lossy().into_owned())
            .collect();
        assert_eq!(
            names,
            ["libonnxruntime.so.1.30.0", "libonnxruntime.so.1.24.4"]
        );
    }

    #[test]
    fn a_folder_that_is_not_there_holds_nothing() {
        assert!(libraries(Path::new("/nowhere")).is_empty());
    }
}
