//! Changes of the registry: what may be asked beside them, and what became of them.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

use super::Invalid;
use crate::registry::{Effect, Entry, Hash, Mode, Revision};

/// Characters of a reason.
const MAX_REASON: usize = 1000;

/// The query string of every change.
#[derive(Debug, Clone, Default, PartialEq, Eq, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ChangeParameters {
    /// The one tenant whose own the tool is; absent for a tool that tenants share.
    pub tenant: Option<String>,
    /// Why, for the log.
    pub reason: Option<String>,
    /// Answers once the change is served, or after 25 seconds.
    pub wait: bool,
    /// Says what would be done, and does nothing.
    pub dry_run: bool,
    /// Of a deletion: key of the tool to use instead.
    pub replacement: Option<String>,
    /// Of a listing: even where it has none, or less than half, of the tools that are there.
    pub force: bool,
    /// Of a bulk change: `atomic` makes all or nothing, `best_effort` what it can. `atomic` where
    /// absent.
    #[param(value_type = Option<String>)]
    pub mode: Option<Mode>,
}

impl ChangeParameters {
    /// From a query string, already cut into names and values. `allowed` are the names that this
    /// change takes beside `tenant`, `reason`, `wait` and `dry_run`.
    ///
    /// # Errors
    /// [`Invalid`] naming a field that is unknown or wrong.
    pub fn check(pairs: Vec<(String, String)>, allowed: &[&str]) -> Result<Self, Invalid> {
        let mut parameters = Self::default();
        for (name, value) in pairs {
            let usual = ["tenant", "reason", "wait", "dry_run"];
            if !usual.contains(&name.as_str()) && !allowed.contains(&name.as_str()) {
                let known = [&usual[..], allowed].concat().join(", ");
                return Err(Invalid::new(
                    &name,
                    format!("is not a parameter here; known are {known}"),
                ));
            }
            match name.as_str() {
                "tenant" => parameters.tenant = Some(value),
                "replacement" => parameters.replacement = Some(value),
                "reason" if value.chars().count() <= MAX_REASON => {
                    parameters.reason = Some(value);
                }
                "reason" => {
                    let reason = format!("is longer than {MAX_REASON} characters");
                    return Err(Invalid::new("reason", reason));
                }
                "wait" => parameters.wait = truth("wait", &value)?,
                "dry_run" => parameters.dry_run = truth("dry_run", &value)?,
                "force" => parameters.force = truth("force", &value)?,
                _ => parameters.mode = Some(mode(&value)?),
            }
        }
        Ok(parameters)
    }

    /// The tenant; empty for shared tools.
    pub fn tenant(&self) -> &str {
        self.tenant.as_deref().unwrap_or_default()
    }
}

fn truth(field: &str, value: &str) -> Result<bool, Invalid> {
    match value {
        "true" | "1" | "" => Ok(true),
        "false" | "0" => Ok(false),
        _ => Err(Invalid::new(field, "must be true or false")),
    }
}

fn mode(value: &str) -> Result<Mode, Invalid> {
    match value {
        "atomic" => Ok(Mode::Atomic),
        "best_effort" => Ok(Mode::BestEffort),
        _ => Err(Invalid::new("mode", "must be atomic or best_effort")),
    }
}

/// What became of one change.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ChangeResponse {
    /// Key of the tool, or name of the namespace.
    #[schema(example = "logistics/get_shipping_eta")]
    pub tool: String,
    /// `created`, `updated`, `unchanged` or `deleted`.
    #[schema(value_type = String, example = "updated")]
    pub effect: &'static str,
    /// Hash of the whole document that is there now, for `if-match`; null where none is.
    pub hash: Option<String>,
    /// The last revision there is.
    pub revision: u64,
    /// Whether the change was made: not in a dry run.
    pub committed: bool,
    /// Whether the revision is served already.
    pub served: bool,
}

/// What became of a listing of a namespace.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ReplaceResponse {
    /// Every change that was made.
    pub changes: Vec<LineResponse>,
    /// How many there were of each kind.
    pub summary: SummaryResponse,
}

