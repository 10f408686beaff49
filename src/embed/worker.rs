//! Threads that own a model, since a model can embed for one caller at a time.
//!
//! Each thread takes jobs from one bounded queue and runs them one by one. Jobs are not joined into
//! larger batches, though that would double what a busy thread gets done: how a text is batched
//! shows in the last bits of its vector, and the same request must get the same answer at all
//! times. The model is loaded by its thread, and loaded afresh after a panic, which is an error for
//! the caller whose text it was and for nobody else.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::Error;
use super::queue::{Queue, Taken};

/// A loaded model: texts in, as many rows out.
pub(super) type Model = Box<dyn FnMut(&[String]) -> Result<Vec<Vec<f32>>, Error> + Send>;

/// Loads a model; called in the thread that will own it.
pub(super) type Loader = Arc<dyn Fn() -> Result<Model, Error> + Send + Sync>;

/// How a crew works.
#[derive(Debug, Clone, Copy)]
pub(super) struct Habits {
    /// Threads, each with a model of its own.
    pub(super) threads: usize,
    /// How long a thread without work stays, and its model with it.
    pub(super) patience: Duration,
}

/// Jobs that may wait. More callers than that wait outside.
const WAITING: usize = 256;

struct Job {
    texts: Vec<String>,
    reply: SyncSender<Result<Vec<Vec<f32>>, Error>>,
}

/// Threads that are started when there is work for them and end when there has been none for a
/// while, or when this is dropped.
///
/// They end rather than wait, since an allocator gives a thread's memory back when it ends.
pub(super) struct Crew {
    shared: Arc<Shared>,
    loader: Loader,
}

/// What callers and threads share.
struct Shared {
    name: String,
    habits: Habits,
    queue: Queue<Job>,
    /// Threads alive. Whoever changes it, or decides by it, holds the lock.
    alive: Mutex<usize>,
}

/// Rows that are being made.
pub(super) struct Pending {
    model: String,
    answer: Receiver<Result<Vec<Vec<f32>>, Error>>,
}

impl Crew {
    /// A crew without threads as yet; `name` is the model's, for errors.
    pub(super) fn new(name: &str, habits: Habits, loader: Loader) -> Self {
        let shared = Shared {
            name: name.to_owned(),
            habits,
            queue: Queue::new(WAITING),
            alive: Mutex::new(0),
        };
        Self {
            shared: Arc::new(shared),
            loader,
        }
    }

    /// Hands in texts, waiting for room in the queue.
    ///
    /// # Errors
    /// [`Error::Model`] where no thread is there and the system gives none.
    pub(super) fn submit(&self, texts: Vec<String>) -> Result<Pending, Error> {
        let (reply, answer) = sync_channel(1);
        let mut job = Job { texts, reply };
        // A full queue is waited for below, by which time there are threads to empty it.
        while let Err(back) = self.shared.queue.try_push(job) {
            self.hire()?;
            job = back;
            self.shared.queue.wait_for_room();
        }
        self.hire()?;
        Ok(Pending {
            model: self.shared.name.clone(),
            answer,
        })
    }

    /// Starts a thread where jobs wait and not all threads are there. One that is about to end
    /// looks at the queue once more under the same lock, so no job is left behind.
    fn hire(&self) -> Result<(), Error> {
        let mut alive = self.shared.alive();
        if *alive >= self.shared.habits.threads.max(1) || !self.shared.queue.is_short_handed() {
            return Ok(());
        }
        let worker = Worker {
            shared: Arc::clone(&self.shared),
            loader: Arc::clone(&self.loader),
            model: None,
        };
        let started = std::thread::Builder::new()
            .name("embed".to_owned())
            .spawn(move || alone(|| worker.run()));
        match started {
            Ok(_) => *alive += 1,
            // Others are at work and will get to it.
            Err(_) if *alive > 0 => {}
            Err(error) => {
                return Err(self
                    .shared
                    .fault(format!("no thread can be started: {error}")));
            }
        }
        Ok(())
    }
}

