//! `toolscout demo`: everything set up, and a dozen requests answered over the demo catalogue.
//!
//! The index is kept in the cache folder under a hash of the catalogue and the model, so that only
//! the first run builds it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args as Group;
use comfy_table::Row;
use serde_json::{Value, json};

use super::args::ModelArgs;
use super::error::Error;
use super::output::{Look, Output};
use super::principal::{USUAL_TENANT, open_policy};
use super::progress::Progress;
use super::source::{open_model, read_catalog};
use super::table::{
    SHADES, at_most, between, count, keep_width, pad, short_row, stacked, table, unbroken,
};
use super::{Context, Outcome};
use crate::access::Principal;
use crate::embed::{self, DEFAULT_MODEL, Embedder};
use crate::index::{Index, build, snapshot};
use crate::search::{self, Answer, Arm, Hit, Request, View};
use crate::serve::wire::{Detail, discover_response};

/// The catalogue, in a checkout of the project.
const CATALOG: &str = "data/demo";
/// Tools shown for each request.
const SHOWN: usize = 2;
/// Tools asked for.
const LIMIT: usize = 5;

/// What is asked, with what is special about each.
const REQUESTS: [(&str, &str); 13] = [
    ("东西啥时候到", "colloquial"),
    ("where is my parcel", "plain"),
    ("查一下我的快弟到那了", "misspelt"),
    ("屋里冻死了", "the wish is not said"),
    (
        "Give 20 euros of payment pay_991 back",
        "no return, no cancellation",
    ),
    ("客户说耳机有杂音，要寄回来换新", "but this is a return"),
    ("is checkout crawling again?", "slang"),
    ("帮我 review 一下 PR 482，没问题就 approve", "two languages"),
    ("Wann kommt mein Paket an?", "German"),
    ("荷物はいつ届きますか", "Japanese"),
    ("识别这张发票，然后提交报销", "needs two tools"),
    ("Merge PR 311 and deploy it to staging", "needs two tools"),
    ("Water the tomatoes on my balcony", "no tool does that"),
];

const EXAMPLES: &str = "\
Examples:
  toolscout demo
  toolscout demo --json | jq '.[] | {query, best: .answer.hits[0].tool}'";

/// Options of `toolscout demo`.
#[derive(Debug, Group)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The model.
    #[command(flatten)]
    pub model: ModelArgs,
}

/// Sets everything up and answers.
///
/// # Errors
/// [`Error`] where the catalogue is not there, or model or index fail.
pub fn run(args: &Args, context: &Context) -> Result<Outcome, Error> {
    let started = Instant::now();
    let ready = Ready::set_up(args, context)?;
    let set_up = started.elapsed();
    let principal = Principal::of_tenant(USUAL_TENANT);
    let permitted = open_policy().permit(&principal, ready.index.catalog.tools());
    let view = View::new(&ready.index, permitted);
    let started = Instant::now();
    let mut answers = Vec::with_capacity(REQUESTS.len());
    for (text, _) in REQUESTS {
        let request = Request {
            detail: search::Detail::Explained,
            ..Request::new(text, LIMIT)
        };
        let embedder = Some(&*ready.embedder);
        let config = &context.settings.search;
        answers.push(search::search(
            &ready.index,
            embedder,
            &view,
            &request,
            config,
        )?);
    }
    let searched = started.elapsed();
    let output = &context.output;
    if output.is_json() {
        output.json(&to_json(&ready.index, &view, &answers))?;
        return Ok(Outcome::Done);
    }
    ready.print(&view, set_up, output)?;
    output.line("")?;
    print_answers(&ready.index, &answers, output)?;
    print_closing(&ready, searched, output)?;
    Ok(Outcome::Done)
}

/// All that a search needs.
struct Ready {
    index: Arc<Index>,
    embedder: Arc<dyn Embedder>,
    folder: PathBuf,
    built: Built,
}

/// Whether the index was built in this run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Built {
    Now,
    Before,
}

impl Ready {
    fn set_up(args: &Args, context: &Context) -> Result<Self, Error> {
        let catalog = catalog_folder()?;
        let progress = Progress::new(&context.output);
        let name = context.settings.model_name(&args.model);
        let name = name.unwrap_or_else(|| DEFAULT_MODEL.to_owned());
        let embedder = open_model(&name, &args.model, context, &progress)?;
        let options = context.settings.embed_options(&args.model.place);
        let key = content_key(&catalog, embedder.model_id())?;
        let folder = embed::cache_folder(&options)?.join("demo").join(key);
        // Whatever is wrong with a kept index, building it again mends it.
        if let Ok(index) = snapshot::load(&folder, Some(embedder.model_id())) {
            return Ok(Self {
                index: Arc::new(index),
                embedder,
                folder,
                built: Built::Before,
            });
        }
        let catalog = Arc::new(read_catalog(&catalog)?.into_catalog());
        let index = build::build(catalog, &*embedder, &|reached| progress.build(reached))?;
        progress.clear();
        snapshot::save(&index, &folder)?;
        Ok(Self {
            index: Arc::new(index),
            embedder,
            folder,
            built: Built::Now,
        })
    }

