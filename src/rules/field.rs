//! What a condition may look at: a closed list of fields, each with the values it can have.

use super::Context;
use crate::access::Principal;
use crate::tool::{SideEffect, Tool};

/// What a field belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum About {
    /// A tool: the same for every request.
    Tool,
    /// Who asks, and when: the same for every tool.
    Moment,
}

/// Which values a field has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sort {
    /// Any text, one or several.
    Text,
    /// One of these words.
    Word(&'static [&'static str]),
    /// One of these words, the least first; what is not declared is none of them.
    Ordered(&'static [&'static str]),
    /// A whole number.
    Number,
}

/// How a value lies to a bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Comparison {
    /// Below it.
    Less,
    /// Below it, or it.
    AtMost,
    /// Above it.
    Greater,
    /// Above it, or it.
    AtLeast,
}

impl Comparison {
    /// Whether `value` lies so to `bound`.
    pub fn holds(self, value: u64, bound: u64) -> bool {
        match self {
            Self::Less => value < bound,
            Self::AtMost => value <= bound,
            Self::Greater => bound < value,
            Self::AtLeast => bound <= value,
        }
    }
}

/// What a condition looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Field {
    /// The tool's key.
    Key,
    /// Its namespace.
    Namespace,
    /// Its name.
    Name,
    /// Its kind.
    Kind,
    /// What a call changes.
    SideEffect,
    /// How much harm a wrong call does.
    Risk,
    /// How it may be shown.
    Exposure,
    /// Its tags.
    Tags,
    /// Phases it is meant for.
    Phases,
    /// The source that owns it.
    Owner,
    /// How many parameters it has.
    Parameters,
    /// The caller's tenant.
    Tenant,
    /// The caller's roles.
    Roles,
    /// The caller's scopes.
    Scopes,
    /// The caller's environment.
    Environment,
    /// Phase of the task.
    Phase,
    /// Language of the project.
    Language,
    /// How the last call ended.
    PreviousResult,
    /// The tool called last.
    PreviousTool,
    /// Turns taken so far.
    Turn,
}

const KINDS: [&str; 5] = ["search", "read", "parse", "query", "act"];
const SIDE_EFFECTS: [&str; 4] = ["none", "read", "write", "destructive"];
const RISKS: [&str; 3] = ["low", "medium", "high"];
const EXPOSURES: [&str; 5] = [
    "deferred",
    "direct",
    "codemode",
    "hidden",
    "declaration_only",
];

impl Field {
    /// All of them, by name.
    pub const ALL: [(&str, Self); 20] = [
        ("tool.key", Self::Key),
        ("tool.namespace", Self::Namespace),
        ("tool.name", Self::Name),
        ("tool.kind", Self::Kind),
        ("tool.side_effect", Self::SideEffect),
        ("tool.risk", Self::Risk),
        ("tool.exposure", Self::Exposure),
        ("tool.tags", Self::Tags),
        ("tool.phases", Self::Phases),
        ("tool.owner", Self::Owner),
        ("tool.parameters", Self::Parameters),
        ("principal.tenant", Self::Tenant),
        ("principal.roles", Self::Roles),
        ("principal.scopes", Self::Scopes),
        ("principal.environment", Self::Environment),
        ("context.phase", Self::Phase),
        ("context.language", Self::Language),
        ("context.previous_result", Self::PreviousResult),
        ("context.previous_tool", Self::PreviousTool),
        ("context.turn", Self::Turn),
    ];

    /// The word used in files: `tool.kind`.
    pub fn as_str(self) -> &'static str {
        Self::ALL
            .iter()
            .find(|(_, field)| *field == self)
            .map_or("", |(name, _)| name)
    }

    /// What it belongs to.
    pub fn about(self) -> About {
        if self.as_str().starts_with("tool.") {
            About::Tool
        } else {
            About::Moment
        }
    }

    /// Which values it has.
    pub fn sort(self) -> Sort {
        match self {
            Self::Kind => Sort::Word(&KINDS),
            Self::SideEffect => Sort::Ordered(&SIDE_EFFECTS),
            Self::Risk => Sort::Ordered(&RISKS),
            Self::Exposure => Sort::Word(&EXPOSURES),
            Self::Parameters | Self::Turn => Sort::Number,
            Self::Key
            | Self::Namespace
            | Self::Name
            | Self::Tags
            | Self::Phases
            | Self::Owner
            | Self::Tenant
            | Self::Roles
            | Self::Scopes
            | Self::Environment
            | Self::Phase
            | Self::Language
            | Self::PreviousResult
            | Self::PreviousTool => Sort::Text,
        }
    }

    /// Whether it may have several values at once.
    pub(super) fn is_list(self) -> bool {
        matches!(self, Self::Tags | Self::Phases | Self::Roles | Self::Scopes)
    }
}

/// What a condition is held against.
#[derive(Debug, Clone, Copy)]
pub(super) enum Subject<'a> {
    /// A tool.
    Tool(&'a Tool),
    /// Who asks, and when.
    Moment(&'a Principal, &'a Context),
}

impl Subject<'_> {
    /// Whether `fits` holds for some value that the subject has in `field`.
    pub(super) fn any_text(&self, field: Field, fits: impl Fn(&str) -> bool) -> bool {
        let optional = |text: &Option<String>| text.as_deref().is_some_and(&fits);
        match self {
            Self::Tool(tool) => match field {
                Field::Key => fits(&tool.key),
                Field::Namespace => fits(&tool.namespace),
                Field::Name => fits(&tool.name),
                Field::Kind => tool.kind.is_some_and(|kind| fits(kind.as_str())),
                // A side effect that is not declared is no word to be compared with.
                Field::SideEffect => {
                    tool.side_effect != SideEffect::Unknown && fits(tool.side_effect.as_str())
                }
                Field::Risk => fits(tool.risk.as_str()),
                Field::Exposure => fits(tool.exposure.as_str()),
                Field::Tags => tool.tags.iter().any(|tag| fits(tag)),
                Field::Phases => tool.phases.iter().any(|phase| fits(phase)),
                Field::Owner => optional(&tool.owner),
                _ => false,
            },
            Self::Moment(principal, context) => match field {
                Field::Tenant => fits(&principal.tenant),
                Field::Roles => principal.roles.iter().any(|role| fits(role)),
                Field::Scopes => principal.scopes.iter().any(|scope| fits(scope)),
                Field::Environment => optional(&principal.environment),
                Field::Phase => optional(&context.phase),
                Field::Language => optional(&context.language),
                Field::PreviousResult => optional(&context.previous_result),
                Field::PreviousTool => optional(&context.previous_tool),
                _ => false,
            },
        }
    }

    /// The value to compare: a number, or the place of a word in its order.
    pub(super) fn number(&self, field: Field) -> Option<u64> {
        match self {
            Self::Tool(tool) => match field {
                Field::Parameters => Some(tool.inputs.len() as u64),
                Field::SideEffect => place(&SIDE_EFFECTS, tool.side_effect.as_str()),
                Field::Risk => place(&RISKS, tool.risk.as_str()),
                _ => None,
            },
            Self::Moment(_, context) => match field {
                Field::Turn => context.turn.map(u64::from),
                _ => None,
            },
        }
    }

    /// Whether the subject has any value in `field`.
    pub(super) fn has(&self, field: Field) -> bool {
        self.number(field).is_some() || self.any_text(field, |text| !text.is_empty())
    }
}

/// Where a word stands in its order.
pub(super) fn place(words: &[&str], word: &str) -> Option<u64> {
    words
        .iter()
        .position(|known| *known == word)
        .map(|at| at as u64)
}
