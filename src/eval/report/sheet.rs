//! A table, for a terminal and for Markdown.

use comfy_table::{CellAlignment, ContentArrangement, LineStyle, Table, TableStyle, presets};

/// A titled table of text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sheet {
    /// What the table shows.
    pub title: String,
    /// Names of the columns.
    pub header: Vec<String>,
    /// Cells, row by row; a row may be shorter than the header.
    pub rows: Vec<Vec<String>>,
    /// Columns from the left that hold text and are set to the left; the rest are numbers.
    pub names: usize,
}

impl Sheet {
    /// A table without rows.
    pub fn new(title: impl Into<String>, header: &[&str], names: usize) -> Self {
        Self {
            title: title.into(),
            header: header.iter().map(|cell| (*cell).to_owned()).collect(),
            rows: Vec::new(),
            names,
        }
    }

    /// The table as it is printed in a terminal; wide characters keep their columns.
    pub fn text(&self) -> String {
        let rule = LineStyle::none().fill('─').junction('─');
        let table = self.table(presets::NOTHING.header_separator(rule), (0, 2));
        let lines: Vec<String> = table
            .lines()
            .map(|line| line.trim_end().to_owned())
            .collect();
        format!("{}\n\n{}\n", self.title, lines.join("\n"))
    }

    /// The table in Markdown.
    pub fn markdown(&self) -> String {
        let table = self.table(presets::ASCII_MARKDOWN, (1, 1));
        format!("## {}\n\n{table}\n", self.title)
    }

    fn table(&self, style: TableStyle, padding: (u16, u16)) -> Table {
        let mut table = Table::new();
        table
            .load_style(style)
            .set_content_arrangement(ContentArrangement::Disabled)
            .set_header(&self.header)
            .add_rows(&self.rows);
        for (at, column) in table.column_iter_mut().enumerate() {
            column.set_padding(padding);
            column.set_cell_alignment(if at < self.names {
                CellAlignment::Left
            } else {
                CellAlignment::Right
            });
        }
        table
    }
}

/// A figure as tables show it: three decimals without the zero, `1.000` for one, `-` for none.
///
/// ```
/// use toolscout::eval::report::sheet::cell;
/// assert_eq!(cell(Some(0.8126)), ".813");
/// assert_eq!(cell(Some(1.0)), "1.000");
/// assert_eq!(cell(Some(-0.02)), "-.020");
/// assert_eq!(cell(None), "-");
/// ```
pub fn cell(value: Option<f64>) -> String {
    let Some(value) = value else {
        return "-".to_owned();
    };
    let text = format!("{value:.3}");
    match text.strip_prefix("0.") {
        Some(decimals) => format!(".{decimals}"),
        None => text.replacen("-0.", "-.", 1),
    }
}

/// A difference as tables show it, with its sign.
///
/// ```
/// use toolscout::eval::report::sheet::difference;
/// assert_eq!(difference(0.012), "+.012");
/// assert_eq!(difference(-0.5), "-.500");
/// ```
pub fn difference(value: f64) -> String {
    let text = cell(Some(value));
    if text.starts_with('-') {
        text
    } else {
        format!("+{text}")
    }
}
