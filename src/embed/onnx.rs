//! ONNX models on the CPU, through fastembed and ONNX Runtime.
//!
//! fastembed's model embeds for one caller at a time (`&mut self`), so threads own it:
//! one for queries, and, started when first needed and ended after a few idle seconds, several for
//! bulk work. Bulk work runs in models side by side, since threads within one model cost a third
//! more processor time for the same texts.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use fastembed::{
    InitOptionsUserDefined, Pooling as FastPooling, TextEmbedding, TokenizerFiles,
    UserDefinedEmbeddingModel,
};
use ort::environment::Environment;

use super::batch;
use super::files::read;
use super::postprocess::PostProcess;
use super::recipe::{Batching, Pooling, Recipe};
use super::worker::{Crew, Habits, Loader, Model, Pending};
use super::{Calibration, Embedder, Error, Side, Vectors};

/// From this many texts on, a call is bulk work: loading models for the other cores pays.
const BULK: usize = 96;

/// Models loaded for bulk work at most, whatever the cores: each takes up to half a gigabyte.
/// Cores beyond that work within them.
const MOST_BULK_MODELS: usize = 4;

/// Where there are many cores, requests that wait for each other get further threads, each with a
/// model of its own: one takes a millisecond or so a request, so one serves a small machine.
const CORES_A_QUERY_THREAD: usize = 4;
const MOST_QUERY_THREADS: usize = 4;

/// How long bulk models are kept for the next call.
const BULK_PATIENCE: Duration = Duration::from_secs(5);

/// Query threads stay.
const QUERY_PATIENCE: Duration = Duration::from_secs(365 * 24 * 3600);

/// An ONNX model, loaded and ready.
pub struct Onnx {
    recipe: Arc<Recipe>,
    post: PostProcess,
    dim: usize,
    queries: Crew,
    bulk: Crew,
}

impl Onnx {
    /// Loads the model and embeds one text to see that it works.
    ///
    /// `threads` are those for bulk work; 0 means all cores.
    ///
    /// # Errors
    /// [`Error::File`] for a bad file, [`Error::Model`] where the model does not load or run,
    /// [`Error::Dimension`] where its vectors are not as long as its manifest says.
    pub(super) fn open(
        recipe: Recipe,
        post: PostProcess,
        environment: Environment,
        threads: usize,
    ) -> Result<Self, Error> {
        let recipe = Arc::new(recipe);
        let cores = cores(threads);
        let (models, inside) = split(cores);
        let queries = Crew::new(
            &recipe.name,
            Habits {
                threads: (cores / CORES_A_QUERY_THREAD).clamp(1, MOST_QUERY_THREADS),
                patience: QUERY_PATIENCE,
            },
            loader(&recipe, environment.clone(), 1),
        );
        let bulk = Crew::new(
            &recipe.name,
            Habits {
                threads: models,
                patience: BULK_PATIENCE,
            },
            loader(&recipe, environment, inside),
        );
        let mut onnx = Self {
            recipe,
            post,
            dim: 0,
            queries,
            bulk,
        };
        onnx.dim = onnx.probe()?;
        Ok(onnx)
    }

    /// The dimension, from a text's vector.
    fn probe(&self) -> Result<usize, Error> {
        let text = self.recipe.prepare(Side::Query, "probe");
        let rows = self.queries.submit(vec![text])?.wait()?;
        let found = rows.first().map_or(0, Vec::len);
        let expected = self.recipe.dimension.unwrap_or(found);
        if found == expected && found > 0 {
            return Ok(found);
        }
        Err(Error::Dimension {
            model: self.recipe.name.clone(),
            expected,
            found,
        })
    }
}

/// Cores, or as many as were allowed.
fn cores(threads: usize) -> usize {
    match threads {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        threads => threads,
    }
}

/// Models for bulk work, and computing threads in each.
fn split(cores: usize) -> (usize, usize) {
    let models = cores.clamp(1, MOST_BULK_MODELS);
    (models, (cores / models).max(1))
}

impl Embedder for Onnx {
    fn model_id(&self) -> &str {
        &self.recipe.model_id
    }

    fn dim(&self) -> usize {
        self.dim
    }

    fn calibration(&self) -> Calibration {
        self.recipe.calibration
    }

