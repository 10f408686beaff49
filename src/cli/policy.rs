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
//! condition, and one that is there and empty is a fault; of any other, one entry is enough. Who:
//! `tenants`, `roles`, `scopes`, `environments`. Which tools: `tools` and `namespaces`, which take
//! globs, `tags`, `side_effects`, `risks`. `name` is what reports call the rule.
//!
//! `[groups.roles]`, and so on for each list of texts, gives names to lists; an entry `@NAME` of a
//! rule stands for the entries of that group:
//!
//! ```text
//! [groups.roles]
//! helpdesk = ["support", "sales"]
//!
//! [[rule]]
//! effect = "allow"
//! roles = ["@helpdesk"]
//! ```

use std::collections::BTreeMap;
use std::path::Path;

use super::document::{Document, Section};
use super::error::Error;
use crate::access::{self, Effect, Policy, Rule};
use crate::tool::{Risk, SideEffect};

const EFFECTS: [(&str, Effect); 2] = [("allow", Effect::Allow), ("deny", Effect::Deny)];
/// The lists of a rule that groups may stand in for.
const GROUPED: [&str; 7] = [
    "tenants",
    "roles",
    "scopes",
    "environments",
    "tools",
    "namespaces",
    "tags",
];

/// A policy as it is written.
pub(super) struct Written {
    /// What it says.
    pub(super) policy: Policy,
    /// The line of each rule, from 1.
    pub(super) lines: Vec<usize>,
    /// Groups that no rule uses, as `roles.helpdesk`.
    pub(super) unused_groups: Vec<String>,
}

/// Reads a policy file.
///
/// # Errors
/// [`Error::Read`] where it cannot be read, [`Error::Setting`] where it says something that cannot be.
pub fn read(path: &Path) -> Result<Policy, Error> {
    Ok(read_written(path)?.policy)
}

/// [`read`], with what reports about the file need.
pub(super) fn read_written(path: &Path) -> Result<Written, Error> {
    let document = Document::read("policy file", path)?;
    let mut root = document.root()?;
    let mut groups = Groups::read(&mut root)?;
    let sections = root.sections("rule")?;
    root.end()?;
    if sections.is_empty() {
        return Err(root.fault("it holds no [[rule]], so nobody would see any tool"));
    }
    let lines = sections.iter().map(Section::line).collect();
    let rules: Result<Vec<Rule>, Error> = sections
        .into_iter()
        .map(|section| rule(section, &mut groups))
        .collect();
    Ok(Written {
        policy: Policy::new(rules?)?,
        lines,
        unused_groups: groups.unused(),
    })
}

/// Named lists, by the list of a rule that they are for and their name.
#[derive(Default)]
struct Groups {
    lists: BTreeMap<(&'static str, String), Group>,
}

struct Group {
    entries: Vec<String>,
    used: bool,
}

impl Groups {
    fn read(root: &mut Section<'_>) -> Result<Self, Error> {
        let mut groups = Self::default();
        let Some(mut section) = root.section("groups")? else {
            return Ok(groups);
        };
        for kind in GROUPED {
            let Some(lists) = section.section(kind)? else {
                continue;
            };
            let fault = |reason| Err(section.fault(reason));
            for (name, entries) in lists.lists()? {
                if entries.is_empty() {
                    // As a condition it would be none at all, and let in everybody.
                    return fault(format!("group '{kind}.{name}' is empty"));
                }
                if let Some(inner) = entries.iter().find(|entry| entry.starts_with('@')) {
                    return fault(format!(
                        "group '{kind}.{name}' holds '{inner}': groups hold no groups"
                    ));
                }
                let used = false;
                let group = Group { entries, used };
                groups.lists.insert((kind, name), group);
            }
        }
        section.end()?;
        Ok(groups)
    }

    /// The list with groups in it replaced by what they hold. A group that is not there is a fault,
    /// whether the file has others or none: as a plain text it would match nobody, and a deny would
    /// deny nothing. A glob says a literal `@` as `[@]`.
    fn expand(&mut self, kind: &'static str, list: Vec<String>) -> Result<Vec<String>, String> {
        let mut expanded = Vec::with_capacity(list.len());
        for entry in list {
            let Some(name) = entry.strip_prefix('@') else {
                expanded.push(entry);
                continue;
            };
            let Some(group) = self.lists.get_mut(&(kind, name.to_owned())) else {
                return Err(format!(
                    "'{entry}' names no group: there is no '{name}' in [groups.{kind}]"
                ));
            };
            group.used = true;
            expanded.extend(group.entries.iter().cloned());
        }
        Ok(expanded)
    }

