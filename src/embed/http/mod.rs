//! Models behind an OpenAI-compatible `/v1/embeddings` endpoint.
//!
//! Named by `https://HOST/v1/embeddings#MODEL`, or by a manifest with an `[endpoint]`. The key, if
//! the endpoint wants one, comes from an environment variable (`#MODEL&key=VARIABLE`) and appears
//! in no error and no log. Nothing is sent but the texts to embed, and no redirect is followed.

mod address;
mod wire;

use std::time::{Duration, Instant};

use ureq::Agent;

pub use address::Address;

use super::manifest::digest;
use super::{Calibration, Embedder, Error, Side, Vectors};

/// Texts in a request at most; what endpoints commonly take.
const BATCH: usize = 32;

/// Requests under way at once for many texts.
const AT_ONCE: usize = 4;

/// Tries in all where the endpoint is busy or unreachable.
const TRIES: u32 = 4;

/// Wait before the second try; doubles with each.
const FIRST_WAIT: Duration = Duration::from_millis(200);

/// Longest wait an endpoint may ask for by `Retry-After`.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// Time for a query, tries included: somebody is waiting for the answer.
const QUERY_TIME: Duration = Duration::from_secs(10);

/// Time for a batch of documents, tries included.
const DOCUMENT_TIME: Duration = Duration::from_secs(120);

/// Bytes of an answer at most. 32 texts of 4096 numbers in JSON take about 3 MB.
const MOST_BYTES: u64 = 64 << 20;

/// Bytes a token stands for, by which texts are cut before they are sent: about four of English,
/// three of Chinese.
const BYTES_A_TOKEN: usize = 3;

/// How to feed an endpoint's model.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Feed {
    /// Before the `@` of the model id.
    pub(super) name: String,
    /// After it.
    pub(super) version: String,
    /// Numbers in a vector, where known before the first answer.
    pub(super) dimension: Option<usize>,
    pub(super) calibration: Calibration,
    pub(super) query_prefix: String,
    pub(super) document_prefix: String,
    /// Tokens after which a text is cut, roughly.
    pub(super) max_tokens: usize,
}

/// A model behind an endpoint.
pub struct Http {
    agent: Agent,
    address: Address,
    feed: Feed,
    dim: usize,
    model_id: String,
}

/// Why a request failed.
enum Failure {
    /// Another try may succeed, after the wait asked for.
    Passing(String, Option<Duration>),
    /// It will not.
    Lasting(String),
}

impl Http {
    /// The model at `address`, asked for one vector to see that it answers.
    ///
    /// # Errors
    /// [`Error::Endpoint`] where it does not answer as it should, [`Error::Dimension`] where its
    /// vectors are of another length than `feed` says.
    pub(super) fn open(address: Address, feed: Feed) -> Result<Self, Error> {
        let agent = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .user_agent(concat!("toolscout/", env!("CARGO_PKG_VERSION")))
            .build()
            .new_agent();
        let shape = format!(
            "{} {:?} {:?} {}",
            address.model, feed.query_prefix, feed.document_prefix, feed.max_tokens
        );
        let hash = digest(shape.as_bytes());
        let mut http = Self {
            agent,
            address,
            model_id: format!("{}@{}-{hash}", feed.name, feed.version),
            dim: 0,
            feed,
        };
        let probe = http.prepare(Side::Query, "probe");
        let rows = http.request(Side::Query, &[probe])?;
        let found = rows.first().map_or(0, Vec::len);
        http.dim = found;
        match http.feed.dimension {
            Some(expected) if expected != found => Err(http.wrong_length(expected, found)),
            _ if found == 0 => Err(http.fault("it gave a vector without numbers")),
            _ => Ok(http),
        }
    }

    fn fault(&self, reason: impl Into<String>) -> Error {
        Error::Endpoint {
            url: self.address.shown(),
            reason: self.address.hide_key(&reason.into()),
        }
    }

    fn wrong_length(&self, expected: usize, found: usize) -> Error {
        Error::Dimension {
            model: self.feed.name.clone(),
            expected,
            found,
        }
    }

    fn prepare(&self, side: Side, text: &str) -> String {
        let prefix = match side {
            Side::Query => &self.feed.query_prefix,
            Side::Document => &self.feed.document_prefix,
        };
        let end = text.floor_char_boundary(self.feed.max_tokens.saturating_mul(BYTES_A_TOKEN));
        match format!("{prefix}{}", &text[..end]) {
            // Endpoints refuse an empty text.
            empty if empty.is_empty() => " ".to_owned(),
            text => text,
        }
    }

