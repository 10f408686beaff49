//! The classic rules: points for each word of the query, most where it is a part of the name.

use super::names::words;
use crate::tool::Tool;

/// The word is a part of the name.
const NAME_PART: u32 = 10;
/// The word stands within a part of the name.
const IN_NAME_PART: u32 = 5;
/// The word stands in the name written without separators.
const IN_NAME: u32 = 3;
/// The word stands in a parameter's name.
const IN_PARAMETER: u32 = 3;
/// The word stands in the description of the tool or of a parameter.
const IN_DESCRIPTION: u32 = 2;

/// What of a tool the rules look at, in lower case.
pub(super) struct Text {
    parts: Vec<String>,
    name: String,
    parameters: Vec<String>,
    descriptions: Vec<String>,
}

impl Text {
    pub(super) fn of(tool: &Tool) -> Self {
        let mut parts = words(&tool.namespace);
        parts.extend(words(&tool.name));
        let own = tool.description.to_lowercase();
        let inner = tool
            .inputs
            .iter()
            .map(|input| input.description.to_lowercase());
        Self {
            name: parts.concat(),
            parts,
            parameters: tool
                .inputs
                .iter()
                .map(|input| input.path.to_lowercase())
                .collect(),
            descriptions: std::iter::once(own).chain(inner).collect(),
        }
    }

    /// Name, parameters or description hold every one of `required`.
    pub(super) fn has_all(&self, required: &[String]) -> bool {
        required.iter().all(|word| 0 < self.points_of(word))
    }

    /// Points for all words of a query; 0 where none is found.
    pub(super) fn points(&self, query: &[String]) -> u32 {
        query.iter().map(|word| self.points_of(word)).sum()
    }

    fn points_of(&self, word: &str) -> u32 {
        let within = |texts: &[String]| texts.iter().any(|text| text.contains(word));
        let name = if self.parts.iter().any(|part| part == word) {
            NAME_PART
        } else if within(&self.parts) {
            IN_NAME_PART
        } else if self.name.contains(word) {
            IN_NAME
        } else {
            0
        };
        let parameter = if within(&self.parameters) {
            IN_PARAMETER
        } else {
            0
        };
        let description = if within(&self.descriptions) {
            IN_DESCRIPTION
        } else {
            0
        };
        name + parameter + description
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::fixture;
    use crate::tool::Parameter;

    #[test]
    fn points_by_place() {
        let mut tool = fixture::tool("group", "getMemberInfo");
        tool.description = "Reads the avatar and the nickname.".into();
        tool.inputs = vec![Parameter {
            path: "user_id".into(),
            description: "Number of the account".into(),
            values: vec![],
            required: true,
        }];
        let text = Text::of(&tool);
        for (query, points) in [
            ("member", NAME_PART),
            ("group", NAME_PART),
            ("memb", IN_NAME_PART),
            ("memberinfo", IN_NAME),
            ("user", IN_PARAMETER),
            ("avatar", IN_DESCRIPTION),
            ("account", IN_DESCRIPTION),
            ("member avatar", NAME_PART + IN_DESCRIPTION),
            ("weather", 0),
        ] {
            assert_eq!(text.points(&words(query)), points, "{query}");
        }
        assert!(text.has_all(&words("user nickname info")));
        assert!(!text.has_all(&words("user weather")));
    }
}
