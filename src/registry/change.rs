//! What somebody wants changed, and what became of it.

use super::error::Refusal;
use super::item::{Document, Hash, Id, Revision};
use super::store::Author;
use crate::tool::Json;

/// One change of one tool or namespace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// What is to change.
    pub id: Id,
    /// What must be so for the change to be made.
    pub expect: Expect,
    /// The change.
    pub action: Action,
}

impl Change {
    /// Puts a document in place, whatever is there.
    pub fn put(document: Document) -> Self {
        Self {
            id: document.id.clone(),
            expect: Expect::Anything,
            action: Action::Put(document),
        }
    }

    /// Takes what is there away.
    pub fn delete(id: Id) -> Self {
        Self {
            id,
            expect: Expect::Anything,
            action: Action::Delete { replacement: None },
        }
    }
}

/// What a change does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// This document is what there is from now on.
    Put(Document),
    /// A JSON Merge Patch of the document that is there.
    Patch(Json),
    /// Nothing is there from now on. The log keeps what was.
    Delete {
        /// Key of the tool that is to be used instead: what a rename leaves behind.
        replacement: Option<String>,
    },
}

/// What must be there for a change to be made: without it, the last writer wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Expect {
    /// No matter what.
    #[default]
    Anything,
    /// Nothing (`if-none-match: *`).
    Nothing,
    /// A document of this hash (`if-match`).
    Hash(Hash),
    /// Some document (`if-match: *`).
    Something,
}

/// Whether a batch is made as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// All of its changes or none.
    #[default]
    Atomic,
    /// Those of its changes that are accepted.
    BestEffort,
}

/// Changes to be made one after another, in one transaction.
pub struct Batch {
    /// Who, and why.
    pub author: Author,
    /// As a whole, or what can be.
    pub mode: Mode,
    /// Says what would be done, and does nothing.
    pub dry_run: bool,
    /// The changes; taken one at a time.
    pub changes: Box<dyn Iterator<Item = Change> + Send>,
}

impl Batch {
    /// A batch of one change.
    pub fn one(author: Author, change: Change) -> Self {
        Self {
            author,
            mode: Mode::Atomic,
            dry_run: false,
            changes: Box::new(std::iter::once(change)),
        }
    }
}

/// All tools of a namespace, as a source lists them: what is listed is put, what is not is deleted.
#[derive(Debug, Clone)]
pub struct Replacement {
    /// Who, and why.
    pub author: Author,
    /// The one tenant whose own tools these are; empty for shared ones.
    pub tenant: String,
    /// The namespace.
    pub namespace: String,
    /// Its tools, each with this namespace and tenant.
    pub tools: Vec<Document>,
    /// Even where so much goes that it looks like a mistake; see [`guard`](super::guard).
    pub force: bool,
    /// Says what would be done, and does nothing.
    pub dry_run: bool,
}

/// What became of one change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// There was nothing, and now there is this.
    Created(Hash),
    /// There is another document now.
    Updated(Hash),
    /// The same document was there already: no revision was made.
    Unchanged(Hash),
    /// There is nothing any more.
    Deleted,
    /// It was not made.
    Refused(Refusal),
}

impl Effect {
    /// Whether it stands in the log.
    pub fn is_change(&self) -> bool {
        matches!(self, Self::Created(_) | Self::Updated(_) | Self::Deleted)
    }

    /// The hash of what is there now.
    pub fn hash(&self) -> Option<Hash> {
        match self {
            Self::Created(hash) | Self::Updated(hash) | Self::Unchanged(hash) => Some(*hash),
            Self::Deleted | Self::Refused(_) => None,
        }
    }
}

/// What became of a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Applied {
    /// The last revision that there is, whoever made it; of a dry run, the one it began from.
    pub revision: Revision,
    /// Whether anything was made: not in a dry run, and not where an atomic batch was refused.
    pub committed: bool,
    /// Id and effect of each change, in the order of the batch. Where nothing was made, what would
    /// have been.
    pub effects: Vec<(Id, Effect)>,
}

impl Applied {
    /// How many effects are refusals.
    pub fn refused(&self) -> usize {
        let refused = |(_, effect): &&(Id, Effect)| matches!(effect, Effect::Refused(_));
        self.effects.iter().filter(refused).count()
    }
}
