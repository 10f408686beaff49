//! `toolscout backup`, `restore` and `verify`: copies of a registry, and proof that one is whole.

use std::path::PathBuf;

use clap::Args as Group;
use serde_json::json;

use super::error::Error;
use super::output::{Look, Output};
use super::table::count;
use super::{Context, Outcome};
use crate::store::sqlite::{self, Findings};

/// Options of `toolscout backup`.
#[derive(Debug, Group)]
#[command(after_help = "Examples:\n  toolscout backup tools.db tools-2026-11-30.db")]
pub struct BackupArgs {
    /// File of the registry
    #[arg(value_name = "REGISTRY")]
    pub registry: PathBuf,
    /// File to write, which must not be there yet
    #[arg(value_name = "FILE")]
    pub to: PathBuf,
}

/// Options of `toolscout restore`.
#[derive(Debug, Group)]
#[command(after_help = "\
Examples:
  toolscout restore tools-2026-11-30.db tools.db --force

Stop the server first. A restored registry has a history of its own from the backup on: indexes that
were saved of the old one are not used.")]
pub struct RestoreArgs {
    /// File of the backup
    #[arg(value_name = "FILE")]
    pub backup: PathBuf,
    /// File of the registry to make
    #[arg(value_name = "REGISTRY")]
    pub registry: PathBuf,
    /// Replace a registry that is there
    #[arg(long)]
    pub force: bool,
}

/// Options of `toolscout verify`.
#[derive(Debug, Group)]
#[command(after_help = "Examples:\n  toolscout verify tools.db")]
pub struct VerifyArgs {
    /// File of the registry or backup
    #[arg(value_name = "REGISTRY")]
    pub registry: PathBuf,
}

/// Writes a copy.
///
/// # Errors
/// [`Error::Registry`] where the registry cannot be read or the copy cannot be written.
pub fn backup(args: &BackupArgs, context: &Context) -> Result<Outcome, Error> {
    let findings = sqlite::backup(&args.registry, &args.to)?;
    let headline = format!("copied to {}", args.to.display());
    tell(&headline, &findings, &context.output)
}

/// Makes a registry from a copy.
///
/// # Errors
/// [`Error::Registry`] where the copy is not whole or the registry cannot be written.
pub fn restore(args: &RestoreArgs, context: &Context) -> Result<Outcome, Error> {
    let findings = sqlite::restore(&args.backup, &args.registry, args.force)?;
    let headline = format!("restored to {}", args.registry.display());
    tell(&headline, &findings, &context.output)
}

/// Checks a registry or a copy.
///
/// # Errors
/// [`Error::Registry`] where it cannot be read.
pub fn verify(args: &VerifyArgs, context: &Context) -> Result<Outcome, Error> {
    let findings = sqlite::verify(&args.registry)?;
    let headline = if findings.faults.is_empty() {
        format!("{} is whole", args.registry.display())
    } else {
        format!("{} is damaged: restore a backup", args.registry.display())
    };
    tell(&headline, &findings, &context.output)
}

fn tell(headline: &str, findings: &Findings, output: &Output) -> Result<Outcome, Error> {
    if output.is_json() {
        output.json(&json!({
            "identity": findings.identity,
            "revision": findings.revision.0,
            "tools": findings.tools,
            "namespaces": findings.namespaces,
            "faults": findings.faults,
        }))?;
    } else {
        output.line(output.paint(Look::Strong, headline))?;
        output.line(format_args!(
            "  {} and {} at revision {}",
            count(findings.tools, "tool"),
            count(findings.namespaces, "described namespace"),
            findings.revision
        ))?;
        for fault in &findings.faults {
            output.line(output.paint(Look::Bad, format_args!("  {fault}")))?;
        }
    }
    Ok(if findings.faults.is_empty() {
        Outcome::Done
    } else {
        Outcome::Incomplete
    })
}
