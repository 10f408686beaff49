//! ONNX Runtime: one environment a process, from a library that is found, fetched or linked in.
//!
//! With the feature `load-dynamic` (the default) the library is looked for at `ORT_DYLIB_PATH`
//! (which, where set, is the only place), in our cache, beside the program, where systems keep
//! libraries, and in an installed Python package. Where there is none, or all are too old, the
//! pinned wheel is fetched with pip. With `ort-download` instead it was fetched while building and
//! is part of the program.
//!
//! The bindings panic where they load a library by themselves and find none, so every session is
//! made in the one environment that is made here.

#[cfg(feature = "load-dynamic")]
mod fetch;
#[cfg(feature = "load-dynamic")]
mod load;
#[cfg(feature = "load-dynamic")]
mod places;

use std::sync::{Mutex, PoisonError};

use ort::environment::Environment;

use super::{Error, Options, Progress};

#[cfg(feature = "load-dynamic")]
use load::make;

#[cfg(not(any(feature = "load-dynamic", feature = "ort-download")))]
compile_error!("ONNX Runtime comes by the feature 'load-dynamic' or by 'ort-download': choose one");

/// Environment variable naming the library.
pub const LIBRARY_VARIABLE: &str = "ORT_DYLIB_PATH";

/// The bindings allow one environment a process, for good.
static ENVIRONMENT: Mutex<Option<Environment>> = Mutex::new(None);

/// The process's environment, made on the first call. A failure is not remembered: the next call
/// looks again.
///
/// # Errors
/// [`Error::Runtime`], which tells each place that was tried, why it would not do, and what to do.
pub(super) fn environment(
    options: &Options,
    progress: &dyn Fn(Progress<'_>),
) -> Result<Environment, Error> {
    let mut held = ENVIRONMENT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(environment) = held.as_ref() {
        return Ok(environment.clone());
    }
    let environment = make(options, progress)?;
    *held = Some(environment.clone());
    Ok(environment)
}

/// The environment of the library that is part of the program.
#[cfg(not(feature = "load-dynamic"))]
fn make(_: &Options, _: &dyn Fn(Progress<'_>)) -> Result<Environment, Error> {
    ort::init()
        .with_name("toolscout")
        .with_telemetry(false)
        .build()
        .map_err(|error| Error::Runtime {
            reason: error.to_string(),
        })
}
