//! How `toolscout policy why` tells its reasons.

use super::error::Error;
use super::output::{Look, Output};
use super::table::{bare, pad, unbroken};
use crate::access::{Obstacle, Offer, Principal, Want, Why};

/// Rules that would allow a tool to others, of which so many are told.
const OFFERS: usize = 5;

/// Prints why the principal sees the tool of this key, or does not; `place` is how rules are called.
pub(super) fn print(
    (tool, principal): (&str, &Principal),
    why: &Why,
    place: &dyn Fn(usize) -> String,
    output: &Output,
) -> Result<(), Error> {
    let (look, verdict) = if why.visible {
        (Look::Good, "is visible")
    } else {
        (Look::Bad, "is not visible")
    };
    let verdict = output.paint(look, verdict);
    output.line(format_args!(
        "{} {verdict} to {}",
        output.paint(Look::Strong, tool),
        described(principal)
    ))?;
    let mut table = bare(output);
    for (what, reason) in told(why, place) {
        table.add_row([unbroken(format!("  {what}")), reason.into()]);
    }
    pad(&mut table);
    if !table.is_empty() {
        output.table(&table)?;
    }
    Ok(())
}

fn described(principal: &Principal) -> String {
    let list = |names: &std::collections::BTreeSet<String>| {
        names.iter().cloned().collect::<Vec<_>>().join(", ")
    };
    let mut text = format!("tenant {}", principal.tenant);
    for (what, values) in [
        ("roles", list(&principal.roles)),
        ("scopes", list(&principal.scopes)),
        (
            "environment",
            principal.environment.clone().unwrap_or_default(),
        ),
    ] {
        if !values.is_empty() {
            text.push_str(&format!(" · {what} {values}"));
        }
    }
    text
}

fn told(why: &Why, place: &dyn Fn(usize) -> String) -> Vec<(&'static str, String)> {
    let mut lines: Vec<(&'static str, String)> = Vec::new();
    for rule in &why.allowing {
        lines.push(("allowed by", place(*rule)));
    }
    if why.visible && why.allowing.is_empty() {
        lines.push(("allowed", "to everybody: the policy is open".to_owned()));
    }
    for obstacle in &why.obstacles {
        match obstacle {
            Obstacle::Hidden => lines.push((
                "hidden",
                "from everybody: the tool's exposure is 'hidden'".to_owned(),
            )),
            Obstacle::OtherTenant(tenants) => {
                lines.push(("tenant", format!("the tool is of {}", tenants.join(", "))));
            }
            Obstacle::Denied(rule) => lines.push(("denied by", place(*rule))),
            Obstacle::Scopes(scopes) => {
                lines.push(("scopes", format!("the tool requires {}", scopes.join(", "))));
            }
            Obstacle::NotAllowed(offers) => {
                let none = "no rule that speaks of this caller allows it".to_owned();
                lines.push(("not allowed", none));
                let offers = offers.iter().take(OFFERS);
                lines.extend(offers.map(|offer| ("would allow", offered(offer, place))));
            }
            Obstacle::Within(bound) => {
                lines.push((
                    "bound",
                    "whoever it acts within does not see it:".to_owned(),
                ));
                lines.extend(told(bound, place));
            }
        }
    }
    lines
}

fn offered(offer: &Offer, place: &dyn Fn(usize) -> String) -> String {
    let want = |want: &Want| format!("{} {}", want.field, want.any_of.join(" or "));
    let wants: Vec<String> = offer.wants.iter().map(want).collect();
    format!("{}: {}", place(offer.rule), wants.join(", "))
}
