//! `toolscout models`: which embedding models there are, and whether they work.

use clap::{Args as Group, Subcommand};
use serde_json::{Value, json};

use super::args::ModelPlace;
use super::error::Error;
use super::output::{Look, Output};
use super::progress::Progress;
use super::table::{align_right, pad, short_row, table};
use super::{Context, Outcome};
use crate::embed::{self, Checked, DEFAULT_MODEL, Listed};

const EXAMPLES: &str = "\
Examples:
  toolscout models list
  toolscout models pull use-multilingual-v3    # unpack it and fetch ONNX Runtime now, not later
  toolscout models check use-multilingual-v3   # checksums, and vectors against references";

/// Options of `toolscout models`.
#[derive(Debug, Group)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Where models are and how they run.
    #[command(flatten)]
    pub place: ModelPlace,
    /// What to do.
    #[command(subcommand)]
    pub action: Action,
}

/// What to do with models.
#[derive(Debug, Subcommand)]
pub enum Action {
    /// List the models in the folder of models
    List,
    /// Fetch and unpack all that a model needs
    Pull {
        /// Name of the model
        name: String,
    },
    /// Verify checksums, run the model, and compare its vectors with the references
    Check {
        /// Name of the model
        name: String,
    },
}

/// Does it.
///
/// # Errors
/// [`Error`] where the model cannot be found, fetched or run.
pub fn run(args: &Args, context: &Context) -> Result<Outcome, Error> {
    let output = &context.output;
    let options = context.settings.embed_options(&args.place);
    let progress = Progress::new(output);
    match &args.action {
        Action::List => {
            let models = embed::list(&options)?;
            if output.is_json() {
                output.json(&models.iter().map(listed_json).collect::<Value>())?;
            } else {
                print_list(&models, output)?;
            }
        }
        Action::Pull { name } => {
            embed::pull(name, &options, &|reached| progress.model(reached))?;
            progress.clear();
            if output.is_json() {
                output.json(&json!({"model": name, "ready": true}))?;
            } else {
                output.line(format_args!(
                    "{name} is ready; it needs no network from now on"
                ))?;
            }
        }
        Action::Check { name } => {
            let checked = embed::check(name, &options, &|reached| progress.model(reached))?;
            progress.clear();
            if output.is_json() {
                output.json(&checked_json(name, &checked))?;
            } else {
                print_checked(name, &checked, output)?;
            }
        }
    }
    Ok(Outcome::Done)
}

fn print_list(models: &[Listed], output: &Output) -> Result<(), Error> {
    if models.is_empty() {
        return output.line("no models found: give the folder of models by --models DIR");
    }
    let mut listed = table(
        output,
        &["model", "numbers", "MB", "languages", "licence", "what"],
    );
    for model in models {
        let mark = if model.name == DEFAULT_MODEL {
            " *"
        } else {
            ""
        };
        let megabytes = format!("{:.0}", model.bytes as f64 / 1e6);
        listed.add_row(short_row([
            format!("{}{mark}", model.name),
            model.dimension.to_string(),
            megabytes,
            languages(&model.languages),
            model.licence.clone(),
            model.title.clone(),
        ]));
    }
    pad(&mut listed);
    align_right(&mut listed, 1);
    align_right(&mut listed, 2);
    output.table(&listed)?;
    output.line(output.paint(Look::Faint, "* used where none is named"))
}

fn languages(codes: &[String]) -> String {
    const SHOWN: usize = 3;
    match codes.len() {
        0 => "any".to_owned(),
        n if n <= SHOWN => codes.join(" "),
        n => format!("{} +{}", codes[..SHOWN].join(" "), n - SHOWN),
    }
}

fn print_checked(name: &str, checked: &Checked, output: &Output) -> Result<(), Error> {
    output.line(format_args!("{name} {}", output.paint(Look::Good, "works")))?;
    output.line(format_args!("  identity    {}", checked.model_id))?;
    output.line(format_args!("  vectors     {} numbers", checked.dimension))?;
    let calibration = checked.calibration;
    output.line(format_args!(
        "  cosines     {} (unrelated) to {} (the same thing)",
        calibration.low, calibration.high
    ))?;
    output.line(format_args!(
        "  checksums   {} files verified",
        checked.files
    ))?;
    let references = match checked.references {
        0 => "none to compare with".to_owned(),
        n => format!("{n} texts, worst cosine {:.6}", checked.worst_cosine),
    };
    output.line(format_args!("  references  {references}"))
}

fn listed_json(model: &Listed) -> Value {
    let figures: serde_json::Map<String, Value> = model
        .figures
        .iter()
        .map(|(name, value)| (name.clone(), json!(value)))
        .collect();
    json!({
        "name": model.name,
        "title": model.title,
        "version": model.version,
        "dimension": model.dimension,
        "languages": model.languages,
        "licence": model.licence,
        "bytes": model.bytes,
        "path": model.path.display().to_string(),
        "figures": figures,
        "default": model.name == DEFAULT_MODEL,
    })
}

fn checked_json(name: &str, checked: &Checked) -> Value {
    json!({
        "model": name,
        "model_id": checked.model_id,
        "dimension": checked.dimension,
        "calibration": {"low": checked.calibration.low, "high": checked.calibration.high},
        "files": checked.files,
        "references": checked.references,
        "worst_cosine": checked.worst_cosine,
    })
}
