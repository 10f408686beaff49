//! Line charts, as one SVG file without scripts, styles or fonts of its own.
//!
//! A [`Chart`] is one panel or several side by side under one title and one legend. It is plain
//! data; [`svg`] draws it. Lines of the same name have the same colour and marker in every panel.
//! What cannot be drawn (a number that is not finite, or not positive on a logarithmic axis) is left
//! out. Equal charts give equal bytes.
//!
//! ```
//! use toolscout::plot::{Axis, Chart, Line, Panel, svg};
//! let cost = Line::new("all tools", vec![(35.0, 7_000.0), (2_375.0, 480_000.0)]);
//! let chart = Chart::new("Cost", vec![Panel {
//!     title: "prompt tokens, mean".to_owned(),
//!     x: Axis::logarithmic("tools of the catalogue"),
//!     y: Axis::count(""),
//!     lines: vec![cost],
//! }]);
//! let file = svg(&chart);
//! assert!(file.starts_with("<svg ") && file.contains(">500k</text>"));
//! ```

mod axis;
mod draw;
mod text;

pub use draw::svg;

/// A picture.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Chart {
    /// What it shows, in a line above everything.
    pub title: String,
    /// A smaller line below the title; empty for none.
    pub subtitle: String,
    /// Side by side, from left to right.
    pub panels: Vec<Panel>,
}

/// A pair of axes and what stands between them.
#[derive(Debug, Clone, PartialEq)]
pub struct Panel {
    /// What the lines show; empty for none.
    pub title: String,
    /// From left to right.
    pub x: Axis,
    /// From bottom to top.
    pub y: Axis,
    /// Drawn in this order, the last on top.
    pub lines: Vec<Line>,
}

/// Points joined by a line.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Line {
    /// What the legend calls it.
    pub name: String,
    /// x and y, in the order in which they are joined.
    pub points: Vec<(f64, f64)>,
    /// Drawn dashed: for a limit or a forecast beside what was measured.
    pub dashed: bool,
}

/// How numbers are laid out along one side.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// What it counts; empty for none.
    pub title: String,
    /// Distances.
    pub scale: Scale,
    /// How numbers are written.
    pub unit: Unit,
    /// Where it begins; none to fit the data (0 where the scale is linear).
    pub least: Option<f64>,
    /// Where it ends; none for the first round number that holds the data.
    pub most: Option<f64>,
}

/// What equal distances mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// Equal differences.
    Linear,
    /// Equal ratios. Holds positive numbers only.
    Logarithmic,
}

/// How an axis writes its numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// A quantity: 0.5, 20, 1.5k, 2M.
    Count,
    /// A share in 0..=1, written in per cent.
    Share,
}

impl Chart {
    /// A chart without a subtitle.
    pub fn new(title: impl Into<String>, panels: Vec<Panel>) -> Self {
        Self {
            title: title.into(),
            subtitle: String::new(),
            panels,
        }
    }
}

impl Line {
    /// A whole line.
    pub fn new(name: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        Self {
            name: name.into(),
            points,
            dashed: false,
        }
    }
}

impl Axis {
    /// Quantities from 0.
    pub fn count(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            scale: Scale::Linear,
            unit: Unit::Count,
            least: None,
            most: None,
        }
    }

    /// Positive quantities, by ratio.
    pub fn logarithmic(title: impl Into<String>) -> Self {
        Self {
            scale: Scale::Logarithmic,
            ..Self::count(title)
        }
    }

    /// Shares from 0 to 100 %.
    pub fn share(title: impl Into<String>) -> Self {
        Self {
            unit: Unit::Share,
            most: Some(1.0),
            ..Self::count(title)
        }
    }
}
