//! `toolscout serve`: the same answers over HTTP.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args as Group, ValueEnum};
use serde_json::json;
use tokio::net::TcpListener;

use super::audit::AuditArgs;
use super::error::Error;
use super::live::Live;
use super::logging;
use super::principal::{USUAL_TENANT, open_policy, policy_path};
use super::registered::RegistryArgs;
use super::source::SourceArgs;
use super::watch::{Watch, Watched};
use super::{Context, Outcome, policy, rules};
use crate::access::{Policy, Principal};
use crate::rules::Rules;
use crate::serve::auth::{Authentication, Keys};
use crate::serve::{App, Limits, OpennessChanged, Parts, RunError};

const EXAMPLES: &str = "\
Examples:
  toolscout serve --index my-index --open
  curl -s localhost:8080/v1/discover -H 'content-type: application/json' \\
       -d '{\"query\": \"where is my parcel\", \"limit\": 5}'

  # Others may ask too: each API key stands for a tenant and roles, which the policy names.
  toolscout serve --index my-index --bind 0.0.0.0:8080 --keys keys.toml --policy policy.toml

  # Tools that change while they are served: by REST, from a folder, or by other programs.
  toolscout serve --registry tools.db --open --writable
  toolscout serve --registry tools.db --watch tools/ --keys keys.toml --policy policy.toml

  # What suits which moment, and a log of who asked for what.
  toolscout serve --index my-index --open --rules rules.toml --audit audit.jsonl --audit-key key

Ctrl-c or SIGTERM lets the requests under way end; a second one does not wait for them.
Keys, policy and rules are read again when they change; a file that cannot be used is told in the log, and
the old one stays.
The log goes to standard error: RUST_LOG=debug says more, RUST_LOG=warn less.";

/// Options of `toolscout serve`.
#[derive(Debug, Group)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// What is searched.
    #[command(flatten)]
    pub source: SourceArgs,
    /// The registry, where tools are to change.
    #[command(flatten)]
    pub registry: RegistryArgs,
    /// Address and port; port 0 takes a free one
    #[arg(
        long,
        value_name = "ADDR",
        default_value = "127.0.0.1:8080",
        env = "TOOLSCOUT_BIND",
        hide_env_values = true
    )]
    pub bind: SocketAddr,
    /// Ask nobody who they are, and show every tool; on this machine's own address only
    #[arg(long, conflicts_with_all = ["keys", "policy"], help_heading = "Who may ask")]
    pub open: bool,
    /// API keys: which stands for which tenant and roles [env: TOOLSCOUT_KEYS]
    #[arg(long, value_name = "FILE", help_heading = "Who may ask")]
    pub keys: Option<PathBuf>,
    /// Rules that say who may see which tools [env: TOOLSCOUT_POLICY]
    #[arg(long, value_name = "FILE", help_heading = "Who may ask")]
    pub policy: Option<PathBuf>,
    /// Business rules: what suits which moment [env: TOOLSCOUT_RULES]
    #[arg(long, value_name = "FILE", help_heading = "Rules")]
    pub rules: Option<PathBuf>,
    /// What is noted.
    #[command(flatten)]
    pub audit: AuditArgs,
    /// With --open: tenant of everybody who asks
    #[arg(long, value_name = "NAME", default_value = USUAL_TENANT, help_heading = "Who may ask")]
    pub tenant: String,
    /// How log lines look
    #[arg(
        long,
        value_name = "FORMAT",
        default_value = "text",
        env = "TOOLSCOUT_LOG_FORMAT",
        hide_env_values = true
    )]
    pub log_format: LogFormat,
}

/// How log lines look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}

/// Serves until it is told to stop.
///
/// # Errors
/// [`Error`] where nobody is said to be allowed to ask, the address is taken, or index or model
/// fail.
pub fn run(args: &Args, context: &Context) -> Result<Outcome, Error> {
    let Admission {
        authentication,
        policy,
        files,
    } = args.admission()?;
    if args.open && !args.bind.ip().is_loopback() {
        // The server would say so too, but only once the index is there.
        let address = args.bind;
        return Err(RunError::OpenToOthers { address }.into());
    }
    let rules = RulesFile::read(args.rules.as_deref())?;
    let audit = args.audit.start()?;
    logging::start(args.log_format, "info")?;
    let registered = args.registry.open(&args.source.model, context)?;
    let opened = match &registered {
        Some(registered) => registered.opened(),
        None => args.source.open(context)?,
    };
    let servers = &context.settings.servers;
    if registered.is_some() {
        servers.none_beside_a_registry()?;
    }
    let runtime = threads()?;
    let live = Live::begin(servers, &opened, &runtime)?;
    let index = live.as_ref().map_or(Ok(opened.index), Live::index)?;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let app = App::new(Parts {
        index,
        policy: Arc::new(policy),
        embedder: opened.embedder,
        config: context.settings.search.clone(),
        authentication,
        limits: Limits::for_cores(cores),
        mcp: servers.options(live.as_ref().map(|live| live.sources.clone())),
    })
    .map_err(|mismatch| Error::Usage(mismatch.to_string()))?;
    live.map_or(Ok(()), |live| live.keep(app.clone()))?;
    let mut watched = files.map_or_else(Vec::new, |files| files.watched(&app));
    watched.extend(rules.map(|rules| rules.follow(&app)));
    let served = registered
        .map(|registered| registered.serve(&app))
        .transpose()?;
    watched.extend(
        served
            .as_ref()
            .and_then(|served| args.registry.watched(served)),
    );
    let watch = Watch::start(watched)?;
    if let Some(audit) = &audit {
        app.keep_audit(audit.clone());
    }
    let ended = runtime.block_on(serve(args, app, context));
    if let Some(audit) = audit {
        audit.finish();
    }
    drop(watch);
    if let Some(served) = served {
        served.following.stop();
    }
    ended?;
    Ok(Outcome::Done)
}

