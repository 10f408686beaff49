//! `toolscout eval tune`: better constants.

use std::path::PathBuf;

use clap::Args as Group;
use serde_json::{Map, Value, json};

use super::super::error::Error;
use super::super::progress::Progress;
use super::super::tuning::to_toml;
use super::super::{Context, Outcome};
use super::sets::SetArgs;
use super::write;
use crate::eval::keep::Keeping;
use crate::eval::metric::Figures;
use crate::eval::tune::{Depth, Judged, Tuning, table, tune};

const EXAMPLES: &str = "\
Examples:
  toolscout eval tune --dataset sets/a --dataset sets/b --dataset sets/c --out tuned.toml
  toolscout eval tune --dataset sets/a --dataset sets/b --deep --limit-queries 200
  toolscout search --config tuned.toml --index my-index --open 'where is my parcel'

Each catalogue is left out once: constants are fitted on the others and measured on it. What is
written is fitted on all of them.";

/// Options of `toolscout eval tune`.
#[derive(Debug, Group)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Write the configuration that was found
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Move the arms' own constants too, not only their weights: searches again for every trial
    #[arg(long)]
    pub deep: bool,
    /// What it is fitted on: sets of at least two catalogues.
    #[command(flatten)]
    pub sets: SetArgs,
}

/// Tunes.
///
/// # Errors
/// [`Error`] where a set cannot be read, a model not be run, or there is only one catalogue.
pub(super) fn run(args: &Args, context: &Context) -> Result<Outcome, Error> {
    let output = &context.output;
    let progress = Progress::new(output);
    let embedder = args.sets.open_model(context, &progress)?;
    let keeping = Keeping::new(&*embedder, &args.sets.vectors(context)?)?;
    let benches = args.sets.benches(&keeping, &progress, output)?;
    let depth = if args.deep {
        Depth::Arms
    } else {
        Depth::Fusion
    };
    let start = &context.settings.search;
    let tuning = tune(&benches, start, depth, &|reached| progress.measure(reached))?;
    progress.clear();
    let found = to_toml(&tuning.config);
    if let Some(path) = &args.out {
        write(path, &found)?;
        output.remark(format_args!("written: {}", path.display()));
    }
    if output.is_json() {
        output.json(&to_json(&tuning, &found))?;
        return Ok(Outcome::Done);
    }
    for sheet in table::tables(&tuning, start) {
        output.line(sheet.text())?;
    }
    Ok(Outcome::Done)
}

fn to_json(tuning: &Tuning, found: &str) -> Value {
    let figures = |figures: &Figures| -> Map<String, Value> {
        figures
            .iter()
            .map(|(metric, value)| (metric.as_str().to_owned(), json!(value)))
            .collect()
    };
    let set = |set: &Judged| {
        let before: Map<String, Value> = set
            .before
            .iter()
            .map(|(system, before)| (system.as_str().to_owned(), figures(before).into()))
            .collect();
        json!({
            "name": set.name,
            "catalogue": set.group,
            "before": before,
            "held_out": figures(&set.after),
        })
    };
    json!({"sets": tuning.judged.iter().map(set).collect::<Vec<_>>(), "config": found})
}
