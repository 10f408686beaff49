//! The thread that follows a registry.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant, SystemTime};

use super::advance::{self, Followed, Round};
use super::progress::{Built, MAX_TOLD, Phase, Shared, State};
use super::{Error, Publish, Source, saved};
use crate::embed::{self, Calibration, Embedder, Side, Vectors};
use crate::registry::Revision;

/// Pauses after failures: the first, and the longest.
const PAUSES: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(60));
/// An index that keeps changing is saved this many times [`Pace::save`](super::Pace::save) after
/// its first change.
const PATIENCE: u32 = 10;

/// A registry being followed, until this is dropped.
pub struct Following {
    state: Arc<Shared>,
    rebuild: Arc<AtomicBool>,
    stop: Arc<AtomicBool>,
    /// None once it ends.
    thread: Mutex<Option<(SyncSender<()>, JoinHandle<()>)>>,
}

/// Keeps the index up to date, from `first` on, which is being served.
///
/// # Errors
/// What the system says where there is no thread to be had.
pub fn follow(
    source: Source,
    first: Followed,
    publish: Publish,
) -> Result<Following, std::io::Error> {
    let state = Arc::new(Shared::default());
    let rebuild = Arc::new(AtomicBool::new(false));
    let stop = Arc::new(AtomicBool::new(false));
    let source = Source {
        embedder: Arc::new(Stoppable {
            inner: Arc::clone(&source.embedder),
            stop: Arc::clone(&stop),
        }),
        ..source
    };
    let (wake, woken) = sync_channel(1);
    let mut worker = Worker {
        source,
        unsaved: None,
        changed: Instant::now(),
        served: first,
        publish,
        state: Arc::clone(&state),
        rebuild: Arc::clone(&rebuild),
        chores: None,
        pause: None,
    };
    let saved = worker.served.saved;
    state.set(|state| state.saved = saved);
    worker.tell_served();
    let thread = thread::Builder::new()
        .name("refresh".to_owned())
        .spawn(move || worker.run(&woken))?;
    Ok(Following {
        state,
        rebuild,
        stop,
        thread: Mutex::new(Some((wake, thread))),
    })
}

impl Following {
    /// How far the index is.
    pub fn state(&self) -> State {
        self.state.get()
    }

    /// The revision that is served.
    pub fn served(&self) -> Revision {
        self.state.served()
    }

    /// Says that the registry has changed.
    pub fn wake(&self) {
        if let Some((wake, _)) = &*self.thread() {
            // Where one call waits already, it stands for this one too.
            let _ = wake.try_send(());
        }
    }

    /// Has the whole index built anew.
    pub fn rebuild(&self) {
        self.rebuild.store(true, Ordering::SeqCst);
        self.wake();
    }
}

impl Following {
    /// Follows no more: waits until a build under way has broken off and the index is saved.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::SeqCst);
        let running = self.thread().take();
        let Some((wake, thread)) = running else {
            return;
        };
        drop(wake);
        // The thread itself holds what it publishes to, and may be the last to do so.
        if thread.thread().id() != thread::current().id() {
            // A thread that panicked has said so already.
            let _ = thread.join();
        }
    }

    fn thread(&self) -> MutexGuard<'_, Option<(SyncSender<()>, JoinHandle<()>)>> {
        self.thread.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Following {
    fn drop(&mut self) {
        self.stop();
    }
}

struct Worker {
    source: Source,
    served: Followed,
    publish: Publish,
    state: Arc<Shared>,
    rebuild: Arc<AtomicBool>,
    /// Since when there is something that is not saved.
    unsaved: Option<Instant>,
    /// When the index last changed.
    changed: Instant,
    /// Saving, and building the graph.
    chores: Option<JoinHandle<()>>,
    /// How long to wait after the last failure, and since when.
    pause: Option<(Duration, Instant)>,
}

impl Worker {
    fn run(&mut self, woken: &Receiver<()>) {
        loop {
            match woken.recv_timeout(self.patience()) {
                Err(RecvTimeoutError::Disconnected) => break,
                Ok(()) | Err(RecvTimeoutError::Timeout) => {}
            }
            self.look(woken);
            self.chores();
        }
        if let Some(chores) = self.chores.take().filter(|chores| chores.is_finished()) {
            let _ = chores.join();
        }
        if self.unsaved.is_some() {
            save(&self.source, &self.served, &self.state);
        }
    }

    /// How long to wait for a call.
    fn patience(&self) -> Duration {
        match self.pause {
            None if !self.served.due.is_empty() => Duration::ZERO,
            _ => self.source.pace.poll,
        }
    }

    /// Looks whether there is something to do, and does it.
    fn look(&mut self, woken: &Receiver<()>) {
        let asked = self.rebuild.load(Ordering::SeqCst);
        let head = match self.source.store.head() {
            Ok(head) => head,
            Err(error) => return self.failed(&error.into()),
        };
        self.state.set(|state| state.wanted = head);
        let behind = self.served.revision < head;
        if !(behind || asked || !self.served.due.is_empty()) {
            self.well();
            return;
        }
        // The model is left alone for a while, but changes do not wait for it.
        let paused = |(length, since): (Duration, Instant)| since.elapsed() < length;
        let paused = !asked && self.pause.is_some_and(paused);
        if paused && !behind {
            return;
        }
        if behind {
            self.state.set(|state| state.phase = Phase::Gathering);
            self.gather(woken);
        }
        self.state
            .set(|state| state.phase = Phase::Building { done: 0, total: 0 });
        match self.step(asked, !paused) {
            Ok(None) if paused => self.state.set(|state| state.phase = Phase::Waiting),
            Ok(None) => self.well(),
            Ok(Some(error)) | Err(error) => self.failed(&error),
        }
    }

