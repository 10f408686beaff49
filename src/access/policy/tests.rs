use super::*;
use crate::catalog::fixture;

fn rule(effect: Effect) -> Rule {
    Rule {
        effect,
        tenants: vec![],
        roles: vec![],
        environments: vec![],
        tools: vec![],
        namespaces: vec![],
        tags: vec![],
    }
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
