//! How each tool may be shown to the model: its own exposure, or that of the first rule to cover it.

use globset::{Glob, GlobMatcher};

use crate::tool::{Exposure, Kind, SideEffect, Tool};

/// For these tools, this exposure. An empty list puts no condition on its field.
#[derive(Debug, Clone)]
pub struct ExposureRule {
    tools: Vec<GlobMatcher>,
    namespaces: Vec<GlobMatcher>,
    /// Tags: any one of them is enough.
    pub tags: Vec<String>,
    /// Kinds.
    pub kinds: Vec<Kind>,
    /// Side effects.
    pub side_effects: Vec<SideEffect>,
    /// What the tools are exposed as.
    pub exposure: Exposure,
}

/// A glob that does not parse.
#[derive(Debug, thiserror::Error)]
#[error("'{glob}' is not a glob: {source}")]
pub struct BadGlob {
    /// The text given.
    pub glob: String,
    /// What is wrong with it.
    source: globset::Error,
}

impl ExposureRule {
    /// A rule for the tools whose key or name matches any of `tools`, in namespaces that match any
    /// of `namespaces`.
    ///
    /// # Errors
    /// [`BadGlob`] naming the first glob that does not parse.
    pub fn new(
        exposure: Exposure,
        tools: &[String],
        namespaces: &[String],
    ) -> Result<Self, BadGlob> {
        Ok(Self {
            tools: compile(tools)?,
            namespaces: compile(namespaces)?,
            tags: Vec::new(),
            kinds: Vec::new(),
            side_effects: Vec::new(),
            exposure,
        })
    }

    /// The rule that `tools` are never deferred: they are in the prompt from the start. A search
    /// costs a turn, and a tool that a model must think of by itself (ask the user, hand over) is
    /// not searched for. Put it first.
    ///
    /// # Errors
    /// [`BadGlob`] naming the first glob that does not parse.
    pub fn never_defer(tools: &[String]) -> Result<Self, BadGlob> {
        Self::new(Exposure::Direct, tools, &[])
    }

    fn covers(&self, tool: &Tool) -> bool {
        let any = |globs: &[GlobMatcher], texts: &[&str]| {
            globs.is_empty()
                || globs
                    .iter()
                    .any(|g| texts.iter().any(|text| g.is_match(text)))
        };
        any(&self.tools, &[&tool.key, &tool.name])
            && any(&self.namespaces, &[&tool.namespace])
            && (self.tags.is_empty() || self.tags.iter().any(|tag| tool.tags.contains(tag)))
            && (self.kinds.is_empty() || tool.kind.is_some_and(|kind| self.kinds.contains(&kind)))
            && (self.side_effects.is_empty() || self.side_effects.contains(&tool.side_effect))
    }
}

/// What `tool` is exposed as under `rules`, the first of which to cover it decides.
pub fn exposure(tool: &Tool, rules: &[ExposureRule]) -> Exposure {
    rules
        .iter()
        .find(|rule| rule.covers(tool))
        .map_or(tool.exposure, |rule| rule.exposure)
}

fn compile(globs: &[String]) -> Result<Vec<GlobMatcher>, BadGlob> {
    let compile = |glob: &String| match Glob::new(glob) {
        Ok(parsed) => Ok(parsed.compile_matcher()),
        Err(source) => Err(BadGlob {
            glob: glob.clone(),
            source,
        }),
    };
    globs.iter().map(compile).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::fixture;

    fn rule(exposure: Exposure, tools: &[&str], namespaces: &[&str]) -> ExposureRule {
        let own = |texts: &[&str]| -> Vec<String> {
            texts.iter().map(|text| (*text).to_owned()).collect()
        };
        ExposureRule::new(exposure, &own(tools), &own(namespaces)).unwrap()
    }

    #[test]
    fn the_first_rule_that_covers_a_tool_decides() {
        let rules = [
            rule(Exposure::Direct, &["clarify"], &[]),
            rule(Exposure::Hidden, &[], &["vault*"]),
            rule(Exposure::CodeMode, &["*_csv"], &[]),
        ];
        for (namespace, name, expected) in [
            ("chat", "clarify", Exposure::Direct),
            ("vault", "clarify", Exposure::Direct),
            ("vault-2", "rotate", Exposure::Hidden),
            ("data", "parse_csv", Exposure::CodeMode),
            ("data", "parse", Exposure::Deferred),
        ] {
            let tool = fixture::tool(namespace, name);
            assert_eq!(exposure(&tool, &rules), expected, "{namespace}/{name}");
        }
    }

    #[test]
    fn a_rule_may_speak_of_what_a_call_changes() {
        let mut rule = rule(Exposure::Hidden, &[], &[]);
        rule.side_effects = vec![SideEffect::Destructive];
        let mut tool = fixture::tool("disk", "format");
        assert_eq!(exposure(&tool, &[rule.clone()]), Exposure::Deferred);
        tool.side_effect = SideEffect::Destructive;
        assert_eq!(exposure(&tool, &[rule]), Exposure::Hidden);
    }

    #[test]
    fn a_bad_glob_is_named() {
        let error = ExposureRule::never_defer(&["[".to_owned()]).unwrap_err();
        assert!(
            error.to_string().starts_with("'[' is not a glob"),
            "{error}"
        );
    }
}
