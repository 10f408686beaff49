//! What of a tool is searchable: the one place that decides it.
//!
//! Three views of the same tool: the [`document`] that people read and `index --show-document`
//! prints, the [`fields`] that words are counted in, and the [`passages`] that are embedded.

use std::fmt::Write;

use crate::tool::{Namespace, Parameter, SideEffect, Tool};

/// Characters of a tool's description that are embedded or counted; longer ones are clipped, so
/// that a megabyte of text is not a megabyte of keywords.
const MAX_DESCRIPTION: usize = 4000;
/// Characters of a description in an embedded passage; the models read about 500 tokens.
const MAX_PASSAGE_DESCRIPTION: usize = 1000;
/// Characters of one use-when, avoid-when or example line.
const MAX_LINE: usize = 600;
/// Lines taken of each of use-when, avoid-when and examples.
const MAX_LINES: usize = 24;
/// Parameters named in an embedded passage: more would drown the description.
const MAX_PASSAGE_INPUTS: usize = 16;

/// Which part of a tool a passage tells of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Passage {
    /// Namespace, name, description and parameter names.
    Document,
    /// Name and description alone: closer to a short request than the whole document is.
    Short,
    /// One use-when line.
    UseWhen,
    /// One example request.
    Example,
    /// One avoid-when line: negative evidence.
    AvoidWhen,
}

/// A tool's searchable text, a text a [`Field`](crate::index::lexical::Field) in that order: name
/// and aliases, namespace, description, parameter names, parameter descriptions, enumerated values,
/// tags with the namespace's own description, and usage (use-when and example lines).
pub fn fields(tool: &Tool, namespace: &Namespace) -> [String; 8] {
    let mut name = tool.name.clone();
    for alias in &tool.aliases {
        let _ = write!(name, "\n{alias}");
    }
    let (mut names, mut texts, mut values) = (String::new(), String::new(), String::new());
    for parameter in tool.inputs.iter().chain(&tool.outputs) {
        let _ = writeln!(names, "{}", parameter.path);
        let _ = writeln!(texts, "{}", parameter.description);
        for value in &parameter.values {
            let _ = writeln!(values, "{value}");
        }
    }
    let mut tags = tool.tags.join("\n");
    for tag in &namespace.tags {
        let _ = write!(tags, "\n{tag}");
    }
    let _ = write!(tags, "\n{}", clip(&namespace.description, MAX_LINE));
    let mut usage = String::new();
    for line in lines(&tool.use_when).chain(lines(&tool.examples)) {
        let _ = writeln!(usage, "{line}");
    }
    let description = clip(&tool.description, MAX_DESCRIPTION).to_owned();
    [
        name,
        tool.namespace.clone(),
        description,
        names,
        texts,
        values,
        tags,
        usage,
    ]
}

/// The texts of a tool that are embedded, each a vector of its own.
///
/// The document passage is always the first.
pub fn passages(tool: &Tool) -> Vec<(Passage, String)> {
    let mut passages = vec![
        (Passage::Document, document_passage(tool)),
        (Passage::Short, short_passage(tool)),
    ];
    passages.extend(lines(&tool.use_when).map(|line| (Passage::UseWhen, line.to_owned())));
    passages.extend(lines(&tool.examples).map(|line| (Passage::Example, line.to_owned())));
    passages.extend(lines(&tool.avoid_when).map(|line| (Passage::AvoidWhen, line.to_owned())));
    passages
}

fn short_passage(tool: &Tool) -> String {
    format!(
        "{}. {}",
        spaced(&tool.name),
        clip(&tool.description, MAX_PASSAGE_DESCRIPTION)
    )
}

fn document_passage(tool: &Tool) -> String {
    let mut text = String::new();
    if !tool.namespace.is_empty() {
        let _ = write!(text, "{}: ", spaced(&tool.namespace));
    }
    let _ = write!(text, "{}", spaced(&tool.name));
    for alias in &tool.aliases {
        let _ = write!(text, ", {alias}");
    }
    text.push_str(". ");
    text.push_str(clip(&tool.description, MAX_PASSAGE_DESCRIPTION));
    let inputs: Vec<&str> = tool
        .inputs
        .iter()
        .take(MAX_PASSAGE_INPUTS)
        .map(|parameter| parameter.path.as_str())
        .collect();
    if !inputs.is_empty() {
        let _ = write!(text, " Inputs: {}", inputs.join(", "));
    }
    text
}

/// A namespace as embedded: its name, description and tags, and nothing of its tools.
pub fn namespace_passage(namespace: &Namespace) -> String {
    let mut text = spaced(&namespace.name);
    if !namespace.description.is_empty() {
        let _ = write!(text, ". {}", clip(&namespace.description, MAX_DESCRIPTION));
    }
    if !namespace.tags.is_empty() {
        let _ = write!(text, " ({})", namespace.tags.join(", "));
    }
    text
}

