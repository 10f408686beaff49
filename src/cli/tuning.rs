//! The constants of a search as a settings file: every one of [`Config`], by section and key.
//!
//! [`read`] lays a file's keys over a preset; [`to_toml`] writes a file that reads back as the same
//! constants.

use std::fmt::Write;

use super::document::Section;
use super::error::Error;
use crate::index::lexical::Field;
use crate::search::Config;
use crate::search::confidence::FEATURES;
use crate::search::config::{
    Avoid, ConfidenceModel, Hearing, NamespaceShares, PartShares, Weights, WordWeights,
};

/// No number beyond it can be meant.
const FAR: f64 = 1e6;
const SHARE: (f64, f64) = (0.0, 1.0);
const WEIGHT: (f64, f64) = (0.0, FAR);
const POSITIVE: (f64, f64) = (1e-6, FAR);
const ANY: (f64, f64) = (-FAR, FAR);
/// Tools that an arm may put up for scoring.
const CANDIDATES: (usize, usize) = (1, 100_000);

/// One constant: its key in a file, its limits, and where it stands in the configuration.
struct Knob<'a> {
    key: String,
    limits: (f64, f64),
    place: &'a mut f32,
}

fn knob<'a>(key: &str, limits: (f64, f64), place: &'a mut f32) -> Knob<'a> {
    Knob {
        key: key.replace(' ', "_"),
        limits,
        place,
    }
}

/// Every constant but the numbers of candidates, by section. The patterns name every field, so that
/// one that is missing here does not compile.
fn sections(config: &mut Config) -> Vec<(&'static str, Vec<Knob<'_>>)> {
    let Config {
        weights,
        bm25f,
        words,
        keyword_scale,
        hearing,
        parts,
        namespace,
        avoid,
        candidates: _,
        part_candidates: _,
        confidence,
        threshold,
        variant_cosine,
    } = config;
    let search = vec![
        knob("threshold", SHARE, threshold),
        knob("variant_cosine", SHARE, variant_cosine),
    ];
    let mut keyword = vec![
        knob("scale", POSITIVE, keyword_scale),
        knob("k1", POSITIVE, &mut bm25f.k1),
    ];
    for (field, place) in Field::ALL.into_iter().zip(&mut bm25f.weight) {
        keyword.push(knob(&format!("weight_{}", field_key(field)), WEIGHT, place));
    }
    for (field, place) in Field::ALL.into_iter().zip(&mut bm25f.b) {
        keyword.push(knob(&format!("b_{}", field_key(field)), SHARE, place));
    }
    vec![
        ("search", search),
        ("weights", weight_knobs(weights)),
        ("keyword", keyword),
        ("words", word_knobs(words)),
        ("hearing", hearing_knobs(hearing)),
        ("parts", part_knobs(parts)),
        ("namespace", namespace_knobs(namespace)),
        ("avoid", avoid_knobs(avoid)),
        ("confidence", confidence_knobs(confidence)),
    ]
}

fn weight_knobs(weights: &mut Weights) -> Vec<Knob<'_>> {
    let Weights {
        semantic,
        keyword,
        namespace,
        rule,
    } = weights;
    vec![
        knob("semantic", WEIGHT, semantic),
        knob("keyword", WEIGHT, keyword),
        knob("namespace", WEIGHT, namespace),
        knob("rule", WEIGHT, rule),
    ]
}

fn word_knobs(words: &mut WordWeights) -> Vec<Knob<'_>> {
    let WordWeights {
        han_character,
        bigram,
        joined,
        joined_word,
        quoted,
        boilerplate,
        repeat_power,
    } = words;
    vec![
        knob("han_character", WEIGHT, han_character),
        knob("bigram", WEIGHT, bigram),
        knob("joined", WEIGHT, joined),
        knob("joined_word", WEIGHT, joined_word),
        knob("quoted", SHARE, quoted),
        knob("boilerplate", SHARE, boilerplate),
        knob("repeat_power", SHARE, repeat_power),
    ]
}

fn hearing_knobs(hearing: &mut Hearing) -> Vec<Knob<'_>> {
    let Hearing { floor, full } = hearing;
    vec![knob("floor", SHARE, floor), knob("full", POSITIVE, full)]
}

