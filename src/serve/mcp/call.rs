//! What the tools do. A fault of the caller's becomes a result that says so (`isError`), since it is
//! the model that can mend it; only a tool that does not exist is a fault of the protocol's.

use std::time::Instant;

use rmcp::model::{CallToolResult, ContentBlock, JsonObject};
use serde_json::Value;

use super::arguments::{Describe, Discover, read};
use super::definition::Named;
use super::forward::forward;
use crate::access::Principal;
use crate::index::Index;
use crate::search::View;
use crate::serve::audit::{Event, Trail};
use crate::serve::error::Error;
use crate::serve::http::discover::find;
use crate::serve::state::App;
use crate::serve::wire::{DiscoverRequest, one_tool_response, to_json};
use crate::tool::ToolId;

/// Who asks, and which request it is.
pub(super) type Asking = (Principal, Trail);

/// Calls a tool.
pub(super) async fn call(
    app: &App,
    asking: Asking,
    named: Named,
    arguments: &JsonObject,
) -> CallToolResult {
    let answer = match named {
        Named::Discover => discover(app, asking, arguments).await,
        Named::Describe => describe(app, asking, arguments).await,
        Named::Call => forward(app, asking, arguments).await,
    };
    match answer {
        Ok(result) => result,
        Err(error) => {
            error.log();
            CallToolResult::error(vec![ContentBlock::text(error.to_string())])
        }
    }
}

async fn discover(
    app: &App,
    (principal, trail): Asking,
    arguments: &JsonObject,
) -> Result<CallToolResult, Error> {
    let asked = DiscoverRequest::from(read::<Discover>(arguments)?).check()?;
    let came = Instant::now();
    let worker = app.clone();
    let work = move || find(&worker, &principal, asked, (came, &trail));
    result(&app.gate().run(work).await??.json)
}

async fn describe(
    app: &App,
    (principal, trail): Asking,
    arguments: &JsonObject,
) -> Result<CallToolResult, Error> {
    let Describe { tool } = read(arguments)?;
    let (served, worker) = (app.served(), app.clone());
    let work = move || {
        let seen = served.seen_by(&principal);
        let index = &served.index;
        let id = visible(index, &seen.view, &tool).ok_or(Error::UnknownTool)?;
        let tool = index.catalog.tool(id);
        let tools = std::slice::from_ref(&tool.key);
        worker.note(&trail, &principal, Event::Load { tools })?;
        let response = one_tool_response(tool, &seen.etag);
        to_json(&response).map_err(|error| Error::internal(&error))
    };
    result(&app.gate().run(work).await??)
}

/// The tool of this key that the caller may see, else the only one of this name. Hidden tools are
/// left out before anything is counted.
pub(super) fn visible(index: &Index, view: &View, asked: &str) -> Option<ToolId> {
    let catalog = &index.catalog;
    let permitted = |id: &&ToolId| view.permitted.contains(**id);
    if let Some(id) = catalog.with_key(asked).iter().find(permitted) {
        return Some(*id);
    }
    let mut named = catalog.with_name(asked).iter().filter(permitted);
    match (named.next(), named.next()) {
        (Some(only), None) => Some(*only),
        _ => None,
    }
}

/// An answer for programs and, the same bytes, for models that read text alone.
fn result(json: &str) -> Result<CallToolResult, Error> {
    let value: Value = serde_json::from_str(json).map_err(|error| Error::internal(&error))?;
    let mut result = CallToolResult::success(vec![ContentBlock::text(json)]);
    result.structured_content = Some(value);
    Ok(result)
}
