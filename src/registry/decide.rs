//! Which changes are accepted: pure rules that every store applies inside its transaction.

use std::collections::BTreeSet;

use super::change::{Action, Change, Effect, Expect};
use super::error::Refusal;
use super::item::{Document, Hash, Id, Kind};
use crate::catalog::document;
use crate::tool::Json;

/// A listing that keeps less than this share of the tools that are there needs `force`: a server
/// that is half up lists half of its tools.
pub const MIN_SHARE: f64 = 0.5;

/// What a store has under the id of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    /// Hash of the document.
    pub hash: Hash,
    /// The document.
    pub json: Json,
}

/// What is to be done for a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// This document is put in place.
    Put(Document, Effect),
    /// What is there is taken away.
    Delete {
        /// Key of the tool to use instead.
        replacement: Option<String>,
    },
    /// Nothing is to be done.
    Nothing(Effect),
}

/// Decides about one change of what a store holds under its id. `others` are the tenants of tools
/// that have the same key and another tenant, each with the tenants that see them (none for all).
pub fn decide(change: Change, held: Option<&Held>, others: &[(String, Vec<String>)]) -> Decision {
    match accept(change, held, others) {
        Ok(decision) => decision,
        Err(refusal) => Decision::Nothing(Effect::Refused(refusal)),
    }
}

fn accept(
    change: Change,
    held: Option<&Held>,
    others: &[(String, Vec<String>)],
) -> Result<Decision, Refusal> {
    let Change { id, expect, action } = change;
    expected(expect, held)?;
    let document = match action {
        Action::Delete { replacement } => {
            held.ok_or(Refusal::Unknown)?;
            return Ok(Decision::Delete { replacement });
        }
        Action::Put(document) => document,
        Action::Patch(patch) => patched(&id, held.ok_or(Refusal::Unknown)?, &patch)?,
    };
    if document.id != id {
        let reason = "its id, namespace, name or tenants make it another tool than the one addressed: delete this one and put that one";
        return Err(Refusal::Invalid(reason.to_owned()));
    }
    if id.kind == Kind::Tool {
        let clashes = |seen_by: &[String]| {
            seen_by.is_empty()
                || document.tenants.is_empty()
                || document.tenants.iter().any(|one| seen_by.contains(one))
        };
        if let Some((tenant, _)) = others.iter().find(|(_, seen_by)| clashes(seen_by)) {
            let tenant = tenant.clone();
            return Err(Refusal::Taken { tenant });
        }
    }
    Ok(match held {
        Some(held) if held.hash == document.hash => Decision::Nothing(Effect::Unchanged(held.hash)),
        Some(_) => {
            let effect = Effect::Updated(document.hash);
            Decision::Put(document, effect)
        }
        None => {
            let effect = Effect::Created(document.hash);
            Decision::Put(document, effect)
        }
    })
}

fn expected(expect: Expect, held: Option<&Held>) -> Result<(), Refusal> {
    let found = held.map(|held| held.hash);
    let holds = match expect {
        Expect::Anything => true,
        Expect::Nothing => found.is_none(),
        Expect::Something => found.is_some(),
        Expect::Hash(hash) => found == Some(hash),
    };
    if holds {
        Ok(())
    } else {
        Err(Refusal::Stale { found })
    }
}

fn patched(id: &Id, held: &Held, patch: &Json) -> Result<Document, Refusal> {
    let invalid = |rejected: crate::catalog::read::Rejected| Refusal::Invalid(rejected.to_string());
    let json = document::merged(held.json.as_str(), patch.as_str()).map_err(invalid)?;
    Document::read(id.kind, json.as_str()).map_err(invalid)
}

