//! What the protocol asks of a server, over what this one has.

use std::borrow::Cow;

use axum::http::request::Parts;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, Implementation, ListToolsResult,
    PaginatedRequestParams, ProtocolVersion, ServerCapabilities, ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};

use super::call::call;
use super::definition::{Named, definitions};
use crate::access::Principal;
use crate::serve::audit::Trail;
use crate::serve::auth::Caller;
use crate::serve::error::Error;
use crate::serve::state::App;

/// Milliseconds for which a client may keep the list of tools. It changes with the namespaces that
/// the caller may see, seldom; a stale one costs a worse hint and nothing else.
const LIST_TTL: u64 = 60_000;

/// Revisions of the protocol that are served.
static REVISIONS: [ProtocolVersion; 3] = [
    ProtocolVersion::V_2025_06_18,
    ProtocolVersion::V_2025_11_25,
    ProtocolVersion::V_2026_07_28,
];

const INSTRUCTIONS: &str = "Hundreds of tools stand behind this server. Say to discover_tools in a \
sentence what you need done: it answers with the few tools that fit, or that none does. \
describe_tool gives the whole definition of one.";

/// Serves one request or one client; made anew for each.
#[derive(Debug, Clone)]
pub(super) struct Handler {
    app: App,
    /// Who asks, where it is one for all requests; else each request says it.
    principal: Option<Principal>,
}

impl Handler {
    /// For requests that authentication has passed.
    pub(super) fn of_requests(app: App) -> Self {
        Self {
            app,
            principal: None,
        }
    }

    /// For one client that is known beforehand.
    pub(super) fn of_one(app: App, principal: Principal) -> Self {
        Self {
            app,
            principal: Some(principal),
        }
    }

    /// Which request it is, for the audit: over HTTP as answers and logs have it, else as the client
    /// numbers it.
    fn trail(&self, context: &RequestContext<RoleServer>) -> Trail {
        match context.extensions.get::<Parts>() {
            Some(parts) if self.principal.is_none() => Trail::of(&parts.extensions),
            _ => Trail {
                request: context.id.to_string(),
                caller: String::new(),
            },
        }
    }

    /// Who asks: never taken from what the protocol carries.
    fn principal(&self, context: &RequestContext<RoleServer>) -> Result<Principal, ErrorData> {
        if let Some(principal) = &self.principal {
            return Ok(principal.clone());
        }
        let parts = context.extensions.get::<Parts>();
        match parts.and_then(|parts| parts.extensions.get::<Caller>()) {
            Some(Caller(principal)) => Ok(principal.clone()),
            None => Err(ErrorData::internal_error("nobody is known to ask", None)),
        }
    }
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let mut itself = Implementation::new("toolscout", env!("CARGO_PKG_VERSION"));
        itself.title = Some("toolscout".to_owned());
        itself.description = Some(env!("CARGO_PKG_DESCRIPTION").to_owned());
        let tools = ServerCapabilities::builder().enable_tools().build();
        ServerConfig::new(tools)
            .with_server_info(itself)
            .with_instructions(INSTRUCTIONS)
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(&REVISIONS)
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let principal = self.principal(&context)?;
        let (app, served) = (self.app.clone(), self.app.served());
        let work = move || {
            let seen = served.seen_by(&principal);
            definitions(&served.index, &seen.view, app.mcp())
        };
        let tools = self.app.gate().run(work).await.map_err(|e| refusal(&e))?;
        let mut list = ListToolsResult::with_all_items(tools);
        list.ttl_ms = Some(LIST_TTL);
        // Another caller may see other namespaces.
        list.cache_scope = Some(CacheScope::Private);
        Ok(list)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let asking = (self.principal(&context)?, self.trail(&context));
        let Some(named) = Named::of(&request.name, self.app.mcp()) else {
            let names: Vec<&str> = Named::of_server(self.app.mcp())
                .map(Named::as_str)
                .collect();
            let names = names.join(", ");
            let reason = format!(
                "there is no tool '{}' here; there are: {names}",
                request.name
            );
            return Err(ErrorData::invalid_params(reason, None));
        };
        let arguments = request.arguments.unwrap_or_default();
        tokio::select! {
            result = call(&self.app, asking, named, &arguments) => Ok(result.into()),
            // Nobody waits for the answer; what is dropped calls off what it has begun.
            () = context.ct.cancelled() => {
                Err(ErrorData::internal_error("the request was cancelled", None))
            }
        }
    }
}

/// An error of ours where the protocol has no room for a tool's own.
fn refusal(error: &Error) -> ErrorData {
    error.log();
    ErrorData::internal_error(error.to_string(), None)
}
