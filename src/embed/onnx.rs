//! ONNX models on the CPU, through fastembed and ONNX Runtime.
//!
//! fastembed's model embeds for one caller at a time (`&mut self`), so threads own it ([`Crew`]):
//! one for queries, and, started when first needed and ended after a few idle seconds, several for
//! bulk work. Bulk work runs in models side by side, since threads within one model cost a third
//! more processor time for the same texts.

use std::sync::Arc;
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

/// Queries that are run together when they wait: measured, more make each wait longer and gain
/// nothing.
const QUERIES_TOGETHER: usize = 16;

/// From this many texts on, a call is bulk work: loading models for the other cores pays.
const BULK: usize = 96;

/// Models loaded for bulk work at most, whatever the cores: each takes up to half a gigabyte.
/// Cores beyond that work within them.
const MOST_BULK_MODELS: usize = 4;

/// How long bulk models are kept for the next call.
const BULK_PATIENCE: Duration = Duration::from_secs(5);

/// The query thread keeps its model.
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
        let (models, inside) = split(threads);
        let queries = Crew::new(
            &recipe.name,
            Habits {
                threads: 1,
                together: QUERIES_TOGETHER,
                patience: QUERY_PATIENCE,
            },
            loader(&recipe, environment.clone(), 1),
        );
        let bulk = Crew::new(
            &recipe.name,
            Habits {
                threads: models,
                together: 1,
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

/// Models for bulk work and computing threads in each.
fn split(threads: usize) -> (usize, usize) {
    let threads = if threads == 0 {
        std::thread::available_parallelism().map_or(1, usize::from)
    } else {
        threads
    };
    let models = threads.min(MOST_BULK_MODELS);
    (models, threads / models)
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
        let batches = batch::plan(&prepared);
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
    Arc::new(move || {
        let mut model = load(&recipe, environment.clone(), inside)?;
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
    let fault = |error: fastembed::Error| recipe.fault(error.to_string());
    match recipe.batching {
        Batching::Together => model.embed(texts, Some(texts.len().max(1))).map_err(fault),
        Batching::OneByOne => {
            let mut rows = Vec::with_capacity(texts.len());
            for text in texts {
                rows.extend(
                    model
                        .embed(std::slice::from_ref(text), None)
                        .map_err(fault)?,
                );
            }
            Ok(rows)
        }
    }
}
