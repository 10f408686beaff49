//! The drawing itself. All lengths are pixels of the picture's own measure.

use std::fmt::Write;

use super::axis::Ruler;
use super::text::{escaped, fitted, width};
use super::{Axis, Chart, Line, Panel};

/// Height of a panel's area.
const HEIGHT: f64 = 220.0;
/// Around all of it.
const MARGIN: f64 = 24.0;
/// From the edge of a panel to its area: labels and title of the y axis, and what the last label of
/// the x axis hangs over.
const LEFT: f64 = 48.0;
const RIGHT: f64 = 22.0;
/// Beside `LEFT`, where the y axis has a title.
const TURNED: f64 = 20.0;
/// Between panels.
const GAP: f64 = 16.0;
/// Below the area: labels, title.
const BOTTOM: f64 = 44.0;
const FONT: f64 = 12.0;
const TITLE: f64 = 16.0;
const LINE: f64 = 20.0;
/// Sign and space before a legend's word, and the space after it.
const SIGN: f64 = 28.0;
const AFTER: f64 = 22.0;

/// Colours that people of every colour vision tell apart (Okabe and Ito, 2008), the strongest first.
const COLOURS: [&str; 7] = [
    "#d55e00", "#0072b2", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#4d4d4d",
];
const INK: &str = "#333333";
const GRID: &str = "#e3e3e3";
const FONTS: &str = "system-ui, -apple-system, 'Segoe UI', 'Noto Sans', 'Noto Sans CJK SC', \
                     'PingFang SC', 'Microsoft YaHei', sans-serif";

/// Draws `chart`.
pub fn svg(chart: &Chart) -> String {
    let names = names(chart);
    let wide = match chart.panels.len() {
        0 | 1 => 620.0,
        2 => 420.0,
        _ => 300.0,
    };
    let panels: Vec<f64> = chart
        .panels
        .iter()
        .map(|panel| wide + beside(panel))
        .collect();
    let gaps = GAP * panels.len().saturating_sub(1) as f64;
    let across = 2.0 * MARGIN + panels.iter().sum::<f64>().max(wide) + gaps;
    let room = across - 2.0 * MARGIN;

    let mut body = String::new();
    let mut y = MARGIN + TITLE;
    if !chart.title.is_empty() {
        let style = format!(r#"font-size="{TITLE}" font-weight="600""#);
        let words = fitted(&chart.title, TITLE * BOLD, room);
        words_at(&mut body, (MARGIN, y), &style, &words);
        y += LINE;
    }
    if !chart.subtitle.is_empty() {
        let words = fitted(&chart.subtitle, FONT, room);
        words_at(&mut body, (MARGIN, y), r##"fill="#666666""##, &words);
        y += LINE;
    }
    y += 4.0;
    if names.iter().any(|name| !name.is_empty()) {
        y = legend(&mut body, &names, y, room);
    }
    if chart.panels.iter().any(|panel| !panel.title.is_empty()) {
        y += 1.4 * LINE;
    }
    let mut x = MARGIN;
    for (panel, breadth) in chart.panels.iter().zip(&panels) {
        let area = Area {
            left: x + breadth - RIGHT - wide,
            top: y,
            wide,
        };
        draw_panel(&mut body, panel, &area, &names);
        x += breadth + GAP;
    }
    let down = y + HEIGHT + BOTTOM + MARGIN / 2.0;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {across} {down}\" \
         width=\"{across}\" height=\"{down}\" role=\"img\" font-family=\"{FONTS}\" \
         font-size=\"{FONT}\" fill=\"{INK}\">\n<title>{}</title>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n{body}</svg>\n",
        escaped(&chart.title)
    )
}

/// Bold text is about this much wider.
const BOLD: f64 = 1.06;

/// Where a panel's lines are drawn.
struct Area {
    left: f64,
    top: f64,
    wide: f64,
}

/// What a panel takes beside its area.
fn beside(panel: &Panel) -> f64 {
    let turned = if panel.y.title.is_empty() {
        0.0
    } else {
        TURNED
    };
    turned + LEFT + RIGHT
}

/// What the lines are called, once each, in the order of their appearance. The place of a name
/// decides colour and marker.
fn names(chart: &Chart) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for line in chart.panels.iter().flat_map(|panel| &panel.lines) {
        if !names.contains(&line.name.as_str()) {
            names.push(&line.name);
        }
    }
    names
}

