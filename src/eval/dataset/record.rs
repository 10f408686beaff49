//! Lines of a set's files: JSON Lines of requests, and tab-separated columns.

use std::collections::HashSet;
use std::path::Path;

use serde::Deserialize;

use super::Text;
use crate::eval::Error;

/// A line of `queries.jsonl`. Other fields are allowed and ignored.
#[derive(Deserialize)]
struct Record {
    id: String,
    text: String,
    #[serde(default)]
    lang: String,
}

/// The requests of a JSON Lines file.
pub(super) fn texts(path: &Path) -> Result<Vec<Text>, Error> {
    let mut seen = HashSet::new();
    let mut texts = Vec::new();
    for (number, line) in lines(path)? {
        let fault = |reason: String| fault(path, number, reason);
        let record: Record =
            serde_json::from_str(&line).map_err(|error| fault(format!("not a query: {error}")))?;
        if record.text.trim().is_empty() {
            return Err(fault(format!("query '{}' has no text", record.id)));
        }
        if !seen.insert(record.id.clone()) {
            return Err(fault(format!("query id '{}' is taken", record.id)));
        }
        texts.push(Text {
            id: record.id,
            text: record.text,
            lang: record.lang,
        });
    }
    Ok(texts)
}

/// As [`texts`], and no requests where there is no such file.
pub(super) fn optional_texts(path: &Path) -> Result<Vec<Text>, Error> {
    if path.exists() {
        texts(path)
    } else {
        Ok(Vec::new())
    }
}

/// The rows of a tab-separated file with their line numbers, without its header; none where there
/// is no such file. Each row has at least `columns` columns.
pub(super) fn rows(path: &Path, columns: usize) -> Result<Vec<(usize, Vec<String>)>, Error> {
    if !path.exists() {
        return Ok(Vec::new());
    }
    let mut rows = Vec::new();
    for (number, line) in lines(path)? {
        let row: Vec<String> = line
            .split('\t')
            .map(|cell| cell.trim().to_owned())
            .collect();
        if number == 1
            && matches!(
                row[0].as_str(),
                "query-id" | "query_id" | "tool-id" | "tool_id"
            )
        {
            continue;
        }
        if row.len() < columns || row.iter().take(columns).any(String::is_empty) {
            let reason = format!(
                "expected {columns} columns separated by tabs, found {}",
                row.len()
            );
            return Err(fault(path, number, reason));
        }
        rows.push((number, row));
    }
    Ok(rows)
}

/// Lines that are not blank, with their numbers from 1.
fn lines(path: &Path) -> Result<Vec<(usize, String)>, Error> {
    let text = std::fs::read_to_string(path).map_err(|source| Error::Io {
        path: path.to_owned(),
        source,
    })?;
    let text = text.trim_start_matches('\u{feff}');
    Ok((1..)
        .zip(text.lines())
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(number, line)| (number, line.to_owned()))
        .collect())
}

pub(super) fn fault(path: &Path, line: usize, reason: String) -> Error {
    Error::Line {
        file: path.to_owned(),
        line,
        reason,
    }
}
