//! Tables for people: aligned by what a terminal shows, wide characters included.

use comfy_table::{
    Attribute, Cell, CellAlignment, ColumnConstraint, ContentArrangement, LineStyle, Row, Table,
    Width, presets,
};

use super::output::Output;

/// Cells of a full [`meter`].
const METER: usize = 10;

/// A table with a header and no rows, as wide as the output.
pub(super) fn table(output: &Output, header: &[&str]) -> Table {
    let mut table = bare(output);
    let cells = header.iter().map(|title| match output.is_coloured() {
        true => Cell::new(title).add_attribute(Attribute::Dim),
        false => Cell::new(title),
    });
    table.set_header(Row::from(cells.collect::<Vec<Cell>>()));
    let rule = LineStyle::none().fill('─').junction('─');
    table.load_style(presets::NOTHING.header_separator(rule));
    pad(&mut table);
    table
}

/// A table without a header: aligned columns.
pub(super) fn bare(output: &Output) -> Table {
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_truncation_indicator("…")
        .set_width(output.width)
        .force_no_tty();
    if output.is_coloured() {
        table.enforce_styling();
    }
    table
}

/// Brings the columns two blanks apart. Call it once the columns are there.
pub(super) fn pad(table: &mut Table) {
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
}

/// Brings the columns one blank apart.
pub(super) fn pad_close(table: &mut Table) {
    for column in table.column_iter_mut() {
        column.set_padding((0, 1));
    }
}

/// Aligns a column of numbers.
pub(super) fn align_right(table: &mut Table, column: usize) {
    if let Some(column) = table.column_mut(column) {
        column.set_cell_alignment(CellAlignment::Right);
    }
}

/// Keeps a column from being squeezed.
pub(super) fn keep_width(table: &mut Table, column: usize) {
    if let Some(column) = table.column_mut(column) {
        column.set_constraint(ColumnConstraint::ContentWidth);
    }
}

/// Keeps a column from taking more than a share of the table, in per cent.
pub(super) fn at_most(table: &mut Table, column: usize, percent: u16) {
    if let Some(column) = table.column_mut(column) {
        column.set_constraint(ColumnConstraint::UpperBoundary(Width::Percentage(percent)));
    }
}

/// Gives a column at least this many cells, and at most a share of the table in per cent.
pub(super) fn between(table: &mut Table, column: usize, cells: u16, percent: u16) {
    if let Some(column) = table.column_mut(column) {
        column.set_constraint(ColumnConstraint::Boundaries {
            lower: Width::Fixed(cells),
            upper: Width::Percentage(percent),
        });
    }
}

/// A row of which each cell is cut to one line.
pub(super) fn short_row<T: Into<Cell>>(cells: impl IntoIterator<Item = T>) -> Row {
    let mut row = Row::from(cells.into_iter().map(Into::into).collect::<Vec<Cell>>());
    row.max_height(1);
    row
}

/// A bar of ten cells for a number in `0.0..=1.0`, to an eighth of a cell.
pub(super) fn meter(value: f32) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let value = if value.is_finite() {
        value.clamp(0.0, 1.0)
    } else {
        0.0
    };
    let eighths = (value * (METER * 8) as f32).round() as usize;
    let mut bar = "█".repeat(eighths / 8);
    bar.push_str(EIGHTHS[eighths % 8]);
    bar
}

/// How the parts of a [`stacked`] bar look, in order.
pub(super) const SHADES: [char; 4] = ['█', '▓', '▒', '░'];

/// A bar of ten cells, shared out in proportion to the parts; empty where there are none.
pub(super) fn stacked(parts: [f32; 4]) -> String {
    let total: f32 = parts.iter().filter(|part| part.is_finite()).sum();
    if total.is_nan() || total <= 0.0 {
        return String::new();
    }
    let mut bar = String::new();
    let (mut sum, mut cells) = (0.0, 0);
    for (part, shade) in parts.into_iter().zip(SHADES) {
        sum += part.max(0.0);
        let end = (sum / total * METER as f32).round() as usize;
        bar.extend(std::iter::repeat_n(shade, end.saturating_sub(cells)));
        cells = end.max(cells);
    }
    bar
}

/// A cell that is cut at any character rather than between words, so that no room is wasted.
pub(super) fn unbroken(text: impl AsRef<str>) -> Cell {
    Cell::new(text.as_ref()).set_delimiter('\u{1}')
}

/// A count with its noun: `1 tool`, `2 tools`.
pub(super) fn count(number: usize, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", grouped(number))
}

/// A number with its thousands apart: `12,345`.
pub(super) fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn meters_and_counts() {
        assert_eq!(meter(0.0), "");
        assert_eq!(meter(1.5).chars().count(), 10);
        assert_eq!(meter(0.55), "█████▌");
        assert_eq!(meter(f32::NAN), "");
        assert_eq!(stacked([0.5, 0.3, 0.2, 0.0]), "█████▓▓▓▒▒");
        assert_eq!(stacked([0.0; 4]), "");
        assert_eq!(count(1, "tool"), "1 tool");
        assert_eq!(count(1_234_567, "tool"), "1,234,567 tools");
        assert_eq!(grouped(123), "123");
    }
}
