//! A set of positions in a catalogue, few or many of them.

use fixedbitset::FixedBitSet;

/// Bits that a listed position takes in memory: lists longer than one position in so many are kept
/// as bits.
const LISTED: usize = u32::BITS as usize;

/// Positions `0..len`, ascending where they are listed.
#[derive(Debug, Clone)]
pub(super) enum Bits {
    Few(Vec<u32>),
    Many(FixedBitSet),
}

impl Bits {
    /// The positions of `set`, in whichever form is smaller.
    pub(super) fn new(set: FixedBitSet) -> Self {
        if set.count_ones(..) * LISTED < set.len() {
            Self::Few(set.ones().map(|at| at as u32).collect())
        } else {
            Self::Many(set)
        }
    }

    pub(super) fn contains(&self, at: usize) -> bool {
        match self {
            Self::Few(list) => list.binary_search(&(at as u32)).is_ok(),
            Self::Many(set) => set.contains(at),
        }
    }

    pub(super) fn count(&self) -> usize {
        match self {
            Self::Few(list) => list.len(),
            Self::Many(set) => set.count_ones(..),
        }
    }

    /// Adds these positions to `set`.
    pub(super) fn add_to(&self, set: &mut FixedBitSet) {
        match self {
            Self::Few(list) => list.iter().for_each(|at| set.insert(*at as usize)),
            Self::Many(own) => set.union_with(own),
        }
    }

    /// Takes these positions out of `set`.
    pub(super) fn take_from(&self, set: &mut FixedBitSet) {
        match self {
            Self::Few(list) => list.iter().for_each(|at| set.remove(*at as usize)),
            Self::Many(own) => set.difference_with(own),
        }
    }

    /// Bytes it takes.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Self::Few(list) => list.len() * size_of::<u32>(),
            Self::Many(set) => set.len().div_ceil(8),
        }
    }
}