/// The whole tool document, with a heading a section, for people to read.
pub fn document(tool: &Tool, namespace: &Namespace) -> String {
    let mut text = String::new();
    let mut section = |title: &str, body: &str| {
        if !body.trim().is_empty() {
            // A list begins on a line of its own.
            let gap = if body.starts_with('\n') { "" } else { " " };
            let _ = writeln!(text, "{title}:{gap}{}", body.trim_end());
        }
    };
    let group = if namespace.description.is_empty() {
        namespace.name.clone()
    } else {
        format!("{} ({})", namespace.name, namespace.description)
    };
    section("Namespace", &group);
    let split = spaced(&tool.name);
    let name = if split == tool.name {
        split
    } else {
        format!("{} ({split})", tool.name)
    };
    section("Name", &name);
    section("Aliases", &tool.aliases.join(", "));
    section("Description", clip(&tool.description, MAX_DESCRIPTION));
    section(
        "Use when",
        &lines(&tool.use_when).collect::<Vec<_>>().join("; "),
    );
    section(
        "Do not use when",
        &lines(&tool.avoid_when).collect::<Vec<_>>().join("; "),
    );
    section(
        "Examples",
        &lines(&tool.examples).collect::<Vec<_>>().join("; "),
    );
    section("Inputs", &parameter_lines(&tool.inputs));
    section("Outputs", &parameter_lines(&tool.outputs));
    if tool.side_effect != SideEffect::Unknown {
        section("Side effect", tool.side_effect.as_str());
    }
    section("Tags", &tool.tags.join(", "));
    text
}

fn parameter_lines(parameters: &[Parameter]) -> String {
    let mut text = String::new();
    for parameter in parameters {
        let _ = write!(text, "\n  {}", parameter.path);
        if parameter.required {
            text.push_str(" (required)");
        }
        if !parameter.description.is_empty() {
            let _ = write!(text, ": {}", parameter.description);
        }
        if !parameter.values.is_empty() {
            let _ = write!(text, " [{}]", parameter.values.join(", "));
        }
    }
    text
}

fn lines(lines: &[String]) -> impl Iterator<Item = &str> {
    lines
        .iter()
        .map(|line| clip(line.trim(), MAX_LINE))
        .filter(|line| !line.is_empty())
        .take(MAX_LINES)
}

/// An identifier as words: split on `_ - . /` and at changes of case.
///
/// ```
/// use toolscout::catalog::text::spaced;
/// assert_eq!(spaced("getShippingETA_v2"), "get Shipping ETA v2");
/// assert_eq!(spaced("查询_订单"), "查询 订单");
/// ```
pub fn spaced(identifier: &str) -> String {
    let mut out = String::with_capacity(identifier.len() + 8);
    let mut previous = ' ';
    let mut characters = identifier.chars().peekable();
    while let Some(c) = characters.next() {
        if matches!(c, '_' | '-' | '.' | '/') || c.is_whitespace() {
            if !out.ends_with(' ') && !out.is_empty() {
                out.push(' ');
            }
            previous = ' ';
            continue;
        }
        let starts_word = c.is_uppercase()
            && (previous.is_lowercase()
                || previous.is_numeric()
                || (previous.is_uppercase()
                    && characters.peek().is_some_and(|next| next.is_lowercase())));
        if starts_word {
            out.push(' ');
        }
        out.push(c);
        previous = c;
    }
    out.truncate(out.trim_end().len());
    out
}

/// The first `limit` characters.
fn clip(text: &str, limit: usize) -> &str {
    match text.char_indices().nth(limit) {
        Some((end, _)) => &text[..end],
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::fixture;

    #[test]
    fn a_document_has_each_section_once_and_skips_empty_ones() {
        let mut tool = fixture::tool("logistics", "get_shipping_eta");
        tool.description = "When a parcel arrives.".into();
        tool.use_when = vec!["东西啥时候到".into(), " ".into()];
        tool.side_effect = SideEffect::Read;
        tool.inputs = vec![Parameter {
            path: "tracking_number".into(),
            description: String::new(),
            values: vec![],
            required: true,
        }];
        let namespace = Namespace {
            name: "logistics".into(),
            description: "Parcels".into(),
            tags: vec![],
        };
        assert_eq!(
            document(&tool, &namespace),
            "Namespace: logistics (Parcels)\n\
             Name: get_shipping_eta (get shipping eta)\n\
             Description: When a parcel arrives.\n\
             Use when: 东西啥时候到\n\
             Inputs:\n  tracking_number (required)\n\
             Side effect: read\n"
        );
        assert_eq!(passages(&tool).len(), 3);
    }

    #[test]
    fn a_megabyte_of_description_is_bounded() {
        let mut tool = fixture::tool("a", "b");
        tool.description = "词".repeat(1_000_000);
        assert!(passages(&tool)[0].1.chars().count() < MAX_PASSAGE_DESCRIPTION + 100);
    }
}
