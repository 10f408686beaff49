//! Vectors of the tools: which tools lie nearest to a query, and how near.
//!
//! A tool has any number of rows: its document, each use-when line, each example; the best of them
//! counts. Rows of avoid-when lines are kept beside them as negative evidence: [`Dense::cosines`]
//! gives them, [`Dense::nearest`] never counts them.
//!
//! Two ways lead to the nearest: an exact scan (`exact`) over the permitted tools' rows, and a graph
//! (`graph`) that visits a part of them and re-scores what it finds. The planner (`plan`) chooses by
//! the number of permitted tools.

mod coarse;
mod dot;
mod exact;
mod graph;
mod plan;

use std::ops::Range;
use std::sync::OnceLock;

use crate::access::Permitted;
use crate::catalog::text::Passage;
use crate::embed::Vectors;
use crate::index::Error;
use crate::tool::ToolId;

pub use dot::dot;
pub use plan::{DensePath, Path};

/// The tools nearest to one query.
#[derive(Debug, Clone, PartialEq)]
pub struct Nearest {
    /// Tools with the cosine of their best row, best first, ties by ascending tool: at most `k`, and
    /// fewer only if fewer permitted tools have a row.
    pub hits: Vec<(ToolId, f32)>,
    /// How they were found.
    pub path: Path,
}

/// The vectors of all tools. Immutable but for the graph, a cache built on demand.
#[derive(Debug)]
pub struct Dense {
    vectors: Vectors,
    owners: Vec<ToolId>,
    passages: Vec<Passage>,
    /// First row of each tool, and the number of rows at the end.
    starts: Vec<u32>,
    coarse: coarse::Coarse,
    graph: OnceLock<graph::Graph>,
}

/// How a graph came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GraphHealth {
    /// Distinct vectors.
    pub nodes: usize,
    /// Those the graph does not lead to, which are scanned beside it.
    pub left_out: usize,
    /// Whether searches use it: not where its build failed or left out too much.
    pub usable: bool,
}

impl Dense {
    /// Rows with the tool and the part of it that each tells of, ascending by tool, for a catalogue
    /// of `tools` tools. A tool may have no row.
    ///
    /// # Errors
    /// [`Error::Rows`] where the columns differ in length, or owners do not ascend or are no tools.
    pub fn new(
        vectors: Vectors,
        owners: Vec<ToolId>,
        passages: Vec<Passage>,
        tools: usize,
    ) -> Result<Self, Error> {
        audit(&vectors, &owners, &passages, tools)?;
        let mut starts = vec![0u32; tools + 1];
        for owner in &owners {
            starts[owner.index() + 1] += 1;
        }
        for tool in 0..tools {
            starts[tool + 1] += starts[tool];
        }
        Ok(Self {
            coarse: coarse::Coarse::new(&vectors),
            vectors,
            owners,
            passages,
            starts,
            graph: OnceLock::new(),
        })
    }

    /// Numbers in a vector.
    pub fn dim(&self) -> usize {
        self.vectors.dim()
    }

    /// How many rows there are, of all tools.
    pub fn rows(&self) -> usize {
        self.owners.len()
    }

    /// How many tools there are, with rows or without.
    pub fn tools(&self) -> usize {
        self.starts.len() - 1
    }

    /// The rows of a tool: its document first, if it has one.
    pub fn rows_of(&self, tool: ToolId) -> Range<usize> {
        let at = tool.index();
        self.starts[at] as usize..self.starts[at + 1] as usize
    }

    /// The vector of a row, of unit length.
    pub fn vector(&self, row: usize) -> &[f32] {
        self.vectors.row(row)
    }

    /// All vectors, row-major.
    pub fn vectors(&self) -> &Vectors {
        &self.vectors
    }

    /// The tool that a row tells of.
    pub fn owner(&self, row: usize) -> ToolId {
        self.owners[row]
    }

    /// The tool of each row, ascending.
    pub fn owners(&self) -> &[ToolId] {
        &self.owners
    }

    /// The part of its tool that each row tells of.
    pub fn passages(&self) -> &[Passage] {
        &self.passages
    }

    /// The part of its tool that a row tells of.
    pub fn passage(&self, row: usize) -> Passage {
        self.passages[row]
    }

