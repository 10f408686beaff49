//! The shipped model, for real: vectors, batches, callers at once, and what is said when files are
//! wrong. ONNX Runtime is found or fetched as the program does it.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use toolscout::embed::{self, DEFAULT_MODEL, Embedder, Error, Options, Side, Vectors};

/// The smaller half of the default model, and a model of its own.
const FAST: &str = "use-multilingual-v3";
/// The other half.
const SLOW: &str = "multilingual-e5-small";

static MODEL: LazyLock<Box<dyn Embedder>> =
    LazyLock::new(|| embed::open(FAST, &options(), &|_| ()).unwrap());

fn options() -> Options {
    Options {
        models: Some(models()),
        threads: 2,
        ..Options::default()
    }
}

fn models() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("models")
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

fn best(query: &str, documents: &[&str]) -> usize {
    let query = MODEL.embed(Side::Query, &texts(&[query])).unwrap();
    let documents = MODEL.embed(Side::Document, &texts(documents)).unwrap();
    let scores = documents.rows().map(|row| dot(row, query.row(0)));
    let best = scores.enumerate().max_by(|a, b| a.1.total_cmp(&b.1));
    best.unwrap().0
}

fn assert_same(a: &Vectors, b: &Vectors) {
    assert_eq!((a.dim(), a.len()), (b.dim(), b.len()));
    let apart = a
        .as_slice()
        .iter()
        .zip(b.as_slice())
        .map(|(x, y)| (x - y).abs());
    let worst = apart.fold(0.0, f32::max);
    assert!(worst < 1e-5, "vectors differ by {worst}");
}

#[test]
fn a_request_in_other_words_and_another_language_finds_its_tool() {
    let documents = [
        "Namespace: logistics. Name: get_shipping_eta. Description: Estimated time of arrival of a shipment.",
        "Namespace: crm. Name: create_lead. Description: Create a new sales lead.",
        "Namespace: payments. Name: refund_payment. Description: Refund a card payment.",
        "Namespace: weather. Name: get_forecast. Description: Weather forecast for a city.",
    ];
    assert_eq!(best("东西啥时候到", &documents), 0);
    assert_eq!(best("where is my parcel", &documents), 0);
    assert_eq!(best("明天会下雨吗", &documents), 3);
}

#[test]
fn vectors_are_the_reference_implementations() {
    let checked = embed::check(FAST, &options(), &|_| ()).unwrap();
    assert_eq!(checked.dimension, MODEL.dim());
    assert_eq!(checked.model_id, MODEL.model_id());
    assert!(
        checked.files >= 2 && checked.references >= 10,
        "{checked:?}"
    );
    assert!(checked.worst_cosine > 0.9999, "{checked:?}");
}

#[test]
fn a_text_has_one_vector_whatever_the_company() {
    let mut all: Vec<String> = (0..100)
        .map(|number| {
            format!(
                "tool {number}: {}",
                "does one thing well. ".repeat(number % 9)
            )
        })
        .collect();
    all.extend(texts(&[
        "",
        " ",
        "\0",
        "🙂",
        "东西啥时候到",
        "\u{200b}",
        "où est mon colis ?",
    ]));
    let together = MODEL.embed(Side::Document, &all).unwrap();
    for row in together.rows() {
        assert!((dot(row, row) - 1.0).abs() < 1e-4);
    }
    for (at, text) in all.iter().enumerate().step_by(7).chain([(100, &all[100])]) {
        let alone = MODEL
            .embed(Side::Document, std::slice::from_ref(text))
            .unwrap();
        let row = Vectors::new(together.dim(), together.row(at).to_vec()).unwrap();
        assert_same(&alone, &row);
    }
    assert!(MODEL.embed(Side::Query, &[]).unwrap().is_empty());
}

#[test]
fn megabytes_of_text_are_cut_and_soon_done() {
    let long = texts(&[&"word ".repeat(1_000_000), &"字".repeat(1_000_000)]);
    let started = std::time::Instant::now();
    assert_eq!(MODEL.embed(Side::Query, &long).unwrap().len(), 2);
    assert!(started.elapsed().as_secs() < 20);
}

#[test]
fn eight_callers_at_once_get_what_each_would_get_alone() {
    let queries: Vec<String> = (0..8)
        .map(|caller| format!("request of caller {caller}"))
        .collect();
    let alone = MODEL.embed(Side::Query, &queries).unwrap();
    std::thread::scope(|scope| {
        for (caller, query) in queries.iter().enumerate() {
            let alone = Vectors::from_unit(alone.dim(), alone.row(caller).to_vec()).unwrap();
            scope.spawn(move || {
                for _ in 0..20 {
                    let own = MODEL
                        .embed(Side::Query, std::slice::from_ref(query))
                        .unwrap();
                    assert_eq!(own, alone, "not the same to the bit");
                }
            });
        }
    });
}

