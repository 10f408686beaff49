//! Bars for long work: on a terminal only, on standard error, gone when the work is done.
//!
//! Where standard error is no terminal, a step that takes long is named once instead.

use std::io::IsTerminal;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::output::{Output, say};
use crate::{embed, eval, index};

/// Where there is no bar, a step is named once it has taken this long.
const NAMED_AFTER: Duration = Duration::from_secs(2);
const BYTES: &str = "{msg} {wide_bar:.cyan/dim} {bytes}/{total_bytes} {eta}";
const COUNT: &str = "{msg} {wide_bar:.cyan/dim} {human_pos}/{human_len} {eta}";
const UNKNOWN: &str = "{msg} {spinner} {bytes}";

/// The bar of the step that is being done.
#[derive(Debug)]
pub(super) struct Progress {
    shown: Shown,
    step: Mutex<Option<Step>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shown {
    Bars,
    Names,
    Nothing,
}

#[derive(Debug)]
struct Step {
    name: String,
    bar: ProgressBar,
    since: Instant,
    named: bool,
}

/// How far a step has come.
struct Reached<'a> {
    step: &'a str,
    done: u64,
    total: Option<u64>,
    template: &'static str,
}

impl Progress {
    /// No step yet.
    pub(super) fn new(output: &Output) -> Self {
        let shown = if output.is_quiet() {
            Shown::Nothing
        } else if std::io::stderr().is_terminal() {
            Shown::Bars
        } else {
            Shown::Names
        };
        Self {
            shown,
            step: Mutex::new(None),
        }
    }

    /// Opening a model has come this far.
    pub(super) fn model(&self, progress: embed::Progress<'_>) {
        self.reach(&Reached {
            step: progress.step,
            done: progress.done,
            total: progress.total,
            template: BYTES,
        });
    }

    /// Building an index has come this far.
    pub(super) fn build(&self, progress: index::build::Progress) {
        self.reach(&Reached {
            step: "embedding texts",
            done: progress.done as u64,
            total: Some(progress.total as u64),
            template: COUNT,
        });
    }

    /// Measuring has come this far.
    pub(super) fn measure(&self, progress: eval::Progress<'_>) {
        self.reach(&Reached {
            step: progress.step,
            done: progress.done as u64,
            total: Some(progress.total as u64),
            template: COUNT,
        });
    }

    /// Takes the bar away.
    pub(super) fn clear(&self) {
        if let Some(step) = self.lock().take() {
            step.bar.finish_and_clear();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Step>> {
        self.step.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn reach(&self, reached: &Reached<'_>) {
        if self.shown == Shown::Nothing {
            return;
        }
        let mut current = self.lock();
        if current
            .as_ref()
            .is_none_or(|step| step.name != reached.step)
        {
            if let Some(step) = current.take() {
                step.bar.finish_and_clear();
            }
            *current = Some(self.begin(reached));
        }
        let Some(step) = current.as_mut() else {
            return;
        };
        if let Some(total) = reached.total {
            step.bar.set_length(total);
        }
        step.bar.set_position(reached.done);
        if self.shown == Shown::Names && !step.named && NAMED_AFTER <= step.since.elapsed() {
            say(format_args!("{} …", step.name));
            step.named = true;
        }
        if reached.total == Some(reached.done) {
            step.bar.finish_and_clear();
        }
    }

    fn begin(&self, reached: &Reached<'_>) -> Step {
        let bar = ProgressBar::with_draw_target(
            reached.total,
            match self.shown {
                Shown::Bars => ProgressDrawTarget::stderr(),
                Shown::Names | Shown::Nothing => ProgressDrawTarget::hidden(),
            },
        );
        let template = if reached.total.is_some() {
            reached.template
        } else {
            UNKNOWN
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars("━╸─"));
        }
        bar.set_message(reached.step.to_owned());
        Step {
            name: reached.step.to_owned(),
            bar,
            since: Instant::now(),
            named: false,
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.clear();
    }
}
