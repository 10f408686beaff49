//! What is typed: the commands, and the options that several of them share.

use std::path::PathBuf;

use clap::{Args as Group, Parser, Subcommand};

use super::{
    demo, doctor, eval, import, index, maintain, mcp, models, registry, review, rules, search,
    serve,
};

const ABOUT: &str = "Finds the few tools a request needs among hundreds or thousands";
const LONG_ABOUT: &str = "\
Finds the few tools a request needs among the hundreds or thousands that an LLM agent could call: \
by meaning, by words, by group and by rules, among what the caller may see, and saying so when \
nothing fits.";
const EXAMPLES: &str = "\
Start here:
  toolscout demo
  toolscout index --catalog tools.jsonl --out my-index
  toolscout search --index my-index --open \"where is my parcel\"
  toolscout serve --index my-index --open

Exit codes:
  0  done
  1  failed
  2  wrong arguments, or a wrong config, policy or keys file
  3  done, but tools were left out (index), --strict found something (index, doctor,
     policy check), or a figure was lost (eval gate)
  4  nothing fits (search --exit-code)";

/// The command line.
#[derive(Debug, Parser)]
#[command(name = "toolscout", version, about = ABOUT, long_about = LONG_ABOUT, after_help = EXAMPLES)]
#[command(max_term_width = 100, infer_long_args = false)]
pub struct Args {
    /// What every command takes.
    #[command(flatten)]
    pub global: Global,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// Options of every command.
#[derive(Debug, Clone, Group)]
pub struct Global {
    /// Print one JSON value, for programs
    #[arg(long, global = true, help_heading = "Global options")]
    pub json: bool,
    /// No bars and no remarks: answers and errors only
    #[arg(short, long, global = true, help_heading = "Global options")]
    pub quiet: bool,
    /// No colour (also: NO_COLOR)
    #[arg(long, global = true, help_heading = "Global options")]
    pub no_color: bool,
    /// Settings in TOML: `[model]`, `[search]` and the weights of the arms
    #[arg(
        long,
        value_name = "FILE",
        global = true,
        env = "TOOLSCOUT_CONFIG",
        hide_env_values = true,
        help_heading = "Global options"
    )]
    pub config: Option<PathBuf>,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Set everything up and answer a dozen requests over the demo catalogue
    Demo(demo::Args),
    /// Make a catalogue from an MCP server, an OpenAPI document or a list of tools
    Import(import::Args),
    /// Build an index from a catalogue
    Index(index::Args),
    /// Check a file of business rules
    Rules(rules::Args),
    /// Ask which tools a request needs
    Search(Box<search::Args>),
    /// Answer over HTTP
    Serve(serve::Args),
    /// Say what a policy file comes to, and why a caller sees a tool or does not
    Policy(review::Args),
    /// Answer over the Model Context Protocol, on standard input and output
    Mcp(mcp::Args),
    /// Put tools into a registry, take them out, and say what was changed
    Registry(registry::Args),
    /// Copy a registry to a file, also while it is served
    Backup(maintain::BackupArgs),
    /// Make a registry from a backup
    Restore(maintain::RestoreArgs),
    /// Check that a registry is whole
    Verify(maintain::VerifyArgs),
    /// List, fetch or check embedding models
    Models(models::Args),
    /// Say what would make a catalogue easier to search
    Doctor(doctor::Args),
    /// Measure how good the search is, on labelled sets
    Eval(Box<eval::Args>),
}

/// Which model, and how it runs.
#[derive(Debug, Clone, Group)]
pub struct ModelArgs {
    /// Embedding model: a name of 'models list', a folder with model.onnx and tokenizer.json, or
    /// https://HOST/v1/embeddings#MODEL
    #[arg(
        long,
        value_name = "NAME",
        env = "TOOLSCOUT_MODEL",
        hide_env_values = true,
        help_heading = "Model"
    )]
    pub model: Option<String>,
    /// How it runs.
    #[command(flatten)]
    pub place: ModelPlace,
}

/// Where models are and how they run.
#[derive(Debug, Clone, Group)]
pub struct ModelPlace {
    /// Folder of models [default: ./models, or beside the program]
    #[arg(
        long,
        value_name = "DIR",
        env = "TOOLSCOUT_MODELS",
        hide_env_values = true,
        help_heading = "Model"
    )]
    pub models: Option<PathBuf>,
    /// Folder for what is fetched and unpacked [default: the user's cache folder]
    #[arg(
        long,
        value_name = "DIR",
        env = "TOOLSCOUT_CACHE",
        hide_env_values = true,
        help_heading = "Model"
    )]
    pub cache: Option<PathBuf>,
    /// Cores to use for embedding many texts [default: all]
    #[arg(
        long,
        value_name = "N",
        env = "TOOLSCOUT_THREADS",
        hide_env_values = true,
        help_heading = "Model"
    )]
    pub threads: Option<usize>,
    /// Fetch nothing: what is missing is an error
    #[arg(long, env = "TOOLSCOUT_OFFLINE", hide_env_values = true, help_heading = "Model", value_parser = clap::builder::FalseyValueParser::new())]
    pub offline: bool,
}
