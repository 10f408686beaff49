//! Settings: what the config file says, and how it meets what is typed.
//!
//! ```toml
//! [model]
//! name = "use-multilingual-v3"
//! threads = 2
//!
//! [search]
//! limit = 5
//! preset = "card"
//!
//! [weights]
//! rule = 0.0
//! ```
//!
//! What is typed, or set in the environment, wins over the file, and the file over what is shipped.
//! A preset that is typed replaces all constants of the file; one that the file names is what its
//! other constants are laid over. [`tuning`] has the keys of the constants.

use std::path::{Path, PathBuf};

use super::args::{ModelArgs, ModelPlace};
use super::document::{Document, Section};
use super::error::Error;
use super::servers::Servers;
use super::tuning;
use crate::embed::{self, Network};
use crate::search::Config;
use crate::search::request::MAX_LIMIT;

/// Bytes of vectors that are remembered: queries come again, and 64 MB hold 30,000 of them.
const REMEMBER_BYTES: u64 = 64 << 20;
/// Cores that a config file may name.
const MAX_THREADS: usize = 1024;
/// Names of the presets.
const PRESETS: [&str; 2] = ["default", "card"];

/// What the config file says, over what is shipped.
#[derive(Debug)]
pub struct Settings {
    model: Model,
    /// Hits wanted.
    pub limit: Option<usize>,
    /// Constants of a search, unless a preset is typed.
    pub search: Config,
    /// Servers of tools.
    pub servers: Servers,
}

#[derive(Debug, Default)]
struct Model {
    name: Option<String>,
    models: Option<PathBuf>,
    cache: Option<PathBuf>,
    threads: Option<usize>,
}

impl Settings {
    /// Reads the config file, if there is one.
    ///
    /// # Errors
    /// [`Error::Read`] where it cannot be read, [`Error::Setting`] where it says something that
    /// cannot be.
    pub fn read(path: Option<&Path>) -> Result<Self, Error> {
        let mut settings = Self {
            model: Model::default(),
            limit: None,
            search: Config::shipped(),
            servers: Servers::default(),
        };
        if let Some(path) = path {
            let document = Document::read("config file", path)?;
            settings.lay(document.root()?)?;
        }
        Ok(settings)
    }

    fn lay(&mut self, mut root: Section<'_>) -> Result<(), Error> {
        if let Some(section) = root.section("model")? {
            self.model = Model::read(section)?;
        }
        self.servers = Servers::read(&mut root)?;
        let mut search = root
            .section("search")?
            .unwrap_or_else(|| root.empty("search"));
        self.limit = search.whole("limit", (1, MAX_LIMIT))?;
        let presets = PRESETS.map(|name| (name, name));
        if let Some(config) = search.word("preset", &presets)?.and_then(Config::preset) {
            self.search = config;
        }
        tuning::read(&mut root, &mut search, &mut self.search)?;
        search.end()?;
        root.end()
    }

    /// The model that is named, if any is.
    pub fn model_name(&self, args: &ModelArgs) -> Option<String> {
        args.model.clone().or_else(|| self.model.name.clone())
    }

    /// Where models are and how they run.
    pub fn embed_options(&self, place: &ModelPlace) -> embed::Options {
        let or = |typed: &Option<PathBuf>, file: &Option<PathBuf>| {
            typed.clone().or_else(|| file.clone())
        };
        embed::Options {
            models: or(&place.models, &self.model.models),
            cache: or(&place.cache, &self.model.cache),
            threads: place.threads.or(self.model.threads).unwrap_or(0),
            remember_bytes: REMEMBER_BYTES,
            network: if place.offline {
                Network::Never
            } else {
                Network::Allowed
            },
        }
    }
}

impl Model {
    fn read(mut section: Section<'_>) -> Result<Self, Error> {
        let model = Self {
            name: section.text("name")?,
            models: section.text("models")?.map(PathBuf::from),
            cache: section.text("cache")?.map(PathBuf::from),
            threads: section.whole("threads", (0, MAX_THREADS))?,
        };
        section.end()?;
        Ok(model)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Settings, String> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        Settings::read(Some(file.path())).map_err(|error| {
            let message = error.message();
            message.split_once(", ").unwrap().1.to_owned()
        })
    }

    #[test]
    fn a_written_configuration_reads_back_the_same() {
        let mut config = Config::shipped();
        config.weights.rule = 0.123_456_79;
        config.candidates = 77;
        config.bm25f.b[3] = 0.1;
        config.confidence.bias = -3.25;
        let settings = read(&tuning::to_toml(&config)).unwrap();
        assert_eq!(settings.search, config);
    }

    #[test]
    fn a_file_is_laid_over_its_preset() {
        let settings = read("[search]\npreset = \"card\"\n[weights]\nrule = 3\n").unwrap();
        assert_eq!(settings.search.weights.rule, 3.0);
        assert_eq!(settings.search.weights.semantic, 0.55);
    }

    #[test]
    fn faults_name_line_and_key() {
        for (text, fault) in [
            (
                "[serch]\nlimit = 3\n",
                "line 1: unknown key 'serch'; known here are: model, source, gateway, mcp, search, weights, keyword",
            ),
            (
                "[search]\nlimit = 0\n",
                "line 2: 'search.limit' must be a whole number from 1 to 100",
            ),
            (
                "[search]\nlimit = \"many\"\n",
                "line 2: 'search.limit' must be a whole number from 1 to 100",
            ),
            (
                "[weights]\n\nsemantc = 1\n",
                "line 3: unknown key 'semantc'; known in [weights] are: semantic, keyword",
            ),
            (
                "[weights]\nsemantic = -1\n",
                "line 2: 'weights.semantic' must be a number from 0 to 1000000",
            ),
            (
                "[weights]\nsemantic = nan\n",
                "line 2: 'weights.semantic' must be a number",
            ),
            (
                "[weights]\nsemantic = 0\nkeyword = 0\nnamespace = 0\nrule = 0\n",
                "line 1: [weights] are all 0",
            ),
            (
                "[search]\npreset = \"crad\"\n",
                "line 2: 'search.preset' must be one of \"default\", \"card\"",
            ),
            ("model = 3\n", "line 1: expected a section [model]"),
            ("[model]\nname = [\n", "line "),
        ] {
            let found = read(text).unwrap_err();
            assert!(found.starts_with(fault), "{text:?}: {found}");
        }
    }
}