    /// The cosine of `query` (of unit length and this dimension) and each row of a tool, in
    /// `-1.0..=1.0` up to rounding.
    pub fn cosines<'a>(
        &'a self,
        query: &'a [f32],
        tool: ToolId,
    ) -> impl Iterator<Item = (Passage, f32)> + 'a {
        self.rows_of(tool)
            .map(move |row| (self.passages[row], dot(query, self.vector(row))))
    }

    /// The cosine of `query` and the tool's best row that speaks for it; none where it has no row.
    pub fn best_cosine(&self, query: &[f32], tool: ToolId) -> Option<f32> {
        self.cosines(query, tool)
            .filter(|(passage, _)| *passage != Passage::AvoidWhen)
            .map(|(_, cosine)| cosine)
            .max_by(f32::total_cmp)
    }

    /// For each of `queries` (of unit length), the `k` permitted tools whose best row is nearest.
    ///
    /// With [`DensePath::Auto`] the graph is taken only where it pays and has been
    /// [prepared](Self::prepare_graph): no query waits for a graph. [`DensePath::Hnsw`] builds it on
    /// the spot.
    ///
    /// # Errors
    /// [`Error::Dimension`] and [`Error::QueryNotFinite`] for a query that is no vector of this space.
    pub fn nearest(
        &self,
        queries: &[&[f32]],
        permitted: &Permitted,
        k: usize,
        path: DensePath,
    ) -> Result<Vec<Nearest>, Error> {
        for query in queries {
            if query.len() != self.dim() {
                return Err(Error::Dimension {
                    expected: self.dim(),
                    found: query.len(),
                });
            }
            if !query.iter().all(|x| x.is_finite()) {
                return Err(Error::QueryNotFinite);
            }
        }
        if k == 0 {
            let nothing = Nearest {
                hits: Vec::new(),
                path: Path::Exact,
            };
            return Ok(vec![nothing; queries.len()]);
        }
        let graph = match path {
            DensePath::Exact => None,
            DensePath::Hnsw => Some(self.graph()),
            DensePath::Auto if plan::graph_pays(self, permitted) => self.graph.get(),
            DensePath::Auto => None,
        };
        let found = graph.and_then(|graph| {
            let search = |query| {
                Some(Nearest {
                    hits: graph.nearest(self, query, permitted, k)?,
                    path: Path::Graph,
                })
            };
            queries.iter().copied().map(search).collect()
        });
        Ok(found.unwrap_or_else(|| exact::nearest(self, queries, permitted, k)))
    }

    /// Builds the graph if there is none yet: seconds for 10,000 rows, minutes for 100,000, on all
    /// cores. Answers are the same without it, only slower over many permitted tools.
    pub fn prepare_graph(&self) {
        self.graph();
    }

    /// Whether a graph would be the faster way for somebody who may see all tools.
    pub fn wants_graph(&self) -> bool {
        plan::graph_could_pay(self)
    }

    /// How the graph came out; none until it is built.
    pub fn graph_health(&self) -> Option<GraphHealth> {
        self.graph.get().map(graph::Graph::health)
    }

    fn graph(&self) -> &graph::Graph {
        self.graph.get_or_init(|| graph::Graph::build(self))
    }
}

/// That the columns fit together; that rows are finite and of unit length, their type sees to.
fn audit(
    vectors: &Vectors,
    owners: &[ToolId],
    passages: &[Passage],
    tools: usize,
) -> Result<(), Error> {
    let rows = vectors.len();
    let fault = |row, reason| Err(Error::Rows { row, reason });
    if owners.len() != rows || passages.len() != rows {
        return fault(rows, "as many vectors, owners and passages are needed");
    }
    if u32::try_from(rows).is_err() {
        return fault(rows, "too many rows");
    }
    for (row, pair) in owners.windows(2).enumerate() {
        if pair[1] < pair[0] {
            return fault(row + 1, "owners do not ascend");
        }
    }
    if owners.last().is_some_and(|owner| tools <= owner.index()) {
        return fault(rows - 1, "its owner is no tool of the catalogue");
    }
    Ok(())
}

#[cfg(test)]
mod tests;