/// Whether a listing may replace a namespace. `held` are the keys that are there.
///
/// # Errors
/// [`Refusal::Shrinks`] where tools are there and the listing is empty or keeps less than
/// [`MIN_SHARE`] of them.
pub fn guard<'a>(
    held: &BTreeSet<&str>,
    listed: impl Iterator<Item = &'a str>,
) -> Result<(), Refusal> {
    let kept = listed.filter(|key| held.contains(key)).count();
    if !held.is_empty() && (kept == 0 || (kept as f64) < MIN_SHARE * held.len() as f64) {
        return Err(Refusal::Shrinks {
            held: held.len(),
            listed: kept,
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::fixture;

    fn document(description: &str, tenants: &[&str]) -> Document {
        let mut tool = fixture::tool("crm", "find");
        tool.description = description.into();
        tool.tenants = tenants.iter().map(|one| (*one).to_owned()).collect();
        Document::of_tool(&tool)
    }

    fn held(document: &Document) -> Held {
        Held {
            hash: document.hash,
            json: document.json.clone(),
        }
    }

    fn refusal(decision: Decision) -> Refusal {
        match decision {
            Decision::Nothing(Effect::Refused(refusal)) => refusal,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_document_is_created_updated_or_left() {
        let (old, new) = (document("a", &[]), document("b", &[]));
        let put = |held: Option<&Held>| decide(Change::put(new.clone()), held, &[]);
        assert_eq!(
            put(None),
            Decision::Put(new.clone(), Effect::Created(new.hash))
        );
        assert_eq!(
            put(Some(&held(&old))),
            Decision::Put(new.clone(), Effect::Updated(new.hash))
        );
        assert_eq!(
            put(Some(&held(&new))),
            Decision::Nothing(Effect::Unchanged(new.hash))
        );
    }

    #[test]
    fn what_was_expected_must_be_there() {
        let (old, new) = (document("a", &[]), document("b", &[]));
        let there = held(&old);
        let cases = [
            (Expect::Hash(old.hash), Some(&there), true),
            (Expect::Hash(new.hash), Some(&there), false),
            (Expect::Hash(old.hash), None, false),
            (Expect::Nothing, None, true),
            (Expect::Nothing, Some(&there), false),
            (Expect::Something, Some(&there), true),
            (Expect::Something, None, false),
        ];
        for (expect, there, accepted) in cases {
            let change = Change {
                expect,
                ..Change::put(new.clone())
            };
            let decision = decide(change, there, &[]);
            assert_eq!(
                matches!(decision, Decision::Put(..)),
                accepted,
                "{expect:?}"
            );
            if !accepted {
                let found = there.map(|there| there.hash);
                assert_eq!(refusal(decision), Refusal::Stale { found });
            }
        }
    }

    #[test]
    fn a_patch_changes_what_it_names_and_not_the_identity() {
        let old = document("a", &[]);
        let patch = |text: &str| {
            let change = Change {
                id: old.id.clone(),
                expect: Expect::Anything,
                action: Action::Patch(Json(text.into())),
            };
            decide(change, Some(&held(&old)), &[])
        };
        let new = document("b", &[]);
        assert_eq!(
            patch(r#"{"description": "b"}"#),
            Decision::Put(new.clone(), Effect::Updated(new.hash))
        );
        for bad in [
            r#"{"name": null}"#,
            r#"{"id": "other"}"#,
            r#"{"tenants": ["acme"]}"#,
            r#"{"kind": "no such"}"#,
        ] {
            assert!(matches!(refusal(patch(bad)), Refusal::Invalid(_)), "{bad}");
        }
    }

    #[test]
    fn nothing_can_be_neither_patched_nor_deleted() {
        let change = Change::delete(Id::tool("crm/find"));
        assert_eq!(refusal(decide(change, None, &[])), Refusal::Unknown);
    }

    #[test]
    fn a_tenant_never_sees_two_tools_of_one_key() {
        let shared = document("a", &[]);
        let own = document("a", &["acme"]);
        let put = |document: &Document, others: &[(String, Vec<String>)]| {
            decide(Change::put(document.clone()), None, others)
        };
        let of = |tenant: &str, seen_by: &[&str]| {
            let seen_by = seen_by.iter().map(|one| (*one).to_owned()).collect();
            (tenant.to_owned(), seen_by)
        };
        assert!(matches!(
            refusal(put(&own, &[of("", &[])])),
            Refusal::Taken { .. }
        ));
        assert!(matches!(
            refusal(put(&shared, &[of("acme", &["acme"])])),
            Refusal::Taken { .. }
        ));
        let apart = put(&own, &[of("", &["b", "c"]), of("umbrella", &["umbrella"])]);
        assert!(matches!(apart, Decision::Put(..)));
    }

    #[test]
    fn a_listing_that_loses_much_needs_force() {
        let held: BTreeSet<&str> = ["a", "b", "c", "d"].into();
        let listing = |keys: &[&'static str]| guard(&held, keys.iter().copied());
        assert!(listing(&["a", "b"]).is_ok());
        assert!(listing(&["a", "b", "c", "d", "e"]).is_ok());
        assert_eq!(
            listing(&["a", "x", "y", "z"]),
            Err(Refusal::Shrinks { held: 4, listed: 1 })
        );
        assert!(listing(&[]).is_err());
        assert!(guard(&BTreeSet::new(), std::iter::empty()).is_ok());
    }
}
