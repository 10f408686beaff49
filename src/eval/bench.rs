//! A labelled set made ready to be searched: its catalogue indexed and every text embedded.

use super::dataset::Dataset;
use super::{Error, Progress};
use crate::access::{Permitted, Policy, Principal};
use crate::embed::{Embedder, Side};
use crate::index::{Index, build};
use crate::search::parts::{parts, without_values};
use crate::search::{Answer, Config, Request, View, search};

/// Texts embedded between two signs of progress.
const BATCH: usize = 256;

/// A set, its index, and the model that made it.
pub struct Bench<'a> {
    /// The set.
    pub dataset: Dataset,
    /// Its catalogue's index.
    pub index: Index,
    /// What is searched when nothing is withheld.
    pub view: View,
    embedder: &'a dyn Embedder,
}

impl<'a> Bench<'a> {
    /// Indexes the set's catalogue and embeds its requests.
    ///
    /// Everything is embedded here, in batches: give an embedder that remembers what it made
    /// ([`Keeping`](super::keep::Keeping)), or every search embeds its request again.
    ///
    /// # Errors
    /// [`Error::Index`] and [`Error::Embed`] where the model fails.
    pub fn new(
        dataset: Dataset,
        embedder: &'a dyn Embedder,
        progress: &dyn Fn(Progress<'_>),
    ) -> Result<Self, Error> {
        let step = format!("{}: tools", dataset.name);
        let index = build::build(dataset.catalog.clone(), embedder, &|at: build::Progress| {
            progress(Progress {
                step: &step,
                done: at.done,
                total: at.total,
            });
        })?;
        let texts = texts(&dataset);
        let step = format!("{}: requests", dataset.name);
        for (at, batch) in texts.chunks(BATCH).enumerate() {
            embedder.embed(Side::Query, batch)?;
            progress(Progress {
                step: &step,
                done: at * BATCH + batch.len(),
                total: texts.len(),
            });
        }
        let view = View::new(&index, everything(&dataset));
        Ok(Self {
            dataset,
            index,
            view,
            embedder,
        })
    }

    /// Asks `text`, and never takes "nothing fits" for an answer.
    ///
    /// # Errors
    /// [`Error::Search`] and [`Error::Model`], with the id of the query.
    pub fn ask(
        &self,
        (id, request): (&str, Request),
        view: &View,
        config: &Config,
    ) -> Result<Answer, Error> {
        let request = Request {
            threshold: Some(0.0),
            ..request
        };
        let query = || id.to_owned();
        let answer =
            search(&self.index, Some(self.embedder), view, &request, config).map_err(|source| {
                Error::Search {
                    query: query(),
                    source,
                }
            })?;
        match answer.model_fault {
            // Half an answer is nothing to judge the whole by.
            Some(reason) => Err(Error::Model {
                query: query(),
                reason,
            }),
            None => Ok(answer),
        }
    }
}

/// All tools that a caller without a tenant sees: a set has no policy.
fn everything(dataset: &Dataset) -> Permitted {
    let policy = Policy::open("a labelled set is measured whole");
    policy.permit(&Principal::of_tenant(""), dataset.catalog.tools())
}

/// Every text that searching the set will want a vector of, once each.
fn texts(dataset: &Dataset) -> Vec<String> {
    let queries = dataset.queries.iter().map(|labelled| &labelled.query);
    let mut texts: Vec<String> = queries
        .chain(&dataset.negatives)
        .flat_map(|query| {
            let mut texts = parts(&query.text);
            texts.push(without_values(&query.text));
            texts.push(query.text.clone());
            texts
        })
        .filter(|text| !text.is_empty())
        .collect();
    texts.sort_unstable();
    texts.dedup();
    texts
}
