//! What a permitted set looks like under the exposure rules: the same for every session over it.

use std::sync::{Arc, OnceLock};

use super::exposure::{self, ExposureRule};
use super::names::Names;
use crate::catalog::call_name::NameStyle;
use crate::index::Index;
use crate::search::View;
use crate::tool::{Exposure, Tool, ToolId};

/// The permitted tools by how they are exposed. Immutable; sessions share it.
#[derive(Debug)]
pub struct Surface {
    /// What is searched.
    pub index: Arc<Index>,
    /// What the caller sees.
    pub view: Arc<View>,
    /// Exposure of each permitted tool, in their order.
    exposures: Vec<(ToolId, Exposure)>,
    /// The part of the view that a model can load from.
    loadable: OnceLock<Arc<View>>,
    /// The part of the view that generated code can call.
    callable: OnceLock<Arc<View>>,
    names: [OnceLock<Names>; NameStyle::ALL.len()],
}

impl Surface {
    /// The surface of `view` under `rules`.
    pub fn new(index: Arc<Index>, view: Arc<View>, rules: &[ExposureRule]) -> Self {
        let exposures = view
            .permitted
            .iter()
            .map(|tool| (tool, exposure::exposure(index.catalog.tool(tool), rules)))
            .collect();
        Self {
            index,
            view,
            exposures,
            loadable: OnceLock::new(),
            callable: OnceLock::new(),
            names: Default::default(),
        }
    }

    /// A tool of the catalogue.
    pub fn tool(&self, id: ToolId) -> &Tool {
        self.index.catalog.tool(id)
    }

    /// What `tool` is exposed as; none where it is not permitted.
    pub fn exposure(&self, tool: ToolId) -> Option<Exposure> {
        let at = self.exposures.binary_search_by_key(&tool, |(id, _)| *id);
        at.ok().map(|at| self.exposures[at].1)
    }

    /// The permitted tools with this exposure, in ascending order of key.
    pub fn exposed_as(&self, exposure: Exposure) -> impl Iterator<Item = ToolId> + '_ {
        self.exposures
            .iter()
            .filter(move |(_, own)| *own == exposure)
            .map(|(tool, _)| *tool)
    }

    /// How models name the tools in this style.
    pub fn names(&self, style: NameStyle) -> &Names {
        self.names[style as usize].get_or_init(|| Names::new(self, style))
    }

    /// What a model can find: what is exposed at once, and what is deferred.
    pub(super) fn loadable(&self) -> &Arc<View> {
        self.loadable.get_or_init(|| {
            self.narrowed(|exposure| matches!(exposure, Exposure::Direct | Exposure::Deferred))
        })
    }

    /// What generated code can find: all but what is hidden or only declared.
    pub(super) fn callable(&self) -> &Arc<View> {
        self.callable.get_or_init(|| {
            self.narrowed(|exposure| {
                !matches!(exposure, Exposure::Hidden | Exposure::DeclarationOnly)
            })
        })
    }

    fn narrowed(&self, keep: impl Fn(Exposure) -> bool) -> Arc<View> {
        if self.exposures.iter().all(|(_, exposure)| keep(*exposure)) {
            return Arc::clone(&self.view);
        }
        let keeps = |tool| self.exposure(tool).is_some_and(&keep);
        Arc::new(View::new(&self.index, self.view.permitted.narrow(keeps)))
    }
}
