//! What a command prints: answers to standard output, remarks to standard error.
//!
//! The only place that writes to either, so that colour, width, `--json` and `--quiet` mean the same
//! everywhere and a closed pipe ends a command quietly.

use std::fmt::Display;
use std::io::{IsTerminal, Write};

use clap::builder::styling::{AnsiColor, Style};
use comfy_table::Table;
use serde::Serialize;

use super::args::Global;
use super::error::Error;

/// Columns where the output is no terminal and `COLUMNS` does not say.
const USUAL_WIDTH: u16 = 100;
/// Columns below which tables cannot be laid out; the terminal wraps instead.
const MIN_WIDTH: u16 = 60;

/// How a piece of text looks where colour is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// A heading, or what matters most.
    Strong,
    /// What may be skipped.
    Faint,
    /// Good news.
    Good,
    /// A warning.
    Warning,
    /// Bad news.
    Bad,
}

/// Whether answers are for people or for programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Tables and sentences.
    Human,
    /// One JSON value.
    Json,
}

/// Where a command prints.
#[derive(Debug)]
pub struct Output {
    /// For people or for programs.
    pub format: Format,
    /// Columns of the terminal.
    pub width: u16,
    quiet: bool,
    colour: bool,
}

impl Output {
    /// As the global options and the terminal say.
    pub fn new(global: &Global) -> Self {
        let unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        Self {
            format: if global.json {
                Format::Json
            } else {
                Format::Human
            },
            width: width(),
            quiet: global.quiet,
            colour: !global.no_color && !unwanted && std::io::stdout().is_terminal(),
        }
    }

    /// Whether a program reads the answer.
    pub fn is_json(&self) -> bool {
        self.format == Format::Json
    }

    /// Whether bars and remarks are wanted.
    pub fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// Whether colour is wanted on standard output.
    pub fn is_coloured(&self) -> bool {
        self.colour
    }

    /// A line of the answer.
    ///
    /// # Errors
    /// [`Error::Closed`] where nobody reads any more, [`Error::Output`] where it cannot be written.
    pub fn line(&self, text: impl Display) -> Result<(), Error> {
        writeln!(std::io::stdout().lock(), "{text}")?;
        Ok(())
    }

    /// A table of the answer.
    ///
    /// # Errors
    /// As [`line`](Self::line).
    pub fn table(&self, table: &Table) -> Result<(), Error> {
        let mut out = std::io::stdout().lock();
        for line in table.lines() {
            writeln!(out, "{}", line.trim_end())?;
        }
        Ok(())
    }

    /// The whole answer, for programs: one line.
    ///
    /// # Errors
    /// As [`line`](Self::line).
    pub fn json(&self, value: &impl Serialize) -> Result<(), Error> {
        let text = serde_json::to_string(value).map_err(|error| Error::Output(error.into()))?;
        self.line(text)
    }

    /// A remark on standard error, unless `--quiet`. That it cannot be written is no reason to stop.
    pub fn remark(&self, text: impl Display) {
        if !self.quiet {
            say(text);
        }
    }

    /// `text`, with its look where colour is wanted.
    pub fn paint(&self, look: Look, text: impl Display) -> String {
        if !self.colour {
            return text.to_string();
        }
        let style = match look {
            Look::Strong => Style::new().bold(),
            Look::Faint => Style::new().dimmed(),
            Look::Good => Style::new().fg_color(Some(AnsiColor::Green.into())),
            Look::Warning => Style::new().fg_color(Some(AnsiColor::Yellow.into())),
            Look::Bad => Style::new().fg_color(Some(AnsiColor::Red.into())).bold(),
        };
        format!("{style}{text}{style:#}")
    }
}

/// A line on standard error, whatever the options say.
pub fn say(text: impl Display) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

/// `text` on one line, without control characters that a terminal would obey.
pub fn one_line(text: &str) -> String {
    let words: Vec<&str> = text
        .split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|word| !word.is_empty())
        .collect();
    words.join(" ")
}

fn width() -> u16 {
    let columns = || std::env::var("COLUMNS").ok()?.parse().ok();
    Table::new()
        .width()
        .filter(|width| *width > 0)
        .or_else(columns)
        .unwrap_or(USUAL_WIDTH)
        .max(MIN_WIDTH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_control_character_reaches_the_terminal() {
        assert_eq!(one_line("a\u{1b}[31m\n  b\0c\t "), "a [31m b c");
    }
}
