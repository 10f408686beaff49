//! Figures of a ranking, and of a confidence. Pure functions; each is worked by hand in its example.
//!
//! A *need* is met at the first rank that holds any of its acceptable tools, and a request may have
//! several needs; with labels of the plain kind each tool is a need of its own. All figures lie in
//! `0.0..=1.0`, higher is better.

pub mod interval;
pub mod ranking;
pub mod separation;

pub use interval::{Interval, bootstrap, bootstrap_auc, bootstrap_difference, bootstrap_figures};
pub use separation::{accepted, auc};

use crate::tool::ToolId;

/// A figure of one ranking.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(try_from = "String", into = "String")]
pub enum Metric {
    /// Needs met by the best tool, of all needs.
    Recall1,
    /// Needs met by the best three.
    Recall3,
    /// Needs met by the best five.
    Recall5,
    /// Needs met by the best ten.
    Recall10,
    /// Needs met by the best twenty.
    Recall20,
    /// The best tool meets some need.
    Hit1,
    /// The best ten meet every need.
    Complete10,
    /// See [`ranking::ndcg`].
    Ndcg10,
    /// One over the first rank that meets some need.
    Mrr,
    /// The best tool's namespace is that of some acceptable tool.
    Namespace1,
}

impl Metric {
    /// All of them, in the order of tables.
    pub const ALL: [Self; 10] = [
        Self::Recall1,
        Self::Recall3,
        Self::Recall5,
        Self::Recall10,
        Self::Recall20,
        Self::Hit1,
        Self::Complete10,
        Self::Ndcg10,
        Self::Mrr,
        Self::Namespace1,
    ];

    /// The name used in files and tables.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Recall1 => "recall@1",
            Self::Recall3 => "recall@3",
            Self::Recall5 => "recall@5",
            Self::Recall10 => "recall@10",
            Self::Recall20 => "recall@20",
            Self::Hit1 => "hit@1",
            Self::Complete10 => "complete@10",
            Self::Ndcg10 => "ndcg@10",
            Self::Mrr => "mrr",
            Self::Namespace1 => "namespace@1",
        }
    }

    /// The metric of that name.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|metric| metric.as_str() == name)
    }
}

impl From<Metric> for String {
    fn from(metric: Metric) -> Self {
        metric.as_str().to_owned()
    }
}

impl TryFrom<String> for Metric {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        Self::of_name(&name).ok_or_else(|| format!("no metric is called '{name}'"))
    }
}

/// A value for each [`Metric`]: of one ranking, or a mean over many.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Figures([f64; Metric::ALL.len()]);

impl Figures {
    /// Nothing found.
    pub const ZERO: Self = Self([0.0; Metric::ALL.len()]);

    /// The figures of one ranking, best tool first.
    ///
    /// `same_namespace(a, b)` says whether two tools share a namespace.
    ///
    /// ```
    /// use toolscout::eval::metric::{Figures, Metric};
    /// use toolscout::tool::ToolId;
    /// let ranking = [7, 1, 2].map(ToolId);
    /// // Two needs: tool 1 or 9 for the first, tool 2 for the second.
    /// let needs = [vec![ToolId(1), ToolId(9)], vec![ToolId(2)]];
    /// let figures = Figures::of(&ranking, &needs, |a, b| a.0 / 5 == b.0 / 5);
    /// assert_eq!(figures.get(Metric::Recall1), 0.0);
    /// assert_eq!(figures.get(Metric::Recall3), 1.0);
    /// assert_eq!(figures.get(Metric::Complete10), 1.0);
    /// assert_eq!(figures.get(Metric::Mrr), 0.5);
    /// // Tool 7 is of the namespace of the acceptable tool 9.
    /// assert_eq!(figures.get(Metric::Namespace1), 1.0);
    /// ```
    pub fn of(
        ranking: &[ToolId],
        needs: &[Vec<ToolId>],
        same_namespace: impl Fn(ToolId, ToolId) -> bool,
    ) -> Self {
        let ranks = ranking::ranks(ranking, needs);
        let in_namespace = ranking.first().is_some_and(|first| {
            let mut acceptable = needs.iter().flatten();
            acceptable.any(|tool| same_namespace(*first, *tool))
        });
        let value = |metric| match metric {
            Metric::Recall1 => ranking::recall(&ranks, 1),
            Metric::Recall3 => ranking::recall(&ranks, 3),
            Metric::Recall5 => ranking::recall(&ranks, 5),
            Metric::Recall10 => ranking::recall(&ranks, 10),
            Metric::Recall20 => ranking::recall(&ranks, 20),
            Metric::Hit1 => ranking::hit(&ranks, 1),
            Metric::Complete10 => ranking::complete(&ranks, 10),
            Metric::Ndcg10 => ranking::ndcg(&ranks, 10),
            Metric::Mrr => ranking::reciprocal_rank(&ranks),
            Metric::Namespace1 => f64::from(u8::from(in_namespace)),
        };
        Self(Metric::ALL.map(value))
    }

    /// The value of a metric.
    pub fn get(&self, metric: Metric) -> f64 {
        self.0[metric as usize]
    }

    /// Each metric with its value, in the order of tables.
    pub fn iter(&self) -> impl Iterator<Item = (Metric, f64)> + '_ {
        Metric::ALL.into_iter().zip(self.0)
    }

    /// The mean of each metric; zero over nothing.
    pub fn mean<'a>(figures: impl IntoIterator<Item = &'a Self>) -> Self {
        let (mut sum, mut count) = (Self::ZERO, 0usize);
        for one in figures {
            for (total, value) in sum.0.iter_mut().zip(one.0) {
                *total += value;
            }
            count += 1;
        }
        sum.0
            .iter_mut()
            .for_each(|total| *total /= count.max(1) as f64);
        sum
    }
}
