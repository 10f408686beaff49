//! Arguments inside a request: what it is about, not what it asks for.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

static CODE: LazyLock<Regex> = LazyLock::new(|| compile(r"(?s)```.*?```"));
static BRACKETED: LazyLock<Regex> =
    LazyLock::new(|| compile(r"\{[^{}]{0,2000}\}|\[[^\[\]]{0,2000}\]"));
static ADDRESS: LazyLock<Regex> = LazyLock::new(|| compile(r"https?://\S+|www\.\S+|\S+@\S+\.\w+"));
static QUOTED: LazyLock<Regex> = LazyLock::new(|| {
    compile(concat!(
        r#"“[^”]{1,300}”|‘[^’]{1,300}’|"[^"]{1,300}"|「[^」]{1,300}」|《[^》]{1,300}》"#,
        r"|`[^`]{1,300}`|\B'[^'\n]{1,200}'\B",
    ))
});
static NUMBER: LazyLock<Regex> =
    LazyLock::new(|| compile(r"\b\w*\d\w{5,}\b|\b[\d.,:/\-]*\d{3,}[\d.,:/\-]*\b"));
static SPACE: LazyLock<Regex> = LazyLock::new(|| compile(r"[ \t]+"));

/// Brackets that are opened inside brackets this many times over are still taken whole.
const MAX_NESTING: usize = 3;

fn compile(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a constant pattern")
}

/// `text` without URLs, addresses, code, JSON, quoted text and long numbers.
///
/// ```
/// use toolscout::search::parts::without_values;
/// assert_eq!(
///     without_values("post \"hello all\" to https://example.org/hook with {\"a\": [1]}"),
///     "post to with"
/// );
/// ```
pub fn without_values(text: &str) -> String {
    let mut text = CODE.replace_all(text, " ").into_owned();
    for _ in 0..MAX_NESTING {
        text = BRACKETED.replace_all(&text, " ").into_owned();
    }
    for pattern in [&ADDRESS, &QUOTED, &NUMBER, &SPACE] {
        text = pattern.replace_all(&text, " ").into_owned();
    }
    text.trim().to_owned()
}

/// Where quoted text stands in `text`, quotes included, ascending.
pub(in crate::search) fn quoted(text: &str) -> Vec<Range<usize>> {
    QUOTED.find_iter(text).map(|quote| quote.range()).collect()
}
