//! The gateway: a call that is passed on to the server whose tool it is.
//!
//! Nothing that was answered before counts: the tool is looked up among what the caller may see at
//! this moment, and the arguments are checked against its schema before they leave.

use jsonschema::PatternOptions;
use rmcp::model::{CallToolResult, JsonObject};
use serde_json::Value;

use super::arguments::{Call, read};
use super::call::{Asking, visible};
use crate::serve::audit::Event;
use crate::serve::error::Error;
use crate::serve::state::App;
use crate::serve::wire::{Invalid, Verdict};
use crate::tool::{Exposure, Tool};

/// Bytes of a compiled pattern of a schema, and so of the work that one may make.
const MAX_PATTERN: usize = 1 << 20;

/// Where a call goes.
struct Target {
    owner: String,
    name: String,
    arguments: JsonObject,
}

/// Calls the tool that the arguments name. Dropped, the call is called off.
pub(super) async fn forward(
    app: &App,
    (principal, trail): Asking,
    arguments: &JsonObject,
) -> Result<CallToolResult, Error> {
    let sources = app.mcp().sources.clone().ok_or(Error::NotCallable)?;
    let call: Call = read(arguments)?;
    let (served, worker) = (app.served(), app.clone());
    let find = move || {
        let seen = served.seen_by(&principal);
        let id = visible(&served.index, &seen.view, &call.tool);
        let tool = id.map(|id| served.index.catalog.tool(id));
        let verdict = match tool {
            None => Verdict::UnknownTool,
            Some(tool) if !is_callable(tool) => Verdict::NotCallable,
            Some(_) => Verdict::Permitted,
        };
        let event = Event::Authorize {
            tool: tool.map_or(&call.tool, |tool| &tool.key),
            allowed: verdict == Verdict::Permitted,
            reason: verdict.as_str(),
        };
        worker.note(&trail, &principal, event)?;
        target(tool.ok_or(Error::UnknownTool)?, call.arguments)
    };
    let Target {
        owner,
        name,
        arguments,
    } = app.gate().run(find).await??;
    if !sources.knows(&owner) {
        return Err(Error::NotCallable);
    }
    Ok(sources.call(&owner, name, arguments).await?)
}

fn is_callable(tool: &Tool) -> bool {
    !matches!(tool.exposure, Exposure::Hidden | Exposure::DeclarationOnly)
}

fn target(tool: &Tool, arguments: JsonObject) -> Result<Target, Error> {
    let owner = tool.owner.clone().filter(|_| is_callable(tool));
    let owner = owner.ok_or(Error::NotCallable)?;
    let arguments = Value::Object(arguments);
    check(tool, &arguments)?;
    let Value::Object(arguments) = arguments else {
        return Err(Invalid::new("arguments", "must be an object").into());
    };
    Ok(Target {
        owner,
        name: tool.name.clone(),
        arguments,
    })
}

/// Checks arguments against the tool's schema: references stay within it, and patterns run in linear
/// time. A schema that is none binds nobody; its server has the last word anyway.
fn check(tool: &Tool, arguments: &Value) -> Result<(), Error> {
    let schema: Value = serde_json::from_str(tool.input_schema.as_str())
        .map_err(|error| Error::internal(&error))?;
    let validator = jsonschema::options()
        .with_pattern_options(PatternOptions::regex().size_limit(MAX_PATTERN))
        .build(&schema);
    match validator {
        Ok(validator) => validator.validate(arguments).map_err(|fault| {
            let at = fault.instance_path().to_string();
            let reason: String = fault.to_string().chars().take(400).collect();
            Invalid::new(format!("arguments{at}"), reason).into()
        }),
        Err(error) => {
            tracing::debug!(tool = tool.key, %error, "a schema cannot be checked against");
            Ok(())
        }
    }
}
