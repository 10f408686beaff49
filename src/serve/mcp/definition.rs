//! The tools of this server as clients are told of them: the same bytes for callers who may see the
//! same tools.
//!
//! A model that does not know what is behind a search does not search. So the description names the
//! namespaces that the caller may see, in ascending order and within a bound.

use std::fmt::Write;
use std::sync::Arc;

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};

use super::Options;
use crate::catalog::sentence::first_sentence;
use crate::index::Index;
use crate::search::View;
use crate::search::request::{MAX_LIMIT, MAX_NEEDS, MAX_QUERY};

/// Characters of the list of namespaces: a thousand tokens at most, which every prompt carries.
const MAX_DIRECTORY: usize = 4000;

const DISCOVER: &str = "Find the few tools that a request needs, among those you may use. Say in \
your own words, in any language, what should be done; several needs go into `queries`. The answer \
holds the definitions of the tools that fit, best first; where none fits, it says so and what is \
near. `select:KEY` asks for a tool by key.";
const CALL: &str = "Call a tool that discover_tools or describe_tool told of. Its arguments are \
checked against its schema; the result is the tool's own.";
const DESCRIBE: &str = "The whole definition of one tool: what it does, when to use it, the JSON \
Schema of its arguments.";

/// A tool of this server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Named {
    /// Which tools does this request need?
    Discover,
    /// What is this tool?
    Describe,
    /// Call this tool.
    Call,
}

impl Named {
    /// All of them, in the order of the list; [`Named::Call`] only of a gateway.
    const ALL: [Self; 3] = [Self::Discover, Self::Describe, Self::Call];

    /// Those that a server has.
    pub(super) fn of_server(options: &Options) -> impl Iterator<Item = Self> {
        let gateway = options.gateway && options.sources.is_some();
        let has = move |named: &Self| *named != Self::Call || gateway;
        Self::ALL.into_iter().filter(has)
    }

    /// The name that a client calls.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Discover => "discover_tools",
            Self::Describe => "describe_tool",
            Self::Call => "call_tool",
        }
    }

    /// The tool of this name, where the server has it.
    pub(super) fn of(name: &str, options: &Options) -> Option<Self> {
        Self::of_server(options).find(|named| named.as_str() == name)
    }
}

/// The tools as the caller of `view` is told of them.
pub(super) fn definitions(index: &Index, view: &View, options: &Options) -> Vec<Tool> {
    let discover = format!("{DISCOVER}{}", directory(index, view));
    let reads = ToolAnnotations::new()
        .read_only(true)
        .destructive(false)
        .idempotent(true)
        .open_world(false);
    let looks = |named: Named, title: &str, description: String, (input, output)| {
        Tool::new(named.as_str(), description, object(input))
            .with_title(title)
            .with_raw_output_schema(object(output))
            .with_annotations(reads.clone())
    };
    let one = |named| match named {
        Named::Discover => looks(
            named,
            "Discover tools",
            discover.clone(),
            (discover_input(), discover_output()),
        ),
        Named::Describe => looks(
            named,
            "Describe a tool",
            DESCRIBE.to_owned(),
            (describe_input(), describe_output()),
        ),
        // What it does is what the tool does, so the protocol's careful defaults hold.
        Named::Call => {
            Tool::new(named.as_str(), CALL, object(call_input())).with_title("Call a tool")
        }
    };
    Named::of_server(options).map(one).collect()
}

/// The namespaces that hold a tool the caller may see.
fn directory(index: &Index, view: &View) -> String {
    let mut text = String::from("\n\nNamespaces (with how many tools each holds):");
    let mut told = 0;
    for visible in &view.namespaces {
        let namespace = index.catalog.namespace(visible.id);
        let name = if namespace.name.is_empty() {
            "(no namespace)"
        } else {
            namespace.name.as_str()
        };
        let mut line = format!("\n- {name} ({})", visible.tools);
        let about = first_sentence(&namespace.description);
        if !about.is_empty() {
            let _ = write!(line, ": {about}");
        }
        if text.chars().count() + line.chars().count() > MAX_DIRECTORY {
            break;
        }
        text.push_str(&line);
        told += 1;
    }
    match (told, view.namespaces.len() - told) {
        (0, 0) => "\n\nThere is no tool that you may use.".to_owned(),
        (_, 0) => text,
        (_, more) => format!("{text}\n- and {more} more"),
    }
}

