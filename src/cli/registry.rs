//! `toolscout registry`: a registry's file without a server, or beside one.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::{Args as Group, Subcommand};
use serde_json::{Value, json};

use super::error::Error;
use super::intake::{self, How, Made};
use super::output::{Look, Output, one_line};
use super::problems;
use super::source::read_catalog;
use super::{Context, Outcome};
use crate::catalog::document::differences;
use crate::registry::{Author, Entry, Id, Kind, Revision, Store};
use crate::store::sqlite::{Limits, Sqlite};

/// Changes that a history tells.
const HISTORY: usize = 1000;
/// Records read at a time.
const PAGE: usize = 1000;

const EXAMPLES: &str = "\
Examples:
  toolscout registry import tools.db --catalog tools/
  toolscout registry export tools.db --out all.jsonl
  toolscout registry history tools.db crm/find_customer
  toolscout registry diff tools.db crm/find_customer

A server that has the registry open takes up what is changed here within a second.";

/// Options of `toolscout registry`.
#[derive(Debug, Group)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// What to do with the registry.
    #[command(subcommand)]
    pub action: Action,
}

/// What to do with a registry.
#[derive(Debug, Subcommand)]
pub enum Action {
    /// Put all tools of a catalogue, all or none
    Import(ImportArgs),
    /// Write all tools and namespaces as JSON Lines
    Export(ExportArgs),
    /// Say who changed a tool, when and why
    History(HistoryArgs),
    /// Say where two revisions of a tool differ
    Diff(DiffArgs),
}

/// Options of `toolscout registry import`.
#[derive(Debug, Group)]
pub struct ImportArgs {
    /// File of the registry, made if there is none
    #[arg(value_name = "REGISTRY")]
    pub registry: PathBuf,
    /// File or folder of tools in JSON Lines
    #[arg(long, value_name = "PATH")]
    pub catalog: PathBuf,
    /// Delete what is there and not listed, in each namespace of the catalogue
    #[arg(long)]
    pub replace: bool,
    /// With --replace: even where less than half of a namespace is listed
    #[arg(long, requires = "replace")]
    pub force: bool,
    /// Say what would be done, and do nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Why, for the log
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,
}

