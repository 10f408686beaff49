//! Files that are read again when what is in them changes, while the program runs.
//!
//! What counts is the content, not times or names: a file behind a symbolic link that is turned, as
//! container platforms mount theirs, is noticed as one that is edited. A change is taken up once two
//! looks in a row see the same bytes, so that a file half written is not.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use super::error::Error;

/// Time between two looks.
const USUAL_PAUSE: Duration = Duration::from_secs(1);

/// What is in a file at one moment; none where it cannot be read.
type Content = Option<blake3::Hash>;

/// A file to be looked at, or a folder of tools in JSON Lines.
pub(super) struct Watched {
    what: &'static str,
    path: PathBuf,
    /// What was last taken up, or turned down.
    known: Content,
    /// What the last look saw.
    seen: Content,
    take_up: TakeUp,
}

/// Reads the file at the path and puts what it says into effect, or leaves things as they are and
/// says why.
type TakeUp = Box<dyn FnMut(&Path) -> Result<(), Error> + Send>;

impl Watched {
    /// The file at `path`, which messages call `what`. Made before the file is read for the first
    /// time, it misses no change.
    pub(super) fn new(what: &'static str, path: &Path) -> Self {
        let known = content(path);
        Self {
            what,
            path: path.to_owned(),
            known,
            seen: known,
            take_up: Box::new(|_| Ok(())),
        }
    }

    /// What to do when it changes.
    pub(super) fn then(
        self,
        take_up: impl FnMut(&Path) -> Result<(), Error> + Send + 'static,
    ) -> Self {
        Self {
            take_up: Box::new(take_up),
            ..self
        }
    }

    fn look(&mut self) {
        let found = content(&self.path);
        let settled = found == self.seen;
        self.seen = found;
        if !settled || found == self.known {
            return;
        }
        self.known = found;
        let (what, path) = (self.what, self.path.display());
        match (self.take_up)(&self.path) {
            Ok(()) => tracing::info!(%path, "{what} taken up again"),
            Err(error) => {
                let reason = error.message();
                tracing::error!(%path, reason, "{what} changed and cannot be used: the old one stays");
            }
        }
    }
}

fn content(path: &Path) -> Content {
    let mut hasher = blake3::Hasher::new();
    if path.is_dir() {
        let entries = std::fs::read_dir(path).ok()?.flatten();
        let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        files.sort_unstable();
        for file in files {
            let is_jsonl = file.extension().is_some_and(|end| end == "jsonl");
            if is_jsonl || file.file_name().is_some_and(|name| name == "tools") {
                hasher.update(file.as_os_str().as_encoded_bytes());
                hasher.update(content(&file)?.as_bytes());
            }
        }
    } else {
        hasher.update_reader(std::fs::File::open(path).ok()?).ok()?;
    }
    Some(hasher.finalize())
}

/// Looks at files on a thread of its own, until it is dropped.
pub(super) struct Watch {
    thread: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Watch {
    /// Begins to look at `files`, once a second.
    ///
    /// # Errors
    /// [`Error::System`] where there is no thread to be had.
    pub(super) fn start(files: Vec<Watched>) -> Result<Self, Error> {
        Self::start_at(files, USUAL_PAUSE)
    }

    fn start_at(mut files: Vec<Watched>, pause: Duration) -> Result<Self, Error> {
        if files.is_empty() {
            return Ok(Self { thread: None });
        }
        let (stop, stopped) = channel::<()>();
        let look = move || {
            while stopped.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
                files.iter_mut().for_each(Watched::look);
            }
        };
        let thread = std::thread::Builder::new()
            .name("watch".to_owned())
            .spawn(look)
            .map_err(|source| Error::System {
                what: "start a thread that watches files".to_owned(),
                source,
            })?;
        Ok(Self {
            thread: Some((stop, thread)),
        })
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if let Some((stop, thread)) = self.thread.take() {
            drop(stop);
            // A thread that panicked has said so already.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    fn recorded(path: &Path) -> (Watched, Arc<Mutex<Vec<String>>>) {
        let texts: Arc<Mutex<Vec<String>>> = Arc::default();
        let into = Arc::clone(&texts);
        let watched = Watched::new("file", path).then(move |path| {
            let text = std::fs::read_to_string(path).map_err(Error::Output)?;
            into.lock().unwrap().push(text);
            Ok(())
        });
        (watched, texts)
    }

    #[test]
    fn a_change_is_taken_up_once_it_has_settled() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.toml");
        std::fs::write(&path, "one").unwrap();
        let (mut watched, texts) = recorded(&path);
        watched.look();
        std::fs::write(&path, "tw").unwrap();
        watched.look();
        std::fs::write(&path, "two").unwrap();
        watched.look();
        assert!(texts.lock().unwrap().is_empty());
        for _ in 0..3 {
            watched.look();
        }
        assert_eq!(*texts.lock().unwrap(), ["two"]);
        std::fs::remove_file(&path).unwrap();
        (0..3).for_each(|_| watched.look());
        std::fs::write(&path, "two").unwrap();
        (0..3).for_each(|_| watched.look());
        assert_eq!(*texts.lock().unwrap(), ["two", "two"]);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_that_is_turned_is_a_change() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("one"), "one").unwrap();
        std::fs::write(at("two"), "two").unwrap();
        std::os::unix::fs::symlink(at("one"), at("link")).unwrap();
        let (watched, texts) = recorded(&at("link"));
        let watch = Watch::start_at(vec![watched], Duration::from_millis(2)).unwrap();
        std::os::unix::fs::symlink(at("two"), at("new")).unwrap();
        std::fs::rename(at("new"), at("link")).unwrap();
        for _ in 0..1000 {
            if !texts.lock().unwrap().is_empty() {
                break;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        drop(watch);
        assert_eq!(*texts.lock().unwrap(), ["two"]);
    }
}
