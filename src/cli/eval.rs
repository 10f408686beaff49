//! `toolscout eval`: how good the search is, on labelled sets.

mod gate;
mod sets;
mod strategies;
mod tune;

use std::path::{Path, PathBuf};

use clap::builder::PossibleValuesParser;
use clap::{Args as Group, Subcommand};

use super::error::Error;
use super::output::Output;
use super::progress::Progress;
use super::{Context, Outcome};
use crate::eval::keep::Keeping;
use crate::eval::report::{Report, SetReport, compare, tables, worst};
use crate::eval::run::{Abstention, Plan, System, run as ask};
use crate::search::Config;

use sets::{SetArgs, model_id};

/// Wins and losses of each set that a comparison lists.
const MOVED: usize = 10;

const EXAMPLES: &str = "\
Examples:
  toolscout eval --dataset data/demo
  toolscout eval --dataset sets/a --dataset sets/b --json | jq '.sets[].arms.fused'
  toolscout eval --dataset sets/a --catalog tools.jsonl --report out/a --worst 10
  toolscout eval --compare before.json after.json
  toolscout eval tune --dataset sets/a --dataset sets/b --out tuned.toml
  toolscout eval gate --baseline data/gate/demo.json --dataset data/demo

A set is a folder with queries.jsonl, qrels.tsv or needs.tsv, and tools.jsonl or tools/. Vectors are
kept in the cache folder, so a second run embeds nothing.";

/// Options of `toolscout eval`.
#[derive(Debug, Group)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub struct Args {
    /// Something other than measuring.
    #[command(subcommand)]
    pub action: Option<Action>,
    /// What is measured.
    #[command(flatten)]
    pub sets: SetArgs,
    /// What is wanted of it.
    #[command(flatten)]
    pub wanted: Wanted,
}

/// Something other than measuring.
#[derive(Debug, Subcommand)]
pub enum Action {
    /// Fit the constants of a search on some catalogues, and judge them on others
    Tune(tune::Args),
    /// Compare ways of giving tools to a model: what they find, and their tokens in the prompt
    Strategies(strategies::Args),
    /// Fail where a set loses more than chance explains
    Gate(gate::Args),
}

/// What is wanted of a measurement.
#[derive(Debug, Group)]
pub struct Wanted {
    /// Ways of ranking to measure, separated by commas [default: all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = PossibleValuesParser::new(System::ALL.map(System::as_str)))]
    pub arms: Vec<String>,
    /// Only rankings: do not ask how sure the search is where nothing fits
    #[arg(long)]
    pub no_abstention: bool,
    /// Write OUT.md and OUT.json, query by query
    #[arg(long, value_name = "OUT")]
    pub report: Option<PathBuf>,
    /// Explain the N worst queries of each set
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub worst: usize,
    /// Compare two reports instead: what changed, and for which queries
    #[arg(long, value_names = ["BEFORE", "AFTER"], num_args = 2, conflicts_with = "dataset")]
    pub compare: Option<Vec<PathBuf>>,
}

/// Measures, or does what the subcommand says.
///
/// # Errors
/// [`Error`] where a set cannot be read, a model not be run, or the answer not be written.
pub fn run(args: &Args, context: &Context) -> Result<Outcome, Error> {
    match (&args.action, &args.wanted.compare) {
        (Some(Action::Tune(args)), _) => return tune::run(args, context),
        (Some(Action::Strategies(args)), _) => return strategies::run(args, context),
        (Some(Action::Gate(args)), _) => return gate::run(args, context),
        (None, Some(reports)) => return side_by_side(reports, &context.output),
        (None, None) => {}
    }
    let plan = args.wanted.plan();
    let report = measure(&args.sets, &plan, args.wanted.worst, context)?;
    if let Some(path) = &args.wanted.report {
        write_report(&report, path, &context.output)?;
    }
    print(&report, &context.output)?;
    Ok(Outcome::Done)
}

impl Wanted {
    fn plan(&self) -> Plan {
        let mut systems: Vec<System> = self
            .arms
            .iter()
            .filter_map(|name| System::of_name(name))
            .collect();
        if systems.is_empty() {
            systems = System::ALL.to_vec();
        }
        Plan {
            systems,
            abstention: if self.no_abstention {
                Abstention::Skipped
            } else {
                Abstention::Measured
            },
        }
    }
}

/// The figures of each set, one set after the other, so that only one index is in memory.
fn measure(
    sets: &SetArgs,
    plan: &Plan,
    failures: usize,
    context: &Context,
) -> Result<Report, Error> {
    let progress = Progress::new(&context.output);
    let config = &context.settings.search;
    let embedder = sets.open_model(context, &progress)?;
    let keeping = Keeping::new(&*embedder, &sets.vectors(context)?)?;
    let mut reports = Vec::new();
    for folder in sets.folders()? {
        let bench = sets.bench(folder, &keeping, &progress, &context.output)?;
        let ran = ask(&bench, config, plan, &|reached| progress.measure(reached))?;
        progress.clear();
        let mut report = SetReport::new(&bench, &ran);
        if 0 < failures {
            report.worst = worst::worst(&bench, &ran, config, failures)?;
        }
        reports.push(report);
    }
    Ok(Report {
        model: model_id(&keeping),
        config: name_of(config).to_owned(),
        sets: reports,
    })
}

fn name_of(config: &Config) -> &'static str {
    if *config == Config::shipped() {
        "default"
    } else if *config == Config::card() {
        "card"
    } else {
        "a config file"
    }
}

fn print(report: &Report, output: &Output) -> Result<(), Error> {
    if output.is_json() {
        return output.json(&report.without_rows());
    }
    for sheet in tables::tables(report) {
        output.line(sheet.text())?;
    }
    for set in report.sets.iter().filter(|set| !set.worst.is_empty()) {
        output.line(format_args!("Worst queries of {}\n", set.name))?;
        for failure in &set.worst {
            output.line(failure)?;
        }
    }
    Ok(())
}

fn write_report(report: &Report, path: &Path, output: &Output) -> Result<(), Error> {
    let stem = match path.extension().and_then(|extension| extension.to_str()) {
        Some("md" | "json") => path.with_extension(""),
        _ => path.to_owned(),
    };
    let named = |extension: &str| {
        let mut name = stem.clone().into_os_string();
        name.push(extension);
        PathBuf::from(name)
    };
    let (text, data) = (named(".md"), named(".json"));
    let json = serde_json::to_string(report).map_err(|error| Error::Output(error.into()))?;
    write(&text, &tables::markdown(report))?;
    write(&data, &json)?;
    output.remark(format_args!(
        "written: {} and {}",
        text.display(),
        data.display()
    ));
    Ok(())
}

/// Writes a file, and the folders it is to be in.
fn write(path: &Path, text: &str) -> Result<(), Error> {
    let folder = path.parent().unwrap_or(Path::new(""));
    let made = std::fs::create_dir_all(folder);
    made.and_then(|()| std::fs::write(path, text))
        .map_err(|source| Error::System {
            what: format!("write {}", path.display()),
            source,
        })
}

fn side_by_side(reports: &[PathBuf], output: &Output) -> Result<Outcome, Error> {
    let [before, after] = reports else {
        return Err(Error::Usage("--compare takes two reports".to_owned()));
    };
    let (before, after) = (Report::read(before)?, Report::read(after)?);
    let changes = compare::compare(&before, &after, System::Fused)?;
    if output.is_json() {
        output.json(&changes)?;
        return Ok(Outcome::Done);
    }
    for sheet in compare::tables(&changes, MOVED) {
        output.line(sheet.text())?;
    }
    Ok(Outcome::Done)
}
