use super::*;
use crate::access::{Finding, MAX_BOUNDS, Narrowing, Wider};
use crate::catalog::fixture;
use crate::tool::{Exposure, ToolId};

fn rule(effect: Effect) -> Rule {
    Rule::new(effect)
}

fn keys(policy: &Policy, principal: &Principal) -> Vec<String> {
    let mut shared = fixture::tool("crm", "find_customer");
    let mut secret = fixture::tool("crm", "delete_customer");
    secret.tags = vec!["danger".into()];
    secret.required_scopes = vec!["crm:admin".into()];
    let mut foreign = fixture::tool("bank", "pay");
    foreign.tenants = vec!["bank".into()];
    shared.key = "crm/find_customer".into();
    let tools = [foreign, secret, shared];
    policy
        .permit(principal, &tools)
        .iter()
        .map(|id| tools[id.index()].key.clone())
        .collect()
}

#[test]
fn nothing_is_permitted_by_default() {
    let policy = Policy::new(vec![]).unwrap();
    assert!(keys(&policy, &Principal::of_tenant("acme")).is_empty());
}

#[test]
fn deny_wins_over_allow_whatever_the_order() {
    let mut deny = rule(Effect::Deny);
    deny.tags = vec!["danger".into()];
    let allow = rule(Effect::Allow);
    let mut admin = Principal::of_tenant("acme");
    admin.scopes.insert("crm:admin".into());
    for rules in [
        vec![allow.clone(), deny.clone()],
        vec![deny.clone(), allow.clone()],
    ] {
        let policy = Policy::new(rules).unwrap();
        assert_eq!(keys(&policy, &admin), ["crm/find_customer"]);
    }
    let policy = Policy::new(vec![allow]).unwrap();
    assert_eq!(
        keys(&policy, &admin),
        ["crm/delete_customer", "crm/find_customer"]
    );
}

#[test]
fn tenants_never_mix_even_under_an_open_policy() {
    let policy = Policy::open("test");
    assert_eq!(keys(&policy, &Principal::of_tenant("acme")).len(), 2);
    assert_eq!(keys(&policy, &Principal::of_tenant("bank")).len(), 3);
}

#[test]
fn a_rule_for_a_role_speaks_to_that_role_only() {
    let mut allow = rule(Effect::Allow);
    allow.roles = vec!["sales".into()];
    allow.namespaces = vec!["c*".into()];
    let policy = Policy::new(vec![allow]).unwrap();
    let mut sales = Principal::of_tenant("acme");
    assert!(keys(&policy, &sales).is_empty());
    sales.roles.insert("sales".into());
    assert_eq!(keys(&policy, &sales), ["crm/find_customer"]);
}

#[test]
fn a_bad_glob_names_its_rule() {
    let mut bad = rule(Effect::Allow);
    bad.tools = vec!["crm/[".into()];
    let error = Policy::new(vec![rule(Effect::Allow), bad]).unwrap_err();
    assert!(error.to_string().starts_with("policy rule 2: 'crm/['"));
}

#[test]
fn a_hidden_tool_is_nobodys() {
    let mut hidden = fixture::tool("crm", "inner");
    hidden.exposure = Exposure::Hidden;
    let tools = [hidden, fixture::tool("crm", "outer")];
    let caller = Principal::of_tenant("acme");
    let policy = Policy::new(vec![rule(Effect::Allow)]).unwrap();
    for policy in [policy, Policy::open("test")] {
        let seen: Vec<ToolId> = policy.permit(&caller, &tools).iter().collect();
        assert_eq!(seen, [ToolId(1)]);
    }
}

