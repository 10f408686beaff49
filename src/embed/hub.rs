//! Models from Hugging Face, by `hf:ORG/NAME` or `hf:ORG/NAME@REVISION`.
//!
//! The few files that a model needs are fetched once into the cache, where the folder appears by
//! one rename when all are there. `HF_ENDPOINT` names a mirror, `HF_TOKEN` holds a token for
//! private models; both are the usual names.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use ureq::Agent;

use super::folder::GRAPHS;
use super::scratch::Scratch;
use super::{Error, Network, Options, Progress, directories};

const ENDPOINT: &str = "https://huggingface.co";

/// Files that say how the model is fed, where it has them.
const EXTRAS: [&str; 5] = [
    "config.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "1_Pooling/config.json",
    "config_sentence_transformers.json",
];

/// Bytes read at a time.
const BLOCK: usize = 1 << 18;

/// Time to connect, and to get an answer's first byte. Bodies may take as long as they grow.
const PATIENCE: Duration = Duration::from_secs(30);

/// A repository and a revision of it.
struct Repository<'a> {
    name: &'a str,
    revision: &'a str,
}

/// The folder with the model's files, fetched where it is not in the cache.
pub(super) fn fetch(
    name: &str,
    options: &Options,
    progress: &dyn Fn(Progress<'_>),
) -> Result<PathBuf, Error> {
    let repository = Repository::parse(name)?;
    let cache = directories::cache(options)?.join("hub");
    let folder = cache.join(repository.folder());
    if folder.is_dir() {
        return Ok(folder);
    }
    if options.network == Network::Never {
        return Err(Error::File {
            path: folder,
            reason: "is not in the cache, and fetching is switched off".to_owned(),
        });
    }
    let hub = Hub::new(&repository);
    hub.fetch(&cache, &folder, progress)?;
    Ok(folder)
}

impl<'a> Repository<'a> {
    fn parse(name: &'a str) -> Result<Self, Error> {
        let (name, revision) = name.split_once('@').unwrap_or((name, "main"));
        let part = |part: &str| {
            !part.is_empty()
                && !part.starts_with('.')
                && part
                    .chars()
                    .all(|c| c.is_ascii_alphanumeric() || "._-".contains(c))
        };
        if name.split('/').all(part) && name.matches('/').count() <= 1 && part(revision) {
            return Ok(Self { name, revision });
        }
        Err(Error::UnknownModel {
            name: format!("hf:{name}"),
            known: "names of the form hf:ORG/NAME or hf:ORG/NAME@REVISION".to_owned(),
        })
    }

    fn folder(&self) -> String {
        format!("{}@{}", self.name.replace('/', "--"), self.revision)
    }
}

struct Hub<'a> {
    agent: Agent,
    base: String,
    token: Option<String>,
    repository: &'a Repository<'a>,
}

impl<'a> Hub<'a> {
    fn new(repository: &'a Repository<'a>) -> Self {
        let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let endpoint = variable("HF_ENDPOINT").unwrap_or_else(|| ENDPOINT.to_owned());
        Self::at(&endpoint, variable("HF_TOKEN"), repository)
    }

    fn at(endpoint: &str, token: Option<String>, repository: &'a Repository<'a>) -> Self {
        let agent = Agent::config_builder()
            .http_status_as_error(false)
            .timeout_connect(Some(PATIENCE))
            .timeout_recv_response(Some(PATIENCE))
            .build()
            .new_agent();
        let base = format!(
            "{}/{}/resolve/{}",
            endpoint.trim_end_matches('/'),
            repository.name,
            repository.revision
        );
        Self {
            agent,
            base,
            token,
            repository,
        }
    }

