//! One question to a ranked list: candidates, arms, fusion, and what is added or taken off.

use std::collections::{BTreeMap, BTreeSet};

use super::answer::{Arm, ArmScore};
use super::config::Config;
use super::evidence::{Evidence, Question};
use super::fuse::{Said, fuse};
use super::namespace::Namespaces;
use super::view::View;
use super::{keyword, rule, semantic};
use crate::catalog::text::Passage;
use crate::index::Index;
use crate::rules::Ruling;
use crate::score::Score;
use crate::tool::{SideEffect, ToolId};

/// Tools of a part that get the bonus of [`PartShares::cover`](super::config::PartShares::cover).
const COVERED: usize = 3;
/// Arms whose weights a part's score is divided by, so that it is on the scale of the whole's.
const MEASURED: [Arm; 3] = [Arm::Semantic, Arm::Keyword, Arm::Namespace];
/// Scores closer than this are a tie: the order of sums must not decide between tools.
const TIE: f32 = 1e-5;

/// A candidate with its score and what it is made of.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Ranked {
    /// The tool.
    pub(super) tool: ToolId,
    /// `0.0..=1.0`.
    pub(super) score: f32,
    /// What each arm gave.
    pub(super) arms: Vec<ArmScore>,
    /// Added for being the best of a part.
    pub(super) covered: f32,
    /// Taken off for an avoid-when line that is nearer than the tool's own text.
    pub(super) avoided: f32,
}

/// What is ranked, and by what.
pub(super) struct Ranking<'a> {
    pub(super) evidence: &'a Evidence,
    pub(super) index: &'a Index,
    pub(super) view: &'a View,
    pub(super) config: &'a Config,
    pub(super) ruling: &'a Ruling,
    /// Permitted tools that a rule wants first.
    pub(super) pinned: &'a [ToolId],
}

/// A question with what is the same for all its candidates.
struct Asked<'a> {
    question: &'a Question,
    namespaces: Option<&'a Namespaces>,
    /// Factor on the keyword arm.
    trust: f32,
}

/// A ranked list and the arms that spoke for it.
pub(super) struct List {
    /// Best first.
    pub(super) ranked: Vec<Ranked>,
    /// In the order of [`Arm::ALL`].
    pub(super) speaking: Vec<Arm>,
}

