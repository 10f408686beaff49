//! Where models lie and where fetched files are kept.

use std::path::{Path, PathBuf};

use super::{Error, Options};

/// Environment variable naming the folder of models.
pub(super) const MODELS_VARIABLE: &str = "TOOLSCOUT_MODELS";
/// Environment variable naming the folder of fetched files.
pub(super) const CACHE_VARIABLE: &str = "TOOLSCOUT_CACHE";

/// An environment variable as a path; an empty one counts as unset.
pub(super) fn variable(name: &str) -> Option<PathBuf> {
    std::env::var_os(name)
        .filter(|value| !value.is_empty())
        .map(PathBuf::from)
}

/// The folder of models.
///
/// # Errors
/// [`Error::File`] where a folder was named that is none, or where none of the usual places is one.
pub(super) fn models(options: &Options) -> Result<PathBuf, Error> {
    let named = options.models.clone().or_else(|| variable(MODELS_VARIABLE));
    if let Some(path) = named {
        return if path.is_dir() {
            Ok(path)
        } else {
            Err(Error::File {
                path,
                reason: format!("is no folder; set {MODELS_VARIABLE} to a folder of models"),
            })
        };
    }
    let places = usual_models();
    places
        .iter()
        .find(|place| holds_models(place))
        .cloned()
        .ok_or_else(|| Error::File {
            path: PathBuf::from("models"),
            reason: format!(
                "no folder of models found (looked at {}); set {MODELS_VARIABLE}",
                join(&places)
            ),
        })
}

fn usual_models() -> Vec<PathBuf> {
    let beside = std::env::current_exe()
        .ok()
        .and_then(|program| program.parent().map(|folder| folder.join("models")));
    std::iter::once(PathBuf::from("models"))
        .chain(beside)
        .chain([Path::new(env!("CARGO_MANIFEST_DIR")).join("models")])
        .collect()
}

/// Some folder in it has a manifest. A folder that merely has the name is passed over, since the
/// program may be started anywhere.
fn holds_models(folder: &Path) -> bool {
    std::fs::read_dir(folder).is_ok_and(|entries| {
        entries
            .flatten()
            .any(|entry| entry.path().join("manifest.toml").is_file())
    })
}

/// The folder of fetched files; made by whoever writes to it first.
///
/// # Errors
/// [`Error::File`] where there is no home directory to put it in.
pub fn cache(options: &Options) -> Result<PathBuf, Error> {
    let named = options.cache.clone().or_else(|| variable(CACHE_VARIABLE));
    named.or_else(usual_cache).ok_or_else(|| Error::File {
        path: PathBuf::from("~/.cache/toolscout"),
        reason: format!("there is no home directory; set {CACHE_VARIABLE}"),
    })
}

fn usual_cache() -> Option<PathBuf> {
    let user = if cfg!(windows) {
        variable("LOCALAPPDATA")
    } else if cfg!(target_os = "macos") {
        variable("HOME").map(|home| home.join("Library/Caches"))
    } else {
        variable("XDG_CACHE_HOME").or_else(|| variable("HOME").map(|home| home.join(".cache")))
    };
    user.map(|folder| folder.join("toolscout"))
}

/// Paths in one line.
pub(super) fn join(paths: &[PathBuf]) -> String {
    let names: Vec<String> = paths
        .iter()
        .map(|path| path.display().to_string())
        .collect();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(models: &Path, cache: &Path) -> Options {
        Options {
            models: Some(models.to_owned()),
            cache: Some(cache.to_owned()),
            ..Options::default()
        }
    }

    #[test]
    fn named_folders_are_taken_and_a_wrong_one_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let wrong = folder.path().join("absent");
        let found = options(folder.path(), folder.path());
        assert_eq!(models(&found).unwrap(), folder.path());
        assert_eq!(cache(&found).unwrap(), folder.path());
        let error = models(&options(&wrong, folder.path()))
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("absent") && error.contains("TOOLSCOUT_MODELS"),
            "{error}"
        );
    }

    #[test]
    fn a_folder_without_manifests_is_no_folder_of_models() {
        let folder = tempfile::tempdir().unwrap();
        assert!(!holds_models(folder.path()));
        std::fs::create_dir(folder.path().join("m")).unwrap();
        std::fs::write(folder.path().join("m/manifest.toml"), "").unwrap();
        assert!(holds_models(folder.path()));
    }
}
