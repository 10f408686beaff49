//! `POST /v1/tools:bulk`: many changes, a line each, as they arrive.
//!
//! Lines are never held all in memory. Where each stands for itself, they are made some hundred at a
//! time; where all are to be made or none, they are kept in a file until the last has arrived, so
//! that a slow sender holds nobody else up.

use std::fmt::Write;
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Seek, SeekFrom, Write as _};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::Uri;
use axum::http::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use axum::response::{IntoResponse, Response};
use axum::routing::post;

use super::body_lines::Lines;
use super::bulk_line::read;
use super::change::{author, line, registry, summary};
use crate::registry::{Applied, Author, Batch, Change, Effect, Id, Mode, Refusal, Revision};
use crate::serve::auth::Writer;
use crate::serve::error::Error;
use crate::serve::extract::pairs;
use crate::serve::registry::Registry;
use crate::serve::state::App;
use crate::serve::wire::{ChangeParameters, ErrorResponse, Invalid, to_json};

/// Where it is.
pub(in crate::serve) const PATH: &str = "/v1/tools:bulk";
/// Lines made in one transaction where each stands for itself.
const CHUNK: usize = 500;
/// What a body may call itself.
const TYPES: [&str; 3] = [
    "application/x-ndjson",
    "application/jsonl",
    "application/ndjson",
];

pub(super) fn router() -> Router<App> {
    Router::new().route(PATH, post(bulk))
}

/// Make many changes
///
/// The body is a tool a line, as in a catalogue, or one of `{"op": "put", "tool": {…}}`,
/// `{"op": "patch", "key": …, "patch": {…}}`, `{"op": "delete", "key": …, "replacement": …}` and
/// `{"op": "namespace", "namespace": {…}}`, each with `tenant` and `if_match` where wanted. The
/// answer has a line for each, in order, and a last line `{"summary": {…}}`. A line that cannot be
/// read is refused; with `mode=atomic` nothing is made then. For administrators.
#[utoipa::path(
    post,
    path = "/v1/tools:bulk",
    operation_id = "bulk",
    tag = "registry",
    params(ChangeParameters),
    request_body(content = String, content_type = "application/x-ndjson"),
    responses(
        (status = 200, description = "What became of each line; whether anything was made is in the summary", body = String, content_type = "application/x-ndjson"),
        (status = 403, description = "`not_administrator`, `not_writable`", body = ErrorResponse),
        (status = 413, description = "`body_too_large`", body = ErrorResponse),
        (status = 415, description = "`unsupported_media_type`", body = ErrorResponse),
        (status = 507, description = "`registry_full`; with `mode=best_effort` the lines before are made", body = ErrorResponse),
    ),
    security(("api_key" = [])),
)]
pub(in crate::serve) async fn bulk(
    writer: Writer,
    State(app): State<App>,
    (uri, headers): (Uri, HeaderMap),
    body: Body,
) -> Result<Response, Error> {
    let parameters = ChangeParameters::check(pairs(&uri)?, &["mode"])?;
    let essence = headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok());
    let essence = essence
        .and_then(|value| value.split(';').next())
        .unwrap_or_default();
    if !TYPES.contains(&essence.trim()) {
        let reason = "must be application/x-ndjson: one JSON object a line";
        return Err(Invalid::new("content-type", reason).into());
    }
    let author = author(writer, &parameters);
    let mut job = Job::new(registry(&app)?, author, &parameters)?;
    let mut lines = Lines::new(body, &app);
    while let Some((number, text)) = lines.next().await? {
        job.take(number, text).await?;
    }
    let (results, applied) = job.end().await?;
    let mut told = summary(registry(&app)?, &applied, parameters.wait).await;
    let mut text = String::with_capacity(results.len() * 100);
    for result in &results {
        told.count(&result.effect);
        push(
            &mut text,
            &line(Some(result.line), result.id.as_ref(), &result.effect),
        )?;
    }
    push(&mut text, &serde_json::json!({"summary": told}))?;
    let kind = HeaderValue::from_static(TYPES[0]);
    Ok(([(CONTENT_TYPE, kind)], text).into_response())
}

fn push(text: &mut String, value: &impl serde::Serialize) -> Result<(), Error> {
    let json = to_json(value).map_err(|error| Error::internal(&error))?;
    // Writing to a text does not fail.
    let _ = writeln!(text, "{json}");
    Ok(())
}

/// What became of one line.
struct Made {
    line: u64,
    id: Option<Id>,
    effect: Effect,
}

/// A bulk change under way.
struct Job<'a> {
    registry: &'a Registry,
    author: Author,
    dry_run: bool,
    results: Vec<Made>,
    applied: Applied,
    way: Way,
}

enum Way {
    /// Each line for itself: those that wait for the next transaction.
    Each(Vec<(u64, Change)>),
    /// All or none: the lines in a file, and their numbers.
    All(Spool, Vec<u64>),
}

