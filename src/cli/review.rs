//! `toolscout policy`: a dry run of a policy file, for those who write it. They may know of every
//! tool, so nothing here is for callers.

use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args as Group, Subcommand};

use super::error::Error;
use super::output::{Look, Output};
use super::policy::{Written, read_written};
use super::principal::{PrincipalArgs, policy_path};
use super::source::{Place, place, read_catalog};
use super::table::{bare, count, pad, unbroken};
use super::{Context, Outcome, index, reasons};
use crate::access::{Finding, Review, Rights, Rule};
use crate::catalog::Catalog;
use crate::index::snapshot;
use crate::serve::wire::why_response;
use crate::tool::ToolId;

/// Keys of one kind that are listed unless all of them are asked for.
const LISTED: usize = 8;

const EXAMPLES: &str = "\
Examples:
  toolscout policy check --catalog tools/ --policy policy.toml
  toolscout policy why --catalog tools/ --policy policy.toml --role support payments/refund_payment";
const CHECK_EXAMPLES: &str = "\
Examples:
  toolscout policy check --catalog data/demo --policy data/demo/policy.toml
  toolscout policy check --index my-index --policy policy.toml --strict   # exit code 3 on findings";
const WHY_EXAMPLES: &str = "\
Examples:
  toolscout policy why --catalog data/demo --policy data/demo/policy.toml \\
      --role engineer --environment production cloud/terminate_instance";

/// Options of `toolscout policy`.
#[derive(Debug, Group)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// What to do with the policy.
    #[command(subcommand)]
    pub action: Action,
}

/// What to do with a policy.
#[derive(Debug, Subcommand)]
pub enum Action {
    /// Say which rules do nothing, and which tools nobody or everybody sees
    Check(CheckArgs),
    /// Say why a caller sees a tool, or what it would need to
    Why(WhyArgs),
}

/// The catalogue that a policy is laid over.
#[derive(Debug, Clone, Group)]
pub struct Over {
    /// Folder of an index, made by 'toolscout index' [env: TOOLSCOUT_INDEX]
    #[arg(long, value_name = "DIR", conflicts_with = "catalog")]
    pub index: Option<PathBuf>,
    /// File or folder of tools in JSON Lines [env: TOOLSCOUT_CATALOG]
    #[arg(long, value_name = "PATH")]
    pub catalog: Option<PathBuf>,
}

/// Options of `toolscout policy check`.
#[derive(Debug, Group)]
#[command(after_help = CHECK_EXAMPLES)]
pub struct CheckArgs {
    /// The catalogue.
    #[command(flatten)]
    pub over: Over,
    /// The policy file [env: TOOLSCOUT_POLICY]
    #[arg(long, value_name = "FILE")]
    pub policy: Option<PathBuf>,
    /// Exit with 3 where there is a finding
    #[arg(long)]
    pub strict: bool,
    /// List every tool
    #[arg(short, long)]
    pub verbose: bool,
}

/// Options of `toolscout policy why`.
#[derive(Debug, Group)]
#[command(after_help = WHY_EXAMPLES)]
pub struct WhyArgs {
    /// The catalogue.
    #[command(flatten)]
    pub over: Over,
    /// Who asks.
    #[command(flatten)]
    pub principal: PrincipalArgs,
    /// Key of the tool
    #[arg(value_name = "TOOL")]
    pub tool: String,
}

/// Does what is asked of the policy.
///
/// # Errors
/// [`Error`] where policy or catalogue cannot be read, there is no such tool, or the answer cannot
/// be written.
pub fn run(args: &Args, context: &Context) -> Result<Outcome, Error> {
    match &args.action {
        Action::Check(args) => check(args, &context.output),
        Action::Why(args) => why(args, &context.output),
    }
}

impl Over {
    fn open(&self) -> Result<Arc<Catalog>, Error> {
        match place(self.index.as_deref(), self.catalog.as_deref())? {
            Place::Index(folder) => Ok(snapshot::load(&folder, None)?.catalog),
            Place::Catalog(path) => Ok(Arc::new(read_catalog(&path)?.into_catalog())),
        }
    }
}

fn why(args: &WhyArgs, output: &Output) -> Result<Outcome, Error> {
    let (policy, principal) = args.principal.resolve()?;
    let lines = match policy_path(args.principal.policy.as_deref()) {
        Some(path) if !args.principal.open => read_written(&path)?.lines,
        _ => Vec::new(),
    };
    let catalog = args.over.open()?;
    let tools = catalog.with_key(&args.tool);
    if tools.is_empty() {
        return Err(index::unknown_tool(&catalog, &args.tool));
    }
    let rights = policy.over(catalog.tools());
    // Tenants may each have a tool of this key: the caller's own counts.
    let all = tools
        .iter()
        .map(|id| rights.why(&principal, *id, catalog.tool(*id)));
    let found = all.min_by_key(|why| why.obstacles.len());
    let Some(found) = found else {
        return Err(index::unknown_tool(&catalog, &args.tool));
    };
    if output.is_json() {
        output.json(&why_response(&args.tool, &found, rights.rules()))?;
        return Ok(Outcome::Done);
    }
    let place = |rule| place_of(rule, rights.rules(), &lines);
    reasons::print((&args.tool, &principal), &found, &place, output)?;
    Ok(Outcome::Done)
}