impl Ranking<'_> {
    /// Ranks the candidates of `question`, and those of `named` whatever their score.
    pub(super) fn rank(&self, question: &Question, named: &[ToolId]) -> List {
        let (index, config) = (self.index, self.config);
        let mut candidates = self.evidence.candidates(question, config);
        candidates.extend(named);
        let namespaces = Namespaces::weigh(
            self.evidence,
            (index, self.view),
            question,
            &candidates,
            config,
        );
        candidates.extend(self.pinned);
        let trust = keyword::trust(self.evidence.heard(question), &config.hearing);
        let asked = Asked {
            question,
            namespaces: namespaces.as_ref(),
            trust,
        };
        let speaking = self.speaking(&asked, &candidates);
        let bonus = self.cover_bonus(question, trust);
        let mut ranked: Vec<Ranked> = candidates
            .iter()
            .map(|tool| {
                let said = self.say(&asked, *tool);
                let arms = fuse(&said, &speaking, &config.weights);
                let covered = bonus.get(tool).copied().unwrap_or(0.0);
                let avoided = self.avoided(question, *tool);
                let sum: f32 = arms.iter().map(|arm| arm.contribution).sum();
                Ranked {
                    tool: *tool,
                    score: Score::unit(sum + covered - avoided).get(),
                    arms,
                    covered,
                    avoided,
                }
            })
            .collect();
        ranked.sort_by_key(|ranked| {
            // On a tie the tool that changes less comes first, then the lesser key.
            let ticks = (ranked.score / TIE).round() as i64;
            let effect = match index.catalog.tool(ranked.tool).side_effect {
                SideEffect::None | SideEffect::Read => 0,
                SideEffect::Unknown => 1,
                SideEffect::Write => 2,
                SideEffect::Destructive => 3,
            };
            (-ticks, effect, ranked.tool)
        });
        List { ranked, speaking }
    }

    fn say(&self, asked: &Asked<'_>, tool: ToolId) -> Vec<Said> {
        let (index, config, question) = (self.index, self.config, asked.question);
        let mut said = Vec::with_capacity(Arm::ALL.len());
        if let Some(raw) = semantic::raw(self.evidence, index, question, tool, &config.parts) {
            let value = semantic::value(index, raw);
            said.push(Said {
                arm: Arm::Semantic,
                raw,
                value,
            });
        }
        let raw = keyword::raw(self.evidence, question, tool, &config.parts);
        said.push(Said {
            arm: Arm::Keyword,
            raw,
            value: asked.trust * keyword::saturate(raw, config.keyword_scale),
        });
        if let Some(namespaces) = asked.namespaces {
            let value = namespaces.value(index, self.view, tool);
            said.push(Said {
                arm: Arm::Namespace,
                raw: value,
                value,
            });
        }
        if !self.ruling.is_silent() {
            said.push(rule::said(self.ruling, tool));
        }
        said
    }

    fn speaking(&self, asked: &Asked<'_>, candidates: &BTreeSet<ToolId>) -> Vec<Arm> {
        let speaks = |arm: &Arm| match arm {
            Arm::Semantic => self.evidence.vectors.is_some(),
            Arm::Keyword => keyword::speaks(self.evidence, asked.question),
            Arm::Namespace => asked.namespaces.is_some(),
            Arm::Rule => rule::speaks(self.ruling, candidates),
        };
        Arm::ALL.into_iter().filter(speaks).collect()
    }

    /// What the best tools of each part get on top.
    fn cover_bonus(&self, question: &Question, trust: f32) -> BTreeMap<ToolId, f32> {
        let shares = &self.config.parts;
        let mut bonus = BTreeMap::new();
        for unit in question.parts.clone() {
            let part = Question {
                whole: unit,
                clean: unit,
                parts: unit..unit,
            };
            let asked = Asked {
                question: &part,
                namespaces: None,
                trust,
            };
            let mut best: Vec<(f32, ToolId)> = self
                .evidence
                .candidates(&part, self.config)
                .into_iter()
                .map(|tool| {
                    let arms = fuse(&self.say(&asked, tool), &MEASURED, &self.config.weights);
                    (arms.iter().map(|arm| arm.contribution).sum(), tool)
                })
                .collect();
            best.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            let Some((score, _)) = best.first() else {
                continue;
            };
            let range = shares.cover_full - shares.cover_from;
            let share = ((score - shares.cover_from) / range).clamp(0.0, 1.0);
            for (rank, (_, tool)) in best.into_iter().take(COVERED).enumerate() {
                *bonus.entry(tool).or_insert(0.0) += share * shares.cover / (1 + rank) as f32;
            }
        }
        bonus
    }

    /// What an avoid-when line takes off that is nearer to the request than the tool's own text.
    fn avoided(&self, question: &Question, tool: ToolId) -> f32 {
        let Some(vectors) = &self.evidence.vectors else {
            return 0.0;
        };
        let (mut own, mut against) = (f32::NEG_INFINITY, f32::NEG_INFINITY);
        for (passage, cosine) in self.index.dense.cosines(vectors.row(question.whole), tool) {
            match passage {
                Passage::AvoidWhen => against = against.max(cosine),
                Passage::Document | Passage::Short | Passage::UseWhen | Passage::Example => {
                    own = own.max(cosine);
                }
            }
        }
        let avoid = &self.config.avoid;
        let excess = against - own - avoid.margin;
        if 0.0 < excess {
            (avoid.slope * excess).min(avoid.limit)
        } else {
            0.0
        }
    }
}
