//! The policy file: rules in TOML that say which tools a principal may see.
//!
//! ```toml
//! [[rule]]
//! effect = "allow"
//! roles = ["support"]
//! namespaces = ["tickets", "orders"]
//!
//! [[rule]]
//! effect = "deny"
//! tags = ["danger"]
//! ```
//!
//! Without a rule nobody sees anything; a deny wins over every allow. A list that is left out puts no
//! condition. `tools` and `namespaces` take globs.

use std::path::Path;

use super::document::{Document, Section};
use super::error::Error;
use crate::access::{self, Effect, Policy, Rule};

const EFFECTS: [(&str, Effect); 2] = [("allow", Effect::Allow), ("deny", Effect::Deny)];

/// Reads a policy file.
///
/// # Errors
/// [`Error::Read`] where it cannot be read, [`Error::Setting`] where it says something that cannot be.
pub fn read(path: &Path) -> Result<Policy, Error> {
    let document = Document::read("policy file", path)?;
    let mut root = document.root()?;
    let sections = root.sections("rule")?;
    root.end()?;
    if sections.is_empty() {
        return Err(root.fault("it holds no [[rule]], so nobody would see any tool"));
    }
    let rules: Result<Vec<Rule>, Error> = sections.into_iter().map(rule).collect();
    Ok(Policy::new(rules?)?)
}

fn rule(mut section: Section<'_>) -> Result<Rule, Error> {
    let effect = section.word("effect", &EFFECTS)?;
    let mut list = |key| section.texts(key);
    let (tenants, roles) = (list("tenants")?, list("roles")?);
    let (environments, tags) = (list("environments")?, list("tags")?);
    let (tools, namespaces) = (list("tools")?, list("namespaces")?);
    section.end()?;
    let Some(effect) = effect else {
        return Err(section.fault("the rule has no effect: add effect = \"allow\" or \"deny\""));
    };
    let rule = Rule {
        effect,
        tenants,
        roles,
        environments,
        tools,
        namespaces,
        tags,
    };
    // Compiled by itself once, so that a bad glob is told with its line.
    match Policy::new(vec![rule.clone()]) {
        Ok(_) => Ok(rule),
        Err(access::Error::Glob { glob, source, .. }) => {
            Err(section.fault(format!("'{glob}' is not a glob: {source}")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(text: &str) -> String {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        let message = read(file.path()).unwrap_err().message();
        message.split_once(", ").unwrap().1.to_owned()
    }

    #[test]
    fn faults_are_told_with_their_line() {
        assert_eq!(
            fault(""),
            "line 1: it holds no [[rule]], so nobody would see any tool"
        );
        assert_eq!(
            fault("[[rule]]\neffect = \"allow\"\nrole = [\"a\"]\n"),
            "line 3: unknown key 'role'; known in [rule] are: \
             effect, tenants, roles, environments, tags, tools, namespaces"
        );
        assert_eq!(
            fault("\n[[rule]]\nroles = [\"a\"]\n"),
            "line 2: the rule has no effect: add effect = \"allow\" or \"deny\""
        );
        assert_eq!(
            fault("[[rule]]\neffect = \"permit\"\n"),
            "line 2: 'rule.effect' must be one of \"allow\", \"deny\""
        );
        assert_eq!(
            fault("[[rule]]\neffect = \"allow\"\nroles = \"a\"\n"),
            "line 3: 'rule.roles' must be a list of texts"
        );
        assert!(
            fault("[[rule]]\neffect = \"allow\"\ntools = [\"a/[\"]\n")
                .starts_with("line 1: 'a/[' is not a glob")
        );
        assert!(fault("[[rule]\n").starts_with("line 1: "));
        assert!(fault("rule = 3\n").starts_with("line 1: expected sections [[rule]]"));
    }

    #[test]
    fn the_example_of_the_module_is_a_policy() {
        let text: String = include_str!("policy.rs")
            .lines()
            .skip_while(|line| *line != "//! ```toml")
            .skip(1)
            .take_while(|line| *line != "//! ```")
            .map(|line| format!("{}\n", line.trim_start_matches("//!").trim()))
            .collect();
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        assert!(read(file.path()).is_ok());
    }
}
