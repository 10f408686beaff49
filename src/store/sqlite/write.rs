//! Changes in one transaction: decided by the rules, written to log and state.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{SystemTime, UNIX_EPOCH};

use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};

use super::Limits;
use super::read::{BETWEEN, code, hash, head, number, tenants};
use crate::registry::{
    Applied, Author, Batch, Change, Decision, Document, Effect, Held, Id, Kind, Mode, Refusal,
    Replacement, Revision, decide, guard,
};
use crate::tool::Json;

pub(super) fn apply(
    connection: &mut Connection,
    batch: Batch,
    limits: Limits,
) -> rusqlite::Result<Applied> {
    let mut writing = Writing::begin(connection, &batch.author, limits)?;
    let mut effects = Vec::new();
    for change in batch.changes {
        let id = change.id.clone();
        effects.push((id, writing.change(change)?));
    }
    let refused = |(_, effect): &(Id, Effect)| matches!(effect, Effect::Refused(_));
    let undo = batch.dry_run || batch.mode == Mode::Atomic && effects.iter().any(refused);
    writing.end(undo, effects)
}

pub(super) fn replace(
    connection: &mut Connection,
    replacement: Replacement,
    limits: Limits,
) -> rusqlite::Result<Applied> {
    let Replacement {
        author,
        tenant,
        namespace,
        tools,
        force,
        dry_run,
    } = replacement;
    let mut writing = Writing::begin(connection, &author, limits)?;
    let held = writing.keys(&tenant, &namespace)?;
    let keys: BTreeSet<&str> = held.iter().map(String::as_str).collect();
    let listed: BTreeSet<&str> = tools.iter().map(|tool| tool.id.key.as_str()).collect();
    if !force && let Err(refusal) = guard(&keys, listed.iter().copied()) {
        let id = Id::namespace(&namespace);
        return writing.end(true, vec![(id, Effect::Refused(refusal))]);
    }
    let gone: Vec<Change> = keys
        .difference(&listed)
        .map(|key| Change::delete(Id::tool_of(&tenant, *key)))
        .collect();
    let mut effects = Vec::with_capacity(tools.len() + gone.len());
    for change in gone.into_iter().chain(tools.into_iter().map(Change::put)) {
        let id = change.id.clone();
        effects.push((id, writing.change(change)?));
    }
    let undo = dry_run
        || effects
            .iter()
            .any(|(_, effect)| matches!(effect, Effect::Refused(_)));
    writing.end(undo, effects)
}

/// A transaction under way.
struct Writing<'a> {
    transaction: Transaction<'a>,
    author: &'a Author,
    at: i64,
    /// The last revision made.
    head: Revision,
    limits: Limits,
    /// Live tools of each tenant that was written to.
    counts: BTreeMap<String, usize>,
}

impl<'a> Writing<'a> {
    fn begin(
        connection: &'a mut Connection,
        author: &'a Author,
        limits: Limits,
    ) -> rusqlite::Result<Self> {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        Ok(Self {
            head: head(&transaction)?,
            transaction,
            author,
            at: now.unwrap_or_default().as_millis() as i64,
            limits,
            counts: BTreeMap::new(),
        })
    }

    fn end(self, undo: bool, effects: Vec<(Id, Effect)>) -> rusqlite::Result<Applied> {
        let (revision, committed) = if undo {
            self.transaction.rollback()?;
            (None, false)
        } else {
            self.transaction.commit()?;
            (Some(self.head), true)
        };
        let made = effects.iter().filter(|(_, effect)| effect.is_change());
        let before = Revision(self.head.0 - made.count() as u64);
        Ok(Applied {
            revision: revision.unwrap_or(before),
            committed,
            effects,
        })
    }