/// Options of `toolscout registry export`.
#[derive(Debug, Group)]
pub struct ExportArgs {
    /// File of the registry
    #[arg(value_name = "REGISTRY")]
    pub registry: PathBuf,
    /// Folder to write tools.jsonl and namespaces.jsonl to; standard output gets the tools alone
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

/// Which tool.
#[derive(Debug, Clone, Group)]
pub struct HistoryArgs {
    /// File of the registry
    #[arg(value_name = "REGISTRY")]
    pub registry: PathBuf,
    /// Key of the tool
    #[arg(value_name = "KEY")]
    pub key: String,
    /// The one tenant whose own the tool is
    #[arg(long, value_name = "NAME", default_value = "")]
    pub tenant: String,
}

/// Options of `toolscout registry diff`.
#[derive(Debug, Group)]
pub struct DiffArgs {
    /// Which tool.
    #[command(flatten)]
    pub tool: HistoryArgs,
    /// The older revision [default: the one before --to]
    #[arg(long, value_name = "REVISION")]
    pub from: Option<u64>,
    /// The newer revision [default: the last]
    #[arg(long, value_name = "REVISION")]
    pub to: Option<u64>,
}

/// Does what is asked with a registry.
///
/// # Errors
/// [`Error`] where the registry or the catalogue cannot be used.
pub fn run(args: &Args, context: &Context) -> Result<Outcome, Error> {
    match &args.action {
        Action::Import(args) => import(args, &context.output),
        Action::Export(args) => export(args, &context.output),
        Action::History(args) => history(args, &context.output),
        Action::Diff(args) => diff(args, &context.output),
    }
}

fn import(args: &ImportArgs, output: &Output) -> Result<Outcome, Error> {
    let reading = read_catalog(&args.catalog)?;
    let (rejected, summary) = (reading.rejected(), problems::summary(&reading));
    let store = Sqlite::open(&args.registry, Limits::default())?;
    let author = Author {
        name: format!("import:{}", args.catalog.display()),
        reason: args.reason.clone(),
    };
    let how = How {
        replace: args.replace,
        force: args.force,
        dry_run: args.dry_run,
    };
    let made = intake::put(&store, &reading, &author, how)?;
    if output.is_json() {
        output.json(&made_json(&made, rejected, args.dry_run))?;
    } else {
        let would = if args.dry_run { "would be " } else { "" };
        let headline = format!(
            "{} {would}created, {} updated, {} deleted, {} unchanged; revision {}",
            made.created, made.updated, made.deleted, made.unchanged, made.revision
        );
        output.line(output.paint(Look::Strong, headline))?;
        for (what, refusal) in &made.refused {
            let text = format!("  refused: {what}: {refusal}");
            output.line(output.paint(Look::Bad, text))?;
        }
        if let Some(summary) = summary {
            output.line(format_args!("  problems  {summary}"))?;
        }
    }
    Ok(if made.refused.is_empty() && rejected == 0 {
        Outcome::Done
    } else {
        Outcome::Incomplete
    })
}

fn made_json(made: &Made, rejected: usize, dry_run: bool) -> Value {
    let refused: Vec<Value> = made
        .refused
        .iter()
        .map(|(what, refusal)| json!({"tool": what, "message": refusal.to_string()}))
        .collect();
    json!({
        "created": made.created,
        "updated": made.updated,
        "deleted": made.deleted,
        "unchanged": made.unchanged,
        "refused": refused,
        "rejected": rejected,
        "revision": made.revision.0,
        "committed": made.refused.is_empty() && !dry_run,
    })
}

fn existing(path: &Path) -> Result<Sqlite, Error> {
    if !path.is_file() {
        let text = format!("there is no registry {}", path.display());
        return Err(Error::Usage(text));
    }
    Ok(Sqlite::open(path, Limits::default())?)
}

fn export(args: &ExportArgs, output: &Output) -> Result<Outcome, Error> {
    let store = existing(&args.registry)?;
    let system = |source| Error::System {
        what: "write the export".to_owned(),
        source,
    };
    let mut files = match &args.out {
        None => None,
        Some(folder) => {
            std::fs::create_dir_all(folder).map_err(system)?;
            let create = |name| File::create(folder.join(name)).map(BufWriter::new);
            let tools = create("tools.jsonl").map_err(system)?;
            Some((tools, create("namespaces.jsonl").map_err(system)?))
        }
    };
    let mut after = None;
    loop {
        let page = store.page(after.as_ref(), PAGE)?;
        let Some(last) = page.last() else { break };
        after = Some(last.document.id.clone());
        for record in &page {
            let text = record.document.json.as_str();
            match (&mut files, record.document.id.kind) {
                (Some((tools, _)), Kind::Tool) => writeln!(tools, "{text}").map_err(system)?,
                (Some((_, names)), Kind::Namespace) => writeln!(names, "{text}").map_err(system)?,
                (None, Kind::Tool) => output.line(text)?,
                (None, Kind::Namespace) => {}
            }
        }
    }
    if let Some((mut tools, mut namespaces)) = files {
        tools
            .flush()
            .and_then(|()| namespaces.flush())
            .map_err(system)?;
    }
    Ok(Outcome::Done)
}

/// The changes of a tool, newest first; at least one.
fn changes(args: &HistoryArgs) -> Result<Vec<Entry>, Error> {
    let store = existing(&args.registry)?;
    let found = store.history(&Id::tool_of(&args.tenant, &args.key), HISTORY)?;
    if found.is_empty() {
        return Err(Error::UnknownTool {
            key: args.key.clone(),
            near: "; of a tool that is one tenant's own, say --tenant".to_owned(),
        });
    }
    Ok(found)
}

fn history(args: &HistoryArgs, output: &Output) -> Result<Outcome, Error> {
    let changes = changes(args)?;
    if output.is_json() {
        let changes: Vec<Value> = changes.iter().map(entry_json).collect();
        output.json(&json!({"tool": args.key, "changes": changes}))?;
        return Ok(Outcome::Done);
    }
    for entry in &changes {
        let effect = match (&entry.put, &entry.replacement) {
            (Some((hash, _)), _) => format!("put      {}", &hash.to_string()[..12]),
            (None, None) => "deleted".to_owned(),
            (None, Some(key)) => format!("deleted, use {key}"),
        };
        let reason = entry.author.reason.as_deref().unwrap_or_default();
        output.line(format_args!(
            "{:>8}  {}  {effect:<24}  {}  {}",
            entry.revision.0,
            time(entry.at),
            one_line(&entry.author.name),
            one_line(reason)
        ))?;
    }
    Ok(Outcome::Done)
}

fn entry_json(entry: &Entry) -> Value {
    json!({
        "revision": entry.revision.0,
        "at": entry.at,
        "author": entry.author.name,
        "reason": entry.author.reason,
        "hash": entry.put.as_ref().map(|(hash, _)| hash.to_string()),
        "replacement": entry.replacement,
    })
}

fn diff(args: &DiffArgs, output: &Output) -> Result<Outcome, Error> {
    let changes = changes(&args.tool)?;
    let upto = |limit: Option<u64>| {
        let within = |entry: &&Entry| limit.is_none_or(|limit| entry.revision <= Revision(limit));
        changes.iter().find(within)
    };
    let newer = upto(args.to);
    let before = newer.map(|newer| newer.revision.0.saturating_sub(1));
    let older = upto(args.from.or(before));
    let document = |entry: Option<&Entry>| {
        let put = entry.and_then(|entry| entry.put.as_ref());
        put.map_or("null".to_owned(), |(_, json)| json.as_str().to_owned())
    };
    let found = differences(&document(older), &document(newer))
        .map_err(|rejected| Error::Usage(format!("a revision of it cannot be read: {rejected}")))?;
    let revision = |entry: Option<&Entry>| entry.map_or(0, |entry| entry.revision.0);
    if output.is_json() {
        let found: Vec<Value> = found
            .iter()
            .map(|one| json!({"place": one.place, "before": one.before, "after": one.after}))
            .collect();
        let (from, to) = (revision(older), revision(newer));
        output
            .json(&json!({"tool": args.tool.key, "from": from, "to": to, "differences": found}))?;
        return Ok(Outcome::Done);
    }
    let headline = format!("revision {} to {}", revision(older), revision(newer));
    output.line(output.paint(Look::Strong, headline))?;
    for one in found {
        let place = if one.place.is_empty() {
            "/"
        } else {
            &one.place
        };
        output.line(place)?;
        if let Some(text) = one.before {
            output.line(output.paint(Look::Bad, format_args!("  - {}", one_line(&text))))?;
        }
        if let Some(text) = one.after {
            output.line(output.paint(Look::Good, format_args!("  + {}", one_line(&text))))?;
        }
    }
    Ok(Outcome::Done)
}

/// A time in UTC, to the second: `2026-11-30 05:20:00`.
///
/// Days to a date by the method of Howard Hinnant's `civil_from_days`: years begin in March, so that
/// the odd day of a leap year is the last.
fn time(at: i64) -> String {
    let seconds = at.div_euclid(1000);
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = (shifted_month + 2) % 12 + 1;
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    format!(
        "{year:04}-{month:02}-{day:02} {:02}:{:02}:{:02}",
        second / 3600,
        second / 60 % 60,
        second % 60
    )
}

#[cfg(test)]
mod tests {
    use super::time;

    #[test]
    fn times_are_those_of_the_calendar() {
        for (at, text) in [
            (0, "1970-01-01 00:00:00"),
            (951_782_399_000, "2000-02-28 23:59:59"),
            (951_782_400_000, "2000-02-29 00:00:00"),
            (1_796_016_000_123, "2026-11-30 05:20:00"),
            (-1000, "1969-12-31 23:59:59"),
        ] {
            assert_eq!(time(at), text);
        }
    }
}
