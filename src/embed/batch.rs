//! Which texts to run together.
//!
//! A batch is padded to its longest text, so texts of like length go together. The order is by
//! length and then by place, so that the same texts always form the same batches.

/// Texts in a batch at most. Beyond this throughput no longer rises, and memory does.
const MOST_TEXTS: usize = 32;

/// Characters in a batch, padding counted, from which on it is not made longer.
const MOST_CHARACTERS: usize = 16 * 1024;

/// Each of `texts` texts by itself.
pub(super) fn alone(texts: usize) -> Vec<Vec<usize>> {
    (0..texts).map(|at| vec![at]).collect()
}

/// Batches as places in `texts`; each place is in exactly one.
///
/// Lengths are in characters, which is near enough to tokens within one set of texts.
pub(super) fn plan(texts: &[String]) -> Vec<Vec<usize>> {
    let lengths: Vec<usize> = texts.iter().map(|text| text.chars().count()).collect();
    let mut order: Vec<usize> = (0..texts.len()).collect();
    order.sort_by_key(|at| (lengths[*at], *at));
    let mut batches: Vec<Vec<usize>> = Vec::new();
    for at in order {
        let padded = |batch: &Vec<usize>| (batch.len() + 1) * lengths[at];
        match batches.last_mut() {
            Some(batch) if batch.len() < MOST_TEXTS && padded(batch) <= MOST_CHARACTERS => {
                batch.push(at);
            }
            _ => batches.push(vec![at]),
        }
    }
    // The longest first: they take longest, and at the end no core waits for another's.
    batches.reverse();
    batches
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn nothing_makes_no_batch() {
        assert!(plan(&[]).is_empty());
    }

    proptest! {
        #[test]
        fn each_text_is_in_one_batch_of_bounded_size(lengths in prop::collection::vec(0..6000_usize, 0..200)) {
            let texts: Vec<String> = lengths.iter().map(|length| "字".repeat(*length)).collect();
            let batches = plan(&texts);
            let mut seen: Vec<usize> = batches.iter().flatten().copied().collect();
            seen.sort_unstable();
            prop_assert_eq!(seen, (0..texts.len()).collect::<Vec<_>>());
            for batch in batches {
                let longest = batch.iter().map(|at| lengths[*at]).max().unwrap();
                prop_assert!(batch.len() == 1 || batch.len() * longest <= MOST_CHARACTERS);
                prop_assert!(batch.len() <= MOST_TEXTS);
            }
        }
    }
}
