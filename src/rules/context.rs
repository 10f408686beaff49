//! The moment a request is made in, as the request itself tells it.

/// What a request says of its moment. Nothing of it is proven, so access never looks at it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Context {
    /// Phase of the task: `locate`, `modify`, `verify`, or what the rules call theirs.
    pub phase: Option<String>,
    /// Programming language of the project.
    pub language: Option<String>,
    /// How the last call ended: `ok`, `error`, `empty`, or what the rules call it.
    pub previous_result: Option<String>,
    /// Key of the tool that was called last.
    pub previous_tool: Option<String>,
    /// Turns taken so far.
    pub turn: Option<u32>,
}

impl Context {
    /// The request says nothing of its moment.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