#[test]
fn rules_speak_of_scopes_side_effects_and_risk() {
    let mut reads = rule(Effect::Allow);
    reads.scopes = vec!["read".into(), "write".into()];
    reads.side_effects = vec![SideEffect::Read];
    let mut risky = rule(Effect::Deny);
    risky.risks = vec![Risk::High];
    let policy = Policy::new(vec![reads, risky]).unwrap();
    let tool = |name, side_effect, risk| Tool {
        side_effect,
        risk,
        ..fixture::tool("n", name)
    };
    let tools = [
        tool("a", SideEffect::Read, Risk::Low),
        tool("b", SideEffect::Read, Risk::High),
        tool("c", SideEffect::Write, Risk::Low),
    ];
    let mut caller = Principal::of_tenant("acme");
    assert!(policy.permit(&caller, &tools).is_empty());
    caller.scopes.insert("write".into());
    let seen: Vec<ToolId> = policy.permit(&caller, &tools).iter().collect();
    assert_eq!(seen, [ToolId(0)]);
}

/// A deny that names a role or an environment holds for a caller that narrows itself out of it.
#[test]
fn narrowing_never_widens() {
    let mut deny = rule(Effect::Deny);
    deny.roles = vec!["intern".into()];
    deny.tags = vec!["danger".into()];
    let mut staging = rule(Effect::Allow);
    staging.environments = vec!["staging".into()];
    let mut everyday = rule(Effect::Allow);
    everyday.roles = vec!["sales".into()];
    let policy = Policy::new(vec![deny, staging, everyday]).unwrap();
    let mut safe = fixture::tool("n", "safe");
    let mut dangerous = fixture::tool("n", "dangerous");
    safe.tags = vec!["plain".into()];
    dangerous.tags = vec!["danger".into()];
    let tools = [dangerous, safe];
    let seen =
        |caller: &Principal| -> Vec<ToolId> { policy.permit(caller, &tools).iter().collect() };
    let mut caller = Principal::of_tenant("acme");
    caller
        .roles
        .extend(["intern".to_owned(), "sales".to_owned()]);
    assert_eq!(seen(&caller), [ToolId(1)]);
    let to = |roles: Option<&[&str]>, environment: Option<&str>| Narrowing {
        roles: roles.map(|roles| roles.iter().map(|role| (*role).to_owned()).collect()),
        scopes: None,
        environment: environment.map(str::to_owned),
    };
    let without_intern = caller.narrowed(&to(Some(&["sales"]), None)).unwrap();
    assert_eq!(seen(&without_intern), [ToolId(1)]);
    let nothing = caller.narrowed(&to(Some(&[]), None)).unwrap();
    assert!(seen(&nothing).is_empty());
    // The environment's allowance speaks of the narrowed caller, and not of what it was before.
    let in_staging = nothing.narrowed(&to(None, Some("staging"))).unwrap();
    assert!(seen(&in_staging).is_empty());
    assert_eq!(
        in_staging.narrowed(&to(None, Some("production"))),
        Err(Wider::Environment("production".into()))
    );
    assert_eq!(
        without_intern.narrowed(&to(Some(&["intern"]), None)),
        Err(Wider::Role("intern".into()))
    );
    let mut deep = caller;
    for depth in 0..MAX_BOUNDS {
        let mut next = Principal::of_tenant("acme");
        next.roles.insert(depth.to_string());
        deep = next.bounded_by(deep).unwrap();
    }
    assert_eq!(
        Principal::of_tenant("acme").bounded_by(deep),
        Err(Wider::TooDeep)
    );
}

/// What the rules say of one tool, read one after the other.
fn by_hand(rules: &[Rule], caller: &Principal, tool: &Tool) -> bool {
    let any = |list: &[String], holds: &dyn Fn(&str) -> bool| {
        list.is_empty() || list.iter().any(|one| holds(one))
    };
    let is_match = |glob: &str| {
        let glob = globset::Glob::new(glob).unwrap().compile_matcher();
        glob.is_match(&tool.key)
    };
    let covers = |rule: &&Rule| {
        any(&rule.namespaces, &|name| name == tool.namespace)
            && any(&rule.tags, &|tag| tool.tags.iter().any(|own| own == tag))
            && any(&rule.tools, &is_match)
    };
    let speaking: Vec<&Rule> = rules
        .iter()
        .filter(|rule| rule.speaks_of(caller))
        .filter(covers)
        .collect();
    !speaking.is_empty()
        && speaking.iter().all(|rule| rule.effect == Effect::Allow)
        && (tool.tenants.is_empty() || tool.tenants.contains(&caller.tenant))
        && tool
            .required_scopes
            .iter()
            .all(|scope| caller.scopes.contains(scope))
}

