//! Tools that say the same, or nearly: a similarity join over the words of name and description.
//!
//! Exact but for one bound. Two sets of shingles can only be as similar as [`NEAR`] if they share
//! one of their rarest few (prefix filtering), so only tools that share a rare shingle are compared;
//! a shingle shared by more than [`MAX_SHARING`] tools makes no candidates, which keeps the cost
//! linear when thousands of tools are cut from one template.

use std::collections::{BTreeMap, HashMap};

use unicode_normalization::UnicodeNormalization;

use super::{Check, Subject};
use crate::tool::Tool;

/// Jaccard similarity of two tools' shingles from which they count as nearly the same: one word in
/// ten exchanged gives about this.
const NEAR: f64 = 0.7;
/// Tools that may share a shingle which still makes them candidates for each other.
const MAX_SHARING: usize = 64;
/// Words of a description that are compared.
const MAX_WORDS: usize = 200;
/// Words below which a text is too short for "nearly" to mean anything.
const MIN_WORDS: usize = 4;

/// Groups of tools with the same words, and groups of those with nearly the same.
pub(super) fn groups(tools: &[Tool]) -> Vec<(Check, Subject)> {
    let texts: Vec<Vec<String>> = tools.iter().map(words).collect();
    let mut same: BTreeMap<&[String], Vec<usize>> = BTreeMap::new();
    for (at, text) in texts.iter().enumerate() {
        same.entry(text).or_default().push(at);
    }
    let exact = same
        .iter()
        // Tools that have no description are told of that, not of being alike.
        .filter(|(_, members)| described(tools, members))
        .map(|(_, members)| (Check::Duplicate, subject(tools, members, String::new())));
    // Of tools with the same words one is enough to find others by.
    let firsts: Vec<usize> = same
        .values()
        .map(|members| members[0])
        .filter(|at| texts[*at].len() >= MIN_WORDS)
        .collect();
    let shingles: Vec<Vec<u64>> = firsts.iter().map(|at| shingled(&texts[*at])).collect();
    let near = clusters(&shingles).into_iter().map(|cluster| {
        let members: Vec<usize> = cluster.members.iter().map(|at| firsts[*at]).collect();
        let percent = (cluster.weakest * 100.0).round();
        let detail = format!("{percent} % the same words");
        (Check::NearDuplicate, subject(tools, &members, detail))
    });
    exact.chain(near).collect()
}

fn described(tools: &[Tool], members: &[usize]) -> bool {
    members.len() > 1 && !tools[members[0]].description.trim().is_empty()
}

fn subject(tools: &[Tool], members: &[usize], detail: String) -> Subject {
    let mut keys: Vec<String> = members.iter().map(|at| tools[*at].key.clone()).collect();
    keys.sort_unstable();
    Subject {
        weight: keys.len(),
        keys,
        detail,
    }
}

/// Name and description as lower-case words; of scripts without spaces each character is a word.
fn words(tool: &Tool) -> Vec<String> {
    let text = format!("{} {}", tool.name, tool.description);
    let mut words: Vec<String> = Vec::new();
    let mut open = false;
    for c in text.nfkc().flat_map(char::to_lowercase) {
        if !c.is_alphanumeric() {
            open = false;
        } else if c >= '\u{2e80}' {
            words.push(c.to_string());
            open = false;
        } else if let (true, Some(word)) = (open, words.last_mut()) {
            word.push(c);
        } else if words.len() >= MAX_WORDS {
            break;
        } else {
            words.push(c.to_string());
            open = true;
        }
    }
    words.truncate(MAX_WORDS);
    words
}

/// The set of single words and pairs of neighbours, hashed, ascending.
fn shingled(words: &[String]) -> Vec<u64> {
    let hash = |parts: &[String]| {
        let digest = blake3::hash(parts.join("\u{1f}").as_bytes());
        let mut bytes = [0; 8];
        bytes.copy_from_slice(&digest.as_bytes()[..8]);
        u64::from_le_bytes(bytes)
    };
    let mut set: Vec<u64> = words.windows(1).chain(words.windows(2)).map(hash).collect();
    set.sort_unstable();
    set.dedup();
    set
}

/// Sets that are linked by similarity, directly or through others.
struct Cluster {
    /// Positions, ascending.
    members: Vec<usize>,
    /// Similarity of the weakest link found.
    weakest: f64,
}

fn clusters(sets: &[Vec<u64>]) -> Vec<Cluster> {
    let mut frequency: HashMap<u64, usize> = HashMap::new();
    for shingle in sets.iter().flatten() {
        *frequency.entry(*shingle).or_default() += 1;
    }
    let mut sharing: HashMap<u64, Vec<usize>> = HashMap::new();
    let mut parents: Vec<usize> = (0..sets.len()).collect();
    let mut links: Vec<(usize, f64)> = Vec::new();
    for (at, set) in sets.iter().enumerate() {
        let mut rarest = set.clone();
        rarest.sort_unstable_by_key(|shingle| (frequency[shingle], *shingle));
        let prefix = set.len() - (NEAR * set.len() as f64).ceil() as usize + 1;
        let mut candidates = Vec::new();
        for shingle in rarest.into_iter().take(prefix) {
            let others = sharing.entry(shingle).or_default();
            if others.len() < MAX_SHARING {
                candidates.extend_from_slice(others);
                others.push(at);
            }
        }
        candidates.sort_unstable();
        candidates.dedup();
        for other in candidates {
            let similarity = jaccard(set, &sets[other]);
            if similarity >= NEAR {
                let (a, b) = (root(&mut parents, at), root(&mut parents, other));
                parents[a.max(b)] = a.min(b);
                links.push((at, similarity));
            }
        }
    }
    gather(&mut parents, &links)
}

fn gather(parents: &mut [usize], links: &[(usize, f64)]) -> Vec<Cluster> {
    let mut found: BTreeMap<usize, Cluster> = BTreeMap::new();
    for at in 0..parents.len() {
        let cluster = found.entry(root(parents, at)).or_insert(Cluster {
            members: Vec::new(),
            weakest: 1.0,
        });
        cluster.members.push(at);
    }
    for (at, similarity) in links {
        if let Some(cluster) = found.get_mut(&root(parents, *at)) {
            cluster.weakest = cluster.weakest.min(*similarity);
        }
    }
    found.retain(|_, cluster| cluster.members.len() > 1);
    found.into_values().collect()
}

/// The first member of the cluster that `at` is in; shortens the way there.
fn root(parents: &mut [usize], mut at: usize) -> usize {
    while parents[at] != at {
        parents[at] = parents[parents[at]];
        at = parents[at];
    }
    at
}

/// Share of the elements of two ascending sets that both have, `0.0..=1.0`.
fn jaccard(a: &[u64], b: &[u64]) -> f64 {
    let (mut i, mut j, mut both) = (0, 0, 0);
    while i < a.len() && j < b.len() {
        match a[i].cmp(&b[j]) {
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
            std::cmp::Ordering::Equal => (i, j, both) = (i + 1, j + 1, both + 1),
        }
    }
    let union = a.len() + b.len() - both;
    if union == 0 {
        0.0
    } else {
        both as f64 / union as f64
    }
}
