//! Where an endpoint is, which model it is asked for, and the key to it.

use std::fmt;

use crate::embed::Error;

/// Environment variable of the key where the name does not tell another.
pub(super) const KEY_VARIABLE: &str = "TOOLSCOUT_EMBEDDING_KEY";

/// An endpoint's address.
#[derive(Clone, PartialEq, Eq)]
pub struct Address {
    /// Where requests are posted.
    pub(super) url: String,
    /// The model asked for.
    pub(super) model: String,
    key: Option<String>,
}

impl Address {
    /// From `URL#MODEL` or `URL#MODEL&key=VARIABLE`.
    ///
    /// # Errors
    /// [`Error::Endpoint`] where there is no model, or the variable named is not set.
    pub fn parse(name: &str) -> Result<Self, Error> {
        let (url, fragment) = name.split_once('#').unwrap_or((name, ""));
        let (model, key) = match fragment.split_once("&key=") {
            Some((model, variable)) => (model, Some(variable)),
            None => (fragment, None),
        };
        Self::new(url, model, key)
    }

    /// From its parts; `variable` names the environment variable that holds the key.
    ///
    /// # Errors
    /// As [`Address::parse`].
    pub fn new(url: &str, model: &str, variable: Option<&str>) -> Result<Self, Error> {
        let value = |name: &str| std::env::var(name).ok().filter(|key| !key.is_empty());
        let mut address = Self {
            url: url.to_owned(),
            model: model.to_owned(),
            key: None,
        };
        let fault = |address: &Self, reason: String| Error::Endpoint {
            url: address.shown(),
            reason,
        };
        if model.is_empty() {
            return Err(fault(&address, "which model? Write URL#MODEL".to_owned()));
        }
        address.key = match variable {
            None => value(KEY_VARIABLE),
            Some(name) => Some(value(name).ok_or_else(|| {
                fault(
                    &address,
                    format!(
                        "its key should be in the environment variable {name}, which is not set"
                    ),
                )
            })?),
        };
        if address
            .key
            .as_ref()
            .is_some_and(|key| !key.chars().all(|c| c.is_ascii_graphic()))
        {
            return Err(fault(
                &address,
                "its key has characters that no header may hold".to_owned(),
            ));
        }
        Ok(address)
    }

    /// The model asked for.
    pub fn model(&self) -> &str {
        &self.model
    }

    /// The header that carries the key.
    pub(super) fn authorization(&self) -> Option<String> {
        self.key.as_ref().map(|key| format!("Bearer {key}"))
    }

    /// The URL without what may be secret in it: user, password and query.
    pub(super) fn shown(&self) -> String {
        let plain = self.url.split('?').next().unwrap_or_default();
        match plain.split_once("://") {
            Some((scheme, rest)) => {
                let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
                let host = host.rsplit('@').next().unwrap_or(host);
                format!("{scheme}://{host}/{path}")
            }
            None => plain.to_owned(),
        }
    }

    /// `text` without the key, should an endpoint repeat it.
    pub(super) fn hide_key(&self, text: &str) -> String {
        match &self.key {
            Some(key) => text.replace(key.as_str(), "***"),
            None => text.to_owned(),
        }
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Address")
            .field("url", &self.shown())
            .field("model", &self.model)
            .field("key", &self.key.as_ref().map(|_| "***"))
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_a_url_and_a_model() {
        let address = Address::parse("http://host/v1/embeddings#org/model").unwrap();
        assert_eq!(
            (address.url.as_str(), address.model.as_str()),
            ("http://host/v1/embeddings", "org/model")
        );
    }

    #[test]
    fn what_is_missing_is_told() {
        let error = Address::parse("http://host/v1/embeddings")
            .unwrap_err()
            .to_string();
        assert_eq!(
            error,
            "embedding endpoint http://host/v1/embeddings: which model? Write URL#MODEL"
        );
        let error = Address::parse("http://host/x#m&key=NO_SUCH_VARIABLE").unwrap_err();
        assert!(
            error
                .to_string()
                .contains("NO_SUCH_VARIABLE, which is not set"),
            "{error}"
        );
    }

    #[test]
    fn secrets_are_not_shown() {
        let address = Address {
            url: "https://user:pass@host/v1/embeddings?api-key=abc".to_owned(),
            model: "m".to_owned(),
            key: Some("s3cret".to_owned()),
        };
        assert_eq!(address.shown(), "https://host/v1/embeddings");
        assert_eq!(address.hide_key("wrong key s3cret"), "wrong key ***");
        let debug = format!("{address:?}");
        assert!(
            !debug.contains("s3cret") && !debug.contains("pass") && !debug.contains("abc"),
            "{debug}"
        );
    }
}
