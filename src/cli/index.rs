//! `toolscout index`: from a catalogue to an index on disk.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use clap::Args as Group;
use serde_json::{Value, json};

use super::args::ModelArgs;
use super::error::Error;
use super::output::{Look, Output};
use super::problems::{self, Extent};
use super::progress::Progress;
use super::source::{open_model, read_catalog};
use super::table::{count, grouped};
use super::{Context, Outcome};
use crate::catalog::read::Reading;
use crate::catalog::{Catalog, text};
use crate::embed::DEFAULT_MODEL;
use crate::index::{Index, build, snapshot};

const EXAMPLES: &str = "\
Examples:
  toolscout index --catalog tools.jsonl --out my-index
  toolscout index --catalog tools/ --out my-index --strict && deploy my-index
  toolscout index --catalog tools/ --show-document crm/find_customer

The catalogue is a file of tools in JSON Lines, or a folder of such files with a namespaces.jsonl.
A bad line is left out and told with its reason; the rest is indexed, and the exit code is 3.";

/// Options of `toolscout index`.
#[derive(Debug, Group)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// File or folder of tools in JSON Lines
    #[arg(
        long,
        value_name = "PATH",
        env = "TOOLSCOUT_CATALOG",
        hide_env_values = true
    )]
    pub catalog: PathBuf,
    /// Folder to write the index to; replaced in one step if there is one
    #[arg(long, value_name = "DIR", required_unless_present = "show_document")]
    pub out: Option<PathBuf>,
    /// Print what is searchable of one tool, and index nothing
    #[arg(long, value_name = "KEY")]
    pub show_document: Option<String>,
    /// Warnings too make the exit code 3
    #[arg(long)]
    pub strict: bool,
    /// List every problem
    #[arg(short, long)]
    pub verbose: bool,
    /// The model.
    #[command(flatten)]
    pub model: ModelArgs,
}

/// Builds and writes the index, or shows one tool's document.
///
/// # Errors
/// [`Error`] where the catalogue, the model or the index fails.
pub fn run(args: &Args, context: &Context) -> Result<Outcome, Error> {
    let reading = read_catalog(&args.catalog)?;
    if let Some(key) = &args.show_document {
        show_document(&reading.into_catalog(), key, &context.output)?;
        return Ok(Outcome::Done);
    }
    let Some(out) = &args.out else {
        return Err(Error::Usage(
            "say where to write the index: --out DIR".to_owned(),
        ));
    };
    let output = &context.output;
    let (index, reading, times) = build_index(reading, args, context)?;
    let started = Instant::now();
    snapshot::save(&index, out)?;
    let done = Done {
        index: &index,
        reading: &reading,
        out,
        embedding: times,
        writing: started.elapsed().as_secs_f64(),
    };
    if output.is_json() {
        output.json(&done.to_json())?;
    } else {
        let extent = if args.verbose {
            Extent::All
        } else {
            Extent::Some
        };
        done.print(extent, output)?;
    }
    let incomplete = reading.rejected() > 0
        || args.strict && !(reading.problems.is_empty() && index.unembedded.is_empty());
    Ok(if incomplete {
        Outcome::Incomplete
    } else {
        Outcome::Done
    })
}

fn build_index(
    mut reading: Reading,
    args: &Args,
    context: &Context,
) -> Result<(Index, Reading, f64), Error> {
    let tools = std::mem::take(&mut reading.tools);
    let namespaces = std::mem::take(&mut reading.namespaces);
    let catalog = Arc::new(Catalog::new(tools, namespaces));
    let progress = Progress::new(&context.output);
    let name = context.settings.model_name(&args.model);
    let name = name.unwrap_or_else(|| DEFAULT_MODEL.to_owned());
    let embedder = open_model(&name, &args.model, context, &progress)?;
    let started = Instant::now();
    let index = build::build(catalog, &*embedder, &|reached| progress.build(reached))?;
    Ok((index, reading, started.elapsed().as_secs_f64()))
}

