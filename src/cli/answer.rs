//! An answer for people: the hits as a table, and how each got its score.

use std::time::Duration;

use super::error::Error;
use super::output::{Look, Output, one_line};
use super::table::{align_right, bare, count, keep_width, meter, pad, short_row, table, unbroken};
use crate::index::Index;
use crate::search::shadow::Shadow;
use crate::search::{Answer, Arm, Explanation, Hit, NoMatch, Request, View};
use crate::tool::{Tool, ToolId};

/// Words that are shown of those that matched.
const WORDS: usize = 8;

/// An answer with what it takes to show it.
pub(super) struct Shown<'a> {
    /// What was searched.
    pub(super) index: &'a Index,
    /// What the caller sees of it.
    pub(super) view: &'a View,
    /// What was asked.
    pub(super) request: &'a Request,
    /// What was found.
    pub(super) answer: &'a Answer,
    /// What rules in shadow would change.
    pub(super) shadow: Option<&'a Shadow>,
    /// How long it took.
    pub(super) elapsed: Duration,
}

impl Shown<'_> {
    /// Prints it.
    ///
    /// # Errors
    /// [`Error`] where the output cannot be written.
    pub(super) fn print(&self, output: &Output) -> Result<(), Error> {
        self.print_request(output)?;
        if let Some(why) = &self.answer.no_match {
            self.print_no_match(why, output)?;
        } else {
            output.line("")?;
            self.print_hits(output)?;
        }
        for hit in &self.answer.hits {
            if let Some(explanation) = &hit.explanation {
                output.line("")?;
                self.print_explanation(hit, explanation, output)?;
            }
        }
        self.print_remarks(output)
    }

    fn tool(&self, id: ToolId) -> &Tool {
        self.index.catalog.tool(id)
    }

    fn print_request(&self, output: &Output) -> Result<(), Error> {
        let query = &self.request.query;
        if !query.text.is_empty() {
            output.line(output.paint(Look::Strong, one_line(&query.text)))?;
        }
        for (at, need) in query.needs.iter().enumerate() {
            let need = format!("{}. {}", at + 1, one_line(need));
            output.line(output.paint(Look::Strong, need))?;
        }
        let arms: Vec<&str> = self.answer.arms.iter().map(|arm| arm.as_str()).collect();
        let mut facts = vec![
            format!("{} visible", count(self.view.permitted.len(), "tool")),
            format!("confidence {:.2}", self.answer.confidence),
            format!("{:.1} ms", self.elapsed.as_secs_f64() * 1e3),
        ];
        if !arms.is_empty() {
            facts.insert(2, arms.join(" + "));
        }
        if self.answer.used_graph {
            facts.push("by the graph".to_owned());
        }
        output.line(output.paint(Look::Faint, facts.join(" · ")))
    }

    /// Two lines a hit: the key, which is never cut since it is the answer, and what the tool does.
    fn print_hits(&self, output: &Output) -> Result<(), Error> {
        let mut hits = table(output, &["#", "score", "", "tool"]);
        for (at, hit) in self.answer.hits.iter().enumerate() {
            let tool = self.tool(hit.tool);
            let (rank, score) = ((at + 1).to_string(), format!("{:.2}", hit.score));
            let cells = [&rank, &score, &meter(hit.score), &tool.key];
            hits.add_row(cells.map(unbroken));
            let mut under = |text: String| {
                hits.add_row(short_row(["", "", "", &text].map(unbroken)));
            };
            under(one_line(&tool.description));
            if !hit.needs.is_empty() {
                under(format!("serves {}", serves(&hit.needs)));
            }
            for variant in &hit.variants {
                under(format!("≈ {} says the same", self.tool(*variant).key));
            }
        }
        pad(&mut hits);
        for column in [0, 1] {
            align_right(&mut hits, column);
        }
        for column in [0, 1, 2] {
            keep_width(&mut hits, column);
        }
        output.table(&hits)
    }

    fn print_no_match(&self, why: &NoMatch, output: &Output) -> Result<(), Error> {
        output.line("")?;
        output.line(format_args!(
            "{}: {}",
            output.paint(Look::Warning, "nothing fits"),
            why.advice
        ))?;
        if !why.near.is_empty() {
            let near: Vec<&str> = why
                .near
                .iter()
                .map(|id| self.tool(*id).key.as_str())
                .collect();
            output.line(output.paint(
                Look::Faint,
                format_args!("near, not recommended: {}", near.join(", ")),
            ))?;
        }
        Ok(())
    }

    fn print_explanation(
        &self,
        hit: &Hit,
        why: &Explanation,
        output: &Output,
    ) -> Result<(), Error> {
        let title = format!("{}  {:.3}", self.tool(hit.tool).key, why.total);
        output.line(output.paint(Look::Strong, title))?;
        let mut arms = bare(output);
        for arm in &why.arms {
            arms.add_row(short_row([
                format!("  {}", arm.arm.as_str()),
                raw(arm.arm, arm.raw),
                format!("{:.3}", arm.value),
                "×".to_owned(),
                format!("{:.3}", arm.weight),
                "=".to_owned(),
                format!("{:.3}", arm.contribution),
                meter(arm.contribution),
            ]));
        }
        for (name, value) in [("covers a part", why.covered), ("avoid_when", -why.avoided)] {
            if value != 0.0 {
                let mut cells = vec![format!("  {name}")];
                cells.extend(["", "", "", "", "="].map(str::to_owned));
                cells.push(format!("{value:+.3}"));
                arms.add_row(short_row(cells));
            }
        }
        pad(&mut arms);
        for column in [2, 4, 6] {
            align_right(&mut arms, column);
        }
        output.table(&arms)?;
        if why.exact_name {
            output.line("  named in the request, so it comes first")?;
        }
        if !why.terms.is_empty() {
            output.line(format_args!("  words: {}", words(why)))?;
        }
        if let Some(part) = &why.part {
            output.line(format_args!("  part:  {}", one_line(part)))?;
        }
        for rule in &why.rules {
            let strength = rule.strength.map(|s| format!(" {s}")).unwrap_or_default();
            let shadow = if rule.shadow { " (in shadow)" } else { "" };
            let (name, effect) = (one_line(&rule.name), rule.effect);
            output.line(format_args!("  rule:  {name}: {effect}{strength}{shadow}"))?;
        }
        Ok(())
    }

    fn print_remarks(&self, output: &Output) -> Result<(), Error> {
        for need in &self.answer.unserved {
            let text = format!("nothing fits need {}", need + 1);
            output.line(output.paint(Look::Warning, text))?;
        }
        let Some(shadow) = self.shadow else {
            return Ok(());
        };
        let keys = |tools: &[ToolId]| {
            let keys: Vec<&str> = tools.iter().map(|id| self.tool(*id).key.as_str()).collect();
            keys.join(", ")
        };
        output.line("")?;
        output.line(output.paint(
            Look::Warning,
            format_args!("in shadow: {}", shadow.rules.join(", ")),
        ))?;
        output.line(format_args!("  would be: {}", keys(&shadow.hits)))?;
        output.line(format_args!("  would go: {}", keys(&shadow.gone)))
    }
}

fn serves(needs: &[usize]) -> String {
    let needs: Vec<String> = needs.iter().map(|need| (need + 1).to_string()).collect();
    needs.join(", ")
}

fn raw(arm: Arm, value: f32) -> String {
    match arm {
        Arm::Semantic => format!("cosine {value:.3}"),
        Arm::Keyword => format!("{value:.2} points"),
        Arm::Namespace | Arm::Rule => format!("{value:.3}"),
    }
}

fn words(why: &Explanation) -> String {
    let shown: Vec<String> = why
        .terms
        .iter()
        .take(WORDS)
        .map(|term| {
            format!(
                "{} ({}) {:.2}",
                term.term,
                term.fields.join(", "),
                term.points
            )
        })
        .collect();
    let mut text = shown.join(" · ");
    if WORDS < why.terms.len() {
        text.push_str(" · …");
    }
    text
}
