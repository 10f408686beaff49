//! What words and vectors say of the permitted tools, for each unit of a request.
//!
//! A question is one thing asked for. It is searched whole and by its parts; whole and parts are
//! units, embedded in one batch.

use std::collections::BTreeSet;
use std::ops::Range;

use super::Error;
use super::config::Config;
use super::parse::Parsed;
use super::parts::{parts, without_values};
use super::request::Request;
use super::terms::{Role, Terms, terms};
use super::view::View;
use crate::access::Permitted;
use crate::embed::{Embedder, Side, Vectors};
use crate::index::Index;
use crate::index::dense::{Nearest, Path};
use crate::index::lexical::Matches;
use crate::tool::ToolId;

/// One thing asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Question {
    /// The unit that is the whole of it.
    pub(super) whole: usize,
    /// The unit that is the whole without its arguments; the whole again where it has none.
    pub(super) clean: usize,
    /// The units that are its parts; empty where it is short.
    pub(super) parts: Range<usize>,
}

impl Question {
    /// The units whose words count: the whole and the parts.
    pub(super) fn units(&self) -> impl Iterator<Item = usize> + use<> {
        std::iter::once(self.whole).chain(self.parts.clone())
    }
}

/// What words and vectors say.
pub(super) struct Evidence {
    /// The things asked for.
    pub(super) questions: Vec<Question>,
    /// The text of each unit.
    pub(super) texts: Vec<String>,
    /// The words of each unit.
    pub(super) terms: Vec<Terms>,
    /// The vector of each unit; none where there is no model, or it failed.
    pub(super) vectors: Option<Vectors>,
    /// Why the model failed, where it did.
    pub(super) model_fault: Option<String>,
    /// The tools nearest to each unit; empty where there is no model.
    pub(super) nearest: Vec<Nearest>,
    /// The tools that share words with each unit.
    pub(super) matches: Vec<Matches>,
    /// The permitted tools that the rules leave; none where they leave all.
    kept: Option<Permitted>,
    /// Tools worth scoring, ascending.
    pool: Vec<ToolId>,
    /// Cosine of each tool of the pool with each unit, pool-major; none for a tool without vectors.
    cosines: Vec<Option<f32>>,
}

impl Evidence {
    /// Gathers what is known for the questions of `parsed`.
    ///
    /// # Errors
    /// [`Error::Model`] where the model is not the index's own, [`Error::Index`] where its vectors
    /// are not of the index's space.
    pub(super) fn gather(
        parsed: &Parsed,
        (index, view): (&Index, &View),
        embedder: Option<&dyn Embedder>,
        request: &Request,
        config: &Config,
    ) -> Result<Self, Error> {
        let (questions, texts) = units(parsed);
        let terms: Vec<Terms> = texts
            .iter()
            .map(|text| terms(text, &index.lexical, &view.permitted, &config.words))
            .collect();
        let matches = terms
            .iter()
            .map(|terms| {
                let (statistics, permitted) = (&view.statistics, &view.permitted);
                let lexical = &index.lexical;
                lexical.score(&terms.query, statistics, permitted, &config.bm25f)
            })
            .collect();
        let mut evidence = Self {
            questions,
            texts,
            terms,
            vectors: None,
            model_fault: None,
            nearest: Vec::new(),
            matches,
            // Words are counted over all that is permitted; only what is put up is left out.
            kept: request
                .ruling
                .removes()
                .then(|| view.permitted.narrow(|tool| request.ruling.keeps(tool))),
            pool: Vec::new(),
            cosines: Vec::new(),
        };
        if let Some(embedder) = embedder.filter(|_| 0 < index.dense.rows()) {
            if embedder.model_id() != index.model_id {
                return Err(Error::Model {
                    index: index.model_id.clone(),
                    query: embedder.model_id().to_owned(),
                });
            }
            match embedder.embed(Side::Query, &evidence.texts) {
                Ok(vectors) => {
                    let rows: Vec<&[f32]> = vectors.rows().collect();
                    let kept = evidence.kept.as_ref().unwrap_or(&view.permitted);
                    let depth = config.candidates;
                    evidence.nearest = index.dense.nearest(&rows, kept, depth, request.dense)?;
                    evidence.vectors = Some(vectors);
                }
                Err(fault) => evidence.model_fault = Some(fault.to_string()),
            }
        }
        evidence.measure(index, config);
        Ok(evidence)
    }

