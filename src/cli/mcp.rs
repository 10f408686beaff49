//! `toolscout mcp`: the same answers over the Model Context Protocol, for a client that starts the
//! program itself and talks to it over standard input and output.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args as Group;

use super::error::Error;
use super::principal::PrincipalArgs;
use super::serve::LogFormat;
use super::source::SourceArgs;
use super::{Context, Outcome, logging, policy, principal};
use crate::access::{Policy, Principal};
use crate::serve::auth::{Authentication, Keys};
use crate::serve::mcp::{self, Options};
use crate::serve::{App, Limits, Parts};

const EXAMPLES: &str = "\
Examples:
  toolscout mcp --index my-index --open
  toolscout mcp --index my-index --policy policy.toml --tenant acme --role support

  # Who asks is whom the key in TOOLSCOUT_KEY stands for.
  TOOLSCOUT_KEY=… toolscout mcp --index my-index --keys keys.toml --policy policy.toml

In a client's configuration:
  {\"mcpServers\": {\"toolscout\": {\"command\": \"toolscout\",
                                \"args\": [\"mcp\", \"--index\", \"my-index\", \"--open\"]}}}

The tools are discover_tools and describe_tool. The log goes to standard error; over HTTP,
'toolscout serve' answers the same at /mcp.";

/// Options of `toolscout mcp`.
#[derive(Debug, Group)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// What is searched.
    #[command(flatten)]
    pub source: SourceArgs,
    /// Who asks.
    #[command(flatten)]
    pub principal: PrincipalArgs,
    /// API keys: the one in the environment's TOOLSCOUT_KEY says who asks
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["open", "roles", "scopes", "environment"],
        help_heading = "Who asks"
    )]
    pub keys: Option<PathBuf>,
}

/// Serves one client until it closes standard input.
///
/// # Errors
/// [`Error`] where nobody is said to ask, index or model fail, or the client speaks something else.
pub fn run(args: &Args, context: &Context) -> Result<Outcome, Error> {
    let (policy, principal) = args.admission()?;
    logging::start(LogFormat::Text, "warn")?;
    let opened = args.source.open(context)?;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let app = App::new(Parts {
        index: opened.index,
        policy: Arc::new(policy),
        embedder: opened.embedder,
        config: context.settings.search.clone(),
        authentication: Authentication::Open(principal.clone()),
        limits: Limits::for_cores(cores),
        mcp: Options::default(),
    })
    .map_err(|mismatch| Error::Usage(mismatch.to_string()))?;
    let runtime = super::serve::threads()?;
    let (input, output) = (tokio::io::stdin(), tokio::io::stdout());
    let served = runtime.block_on(mcp::serve_stdio(app, principal, input, output));
    // A read of standard input that is under way cannot be called off.
    runtime.shutdown_background();
    served?;
    Ok(Outcome::Done)
}

impl Args {
    fn admission(&self) -> Result<(Policy, Principal), Error> {
        let Some(file) = &self.keys else {
            return self.principal.resolve();
        };
        let Some(rules) = principal::policy_path(self.principal.policy.as_deref()) else {
            let advice = "--keys says who asks; say what they may see by --policy FILE";
            return Err(Error::Usage(advice.to_owned()));
        };
        let key = std::env::var("TOOLSCOUT_KEY").unwrap_or_default();
        let known = Keys::read(file)?;
        let Some(principal) = known.principal(&key) else {
            let advice = "with --keys, TOOLSCOUT_KEY in the environment must hold one of the keys";
            return Err(Error::Usage(advice.to_owned()));
        };
        Ok((policy::read(&rules)?, principal.clone()))
    }
}
