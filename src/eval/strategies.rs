//! Ways of giving tools to a model, compared: what each costs in prompt tokens, and what it finds.
//!
//! Every query gets a catalogue of its own of a given size: what serves it, and a random draw of the
//! rest, the same draw for every query and nested from size to size. It is a permitted set over one
//! index, which answers as if the rest did not exist. Tokens are those of the definitions as callers
//! get them, by the o200k tokenizer.
//!
//! No model is asked: a strategy is judged by what it puts before the model. All tools in the prompt
//! therefore have recall 1 here by construction, which says nothing of how well a model chooses among
//! 2,000 of them.

pub mod advice;
pub mod plot;

use rayon::prelude::*;
use serde::Serialize;

use super::bench::Bench;
use super::dataset::Labelled;
use super::metric::ranking;
use super::random::Random;
use super::report::sheet::{Sheet, cell};
use super::run::each;
use super::{Error, Progress};
use crate::catalog::tokens::{self, Tokens};
use crate::search::parts::parts;
use crate::search::{Config, Request, View};
use crate::tool::ToolId;

pub use advice::{Advice, Strategy, advice};

/// Catalogue sizes that are compared.
pub const SIZES: [usize; 6] = [35, 100, 200, 400, 1000, 2375];
/// Tools that the one-shot prefilter puts into the prompt.
pub const PREFILTERED: usize = 10;
/// Tools that each search of active discovery loads.
pub const LOADED: usize = 3;
/// The same draw every time.
const SEED: u64 = 2375;
/// Text of the tool that an agent with active discovery has instead of a catalogue.
const DISCOVER: &str = r#"{"description":"Finds tools for a task. Describe one step in a sentence; call again for the next step.","input_schema":{"properties":{"query":{"type":"string"}},"required":["query"],"type":"object"},"name":"discover_tools"}"#;

/// One strategy at one catalogue size, over all queries.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cell {
    /// The strategy.
    pub strategy: Strategy,
    /// Tools of the catalogue.
    pub tools: usize,
    /// Queries.
    pub queries: usize,
    /// Needs whose tool is before the model, of all needs.
    pub recall: f64,
    /// Queries whose every need is.
    pub complete: f64,
    /// Queries of n needs whose first n tools are exactly the ones needed; none where the strategy
    /// puts the tools in no order.
    pub exact: Option<f64>,
    /// Tokens of the prompt, mean.
    pub tokens: f64,
    /// Tokens of the prompt that 19 of 20 queries stay under.
    pub tokens_95: usize,
    /// Definitions in the prompt, mean.
    pub shown: f64,
    /// Searches, mean.
    pub searches: f64,
}

/// What a strategy did for one query.
struct Served {
    /// Tools before the model, best first where the strategy has an order.
    tools: Vec<ToolId>,
    tokens: usize,
    searches: usize,
}

