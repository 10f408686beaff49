//! The queries that went worst, and why: what was wanted, what came instead, and which arm did it.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::round;
use crate::eval::Error;
use crate::eval::bench::Bench;
use crate::eval::metric::ranking;
use crate::eval::run::{DEPTH, Run, System};
use crate::search::{Answer, Arm, Config, Detail, Explanation, Request};
use crate::tool::ToolId;

/// Hits shown of each failure.
const SHOWN: usize = 3;
/// Words shown of each tool.
const WORDS: usize = 5;
/// Characters shown of a request.
const CLIP: usize = 300;

/// A query that went wrong.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    /// Its id.
    pub id: String,
    /// The request, clipped.
    pub text: String,
    /// Its nDCG@10.
    pub ndcg: f64,
    /// Confidence in the best tool.
    pub confidence: f64,
    /// What made the difference, in a sentence.
    pub reason: String,
    /// What the catalogue's owner could do about it.
    pub remedy: String,
    /// The best-placed acceptable tool of each need.
    pub wanted: Vec<Seen>,
    /// The best tools.
    pub got: Vec<Seen>,
}

/// A tool as the search saw it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Seen {
    /// Its key.
    pub tool: String,
    /// Its rank, from 1; none beyond what was looked at.
    pub rank: Option<usize>,
    /// Its score.
    pub score: f64,
    /// What each arm gave of it, in words and numbers.
    pub arms: Vec<(String, f64)>,
    /// Words it shares with the request, heaviest first.
    pub words: Vec<String>,
}

/// The `count` worst queries of a run, worst first: the lowest nDCG@10, and of equals those that
/// the search was surest of.
///
/// # Errors
/// [`Error::Search`] where asking again fails.
pub fn worst(
    bench: &Bench<'_>,
    run: &Run,
    config: &Config,
    count: usize,
) -> Result<Vec<Failure>, Error> {
    let rankings = &run.rankings[&System::Fused];
    let mut judged: Vec<(f64, usize)> = bench
        .dataset
        .queries
        .iter()
        .zip(rankings)
        .map(|(labelled, found)| ranking::ndcg(&ranking::ranks(found, &labelled.needs), 10))
        .zip(0..)
        .filter(|(ndcg, _)| *ndcg < 1.0)
        .collect();
    judged.sort_by(|a, b| {
        let surer = run.confidence[b.1].total_cmp(&run.confidence[a.1]);
        a.0.total_cmp(&b.0).then(surer).then(a.1.cmp(&b.1))
    });
    judged.truncate(count);
    judged
        .into_iter()
        .map(|(ndcg, query)| explain(bench, config, query, ndcg))
        .collect()
}

fn explain(bench: &Bench<'_>, config: &Config, query: usize, ndcg: f64) -> Result<Failure, Error> {
    let labelled = &bench.dataset.queries[query];
    let mut request = Request::new(labelled.query.text.clone(), DEPTH);
    request.detail = Detail::Explained;
    let answer = bench.ask((&labelled.query.id, request), &bench.view, config)?;
    let place = |need: &Vec<ToolId>| answer.hits.iter().position(|hit| need.contains(&hit.tool));
    let wanted: Vec<(ToolId, Option<usize>)> = labelled
        .needs
        .iter()
        .map(|need| match place(need) {
            Some(at) => (answer.hits[at].tool, Some(at)),
            None => (need[0], None),
        })
        .collect();
    let missed = wanted.iter().max_by_key(|(_, at)| at.unwrap_or(usize::MAX));
    let (reason, remedy) = missed.map_or_else(Default::default, |(tool, at)| {
        reason(bench, &answer, *tool, *at)
    });
    Ok(Failure {
        id: labelled.query.id.clone(),
        text: clip(&labelled.query.text),
        ndcg: round(ndcg),
        confidence: round(f64::from(answer.confidence)),
        reason,
        remedy: remedy.to_owned(),
        wanted: wanted
            .iter()
            .map(|(tool, at)| see(bench, &answer, *tool, *at))
            .collect(),
        got: (0..answer.hits.len().min(SHOWN))
            .map(|at| see(bench, &answer, answer.hits[at].tool, Some(at)))
            .collect(),
    })
}

const TELL_APART: &str =
    "say in use_when and avoid_when how the two differ, or list them in equiv.tsv";
