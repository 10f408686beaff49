//! Words in a picture: how wide they will be, cut to fit, and safe in XML.

use std::fmt::Write;

/// Width of a character in ems: a full square for Han, kana, hangul and other wide scripts, else
/// the mean of common sans-serif fonts, rounded up.
fn ems(c: char) -> f64 {
    match c {
        '\u{1100}'..='\u{115f}' | '\u{2e80}'..='\u{a4cf}' | '\u{ac00}'..='\u{d7a3}' => 1.0,
        '\u{f900}'..='\u{faff}' | '\u{fe30}'..='\u{fe6f}' | '\u{ff00}'..='\u{ff60}' => 1.0,
        '\u{1f300}'..='\u{1faff}' | '\u{20000}'..='\u{3fffd}' => 1.0,
        'i' | 'j' | 'l' | 't' | 'f' | 'r' | ' ' | '.' | ',' | ':' | '\'' | '|' => 0.36,
        'm' | 'w' | 'M' | 'W' | '@' | '%' => 0.92,
        'A'..='Z' => 0.72,
        _ => 0.6,
    }
}

/// Pixels that `text` takes at `size` pixels an em, at most about that.
pub(super) fn width(text: &str, size: f64) -> f64 {
    text.chars().map(ems).sum::<f64>() * size
}

/// `text` cut to `room` pixels, with an ellipsis where something is cut.
pub(super) fn fitted(text: &str, size: f64, room: f64) -> String {
    if width(text, size) <= room {
        return text.to_owned();
    }
    let mut left = room - width("…", size);
    let kept = text.chars().take_while(|c| {
        left -= ems(*c) * size;
        0.0 <= left
    });
    let kept: String = kept.collect();
    format!("{}…", kept.trim_end())
}

/// `text` as it may stand in an XML text or attribute. Characters that XML 1.0 has no way to write
/// are dropped.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' | '\r' | '\t' => out.push(' '),
            '\u{fffe}' | '\u{ffff}' => {}
            c if c.is_control() => {}
            c => out.push(c),
        }
    }
    out
}

/// A number for a label beside others up to `most`: three significant digits or all that stand
/// before the point; thousands as k where the others reach ten thousand, millions as M.
pub(super) fn number(value: f64, most: f64) -> String {
    let units = [(1e9, "G", 1e9), (1e6, "M", 1e6), (1e3, "k", 1e4)];
    for (unit, name, from) in units {
        // What would be rounded up to the unit belongs to it.
        if from <= most.abs().max(value.abs()) * 1.0005 && unit <= value.abs() * 1.0005 {
            return format!("{}{name}", significant(value / unit));
        }
    }
    significant(value)
}

/// At most three significant digits, and all that stand before the point.
fn significant(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let digits = value.abs().log10().floor();
    if !(-9.0..=15.0).contains(&digits) {
        return format!("{value:.2e}");
    }
    let decimals = (2.0 - digits).max(0.0) as usize;
    let mut text = String::new();
    let _ = write!(text, "{value:.decimals$}");
    if text.contains('.') {
        text.truncate(text.trim_end_matches('0').trim_end_matches('.').len());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let cases = [
            (0.0, "0"),
            (0.25, "0.25"),
            (0.1 + 0.2, "0.3"),
            (1.0, "1"),
            (2_375.0, "2375"),
            (9_990.0, "9990"),
            (10_000.0, "10k"),
            (12_500.0, "12.5k"),
            (500_000.0, "500k"),
            (999_900.0, "1M"),
            (1_500_000.0, "1.5M"),
            (0.000_2, "0.0002"),
            (-40.0, "-40"),
            (1e-12, "1.00e-12"),
        ];
        for (value, expected) in cases {
            assert_eq!(number(value, value), expected);
        }
        assert_eq!(number(1_000.0, 100_000.0), "1k");
    }

    #[test]
    fn wide_characters_take_more_room_and_long_text_is_cut() {
        assert!(width("快递", 12.0) > width("ab", 12.0));
        assert_eq!(fitted("short", 10.0, 100.0), "short");
        let cut = fitted("东西啥时候到东西啥时候到", 10.0, 60.0);
        assert!(cut.ends_with('…') && width(&cut, 10.0) <= 60.0, "{cut}");
        assert_eq!(fitted("anything", 10.0, 0.0), "…");
    }

    #[test]
    fn text_is_safe_in_xml() {
        assert_eq!(
            escaped("a<b & \"c\"\u{0}\u{1b}"),
            "a&lt;b &amp; &quot;c&quot;"
        );
    }
}