    fn change(&mut self, change: Change) -> rusqlite::Result<Effect> {
        let id = change.id.clone();
        let held = self.held(&id)?;
        let others = match id.kind {
            Kind::Tool => self.others(&id)?,
            Kind::Namespace => Vec::new(),
        };
        match decide(change, held.as_ref(), &others) {
            Decision::Nothing(effect) => Ok(effect),
            Decision::Delete { replacement } => {
                self.log(&id, None, replacement.as_deref())?;
                self.transaction
                    .prepare_cached(
                        "UPDATE state SET revision = ?4, live = 0
                         WHERE kind = ?1 AND key = ?2 AND tenant = ?3",
                    )?
                    .execute(params![code(id.kind), id.key, id.tenant, number(self.head)])?;
                if let Some(count) = self.counts.get_mut(&id.tenant) {
                    *count -= usize::from(id.kind == Kind::Tool);
                }
                Ok(Effect::Deleted)
            }
            Decision::Put(document, effect) => {
                let is_new = held.is_none() && id.kind == Kind::Tool;
                if is_new && let Err(refusal) = self.room(&id.tenant)? {
                    return Ok(Effect::Refused(refusal));
                }
                self.put(&document)?;
                Ok(effect)
            }
        }
    }

    /// Counts one more tool of a tenant, if it may have one.
    fn room(&mut self, tenant: &str) -> rusqlite::Result<Result<(), Refusal>> {
        let limit = if tenant.is_empty() {
            self.limits.shared_tools
        } else {
            self.limits.tenant_tools
        };
        if !self.counts.contains_key(tenant) {
            let mut statement = self.transaction.prepare_cached(
                "SELECT count(*) FROM state WHERE live AND kind = 0 AND tenant = ?1",
            )?;
            let count: i64 = statement.query_row([tenant], |row| row.get(0))?;
            self.counts.insert(tenant.to_owned(), count as usize);
        }
        let count = self.counts.entry(tenant.to_owned()).or_default();
        if *count >= limit {
            return Ok(Err(Refusal::Quota {
                tenant: tenant.to_owned(),
                limit,
            }));
        }
        *count += 1;
        Ok(Ok(()))
    }

    fn put(&mut self, document: &Document) -> rusqlite::Result<()> {
        let id = &document.id;
        self.log(id, Some(document), None)?;
        self.transaction
            .prepare_cached("INSERT OR REPLACE INTO state VALUES (?1, ?2, ?3, ?4, ?5, ?6, 1)")?
            .execute(params![
                code(id.kind),
                id.key,
                id.tenant,
                document.namespace,
                document.tenants.join(&BETWEEN.to_string()),
                number(self.head)
            ])?;
        Ok(())
    }

    fn log(
        &mut self,
        id: &Id,
        document: Option<&Document>,
        replacement: Option<&str>,
    ) -> rusqlite::Result<()> {
        self.head = Revision(self.head.0 + 1);
        self.transaction
            .prepare_cached("INSERT INTO change VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)")?
            .execute(params![
                number(self.head),
                self.at,
                self.author.name,
                self.author.reason,
                code(id.kind),
                id.key,
                id.tenant,
                document.map(|document| document.hash.0),
                document.map(|document| document.json.as_str()),
                replacement
            ])?;
        Ok(())
    }

    fn held(&self, id: &Id) -> rusqlite::Result<Option<Held>> {
        let mut statement = self.transaction.prepare_cached(
            "SELECT c.hash, c.document FROM state s JOIN change c USING (revision)
             WHERE s.kind = ?1 AND s.key = ?2 AND s.tenant = ?3 AND s.live",
        )?;
        let row = statement.query_row(params![code(id.kind), id.key, id.tenant], |row| {
            let text: String = row.get(1)?;
            Ok(hash(row, 0)?.map(|hash| Held {
                hash,
                json: Json(text.into()),
            }))
        });
        Ok(row.optional()?.flatten())
    }

    /// Tools of the same key and another tenant, each with the tenants that see it.
    fn others(&self, id: &Id) -> rusqlite::Result<Vec<(String, Vec<String>)>> {
        let mut statement = self.transaction.prepare_cached(
            "SELECT tenant, tenants FROM state
             WHERE kind = 0 AND key = ?1 AND tenant <> ?2 AND live",
        )?;
        statement
            .query_map([&id.key, &id.tenant], |row| {
                let joined: String = row.get(1)?;
                Ok((row.get(0)?, tenants(&joined)))
            })?
            .collect()
    }

    /// Keys of the live tools of a namespace and tenant.
    fn keys(&self, tenant: &str, namespace: &str) -> rusqlite::Result<Vec<String>> {
        let mut statement = self.transaction.prepare_cached(
            "SELECT key FROM state WHERE live AND kind = 0 AND tenant = ?1 AND namespace = ?2",
        )?;
        statement
            .query_map([tenant, namespace], |row| row.get(0))?
            .collect()
    }
}
