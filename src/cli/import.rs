//! `toolscout import`: definitions in the shapes of others, once, to a catalogue of ours.

use std::collections::HashSet;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Args as Group, ValueEnum};
use serde_json::{Value, json};

use super::error::Error;
use super::output::{Look, Output};
use super::problems::{self, Extent};
use super::table::count;
use super::{Context, Outcome};
use crate::catalog::import::{self, Format};
use crate::catalog::read::{self, Reading, Severity};
use crate::source::{self, Bounds, Endpoint, Missing, Source};

const EXAMPLES: &str = "\
Examples:
  toolscout import --out time.jsonl --namespace time --mcp-stdio uvx mcp-server-time
  toolscout import --out crm.jsonl --namespace crm --mcp-url https://crm.example.com/mcp \\
                   --header 'authorization: Bearer ${CRM_TOKEN}'
  toolscout import --out tools.jsonl --file openai-tools.json
  toolscout import --out pets.jsonl --file openapi.yaml
  toolscout index --catalog time.jsonl --out my-index

--mcp-stdio takes the rest of the line: the program and its arguments. The program gets a plain
environment; --env NAME=VALUE adds to it. ${NAME} in a header or --env is taken from the
environment of this command, so that no secret is typed or written down.
A tool that cannot be used is left out and told with its reason, and the exit code is 3.";

/// Options of `toolscout import`.
#[derive(Debug, Group)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Where from.
    #[command(flatten)]
    pub from: From,
    /// File of JSON Lines to write
    #[arg(long, value_name = "PATH")]
    pub out: PathBuf,
    /// Namespace of the tools that name none [default: that of the document or server]
    #[arg(long, value_name = "NAME")]
    pub namespace: Option<String>,
    /// What the file is, where that is not to be guessed
    #[arg(long, value_name = "FORMAT", requires = "file")]
    pub format: Option<FormatWord>,
    /// Header for --mcp-url, 'NAME: VALUE' (repeatable)
    #[arg(long = "header", value_name = "HEADER", requires = "mcp_url")]
    pub headers: Vec<String>,
    /// Variable for --mcp-stdio, NAME=VALUE (repeatable)
    #[arg(long = "env", value_name = "NAME=VALUE", requires = "mcp_stdio")]
    pub env: Vec<String>,
    /// List every problem
    #[arg(short, long)]
    pub verbose: bool,
}

/// Where definitions come from: one of the three.
#[derive(Debug, Group)]
#[group(required = true, multiple = false)]
pub struct From {
    /// JSON or YAML: an OpenAPI 3 document, or a list of tools as MCP, OpenAI or Anthropic have it
    #[arg(long, value_name = "PATH")]
    pub file: Option<PathBuf>,
    /// URL of an MCP server (streamable HTTP)
    #[arg(long, value_name = "URL")]
    pub mcp_url: Option<String>,
    /// Program and arguments of an MCP server on standard input and output; must come last
    #[arg(long, value_name = "CMD", num_args = 1.., allow_hyphen_values = true)]
    pub mcp_stdio: Vec<String>,
}

/// A shape that definitions come in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FormatWord {
    /// An answer to tools/list.
    Mcp,
    /// Functions of Chat Completions or Responses.
    Openai,
    /// Tools of Messages.
    Anthropic,
    /// An OpenAPI document of version 3.
    Openapi,
}

impl std::convert::From<FormatWord> for Format {
    fn from(word: FormatWord) -> Self {
        match word {
            FormatWord::Mcp => Self::Mcp,
            FormatWord::Openai => Self::OpenAi,
            FormatWord::Anthropic => Self::Anthropic,
            FormatWord::Openapi => Self::OpenApi,
        }
    }
}

/// Reads, checks and writes.
///
/// # Errors
/// [`Error`] where the document or server cannot be read, gives no good tool, or the file cannot be
/// written.
pub fn run(args: &Args, context: &Context) -> Result<Outcome, Error> {
    let (place, records) = match (&args.from.file, &args.from.mcp_url) {
        (Some(file), _) => (file.clone(), from_file(file, args)?),
        (None, url) => {
            let endpoint = match url {
                Some(url) => url_endpoint(url, &args.headers)?,
                None => command_endpoint(&args.from.mcp_stdio, &args.env)?,
            };
            from_server(endpoint, args.namespace.as_deref())?
        }
    };
    let reading = read::records(&place, records.iter().cloned());
    if reading.tools.is_empty() {
        let first = reading.problems.first().map(ToString::to_string);
        return Err(Error::NoTools {
            path: place,
            problem: first.unwrap_or_else(|| "it is empty".to_owned()),
        });
    }
    write(&args.out, &records, &reading)?;
    tell(args, &reading, &context.output)?;
    Ok(if reading.rejected() > 0 {
        Outcome::Incomplete
    } else {
        Outcome::Done
    })
}

