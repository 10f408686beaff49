//! The thread that writes: lines to a file, and files put aside.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender};
use std::time::{Duration, SystemTime};

use super::event::Line;
use super::{Message, Options};

/// Time between two attempts to open a file that could not be written.
const RETRY: Duration = Duration::from_secs(1);

/// Requests that wait, after which they are not let wait for more.
const GROUP: usize = 64;

pub(super) struct Writer {
    path: PathBuf,
    max_bytes: u64,
    files: usize,
    /// Events that were lost.
    dropped: Arc<AtomicU64>,
    /// Lost events that the log tells of already.
    told: u64,
    /// None where it could not be opened again.
    out: Option<Out>,
    /// The last attempt to write failed.
    failing: bool,
    /// Lines that the system has not taken yet and that nobody waits for.
    unflushed: u64,
    /// Those who wait until the system has taken theirs.
    waiting: Vec<SyncSender<bool>>,
}

struct Out {
    file: BufWriter<File>,
    bytes: u64,
}

impl Writer {
    pub(super) fn open(options: &Options, dropped: Arc<AtomicU64>) -> io::Result<Self> {
        Ok(Self {
            path: options.path.clone(),
            max_bytes: options.max_bytes.max(1),
            files: options.files,
            dropped,
            told: 0,
            out: Some(Out::open(&options.path)?),
            failing: false,
            unflushed: 0,
            waiting: Vec::new(),
        })
    }

    /// Writes until the end is told or nobody is left who could note something.
    pub(super) fn run(mut self, queue: &Receiver<Message>) {
        loop {
            let message = match queue.try_recv() {
                Ok(message) => message,
                Err(_) => {
                    // Nothing waits: what is written so far is on its way to the disk.
                    self.flush();
                    match queue.recv_timeout(RETRY) {
                        Ok(message) => message,
                        Err(RecvTimeoutError::Timeout) => continue,
                        Err(RecvTimeoutError::Disconnected) => break,
                    }
                }
            };
            let Message::Line(line, waits) = message else {
                break;
            };
            self.take(&line, waits);
        }
        self.tell_losses();
        self.flush();
        self.attempt(|out| out.file.get_ref().sync_all());
    }

    fn take(&mut self, line: &Line, waits: Option<SyncSender<bool>>) {
        let written = self.tell_losses() && self.write(line);
        match (written, waits) {
            (true, Some(waits)) => self.waiting.push(waits),
            (true, None) => self.unflushed += 1,
            (false, Some(waits)) => tell(&waits, false),
            (false, None) => {
                self.dropped.fetch_add(1, Ordering::Relaxed);
            }
        }
        if GROUP <= self.waiting.len() {
            self.flush();
        }
    }

    /// Hands what is written to the system, and tells those who wait for it.
    fn flush(&mut self) -> bool {
        let flushed = self.attempt(Out::flush);
        if flushed {
            self.unflushed = 0;
            self.waiting.drain(..).for_each(|waits| tell(&waits, true));
        }
        flushed
    }

    fn tell_losses(&mut self) -> bool {
        let dropped = self.dropped.load(Ordering::Relaxed);
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
        match done {
            Ok(out) => {
                self.out = Some(out);
                self.failing = false;
            }
            Err(error) => {
                self.complain(&error);
                self.failing = true;
                self.lose();
            }
        }
        !self.failing
    }

    /// What was not flushed went with the file.
    fn lose(&mut self) {
        self.dropped.fetch_add(self.unflushed, Ordering::Relaxed);
        self.unflushed = 0;
        self.waiting.drain(..).for_each(|waits| tell(&waits, false));
    }

    fn complain(&self, error: &io::Error) {
        if !self.failing {
            let path = self.path.display();
            tracing::error!(%path, %error, "the audit cannot be written: tried again every second");
        }
    }

    /// Renames the file to `.1`, `.1` to `.2` and so on; the oldest goes.
    fn put_aside(&mut self) -> bool {
        if !self.flush() {
            return false;
        }
        let (path, files) = (self.path.clone(), self.files);
        self.attempt(|out| {
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

/// Whoever waited too long has gone.
fn tell(waits: &SyncSender<bool>, written: bool) {
    let _ = waits.try_send(written);
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