    /// Waits for changes that come with those that came.
    fn gather(&self, woken: &Receiver<()>) {
        let pace = self.source.pace;
        let begun = Instant::now();
        while begun.elapsed() < pace.longest && woken.recv_timeout(pace.quiet).is_ok() {}
    }

    /// Builds the next index and puts it into service. An error beside an index that was served is
    /// one of the model.
    fn step(&mut self, asked: bool, by_model: bool) -> Result<Option<Error>, Error> {
        let begun = Instant::now();
        let state = Arc::clone(&self.state);
        let progress = move |progress: crate::index::build::Progress| {
            let (done, total) = (progress.done, progress.total);
            state.set(|state| state.phase = Phase::Building { done, total });
        };
        let changes = advance::since(&self.source, self.served.revision)?;
        let count = changes.count;
        let round = if asked {
            self.rebuild.store(false, Ordering::SeqCst);
            Round {
                followed: advance::anew(&self.source, &progress)?,
                fault: None,
            }
        } else {
            let embedder = by_model.then_some(&*self.source.embedder);
            advance::advance(embedder, &self.served, changes, &progress)?
        };
        let index = Arc::clone(&round.followed.index);
        (self.publish)(index).map_err(Error::Publish)?;
        self.served = round.followed;
        self.changed = Instant::now();
        self.unsaved.get_or_insert(self.changed);
        let built = Built {
            revision: self.served.revision,
            at: SystemTime::now(),
            seconds: begun.elapsed().as_secs_f64(),
            changes: count,
        };
        self.state.set(|state| {
            state.built = Some(built);
            state.builds += 1;
        });
        self.tell_served();
        Ok(round
            .fault
            .map(|fault| crate::index::Error::from(fault).into()))
    }

    fn tell_served(&self) {
        let Followed {
            index,
            revision,
            problems,
            ..
        } = &self.served;
        let key = |id: &crate::tool::ToolId| index.catalog.tool(*id).key.clone();
        let unembedded = index.unembedded.iter().take(MAX_TOLD).map(key).collect();
        let problems = problems.values().take(MAX_TOLD).cloned().collect();
        self.state.set(|state| {
            state.served = *revision;
            state.wanted = state.wanted.max(*revision);
            state.tools = index.catalog.len();
            state.unembedded = (index.unembedded.len(), unembedded);
            state.problems = problems;
        });
    }

    fn well(&mut self) {
        self.pause = None;
        self.state.set(|state| {
            state.phase = Phase::Idle;
            state.error = None;
        });
    }

    fn failed(&mut self, error: &Error) {
        let (first, longest) = PAUSES;
        let length = self
            .pause
            .map_or(first, |(last, _)| (last * 2).min(longest));
        self.pause = Some((length, Instant::now()));
        tracing::error!(%error, "the index is behind the registry; trying again in {length:?}");
        self.state.set(|state| {
            state.phase = Phase::Waiting;
            state.error = Some((SystemTime::now(), error.to_string()));
        });
    }

    /// Saves the index, and builds its graph, on a thread of their own, once there is time.
    fn chores(&mut self) {
        if self
            .chores
            .as_ref()
            .is_some_and(|chores| !chores.is_finished())
        {
            return;
        }
        if let Some(done) = self.chores.take() {
            let _ = done.join();
        }
        let Some(since) = self.unsaved else { return };
        let wait = self.source.pace.save;
        if self.changed.elapsed() < wait && since.elapsed() < wait * PATIENCE {
            return;
        }
        self.unsaved = None;
        let (source, served) = (self.source.clone(), self.served.clone());
        let state = Arc::clone(&self.state);
        let work = move || {
            save(&source, &served, &state);
            if served.index.dense.wants_graph() {
                served.index.dense.prepare_graph();
            }
        };
        let spawned = thread::Builder::new().name("chores".to_owned()).spawn(work);
        self.chores = spawned.ok();
    }
}

/// A model that refuses once it is told to stop, so that nobody waits for minutes of embedding.
struct Stoppable {
    inner: Arc<dyn Embedder>,
    stop: Arc<AtomicBool>,
}

impl Embedder for Stoppable {
    fn model_id(&self) -> &str {
        self.inner.model_id()
    }

    fn dim(&self) -> usize {
        self.inner.dim()
    }

    fn calibration(&self) -> Calibration {
        self.inner.calibration()
    }

    fn embed(&self, side: Side, texts: &[String]) -> Result<Vectors, embed::Error> {
        if self.stop.load(Ordering::SeqCst) {
            return Err(embed::Error::Model {
                model: self.model_id().to_owned(),
                reason: "it was told to stop".to_owned(),
            });
        }
        self.inner.embed(side, texts)
    }
}

/// A snapshot that cannot be saved costs the next start time, and nothing else.
fn save(source: &Source, served: &Followed, state: &Shared) {
    let Some(folder) = &source.snapshots else {
        return;
    };
    let identity = source.store.identity();
    let saved = saved::save(folder, identity, served.revision, &served.index);
    if let Err(error) = &saved {
        tracing::error!(%error, "no snapshot could be saved: the next start takes longer");
    }
    state.set(|state| {
        if saved.is_ok() {
            state.saved = served.revision;
        }
        state.save_error = saved.err().map(|error| error.to_string());
    });
}
