//! The OpenAPI document, made of the handlers and the wire shapes themselves.

use std::sync::LazyLock;

use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::openapi::{OpenApi as Document, RefOr, Required};
use utoipa::{Modify, OpenApi};

use super::auth::header::{NARROW, PRINCIPAL};
use super::http::{
    authorize, bulk, change, discover, health, index, listing, namespaces, policy, route, tools,
};

#[derive(OpenApi)]
#[openapi(
    info(
        title = "toolscout",
        description = "Which few of the tools that this caller may use does this request need?"
    ),
    paths(
        discover::discover,
        route::route,
        authorize::authorize,
        tools::list,
        tools::one,
        namespaces::list,
        change::put,
        change::patch,
        change::delete,
        change::history,
        listing::replace,
        listing::describe,
        bulk::bulk,
        index::state,
        index::rebuild,
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
                "An API key, or a token (JWT) of an issuer that the server believes. A server that \
                 was started open asks for none.",
            ))
            .build();
        document
            .components
            .get_or_insert_default()
            .add_security_scheme("api_key", SecurityScheme::Http(scheme));
        for item in document.paths.paths.values_mut() {
            for operation in [&mut item.get, &mut item.post].into_iter().flatten() {
                let is_administration = operation
                    .tags
                    .iter()
                    .flatten()
                    .any(|tag| ["administration", "registry"].contains(&tag.as_str()));
                if operation.security.is_some() && !is_administration {
                    let parameters = operation.parameters.get_or_insert_default();
                    parameters.extend(rights().map(RefOr::T));
                }
            }
        }
    }
}

/// The headers by which a caller speaks of its own rights.
fn rights() -> [Parameter; 2] {
    [
        (
            PRINCIPAL,
            "JSON: whom this key acts for, as `{\"tenant\", \"roles\", \"scopes\", \"environment\"}`. The \
             answer shows what both may see. For keys with `acts_for` only; else `may_not_act`.",
        ),
        (
            NARROW,
            "JSON: what is kept of the caller's rights for this request, as `{\"roles\", \"scopes\", \
             \"environment\"}`. It can take away and never add.",
        ),
    ]
    .map(|(name, description)| {
        ParameterBuilder::new()
            .name(name)
            .parameter_in(ParameterIn::Header)
            .required(Required::False)
            .description(Some(description))
            .schema(Some(ObjectBuilder::new().schema_type(Type::String)))
            .build()
    })
}

/// The document as text; the same for every request.
pub(super) fn document() -> &'static str {
    static TEXT: LazyLock<String> = LazyLock::new(|| {
        // Made of plain maps and strings, which always become JSON.
        Api::openapi().to_pretty_json().unwrap_or_default()
    });
    &TEXT
}
