//! `toolscout eval strategies`: ways of giving tools to a model.

use std::path::PathBuf;

use clap::Args as Group;
use serde_json::{Value, json};

use super::super::error::Error;
use super::super::progress::Progress;
use super::super::{Context, Outcome};
use super::sets::SetArgs;
use super::write;
use crate::catalog::tokens::Tokens;
use crate::eval::keep::Keeping;
use crate::eval::strategies::{SIZES, advice, compare, plot, table};

const EXAMPLES: &str = "\
Examples:
  toolscout eval strategies --dataset sets/etom --plot strategies.svg
  toolscout eval strategies --dataset data/demo --sizes 20,100,225 --json";

/// Options of `toolscout eval strategies`.
#[derive(Debug, Group)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Sizes of the catalogue, separated by commas [default: 35,100,200,400,1000,2375]
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',')]
    pub sizes: Vec<usize>,
    /// Draw prompt tokens and recall by size into an SVG file; with several sets, of the last
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
    /// What is measured.
    #[command(flatten)]
    pub sets: SetArgs,
}

/// Compares.
///
/// # Errors
/// [`Error`] where a set cannot be read, a model not be run, or the plot not be written.
pub(super) fn run(args: &Args, context: &Context) -> Result<Outcome, Error> {
    let output = &context.output;
    let progress = Progress::new(output);
    let embedder = args.sets.open_model(context, &progress)?;
    let keeping = Keeping::new(&*embedder, &args.sets.vectors(context)?)?;
    let sizes = match args.sizes.as_slice() {
        [] => &SIZES,
        sizes => sizes,
    };
    let mut answers: Vec<Value> = Vec::new();
    for folder in args.sets.folders()? {
        let bench = args.sets.bench(folder, &keeping, &progress, output)?;
        let config = &context.settings.search;
        let cells = compare(&bench, config, sizes, &|reached| progress.measure(reached))?;
        progress.clear();
        let (name, tools) = (&bench.dataset.name, bench.dataset.catalog.tools());
        let total = Tokens::count(tools).total();
        let advised = advice(tools.len(), total);
        if let Some(path) = &args.plot {
            write(path, &plot::svg(name, &cells))?;
            output.remark(format_args!("written: {}", path.display()));
        }
        if output.is_json() {
            answers.push(json!({
                "name": name,
                "tools": tools.len(),
                "tokens": total,
                "strategy": {"name": advised.strategy, "reason": advised.reason},
                "cells": cells,
            }));
        } else {
            output.line(table(name, &cells).text())?;
            output.line(format_args!(
                "{} tools, {total} tokens: {} ({})\n",
                tools.len(),
                advised.strategy.title(),
                advised.reason
            ))?;
        }
    }
    if output.is_json() {
        output.json(&json!({"sets": answers}))?;
    }
    Ok(Outcome::Done)
}
