//! Chinese: words by jieba's dictionary, and pairs of characters as a net under them.

use std::sync::LazyLock;

use jieba_rs::Jieba;

use super::{Token, TokenKind, bigrams, push, stop};

/// Characters segmented at once: keeps the cost of a page of characters without punctuation linear.
const CHUNK: usize = 512;

// Loading takes about 140 ms and 34 MB, so it waits for the first Chinese text.
static JIEBA: LazyLock<Jieba> = LazyLock::new(Jieba::new);

pub(super) fn tokens(run: &[char], tokens: &mut Vec<Token>) {
    for chunk in run.chunks(CHUNK) {
        let text: String = chunk.iter().collect();
        for word in JIEBA.cut_for_search(&text, true) {
            let kind = if word.word.chars().nth(1).is_some() {
                TokenKind::HanWord
            } else {
                TokenKind::HanCharacter
            };
            if !stop::is_stop_word(word.word) {
                push(tokens, word.word.to_owned(), kind);
            }
        }
    }
    bigrams(run, tokens);
}