    fn embed(&self, side: Side, texts: &[String]) -> Result<Vectors, Error> {
        let crew = if texts.len() < BULK {
            &self.queries
        } else {
            &self.bulk
        };
        let prepared: Vec<String> = texts
            .iter()
            .map(|text| self.recipe.prepare(side, text))
            .collect();
        let batches = match (side, self.recipe.batching) {
            (Side::Document, Batching::Together) => batch::plan(&prepared),
            // A request's vector is the same to the bit, whatever else is asked for.
            (Side::Query, _) | (_, Batching::OneByOne) => batch::alone(texts.len()),
        };
        let pending: Vec<Pending> = batches
            .iter()
            .map(|batch| crew.submit(batch.iter().map(|at| prepared[*at].clone()).collect()))
            .collect::<Result<_, _>>()?;
        let mut data = vec![0.0; texts.len() * self.dim];
        for (batch, pending) in batches.iter().zip(pending) {
            for (at, row) in batch.iter().zip(pending.wait()?) {
                if row.len() != self.dim {
                    return Err(Error::Dimension {
                        model: self.recipe.name.clone(),
                        expected: self.dim,
                        found: row.len(),
                    });
                }
                let row = self.post.apply(side, &texts[*at], row);
                data[at * self.dim..(at + 1) * self.dim].copy_from_slice(&row);
            }
        }
        Vectors::new(self.dim, data)
    }
}

/// What loads the model in its thread.
fn loader(recipe: &Arc<Recipe>, environment: Environment, inside: usize) -> Loader {
    let recipe = Arc::clone(recipe);
    let turn = Mutex::new(());
    Arc::new(move || {
        // Loading takes far more memory than running, so threads load in turn.
        let turn = turn.lock().unwrap_or_else(PoisonError::into_inner);
        let mut model = load(&recipe, environment.clone(), inside)?;
        drop(turn);
        let recipe = Arc::clone(&recipe);
        let run: Model = Box::new(move |texts| run(&mut model, &recipe, texts));
        Ok(run)
    })
}

fn load(recipe: &Recipe, environment: Environment, inside: usize) -> Result<TextEmbedding, Error> {
    // The tokenizer is small to read and slow to parse, the graph the other way round.
    let (graph, tokenizer) = std::thread::scope(|scope| {
        let graph = scope.spawn(|| read(&recipe.graph.path, &recipe.graph.expected));
        let tokenizer = recipe.tokenizer.files();
        (graph.join(), tokenizer)
    });
    let graph = graph.unwrap_or_else(|_| Err(recipe.fault("reading it panicked".to_owned())))?;
    let files = tokenizer?;
    let mut model = UserDefinedEmbeddingModel::new(
        graph,
        TokenizerFiles {
            tokenizer_file: files.tokenizer,
            config_file: files.config,
            special_tokens_map_file: files.special_tokens_map,
            tokenizer_config_file: files.tokenizer_config,
        },
    )
    .with_pooling(match recipe.pooling {
        Pooling::Mean => FastPooling::Mean,
        Pooling::Cls => FastPooling::Cls,
    });
    for (name, file) in &recipe.external {
        model = model.with_external_initializer(name.clone(), read(&file.path, &file.expected)?);
    }
    let options = InitOptionsUserDefined::new()
        .with_environment(environment)
        .with_max_length(recipe.max_tokens)
        .with_intra_threads(inside);
    TextEmbedding::try_new_from_user_defined(model, options)
        .map_err(|error| recipe.fault(format!("it cannot be loaded: {error}")))
}

fn run(
    model: &mut TextEmbedding,
    recipe: &Recipe,
    texts: &[String],
) -> Result<Vec<Vec<f32>>, Error> {
    model
        .embed(texts, Some(texts.len().max(1)))
        .map_err(|error| recipe.fault(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bulk_work_takes_all_cores_and_a_bounded_number_of_models() {
        assert_eq!(split(1), (1, 1));
        assert_eq!(split(2), (2, 1));
        assert_eq!(split(4), (4, 1));
        assert_eq!(split(6), (4, 1));
        assert_eq!(split(64), (4, 16));
        assert!(cores(0) >= 1);
        assert_eq!(cores(3), 3);
    }
}
