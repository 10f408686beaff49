//! Made-up catalogues, policies and callers: small, and full of what could give something away.

use std::sync::Arc;

use proptest::prelude::*;
use toolscout::access::{Effect, Narrowing, Policy, Principal, Rule};
use toolscout::catalog::{Catalog, read};
use toolscout::embed::hashed::Hashed;
use toolscout::index::{Index, build::build};
use toolscout::tool::{Namespace, Tool};

/// Numbers in a vector.
pub(super) const DIMENSION: usize = 32;

/// Few words, so that tools share rare ones, repeat each other and are near-duplicates.
pub(super) const WORDS: [&str; 14] = [
    "parcel", "track", "order", "refund", "weather", "city", "查询", "快递", "订单", "天气",
    "invoice", "send", "message", "zebra",
];
pub(super) const NAMESPACES: [&str; 4] = ["", "logistics", "crm", "weather-station"];
const TAGS: [&str; 3] = ["secret", "plain", "odd"];
const ROLES: [&str; 3] = ["a", "b", "c"];
const TENANTS: [&str; 2] = ["acme", "umbrella"];
/// Who sees every tool of its tenant.
const ROOT: &str = "root";

/// A tool to be.
#[derive(Debug, Clone)]
pub(super) struct Draft {
    namespace: usize,
    name: Vec<usize>,
    description: Vec<usize>,
    use_when: Vec<usize>,
    avoid_when: Vec<usize>,
    tag: usize,
    tenant: Option<usize>,
    scope: bool,
    hidden: bool,
    /// The key is a number; else it is made of namespace and name, which others may have too.
    numbered: bool,
}

/// A catalogue, what may be seen of it, and by whom.
#[derive(Debug, Clone)]
pub(super) struct World {
    pub(super) drafts: Vec<Draft>,
    pub(super) rules: Vec<Rule>,
    pub(super) caller: Principal,
}

/// Words at these positions, joined.
pub(super) fn words(indices: &[usize], between: &str) -> String {
    let words: Vec<&str> = indices.iter().map(|at| WORDS[*at]).collect();
    words.join(between)
}

fn line(number: usize, draft: &Draft) -> String {
    let mut tool = serde_json::json!({
        "namespace": NAMESPACES[draft.namespace],
        "name": words(&draft.name, "_"),
        "description": words(&draft.description, " "),
        "use_when": [words(&draft.use_when, " ")],
        "avoid_when": [words(&draft.avoid_when, " ")],
        "tags": [TAGS[draft.tag]],
        "side_effect": if number.is_multiple_of(2) { "read" } else { "write" },
    });
    if draft.numbered {
        tool["id"] = format!("t{number:03}").into();
    }
    if let Some(tenant) = draft.tenant {
        tool["tenants"] = serde_json::json!([TENANTS[tenant]]);
    }
    if draft.scope {
        tool["required_scopes"] = serde_json::json!(["s"]);
    }
    if draft.hidden {
        tool["exposure"] = "hidden".into();
    }
    tool.to_string()
}

fn drafts() -> impl Strategy<Value = Vec<Draft>> {
    let some = |range| proptest::collection::vec(0..WORDS.len(), range);
    let rarely = || prop::bool::weighted(0.15);
    let texts = (some(1..4), some(0..8), some(0..5), some(0..4));
    let rights = (
        0..TAGS.len(),
        prop::option::weighted(0.3, 0..TENANTS.len()),
        rarely(),
        rarely(),
        any::<bool>(),
    );
    let draft = (0..NAMESPACES.len(), texts, rights).prop_map(|(namespace, texts, rights)| {
        let (name, description, use_when, avoid_when) = texts;
        let (tag, tenant, scope, hidden, numbered) = rights;
        Draft {
            namespace,
            name,
            description,
            use_when,
            avoid_when,
            tag,
            tenant,
            scope,
            hidden,
            numbered,
        }
    });
    proptest::collection::vec(draft, 1..24)
}

fn subset(of: &'static [&'static str]) -> impl Strategy<Value = Vec<String>> {
    let chosen = prop::sample::subsequence(of, 0..=of.len());
    chosen.prop_map(|chosen| chosen.into_iter().map(str::to_owned).collect())
}

