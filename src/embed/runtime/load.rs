//! Loading a library: which, in what order, and what is said when none will do.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use ort::environment::Environment;

use super::{LIBRARY_VARIABLE, fetch, places};
use crate::embed::{Error, Network, Options, Progress, directories};

/// The environment of the first library that loads.
pub(super) fn make(
    options: &Options,
    progress: &dyn Fn(Progress<'_>),
) -> Result<Environment, Error> {
    if let Some(library) = directories::variable(LIBRARY_VARIABLE) {
        return explicit(&library);
    }
    let folder = fetch::folder(&directories::cache(options)?);
    let mut refused = Vec::new();
    let found = std::iter::once_with(|| fetch::library(&folder))
        .flatten()
        .chain(places::installed())
        .find_map(|library| attempt(&library, &mut refused));
    if let Some(environment) = found {
        return Ok(environment);
    }
    if options.network == Network::Never {
        return Err(none(&refused, "fetching is switched off"));
    }
    let library = fetch::fetch(&folder, progress).map_err(|reason| none(&refused, &reason))?;
    attempt(&library, &mut refused)
        .ok_or_else(|| none(&refused, "the fetched library would not load"))
}

/// The library that was named, and no other: who names one wants to know that it does not work.
fn explicit(library: &Path) -> Result<Environment, Error> {
    load(library).map_err(|reason| Error::Runtime {
        reason: format!(
            "{LIBRARY_VARIABLE} names {}, which cannot be used: {reason}. Point it to an ONNX \
             Runtime library of version 1.{} or later, or unset it to have one found or fetched",
            library.display(),
            ort::MINOR_VERSION
        ),
    })
}

fn attempt(library: &Path, refused: &mut Vec<String>) -> Option<Environment> {
    match load(library) {
        Ok(environment) => Some(environment),
        Err(reason) => {
            refused.push(format!("{}: {reason}", library.display()));
            None
        }
    }
}

/// Loads `library`. The version in a file's name is looked at first, since loading runs code.
fn load(library: &Path) -> Result<Environment, String> {
    if let Some(minor) = places::version(library).filter(|minor| *minor < ort::MINOR_VERSION) {
        return Err(format!(
            "version 1.{minor} is older than 1.{}",
            ort::MINOR_VERSION
        ));
    }
    let library = absolute(library)?;
    // The bindings assert and expect in places, for example on a library that is something else.
    let built = catch_unwind(AssertUnwindSafe(|| {
        let builder = ort::init_from(&library).map_err(|error| error.to_string())?;
        builder
            .with_name("toolscout")
            .with_telemetry(false)
            .build()
            .map_err(|error| error.to_string())
    }));
    built.unwrap_or_else(|_| Err("it panicked while loading".to_owned()))
}

/// A bare file name is left to the system's loader; any other relative path is relative to where
/// the program was started (the bindings would look beside the program).
fn absolute(library: &Path) -> Result<PathBuf, String> {
    if library.components().count() == 1 && !library.exists() {
        return Ok(library.to_owned());
    }
    if !library.is_file() {
        return Err("there is no such file".to_owned());
    }
    std::path::absolute(library).map_err(|error| error.to_string())
}

/// Nothing could be loaded.
fn none(refused: &[String], reason: &str) -> Error {
    let tried = if refused.is_empty() {
        "no installed library was found".to_owned()
    } else {
        format!("libraries found but not usable: {}", refused.join("; "))
    };
    Error::Runtime {
        reason: format!(
            "{tried}; {reason}. Do one of: set {LIBRARY_VARIABLE} to a library of version 1.{} or \
             later; run 'python3 -m pip install onnxruntime=={}'; or start once where pip reaches a \
             package index",
            ort::MINOR_VERSION,
            fetch::VERSION
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_named_library_that_is_missing_is_an_error_that_says_so() {
        let error = explicit(Path::new("/nowhere/libonnxruntime.so")).unwrap_err();
        let text = error.to_string();
        assert!(
            text.starts_with("ONNX Runtime: ORT_DYLIB_PATH names /nowhere/libonnxruntime.so"),
            "{text}"
        );
        assert!(
            text.contains("there is no such file") && text.contains("unset it"),
            "{text}"
        );
    }

    #[test]
    fn a_file_that_is_no_library_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("libonnxruntime.so");
        std::fs::write(&file, "not a library").unwrap();
        let mut refused = Vec::new();
        assert!(attempt(&file, &mut refused).is_none());
        assert!(
            refused[0].contains("libonnxruntime.so: failed to load"),
            "{refused:?}"
        );
    }

    #[test]
    fn an_old_version_is_refused_without_loading_it() {
        let error = load(Path::new("/nowhere/libonnxruntime.so.1.23.2")).unwrap_err();
        assert_eq!(error, "version 1.23 is older than 1.24");
    }

    #[test]
    fn the_last_word_tells_what_was_tried_and_three_ways_out() {
        let text = none(&["/a: too old".to_owned()], "pip is missing").to_string();
        for part in [
            "/a: too old",
            "pip is missing",
            "ORT_DYLIB_PATH",
            "pip install",
            "package index",
        ] {
            assert!(text.contains(part), "{part} is not in {text}");
        }
    }
}
