//! What was wrong with a catalogue's lines: counted, grouped and listed.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::{Value, json};

use super::error::Error;
use super::output::{Look, Output};
use super::table::{align_right, count, pad, short_row, table};
use crate::catalog::read::{Problem, Reading, Severity};

/// Problems that are listed unless all of them are asked for.
const LISTED: usize = 20;

/// How many problems to list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    /// The first few.
    Some,
    /// All of them.
    All,
}

/// `3 tools left out, 41 warnings`; nothing where all is well.
pub(super) fn summary(reading: &Reading) -> Option<String> {
    let rejected = reading.rejected();
    let warnings = reading.problems.len() - rejected;
    let mut parts = Vec::new();
    if rejected > 0 {
        parts.push(format!("{} left out", count(rejected, "tool")));
    }
    if warnings > 0 {
        parts.push(count(warnings, "warning"));
    }
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// The problems by kind, then one by one.
///
/// # Errors
/// [`Error`] where the output cannot be written.
pub(super) fn print(problems: &[Problem], extent: Extent, output: &Output) -> Result<(), Error> {
    if problems.is_empty() {
        return Ok(());
    }
    let mut groups: BTreeMap<(Severity, String, String), usize> = BTreeMap::new();
    for problem in problems {
        let field = problem.field.clone().unwrap_or_default();
        *groups
            .entry((problem.severity, field, kind(&problem.reason)))
            .or_default() += 1;
    }
    let mut rows: Vec<_> = groups.into_iter().collect();
    // Errors first, then the most frequent.
    rows.sort_by(|((a, ..), m), ((b, ..), n)| (b, n).cmp(&(a, m)));
    let mut groups = table(output, &["count", "", "field", "problem"]);
    for ((severity, field, kind), number) in rows {
        let cells = [number.to_string(), word(severity).to_owned(), field, kind];
        groups.add_row(short_row(cells));
    }
    pad(&mut groups);
    align_right(&mut groups, 0);
    output.table(&groups)?;
    output.line("")?;
    let listed = match extent {
        Extent::Some => LISTED,
        Extent::All => problems.len(),
    };
    // What was left out matters more than what was mended.
    let mut sorted: Vec<&Problem> = problems.iter().collect();
    sorted.sort_by_key(|problem| std::cmp::Reverse(problem.severity));
    for problem in sorted.into_iter().take(listed) {
        let look = match problem.severity {
            Severity::Error => Look::Bad,
            Severity::Warning => Look::Warning,
        };
        output.line(output.paint(look, super::output::one_line(&problem.to_string())))?;
    }
    if listed < problems.len() {
        let more = format!(
            "… and {} more: --verbose lists all",
            problems.len() - listed
        );
        output.line(output.paint(Look::Faint, more))?;
    }
    Ok(())
}

/// The problems, for programs.
pub(super) fn json(problems: &[Problem]) -> Value {
    problems
        .iter()
        .map(|problem| {
            json!({
                "severity": word(problem.severity),
                "file": problem.file.display().to_string(),
                "line": problem.line,
                "tool": problem.tool,
                "field": problem.field,
                "reason": problem.reason,
            })
        })
        .collect()
}

fn word(severity: Severity) -> &'static str {
    match severity {
        Severity::Warning => "warning",
        Severity::Error => "error",
    }
}

/// A reason without what differs from line to line: what is quoted, and numbers.
fn kind(reason: &str) -> String {
    let mut kind = String::new();
    for (at, part) in reason.split('\'').enumerate() {
        if at % 2 == 1 {
            kind.push_str("'…'");
            continue;
        }
        let mut digits = false;
        for c in part.chars() {
            match (c.is_ascii_digit(), digits) {
                (true, true) => {}
                (true, false) => kind.push('N'),
                (false, _) => {
                    let _ = write!(kind, "{c}");
                }
            }
            digits = c.is_ascii_digit();
        }
    }
    kind
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problems_that_differ_in_names_and_numbers_are_of_one_kind() {
        assert_eq!(
            kind("$ref 'a#/b' leads nowhere at column 120"),
            kind("$ref 'c' leads nowhere at column 7")
        );
        assert_ne!(kind("expected a text"), kind("expected a list"));
    }
}
