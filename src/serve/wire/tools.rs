//! Tools by list and by key.

use serde::Serialize;
use utoipa::{IntoParams, ToSchema};

use super::discover::MAX_FILTERS;
use super::render::{Definition, render};
use super::words::word;
use super::{Detail, FiltersRequest, Invalid, KindWord, SideEffectWord};
use crate::index::Index;
use crate::search::{Filters, View};
use crate::tool::Tool;

/// Tools of a page that does not say how many.
const DEFAULT_PAGE: usize = 50;
/// Tools that one page may ask for.
const MAX_PAGE: usize = 500;

/// The query string of `GET /v1/tools`.
#[derive(Debug, Clone, Default, PartialEq, Eq, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ListRequest {
    /// Namespaces by name; may be repeated.
    pub namespace: Vec<String>,
    /// Tags, any one of which is enough; may be repeated.
    pub tag: Vec<String>,
    /// Kinds; may be repeated.
    pub kind: Vec<KindWord>,
    /// Side effects; may be repeated.
    pub side_effect: Vec<SideEffectWord>,
    /// Tools of a page, 1 to 500; 50 where absent.
    #[param(value_type = Option<u32>, minimum = 1, maximum = 500)]
    pub limit: Option<usize>,
    /// `next_cursor` of the page before; absent for the first.
    pub cursor: Option<String>,
    /// How much of each tool the answer holds; `full` where absent.
    pub detail: Option<Detail>,
}

/// A request for a page that passed its checks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// Which tools count.
    pub filters: Filters,
    /// Tools wanted.
    pub limit: usize,
    /// Key after which the page begins.
    pub after: Option<String>,
    /// How to render the tools.
    pub detail: Detail,
}

impl ListRequest {
    /// The page that a query string, already cut into names and values, asks for.
    ///
    /// # Errors
    /// [`Invalid`] naming a field that is unknown, given twice or wrong.
    pub fn check(pairs: Vec<(String, String)>) -> Result<Page, Invalid> {
        let mut list = Self::default();
        for (name, value) in pairs {
            match name.as_str() {
                "namespace" => list.namespace.push(value),
                "tag" => list.tag.push(value),
                "kind" => list.kind.push(word("kind", &value)?),
                "side_effect" => list.side_effect.push(word("side_effect", &value)?),
                "limit" => once(&mut list.limit, "limit", page_size(&value)?)?,
                "cursor" => once(&mut list.cursor, "cursor", value)?,
                "detail" => once(&mut list.detail, "detail", word("detail", &value)?)?,
                _ => return Err(unknown(&name)),
            }
        }
        list.page()
    }

    fn page(self) -> Result<Page, Invalid> {
        let lengths = [
            ("namespace", self.namespace.len()),
            ("tag", self.tag.len()),
            ("kind", self.kind.len()),
            ("side_effect", self.side_effect.len()),
        ];
        for (field, length) in lengths {
            if length > MAX_FILTERS {
                let reason = format!("given {length} times, at most {MAX_FILTERS}");
                return Err(Invalid::new(field, reason));
            }
        }
        let filters = FiltersRequest {
            namespaces: self.namespace,
            tags: self.tag,
            kinds: self.kind,
            side_effects: self.side_effect,
        };
        Ok(Page {
            filters: filters.check()?,
            limit: self.limit.unwrap_or(DEFAULT_PAGE),
            after: self.cursor,
            detail: self.detail.unwrap_or_default(),
        })
    }
}

fn once<T>(place: &mut Option<T>, field: &str, value: T) -> Result<(), Invalid> {
    match place.replace(value) {
        None => Ok(()),
        Some(_) => Err(Invalid::new(field, "is given twice")),
    }
}

fn page_size(text: &str) -> Result<usize, Invalid> {
    match text.parse() {
        Ok(size) if (1..=MAX_PAGE).contains(&size) => Ok(size),
        _ => {
            let reason = format!("'{text}' is not a whole number within 1..={MAX_PAGE}");
            Err(Invalid::new("limit", reason))
        }
    }
}

fn unknown(name: &str) -> Invalid {
    Invalid::new(
        name,
        "is not a parameter here; known are namespace, tag, kind, side_effect, limit, cursor, detail",
    )
}

/// A page of the tools that the caller may see, in ascending order of key.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ToolsResponse {
    /// Changes when and only when a definition changes that the caller may see. Two pages with the
    /// same etag are of one catalogue.
    pub catalog_etag: String,
    /// How many tools pass the filters, on all pages together.
    pub total: usize,
    /// The tools.
    pub tools: Vec<ToolResponse>,
    /// What to send as `cursor` for the next page; null on the last.
    pub next_cursor: Option<String>,
}

/// One tool of a list.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ToolResponse {
    /// Its key.
    #[schema(example = "logistics/get_shipping_eta")]
    pub tool: String,
    /// The definition; absent with `detail=name`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub definition: Option<Definition>,
}

/// One tool by key.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct OneToolResponse {
    /// Changes when and only when a definition changes that the caller may see.
    pub catalog_etag: String,
    /// Its key.
    #[schema(example = "logistics/get_shipping_eta")]
    pub tool: String,
    /// The definition.
    #[schema(value_type = Object)]
    pub definition: Option<Definition>,
}

/// The page for the caller of `view`, whose etag is `etag`.
///
/// A cursor is the last key of the page before. Keys are unique among the tools of one caller, and
/// "greater than this key" means the same whether or not there is a tool of that key, so a cursor
/// survives changes of the catalogue and tells nothing of what is hidden.
pub fn tools_response(index: &Index, view: &View, etag: &str, page: &Page) -> ToolsResponse {
    let mut total = 0;
    let mut left = 0;
    let mut tools = Vec::new();
    for id in view.permitted.iter() {
        let tool = index.catalog.tool(id);
        if !page.filters.admit(tool) {
            continue;
        }
        total += 1;
        if page.after.as_ref().is_some_and(|after| tool.key <= *after) {
            continue;
        }
        if tools.len() < page.limit {
            tools.push(tool_response(tool, page.detail));
        } else {
            left += 1;
        }
    }
    let next_cursor = match tools.last() {
        Some(last) if 0 < left => Some(last.tool.clone()),
        _ => None,
    };
    ToolsResponse {
        catalog_etag: etag.to_owned(),
        total,
        tools,
        next_cursor,
    }
}

/// One tool, for a caller whose etag is `etag`.
pub fn one_tool_response(tool: &Tool, etag: &str) -> OneToolResponse {
    OneToolResponse {
        catalog_etag: etag.to_owned(),
        tool: tool.key.clone(),
        definition: render(tool, Detail::Full),
    }
}

fn tool_response(tool: &Tool, detail: Detail) -> ToolResponse {
    ToolResponse {
        tool: tool.key.clone(),
        definition: render(tool, detail),
    }
}
