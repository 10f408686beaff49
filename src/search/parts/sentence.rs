//! Sentences and list items.

use std::sync::LazyLock;

use regex::Regex;

/// Where a sentence ends: at Chinese stops and line ends anywhere, at Latin ones before a space, so
/// that `report.v2.pdf` and `3.5` hold together; and at the mark of a list item.
static END: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"[\n。！？；]+|[.!?;]+\s+|(?:^|\s)(?:\d{1,2}[.)、]|[-*•])\s+|[①②③④⑤⑥⑦⑧⑨]")
        .expect("a constant pattern")
});

/// The sentences of `text`, trimmed, with their Latin stops and without list marks.
pub(super) fn sentences(text: &str) -> Vec<&str> {
    let mut sentences = Vec::new();
    let mut start = 0;
    for end in END.find_iter(text) {
        let stops = end
            .as_str()
            .bytes()
            .take_while(|byte| b".!?;".contains(byte))
            .count();
        sentences.push(text[start..end.start() + stops].trim());
        start = end.end();
    }
    sentences.push(text[start..].trim());
    sentences.retain(|sentence| !sentence.is_empty());
    sentences
}
