//! Questions to the tables.

use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::registry::{Author, Document, Entry, Hash, Id, Kind, Record, Revision};
use crate::tool::Json;

/// Between the tenants of a tool in a column; no text of a document holds it.
pub(super) const BETWEEN: char = '\u{1f}';

pub(super) fn code(kind: Kind) -> i64 {
    match kind {
        Kind::Tool => 0,
        Kind::Namespace => 1,
    }
}

fn kind(row: &Row<'_>, at: usize) -> rusqlite::Result<Kind> {
    match row.get::<_, i64>(at)? {
        0 => Ok(Kind::Tool),
        1 => Ok(Kind::Namespace),
        other => Err(rusqlite::Error::IntegralValueOutOfRange(at, other)),
    }
}

pub(super) fn hash(row: &Row<'_>, at: usize) -> rusqlite::Result<Option<Hash>> {
    Ok(row.get::<_, Option<[u8; 32]>>(at)?.map(Hash))
}

pub(super) fn revision(number: i64) -> Revision {
    Revision(number.try_into().unwrap_or(0))
}

pub(super) fn number(revision: Revision) -> i64 {
    revision.0.try_into().unwrap_or(i64::MAX)
}

fn limit(limit: usize) -> i64 {
    limit.try_into().unwrap_or(i64::MAX)
}

pub(super) fn tenants(joined: &str) -> Vec<String> {
    let parts = joined.split(BETWEEN).filter(|part| !part.is_empty());
    parts.map(str::to_owned).collect()
}

pub(super) fn head(connection: &Connection) -> rusqlite::Result<Revision> {
    let mut statement =
        connection.prepare_cached("SELECT coalesce(max(revision), 0) FROM change")?;
    statement.query_row([], |row| row.get(0)).map(revision)
}

const ENTRY: &str = "SELECT revision, at, author, reason, kind, key, tenant, hash, document, replacement FROM change";

fn entry(row: &Row<'_>) -> rusqlite::Result<Entry> {
    let document: Option<String> = row.get(8)?;
    Ok(Entry {
        revision: revision(row.get(0)?),
        at: row.get(1)?,
        author: Author {
            name: row.get(2)?,
            reason: row.get(3)?,
        },
        id: Id {
            kind: kind(row, 4)?,
            key: row.get(5)?,
            tenant: row.get(6)?,
        },
        put: hash(row, 7)?
            .zip(document)
            .map(|(hash, text)| (hash, Json(text.into()))),
        replacement: row.get(9)?,
    })
}

pub(super) fn entries(
    connection: &Connection,
    after: Revision,
    most: usize,
) -> rusqlite::Result<Vec<Entry>> {
    let text = format!("{ENTRY} WHERE revision > ?1 ORDER BY revision LIMIT ?2");
    let mut statement = connection.prepare_cached(&text)?;
    statement
        .query_map(params![number(after), limit(most)], entry)?
        .collect()
}

pub(super) fn history(
    connection: &Connection,
    id: &Id,
    most: usize,
) -> rusqlite::Result<Vec<Entry>> {
    let text = format!(
        "{ENTRY} WHERE kind = ?1 AND key = ?2 AND tenant = ?3 ORDER BY revision DESC LIMIT ?4"
    );
    let mut statement = connection.prepare_cached(&text)?;
    statement
        .query_map(
            params![code(id.kind), id.key, id.tenant, limit(most)],
            entry,
        )?
        .collect()
}

const RECORD: &str =
    "SELECT s.kind, s.key, s.tenant, s.namespace, s.tenants, s.revision, c.hash, c.document
     FROM state s JOIN change c USING (revision)";

fn one(row: &Row<'_>) -> rusqlite::Result<Record> {
    let missing = |at| rusqlite::Error::InvalidColumnType(at, "document".to_owned(), Type::Null);
    let joined: String = row.get(4)?;
    let text: String = row.get(7)?;
    Ok(Record {
        revision: revision(row.get(5)?),
        document: Document {
            id: Id {
                kind: kind(row, 0)?,
                key: row.get(1)?,
                tenant: row.get(2)?,
            },
            namespace: row.get(3)?,
            tenants: tenants(&joined),
            hash: hash(row, 6)?.ok_or_else(|| missing(6))?,
            json: Json(text.into()),
        },
    })
}

pub(super) fn record(connection: &Connection, id: &Id) -> rusqlite::Result<Option<Record>> {
    let text = format!("{RECORD} WHERE s.kind = ?1 AND s.key = ?2 AND s.tenant = ?3 AND s.live");
    let mut statement = connection.prepare_cached(&text)?;
    statement
        .query_row(params![code(id.kind), id.key, id.tenant], one)
        .optional()
}

pub(super) fn page(
    connection: &Connection,
    after: Option<&Id>,
    most: usize,
) -> rusqlite::Result<Vec<Record>> {
    let text = format!(
        "{RECORD} WHERE s.live AND (s.kind, s.key, s.tenant) > (?1, ?2, ?3)
         ORDER BY s.kind, s.key, s.tenant LIMIT ?4"
    );
    let mut statement = connection.prepare_cached(&text)?;
    let (kind, key, tenant) = after.map_or((-1, "", ""), |id| {
        (code(id.kind), id.key.as_str(), id.tenant.as_str())
    });
    statement
        .query_map(params![kind, key, tenant, limit(most)], one)?
        .collect()
}
