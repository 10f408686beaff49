//! `toolscout rules check`: what is wrong with rules over a catalogue.

use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args as Group, Subcommand};
use serde_json::{Value, json};

use crate::catalog::Catalog;
use crate::cli::error::Error;
use crate::cli::output::{Look, Output};
use crate::cli::source::read_catalog;
use crate::cli::table::{count, pad, short_row, table};
use crate::cli::{Context, Outcome};
use crate::rules::{Compiled, Finding, Mode, Rule, check};
use crate::tool::ToolId;

const EXAMPLES: &str = "\
Examples:
  toolscout rules check --rules rules.toml --catalog tools/
  toolscout rules check --rules rules.toml --catalog tools/ --strict   # exit code 3 on a finding";

/// Options of `toolscout rules`.
#[derive(Debug, Group)]
pub struct Args {
    /// What to do with the rules.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do with the rules.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Look for rules that say nothing, say what others say, or gainsay each other
    Check(CheckArgs),
}

/// Options of `toolscout rules check`.
#[derive(Debug, Group)]
#[command(after_help = EXAMPLES)]
pub struct CheckArgs {
    /// The rules [env: TOOLSCOUT_RULES]
    #[arg(long, value_name = "FILE")]
    pub rules: Option<PathBuf>,
    /// File or folder of tools in JSON Lines
    #[arg(long, value_name = "PATH")]
    pub catalog: PathBuf,
    /// Exit with 3 where something was found
    #[arg(long)]
    pub strict: bool,
}

/// Does what is asked with the rules.
///
/// # Errors
/// [`Error`] where rules or catalogue cannot be read or the answer not written.
pub fn run(args: &Args, context: &Context) -> Result<Outcome, Error> {
    let Command::Check(args) = &args.command;
    let Some(path) = super::path(args.rules.as_deref()) else {
        return Err(Error::Usage("say which rules: --rules FILE".to_owned()));
    };
    let rules = Arc::new(super::read(&path)?);
    let catalog: Catalog = read_catalog(&args.catalog)?.into_catalog();
    let compiled = Compiled::new(Arc::clone(&rules), catalog.tools());
    let found = check(&compiled);
    let counts: Vec<usize> = (0..rules.as_slice().len())
        .map(|at| {
            let tools = (0..catalog.len()).map(|tool| ToolId(tool as u32));
            tools.filter(|tool| compiled.covers(at, *tool)).count()
        })
        .collect();
    let output = &context.output;
    if output.is_json() {
        output.json(&to_json(rules.as_slice(), &counts, &found))?;
    } else {
        print((rules.as_slice(), &counts), catalog.len(), &found, output)?;
    }
    Ok(if args.strict && !found.is_empty() {
        Outcome::Incomplete
    } else {
        Outcome::Done
    })
}

fn print(
    (rules, counts): (&[Rule], &[usize]),
    tools: usize,
    found: &[Finding],
    output: &Output,
) -> Result<(), Error> {
    let title = format!(
        "{} over {}",
        count(rules.len(), "rule"),
        count(tools, "tool")
    );
    output.line(output.paint(Look::Strong, title))?;
    output.line("")?;
    let mut rows = table(output, &["#", "rule", "effect", "mode", "tools"]);
    for (at, (rule, count)) in rules.iter().zip(counts).enumerate() {
        rows.add_row(short_row([
            (at + 1).to_string(),
            rule.name.to_string(),
            rule.effect.as_str().to_owned(),
            mode(rule.mode).to_owned(),
            count.to_string(),
        ]));
    }
    pad(&mut rows);
    output.table(&rows)?;
    output.line("")?;
    if found.is_empty() {
        return output.line(output.paint(Look::Good, "nothing to mend"));
    }
    for finding in found {
        output.line(format_args!(
            "{} {}: {}",
            output.paint(Look::Warning, finding.kind.as_str()),
            rules[finding.rule].name,
            finding.detail
        ))?;
    }
    Ok(())
}

fn mode(mode: Mode) -> &'static str {
    match mode {
        Mode::Enforce => "enforce",
        Mode::Shadow => "shadow",
        Mode::Off => "off",
    }
}

fn to_json(rules: &[Rule], counts: &[usize], found: &[Finding]) -> Value {
    let rule = |(rule, count): (&Rule, &usize)| {
        json!({
            "name": &*rule.name,
            "effect": rule.effect.as_str(),
            "mode": mode(rule.mode),
            "tools": count,
        })
    };
    let finding = |finding: &Finding| {
        json!({
            "kind": finding.kind.as_str(),
            "rule": &*rules[finding.rule].name,
            "detail": finding.detail,
        })
    };
    json!({
        "rules": rules.iter().zip(counts).map(rule).collect::<Value>(),
        "findings": found.iter().map(finding).collect::<Value>(),
    })
}