    /// One batch, tried again as long as that may help.
    fn request(&self, side: Side, texts: &[String]) -> Result<Vec<Vec<f32>>, Error> {
        let time = match side {
            Side::Query => QUERY_TIME,
            Side::Document => DOCUMENT_TIME,
        };
        let deadline = Instant::now() + time;
        let mut wait = FIRST_WAIT;
        for attempt in 1.. {
            let (reason, asked) = match self.attempt(texts, deadline) {
                Ok(rows) => return Ok(rows),
                Err(Failure::Lasting(reason)) => return Err(self.fault(reason)),
                Err(Failure::Passing(reason, asked)) => (reason, asked),
            };
            let pause = asked.unwrap_or(wait).min(LONGEST_WAIT);
            if attempt >= TRIES || Instant::now() + pause >= deadline {
                return Err(self.fault(format!("{reason} (tried {attempt} times)")));
            }
            std::thread::sleep(pause);
            wait *= 2;
        }
        Err(self.fault("it was not tried"))
    }

    fn attempt(&self, texts: &[String], deadline: Instant) -> Result<Vec<Vec<f32>>, Failure> {
        let left = deadline.saturating_duration_since(Instant::now());
        let body = wire::request(&self.address.model, texts);
        let mut request = self
            .agent
            .post(&self.address.url)
            .config()
            .timeout_global(Some(left))
            .build();
        if let Some(header) = self.address.authorization() {
            request = request.header("authorization", header);
        }
        let mut response = request
            .content_type("application/json")
            .send(&body)
            .map_err(|error| Failure::Passing(format!("it cannot be reached: {error}"), None))?;
        let status = response.status().as_u16();
        let asked = response
            .headers()
            .get("retry-after")
            .and_then(|value| value.to_str().ok()?.parse().ok())
            .map(Duration::from_secs);
        let body = response
            .body_mut()
            .with_config()
            .limit(MOST_BYTES)
            .read_to_vec()
            .map_err(|error| match error {
                ureq::Error::BodyExceedsLimit(most) => {
                    Failure::Lasting(format!("its answer has more than {most} bytes"))
                }
                error => Failure::Passing(format!("its answer broke off: {error}"), None),
            })?;
        match status {
            200..=299 => wire::rows(&body, texts.len()).map_err(Failure::Lasting),
            408 | 429 | 500..=599 => Err(Failure::Passing(wire::complaint(status, &body), asked)),
            _ => Err(Failure::Lasting(wire::complaint(status, &body))),
        }
    }

    /// Batches in order, several requests at once.
    fn batches(&self, side: Side, texts: &[String]) -> Result<Vec<Vec<f32>>, Error> {
        let batches: Vec<&[String]> = texts.chunks(BATCH).collect();
        let mut rows = Vec::with_capacity(texts.len());
        for group in batches.chunks(AT_ONCE) {
            let answers: Vec<Result<Vec<Vec<f32>>, Error>> = std::thread::scope(|scope| {
                let running: Vec<_> = group
                    .iter()
                    .map(|batch| scope.spawn(|| self.request(side, batch)))
                    .collect();
                let joined = running.into_iter().map(|thread| thread.join());
                joined
                    .map(|answer| answer.unwrap_or_else(|_| Err(self.fault("a request panicked"))))
                    .collect()
            });
            for answer in answers {
                rows.extend(answer?);
            }
        }
        Ok(rows)
    }
}

impl Embedder for Http {
    fn model_id(&self) -> &str {
        &self.model_id
    }

    fn dim(&self) -> usize {
        self.dim
    }

    fn calibration(&self) -> Calibration {
        self.feed.calibration
    }

    fn embed(&self, side: Side, texts: &[String]) -> Result<Vectors, Error> {
        let prepared: Vec<String> = texts.iter().map(|text| self.prepare(side, text)).collect();
        let rows = if prepared.len() <= BATCH {
            match prepared.as_slice() {
                [] => Vec::new(),
                batch => self.request(side, batch)?,
            }
        } else {
            self.batches(side, &prepared)?
        };
        if let Some(row) = rows.iter().find(|row| row.len() != self.dim) {
            return Err(self.wrong_length(self.dim, row.len()));
        }
        Vectors::new(self.dim, rows.concat())
    }
}

#[cfg(test)]
mod tests;