const OWN_WORDS: &str = "a use_when line or an example in the words of such requests";
const AVOID: &str = "an avoid_when line on the other tool, and a use_when line on this one";

/// What placed the best tool before the wanted one, and what could be done about it.
fn reason(
    bench: &Bench<'_>,
    answer: &Answer,
    tool: ToolId,
    at: Option<usize>,
) -> (String, &'static str) {
    let Some(first) = answer.hits.first() else {
        return ("no tool was a candidate".to_owned(), OWN_WORDS);
    };
    if bench.dataset.equivalents[tool.index()].contains(&first.tool) {
        return ("a near-duplicate came first".to_owned(), TELL_APART);
    }
    if answer.hits.iter().any(|hit| hit.variants.contains(&tool)) {
        let reason = "folded into a near-duplicate as its variant";
        return (reason.to_owned(), TELL_APART);
    }
    let Some(at) = at else {
        let reason = format!("not among the best {DEPTH}: neither words nor meaning are near");
        return (reason, OWN_WORDS);
    };
    let (Some(ours), Some(theirs)) = (&answer.hits[at].explanation, &first.explanation) else {
        return Default::default();
    };
    let lead = |arm: Arm| contribution(theirs, arm) - contribution(ours, arm);
    let decisive = Arm::ALL
        .into_iter()
        .max_by(|a, b| lead(*a).total_cmp(&lead(*b)));
    let reason = match decisive {
        _ if at == 0 => "the wanted tool of another need is missing further down".to_owned(),
        Some(arm) if 0.0 < lead(arm) => format!(
            "the {} arm prefers another tool, by {:.3} of the {:.3} between them",
            arm.as_str(),
            lead(arm),
            theirs.total - ours.total
        ),
        _ => "no arm prefers the other tool: bonus or penalty decided".to_owned(),
    };
    let strange = ours.terms.is_empty();
    (reason, if strange { OWN_WORDS } else { AVOID })
}

fn contribution(explanation: &Explanation, arm: Arm) -> f32 {
    let mut arms = explanation.arms.iter().filter(|score| score.arm == arm);
    arms.next().map_or(0.0, |score| score.contribution)
}

fn see(bench: &Bench<'_>, answer: &Answer, tool: ToolId, at: Option<usize>) -> Seen {
    let hit = at.map(|at| &answer.hits[at]);
    let explanation = hit.and_then(|hit| hit.explanation.as_ref());
    let arms = explanation.map_or_else(Vec::new, |explanation| {
        let mut arms: Vec<(String, f64)> = explanation
            .arms
            .iter()
            .map(|score| (score.arm.as_str().to_owned(), round(f64::from(score.value))))
            .collect();
        for (name, value) in [
            ("covered", explanation.covered),
            ("avoided", explanation.avoided),
        ] {
            if value != 0.0 {
                arms.push((name.to_owned(), round(f64::from(value))));
            }
        }
        arms
    });
    let terms = explanation
        .into_iter()
        .flat_map(|explanation| &explanation.terms);
    Seen {
        tool: bench.dataset.catalog.tool(tool).key.clone(),
        rank: at.map(|at| at + 1),
        score: round(f64::from(hit.map_or(0.0, |hit| hit.score))),
        arms,
        words: terms.take(WORDS).map(|term| term.term.clone()).collect(),
    }
}

fn clip(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(CLIP) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{}  nDCG@10 {:.3}  confidence {:.2}  {}",
            self.id, self.ndcg, self.confidence, self.text
        )?;
        writeln!(f, "  why     {}", self.reason)?;
        writeln!(f, "  mend    {}", self.remedy)?;
        for (word, tools) in [("wanted", &self.wanted), ("got", &self.got)] {
            for seen in tools {
                writeln!(f, "  {word:<7} {seen}")?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.rank {
            Some(rank) => write!(f, "{rank:>3}. {} {:.3} =", self.tool, self.score)?,
            None => write!(f, "  -. {}", self.tool)?,
        }
        for (arm, value) in &self.arms {
            write!(f, " {arm} {value:.2}")?;
        }
        if !self.words.is_empty() {
            write!(f, " [{}]", self.words.join(", "))?;
        }
        Ok(())
    }
}