impl Shared {
    fn alive(&self) -> MutexGuard<'_, usize> {
        self.alive.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn fault(&self, reason: String) -> Error {
        Error::Model {
            model: self.name.clone(),
            reason,
        }
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        self.shared.queue.close();
    }
}

impl Pending {
    /// Waits for the rows.
    pub(super) fn wait(self) -> Result<Vec<Vec<f32>>, Error> {
        self.answer.recv().unwrap_or_else(|_| {
            Err(Error::Model {
                model: self.model,
                reason: "its thread is gone".to_owned(),
            })
        })
    }
}

/// Runs `work` as a rayon pool of this one thread.
///
/// Tokenizers split batches over rayon's pool. Were that the global one, a caller who embeds from
/// within it would wait for this thread while this thread waits for the caller's.
fn alone(work: impl FnOnce() + Send) {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .use_current_thread()
        .build();
    match pool {
        Ok(pool) => pool.install(work),
        // Only where the thread is part of a pool already.
        Err(_) => work(),
    }
}

struct Worker {
    shared: Arc<Shared>,
    loader: Loader,
    model: Option<Model>,
}

impl Worker {
    fn run(mut self) {
        let shared = Arc::clone(&self.shared);
        loop {
            match shared.queue.take(shared.habits.patience) {
                Taken::Item(job) => {
                    let rows = self.embed(&job.texts);
                    // Who no longer waits needs no answer.
                    let _ = job.reply.send(rows);
                }
                Taken::Idle => {
                    let mut alive = shared.alive();
                    if shared.queue.is_empty() {
                        *alive -= 1;
                        return;
                    }
                }
                Taken::Closed => return,
            }
        }
    }

    fn embed(&mut self, texts: &[String]) -> Result<Vec<Vec<f32>>, Error> {
        let rows = catch_unwind(AssertUnwindSafe(|| {
            if self.model.is_none() {
                self.model = Some((self.loader)()?);
            }
            match self.model.as_mut() {
                Some(model) => model(texts),
                None => Ok(Vec::new()),
            }
        }));
        let rows = rows.unwrap_or_else(|cause| {
            // It may be in any state now.
            self.model = None;
            Err(self
                .shared
                .fault(format!("it panicked: {}", message(cause.as_ref()))))
        })?;
        if rows.len() == texts.len() {
            return Ok(rows);
        }
        Err(self.shared.fault(format!(
            "it gave {} rows for {} texts",
            rows.len(),
            texts.len()
        )))
    }
}