    fn fetch(
        &self,
        cache: &Path,
        folder: &Path,
        progress: &dyn Fn(Progress<'_>),
    ) -> Result<(), Error> {
        let scratch = Scratch::new(cache).map_err(|error| unwritable(cache, &error))?;
        let get = |file: &str| self.file(file, scratch.path(), progress);
        if !get("tokenizer.json")? {
            return Err(self.fault("it has no tokenizer.json; only such models can be run"));
        }
        let mut graph = None;
        for name in GRAPHS.iter().filter(|name| !name.ends_with(".zst")) {
            if get(name)? {
                graph = Some(name);
                break;
            }
        }
        let graph = graph.ok_or_else(|| {
            self.fault("it has no model.onnx; export it to ONNX, for example with optimum-cli")
        })?;
        get(&format!("{graph}_data"))?;
        for extra in EXTRAS {
            get(extra)?;
        }
        fs::rename(scratch.path(), folder).or_else(|error| {
            // Another process was faster.
            if folder.is_dir() {
                Ok(())
            } else {
                Err(unwritable(folder, &error))
            }
        })
    }

    /// Fetches a file into `folder`; whether the repository has it.
    fn file(
        &self,
        name: &str,
        folder: &Path,
        progress: &dyn Fn(Progress<'_>),
    ) -> Result<bool, Error> {
        let mut request = self.agent.get(format!("{}/{name}", self.base));
        if let Some(token) = &self.token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        let mut response = request
            .call()
            .map_err(|error| self.fault(&format!("{name} cannot be fetched: {error}")))?;
        match response.status().as_u16() {
            200 => {}
            404 => return Ok(false),
            401 | 403 => {
                return Err(self.fault(
                    "there is no such model, or it is private: set HF_TOKEN to a token that may read it",
                ));
            }
            status => return Err(self.fault(&format!("{name}: status {status}"))),
        }
        let total = response.body().content_length();
        let path = folder.join(name);
        let mut file = path
            .parent()
            .map_or(Ok(()), fs::create_dir_all)
            .and_then(|()| File::create(&path))
            .map_err(|error| unwritable(&path, &error))?;
        let step = format!("fetching {name} of {}", self.repository.name);
        let mut reader = response.body_mut().with_config().limit(u64::MAX).reader();
        let mut block = vec![0; BLOCK];
        let mut done = 0;
        loop {
            let bytes = reader
                .read(&mut block)
                .map_err(|error| self.fault(&format!("{name} broke off: {error}")))?;
            if bytes == 0 {
                break;
            }
            file.write_all(&block[..bytes])
                .map_err(|error| unwritable(&path, &error))?;
            done += bytes as u64;
            progress(Progress {
                step: &step,
                done,
                total,
            });
        }
        if total.is_some_and(|total| total != done) {
            return Err(self.fault(&format!("{name} broke off after {done} bytes")));
        }
        Ok(true)
    }

    fn fault(&self, reason: &str) -> Error {
        Error::Endpoint {
            url: self.base.clone(),
            reason: reason.to_owned(),
        }
    }
}

fn unwritable(path: &Path, error: &io::Error) -> Error {
    Error::File {
        path: path.to_owned(),
        reason: format!("cannot be written ({error}); set TOOLSCOUT_CACHE to a folder that can"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader};
    use std::net::TcpListener;

    /// A server that has these files under `/org/name/resolve/main`.
    fn serve(files: &'static [(&'static str, &'static str)]) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let mut reader = BufReader::new(stream.try_clone().unwrap());
                let mut head = String::new();
                while !head.ends_with("\r\n\r\n") && reader.read_line(&mut head).unwrap() > 0 {}
                let path = head.split(' ').nth(1).unwrap();
                let file = path.strip_prefix("/org/name/resolve/main/").unwrap();
                let found = files.iter().find(|(name, _)| *name == file);
                let (status, text) = found.map_or((404, ""), |(_, text)| (200, *text));
                write!(
                    stream,
                    "HTTP/1.1 {status} X\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{text}",
                    text.len()
                )
                .unwrap();
            }
        });
        url
    }

    fn fetch_from(url: &str, cache: &Path) -> Result<PathBuf, Error> {
        let repository = Repository::parse("org/name")?;
        let folder = cache.join(repository.folder());
        Hub::at(url, None, &repository).fetch(cache, &folder, &|_| ())?;
        Ok(folder)
    }

    #[test]
    fn the_files_that_are_there_come_into_one_folder() {
        let url = serve(&[
            ("tokenizer.json", "{}"),
            ("onnx/model.onnx", "graph"),
            ("1_Pooling/config.json", "{}"),
        ]);
        let cache = tempfile::tempdir().unwrap();
        let folder = fetch_from(&url, cache.path()).unwrap();
        assert_eq!(
            fs::read_to_string(folder.join("onnx/model.onnx")).unwrap(),
            "graph"
        );
        assert!(folder.join("1_Pooling/config.json").is_file());
        assert!(!folder.join("config.json").exists());
        let left = fs::read_dir(cache.path()).unwrap().count();
        assert_eq!(left, 1, "only the finished folder is left");
    }

    #[test]
    fn what_a_repository_lacks_is_told() {
        let cache = tempfile::tempdir().unwrap();
        let error = fetch_from(&serve(&[]), cache.path())
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("/org/name/resolve/main: it has no tokenizer.json"),
            "{error}"
        );
        let url = serve(&[("tokenizer.json", "{}")]);
        let error = fetch_from(&url, cache.path()).unwrap_err().to_string();
        assert!(error.contains("it has no model.onnx; export it"), "{error}");
    }

    #[test]
    fn names_cannot_leave_the_cache() {
        for name in ["", "a/b/c", "../x", "a/..", "a b", "a/b@", "a/b@../c"] {
            assert!(Repository::parse(name).is_err(), "{name}");
        }
        assert_eq!(Repository::parse("a/b@v1.0").unwrap().folder(), "a--b@v1.0");
    }
}
