//! `toolscout search`: which tools does this request need?

use std::io::Read;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use clap::Args as Group;
use clap::builder::PossibleValuesParser;

use super::answer;
use super::error::Error;
use super::principal::PrincipalArgs;
use super::rules;
use super::source::SourceArgs;
use super::{Context, Outcome};
use crate::rules::Compiled;
use crate::search::shadow::shadow;
use crate::search::{Detail, View};
use crate::serve::wire::{
    self, Asked, ContextRequest, DenseWord, Detail as Shown, DiscoverRequest, FiltersRequest,
    HintsRequest, KindWord, SideEffectWord,
};

const KINDS: [(&str, KindWord); 5] = [
    ("search", KindWord::Search),
    ("read", KindWord::Read),
    ("parse", KindWord::Parse),
    ("query", KindWord::Query),
    ("act", KindWord::Act),
];
const DENSE: [(&str, DenseWord); 3] = [
    ("auto", DenseWord::Auto),
    ("exact", DenseWord::Exact),
    ("hnsw", DenseWord::Hnsw),
];
const DETAILS: [(&str, Shown); 3] = [
    ("full", Shown::Full),
    ("compact", Shown::Compact),
    ("name", Shown::Name),
];
/// Bytes of a request that are read from standard input: more than a request may have characters.
const MAX_INPUT: u64 = 64 << 10;

const EXAMPLES: &str = "\
Examples:
  toolscout search --index my-index --open where is my parcel
  toolscout search --index my-index --open --explain 东西啥时候到
  toolscout search --index my-index --open --need 'find it' --need 'refund it'
  toolscout search --index my-index --policy p.toml --role support close a ticket
  toolscout search --index my-index --open --rules r.toml --phase locate find the bug
  toolscout search --index my-index --open --json restart | jq -r '.hits[].tool'
  toolscout search --index my-index --open - < long-request.txt

That nothing fits is an answer, so the exit code is 0; with --exit-code it is 4.";

/// Options of `toolscout search`.
#[derive(Debug, Group)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The request, in any language; '-' reads it from standard input
    #[arg(value_name = "QUERY")]
    pub query: Vec<String>,
    /// What is searched.
    #[command(flatten)]
    pub source: SourceArgs,
    /// Who asks.
    #[command(flatten)]
    pub principal: PrincipalArgs,
    /// Which answer is wanted.
    #[command(flatten)]
    pub wanted: Wanted,
}

/// Which answer is wanted.
#[derive(Debug, Group)]
pub struct Wanted {
    /// One of several needs, each of them served by the answer (repeatable)
    #[arg(long = "need", value_name = "TEXT", help_heading = "Request")]
    pub needs: Vec<String>,
    /// Tools wanted, 1 to 100 [default: 5]
    #[arg(short = 'n', long, value_name = "N", help_heading = "Request")]
    pub limit: Option<u32>,
    /// Confidence, 0 to 1, under which nothing fits; 0 never says so
    #[arg(long, value_name = "X", help_heading = "Request")]
    pub threshold: Option<f64>,
    /// What you think the namespace or server is about
    #[arg(long, value_name = "TEXT", help_heading = "Request")]
    pub hint_namespace: Option<String>,
    /// What you think the tool does
    #[arg(long, value_name = "TEXT", help_heading = "Request")]
    pub hint_tool: Option<String>,
    /// Only tools of this namespace (repeatable)
    #[arg(long = "namespace", value_name = "NAME", help_heading = "Filters")]
    pub namespaces: Vec<String>,
    /// Only tools with this tag (repeatable: any of them)
    #[arg(long = "tag", value_name = "TAG", help_heading = "Filters")]
    pub tags: Vec<String>,
    /// Only tools of this kind (repeatable)
    #[arg(long = "kind", value_name = "KIND", value_parser = PossibleValuesParser::new(KINDS.map(|(word, _)| word)), help_heading = "Filters")]
    pub kinds: Vec<String>,
    /// Only tools that say that they change nothing
    #[arg(long, help_heading = "Filters")]
    pub read_only: bool,
    /// The moment.
    #[command(flatten)]
    pub moment: Moment,
    /// Show how each tool got its score
    #[arg(long, help_heading = "Answer")]
    pub explain: bool,
    /// With --json: how much of each definition to print [default: full]
    #[arg(long, value_name = "HOW", value_parser = PossibleValuesParser::new(DETAILS.map(|(word, _)| word)), help_heading = "Answer")]
    pub detail: Option<String>,
    /// Exit with 4 where nothing fits
    #[arg(long, help_heading = "Answer")]
    pub exit_code: bool,
    /// How the nearest vectors are found [default: auto]
    #[arg(long, value_name = "WAY", value_parser = PossibleValuesParser::new(DENSE.map(|(word, _)| word)), help_heading = "Tuning")]
    pub dense: Option<String>,
    /// Weights by name: default or card
    #[arg(long, value_name = "NAME", help_heading = "Tuning")]
    pub preset: Option<String>,
}