fn message(cause: &(dyn std::any::Any + Send)) -> &str {
    cause
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| cause.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("without a word")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    const HABITS: Habits = Habits {
        threads: 1,
        patience: Duration::from_secs(60),
    };

    /// A model that gives a text's length, panics at "panic" and fails at "fail"; counts loads.
    fn loader(loads: &Arc<AtomicUsize>) -> Loader {
        let loads = Arc::clone(loads);
        Arc::new(move || {
            loads.fetch_add(1, Ordering::SeqCst);
            Ok(Box::new(|texts: &[String]| {
                if texts.iter().any(|text| text == "panic") {
                    panic!("at the disco");
                }
                if texts.iter().any(|text| text == "fail") {
                    return Err(Error::NotFinite { row: 0 });
                }
                Ok(texts.iter().map(|text| vec![text.len() as f32]).collect())
            }) as Model)
        })
    }

    fn crew(habits: Habits) -> (Crew, Arc<AtomicUsize>) {
        let loads = Arc::new(AtomicUsize::new(0));
        (Crew::new("m", habits, loader(&loads)), loads)
    }

    fn ask(crew: &Crew, text: &str) -> Result<Vec<Vec<f32>>, Error> {
        crew.submit(vec![text.to_owned()])?.wait()
    }

    #[test]
    fn a_panic_is_an_error_for_its_caller_and_the_model_is_loaded_afresh() {
        let (crew, loads) = crew(HABITS);
        assert_eq!(ask(&crew, "abc").unwrap(), [[3.0]]);
        let error = ask(&crew, "panic").unwrap_err().to_string();
        assert_eq!(error, "model 'm' failed: it panicked: at the disco");
        assert_eq!(ask(&crew, "ab").unwrap(), [[2.0]]);
        assert_eq!(loads.load(Ordering::SeqCst), 2);
    }

    #[test]
    fn one_callers_text_does_not_spoil_anothers_answer() {
        let (crew, _) = crew(HABITS);
        let pending: Vec<Pending> = ["a", "fail", "bb", "panic", "ccc"]
            .map(|text| crew.submit(vec![text.to_owned()]).unwrap())
            .into();
        let answers: Vec<_> = pending.into_iter().map(Pending::wait).collect();
        let good: Vec<bool> = answers.iter().map(Result::is_ok).collect();
        assert_eq!(good, [true, false, true, false, true]);
        assert_eq!(answers[4].as_ref().unwrap(), &[[3.0]]);
    }

    #[test]
    fn eight_callers_at_once_each_get_their_own() {
        let (crew, loads) = crew(Habits {
            threads: 2,
            ..HABITS
        });
        std::thread::scope(|scope| {
            for caller in 1..=8_usize {
                let crew = &crew;
                scope.spawn(move || {
                    for _ in 0..200 {
                        let rows = ask(crew, &"x".repeat(caller)).unwrap();
                        assert_eq!(rows, [[caller as f32]]);
                    }
                });
            }
        });
        assert!(loads.load(Ordering::SeqCst) <= 2);
    }

    #[test]
    fn a_thread_without_work_gives_its_model_up_and_loads_it_again() {
        let patience = Duration::from_millis(10);
        let (crew, loads) = crew(Habits { patience, ..HABITS });
        ask(&crew, "a").unwrap();
        std::thread::sleep(Duration::from_millis(100));
        ask(&crew, "a").unwrap();
        assert_eq!(loads.load(Ordering::SeqCst), 2);
    }

    #[test]
    fn callers_that_do_not_wait_for_each_other_share_one_thread() {
        let (crew, loads) = crew(Habits {
            threads: 4,
            ..HABITS
        });
        for _ in 0..50 {
            ask(&crew, "a").unwrap();
            // The thread is back at the queue by then.
            std::thread::sleep(Duration::from_millis(2));
        }
        assert!(loads.load(Ordering::SeqCst) <= 2);
    }

    #[test]
    fn a_loader_that_fails_is_an_error_each_time_and_can_recover() {
        let tries = AtomicUsize::new(0);
        let loader: Loader = Arc::new(move || {
            if tries.fetch_add(1, Ordering::SeqCst) == 0 {
                return Err(Error::NotFinite { row: 7 });
            }
            Ok(Box::new(|texts: &[String]| Ok(vec![vec![1.0_f32]; texts.len()])) as Model)
        });
        let crew = Crew::new("m", HABITS, loader);
        assert!(matches!(ask(&crew, "a"), Err(Error::NotFinite { row: 7 })));
        assert!(ask(&crew, "a").is_ok());
    }

    #[test]
    fn callers_inside_rayons_own_pool_do_not_block_each_other() {
        use rayon::prelude::*;
        let loader: Loader = Arc::new(|| {
            Ok(Box::new(|texts: &[String]| {
                Ok(texts
                    .par_iter()
                    .map(|text| vec![text.len() as f32])
                    .collect())
            }) as Model)
        });
        let crew = Crew::new("m", HABITS, loader);
        let good = (0..500)
            .into_par_iter()
            .filter(|_| {
                crew.submit(vec!["ab".to_owned(); 64])
                    .unwrap()
                    .wait()
                    .is_ok()
            })
            .count();
        assert_eq!(good, 500);
    }
}