/// Draws the legend from `y` down, in as many rows as it needs, and gives where it ends.
fn legend(out: &mut String, names: &[&str], mut y: f64, room: f64) -> f64 {
    y += FONT;
    let mut x = MARGIN;
    for (at, name) in names.iter().enumerate() {
        let words = fitted(name, FONT, room - SIGN);
        let takes = SIGN + width(&words, FONT);
        if MARGIN < x && MARGIN + room < x + takes {
            (x, y) = (MARGIN, y + LINE);
        }
        let colour = COLOURS[at % COLOURS.len()];
        let middle = y - FONT * 0.35;
        let _ = writeln!(
            out,
            r#"<path d="M{x:.1} {middle:.1}h20" stroke="{colour}" stroke-width="2"/>"#
        );
        marker(out, at, (x + 10.0, middle), "");
        words_at(out, (x + SIGN, y), "", &words);
        x += takes + AFTER;
    }
    y + FONT
}

/// Draws axes and lines.
fn draw_panel(out: &mut String, panel: &Panel, area: &Area, names: &[&str]) {
    let points = || panel.lines.iter().flat_map(|line| &line.points);
    let x = Ruler::new(&panel.x, points().map(|point| point.0));
    let y = Ruler::new(&panel.y, points().map(|point| point.1));
    if !panel.title.is_empty() {
        let words = fitted(&panel.title, FONT * BOLD, area.wide + RIGHT);
        let place = (area.left, area.top - 12.0);
        words_at(out, place, r#"font-weight="600""#, &words);
    }
    grid(out, area, (&x, &y));
    axis_titles(out, area, (&panel.x, &panel.y));
    for line in &panel.lines {
        let at = names.iter().position(|name| *name == line.name);
        draw_line(out, line, at.unwrap_or(0), area, (&x, &y));
    }
}

fn grid(out: &mut String, area: &Area, (x, y): (&Ruler, &Ruler)) {
    let (left, bottom) = (area.left, area.top + HEIGHT);
    for tick in &y.ticks {
        let Some(place) = y.place(*tick) else {
            continue;
        };
        let down = area.top + (1.0 - place) * HEIGHT;
        let _ = writeln!(
            out,
            r#"<path d="M{left:.1} {down:.1}h{}" stroke="{GRID}"/>"#,
            area.wide
        );
        let place = (left - 8.0, down + FONT * 0.35);
        words_at(out, place, r#"text-anchor="end""#, &y.label(*tick));
    }
    let _ = writeln!(
        out,
        r##"<path d="M{left:.1} {bottom:.1}h{}" stroke="#888888"/>"##,
        area.wide
    );
    let mut free = f64::NEG_INFINITY;
    for tick in &x.ticks {
        let Some(place) = x.place(*tick) else {
            continue;
        };
        let right = left + place * area.wide;
        let _ = writeln!(
            out,
            r##"<path d="M{right:.1} {bottom:.1}v4" stroke="#888888"/>"##
        );
        // A label that would touch the one before it is left out; its tick stays.
        let label = x.label(*tick);
        let half = width(&label, FONT) / 2.0;
        if free <= right - half {
            let place = (right, bottom + 18.0);
            words_at(out, place, r#"text-anchor="middle""#, &label);
            free = right + half + 8.0;
        }
    }
}

fn axis_titles(out: &mut String, area: &Area, (x, y): (&Axis, &Axis)) {
    if !x.title.is_empty() {
        let place = (area.left + area.wide / 2.0, area.top + HEIGHT + 38.0);
        let words = fitted(&x.title, FONT, area.wide);
        words_at(out, place, r#"text-anchor="middle""#, &words);
    }
    if !y.title.is_empty() {
        let (across, down) = (area.left - LEFT - 2.0, area.top + HEIGHT / 2.0);
        let style =
            format!(r#"text-anchor="middle" transform="rotate(-90 {across:.1} {down:.1})""#);
        let words = fitted(&y.title, FONT, HEIGHT);
        words_at(out, (across, down), &style, &words);
    }
}

fn draw_line(out: &mut String, line: &Line, at: usize, area: &Area, (x, y): (&Ruler, &Ruler)) {
    let placed: Vec<((f64, f64), String)> = line
        .points
        .iter()
        .filter_map(|point| {
            let place = (
                area.left + x.place(point.0)? * area.wide,
                area.top + (1.0 - y.place(point.1)?) * HEIGHT,
            );
            let words = format!(
                "{}: {} at {}",
                line.name,
                y.label(point.1),
                x.label(point.0)
            );
            Some((place, words))
        })
        .collect();
    let colour = COLOURS[at % COLOURS.len()];
    let dashed = if line.dashed {
        r#" stroke-dasharray="6 4""#
    } else {
        ""
    };
    if 1 < placed.len() {
        let path: Vec<String> = placed
            .iter()
            .map(|((x, y), _)| format!("{x:.1},{y:.1}"))
            .collect();
        let _ = writeln!(
            out,
            r#"<polyline points="{}" fill="none" stroke="{colour}" stroke-width="2" stroke-linejoin="round"{dashed}/>"#,
            path.join(" ")
        );
    }
    if !line.dashed {
        for (place, words) in &placed {
            marker(out, at, *place, words);
        }
    }
}

/// A point of the line `at`, with what is shown when one points at it. Markers differ in form too,
/// for print without colour.
fn marker(out: &mut String, at: usize, (x, y): (f64, f64), words: &str) {
    let form = match at % 4 {
        0 => "m-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z",
        1 => "m-3.5 -3.5h7v7h-7z",
        2 => "m0 -4.6l4.4 8h-8.8z",
        _ => "m0 -4.8l4.8 4.8l-4.8 4.8l-4.8 -4.8z",
    };
    let colour = COLOURS[at % COLOURS.len()];
    let title = if words.is_empty() {
        String::new()
    } else {
        format!("<title>{}</title>", escaped(words))
    };
    let _ = writeln!(
        out,
        r##"<path d="M{x:.1} {y:.1}{form}" fill="{colour}" stroke="#ffffff">{title}</path>"##
    );
}

fn words_at(out: &mut String, (x, y): (f64, f64), style: &str, words: &str) {
    let space = if style.is_empty() { "" } else { " " };
    let _ = writeln!(
        out,
        r#"<text x="{x:.1}" y="{y:.1}"{space}{style}>{}</text>"#,
        escaped(words)
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    fn panel(lines: Vec<Line>) -> Panel {
        Panel {
            title: "提示词 tokens".to_owned(),
            x: Axis::logarithmic("tools"),
            y: Axis::count("tokens"),
            lines,
        }
    }

    #[test]
    fn each_point_is_marked_and_each_name_is_explained_once() {
        let lines = || {
            vec![
                Line::new("all <tools>", vec![(35.0, 7_000.0), (2_375.0, 480_000.0)]),
                Line::new("主动发现", vec![(35.0, 900.0), (2_375.0, 1_000.0)]),
            ]
        };
        let file = svg(&Chart::new("a & b", vec![panel(lines()), panel(lines())]));
        assert_eq!(file.matches("</title></path>").count(), 8);
        assert_eq!(file.matches(">主动发现</text>").count(), 1);
        assert_eq!(file.matches(">all &lt;tools&gt;</text>").count(), 1);
        assert!(file.contains("a &amp; b") && !file.contains("<tools>"));
    }

    #[test]
    fn what_cannot_be_drawn_is_left_out() {
        let odd = vec![
            (0.0, 1.0),
            (10.0, f64::NAN),
            (f64::INFINITY, 2.0),
            (20.0, 3.0),
        ];
        let file = svg(&Chart::new("", vec![panel(vec![Line::new("odd", odd)])]));
        assert_eq!(file.matches("</title></path>").count(), 1);
        assert!(!file.contains("NaN") && !file.contains("inf"));
        let empty = svg(&Chart::default());
        assert!(!empty.contains("NaN") && !empty.contains("inf"));
        let empty = svg(&Chart::new("no lines", vec![panel(vec![])]));
        assert!(!empty.contains("NaN") && !empty.contains("inf"));
    }

    #[test]
    fn a_legend_that_is_too_long_takes_more_rows() {
        let named = |count: usize| {
            let lines = (0..count).map(|at| {
                Line::new(
                    format!("a strategy with a long name {at}"),
                    vec![(1.0, 1.0)],
                )
            });
            let file = svg(&Chart::new("", vec![panel(lines.collect())]));
            let height = file.split("height=\"").nth(1).unwrap();
            height.split('"').next().unwrap().parse::<f64>().unwrap()
        };
        assert_eq!(named(1), named(2));
        assert_eq!(named(9), named(2) + 2.0 * LINE);
    }
}