fn rule() -> impl Strategy<Value = Rule> {
    let effect = prop_oneof![2 => Just(Effect::Allow), 1 => Just(Effect::Deny)];
    let tools = prop_oneof![
        Just(vec![]),
        Just(vec!["t0*".to_owned()]),
        Just(vec!["*/*".to_owned()])
    ];
    let environments = prop_oneof![3 => Just(vec![]), 1 => Just(vec!["live".to_owned()])];
    (
        effect,
        subset(&ROLES),
        subset(&TAGS),
        subset(&NAMESPACES[1..]),
        tools,
        environments,
    )
        .prop_map(
            |(effect, roles, tags, namespaces, tools, environments)| Rule {
                roles,
                tags,
                namespaces,
                tools,
                environments,
                ..Rule::new(effect)
            },
        )
}

fn caller() -> impl Strategy<Value = Principal> {
    let narrowing = prop::option::of((subset(&ROLES), any::<bool>()));
    let own = (subset(&ROLES), any::<bool>(), any::<bool>(), narrowing);
    own.prop_map(|(roles, scoped, live, narrowing)| {
        let mut caller = Principal::of_tenant("acme");
        caller.roles = roles.into_iter().collect();
        caller.scopes = scoped.then(|| "s".to_owned()).into_iter().collect();
        caller.environment = live.then(|| "live".to_owned());
        let Some((kept, into_live)) = narrowing else {
            return caller;
        };
        let kept = caller.roles.iter().filter(|role| kept.contains(role));
        let narrowing = Narrowing {
            roles: Some(kept.cloned().collect()),
            scopes: None,
            environment: into_live.then(|| "live".to_owned()),
        };
        caller.narrowed(&narrowing).unwrap()
    })
}

/// Worlds of up to 24 tools and six rules.
pub(super) fn worlds() -> impl Strategy<Value = World> {
    (drafts(), proptest::collection::vec(rule(), 0..5), caller()).prop_map(
        |(drafts, mut rules, caller)| {
            // Most callers are to see something.
            rules.push(Rule {
                tags: vec!["plain".to_owned(), "odd".to_owned()],
                ..Rule::new(Effect::Allow)
            });
            rules.push(Rule {
                roles: vec![ROOT.to_owned()],
                ..Rule::new(Effect::Allow)
            });
            World {
                drafts,
                rules,
                caller,
            }
        },
    )
}

impl World {
    /// The policy.
    pub(super) fn policy(&self) -> Policy {
        Policy::new(self.rules.clone()).unwrap()
    }

    /// Somebody of the same tenant who sees more.
    pub(super) fn root(&self) -> Principal {
        let mut root = Principal::of_tenant("acme");
        root.roles.insert(ROOT.to_owned());
        root.scopes.insert("s".to_owned());
        root
    }

    /// The tools as they are read, in the order of the drafts or the other way round.
    fn read(&self, reversed: bool) -> (Vec<Tool>, Vec<Namespace>) {
        let folder = tempfile::tempdir().unwrap();
        let numbered = self.drafts.iter().enumerate();
        let mut lines: Vec<String> = numbered.map(|(at, draft)| line(at, draft)).collect();
        if reversed {
            lines.reverse();
        }
        std::fs::write(folder.path().join("tools.jsonl"), lines.join("\n")).unwrap();
        let described = NAMESPACES
            .iter()
            .filter(|name| !name.is_empty())
            .map(|name| {
                let text = format!("{name} of the zebra and the invoice");
                serde_json::json!({"name": name, "description": text, "tags": ["group"]})
                    .to_string()
            });
        let described: Vec<String> = described.collect();
        std::fs::write(folder.path().join("namespaces.jsonl"), described.join("\n")).unwrap();
        let reading = read::read(folder.path()).unwrap();
        (reading.tools, reading.namespaces)
    }

    /// An index of all tools.
    pub(super) fn whole(&self) -> Index {
        let (tools, namespaces) = self.read(false);
        index(tools, namespaces)
    }

    /// An index of all tools, read in another order.
    pub(super) fn reversed(&self) -> Index {
        let (tools, namespaces) = self.read(true);
        index(tools, namespaces)
    }

    /// An index of `whole` without the tools that the caller may not see, as if they did not exist.
    pub(super) fn without_forbidden(&self, whole: &Index) -> Index {
        let tools = whole.catalog.tools();
        let permitted = self.policy().permit(&self.caller, tools);
        let seen = permitted.iter().map(|id| whole.catalog.tool(id).clone());
        let (_, namespaces) = self.read(false);
        index(seen.collect(), namespaces)
    }
}

fn index(tools: Vec<Tool>, namespaces: Vec<Namespace>) -> Index {
    let catalog = Catalog::new(tools, namespaces);
    build(Arc::new(catalog), &Hashed::new(DIMENSION), &|_| {}).unwrap()
}
