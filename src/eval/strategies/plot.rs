//! A plot of the comparison, as one SVG file without scripts or fonts of its own.

use std::fmt::Write;

use super::{Cell, Strategy};

/// Pixels of the picture and of one of its two panels.
const SIZE: (f64, f64) = (960.0, 400.0);
const PANEL: (f64, f64) = (380.0, 260.0);
/// Where the panels' upper left corners are.
const LEFT: (f64, f64) = (70.0, 70.0);
const RIGHT: (f64, f64) = (550.0, 70.0);
const STEPS: usize = 5;

/// One line of a panel.
struct Series {
    strategy: Strategy,
    /// Catalogue size and value, ascending.
    points: Vec<(f64, f64)>,
}

/// A panel's axes.
struct Axes {
    title: &'static str,
    corner: (f64, f64),
    /// Greatest values of both axes; the least are 0.
    top: (f64, f64),
}

/// Prompt tokens and recall by catalogue size.
pub fn svg(name: &str, cells: &[Cell]) -> String {
    let tokens = series(cells, |cell| cell.tokens);
    let recall = series(cells, |cell| cell.recall);
    let most_tools = cells.iter().map(|cell| cell.tools).max().unwrap_or(1) as f64;
    let most_tokens = cells.iter().map(|cell| cell.tokens).fold(1.0, f64::max);
    let mut out = format!(
        concat!(
            r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {} {}" "#,
            r##"font-family="system-ui, sans-serif" font-size="12" fill="#333">"##,
            "\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
            r#"<text x="70" y="30" font-size="16" font-weight="600">{}</text>"#,
            "\n"
        ),
        SIZE.0,
        SIZE.1,
        escaped(&format!("{name}: what each strategy costs and finds"))
    );
    let panels = [
        (
            Axes {
                title: "prompt tokens, mean",
                corner: LEFT,
                top: (most_tools, rounded_up(most_tokens)),
            },
            tokens,
        ),
        (
            Axes {
                title: "recall: needs whose tool is before the model",
                corner: RIGHT,
                top: (most_tools, 1.0),
            },
            recall,
        ),
    ];
    for (axes, series) in &panels {
        frame(&mut out, axes);
        for line in series {
            draw(&mut out, axes, line);
        }
    }
    legend(&mut out);
    out.push_str("</svg>\n");
    out
}

fn series(cells: &[Cell], value: impl Fn(&Cell) -> f64) -> Vec<Series> {
    [Strategy::All, Strategy::Prefilter, Strategy::Active]
        .into_iter()
        .map(|strategy| Series {
            strategy,
            points: cells
                .iter()
                .filter(|cell| cell.strategy == strategy)
                .map(|cell| (cell.tools as f64, value(cell)))
                .collect(),
        })
        .collect()
}

impl Axes {
    fn place(&self, (x, y): (f64, f64)) -> (f64, f64) {
        (
            self.corner.0 + x / self.top.0 * PANEL.0,
            self.corner.1 + (1.0 - y / self.top.1) * PANEL.1,
        )
    }
}

fn frame(out: &mut String, axes: &Axes) {
    let (left, top) = axes.corner;
    let _ = writeln!(
        out,
        r#"<text x="{left}" y="{}" font-weight="600">{}</text>"#,
        top - 12.0,
        escaped(axes.title)
    );
    for step in 0..=STEPS {
        let share = step as f64 / STEPS as f64;
        let (_, y) = axes.place((0.0, share * axes.top.1));
        let (x, _) = axes.place((share * axes.top.0, 0.0));
        let _ = writeln!(
            out,
            concat!(
                r##"<line x1="{}" y1="{:.1}" x2="{}" y2="{:.1}" stroke="#ddd"/>"##,
                r#"<text x="{}" y="{:.1}" text-anchor="end">{}</text>"#,
                r#"<text x="{:.1}" y="{}" text-anchor="middle">{}</text>"#
            ),
            left,
            y,
            left + PANEL.0,
            y,
            left - 6.0,
            y + 4.0,
            label(share * axes.top.1),
            x,
            top + PANEL.1 + 18.0,
            label(share * axes.top.0)
        );
    }
    let _ = writeln!(
        out,
        r#"<text x="{}" y="{}" text-anchor="middle">tools of the catalogue</text>"#,
        left + PANEL.0 / 2.0,
        top + PANEL.1 + 38.0
    );
}

fn draw(out: &mut String, axes: &Axes, series: &Series) {
    let colour = colour(series.strategy);
    let places: Vec<(f64, f64)> = series
        .points
        .iter()
        .map(|point| axes.place(*point))
        .collect();
    let path: Vec<String> = places
        .iter()
        .map(|(x, y)| format!("{x:.1},{y:.1}"))
        .collect();
    let _ = writeln!(
        out,
        r#"<polyline points="{}" fill="none" stroke="{colour}" stroke-width="2"/>"#,
        path.join(" ")
    );
    for ((x, y), (tools, value)) in places.iter().zip(&series.points) {
        let _ = writeln!(
            out,
            r#"<circle cx="{x:.1}" cy="{y:.1}" r="3.5" fill="{colour}"><title>{} at {tools} tools: {}</title></circle>"#,
            series.strategy.as_str(),
            label(*value)
        );
    }
}

fn legend(out: &mut String) {
    for (at, strategy) in [Strategy::All, Strategy::Prefilter, Strategy::Active]
        .into_iter()
        .enumerate()
    {
        let x = 550.0 + 130.0 * at as f64;
        let words = strategy.title();
        let _ = writeln!(
            out,
            r#"<rect x="{x}" y="20" width="12" height="12" fill="{}"/><text x="{}" y="30">{words}</text>"#,
            colour(strategy),
            x + 17.0
        );
    }
}

/// Colours that differ in lightness too (Okabe and Ito, 2008).
fn colour(strategy: Strategy) -> &'static str {
    match strategy {
        Strategy::All => "#d55e00",
        Strategy::Index => "#999999",
        Strategy::Prefilter => "#0072b2",
        Strategy::Active => "#009e73",
    }
}

/// The next number of one leading digit.
fn rounded_up(value: f64) -> f64 {
    let unit = 10f64.powf(value.log10().floor());
    (value / unit).ceil() * unit
}

fn label(value: f64) -> String {
    if value == 0.0 {
        "0".to_owned()
    } else if value < 2.0 {
        format!("{value:.2}")
    } else if value < 10_000.0 {
        format!("{value:.0}")
    } else {
        format!("{:.0}k", value / 1000.0)
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plot_has_a_point_for_each_cell_in_both_panels() {
        let cell = |strategy, tools: usize, tokens| Cell {
            strategy,
            tools,
            queries: 1,
            recall: 0.5,
            complete: 0.5,
            exact: None,
            tokens,
            tokens_95: 0,
            shown: 1.0,
            searches: 1.0,
        };
        let cells = [
            cell(Strategy::All, 35, 7000.0),
            cell(Strategy::All, 2375, 480_000.0),
            cell(Strategy::Active, 35, 900.0),
        ];
        let plot = svg("a<b", &cells);
        assert_eq!(plot.matches("<circle").count(), 6);
        assert!(plot.contains("a&lt;b") && plot.contains(">500k<"));
        assert!(!plot.contains("NaN"));
        assert!(!svg("empty", &[]).contains("NaN"));
    }
}
