//! `toolscout doctor`: what would make a catalogue easier to search.

use std::path::PathBuf;

use clap::Args as Group;
use serde_json::{Value, json};

use super::error::Error;
use super::output::{Look, Output, one_line};
use super::problems::{self, Extent};
use super::table::{bare, count, pad, pad_close, short_row};
use super::{Context, Outcome};
use crate::catalog::doctor::{Finding, Report, Severity, Subject, examine};
use crate::catalog::read::{self, Reading};
use crate::catalog::tokens::Tokens;
use crate::eval::strategies::{Advice, advice};

/// Subjects of a finding that are listed unless all of them are asked for.
const LISTED: usize = 5;
/// Keys of one group that are listed.
const GROUP: usize = 4;

const EXAMPLES: &str = "\
Examples:
  toolscout doctor --catalog tools.jsonl
  toolscout doctor --catalog tools/ --json | jq '.findings[] | {check, count}'
  toolscout doctor --catalog tools/ --strict   # exit code 3 on any harmful finding";

/// Options of `toolscout doctor`.
#[derive(Debug, Group)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// File or folder of tools in JSON Lines
    #[arg(long, value_name = "PATH")]
    pub catalog: PathBuf,
    /// Exit with 3 where something was found that costs answers
    #[arg(long)]
    pub strict: bool,
    /// List everything
    #[arg(short, long)]
    pub verbose: bool,
}

/// What was found.
struct Diagnosis {
    reading: Reading,
    report: Report,
    /// Tokens of all definitions.
    tokens: usize,
    advice: Advice,
}

/// Reads the catalogue and says what was found.
///
/// # Errors
/// [`Error`] where the catalogue cannot be read or the answer not written.
pub fn run(args: &Args, context: &Context) -> Result<Outcome, Error> {
    let output = &context.output;
    let mut reading = read::read(&args.catalog)?;
    let tools = std::mem::take(&mut reading.tools);
    let namespaces = std::mem::take(&mut reading.namespaces);
    let catalog = crate::catalog::Catalog::new(tools, namespaces);
    let tokens = Tokens::count(catalog.tools()).total();
    let found = Diagnosis {
        report: examine(&catalog),
        advice: advice(catalog.len(), tokens),
        reading,
        tokens,
    };
    if output.is_json() {
        output.json(&to_json(&found))?;
    } else {
        let extent = if args.verbose {
            Extent::All
        } else {
            Extent::Some
        };
        print(&found, extent, output)?;
    }
    let (report, reading) = (&found.report, &found.reading);
    let harmful = report
        .findings
        .iter()
        .any(|finding| finding.check.severity() == Severity::Harmful);
    if args.strict && (harmful || reading.rejected() > 0) {
        return Ok(Outcome::Incomplete);
    }
    Ok(Outcome::Done)
}

fn print(found: &Diagnosis, extent: Extent, output: &Output) -> Result<(), Error> {
    let (report, reading) = (&found.report, &found.reading);
    let size = format!(
        "{} in {}, {} of definitions",
        count(report.tools, "tool"),
        count(report.namespaces, "namespace"),
        count(found.tokens, "token")
    );
    output.line(output.paint(Look::Strong, size))?;
    output.line(format_args!(
        "for a model: {} ({})",
        output.paint(Look::Strong, found.advice.strategy.title()),
        found.advice.reason
    ))?;
    if let Some(summary) = problems::summary(reading) {
        output.line(format_args!("while reading: {summary}"))?;
        output.line("")?;
        problems::print(&reading.problems, extent, output)?;
    }
    for finding in &report.findings {
        output.line("")?;
        print_finding(finding, extent, output)?;
    }
    if report.findings.is_empty() {
        output.line(output.paint(Look::Good, "nothing to mend"))?;
    }
    Ok(())
}

fn print_finding(finding: &Finding, extent: Extent, output: &Output) -> Result<(), Error> {
    let check = finding.check;
    let look = match check.severity() {
        Severity::Harmful => Look::Bad,
        Severity::Advice => Look::Warning,
    };
    let number = output.paint(look, finding.subjects.len());
    output.line(format_args!(
        "{}: {number}",
        output.paint(Look::Strong, check.title())
    ))?;
    let mut advice = bare(output);
    advice.add_row(["  →", check.advice()]);
    pad_close(&mut advice);
    output.table(&advice)?;
    let listed = match extent {
        Extent::Some => LISTED,
        Extent::All => finding.subjects.len(),
    };
    let mut subjects = bare(output);
    for subject in finding.subjects.iter().take(listed) {
        let row = [String::new(), keys(subject), one_line(&subject.detail)];
        subjects.add_row(short_row(row));
    }
    pad(&mut subjects);
    output.table(&subjects)?;
    if listed < finding.subjects.len() {
        let more = format!(
            "  … and {} more: --verbose lists all",
            finding.subjects.len() - listed
        );
        output.line(output.paint(Look::Faint, more))?;
    }
    Ok(())
}

fn keys(subject: &Subject) -> String {
    let mut text = subject.keys[..subject.keys.len().min(GROUP)].join(" · ");
    if GROUP < subject.keys.len() {
        text.push_str(&format!(" · and {} more", subject.keys.len() - GROUP));
    }
    text
}

fn to_json(found: &Diagnosis) -> Value {
    let (report, reading) = (&found.report, &found.reading);
    let subject = |subject: &Subject| json!({"keys": subject.keys, "detail": subject.detail});
    let finding = |finding: &Finding| {
        json!({
            "check": finding.check.as_str(),
            "severity": finding.check.severity().as_str(),
            "title": finding.check.title(),
            "advice": finding.check.advice(),
            "count": finding.subjects.len(),
            "subjects": finding.subjects.iter().map(subject).collect::<Value>(),
        })
    };
    json!({
        "tools": report.tools,
        "namespaces": report.namespaces,
        "tokens": found.tokens,
        "strategy": {
            "name": found.advice.strategy.as_str(),
            "reason": found.advice.reason,
        },
        "rejected": reading.rejected(),
        "problems": problems::json(&reading.problems),
        "findings": report.findings.iter().map(finding).collect::<Value>(),
    })
}
