//! What would make a catalogue easier to search: findings about texts, names and groups, with advice.
//!
//! It reads words only. Tools that mean the same in other words are the index's business, not ours.

mod similar;
#[cfg(test)]
mod tests;

use std::collections::HashMap;

use serde_json::Value;

use super::{Catalog, schema};
use crate::tool::{Namespace, NamespaceId, Tool};

/// Characters below which a description can hardly tell a tool from its neighbours; a Chinese
/// character says about as much as two Latin ones, and counts so.
const SHORT_DESCRIPTION: usize = 20;
/// Tools above which a namespace is a crowd: OpenAI's tool search guide asks for fewer than ten
/// functions a namespace.
const CROWDED_NAMESPACE: usize = 10;
/// Characters of a name that every provider takes; OpenAI and Anthropic refuse longer ones.
const MAX_PROVIDER_NAME: usize = 64;
/// Parameters below which missing descriptions are not worth a finding: names of one or two
/// arguments mostly speak for themselves.
const MIN_PARAMETERS: usize = 3;

/// What a finding is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Check {
    /// Tools without a description.
    EmptyDescription,
    /// Tools whose description says next to nothing.
    ShortDescription,
    /// Tools whose name and description are the same words.
    Duplicate,
    /// Tools whose name and description are nearly the same words.
    NearDuplicate,
    /// Tools of the same name in several namespaces.
    SharedName,
    /// Namespaces of many tools.
    CrowdedNamespace,
    /// Tools that do not say when to use them.
    MissingUseWhen,
    /// Names that model providers refuse.
    RefusedName,
    /// Tools of which most parameters are not described.
    UndescribedParameters,
    /// Schemas with a `$ref` that leads nowhere or back to itself.
    BrokenReference,
}

impl Check {
    /// All of them, the most harmful first.
    pub const ALL: [Self; 10] = [
        Self::EmptyDescription,
        Self::Duplicate,
        Self::NearDuplicate,
        Self::RefusedName,
        Self::BrokenReference,
        Self::ShortDescription,
        Self::SharedName,
        Self::CrowdedNamespace,
        Self::MissingUseWhen,
        Self::UndescribedParameters,
    ];

    /// The word used in answers.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::EmptyDescription => "empty_description",
            Self::ShortDescription => "short_description",
            Self::Duplicate => "duplicate",
            Self::NearDuplicate => "near_duplicate",
            Self::SharedName => "shared_name",
            Self::CrowdedNamespace => "crowded_namespace",
            Self::MissingUseWhen => "missing_use_when",
            Self::RefusedName => "refused_name",
            Self::UndescribedParameters => "undescribed_parameters",
            Self::BrokenReference => "broken_reference",
        }
    }

    /// What was found, for people.
    pub fn title(self) -> &'static str {
        match self {
            Self::EmptyDescription => "tools without a description",
            Self::ShortDescription => "tools with a very short description",
            Self::Duplicate => "groups of tools with the same name and description",
            Self::NearDuplicate => "groups of tools that say nearly the same",
            Self::SharedName => "names that tools of several namespaces share",
            Self::CrowdedNamespace => "namespaces of more than 10 tools",
            Self::MissingUseWhen => "tools without a use_when line",
            Self::RefusedName => "names that model providers refuse",
            Self::UndescribedParameters => "tools with mostly undescribed parameters",
            Self::BrokenReference => "schemas with a broken or circular $ref",
        }
    }

    /// What to do about it.
    pub fn advice(self) -> &'static str {
        match self {
            Self::EmptyDescription => {
                "say in one or two sentences what each does: without, only its name finds it"
            }
            Self::ShortDescription => {
                "add what it works on and what comes back, in the words users have for it"
            }
            Self::Duplicate => {
                "keep one, or say in use_when and avoid_when which is for what: a model cannot tell"
            }
            Self::NearDuplicate => {
                "tell them apart by use_when and avoid_when lines that name each other"
            }
            Self::SharedName => {
                "say in each description whose it is: a model sees names without their namespace"
            }
            Self::CrowdedNamespace => {
                "split them by task: a smaller group has a clearer description to be found by"
            }
            Self::MissingUseWhen => {
                "add a line or two of use_when, above all to tools with look-alikes"
            }
            Self::RefusedName => {
                "use 1 to 64 of a-z A-Z 0-9 _ - where a model is to call them by that name"
            }
            Self::UndescribedParameters => {
                "describe what is not plain from the name: formats, units, where an id comes from"
            }
            Self::BrokenReference => "put what is referred to into $defs of the same schema",
        }
    }

    /// Whether it costs answers, rather than only polish.
    pub fn severity(self) -> Severity {
        match self {
            Self::EmptyDescription
            | Self::Duplicate
            | Self::NearDuplicate
            | Self::RefusedName
            | Self::BrokenReference => Severity::Harmful,
            Self::ShortDescription
            | Self::SharedName
            | Self::CrowdedNamespace
            | Self::MissingUseWhen
            | Self::UndescribedParameters => Severity::Advice,
        }
    }
}

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// It could be better.
    Advice,
    /// Requests go to the wrong tool, or to none, because of it.
    Harmful,
}

impl Severity {
    /// The word used in answers.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Advice => "advice",
            Self::Harmful => "harmful",
        }
    }
}

/// What a catalogue looks like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// Tools looked at.
    pub tools: usize,
    /// Namespaces they are in.
    pub namespaces: usize,
    /// What was found, the most harmful first; checks that found nothing are left out.
    pub findings: Vec<Finding>,
}

/// All that one check found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The check.
    pub check: Check,
    /// Whom it concerns, worst first, then by key.
    pub subjects: Vec<Subject>,
}