fn discover_input() -> Value {
    let texts = |about: &str| json!({"type": "array", "items": {"type": "string"}, "maxItems": 64, "description": about});
    json!({
        "type": "object",
        "additionalProperties": false,
        "anyOf": [{"required": ["query"]}, {"required": ["queries"]}],
        "properties": {
            "query": {
                "type": "string",
                "minLength": 1,
                "maxLength": MAX_QUERY,
                "description": "What should be done, in a sentence"
            },
            "queries": {
                "type": "array",
                "items": {"type": "string", "minLength": 1, "maxLength": MAX_QUERY},
                "maxItems": MAX_NEEDS,
                "description": "Several needs at once, a sentence each"
            },
            "limit": {
                "type": "integer",
                "minimum": 1,
                "maximum": MAX_LIMIT,
                "description": "Tools wanted; 5 where absent"
            },
            "namespaces": texts("Search these namespaces alone"),
            "kinds": {
                "type": "array",
                "items": {"enum": ["search", "read", "parse", "query", "act"]},
                "maxItems": 64,
                "description": "Search tools of these kinds alone"
            },
            "side_effects": {
                "type": "array",
                "items": {"enum": ["unknown", "none", "read", "write", "destructive"]},
                "maxItems": 64,
                "description": "Search tools with these side effects alone"
            },
            "context": {
                "type": "object",
                "additionalProperties": false,
                "description": "The moment of the task, where there are rules for moments",
                "properties": {
                    "phase": {"type": "string", "description": "locate, modify or verify, or what the rules call it"},
                    "language": {"type": "string", "description": "Programming language of the project"},
                    "previous_result": {"type": "string", "description": "How the last call ended: ok, error, empty"},
                    "previous_tool": {"type": "string", "description": "Key of the tool called last"},
                    "turn": {"type": "integer", "minimum": 0, "maximum": 1_000_000, "description": "Turns taken so far"}
                }
            },
            "detail": {
                "enum": ["full", "compact", "name"],
                "description": "How much of each definition to answer with; full where absent"
            }
        }
    })
}

fn discover_output() -> Value {
    json!({
        "type": "object",
        "required": ["catalog_etag", "hits", "no_match", "confidence", "truncated", "arms"],
        "properties": {
            "catalog_etag": {
                "type": "string",
                "description": "Changes when and only when a definition changes that you may see"
            },
            "hits": {
                "type": "array",
                "description": "The tools that fit, best first",
                "items": {
                    "type": "object",
                    "required": ["tool", "score"],
                    "properties": {
                        "tool": {"type": "string", "description": "Key of the tool"},
                        "score": {"type": "number", "minimum": 0, "maximum": 1},
                        "definition": {"type": "object"},
                        "needs": {"type": "array", "items": {"type": "integer"}},
                        "variants": {"type": "array", "items": {"type": "string"}}
                    }
                }
            },
            "no_match": {
                "type": ["object", "null"],
                "description": "Why there are no hits, what to do about it, and what is near",
                "required": ["reason", "advice", "near"],
                "properties": {
                    "reason": {"type": "string"},
                    "advice": {"type": "string"},
                    "near": {"type": "array", "items": {"type": "string"}}
                }
            },
            "confidence": {"type": "number", "minimum": 0, "maximum": 1},
            "truncated": {"type": "boolean", "description": "More tools fit than were asked for"},
            "unavailable": {
                "type": "array",
                "items": {"type": "string"},
                "description": "Servers whose tools you may use and that cannot be called now"
            },
            "unserved": {"type": "array", "items": {"type": "integer"}},
            "arms": {"type": "array", "items": {"type": "string"}}
        }
    })
}

fn describe_input() -> Value {
    json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["tool"],
        "properties": {
            "tool": {
                "type": "string",
                "description": "Key of the tool, as discover_tools gave it; or its name, where no other has that"
            }
        }
    })
}

fn call_input() -> Value {
    json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["tool"],
        "properties": {
            "tool": {"type": "string", "description": "Key of the tool, as discover_tools gave it"},
            "arguments": {"type": "object", "description": "What the tool takes: see its input_schema"}
        }
    })
}

fn describe_output() -> Value {
    json!({
        "type": "object",
        "required": ["catalog_etag", "tool", "definition"],
        "properties": {
            "catalog_etag": {"type": "string"},
            "tool": {"type": "string", "description": "Key of the tool"},
            "definition": {
                "type": "object",
                "required": ["name", "description", "input_schema"]
            }
        }
    })
}

fn object(schema: Value) -> Arc<JsonObject> {
    match schema {
        Value::Object(map) => Arc::new(map),
        _ => Arc::default(),
    }
}