/// Bit sets and rule by rule come to the same, for every principal of a small world.
#[test]
fn sets_say_what_the_rules_say() {
    let mut noise = crate::index::fixture::Noise(7);
    let words = ["a", "b", "c"];
    let mut some = |share: usize| -> Vec<String> {
        let kept = words.iter().filter(|_| noise.below(share) == 0);
        kept.map(|word| (*word).to_owned()).collect()
    };
    let tools: Vec<Tool> = (0..300)
        .map(|at| Tool {
            tags: some(2),
            tenants: some(5),
            required_scopes: some(6),
            ..fixture::tool(words[at % 3], &format!("t{at}"))
        })
        .collect();
    for _ in 0..40 {
        let rules: Vec<Rule> = (0..6)
            .map(|at| Rule {
                tenants: some(4),
                roles: some(3),
                scopes: some(5),
                environments: some(5),
                namespaces: some(3),
                tags: some(3),
                tools: if at % 3 == 0 {
                    vec!["*/t?".into(), "b/t1*".into()]
                } else {
                    vec![]
                },
                ..Rule::new(if at < 4 { Effect::Allow } else { Effect::Deny })
            })
            .collect();
        let policy = Policy::new(rules.clone()).unwrap();
        let rights = policy.over(&tools);
        let caller = Principal {
            tenant: "a".into(),
            roles: some(2).into_iter().collect(),
            scopes: some(2).into_iter().collect(),
            environment: some(2).pop(),
            within: None,
        };
        let permitted = rights.of(&caller);
        assert_eq!(*permitted, *rights.of(&caller));
        for (at, tool) in tools.iter().enumerate() {
            let allowed = by_hand(&rules, &caller, tool);
            let id = ToolId(at as u32);
            assert_eq!(permitted.contains(id), allowed, "{caller:?} {}", tool.key);
            assert_eq!(rights.why(&caller, id, tool).visible, allowed);
        }
    }
}

#[test]
fn a_review_finds_what_does_nothing() {
    let named = |name: &str, effect, roles: &[&str], tools: &[&str]| Rule {
        name: name.into(),
        roles: roles.iter().map(|role| (*role).to_owned()).collect(),
        tools: tools.iter().map(|glob| (*glob).to_owned()).collect(),
        ..Rule::new(effect)
    };
    let rules = vec![
        named("everybody", Effect::Allow, &[], &["wiki/*"]),
        named("shadowed", Effect::Allow, &["r"], &["wiki/read"]),
        named("overruled", Effect::Allow, &["r"], &["vault/*"]),
        named("deny", Effect::Deny, &[], &["vault/*"]),
        named("idle", Effect::Deny, &["r"], &["mail/*"]),
        named("unused", Effect::Allow, &["r"], &["nothing/*"]),
        named("good", Effect::Allow, &["r"], &["chat/*"]),
    ];
    let tool = |namespace, name| fixture::tool(namespace, name);
    let tools = [
        tool("chat", "send"),
        tool("mail", "send"),
        tool("vault", "open"),
        tool("wiki", "read"),
        tool("wiki", "write"),
    ];
    let review = Policy::new(rules).unwrap().over(&tools).review(&tools);
    assert_eq!(
        review.findings,
        [
            Finding::Shadowed {
                rule: 1,
                by: vec![0]
            },
            Finding::Overruled {
                rule: 2,
                by: vec![3]
            },
            Finding::DeniesNothing { rule: 4 },
            Finding::MatchesNothing {
                rule: 5,
                field: "tools",
                text: "nothing/*".into()
            },
            Finding::Unused { rule: 5 },
        ]
    );
    assert_eq!(review.unreachable, [ToolId(1), ToolId(2)]);
    assert_eq!(review.public, [ToolId(3), ToolId(4)]);
}
