//! The comparison as a chart: what each strategy costs, and what it finds.

use super::{Cell, Strategy};
use crate::plot::{self, Axis, Chart, Line, Panel};

/// Prompt tokens and recall by catalogue size. Sizes and tokens are laid out by ratio: all tools in
/// the prompt cost a hundred times what a search does, and small catalogues are as frequent as large
/// ones.
pub fn svg(name: &str, cells: &[Cell]) -> String {
    let queries = cells.first().map_or(0, |cell| cell.queries);
    let mut chart = Chart::new(
        format!("{name}: what each strategy costs and finds"),
        vec![
            Panel {
                title: "Prompt tokens, mean".to_owned(),
                x: Axis::logarithmic("tools of the catalogue"),
                y: Axis::logarithmic(""),
                lines: lines(cells, |cell| Some(cell.tokens)),
            },
            Panel {
                title: "Needs whose tool is before the model".to_owned(),
                x: Axis::logarithmic("tools of the catalogue"),
                y: Axis::share(""),
                lines: lines(cells, |cell| Some(cell.recall)),
            },
            Panel {
                title: "Requests whose tools come first, and no other".to_owned(),
                x: Axis::logarithmic("tools of the catalogue"),
                y: Axis::share(""),
                lines: lines(cells, |cell| cell.exact),
            },
        ],
    );
    chart.subtitle = format!(
        "{queries} requests; o200k tokens of the definitions. All tools hold every need by \
         construction: no model is asked whether it would choose rightly among them."
    );
    plot::svg(&chart)
}

fn lines(cells: &[Cell], value: impl Fn(&Cell) -> Option<f64>) -> Vec<Line> {
    [Strategy::All, Strategy::Prefilter, Strategy::Active]
        .into_iter()
        .map(|strategy| {
            let own = cells.iter().filter(|cell| cell.strategy == strategy);
            let points = own.filter_map(|cell| Some((cell.tools as f64, value(cell)?)));
            Line::new(strategy.title(), points.collect())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plot_has_a_point_for_each_figure() {
        let cell = |strategy, tools: usize, tokens| Cell {
            strategy,
            tools,
            queries: 1,
            recall: 0.5,
            complete: 0.5,
            exact: (strategy != Strategy::All).then_some(0.25),
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
        assert_eq!(plot.matches("all tools: ").count(), 4);
        assert_eq!(plot.matches("active discovery: ").count(), 3);
        assert!(plot.contains("a&lt;b") && plot.contains("480k at 2375"));
        assert!(!svg("empty", &[]).contains("NaN"));
    }
}
