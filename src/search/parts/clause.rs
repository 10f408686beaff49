//! Clauses: where one sentence goes on to a second wish.

use std::sync::LazyLock;

use regex::Regex;

/// Words that lead over to the next wish.
static JOINT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?i),?\s+(?:and|&)\s+(?:then|also|finally|afterwards|after that)\s+",
        r"|[,;:]\s+(?:and\s+)?(?:then|also|next|finally|plus|as well as)\s+",
        r"|\s+then\s+|,\s+and\s+",
        r"|[，,]?(?:然后|接着|之后|同时|并且|另外|此外|最后|以及|还有|随后|其次)[，,]?",
        r"|[，,](?:再|并|还|也|顺便)",
    ))
    .expect("a constant pattern")
});

/// "and" before a verb that tools are named by: "translate it and send it", but not "bread and
/// butter". The verb stays with the second clause.
static AND_VERB: LazyLock<Regex> = LazyLock::new(|| {
    let verbs = VERBS.join("|");
    Regex::new(&format!(r"(?i),?\s+and\s+((?:please\s+)?(?:{verbs})\b)"))
        .expect("a constant pattern")
});

/// Imperatives that requests begin with.
const VERBS: [&str; 94] = [
    "add",
    "analyse",
    "analyze",
    "apply",
    "ask",
    "book",
    "build",
    "buy",
    "calculate",
    "cancel",
    "change",
    "check",
    "compare",
    "compute",
    "configure",
    "connect",
    "convert",
    "copy",
    "create",
    "delete",
    "deploy",
    "describe",
    "detect",
    "determine",
    "display",
    "download",
    "edit",
    "evaluate",
    "execute",
    "export",
    "extract",
    "fetch",
    "filter",
    "find",
    "generate",
    "get",
    "give",
    "identify",
    "import",
    "initiate",
    "list",
    "locate",
    "look",
    "make",
    "manage",
    "modify",
    "monitor",
    "move",
    "obtain",
    "open",
    "order",
    "perform",
    "place",
    "plan",
    "play",
    "post",
    "predict",
    "provide",
    "publish",
    "query",
    "read",
    "recommend",
    "record",
    "register",
    "remind",
    "remove",
    "rename",
    "reserve",
    "retrieve",
    "return",
    "run",
    "save",
    "scan",
    "schedule",
    "search",
    "send",
    "set",
    "share",
    "show",
    "start",
    "stop",
    "submit",
    "suggest",
    "summarize",
    "tell",
    "track",
    "translate",
    "turn",
    "update",
    "upload",
    "use",
    "validate",
    "verify",
    "view",
];

/// The clauses of one sentence, trimmed, without the words that join them.
pub(super) fn clauses(sentence: &str) -> Vec<&str> {
    let mut clauses = Vec::new();
    for clause in JOINT.split(sentence) {
        let mut start = 0;
        for joint in AND_VERB.captures_iter(clause) {
            let (Some(whole), Some(verb)) = (joint.get(0), joint.get(1)) else {
                continue;
            };
            clauses.push(clause[start..whole.start()].trim());
            start = verb.start();
        }
        clauses.push(clause[start..].trim());
    }
    clauses.retain(|clause| !clause.is_empty());
    clauses
}
