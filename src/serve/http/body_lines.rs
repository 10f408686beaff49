//! A body cut into lines as it arrives: never more of it in memory than a line and what came with
//! its end.

use std::pin::Pin;

use axum::body::{Body, Bytes, HttpBody};

use super::bulk_line::MAX_LINE;
use crate::serve::error::Error;
use crate::serve::state::App;
use crate::serve::wire::Invalid;

/// Lines of a request.
const MAX_LINES: u64 = 1_000_000;

/// The lines of a body, as they arrive.
pub(super) struct Lines {
    body: Body,
    app: App,
    chunk: Bytes,
    line: Vec<u8>,
    number: u64,
    bytes: u64,
    ended: bool,
}

impl Lines {
    pub(super) fn new(body: Body, app: &App) -> Self {
        Self {
            body,
            app: app.clone(),
            chunk: Bytes::new(),
            line: Vec::new(),
            number: 0,
            bytes: 0,
            ended: false,
        }
    }

    /// The next line that is not empty, with its number.
    pub(super) async fn next(&mut self) -> Result<Option<(u64, &[u8])>, Error> {
        loop {
            self.line.clear();
            if !self.fill().await? {
                return Ok(None);
            }
            self.number += 1;
            if self.number > MAX_LINES {
                let reason = format!("has more than {MAX_LINES} lines: send it in parts");
                return Err(Invalid::new("body", reason).into());
            }
            if !self.line.trim_ascii().is_empty() {
                return Ok(Some((self.number, &self.line)));
            }
        }
    }

    /// Reads up to the next line feed; whether there was anything. A line that is too long is cut,
    /// one byte over the bound, so that it is told and the rest can be read.
    async fn fill(&mut self) -> Result<bool, Error> {
        let mut any = false;
        loop {
            if self.chunk.is_empty() {
                if self.ended {
                    return Ok(any);
                }
                self.more().await?;
                continue;
            }
            any = true;
            let end = self.chunk.iter().position(|byte| *byte == b'\n');
            let part = self
                .chunk
                .split_to(end.map_or(self.chunk.len(), |end| end + 1));
            let room = (MAX_LINE + 1).saturating_sub(self.line.len());
            self.line.extend_from_slice(&part[..part.len().min(room)]);
            if end.is_some() {
                return Ok(true);
            }
        }
    }

    async fn more(&mut self) -> Result<(), Error> {
        let limits = *self.app.limits();
        let body = &mut self.body;
        let frame = std::future::poll_fn(|context| Pin::new(&mut *body).poll_frame(context));
        let frame = tokio::time::timeout(limits.body_time, frame)
            .await
            .map_err(|_| Error::SlowBody(limits.body_time))?;
        match frame {
            None => self.ended = true,
            Some(Err(_)) => return Err(Error::BrokenBody),
            Some(Ok(frame)) => {
                self.chunk = frame.into_data().unwrap_or_default();
                self.bytes += self.chunk.len() as u64;
                if self.bytes > limits.bulk {
                    let limit = usize::try_from(limits.bulk).unwrap_or(usize::MAX);
                    return Err(Error::BodyTooLarge { limit });
                }
            }
        }
        Ok(())
    }
}
