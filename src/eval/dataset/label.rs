//! Labels: which tools serve which query, from the files' tool ids to the catalogue's positions.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};

use super::Text;
use super::record::{fault, rows};
use crate::catalog::Catalog;
use crate::eval::Error;
use crate::tool::ToolId;

/// A label whose tool the catalogue does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unknown {
    /// The file.
    pub file: PathBuf,
    /// Line, from 1.
    pub line: usize,
    /// The tool's id as the file has it.
    pub tool: String,
}

/// The acceptable tools of each query's needs, by need number.
type Needs = HashMap<String, BTreeMap<u32, Vec<ToolId>>>;

/// Collects the labels of one set.
pub(super) struct Labels<'a> {
    catalog: &'a Catalog,
    by_query: Needs,
    unknown: Vec<Unknown>,
}

impl<'a> Labels<'a> {
    pub(super) fn new(catalog: &'a Catalog) -> Self {
        Self {
            catalog,
            by_query: HashMap::new(),
            unknown: Vec::new(),
        }
    }

    /// Reads `qrels.tsv`: every tool of a query is a need of its own.
    pub(super) fn qrels(&mut self, path: &Path, texts: &[Text]) -> Result<(), Error> {
        let known = ids(texts);
        for (line, row) in rows(path, 2)? {
            check_query(path, line, &row[0], &known)?;
            let relevance = row.get(2).map_or(Ok(1.0), |cell| cell.parse::<f32>());
            let relevance = relevance
                .map_err(|_| fault(path, line, format!("score '{}' is no number", row[2])))?;
            let tools = self.tools(path, line, &row[1]);
            if tools.is_empty() || relevance <= 0.0 {
                continue;
            }
            let needs = self.by_query.entry(row[0].clone()).or_default();
            if !needs.values().any(|need| *need == tools) {
                needs.insert(needs.len() as u32, tools);
            }
        }
        Ok(())
    }

    /// Reads `needs.tsv`, which takes the place of what [`Self::qrels`] found for its queries.
    pub(super) fn needs(&mut self, path: &Path, texts: &[Text]) -> Result<(), Error> {
        let known = ids(texts);
        let mut by_query = Needs::new();
        for (line, row) in rows(path, 3)? {
            check_query(path, line, &row[0], &known)?;
            let number: u32 = row[1]
                .parse()
                .map_err(|_| fault(path, line, format!("need '{}' is no number", row[1])))?;
            let tools = self.tools(path, line, &row[2]);
            let needs = by_query.entry(row[0].clone()).or_default();
            needs.entry(number).or_default().extend(tools);
        }
        self.by_query.extend(by_query);
        Ok(())
    }

    /// Reads `equiv.tsv`: the near-duplicates of each tool.
    pub(super) fn equivalents(&mut self, path: &Path) -> Result<Vec<Vec<ToolId>>, Error> {
        let mut groups: BTreeMap<String, Vec<ToolId>> = BTreeMap::new();
        for (line, row) in rows(path, 2)? {
            let tools = self.tools(path, line, &row[0]);
            groups.entry(row[1].clone()).or_default().extend(tools);
        }
        let mut equivalents = vec![Vec::new(); self.catalog.len()];
        for mut group in groups.into_values() {
            group.sort_unstable();
            group.dedup();
            for tool in &group {
                let of_tool: &mut Vec<ToolId> = &mut equivalents[tool.index()];
                of_tool.extend(&group);
                of_tool.sort_unstable();
                of_tool.dedup();
            }
        }
        Ok(equivalents)
    }

    /// The needs of each query that has any, and the labels that were left out.
    pub(super) fn finish(self) -> (HashMap<String, Vec<Vec<ToolId>>>, Vec<Unknown>) {
        let tidy = |mut need: Vec<ToolId>| {
            need.sort_unstable();
            need.dedup();
            need
        };
        let by_query = self
            .by_query
            .into_iter()
            .map(|(query, needs)| {
                let needs = needs.into_values().map(tidy);
                let needs: Vec<_> = needs.filter(|need| !need.is_empty()).collect();
                (query, needs)
            })
            .filter(|(_, needs)| !needs.is_empty())
            .collect();
        (by_query, self.unknown)
    }

    fn tools(&mut self, file: &Path, line: usize, key: &str) -> Vec<ToolId> {
        let tools = self.catalog.with_key(key);
        if tools.is_empty() {
            self.unknown.push(Unknown {
                file: file.to_owned(),
                line,
                tool: key.to_owned(),
            });
        }
        tools.to_vec()
    }
}

fn ids(texts: &[Text]) -> HashSet<&str> {
    texts.iter().map(|text| text.id.as_str()).collect()
}

fn check_query(path: &Path, line: usize, query: &str, known: &HashSet<&str>) -> Result<(), Error> {
    if known.contains(query) {
        Ok(())
    } else {
        let reason = format!("no query has the id '{query}'");
        Err(fault(path, line, reason))
    }
}
