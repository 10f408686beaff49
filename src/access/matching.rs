//! Which tools of a catalogue each rule covers: all globs of a policy are matched at once against
//! each key, and against each namespace, and rules are put together from what matched.

use std::collections::HashMap;

use fixedbitset::FixedBitSet;
use globset::{Glob, GlobSet};
use rayon::prelude::*;

use super::bits::Bits;
use super::policy::{Error, Rule};
use crate::tool::Tool;

/// Tools that one core matches at a time.
const CHUNK: usize = 4096;

/// The globs and tags of a policy, each with the rules that it is enough for.
#[derive(Debug, Clone, Default)]
pub(super) struct Matcher {
    tools: Patterns,
    namespaces: Patterns,
    tags: HashMap<String, Vec<usize>>,
}

#[derive(Debug, Clone, Default)]
struct Patterns {
    set: GlobSet,
    rules: Vec<Vec<usize>>,
}

impl Matcher {
    pub(super) fn new(rules: &[Rule]) -> Result<Self, Error> {
        let mut tags: HashMap<String, Vec<usize>> = HashMap::new();
        for (at, rule) in rules.iter().enumerate() {
            for tag in &rule.tags {
                tags.entry(tag.clone()).or_default().push(at);
            }
        }
        Ok(Self {
            tools: Patterns::new(rules, |rule| &rule.tools)?,
            namespaces: Patterns::new(rules, |rule| &rule.namespaces)?,
            tags,
        })
    }

    /// For each of `rules`, which must be those the matcher was made of, the tools that it covers.
    pub(super) fn covered(&self, rules: &[Rule], tools: &[Tool]) -> Vec<Bits> {
        let chunks: Vec<Vec<FixedBitSet>> = tools
            .par_chunks(CHUNK)
            .map(|tools| self.chunk(rules, tools))
            .collect();
        (0..rules.len())
            .into_par_iter()
            .map(|rule| {
                let mut set = FixedBitSet::with_capacity(tools.len());
                for (at, chunk) in chunks.iter().enumerate() {
                    set.extend(chunk[rule].ones().map(|tool| at * CHUNK + tool));
                }
                Bits::new(set)
            })
            .collect()
    }

    fn chunk(&self, rules: &[Rule], tools: &[Tool]) -> Vec<FixedBitSet> {
        let mut covered = vec![FixedBitSet::with_capacity(tools.len()); rules.len()];
        let none = FixedBitSet::with_capacity(rules.len());
        let (mut by_key, mut by_namespace, mut by_tag) = (none.clone(), none.clone(), none);
        let mut namespace: Option<&str> = None;
        let mut hits = Vec::new();
        for (at, tool) in tools.iter().enumerate() {
            self.tools.mark(&tool.key, &mut hits, &mut by_key);
            // Neighbours in a catalogue mostly share their namespace.
            if namespace != Some(&tool.namespace) {
                namespace = Some(&tool.namespace);
                self.namespaces
                    .mark(&tool.namespace, &mut hits, &mut by_namespace);
            }
            by_tag.clear();
            let rules_of = |tag| self.tags.get(tag).into_iter().flatten().copied();
            by_tag.extend(tool.tags.iter().flat_map(rules_of));
            for (number, rule) in rules.iter().enumerate() {
                let covers = (rule.tools.is_empty() || by_key.contains(number))
                    && (rule.namespaces.is_empty() || by_namespace.contains(number))
                    && (rule.tags.is_empty() || by_tag.contains(number))
                    && (rule.side_effects.is_empty()
                        || rule.side_effects.contains(&tool.side_effect))
                    && (rule.risks.is_empty() || rule.risks.contains(&tool.risk));
                if covers {
                    covered[number].insert(at);
                }
            }
        }
        covered
    }
}

impl Patterns {
    fn new(rules: &[Rule], list: impl Fn(&Rule) -> &Vec<String>) -> Result<Self, Error> {
        let mut position: HashMap<&str, usize> = HashMap::new();
        let mut set = GlobSet::builder();
        let mut by_pattern: Vec<Vec<usize>> = Vec::new();
        for (at, rule) in rules.iter().enumerate() {
            for text in list(rule) {
                let fault = |source| Error::Glob {
                    rule: at + 1,
                    glob: text.clone(),
                    source,
                };
                let known = position.get(text.as_str()).copied();
                let pattern = match known {
                    Some(pattern) => pattern,
                    None => {
                        set.add(Glob::new(text).map_err(fault)?);
                        by_pattern.push(Vec::new());
                        position.insert(text, by_pattern.len() - 1);
                        by_pattern.len() - 1
                    }
                };
                by_pattern[pattern].push(at);
            }
        }
        let set = set.build().map_err(|source| Error::Globs { source })?;
        Ok(Self {
            set,
            rules: by_pattern,
        })
    }

    /// The rules for which `text` matches a pattern; `hits` is room to work in.
    fn mark(&self, text: &str, hits: &mut Vec<usize>, marked: &mut FixedBitSet) {
        marked.clear();
        self.set.matches_into(text, hits);
        for pattern in hits.iter() {
            marked.extend(self.rules[*pattern].iter().copied());
        }
    }
}