fn show_document(catalog: &Catalog, key: &str, output: &Output) -> Result<(), Error> {
    let Some(id) = catalog.with_key(key).first() else {
        return Err(unknown_tool(catalog, key));
    };
    let tool = catalog.tool(*id);
    let document = text::document(tool, catalog.namespace(catalog.namespace_of(*id)));
    let passages = text::passages(tool);
    if output.is_json() {
        let passages: Value = passages
            .into_iter()
            .map(|(kind, text)| json!({"kind": passage(kind), "text": text}))
            .collect();
        return output.json(&json!({"tool": key, "document": document, "passages": passages}));
    }
    output.line(document.trim_end())?;
    output.line("")?;
    let title = format!("Embedded as {}:", count(passages.len(), "text"));
    output.line(output.paint(Look::Strong, title))?;
    for (kind, text) in passages {
        output.line(format_args!("  {:<10} {text}", passage(kind)))?;
    }
    Ok(())
}

fn passage(kind: text::Passage) -> &'static str {
    match kind {
        text::Passage::Document => "document",
        text::Passage::Short => "short",
        text::Passage::UseWhen => "use_when",
        text::Passage::Example => "example",
        text::Passage::AvoidWhen => "avoid_when",
    }
}

/// That there is no tool of this key, and which keys are like it.
pub(super) fn unknown_tool(catalog: &Catalog, key: &str) -> Error {
    Error::UnknownTool {
        key: key.to_owned(),
        near: near(catalog, key),
    }
}

/// Keys that hold the last part of what was typed.
fn near(catalog: &Catalog, key: &str) -> String {
    let part = key.rsplit('/').next().unwrap_or(key).to_lowercase();
    let like = |tool: &&crate::tool::Tool| tool.key.to_lowercase().contains(&part);
    let keys: Vec<String> = catalog
        .tools()
        .iter()
        .filter(like)
        .take(3)
        .map(|tool| format!("'{}'", tool.key))
        .collect();
    if keys.is_empty() || part.is_empty() {
        "; a key is the tool's id, else namespace/name".to_owned()
    } else {
        format!("; there is {}", keys.join(", "))
    }
}

/// What was done.
struct Done<'a> {
    index: &'a Index,
    reading: &'a Reading,
    out: &'a Path,
    /// Seconds of building, embedding included.
    embedding: f64,
    /// Seconds of writing.
    writing: f64,
}

impl Done<'_> {
    fn speed(&self) -> f64 {
        self.index.catalog.len() as f64 / self.embedding.max(1e-3)
    }

    fn bytes(&self) -> u64 {
        let file = self.out.join(snapshot::FILE_NAME);
        std::fs::metadata(file).map_or(0, |metadata| metadata.len())
    }

    fn print(&self, extent: Extent, output: &Output) -> Result<(), Error> {
        let (index, catalog) = (self.index, &self.index.catalog);
        let headline = format!(
            "{} in {} indexed into {}",
            count(catalog.len(), "tool"),
            count(catalog.namespaces().len(), "namespace"),
            self.out.display()
        );
        output.line(output.paint(Look::Strong, headline))?;
        output.line(format_args!(
            "  vectors   {} of {} numbers, by {}",
            grouped(index.dense.rows()),
            index.dense.dim(),
            index.model_id
        ))?;
        output.line(format_args!(
            "  time      {:.1} s building ({:.0} tools/s), {:.1} s writing {:.1} MB",
            self.embedding,
            self.speed(),
            self.writing,
            self.bytes() as f64 / 1e6
        ))?;
        if !index.unembedded.is_empty() {
            let text = format!(
                "  note      {} found by words only: the model refused the text",
                count(index.unembedded.len(), "tool")
            );
            output.line(output.paint(Look::Warning, text))?;
        }
        if let Some(summary) = problems::summary(self.reading) {
            output.line(format_args!("  problems  {summary}"))?;
            output.line("")?;
            problems::print(&self.reading.problems, extent, output)?;
        }
        Ok(())
    }

    fn to_json(&self) -> Value {
        let (index, catalog) = (self.index, &self.index.catalog);
        let unembedded: Vec<&str> = index
            .unembedded
            .iter()
            .map(|id| catalog.tool(*id).key.as_str())
            .collect();
        json!({
            "path": self.out.display().to_string(),
            "tools": catalog.len(),
            "namespaces": catalog.namespaces().len(),
            "vectors": index.dense.rows(),
            "dimension": index.dense.dim(),
            "model": index.model_id,
            "seconds": {"building": self.embedding, "writing": self.writing},
            "tools_per_second": self.speed(),
            "bytes": self.bytes(),
            "rejected": self.reading.rejected(),
            "warnings": self.reading.problems.len() - self.reading.rejected(),
            "unembedded": unembedded,
            "problems": problems::json(&self.reading.problems),
        })
    }
}
