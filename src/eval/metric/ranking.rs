//! Figures of one ranking, from the rank at which each need is met.

use crate::tool::ToolId;

/// The first rank, from 1, at which each need is met; none where the ranking never meets it.
///
/// ```
/// use toolscout::eval::metric::ranking::ranks;
/// use toolscout::tool::ToolId;
/// let needs = [vec![ToolId(4), ToolId(5)], vec![ToolId(6)]];
/// assert_eq!(ranks(&[3, 5, 4].map(ToolId), &needs), [Some(2), None]);
/// ```
pub fn ranks(ranking: &[ToolId], needs: &[Vec<ToolId>]) -> Vec<Option<usize>> {
    let rank = |need: &Vec<ToolId>| {
        let at = ranking.iter().position(|tool| need.contains(tool));
        at.map(|at| at + 1)
    };
    needs.iter().map(rank).collect()
}

/// Recall: needs met within the first `k` ranks, of all needs.
///
/// ```
/// use toolscout::eval::metric::ranking::recall;
/// // Three needs, met at ranks 1 and 6, the third never.
/// let ranks = [Some(1), Some(6), None];
/// assert_eq!(recall(&ranks, 1), 1.0 / 3.0);
/// assert_eq!(recall(&ranks, 5), 1.0 / 3.0);
/// assert_eq!(recall(&ranks, 10), 2.0 / 3.0);
/// ```
pub fn recall(ranks: &[Option<usize>], k: usize) -> f64 {
    met(ranks, k) as f64 / ranks.len().max(1) as f64
}

/// Hit: 1 if some need is met within the first `k` ranks, else 0.
///
/// ```
/// use toolscout::eval::metric::ranking::hit;
/// assert_eq!(hit(&[None, Some(1)], 1), 1.0);
/// assert_eq!(hit(&[None, Some(2)], 1), 0.0);
/// ```
pub fn hit(ranks: &[Option<usize>], k: usize) -> f64 {
    f64::from(u8::from(0 < met(ranks, k)))
}

/// Complete: 1 if every need is met within the first `k` ranks, else 0.
///
/// ```
/// use toolscout::eval::metric::ranking::complete;
/// assert_eq!(complete(&[Some(10), Some(1)], 10), 1.0);
/// assert_eq!(complete(&[Some(11), Some(1)], 10), 0.0);
/// ```
pub fn complete(ranks: &[Option<usize>], k: usize) -> f64 {
    f64::from(u8::from(!ranks.is_empty() && met(ranks, k) == ranks.len()))
}

/// Normalised discounted cumulative gain over the first `k` ranks.
///
/// Gains are binary: a rank gains `1 / log2(1 + rank)` if it meets a need that no earlier rank met,
/// so further tools for a met need gain nothing. The ideal meets a need at each of the first
/// `min(needs, k)` ranks. With one acceptable tool a need this is the textbook figure. (Where one
/// tool meets two needs at once it gains once, and the figure stays under 1.)
///
/// ```
/// use toolscout::eval::metric::ranking::ndcg;
/// // Two needs, met at ranks 1 and 3: gains 1/log2(2) + 1/log2(4) = 1.5,
/// // ideal 1/log2(2) + 1/log2(3) = 1.63093.
/// let figure = ndcg(&[Some(1), Some(3)], 10);
/// assert!((figure - 1.5 / 1.630_929_75).abs() < 1e-8);
/// assert_eq!(ndcg(&[Some(2), Some(1)], 10), 1.0);
/// assert_eq!(ndcg(&[Some(11)], 10), 0.0);
/// ```
pub fn ndcg(ranks: &[Option<usize>], k: usize) -> f64 {
    let mut gaining: Vec<usize> = ranks.iter().flatten().copied().collect();
    gaining.sort_unstable();
    gaining.dedup();
    let gain = |rank: usize| 1.0 / (1.0 + rank as f64).log2();
    let within = gaining.into_iter().take_while(|rank| *rank <= k);
    // An empty sum of floats is -0.
    let gained = within.map(gain).fold(0.0, |sum, gain| sum + gain);
    let ideal: f64 = (1..=ranks.len().min(k)).map(gain).sum();
    if ideal == 0.0 { 0.0 } else { gained / ideal }
}

/// Reciprocal rank: one over the first rank that meets some need, and 0 where none does.
///
/// ```
/// use toolscout::eval::metric::ranking::reciprocal_rank;
/// assert_eq!(reciprocal_rank(&[None, Some(4), Some(9)]), 0.25);
/// assert_eq!(reciprocal_rank(&[None]), 0.0);
/// ```
pub fn reciprocal_rank(ranks: &[Option<usize>]) -> f64 {
    let first = ranks.iter().flatten().min();
    first.map_or(0.0, |rank| 1.0 / *rank as f64)
}

fn met(ranks: &[Option<usize>], k: usize) -> usize {
    ranks.iter().flatten().filter(|rank| **rank <= k).count()
}