fn check(args: &CheckArgs, output: &Output) -> Result<Outcome, Error> {
    let Some(path) = policy_path(args.policy.as_deref()) else {
        let advice = "say which policy: --policy FILE";
        return Err(Error::Usage(advice.to_owned()));
    };
    let written = read_written(&path)?;
    let catalog = args.over.open()?;
    let rights = written.policy.over(catalog.tools());
    let checked = Checked {
        review: rights.review(catalog.tools()),
        listed: if args.verbose { usize::MAX } else { LISTED },
        written: &written,
        rights: &rights,
        catalog: &catalog,
    };
    if output.is_json() {
        output.json(&checked.json())?;
    } else {
        checked.print(output)?;
    }
    let odd = !checked.review.findings.is_empty() || !written.unused_groups.is_empty();
    if args.strict && odd {
        return Ok(Outcome::Incomplete);
    }
    Ok(Outcome::Done)
}

struct Checked<'a> {
    review: Review,
    listed: usize,
    written: &'a Written,
    rights: &'a Rights,
    catalog: &'a Catalog,
}

impl Checked<'_> {
    fn print(&self, output: &Output) -> Result<(), Error> {
        let (review, groups) = (&self.review, &self.written.unused_groups);
        let size = format!(
            "{} over {}: {}",
            count(self.rights.rules().len(), "rule"),
            count(self.catalog.len(), "tool"),
            count(review.findings.len() + groups.len(), "finding")
        );
        output.line(output.paint(Look::Strong, size))?;
        let mut table = bare(output);
        for finding in &review.findings {
            let (rule, text) = self.told(finding);
            table.add_row([unbroken(self.place(rule)), text.into()]);
        }
        for group in groups {
            let told = format!("group '{group}' is used by no rule");
            table.add_row([unbroken("groups"), told.into()]);
        }
        pad(&mut table);
        if !table.is_empty() {
            output.table(&table)?;
        }
        self.print_tools("nobody sees", &review.unreachable, output)?;
        self.print_tools("everybody sees", &review.public, output)?;
        self.print_tools("hidden by their own exposure", &review.hidden, output)
    }

    fn print_tools(&self, what: &str, tools: &[ToolId], output: &Output) -> Result<(), Error> {
        if tools.is_empty() {
            return Ok(());
        }
        output.line("")?;
        let title = format!("{what}: {}", count(tools.len(), "tool"));
        output.line(output.paint(Look::Strong, title))?;
        for tool in tools.iter().take(self.listed) {
            output.line(format_args!("  {}", self.catalog.tool(*tool).key))?;
        }
        if self.listed < tools.len() {
            let more = tools.len() - self.listed;
            let more = format!("  … and {more} more: --verbose lists all");
            output.line(output.paint(Look::Faint, more))?;
        }
        Ok(())
    }

    fn place(&self, rule: usize) -> String {
        place_of(rule, self.rights.rules(), &self.written.lines)
    }

    fn places(&self, rules: &[usize]) -> String {
        let places: Vec<String> = rules.iter().map(|rule| self.place(*rule)).collect();
        places.join(" and ")
    }

    /// The rule that a finding is about, and what is said of it.
    fn told(&self, finding: &Finding) -> (usize, String) {
        match finding {
            Finding::MatchesNothing { rule, field, text } => (
                *rule,
                format!("'{text}' of its {field} matches nothing in the catalogue"),
            ),
            Finding::Unused { rule } => (*rule, "covers no tool at all".to_owned()),
            Finding::Shadowed { rule, by } => (
                *rule,
                format!("does nothing that is not done by {}", self.places(by)),
            ),
            Finding::Overruled { rule, by } => (
                *rule,
                format!("all it allows is denied by {}", self.places(by)),
            ),
            Finding::DeniesNothing { rule } => {
                (*rule, "denies nothing that any rule allows".to_owned())
            }
        }
    }

    fn json(&self) -> serde_json::Value {
        let keys = |tools: &[ToolId]| -> Vec<&str> {
            let tools = tools.iter().map(|tool| self.catalog.tool(*tool));
            tools.map(|tool| tool.key.as_str()).collect()
        };
        let finding = |finding: &Finding| {
            let (rule, told) = self.told(finding);
            let kind = match finding {
                Finding::MatchesNothing { .. } => "matches_nothing",
                Finding::Unused { .. } => "unused",
                Finding::Shadowed { .. } => "shadowed",
                Finding::Overruled { .. } => "overruled",
                Finding::DeniesNothing { .. } => "denies_nothing",
            };
            let line = self.written.lines.get(rule);
            serde_json::json!({"finding": kind, "rule": rule + 1, "line": line, "reason": told})
        };
        serde_json::json!({
            "rules": self.rights.rules().len(),
            "tools": self.catalog.len(),
            "findings": self.review.findings.iter().map(finding).collect::<Vec<_>>(),
            "unused_groups": self.written.unused_groups,
            "nobody": keys(&self.review.unreachable),
            "everybody": keys(&self.review.public),
            "hidden": keys(&self.review.hidden),
        })
    }
}

/// How reports call a rule: by its position, its name and its line.
fn place_of(rule: usize, rules: &[Rule], lines: &[usize]) -> String {
    let mut place = format!("rule {}", rule + 1);
    if let Some(named) = rules.get(rule).filter(|rule| !rule.name.is_empty()) {
        place.push_str(&format!(" '{}'", named.name));
    }
    if let Some(line) = lines.get(rule) {
        place.push_str(&format!(" (line {line})"));
    }
    place
}