/// A tool, a group of tools or a namespace that a finding is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subject {
    /// Keys of the tools, or the one name of the namespace.
    pub keys: Vec<String>,
    /// What is the matter, in a few words; may be empty.
    pub detail: String,
    /// How bad it is, to sort by: higher is worse. Comparable within one check only.
    pub weight: usize,
}

/// Looks at a catalogue. Takes time in proportion to its text.
pub fn examine(catalog: &Catalog) -> Report {
    let mut found: HashMap<Check, Vec<Subject>> = HashMap::new();
    let mut add = |check, subject| found.entry(check).or_default().push(subject);
    for tool in catalog.tools() {
        for (check, detail, weight) in about_tool(tool) {
            let keys = vec![tool.key.clone()];
            add(
                check,
                Subject {
                    keys,
                    detail,
                    weight,
                },
            );
        }
    }
    for (check, subject) in about_groups(catalog) {
        add(check, subject);
    }
    for (check, group) in similar::groups(catalog.tools()) {
        add(check, group);
    }
    Report {
        tools: catalog.len(),
        namespaces: catalog.namespaces().len(),
        findings: Check::ALL
            .into_iter()
            .filter_map(|check| {
                let mut subjects = found.remove(&check)?;
                subjects.sort_by(|a, b| (b.weight, &a.keys).cmp(&(a.weight, &b.keys)));
                Some(Finding { check, subjects })
            })
            .collect(),
    }
}

/// Check, detail and weight of what is the matter with one tool.
fn about_tool(tool: &Tool) -> Vec<(Check, String, usize)> {
    let mut found = Vec::new();
    let length = saying(&tool.description);
    if length == 0 {
        found.push((Check::EmptyDescription, String::new(), 0));
    } else if length < SHORT_DESCRIPTION {
        let detail = format!("\"{}\"", tool.description.trim());
        found.push((Check::ShortDescription, detail, SHORT_DESCRIPTION - length));
    }
    if tool.use_when.is_empty() && tool.examples.is_empty() {
        let weight = SHORT_DESCRIPTION.saturating_sub(length);
        found.push((Check::MissingUseWhen, String::new(), weight));
    }
    if let Some(detail) = refusal(&tool.name) {
        found.push((Check::RefusedName, detail, tool.name.len()));
    }
    let bare = |p: &&crate::tool::Parameter| p.description.is_empty() && p.values.is_empty();
    let undescribed = tool.inputs.iter().filter(bare).count();
    if tool.inputs.len() >= MIN_PARAMETERS && undescribed * 2 > tool.inputs.len() {
        let detail = format!("{undescribed} of {}", tool.inputs.len());
        found.push((Check::UndescribedParameters, detail, undescribed));
    }
    if let Some(detail) = broken_reference(tool) {
        found.push((Check::BrokenReference, detail, 0));
    }
    found
}

/// How much a text says, in Latin characters.
fn saying(text: &str) -> usize {
    text.chars()
        .filter(|c| c.is_alphanumeric())
        .map(|c| if c < '\u{2e80}' { 1 } else { 2 })
        .sum()
}

fn refusal(name: &str) -> Option<String> {
    let allowed = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if let Some(c) = name.chars().find(|c| !allowed(c)) {
        return Some(format!("holds '{c}'"));
    }
    let length = name.len();
    (length > MAX_PROVIDER_NAME).then(|| format!("has {length} characters"))
}

fn broken_reference(tool: &Tool) -> Option<String> {
    let schemas = [Some(&tool.input_schema), tool.output_schema.as_ref()];
    schemas.into_iter().flatten().find_map(|json| {
        if !json.as_str().contains("$ref") {
            return None;
        }
        let value: Value = serde_json::from_str(json.as_str()).ok()?;
        let found = schema::parameters(&value);
        match found.dangling {
            Some(reference) => Some(format!("'{reference}' leads nowhere")),
            None => found.cyclic.then(|| "leads back to itself".to_owned()),
        }
    })
}

fn about_groups(catalog: &Catalog) -> Vec<(Check, Subject)> {
    let mut found = crowds(catalog);
    found.extend(shared_names(catalog.tools()));
    found
}

fn shared_names(tools: &[Tool]) -> impl Iterator<Item = (Check, Subject)> {
    let mut by_name: HashMap<&str, Vec<&Tool>> = HashMap::new();
    for tool in tools {
        by_name.entry(&tool.name).or_default().push(tool);
    }
    by_name.into_iter().filter_map(|(name, tools)| {
        let several = tools
            .iter()
            .any(|tool| tool.namespace != tools[0].namespace);
        several.then(|| {
            let subject = Subject {
                keys: tools.iter().map(|tool| tool.key.clone()).collect(),
                detail: format!("'{name}'"),
                weight: tools.len(),
            };
            (Check::SharedName, subject)
        })
    })
}

fn crowds(catalog: &Catalog) -> Vec<(Check, Subject)> {
    let mut counts = vec![0; catalog.namespaces().len()];
    for tool in 0..catalog.len() {
        let id = catalog.namespace_of(crate::tool::ToolId(tool as u32));
        counts[id.index()] += 1;
    }
    let crowded = |(at, count): (usize, usize)| {
        let namespace: &Namespace = catalog.namespace(NamespaceId(at as u32));
        // The root is where tools are that have no group: there is nothing to split.
        (count > CROWDED_NAMESPACE && !namespace.name.is_empty()).then(|| {
            let subject = Subject {
                keys: vec![namespace.name.clone()],
                detail: format!("{count} tools"),
                weight: count,
            };
            (Check::CrowdedNamespace, subject)
        })
    };
    counts.into_iter().enumerate().filter_map(crowded).collect()
}
