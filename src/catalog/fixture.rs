//! A bare tool for unit tests.

use std::sync::Arc;

use crate::tool::{Exposure, Json, Risk, SideEffect, Tool};

/// A tool with a name and nothing else.
pub(crate) fn tool(namespace: &str, name: &str) -> Tool {
    Tool {
        key: format!("{namespace}/{name}"),
        namespace: namespace.into(),
        name: name.into(),
        description: String::new(),
        use_when: vec![],
        avoid_when: vec![],
        examples: vec![],
        input_schema: Json(Arc::from(r#"{"type":"object"}"#)),
        output_schema: None,
        inputs: vec![],
        outputs: vec![],
        side_effect: SideEffect::Unknown,
        tags: vec![],
        aliases: vec![],
        kind: None,
        phases: vec![],
        risk: Risk::Low,
        exposure: Exposure::Deferred,
        required_scopes: vec![],
        tenants: vec![],
        owner: None,
    }
}