    fn unused(&self) -> Vec<String> {
        let unused = self.lists.iter().filter(|(_, group)| !group.used);
        unused
            .map(|((kind, name), _)| format!("{kind}.{name}"))
            .collect()
    }
}

fn rule(mut section: Section<'_>, groups: &mut Groups) -> Result<Rule, Error> {
    let effect = section.word("effect", &EFFECTS)?;
    let name = section.text("name")?.unwrap_or_default();
    let mut lists = Vec::with_capacity(GROUPED.len());
    for kind in GROUPED {
        section.not_empty(kind)?;
        let list = section.texts(kind)?;
        lists.push(
            groups
                .expand(kind, list)
                .map_err(|reason| section.fault(reason))?,
        );
    }
    let mut list = |kind| {
        let at = GROUPED.iter().position(|known| *known == kind);
        at.map(|at| std::mem::take(&mut lists[at]))
            .unwrap_or_default()
    };
    section.not_empty("side_effects")?;
    section.not_empty("risks")?;
    let rule = Rule {
        name,
        effect: effect.unwrap_or(Effect::Deny),
        tenants: list("tenants"),
        roles: list("roles"),
        scopes: list("scopes"),
        environments: list("environments"),
        tools: list("tools"),
        namespaces: list("namespaces"),
        tags: list("tags"),
        side_effects: section.words("side_effects", &SideEffect::words())?,
        risks: section.words("risks", &Risk::words())?,
    };
    section.end()?;
    if effect.is_none() {
        return Err(section.fault("the rule has no effect: add effect = \"allow\" or \"deny\""));
    }
    // Compiled by itself once, so that a bad glob is told with its line.
    match Policy::new(vec![rule.clone()]) {
        Ok(_) => Ok(rule),
        Err(access::Error::Glob { glob, source, .. }) => {
            Err(section.fault(format!("'{glob}' is not a glob: {source}")))
        }
        Err(error @ access::Error::Globs { .. }) => Err(section.fault(error.to_string())),
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
             effect, name, tenants, roles, scopes, environments, tools, namespaces, tags, \
             side_effects, risks"
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
        assert_eq!(
            fault("[[rule]]\neffect = \"allow\"\nrisks = [\"huge\"]\n"),
            "line 3: 'rule.risks' must be a list of \"low\", \"medium\", \"high\""
        );
        let group = "[groups.roles]\na = [\"x\"]\n[[rule]]\neffect = \"allow\"\nroles = [\"@b\"]\n";
        assert_eq!(
            fault(group),
            "line 3: '@b' names no group: there is no 'b' in [groups.roles]"
        );
        assert_eq!(
            fault("[groups.roles]\na = []\n"),
            "line 1: group 'roles.a' is empty"
        );
        assert!(fault("[[rule]\n").starts_with("line 1: "));
        assert!(fault("rule = 3\n").starts_with("line 1: expected sections [[rule]]"));
    }

    #[test]
    fn an_empty_list_is_a_fault_and_not_no_condition() {
        for list in GROUPED.into_iter().chain(["side_effects", "risks"]) {
            let text = format!("[[rule]]\neffect = \"allow\"\nname = \"x\"\n{list} = []\n");
            assert_eq!(
                fault(&text),
                format!(
                    "line 4: 'rule.{list}' is an empty list: \
                     leave it out where it is to put no condition"
                )
            );
        }
    }

    #[test]
    fn a_group_that_is_not_there_is_a_fault_in_a_file_without_groups_too() {
        let text = "[[rule]]\neffect = \"deny\"\nroles = [\"@suport\"]\n";
        assert_eq!(
            fault(text),
            "line 1: '@suport' names no group: there is no 'suport' in [groups.roles]"
        );
    }

    #[test]
    fn groups_stand_for_their_entries() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let text = "[groups.roles]\nhelp = [\"a\", \"b\"]\nidle = [\"c\"]\n\
            [[rule]]\neffect = \"allow\"\nroles = [\"@help\", \"d\"]\n";
        std::fs::write(file.path(), text).unwrap();
        let written = read_written(file.path()).unwrap();
        assert_eq!(written.policy.rules()[0].roles, ["a", "b", "d"]);
        assert_eq!(written.lines, [4]);
        assert_eq!(written.unused_groups, ["roles.idle"]);
    }

    #[test]
    fn the_example_of_the_module_is_a_policy() {
        let text = crate::cli::document::example_of(include_str!("policy.rs"));
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        assert!(read(file.path()).is_ok());
    }
}