/// A copy of the shipped model's folder, changed.
fn changed(change: impl FnOnce(&Path)) -> String {
    let copy = tempfile::tempdir().unwrap();
    let folder = copy.path().join("models").join(FAST);
    fs::create_dir_all(&folder).unwrap();
    for entry in fs::read_dir(models().join(FAST)).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, folder.join(path.file_name().unwrap())).unwrap();
    }
    change(&folder);
    let options = Options {
        models: Some(copy.path().join("models")),
        ..options()
    };
    let error = embed::open(FAST, &options, &|_| ())
        .err()
        .expect("the copy is bad");
    error.to_string()
}

fn edit(path: &Path, from: &str, to: &str) {
    let text = fs::read_to_string(path).unwrap();
    assert!(text.contains(from));
    fs::write(path, text.replacen(from, to, 1)).unwrap();
}

fn cut_short(path: &Path) {
    let bytes = fs::read(path).unwrap();
    fs::write(path, &bytes[..bytes.len() / 2]).unwrap();
}

#[test]
fn a_damaged_model_is_told_from_a_whole_one() {
    let text = changed(|folder| cut_short(&folder.join("model.onnx.zst")));
    assert!(text.contains("model.onnx.zst: has sha256"), "{text}");
    assert!(text.contains("damaged or was replaced"), "{text}");
    let text = changed(|folder| fs::remove_file(folder.join("tokenizer.json.zst")).unwrap());
    assert!(text.contains("tokenizer.json.zst: is missing"), "{text}");
}

#[test]
fn a_manifest_that_does_not_fit_the_model_is_told() {
    let manifest = |folder: &Path| folder.join("manifest.toml");
    let text = changed(|folder| edit(&manifest(folder), "dimension = 512", "dimension = 384"));
    let expected = "heads.bin: is for vectors of 512 numbers, but the model's have 384";
    assert!(text.contains(expected), "{text}");
    let text = changed(|folder| edit(&manifest(folder), "schema = 1", "schema = 9"));
    assert!(text.contains("manifest.toml: schema is 9"), "{text}");
}

#[test]
fn folders_that_hold_no_model_are_told_what_they_lack() {
    let open = |folder: &Path| {
        let name = folder.display().to_string();
        embed::open(&name, &options(), &|_| ())
            .err()
            .expect("there is no model")
    };
    let folder = tempfile::tempdir().unwrap();
    let text = open(folder.path()).to_string();
    assert!(
        text.contains("model.onnx: is missing: a model's folder holds"),
        "{text}"
    );
    fs::write(folder.path().join("model.onnx"), "garbage").unwrap();
    fs::write(folder.path().join("tokenizer.json"), "{}").unwrap();
    let text = open(folder.path()).to_string();
    assert!(text.contains("failed: it cannot be loaded: "), "{text}");
    let cut = zstd::encode_all(&b"graph"[..], 1).unwrap();
    fs::remove_file(folder.path().join("model.onnx")).unwrap();
    fs::write(folder.path().join("model.onnx.zst"), &cut[..cut.len() - 2]).unwrap();
    let text = open(folder.path()).to_string();
    assert!(
        text.contains("model.onnx.zst: cannot be unpacked"),
        "{text}"
    );
}

#[test]
fn an_unknown_name_is_answered_with_the_known_ones() {
    let error = embed::open("bert", &options(), &|_| ()).err().unwrap();
    assert!(matches!(error, Error::UnknownModel { .. }));
    let text = error.to_string();
    assert!(
        text.starts_with("no model named 'bert'; known are: "),
        "{text}"
    );
    assert!(text.contains(DEFAULT_MODEL), "{text}");
    let error = embed::open("hf:../etc", &options(), &|_| ()).err().unwrap();
    assert!(error.to_string().contains("hf:ORG/NAME"), "{error}");
}

#[test]
fn models_are_listed_with_whether_their_files_are_there() {
    let listed = embed::list(&options()).unwrap();
    let default = listed
        .iter()
        .find(|model| model.name == DEFAULT_MODEL)
        .unwrap();
    assert!(default.present && default.build.is_none() && default.bytes > 1_000_000);
    let names: Vec<&str> = listed.iter().map(|model| model.name.as_str()).collect();
    assert!(names.is_sorted(), "{names:?}");
}

#[test]
fn the_default_model_is_both_of_its_members() {
    let asked = texts(&["东西啥时候到", "cancel the order I placed yesterday"]);
    let open = |name: &str| embed::open(name, &options(), &|_| ()).unwrap();
    let members = [FAST, SLOW].map(|name| open(name).embed(Side::Query, &asked).unwrap());
    let joined = open(DEFAULT_MODEL).embed(Side::Query, &asked).unwrap();
    let mean = |a: usize, b: usize| {
        // The shares of the manifest.
        let shares = [0.4, 0.6].into_iter();
        let cosines = members
            .iter()
            .map(|member| dot(member.row(a), member.row(b)));
        cosines.zip(shares).map(|(x, share)| share * x).sum::<f32>()
    };
    assert!((dot(joined.row(0), joined.row(1)) - mean(0, 1)).abs() < 1e-5);
    assert!((dot(joined.row(0), joined.row(0)) - 1.0).abs() < 1e-5);
}