    fn print(&self, view: &View, took: Duration, output: &Output) -> Result<(), Error> {
        let catalog = &self.index.catalog;
        let headline = format!(
            "{} in {}, searched by {}",
            count(catalog.len(), "tool"),
            count(catalog.namespaces().len(), "namespace"),
            self.index.model_id.split('@').next().unwrap_or_default(),
        );
        output.line(output.paint(Look::Strong, headline))?;
        let how = match self.built {
            Built::Now => "set up and indexed",
            Built::Before => "ready, from the index of an earlier run,",
        };
        let seconds = took.as_secs_f64();
        output.line(output.paint(Look::Faint, format!("{how} in {seconds:.1} s")))?;
        let open = format!(
            "open policy: {} of them are visible to everybody; the rest belong to other tenants",
            view.permitted.len()
        );
        output.line(output.paint(Look::Faint, open))
    }
}

fn catalog_folder() -> Result<PathBuf, Error> {
    let places = [
        PathBuf::from(CATALOG),
        Path::new(env!("CARGO_MANIFEST_DIR")).join(CATALOG),
    ];
    let found = places.iter().find(|place| place.is_dir()).cloned();
    found.ok_or_else(|| {
        let advice =
            format!("the demo catalogue is not here: start it in a checkout, where {CATALOG} is");
        Error::Usage(advice)
    })
}

/// Hash of every file of the catalogue, and of the model.
fn content_key(catalog: &Path, model: &str) -> Result<String, Error> {
    let mut hasher = blake3::Hasher::new();
    hasher.update(model.as_bytes());
    let tools = catalog.join("tools");
    let io = |source| Error::System {
        what: format!("read {}", tools.display()),
        source,
    };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(&tools).map_err(io)? {
        files.push(entry.map_err(io)?.path());
    }
    files.sort_unstable();
    for file in files {
        let bytes = std::fs::read(&file).map_err(io)?;
        let name = file.file_name().unwrap_or_default().as_encoded_bytes();
        for part in [name, &bytes] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
    }
    Ok(hasher.finalize().to_hex()[..16].to_owned())
}

fn print_answers(index: &Index, answers: &[Answer], output: &Output) -> Result<(), Error> {
    let mut shown = table(output, &["request", "tools", "score", "by", "sure"]);
    for ((text, remark), answer) in REQUESTS.iter().zip(answers) {
        for row in rows((text, remark), answer, index) {
            shown.add_row(row);
        }
    }
    pad(&mut shown);
    at_most(&mut shown, 0, 34);
    // Nearly every key of the catalogue fits.
    between(&mut shown, 1, 28, 40);
    for column in 2..5 {
        keep_width(&mut shown, column);
    }
    output.table(&shown)?;
    output.line("")?;
    let legend = Arm::ALL.into_iter().zip(SHADES);
    let legend: Vec<String> = legend
        .map(|(arm, shade)| format!("{shade} {}", arm.as_str()))
        .collect();
    let legend = format!(
        "by: {}; sure: confidence that the first tool fits",
        legend.join("  ")
    );
    output.line(output.paint(Look::Faint, legend))
}

/// What each arm put into the score.
fn shares(hit: &Hit) -> [f32; 4] {
    let scores = hit.explanation.iter().flat_map(|why| &why.arms);
    let mut shares = [0.0; 4];
    for score in scores {
        if let Some(at) = Arm::ALL.iter().position(|arm| *arm == score.arm) {
            shares[at] = score.contribution;
        }
    }
    shares
}

/// A line for each tool shown; the request stands on the first, what it shows on the second.
fn rows((text, remark): (&str, &str), answer: &Answer, index: &Index) -> Vec<Row> {
    let sure = format!("{:.2}", answer.confidence);
    let remark = format!("  {remark}");
    if answer.hits.is_empty() {
        let near = answer.no_match.iter().flat_map(|why| &why.near).next();
        let near = near.map_or_else(String::new, |id| {
            format!("(nearest: {})", index.catalog.tool(*id).key)
        });
        return vec![
            short_row([text, "— nothing fits", "", "", &sure].map(unbroken)),
            short_row([&remark, &near, "", "", ""].map(unbroken)),
        ];
    }
    let hits = answer.hits.iter().take(SHOWN).enumerate();
    hits.map(|(at, hit)| {
        let (left, right) = if at == 0 {
            (text, &*sure)
        } else {
            (&*remark, "")
        };
        let key = &index.catalog.tool(hit.tool).key;
        let score = format!("{:.2}", hit.score);
        short_row([left, key, &score, &stacked(shares(hit)), right].map(unbroken))
    })
    .collect()
}

fn print_closing(ready: &Ready, searched: Duration, output: &Output) -> Result<(), Error> {
    let each = searched.as_secs_f64() * 1e3 / REQUESTS.len() as f64;
    let timing = format!(
        "{} answered, {each:.1} ms each",
        count(REQUESTS.len(), "request")
    );
    output.line(output.paint(Look::Faint, timing))?;
    let program = std::env::args()
        .next()
        .unwrap_or_else(|| "toolscout".to_owned());
    let folder = ready.folder.display();
    output.line("")?;
    output.line(output.paint(Look::Strong, "Next:"))?;
    for line in [
        format!("  {program} search --index {folder} --open --explain 东西啥时候到"),
        format!("  {program} serve --index {folder} --open"),
        format!("  {program} doctor --catalog {CATALOG}"),
        format!("  {program} index --catalog YOUR-TOOLS.jsonl --out my-index"),
    ] {
        output.line(line)?;
    }
    Ok(())
}

fn to_json(index: &Index, view: &View, answers: &[Answer]) -> Value {
    REQUESTS
        .iter()
        .zip(answers)
        .map(|((text, _), answer)| {
            let answer = discover_response(index, view, answer, Detail::Name);
            json!({"query": text, "answer": answer})
        })
        .collect()
}
