use std::path::Path;

use super::*;

fn parse(text: &str) -> Result<Keys, Error> {
    Keys::parse(Path::new("keys.toml"), text)
}

fn entry(name: &str, key: &str) -> String {
    let sha256 = hash_of_key(key);
    format!("[[key]]\nname = '{name}'\nsha256 = '{sha256}'\ntenant = 'acme'\n")
}

#[test]
fn a_key_is_found_by_its_text_alone() {
    let keys = parse(&(entry("one", "k1") + "roles = ['r']\n" + &entry("two", "k2"))).unwrap();
    let one = keys.find("k1").unwrap();
    assert_eq!(
        (one.name.as_str(), one.principal.tenant.as_str()),
        ("one", "acme")
    );
    assert!(one.principal.roles.contains("r") && !one.admin && one.acts_for.is_empty());
    assert_eq!(keys.find("k2").unwrap().name, "two");
    for unknown in ["", "k", "k3", "K1", &hash_of_key("k1")] {
        assert!(keys.find(unknown).is_none(), "{unknown}");
    }
}

#[test]
fn a_bad_file_says_what_is_wrong() {
    let cases = [
        (String::new(), "no [[key]] entries"),
        ("[[key]]\nname = 'x'".into(), "missing field `sha256`"),
        (entry("x", "k") + "role = ['r']", "unknown field `role`"),
        (
            "[[key]]\nname = 'x'\nsha256 = 'abc'\ntenant = 't'".into(),
            "key 'x': sha256 is not 64 hexadecimal digits",
        ),
        (
            entry("x", "k1") + &entry("x", "k2"),
            "two keys of this name",
        ),
        (entry("x", "k") + &entry("y", "k"), "the same sha256"),
        (
            entry("x", "k").replace("'acme'", "''"),
            "key 'x': tenant is empty",
        ),
    ];
    for (text, message) in cases {
        let error = parse(&text).err().map(|error| error.to_string());
        let error = error.unwrap_or_default();
        assert!(error.contains(message), "{error:?} lacks {message:?}");
        assert!(error.contains("keys.toml"), "{error}");
    }
}

#[test]
fn a_bad_section_of_tokens_says_what_is_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("keys.toml");
    let fault = |text: &str| {
        let good = "[jwt]\nissuer = 'i'\naudience = ['a']\njwks = 'https://idp/keys'\n";
        let (from, to) = text.split_once(" -> ").unwrap();
        let error = Keys::parse(&path, &(good.replace(from, to))).err();
        error.map(|error| error.to_string()).unwrap_or_default()
    };
    for (change, message) in [
        ("issuer = 'i' -> issuer = ''", "must not be empty"),
        ("['a'] -> []", "must not be empty"),
        ("https -> http", "use https, or http on this machine"),
        ("https://idp/ -> no/", "no/keys: "),
        (
            "audience -> algorithms = ['HS256']\naudience",
            "'HS256' is none of RS256",
        ),
        (
            "audience -> algorithms = ['none']\naudience",
            "'none' is none of RS256",
        ),
        (
            "audience -> leeway = 9000\naudience",
            "leeway must be at most 600",
        ),
        (
            "audience -> refresh = 1\naudience",
            "refresh must be 10 to 86400",
        ),
        (
            "audience -> tenants = 1\naudience",
            "unknown field `tenants`",
        ),
    ] {
        let error = fault(change);
        assert!(error.contains(message), "{change}: {error:?}");
    }
    assert_eq!(fault("x -> x"), "");
    let set = folder.path().join("set.json");
    std::fs::write(&set, "{\"keys\": []}").unwrap();
    assert!(fault("https://idp/keys -> set.json").contains("1 to 256 keys"));
}
