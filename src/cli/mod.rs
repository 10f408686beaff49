//! What is typed. Commands read their arguments here, call the layers below, and print.
//!
//! [`args`] holds the command line, [`settings`] the config file, [`policy`] the policy file, [`rules`] the rules file; each
//! command has a file of its own. Only [`output`] prints.

mod answer;
pub mod args;
pub mod audit;
pub mod demo;
pub mod doctor;
mod document;
pub mod error;
pub mod eval;
pub mod import;
pub mod index;
mod intake;
mod live;
mod logging;
pub mod maintain;
pub mod mcp;
pub mod models;
pub mod output;
pub mod policy;
pub mod principal;
mod problems;
mod progress;
mod reasons;
pub mod registered;
pub mod registry;
pub mod review;
pub mod rules;
pub mod search;
pub mod serve;
pub mod servers;
pub mod settings;
pub mod source;
mod table;
pub mod tuning;
mod watch;

use std::process::ExitCode;

use clap::Parser;

pub use args::{Args, Command};
pub use error::Error;

use output::{Output, say};
use settings::Settings;

/// What every command is given.
#[derive(Debug)]
pub struct Context {
    /// Where to print.
    pub output: Output,
    /// What the config file says.
    pub settings: Settings,
}

/// How a command ended that did what it was asked to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// All of it.
    Done,
    /// All but some tools, or with findings where none were wanted.
    Incomplete,
    /// Nothing fits, and the caller wants to know by the exit code.
    NothingFits,
}

impl Outcome {
    /// The exit code, as `toolscout --help` lists them.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Incomplete => 3,
            Self::NothingFits => 4,
        }
    }
}

/// Reads the command line, does what it says, and tells faults in one line.
pub fn main() -> ExitCode {
    let args = Args::parse();
    match run(&args) {
        Ok(outcome) => ExitCode::from(outcome.exit_code()),
        Err(Error::Closed) => ExitCode::SUCCESS,
        Err(error) => {
            say(format_args!("error: {}", error.message()));
            ExitCode::from(error.exit_code())
        }
    }
}

/// Does what the command line says.
///
/// # Errors
/// [`Error`], whatever went wrong.
pub fn run(args: &Args) -> Result<Outcome, Error> {
    let context = Context {
        output: Output::new(&args.global),
        settings: Settings::read(args.global.config.as_deref())?,
    };
    match &args.command {
        Command::Demo(args) => demo::run(args, &context),
        Command::Import(args) => import::run(args, &context),
        Command::Index(args) => index::run(args, &context),
        Command::Rules(args) => rules::run(args, &context),
        Command::Search(args) => search::run(args, &context),
        Command::Serve(args) => serve::run(args, &context),
        Command::Policy(args) => review::run(args, &context),
        Command::Mcp(args) => mcp::run(args, &context),
        Command::Registry(args) => registry::run(args, &context),
        Command::Backup(args) => maintain::backup(args, &context),
        Command::Restore(args) => maintain::restore(args, &context),
        Command::Verify(args) => maintain::verify(args, &context),
        Command::Models(args) => models::run(args, &context),
        Command::Doctor(args) => doctor::run(args, &context),
        Command::Eval(args) => eval::run(args, &context),
    }
}
