//! The set of tools one principal may see in one catalogue.

use fixedbitset::FixedBitSet;

use crate::tool::ToolId;

/// The tools a principal may see, made by [`Rights::of`](super::Rights::of) alone.
///
/// A plain bit set rather than a compressed one: postings and scans ask `contains` a few hundred
/// thousand times a query, and a million tools still fit in 125 kB.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Permitted {
    tools: FixedBitSet,
    len: usize,
    fingerprint: [u8; 32],
}

impl Permitted {
    pub(super) fn new(tools: FixedBitSet) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&tools.len().to_le_bytes());
        for block in tools.as_slice() {
            hasher.update(&block.to_le_bytes());
        }
        Self {
            len: tools.count_ones(..),
            fingerprint: *hasher.finalize().as_bytes(),
            tools,
        }
    }

    /// Whether the principal may see `tool`.
    #[inline]
    pub fn contains(&self, tool: ToolId) -> bool {
        self.tools.contains(tool.index())
    }

    /// How many tools the principal may see.
    pub fn len(&self) -> usize {
        self.len
    }

    /// The principal may see nothing.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The tools, in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = ToolId> + '_ {
        self.tools.ones().map(|i| ToolId(i as u32))
    }

    /// How many tools the catalogue had that this set was made for.
    pub fn catalogue_len(&self) -> usize {
        self.tools.len()
    }

    /// Hash of the set: equal sets over equally long catalogues have equal fingerprints, so it may
    /// key caches of what is derived from the set and one snapshot.
    pub fn fingerprint(&self) -> [u8; 32] {
        self.fingerprint
    }

    /// The tools that are in `other` too. Both must be of one catalogue.
    pub fn and(&self, other: &Self) -> Self {
        let mut tools = self.tools.clone();
        tools.intersect_with(&other.tools);
        Self::new(tools)
    }

    /// The part of this set for which `keep` holds: a request may narrow what it sees, never widen.
    pub fn narrow(&self, mut keep: impl FnMut(ToolId) -> bool) -> Self {
        let mut tools = self.tools.clone();
        for tool in self.iter() {
            if !keep(tool) {
                tools.set(tool.index(), false);
            }
        }
        Self::new(tools)
    }
}
