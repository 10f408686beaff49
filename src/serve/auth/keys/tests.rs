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
