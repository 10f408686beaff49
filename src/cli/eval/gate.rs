//! `toolscout eval gate`: a change may not cost a set more than chance explains.

use std::path::PathBuf;

use clap::Args as Group;
use serde_json::{Value, json};

use super::super::error::Error;
use super::super::output::{Look, Output};
use super::super::{Context, Outcome};
use super::sets::SetArgs;
use super::{measure, write};
use crate::eval::gate::{Check, check};
use crate::eval::report::Report;
use crate::eval::report::sheet::{Sheet, cell, difference};
use crate::eval::run::{Abstention, Plan, System};

const EXAMPLES: &str = "\
Examples:
  toolscout eval gate --baseline data/gate/demo.json --dataset data/demo
  toolscout eval gate --baseline data/gate/demo.json --dataset data/demo --accept

A figure is lost where it falls below the low end of its own 95 % interval in the baseline. The exit
code is 0 where nothing is lost, else 3.";

/// Options of `toolscout eval gate`.
#[derive(Debug, Group)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Report of the state that was accepted
    #[arg(long, value_name = "FILE")]
    pub baseline: PathBuf,
    /// Accept what is measured now: write it as the baseline
    #[arg(long)]
    pub accept: bool,
    /// What is measured.
    #[command(flatten)]
    pub sets: SetArgs,
}

/// Measures and checks.
///
/// # Errors
/// [`Error`] where the baseline or a set cannot be read, or a model not be run.
pub(super) fn run(args: &Args, context: &Context) -> Result<Outcome, Error> {
    let output = &context.output;
    // A baseline that cannot be read is told before anything is measured.
    let baseline = match args.accept {
        true => None,
        false => Some(Report::read(&args.baseline)?),
    };
    let plan = Plan {
        systems: vec![System::Fused],
        abstention: Abstention::Measured,
    };
    let now = measure(&args.sets, &plan, 0, context)?.without_rows();
    let Some(baseline) = baseline else {
        let json = serde_json::to_string_pretty(&now);
        let json = json.map_err(|error| Error::Output(error.into()))?;
        write(&args.baseline, &format!("{json}\n"))?;
        output.remark(format_args!("accepted: {}", args.baseline.display()));
        return Ok(Outcome::Done);
    };
    if baseline.model != now.model {
        output.remark(format_args!(
            "the baseline was measured with model {}, this with {}",
            baseline.model, now.model
        ));
    }
    let checks = check(&baseline, &now);
    let lost = checks.iter().filter(|check| !check.passes()).count();
    if output.is_json() {
        let checks: Vec<Value> = checks.iter().map(to_json).collect();
        output.json(&json!({"lost": lost, "checks": checks}))?;
    } else {
        print(&checks, lost, output)?;
    }
    Ok(if lost == 0 {
        Outcome::Done
    } else {
        Outcome::Incomplete
    })
}

fn print(checks: &[Check], lost: usize, output: &Output) -> Result<(), Error> {
    let header = ["set", "figure", "baseline", "floor", "now", "change", ""];
    let mut sheet = Sheet::new("Against the baseline", &header, 2);
    for check in checks {
        let change = check
            .now
            .map_or("-".to_owned(), |now| difference(now - check.baseline));
        sheet.rows.push(vec![
            check.set.clone(),
            check.figure.to_owned(),
            cell(Some(check.baseline)),
            cell(Some(check.floor)),
            cell(check.now),
            change,
            if check.passes() { "" } else { "LOST" }.to_owned(),
        ]);
    }
    output.line(sheet.text())?;
    output.line(match lost {
        0 => output.paint(Look::Good, "nothing lost"),
        lost => output.paint(
            Look::Bad,
            format!("{lost} of {} figures lost", checks.len()),
        ),
    })
}

fn to_json(check: &Check) -> Value {
    json!({
        "set": check.set,
        "figure": check.figure,
        "baseline": check.baseline,
        "floor": check.floor,
        "now": check.now,
        "passes": check.passes(),
    })
}