fn from_file(file: &Path, args: &Args) -> Result<Vec<Value>, Error> {
    let read = |source| Error::Read {
        what: "document",
        path: file.to_owned(),
        source,
    };
    let fault = |source| Error::Import {
        path: file.to_owned(),
        source,
    };
    let length = std::fs::metadata(file).map_err(read)?.len();
    if length > import::MAX_BYTES as u64 {
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        return Err(fault(import::Error::TooLarge(length)));
    }
    let text = std::fs::read_to_string(file).map_err(read)?;
    let document = import::document(&text).map_err(fault)?;
    let namespace = args.namespace.as_deref().unwrap_or_default();
    import::records(&document, args.format.map(Into::into), namespace).map_err(fault)
}

/// The records of a server, and what it is called.
fn from_server(
    endpoint: Endpoint,
    namespace: Option<&str>,
) -> Result<(PathBuf, Vec<Value>), Error> {
    let name = match (&endpoint, namespace) {
        (_, Some(name)) => name.to_owned(),
        (Endpoint::Command { program, .. }, None) => {
            let file = Path::new(program).file_stem().unwrap_or_default();
            file.to_string_lossy().into_owned()
        }
        (Endpoint::Url { url, .. }, None) => {
            let rest = url.split_once("://").map_or(url.as_str(), |(_, rest)| rest);
            let host = rest.split(['/', ':', '?']).next();
            host.unwrap_or_default().to_owned()
        }
    };
    let source = Source {
        name: name.clone(),
        endpoint,
        poll: std::time::Duration::MAX,
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|source| Error::System {
            what: "start threads".to_owned(),
            source,
        })?;
    let fetched = runtime.block_on(source::fetch(&source, &Bounds::default()));
    runtime.shutdown_background();
    match fetched {
        Ok(listing) => Ok((PathBuf::from(name), listing.records)),
        Err(error) => Err(Error::Source { name, error }),
    }
}

/// A server by URL, its headers typed as `NAME: VALUE`.
pub(super) fn url_endpoint(url: &str, headers: &[String]) -> Result<Endpoint, Error> {
    let header = |text: &String| {
        let (name, value) = text
            .split_once(':')
            .ok_or_else(|| Error::Usage("--header must be 'NAME: VALUE'".to_owned()))?;
        Ok((name.trim().to_owned(), expand(value.trim())?))
    };
    Ok(Endpoint::Url {
        url: url.to_owned(),
        headers: headers.iter().map(header).collect::<Result<_, Error>>()?,
    })
}

/// A server by program, its variables typed as `NAME=VALUE`.
pub(super) fn command_endpoint(command: &[String], env: &[String]) -> Result<Endpoint, Error> {
    let variable = |text: &String| {
        let (name, value) = text
            .split_once('=')
            .filter(|(name, _)| !name.is_empty())
            .ok_or_else(|| Error::Usage("--env must be NAME=VALUE".to_owned()))?;
        Ok((name.to_owned(), expand(value)?))
    };
    let (program, args) = command
        .split_first()
        .ok_or_else(|| Error::Usage("--mcp-stdio needs the program to run".to_owned()))?;
    Ok(Endpoint::Command {
        program: program.clone(),
        args: args.to_vec(),
        env: env.iter().map(variable).collect::<Result<_, Error>>()?,
    })
}

/// The text with `${NAME}` taken from the environment.
pub(super) fn expand(text: &str) -> Result<String, Error> {
    source::expand(text, |name| std::env::var(name).ok())
        .map_err(|missing: Missing| Error::Usage(missing.to_string()))
}

/// Writes the records whose tools are good, each on a line.
fn write(out: &Path, records: &[Value], reading: &Reading) -> Result<(), Error> {
    let rejected: HashSet<usize> = reading
        .problems
        .iter()
        .filter(|problem| problem.severity == Severity::Error)
        .map(|problem| problem.line)
        .collect();
    let system = |source| Error::System {
        what: format!("write {}", out.display()),
        source,
    };
    let file = std::fs::File::create(out).map_err(system)?;
    let mut file = std::io::BufWriter::new(file);
    for (at, record) in records.iter().enumerate() {
        if !rejected.contains(&(at + 1)) {
            writeln!(file, "{record}").map_err(system)?;
        }
    }
    file.flush().map_err(system)
}

fn tell(args: &Args, reading: &Reading, output: &Output) -> Result<(), Error> {
    if output.is_json() {
        return output.json(&json!({
            "path": args.out.display().to_string(),
            "tools": reading.tools.len(),
            "rejected": reading.rejected(),
            "warnings": reading.problems.len() - reading.rejected(),
            "problems": problems::json(&reading.problems),
        }));
    }
    let tools = count(reading.tools.len(), "tool");
    let headline = format!("{tools} imported into {}", args.out.display());
    output.line(output.paint(Look::Strong, headline))?;
    if let Some(summary) = problems::summary(reading) {
        output.line(format_args!("  problems  {summary}"))?;
        output.line("")?;
        let extent = if args.verbose {
            Extent::All
        } else {
            Extent::Some
        };
        problems::print(&reading.problems, extent, output)?;
    }
    Ok(())
}
