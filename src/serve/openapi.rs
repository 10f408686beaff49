//! The OpenAPI document, made of the handlers and the wire shapes themselves.

use std::sync::LazyLock;

use utoipa::openapi::OpenApi as Document;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::{Modify, OpenApi};

use super::http::{discover, health, namespaces, policy, tools};

#[derive(OpenApi)]
#[openapi(
    info(
        title = "toolscout",
        description = "Which few of the tools that this caller may use does this request need?"
    ),
    paths(
        discover::discover,
        tools::list,
        tools::one,
        namespaces::list,
        policy::why,
        health::alive,
        health::ready
    ),
    modifiers(&ApiKey)
)]
struct Api;

struct ApiKey;

impl Modify for ApiKey {
    fn modify(&self, document: &mut Document) {
        let scheme = HttpBuilder::new()
            .scheme(HttpAuthScheme::Bearer)
            .description(Some(
                "An API key. A server that was started open asks for none.",
            ))
            .build();
        document
            .components
            .get_or_insert_default()
            .add_security_scheme("api_key", SecurityScheme::Http(scheme));
    }
}

/// The document as text; the same for every request.
pub(super) fn document() -> &'static str {
    static TEXT: LazyLock<String> = LazyLock::new(|| {
        // Made of plain maps and strings, which always become JSON.
        Api::openapi().to_pretty_json().unwrap_or_default()
    });
    &TEXT
}
