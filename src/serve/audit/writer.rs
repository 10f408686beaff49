//! The thread that writes: lines to a file, and files put aside.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, SystemTime};

use super::event::Line;
use super::{Message, Options};

/// Time between two attempts to open a file that could not be written.
const RETRY: Duration = Duration::from_secs(1);

/// What the writer tells those who note.
pub(super) struct Health {
    /// Events that were lost.
    pub(super) dropped: AtomicU64,
    /// The last attempt to write failed.
    pub(super) failing: AtomicBool,
}

pub(super) struct Writer {
    path: PathBuf,
    max_bytes: u64,
    files: usize,
    health: Arc<Health>,
    /// Lost events that the log tells of already.
    told: u64,
    /// None where it could not be opened again.
    out: Option<Out>,
}

struct Out {
    file: BufWriter<File>,
    bytes: u64,
}

impl Writer {
    pub(super) fn open(options: &Options, health: Arc<Health>) -> io::Result<Self> {
        Ok(Self {
            path: options.path.clone(),
            max_bytes: options.max_bytes.max(1),
            files: options.files,
            health,
            told: 0,
            out: Some(Out::open(&options.path)?),
        })
    }

    /// Writes until the end is told or nobody is left who could note something.
    pub(super) fn run(mut self, queue: &Receiver<Message>) {
        loop {
            let message = match queue.try_recv() {
                Ok(message) => message,
                Err(_) => {
                    // Nothing waits: what is written so far is on its way to the disk.
                    self.attempt(Out::flush);
                    match queue.recv_timeout(RETRY) {
                        Ok(message) => message,
                        Err(RecvTimeoutError::Timeout) => continue,
                        Err(RecvTimeoutError::Disconnected) => break,
                    }
                }
            };
            let Message::Line(line) = message else { break };
            if !self.tell_losses() || !self.write(&line) {
                self.health.dropped.fetch_add(1, Ordering::Relaxed);
            }
        }
        self.tell_losses();
        self.attempt(|out| {
            out.flush()?;
            out.file.get_ref().sync_all()
        });
    }

    fn tell_losses(&mut self) -> bool {
        let dropped = self.health.dropped.load(Ordering::Relaxed);
        if dropped == self.told {
            return true;
        }
        let written = self.write(&Line::dropped(SystemTime::now(), dropped - self.told));
        if written {
            self.told = dropped;
        }
        written
    }

    fn write(&mut self, line: &Line) -> bool {
        // Strings, numbers and lists of strings always become JSON.
        let mut text = serde_json::to_vec(line).unwrap_or_default();
        text.push(b'\n');
        let (max_bytes, length) = (self.max_bytes, text.len() as u64);
        let full = |out: &Out| 0 < out.bytes && max_bytes < out.bytes + length;
        if self.out.as_ref().is_some_and(full) && !self.put_aside() {
            return false;
        }
        self.attempt(|out| {
            out.file.write_all(&text)?;
            out.bytes += length;
            Ok(())
        })
    }

    /// Does something with the file, opened again where it could not be written before.
    fn attempt(&mut self, work: impl FnOnce(&mut Out) -> io::Result<()>) -> bool {
        let opened = match self.out.take() {
            Some(out) => Ok(out),
            None => Out::open(&self.path),
        };
        let done = opened.and_then(|mut out| work(&mut out).map(|()| out));
        let failed = done.is_err();
        match done {
            Ok(out) => self.out = Some(out),
            Err(error) => self.complain(&error),
        }
        self.health.failing.store(failed, Ordering::Relaxed);
        !failed
    }

    fn complain(&self, error: &io::Error) {
        if !self.health.failing.load(Ordering::Relaxed) {
            let path = self.path.display();
            tracing::error!(%path, %error, "the audit cannot be written: tried again every second");
        }
    }

    /// Renames the file to `.1`, `.1` to `.2` and so on; the oldest goes.
    fn put_aside(&mut self) -> bool {
        let (path, files) = (self.path.clone(), self.files);
        self.attempt(|out| {
            out.flush()?;
            if files == 0 {
                std::fs::remove_file(&path)?;
            }
            for at in (0..files).rev() {
                let from = if at == 0 {
                    path.clone()
                } else {
                    aside(&path, at)
                };
                match std::fs::rename(&from, aside(&path, at + 1)) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                    _ => {}
                }
            }
            *out = Out::open(&path)?;
            Ok(())
        })
    }
}

fn aside(path: &Path, at: usize) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{at}"));
    PathBuf::from(name)
}

impl Out {
    /// Opens the file to add to it. A line that a killed process left half written is ended, so that
    /// it spoils none but itself.
    fn open(path: &Path) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.create(true).read(true).append(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(path)?;
        let mut bytes = file.metadata()?.len();
        if 0 < bytes {
            file.seek(SeekFrom::End(-1))?;
            let mut last = [0];
            file.read_exact(&mut last)?;
            if last != *b"\n" {
                file.write_all(b"\n")?;
                bytes += 1;
            }
        }
        Ok(Self {
            file: BufWriter::new(file),
            bytes,
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