/// What became of one line of a bulk change, or of one tool of a listing.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct LineResponse {
    /// Line of the request, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// Key of the tool, or name of the namespace, where the line got as far as having one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// `created`, `updated`, `unchanged`, `deleted` or `refused`.
    #[schema(value_type = String, example = "created")]
    pub effect: &'static str,
    /// Hash of the document that is there now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hash: Option<String>,
    /// Of a refusal: stable word for programs.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub code: Option<&'static str>,
    /// Of a refusal: sentence for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// How a bulk change or a listing came out: the last line of the answer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct SummaryResponse {
    /// Tools that were not there.
    pub created: usize,
    /// Tools that are others now.
    pub updated: usize,
    /// Tools that are as they were.
    pub unchanged: usize,
    /// Tools that are gone.
    pub deleted: usize,
    /// Changes that were not made.
    pub refused: usize,
    /// The last revision there is.
    pub revision: u64,
    /// Whether anything was made: not in a dry run, and not where an atomic change was refused.
    pub committed: bool,
    /// Whether the revision is served already.
    pub served: bool,
}

impl SummaryResponse {
    /// Counts one effect.
    pub fn count(&mut self, effect: &Effect) {
        match effect {
            Effect::Created(_) => self.created += 1,
            Effect::Updated(_) => self.updated += 1,
            Effect::Unchanged(_) => self.unchanged += 1,
            Effect::Deleted => self.deleted += 1,
            Effect::Refused(_) => self.refused += 1,
        }
    }
}

/// The word for an effect.
pub fn effect_word(effect: &Effect) -> &'static str {
    match effect {
        Effect::Created(_) => "created",
        Effect::Updated(_) => "updated",
        Effect::Unchanged(_) => "unchanged",
        Effect::Deleted => "deleted",
        Effect::Refused(_) => "refused",
    }
}

/// The body of `PUT /v1/namespaces/{namespace}/tools`.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ReplaceRequest {
    /// All tools of the namespace, as in a line of a catalogue.
    #[schema(value_type = Vec<Object>)]
    pub tools: Vec<Value>,
}

/// The changes of one tool, newest first.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct HistoryResponse {
    /// Key of the tool.
    pub tool: String,
    /// Its changes.
    pub changes: Vec<EntryResponse>,
}

/// One change of the log.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct EntryResponse {
    /// Its number.
    pub revision: u64,
    /// Milliseconds since 1970.
    pub at: i64,
    /// Who made it.
    pub author: String,
    /// Why.
    pub reason: Option<String>,
    /// Hash of the document that was put; null for a deletion.
    pub hash: Option<String>,
    /// The document that was put; null for a deletion.
    #[schema(value_type = Option<Object>)]
    pub document: Option<Value>,
    /// Of a deletion: key of the tool to use instead.
    pub replacement: Option<String>,
}

impl From<Entry> for EntryResponse {
    fn from(entry: Entry) -> Self {
        let Revision(revision) = entry.revision;
        let (hash, json) = entry.put.unzip();
        Self {
            revision,
            at: entry.at,
            author: entry.author.name,
            reason: entry.author.reason,
            hash: hash.map(|hash| Hash::to_string(&hash)),
            // A document is JSON; a store that was changed by hand may hold anything.
            document: json.and_then(|json| serde_json::from_str(json.as_str()).ok()),
            replacement: entry.replacement,
        }
    }
}

/// How far the served index is behind the registry.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct IndexResponse {
    /// `idle`, `gathering`, `building`, or `waiting` after a failure.
    #[schema(value_type = String, example = "idle")]
    pub phase: &'static str,
    /// The revision that is served.
    pub served: u64,
    /// The last revision there is.
    pub wanted: u64,
    /// Changes that are not served yet.
    pub pending: u64,
    /// Tools that are served.
    pub tools: usize,
    /// How far a build is; null where none is under way.
    pub progress: Option<ProgressResponse>,
    /// The last build; null where there was none since the start.
    pub built: Option<BuiltResponse>,
    /// Builds since the start.
    pub builds: u64,
    /// What went wrong last; null where all is well.
    pub error: Option<String>,
    /// How many tools are found by words alone, since the model refused them or was not asked yet.
    pub unembedded: usize,
    /// The first hundred of their keys.
    pub unembedded_tools: Vec<String>,
    /// Documents that cannot be read, and so are not served; the first hundred.
    pub problems: Vec<String>,
    /// The last revision of which there is a snapshot.
    pub saved: u64,
    /// Why the last snapshot could not be saved.
    pub save_error: Option<String>,
}

/// How far a build is.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ProgressResponse {
    /// Texts embedded.
    pub done: usize,
    /// Texts to embed.
    pub total: usize,
}

/// How an index was built.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct BuiltResponse {
    /// The revision it is of.
    pub revision: u64,
    /// Seconds it took.
    pub seconds: f64,
    /// Changes it took up.
    pub changes: usize,
}
