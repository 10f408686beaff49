//! Secrets in a configuration: named there, held by the environment.

/// A variable that a text names and the environment does not have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the environment has no variable '{0}'")]
pub struct Missing(pub String);

/// The text with `${NAME}` replaced by what `lookup` gives for it. A `$` before anything else stays.
///
/// ```
/// use toolscout::source::{Missing, expand};
/// let known = |name: &str| (name == "TOKEN").then(|| "s3cret".to_owned());
/// assert_eq!(expand("Bearer ${TOKEN}$", known).unwrap(), "Bearer s3cret$");
/// assert_eq!(expand("${NONE}", known), Err(Missing("NONE".into())));
/// ```
///
/// # Errors
/// [`Missing`] names the first variable that is not there.
pub fn expand(text: &str, lookup: impl Fn(&str) -> Option<String>) -> Result<String, Missing> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("${") {
        let Some(end) = rest[at..].find('}') else {
            break;
        };
        out.push_str(&rest[..at]);
        let name = &rest[at + 2..at + end];
        out.push_str(&lookup(name).ok_or_else(|| Missing(name.to_owned()))?);
        rest = &rest[at + end + 1..];
    }
    out.push_str(rest);
    Ok(out)
}