/// Business rules and the file that they are in.
struct RulesFile {
    file: Watched,
    rules: Arc<Rules>,
}

impl RulesFile {
    fn read(typed: Option<&Path>) -> Result<Option<Self>, Error> {
        let Some(path) = rules::path(typed) else {
            return Ok(None);
        };
        Ok(Some(Self {
            file: Watched::new("rules file", &path),
            rules: Arc::new(rules::read(&path)?),
        }))
    }

    /// Puts the rules into force, and again whenever the file changes.
    fn follow(self, app: &App) -> Watched {
        app.publish_rules(self.rules);
        let app = app.clone();
        self.file.then(move |path| {
            app.publish_rules(Arc::new(rules::read(path)?));
            Ok(())
        })
    }
}

/// Threads for what a server does at once.
pub(super) fn threads() -> Result<tokio::runtime::Runtime, Error> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(system("start threads"))
}

/// Who may ask, and what they may see.
struct Admission {
    authentication: Authentication,
    policy: Policy,
    /// The files that say so; none where the command line does.
    files: Option<Files>,
}

struct Files {
    keys: Watched,
    policy: Watched,
}

impl Files {
    fn watched(self, app: &App) -> Vec<Watched> {
        let (app, same) = (app.clone(), app.clone());
        let keys = self.keys.then(move |path| {
            let keys = Authentication::Keys(Keys::read(path)?);
            let closed = |error: OpennessChanged| Error::Usage(error.to_string());
            app.publish_authentication(keys).map_err(closed)
        });
        let policy = self.policy.then(move |path| {
            same.publish_policy(Arc::new(policy::read(path)?));
            Ok(())
        });
        vec![keys, policy]
    }
}

impl Args {
    fn admission(&self) -> Result<Admission, Error> {
        if self.open {
            let everybody = Principal::of_tenant(self.tenant.clone());
            return Ok(Admission {
                authentication: Authentication::Open(everybody),
                policy: open_policy(),
                files: None,
            });
        }
        let variable = || std::env::var_os("TOOLSCOUT_KEYS").filter(|value| !value.is_empty());
        let keys = self.keys.clone().or_else(|| variable().map(PathBuf::from));
        match (keys, policy_path(self.policy.as_deref())) {
            (Some(keys), Some(rules)) => {
                let files = Files {
                    keys: Watched::new("API keys", &keys),
                    policy: Watched::new("policy file", &rules),
                };
                Ok(Admission {
                    authentication: Authentication::Keys(Keys::read(&keys)?),
                    policy: policy::read(&rules)?,
                    files: Some(files),
                })
            }
            (Some(_), None) => Err(Error::Usage(
                "--keys says who asks; say what they may see by --policy FILE".to_owned(),
            )),
            (None, Some(_)) => Err(Error::Usage(
                "--policy says what roles may see; say who has them by --keys FILE".to_owned(),
            )),
            (None, None) => Err(Error::Usage(
                "say who may ask: --open lets every program on this machine; \
                 --keys FILE with --policy FILE asks for an API key"
                    .to_owned(),
            )),
        }
    }
}

async fn serve(args: &Args, app: App, context: &Context) -> Result<(), Error> {
    let listener = TcpListener::bind(args.bind)
        .await
        .map_err(system(format!("listen on {}", args.bind)))?;
    let address = listener.local_addr().map_err(system("listen"))?;
    let stop = stop_signal()?;
    let url = format!("http://{address}");
    if context.output.is_json() {
        context.output.json(&json!({"listening": url}))?;
    } else {
        context.output.line(format_args!("listening on {url}"))?;
    }
    crate::serve::run(listener, app, stop).await?;
    Ok(())
}

/// Done at the first ctrl-c or SIGTERM; a second one ends the process at once.
#[cfg(unix)]
fn stop_signal() -> Result<impl Future<Output = ()> + Send, Error> {
    use tokio::signal::unix::{SignalKind, signal};

    let mut interrupt = signal(SignalKind::interrupt()).map_err(system("wait for ctrl-c"))?;
    let mut terminate = signal(SignalKind::terminate()).map_err(system("wait for SIGTERM"))?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
        tokio::spawn(async move {
            let code = tokio::select! {
                _ = interrupt.recv() => 130,
                _ = terminate.recv() => 143,
            };
            std::process::exit(code);
        });
    })
}

/// Done at ctrl-c.
#[cfg(not(unix))]
fn stop_signal() -> Result<impl Future<Output = ()> + Send, Error> {
    Ok(async {
        // Without a signal to wait for, the process ends when it is killed.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    })
}

fn system(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> Error {
    let what = what.into();
    |source| Error::System { what, source }
}