fn part_knobs(parts: &mut PartShares) -> Vec<Knob<'_>> {
    let PartShares {
        clean,
        semantic,
        keyword,
        cover,
        cover_from,
        cover_full,
    } = parts;
    vec![
        knob("clean", SHARE, clean),
        knob("semantic", SHARE, semantic),
        knob("keyword", SHARE, keyword),
        knob("cover", SHARE, cover),
        knob("cover_from", SHARE, cover_from),
        knob("cover_full", SHARE, cover_full),
    ]
}

fn namespace_knobs(shares: &mut NamespaceShares) -> Vec<Knob<'_>> {
    let NamespaceShares {
        members,
        mention,
        meaning,
        mention_scale,
    } = shares;
    vec![
        knob("members", WEIGHT, members),
        knob("mention", WEIGHT, mention),
        knob("meaning", WEIGHT, meaning),
        knob("mention_scale", POSITIVE, mention_scale),
    ]
}

fn avoid_knobs(avoid: &mut Avoid) -> Vec<Knob<'_>> {
    let Avoid {
        margin,
        slope,
        limit,
    } = avoid;
    vec![
        knob("margin", SHARE, margin),
        knob("slope", WEIGHT, slope),
        knob("limit", SHARE, limit),
    ]
}

fn confidence_knobs(model: &mut ConfidenceModel) -> Vec<Knob<'_>> {
    let ConfidenceModel {
        bias,
        weights,
        meaning_bias,
        meaning_weight,
    } = model;
    let mut knobs = vec![knob("bias", ANY, bias)];
    for (feature, place) in FEATURES.into_iter().zip(weights) {
        // Apart from the model over the meaning alone, whose keys begin likewise.
        knobs.push(knob(&format!("weight_{feature}"), ANY, place));
    }
    knobs.push(knob("meaning_bias", ANY, meaning_bias));
    knobs.push(knob("meaning_weight", ANY, meaning_weight));
    knobs
}

fn field_key(field: Field) -> &'static str {
    match field {
        Field::Name => "name",
        Field::Namespace => "namespace",
        Field::Description => "description",
        Field::Parameters => "parameters",
        Field::ParameterText => "parameter_text",
        Field::Values => "values",
        Field::Tags => "tags",
        Field::Usage => "usage",
        Field::Joined => "joined",
    }
}

/// Lays what `root` says of the constants over `config`. `search` is the section of that name, which
/// holds other keys too.
pub(super) fn read(
    root: &mut Section<'_>,
    search: &mut Section<'_>,
    config: &mut Config,
) -> Result<(), Error> {
    if let Some(candidates) = search.whole("candidates", CANDIDATES)? {
        config.candidates = candidates;
    }
    if let Some(candidates) = search.whole("part_candidates", CANDIDATES)? {
        config.part_candidates = candidates;
    }
    for (name, knobs) in sections(config) {
        if name == "search" {
            read_knobs(search, knobs)?;
        } else if let Some(mut section) = root.section(name)? {
            read_knobs(&mut section, knobs)?;
            section.end()?;
        }
    }
    let Weights {
        semantic,
        keyword,
        namespace,
        rule,
    } = config.weights;
    if semantic + keyword + namespace + rule <= 0.0 {
        return Err(root.fault("[weights] are all 0: some arm must count"));
    }
    Ok(())
}

fn read_knobs(section: &mut Section<'_>, knobs: Vec<Knob<'_>>) -> Result<(), Error> {
    for knob in knobs {
        if let Some(number) = section.number(&knob.key, knob.limits)? {
            *knob.place = number as f32;
        }
    }
    Ok(())
}

/// A config file that holds every constant.
pub fn to_toml(config: &Config) -> String {
    let mut config = config.clone();
    let (candidates, part_candidates) = (config.candidates, config.part_candidates);
    let mut text = String::new();
    for (name, knobs) in sections(&mut config) {
        let _ = writeln!(text, "[{name}]");
        if name == "search" {
            let _ = writeln!(text, "candidates = {candidates}");
            let _ = writeln!(text, "part_candidates = {part_candidates}");
        }
        for knob in knobs {
            // `{:?}` gives the shortest digits that read back as the same number, with a point.
            let _ = writeln!(text, "{} = {:?}", knob.key, knob.place);
        }
        text.push('\n');
    }
    text
}