/// Rules, and the moment that they look at.
#[derive(Debug, Group)]
pub struct Moment {
    /// Business rules: what suits which moment [env: TOOLSCOUT_RULES]
    #[arg(long, value_name = "FILE", help_heading = "Rules")]
    pub rules: Option<PathBuf>,
    /// Phase of the task, in the words of the rules
    #[arg(long, value_name = "WORD", help_heading = "Rules")]
    pub phase: Option<String>,
    /// Programming language of the project
    #[arg(long, value_name = "WORD", help_heading = "Rules")]
    pub language: Option<String>,
    /// How the last call ended
    #[arg(long, value_name = "WORD", help_heading = "Rules")]
    pub previous_result: Option<String>,
    /// Key of the tool called last
    #[arg(long, value_name = "KEY", help_heading = "Rules")]
    pub previous_tool: Option<String>,
    /// Turns taken so far
    #[arg(long, value_name = "N", help_heading = "Rules")]
    pub turn: Option<u32>,
}

/// Answers one request.
///
/// # Errors
/// [`Error`] where the request cannot be read, nobody is said to ask, or index or model fail.
pub fn run(args: &Args, context: &Context) -> Result<Outcome, Error> {
    // What was typed is checked before anything slow begins.
    let mut asked = request(args, context)?;
    let rules = rules::path(args.wanted.moment.rules.as_deref());
    let rules = rules.map(|path| rules::read(&path)).transpose()?;
    let preset = asked.preset.take();
    let config = preset.as_ref().unwrap_or(&context.settings.search);
    let (policy, principal) = args.principal.resolve()?;
    let opened = args.source.open(context)?;
    let index = &*opened.index;
    if let Some(rules) = rules {
        let compiled = Compiled::new(Arc::new(rules), index.catalog.tools());
        asked.request.ruling = compiled.ruling(&principal, &asked.context);
    }
    let started = Instant::now();
    let view = View::new(index, policy.permit(&principal, index.catalog.tools()));
    let answer = crate::search::search(
        index,
        opened.embedder.as_deref(),
        &view,
        &asked.request,
        config,
    )?;
    let elapsed = started.elapsed();
    if let Some(fault) = &answer.model_fault {
        let output = &context.output;
        output.remark(format_args!("by words alone: the model failed: {fault}"));
    }
    let explained = asked.request.detail == Detail::Explained;
    let model = (index, opened.embedder.as_deref());
    let shadow = explained
        .then(|| shadow(model, &view, &asked.request, config, &answer))
        .transpose()?
        .flatten();
    if context.output.is_json() {
        let mut response = wire::discover_response(index, &view, &answer, asked.detail);
        response.shadow = shadow.map(|shadow| wire::shadow_response(index, &shadow));
        context.output.json(&response)?;
    } else {
        let shown = answer::Shown {
            index,
            view: &view,
            request: &asked.request,
            answer: &answer,
            shadow: shadow.as_ref(),
            elapsed,
        };
        shown.print(&context.output)?;
    }
    let nothing = args.wanted.exit_code && answer.hits.is_empty();
    Ok(if nothing {
        Outcome::NothingFits
    } else {
        Outcome::Done
    })
}

/// The request as the server would read it, and so checked by the same rules.
fn request(args: &Args, context: &Context) -> Result<Asked, Error> {
    let wanted = &args.wanted;
    let limit = wanted
        .limit
        .or(context.settings.limit.map(|limit| limit as u32));
    let request = DiscoverRequest {
        query: text(&args.query)?,
        queries: wanted.needs.clone(),
        limit,
        hints: HintsRequest {
            namespace: wanted.hint_namespace.clone(),
            tool: wanted.hint_tool.clone(),
        },
        filters: FiltersRequest {
            namespaces: wanted.namespaces.clone(),
            tags: wanted.tags.clone(),
            kinds: wanted
                .kinds
                .iter()
                .filter_map(|word| choice(&KINDS, word))
                .collect(),
            side_effects: if wanted.read_only {
                vec![SideEffectWord::None, SideEffectWord::Read]
            } else {
                Vec::new()
            },
        },
        context: ContextRequest {
            phase: wanted.moment.phase.clone(),
            language: wanted.moment.language.clone(),
            previous_result: wanted.moment.previous_result.clone(),
            previous_tool: wanted.moment.previous_tool.clone(),
            turn: wanted.moment.turn,
        },
        threshold: wanted.threshold,
        detail: wanted
            .detail
            .as_deref()
            .and_then(|word| choice(&DETAILS, word)),
        explain: Some(wanted.explain),
        dense: wanted
            .dense
            .as_deref()
            .and_then(|word| choice(&DENSE, word)),
        preset: wanted.preset.clone(),
    };
    Ok(request.check()?)
}

/// The words as one text; none where there are none.
fn text(words: &[String]) -> Result<Option<String>, Error> {
    if words == ["-"] {
        let mut bytes = Vec::new();
        let read = std::io::stdin()
            .lock()
            .take(MAX_INPUT)
            .read_to_end(&mut bytes);
        read.map_err(|source| Error::System {
            what: "read the request from standard input".to_owned(),
            source,
        })?;
        return Ok(Some(String::from_utf8_lossy(&bytes).trim().to_owned()));
    }
    Ok((!words.is_empty()).then(|| words.join(" ")))
}

fn choice<T: Copy>(choices: &[(&str, T)], word: &str) -> Option<T> {
    choices
        .iter()
        .find(|(name, _)| *name == word)
        .map(|(_, value)| *value)
}
