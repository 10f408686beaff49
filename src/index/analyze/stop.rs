//! Words that say nothing of a tool.

use std::collections::HashSet;
use std::sync::LazyLock;

/// English and Chinese function words: dropped from tools and requests alike.
const FUNCTION_WORDS: &str = "\
a an and are as at be been being but by can could did do does doing for from had has have having \
he her here him his how i if in into is it its me my no nor not of on or our ours she should so \
some than that the their them then there these they this those to too up us was we were what when \
where which while who whom why will with would you your yours am im ive id ill don doesn didn isn \
aren wasn weren hasn haven hadn won wouldn couldn shouldn dont doesnt cant let lets about also any \
such only just very more most other own same both each few all over under again further once \
during before after above below between out off down through because until against ll re ve \
的 了 和 是 在 我 你 您 他 她 它 我们 你们 他们 有 也 都 就 与 及 或 被 把 对 从 到 向 于 等 这 那 \
这个 那个 这些 那些 一个 一下 一些 吗 呢 吧 啊 呀 哦 请 请问 能 能否 可以 可不可以 需要 想 想要 希望 \
帮 帮我 帮忙 给 给我 让 让我 我想 我要 要 会 能够 如何 怎么 怎样 什么 哪些 哪个 哪里 多少 几 关于 并 \
并且 而 而且 但 但是 如果 因为 所以 为 为了 以 以及 还 还有 另外 此外 同时 然后 接着 最后 首先 其次 之 \
其 个 位 该 中 里 上 下 最近 现在 目前 正在 打算 准备 告诉 知道 了解 谢谢 你好 您好 很 非常 比较 更 最 \
不 没有 没 别 再 又 只 才 刚 去 来 着 过 地 得 使用 进行 通过 根据 包括 包含 提供";

/// Words with which people ask, whatever they ask for.
const BOILERPLATE: &str = "\
please want need like would help know tell give show provide looking look interested thanks thank \
hi hello hey ok using use used able kindly assist assistance wondering wonder hoping hope wish try \
trying make get got going go currently really following based specific additionally furthermore \
finally lastly moreover curious recommend suggest";

static STOP: LazyLock<HashSet<&str>> =
    LazyLock::new(|| FUNCTION_WORDS.split_ascii_whitespace().collect());

// Stems, since that is what a token holds.
static ASKING: LazyLock<HashSet<String>> = LazyLock::new(|| {
    BOILERPLATE
        .split_ascii_whitespace()
        .map(super::stem)
        .collect()
});

pub(super) fn is_stop_word(word: &str) -> bool {
    STOP.contains(word)
}

/// Whether a word's token is of the kind with which people ask for anything ("please", "want",
/// "show"): kept in tools, to be weighted low in requests.
///
/// ```
/// use toolscout::index::analyze::{analyze, is_boilerplate};
/// let tokens = analyze("wondering about parcels");
/// assert!(tokens.iter().any(|token| token.text == "wonder" && is_boilerplate(&token.text)));
/// assert!(tokens.iter().all(|token| token.text != "parcel" || !is_boilerplate(&token.text)));
/// ```
pub fn is_boilerplate(token: &str) -> bool {
    ASKING.contains(token)
}
