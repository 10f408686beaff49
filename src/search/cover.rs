//! Several needs in one answer: every need is served before any is served twice.

use crate::tool::ToolId;

/// A tool chosen, and the needs it was chosen for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chosen {
    /// The tool.
    pub tool: ToolId,
    /// Positions of the needs it serves, ascending.
    pub needs: Vec<usize>,
}

/// Picks up to `limit` tools from one ranked list a need: the best of each need in turn, then the
/// second best of each, and so on. A tool that is wanted by several needs stands once.
///
/// ```
/// use toolscout::search::cover::cover;
/// use toolscout::tool::ToolId;
/// let (a, b, c) = (ToolId(0), ToolId(1), ToolId(2));
/// let chosen = cover(&[vec![a, b], vec![c, a]], 3);
/// let tools: Vec<_> = chosen.iter().map(|chosen| (chosen.tool, chosen.needs.clone())).collect();
/// assert_eq!(tools, [(a, vec![0, 1]), (c, vec![1]), (b, vec![0])]);
/// ```
pub fn cover(lists: &[Vec<ToolId>], limit: usize) -> Vec<Chosen> {
    let mut chosen: Vec<Chosen> = Vec::new();
    let longest = lists.iter().map(Vec::len).max().unwrap_or(0);
    for rank in 0..longest {
        for (need, list) in lists.iter().enumerate() {
            let Some(tool) = list.get(rank) else { continue };
            if let Some(known) = chosen.iter_mut().find(|chosen| chosen.tool == *tool) {
                known.needs.push(need);
            } else if chosen.len() < limit {
                chosen.push(Chosen {
                    tool: *tool,
                    needs: vec![need],
                });
            }
        }
        if limit <= chosen.len() {
            break;
        }
    }
    for chosen in &mut chosen {
        chosen.needs.sort_unstable();
        chosen.needs.dedup();
    }
    chosen
}
