//! Tokens of identifiers, Chinese and hostile text.

use super::{MAX_CHARACTERS, TokenKind, analyze};

fn of(kind: TokenKind, text: &str) -> Vec<String> {
    analyze(text)
        .into_iter()
        .filter(|token| token.kind == kind)
        .map(|token| token.text)
        .collect()
}

#[test]
fn identifiers_split_and_join() {
    use TokenKind::{Compound, Joined, Word};
    for spelling in [
        "screen_shot",
        "screenShot",
        "screen-shot",
        "Screen Shot",
        "screen.shot",
    ] {
        assert_eq!(of(Word, spelling), ["screen", "shot"], "{spelling}");
        assert_eq!(of(Joined, spelling), ["screenshot"], "{spelling}");
    }
    assert_eq!(of(Compound, "GitHub issues"), ["github"]);
    assert_eq!(of(Word, "parseHTTPResponse"), ["pars", "http", "respons"]);
    assert_eq!(of(Word, "3D S3Bucket utf8"), ["3d", "s3", "bucket", "utf8"]);
    assert_eq!(of(Joined, "one\ntwo"), [""; 0]);
}

#[test]
fn function_words_numbers_and_letters_are_dropped() {
    assert_eq!(
        of(TokenKind::Word, "Don't tell me 42 x the user’s name"),
        ["tell", "user", "name"]
    );
}

#[test]
fn chinese_is_words_and_pairs() {
    assert_eq!(
        of(TokenKind::HanWord, "查询快递物流"),
        ["查询", "快递", "物流"]
    );
    assert_eq!(of(TokenKind::Bigram, "查询快递"), ["查询", "询快", "快递"]);
    assert_eq!(of(TokenKind::HanWord, "我想查询"), ["查询"]);
    assert_eq!(of(TokenKind::Word, "用GitHub的API"), ["git", "hub", "api"]);
    assert_eq!(of(TokenKind::Word, "ｆｕｌｌｗｉｄｔｈ"), ["fullwidth"]);
}

#[test]
fn other_scripts_have_tokens() {
    assert_eq!(of(TokenKind::Word, "погода в Москве"), ["погода", "москве"]);
    assert_eq!(of(TokenKind::Bigram, "날씨 정보"), ["날씨", "정보"]);
    assert_eq!(of(TokenKind::Bigram, "อากาศ").len(), 4);
    assert_eq!(of(TokenKind::Word, "हिन्दी"), ["हिन्दी"]);
}

#[test]
fn hostile_text_is_bounded() {
    for unit in [
        "a", "A", "aA", "字", "ア", "ก", "\u{0301}", "'s", "ﷺ", "1", "\u{0}",
    ] {
        let tokens = analyze(&unit.repeat(1_000_000 / unit.len()));
        assert!(
            tokens.len() <= 3 * MAX_CHARACTERS,
            "{unit}: {}",
            tokens.len()
        );
        assert!(
            tokens
                .iter()
                .all(|token| token.text.chars().count() <= 3 * 64)
        );
    }
}