impl<'a> Job<'a> {
    fn new(
        registry: &'a Registry,
        author: Author,
        parameters: &ChangeParameters,
    ) -> Result<Self, Error> {
        let atomic = parameters.mode.unwrap_or_default() == Mode::Atomic;
        Ok(Self {
            registry,
            author,
            dry_run: parameters.dry_run,
            results: Vec::new(),
            applied: Applied {
                revision: Revision(0),
                committed: false,
                effects: Vec::new(),
            },
            // A dry run sees what the lines before would have made only in one transaction.
            way: if atomic || parameters.dry_run {
                Way::All(Spool::new(registry.spool())?, Vec::new())
            } else {
                Way::Each(Vec::with_capacity(CHUNK))
            },
        })
    }

    async fn take(&mut self, number: u64, text: &[u8]) -> Result<(), Error> {
        let change = match read(text) {
            Ok(change) => change,
            Err(fault) => {
                self.results.push(Made {
                    line: number,
                    id: fault.id,
                    effect: Effect::Refused(Refusal::Invalid(fault.reason)),
                });
                return Ok(());
            }
        };
        match &mut self.way {
            Way::All(spool, numbers) => {
                spool.push(text)?;
                numbers.push(number);
                Ok(())
            }
            Way::Each(waiting) => {
                waiting.push((number, change));
                if waiting.len() < CHUNK {
                    return Ok(());
                }
                let chunk = std::mem::take(waiting);
                self.make(chunk).await
            }
        }
    }

    async fn make(&mut self, chunk: Vec<(u64, Change)>) -> Result<(), Error> {
        let (numbers, changes): (Vec<u64>, Vec<Change>) = chunk.into_iter().unzip();
        let changes = Box::new(changes.into_iter());
        self.apply(Mode::BestEffort, numbers, changes).await
    }

    async fn apply(
        &mut self,
        mode: Mode,
        numbers: Vec<u64>,
        changes: Box<dyn Iterator<Item = Change> + Send>,
    ) -> Result<(), Error> {
        let batch = Batch {
            author: self.author.clone(),
            mode,
            dry_run: self.dry_run,
            changes,
        };
        let mut applied = self.registry.run(move |store| store.apply(batch)).await?;
        let effects = std::mem::take(&mut applied.effects);
        let made = numbers.into_iter().zip(effects);
        self.results.extend(made.map(|(line, (id, effect))| Made {
            line,
            id: Some(id),
            effect,
        }));
        let committed = self.applied.committed || applied.committed;
        self.applied = Applied {
            committed,
            ..applied
        };
        Ok(())
    }

    /// Makes what is left, and tells what became of all lines, in their order.
    async fn end(mut self) -> Result<(Vec<Made>, Applied), Error> {
        let way = std::mem::replace(&mut self.way, Way::Each(Vec::new()));
        let unread = !self.results.is_empty();
        match way {
            Way::Each(chunk) => self.make(chunk).await?,
            Way::All(spool, numbers) => {
                // What cannot be read is refused, and so is the whole.
                self.dry_run |= unread;
                self.apply(Mode::Atomic, numbers, spool.changes()?).await?;
            }
        }
        self.results.sort_unstable_by_key(|made| made.line);
        Ok((self.results, self.applied))
    }
}

/// Lines in a file that goes with this value.
struct Spool {
    path: PathBuf,
    file: BufWriter<File>,
}

impl Spool {
    fn new(folder: &std::path::Path) -> Result<Self, Error> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = folder.join(format!(".bulk-{}-{count}.tmp", std::process::id()));
        let file = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .open(&path);
        Ok(Self {
            file: BufWriter::new(file.map_err(|error| full(&error))?),
            path,
        })
    }

    fn push(&mut self, text: &[u8]) -> Result<(), Error> {
        let written = self
            .file
            .write_all(text.trim_ascii())
            .and_then(|()| self.file.write_all(b"\n"));
        written.map_err(|error| full(&error))
    }

    /// The changes, read a line at a time.
    fn changes(mut self) -> Result<Box<dyn Iterator<Item = Change> + Send>, Error> {
        let rewound = self.file.flush();
        rewound.map_err(|error| full(&error))?;
        let file = self.file.get_ref().try_clone();
        let mut file = file.map_err(|error| full(&error))?;
        file.seek(SeekFrom::Start(0))
            .map_err(|error| full(&error))?;
        let lines = BufReader::new(file).split(b'\n');
        let spool = self;
        Ok(Box::new(lines.map_while(move |line| {
            let _held = &spool;
            // Each line was read once before it was written.
            read(&line.ok()?).ok()
        })))
    }
}

impl Drop for Spool {
    fn drop(&mut self) {
        // A file that cannot be removed costs space until somebody does.
        let _ = std::fs::remove_file(&self.path);
    }
}

fn full(error: &std::io::Error) -> Error {
    use crate::registry::Error as Fault;
    let place = "bulk file".to_owned();
    Error::Registry(match error.kind() {
        std::io::ErrorKind::StorageFull => Fault::Full { place },
        _ => Fault::Failed {
            place,
            reason: error.to_string(),
        },
    })
}