/// Compares the strategies at each of `sizes` that the catalogue reaches, smallest first.
///
/// # Errors
/// [`Error::Search`] where a search fails.
pub fn compare(
    bench: &Bench<'_>,
    config: &Config,
    sizes: &[usize],
    progress: &(dyn Fn(Progress<'_>) + Sync),
) -> Result<Vec<Cell>, Error> {
    let tokens = Tokens::count(bench.dataset.catalog.tools());
    let mut draw: Vec<ToolId> = bench.view.permitted.iter().collect();
    Random::new(SEED).shuffle(&mut draw);
    let mut sizes: Vec<usize> = sizes.iter().map(|size| (*size).min(draw.len())).collect();
    sizes.sort_unstable();
    sizes.dedup();

    let mut cells = Vec::new();
    for size in sizes {
        let step = format!("{}: {size} tools", bench.dataset.name);
        let served = each(&bench.dataset.queries, (&step, progress), |labelled| {
            let view = catalogue_of(bench, labelled, &draw, size);
            Ok([
                all(&view, &tokens),
                prefilter(bench, labelled, (&view, config), &tokens)?,
                active(bench, labelled, (&view, config), &tokens)?,
            ])
        })?;
        for (at, strategy) in [Strategy::All, Strategy::Prefilter, Strategy::Active]
            .into_iter()
            .enumerate()
        {
            let served: Vec<&Served> = served.iter().map(|query| &query[at]).collect();
            cells.push(summarise(strategy, size, &bench.dataset.queries, &served));
        }
    }
    Ok(cells)
}

/// A catalogue of `size` tools that can serve the query.
fn catalogue_of(bench: &Bench<'_>, labelled: &Labelled, draw: &[ToolId], size: usize) -> View {
    let mut chosen: Vec<ToolId> = labelled.needs.concat();
    chosen.sort_unstable();
    chosen.dedup();
    let room = size.saturating_sub(chosen.len());
    let others: Vec<ToolId> = draw
        .iter()
        .filter(|tool| !chosen.contains(tool))
        .take(room)
        .copied()
        .collect();
    chosen.extend(others);
    chosen.sort_unstable();
    let permitted = &bench.view.permitted;
    let permitted = permitted.narrow(|tool| chosen.binary_search(&tool).is_ok());
    View::new(&bench.index, permitted)
}

fn all(view: &View, tokens: &Tokens) -> Served {
    let tools: Vec<ToolId> = view.permitted.iter().collect();
    Served {
        tokens: tokens.of(&tools),
        tools,
        searches: 0,
    }
}

fn prefilter(
    bench: &Bench<'_>,
    labelled: &Labelled,
    place: (&View, &Config),
    tokens: &Tokens,
) -> Result<Served, Error> {
    let id = &labelled.query.id;
    let tools = find(bench, (id, &labelled.query.text), place, PREFILTERED)?;
    Ok(Served {
        tokens: tokens.of(&tools),
        tools,
        searches: 1,
    })
}

/// One search for each step of the request, or one for all of it where it has one step. The tools
/// come in turn: the best of each step, then the second of each.
fn active(
    bench: &Bench<'_>,
    labelled: &Labelled,
    place: (&View, &Config),
    tokens: &Tokens,
) -> Result<Served, Error> {
    let mut steps = parts(&labelled.query.text);
    if steps.is_empty() {
        steps.push(labelled.query.text.clone());
    }
    let lists = steps
        .iter()
        .map(|step| find(bench, (&labelled.query.id, step), place, LOADED))
        .collect::<Result<Vec<_>, _>>()?;
    let mut loaded: Vec<ToolId> = Vec::new();
    for rank in 0..LOADED {
        for tool in lists.iter().filter_map(|list| list.get(rank)) {
            if !loaded.contains(tool) {
                loaded.push(*tool);
            }
        }
    }
    let asked: usize = steps.iter().map(|step| tokens::of_text(step)).sum();
    Ok(Served {
        tokens: tokens::of_text(DISCOVER) + asked + tokens.of(&loaded),
        tools: loaded,
        searches: steps.len(),
    })
}

fn find(
    bench: &Bench<'_>,
    (id, text): (&str, &str),
    (view, config): (&View, &Config),
    limit: usize,
) -> Result<Vec<ToolId>, Error> {
    let answer = bench.ask((id, Request::new(text, limit)), view, config)?;
    Ok(answer.hits.iter().map(|hit| hit.tool).collect())
}

fn summarise(strategy: Strategy, tools: usize, queries: &[Labelled], served: &[&Served]) -> Cell {
    let judged: Vec<(f64, f64, f64)> = queries
        .par_iter()
        .zip(served)
        .map(|(labelled, served)| {
            let ranks = ranking::ranks(&served.tools, &labelled.needs);
            let depth = served.tools.len();
            (
                ranking::recall(&ranks, depth),
                ranking::complete(&ranks, depth),
                ranking::complete(&ranks, labelled.needs.len()),
            )
        })
        .collect();
    let count = queries.len().max(1) as f64;
    let mean = |of: &dyn Fn(usize) -> f64| (0..queries.len()).map(of).sum::<f64>() / count;
    let mut tokens: Vec<usize> = served.iter().map(|served| served.tokens).collect();
    tokens.sort_unstable();
    Cell {
        strategy,
        tools,
        queries: queries.len(),
        recall: mean(&|at| judged[at].0),
        complete: mean(&|at| judged[at].1),
        exact: (strategy != Strategy::All).then(|| mean(&|at| judged[at].2)),
        tokens: mean(&|at| served[at].tokens as f64),
        tokens_95: tokens.get(tokens.len() * 19 / 20).copied().unwrap_or(0),
        shown: mean(&|at| served[at].tools.len() as f64),
        searches: mean(&|at| served[at].searches as f64),
    }
}

/// The comparison as a table.
pub fn table(name: &str, cells: &[Cell]) -> Sheet {
    let title = format!(
        "{name}: what stands before the model (prefilter: the best {PREFILTERED}; active: the best \
         {LOADED} for each step)"
    );
    let header = [
        "strategy",
        "tools",
        "recall",
        "complete",
        "exact set",
        "tokens",
        "95 % under",
        "shown",
        "searches",
    ];
    let mut sheet = Sheet::new(title, &header, 1);
    for at in cells {
        sheet.rows.push(vec![
            at.strategy.as_str().to_owned(),
            at.tools.to_string(),
            cell(Some(at.recall)),
            cell(Some(at.complete)),
            cell(at.exact),
            format!("{:.0}", at.tokens),
            at.tokens_95.to_string(),
            format!("{:.1}", at.shown),
            format!("{:.1}", at.searches),
        ]);
    }
    sheet
}