    /// Fills in the cosines of all that may be scored: each is asked for several times over.
    fn measure(&mut self, index: &Index, config: &Config) {
        let mut pool = BTreeSet::new();
        for question in &self.questions {
            pool.extend(self.candidates(question, config));
        }
        self.pool = pool.into_iter().collect();
        let Some(vectors) = &self.vectors else {
            return;
        };
        self.cosines = self
            .pool
            .iter()
            .flat_map(|tool| {
                vectors
                    .rows()
                    .map(|vector| index.dense.best_cosine(vector, *tool))
            })
            .collect();
    }

    /// Tools worth scoring for `question`: the best of each arm for each of its units.
    pub(super) fn candidates(&self, question: &Question, config: &Config) -> BTreeSet<ToolId> {
        let mut candidates = BTreeSet::new();
        for unit in question.units() {
            let is_whole = self.questions.iter().any(|known| known.whole == unit);
            let depth = if is_whole {
                config.candidates
            } else {
                config.part_candidates
            };
            let kept = |tool| self.kept.as_ref().is_none_or(|kept| kept.contains(tool));
            let by_words = self.matches[unit].top_of(depth, kept);
            candidates.extend(by_words.iter().map(|scored| scored.tool));
            let by_meaning = self.nearest.get(unit).map(|nearest| &nearest.hits);
            let by_meaning = by_meaning.into_iter().flatten().take(depth);
            candidates.extend(by_meaning.map(|(tool, _)| *tool));
        }
        candidates
    }

    /// The share of the question's content words that some permitted tool holds, `0.0..=1.0`; 0
    /// where it has none. A Chinese request over English tools is hardly heard.
    pub(super) fn heard(&self, question: &Question) -> f32 {
        let found = self.matches[question.whole].terms().iter();
        let content = self.terms[question.whole]
            .roles
            .iter()
            .zip(found)
            .filter(|(role, _)| **role == Role::Content);
        let (mut heard, mut all) = (0.0, 0.0);
        for (_, matches) in content {
            all += 1.0;
            heard += f32::from(u8::from(0 < matches.frequency));
        }
        if all <= 0.0 { 0.0 } else { heard / all }
    }

    /// Whether some unit was looked up in the graph.
    pub(super) fn used_graph(&self) -> bool {
        self.nearest
            .iter()
            .any(|nearest| nearest.path == Path::Graph)
    }

    /// Cosine of a tool's best passage with a unit; none without a model or a vector.
    pub(super) fn cosine(&self, index: &Index, unit: usize, tool: ToolId) -> Option<f32> {
        let vectors = self.vectors.as_ref()?;
        match self.pool.binary_search(&tool) {
            Ok(at) => self.cosines[at * vectors.len() + unit],
            // A tool that was named, and that nothing else speaks for.
            Err(_) => index.dense.best_cosine(vectors.row(unit), tool),
        }
    }
}

/// The questions and the text of each of their units.
///
/// What the caller hints at is searched as parts of the first question.
fn units(parsed: &Parsed) -> (Vec<Question>, Vec<String>) {
    let mut questions = Vec::with_capacity(parsed.questions.len());
    let mut texts: Vec<String> = Vec::new();
    for text in &parsed.questions {
        let whole = texts.len();
        texts.push(text.clone());
        let clean = without_values(text);
        let has_arguments = !clean.is_empty() && clean != *text;
        if has_arguments {
            texts.push(clean);
        }
        let first_part = texts.len();
        texts.extend(parts(text));
        if questions.is_empty() {
            let hints = [&parsed.hints.namespace, &parsed.hints.tool];
            texts.extend(hints.into_iter().flatten().cloned());
        }
        questions.push(Question {
            whole,
            clean: whole + usize::from(has_arguments),
            parts: first_part..texts.len(),
        });
    }
    (questions, texts)
}
