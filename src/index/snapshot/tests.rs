//! What is loaded is what was saved; and whatever else lies in the file is an error that says so.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use proptest::prelude::*;
use tempfile::TempDir;

use super::*;
use crate::catalog::fixture;
use crate::embed::hashed::Hashed;
use crate::index::build::build;
use crate::index::dense::DensePath;
use crate::index::fixture::permitted;
use crate::index::lexical::{Bm25f, QueryTerm};
use crate::tool::{Exposure, Json, Kind, Namespace, Parameter, Risk, SideEffect, Tool};

fn tool(at: usize) -> Tool {
    let mut tool = fixture::tool(["", "mail", "订单"][at % 3], &format!("tool_{at}"));
    tool.description = ["Sends a letter.", "查询快递物流"][at % 2].into();
    tool.use_when = vec![format!("when {at}")];
    tool.avoid_when = vec!["never".into()];
    tool.examples = vec!["东西啥时候到".into()];
    tool.output_schema = at.is_multiple_of(2).then(|| Json(Arc::from("{}")));
    tool.inputs = vec![Parameter {
        path: "order.id".into(),
        description: "number".into(),
        values: vec!["a".into(), "b".into()],
        required: at.is_multiple_of(2),
    }];
    tool.outputs = tool.inputs.clone();
    let effects = [
        SideEffect::Unknown,
        SideEffect::None,
        SideEffect::Read,
        SideEffect::Write,
        SideEffect::Destructive,
    ];
    tool.side_effect = effects[at % 5];
    let kinds = [
        Kind::Search,
        Kind::Read,
        Kind::Parse,
        Kind::Query,
        Kind::Act,
    ];
    tool.kind = (at % 6 != 5).then(|| kinds[at % 6]);
    tool.risk = [Risk::Low, Risk::Medium, Risk::High][at % 3];
    let exposures = [
        Exposure::Deferred,
        Exposure::Direct,
        Exposure::CodeMode,
        Exposure::Hidden,
        Exposure::DeclarationOnly,
    ];
    tool.exposure = exposures[at % 5];
    tool.tags = vec!["tag".into()];
    tool.aliases = vec!["别名".into()];
    tool.phases = vec!["locate".into()];
    tool.required_scopes = vec!["mail:send".into()];
    tool.tenants = vec![["acme", "t"][at % 2].into()];
    tool.owner = at.is_multiple_of(2).then(|| "team".into());
    tool
}

fn index(tools: usize) -> Index {
    let namespace = Namespace {
        name: "mail".into(),
        description: "Letters".into(),
        tags: vec!["post".into()],
    };
    let catalog = Catalog::new((0..tools).map(tool).collect(), vec![namespace]);
    build(Arc::new(catalog), &Hashed::new(24), &|_| ()).unwrap()
}

fn saved(tools: usize) -> (TempDir, Vec<u8>) {
    let dir = TempDir::new().unwrap();
    save(&index(tools), dir.path()).unwrap();
    let bytes = fs::read(dir.path().join(FILE_NAME)).unwrap();
    (dir, bytes)
}

/// What loading says of a directory whose snapshot holds `bytes`.
fn load_bytes(dir: &Path, bytes: &[u8]) -> Result<Index, Error> {
    fs::write(dir.join(FILE_NAME), bytes).unwrap();
    load(dir, None)
}

/// The sections of a file: name and bytes.
fn sections(bytes: &[u8]) -> Vec<(String, Vec<u8>)> {
    let count = usize::from(u16::from_le_bytes([bytes[10], bytes[11]]));
    let number = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()) as usize;
    (0..count)
        .map(|section| {
            let entry = 24 + 64 * section;
            let name = String::from_utf8(bytes[entry..entry + 16].to_vec()).unwrap();
            let (offset, length) = (number(entry + 16), number(entry + 24));
            let body = bytes[offset..offset + length].to_vec();
            (name.trim_end_matches('\0').to_owned(), body)
        })
        .collect()
}

/// A file whose checksums hold, whatever is in it.
fn forge(dir: &Path, sections: &[(String, Vec<u8>)]) {
    let sections: Vec<Section<'_>> = sections
        .iter()
        .map(|(name, bytes)| Section {
            name: Box::leak(name.clone().into_boxed_str()),
            bytes,
        })
        .collect();
    let file = File::create(dir.join(FILE_NAME)).unwrap();
    container::write(&file, FORMAT_VERSION, &sections).unwrap();
}

#[test]
fn what_is_loaded_is_what_was_saved() {
    for tools in [0, 1, 31] {
        let dir = TempDir::new().unwrap();
        let index = index(tools);
        save(&index, &dir.path().join("deep/er")).unwrap();
        // Saving again replaces, and nothing is left beside it.
        save(&index, &dir.path().join("deep/er")).unwrap();
        assert_eq!(fs::read_dir(dir.path().join("deep/er")).unwrap().count(), 1);

        let model = Hashed::new(24);
        let loaded = load(
            &dir.path().join("deep/er"),
            Some(crate::embed::Embedder::model_id(&model)),
        );
        let loaded = loaded.unwrap();
        assert_eq!(loaded.catalog.tools(), index.catalog.tools());
        assert_eq!(loaded.catalog.namespaces(), index.catalog.namespaces());
        assert_eq!(loaded.lexical, index.lexical);
        assert_eq!(loaded.dense.vectors(), index.dense.vectors());
        assert_eq!(loaded.dense.owners(), index.dense.owners());
        assert_eq!(loaded.dense.passages(), index.dense.passages());
        assert_eq!(loaded.namespaces, index.namespaces);
        assert_eq!(loaded.namespace_rows, index.namespace_rows);
        assert_eq!(loaded.model_id, index.model_id);
        assert_eq!(loaded.calibration, index.calibration);
        assert_eq!(loaded.definition_hashes, index.definition_hashes);
        assert_eq!(loaded.unembedded, index.unembedded);
    }
}

#[test]
fn damaged_snapshots_are_refused() {
    let (dir, bytes) = saved(7);
    assert!(load_bytes(dir.path(), &bytes).is_ok());

    // Cut off: at every byte of the head, around the end of every section, and elsewhere.
    for length in (0..1200)
        .chain((1200..bytes.len()).step_by(31))
        .chain([bytes.len() - 1])
    {
        let fault = load_bytes(dir.path(), &bytes[..length]).unwrap_err();
        assert!(
            matches!(fault, Error::Truncated { .. }),
            "{length}: {fault}"
        );
    }
    let longer = [&bytes[..], b"x"].concat();
    let fault = load_bytes(dir.path(), &longer).unwrap_err();
    assert!(matches!(fault, Error::Damaged { .. }), "{fault}");

    // A bit of any byte.
    for at in (0..1200).chain((1200..bytes.len()).step_by(13)) {
        let mut flipped = bytes.clone();
        flipped[at] ^= 1 << (at % 8);
        let fault = load_bytes(dir.path(), &flipped).unwrap_err();
        let expected = match at {
            0..8 => matches!(fault, Error::Foreign { .. }),
            8..10 => matches!(fault, Error::Version { .. }),
            10..12 => matches!(fault, Error::Damaged { .. } | Error::Truncated { .. }),
            _ => matches!(fault, Error::Damaged { .. }),
        };
        assert!(expected, "{at}: {fault}");
    }
}

#[test]
fn what_is_no_snapshot_is_told_apart() {
    let (dir, bytes) = saved(3);
    let say = |bytes: &[u8]| load_bytes(dir.path(), bytes).unwrap_err();
    assert!(matches!(say(b""), Error::Truncated { found: 0, .. }));
    assert!(matches!(
        say(b"PK\x03\x04 some archive, long enough to be a head"),
        Error::Foreign { .. }
    ));
    assert!(matches!(say(b"{}"), Error::Foreign { .. }));
    assert!(matches!(say(&[0; 4096]), Error::Foreign { .. }));
    let mut newer = bytes.clone();
    newer[8..10].copy_from_slice(&(FORMAT_VERSION + 1).to_le_bytes());
    let fault = say(&newer);
    assert!(
        matches!(
            fault,
            Error::Version {
                supported: FORMAT_VERSION,
                ..
            }
        ),
        "{fault}"
    );

    fs::write(dir.path().join(FILE_NAME), &bytes).unwrap();
    let fault = load(dir.path(), Some("another model")).unwrap_err();
    assert!(matches!(fault, Error::Model { .. }));
    assert!(fault.to_string().contains("toolscout index"), "{fault}");

    let missing = load(&dir.path().join("nowhere"), None).unwrap_err();
    assert!(matches!(missing, Error::Missing { .. }));
    let in_a_file = load(&dir.path().join(FILE_NAME), None).unwrap_err();
    assert!(matches!(in_a_file, Error::Missing { .. }));
    fs::remove_file(dir.path().join(FILE_NAME)).unwrap();
    fs::create_dir(dir.path().join(FILE_NAME)).unwrap();
    assert!(matches!(load(dir.path(), None), Err(Error::Io { .. })));
    assert!(matches!(save(&index(1), dir.path()), Err(Error::Io { .. })));
    assert_eq!(
        fs::read_dir(dir.path()).unwrap().count(),
        1,
        "nothing is left beside it"
    );
}

#[test]
#[expect(clippy::too_many_lines, reason = "one table of forgeries")]
fn forged_snapshots_are_refused() {
    let (dir, bytes) = saved(5);
    let original = sections(&bytes);
    let check = |name: &str, change: &dyn Fn(&mut Vec<u8>)| {
        let mut forged = original.clone();
        let section = forged.iter_mut().find(|section| section.0 == name).unwrap();
        change(&mut section.1);
        forge(dir.path(), &forged);
        let fault = load(dir.path(), None).unwrap_err();
        let expected = matches!(fault, Error::Inconsistent { .. } | Error::Analyzer { .. });
        assert!(expected, "{name}: {fault}");
    };
    forge(dir.path(), &original);
    assert!(load(dir.path(), None).is_ok());

    let head = |change: &dyn Fn(&mut Head)| {
        check("head", &|bytes| {
            let mut head = record::decode_head(bytes).unwrap();
            change(&mut head);
            *bytes = record::encode_head(&head).unwrap();
        });
    };
    head(&|head| head.analyzer += 1);
    head(&|head| head.dim = 0);
    head(&|head| head.dim = u32::MAX);
    head(&|head| head.dim = 23);
    head(&|head| head.tools = u32::MAX);
    head(&|head| head.tools -= 1);
    head(&|head| head.namespaces = u32::MAX);
    head(&|head| head.calibration = (f32::NAN, 1.0));
    head(&|head| head.calibration = (1.0, 1.0));

    // A string of 2^64 - 1 bytes, and a list of as many strings.
    check("catalog", &|bytes| {
        bytes.splice(0..0, [253; 9]).for_each(drop)
    });
    check("catalog", &|bytes| {
        *bytes = [[0; 4].as_slice(), &[253; 9]].concat()
    });
    check("catalog", &|bytes| bytes.push(0));
    check("catalog", &Vec::clear);
    check("terms", &|bytes| bytes[0] = 0xff);
    check("terms", &|bytes| bytes[0] = b'z');
    check("term ends", &|bytes| bytes[0..4].fill(0xff));
    check("term ends", &|bytes| bytes.truncate(bytes.len() - 4));
    check("entry ends", &|bytes| bytes[0..8].fill(0xff));
    check("entry ends", &|bytes| bytes.truncate(bytes.len() - 3));
    check("entry tools", &|bytes| bytes[0..4].fill(0xff));
    check("entry tools", &|bytes| bytes.truncate(4));
    check("entry counts", &|bytes| bytes[1] = 0xff);
    check("lengths", &Vec::clear);
    check("definitions", &Vec::clear);
    check("vectors", &|bytes| {
        bytes[0..4].copy_from_slice(&f32::NAN.to_le_bytes())
    });
    check("vectors", &|bytes| {
        bytes[0..4].copy_from_slice(&9f32.to_le_bytes())
    });
    check("owners", &|bytes| bytes[0..4].fill(0xff));
    check("owners", &Vec::clear);
    check("passages", &|bytes| bytes[0] = 9);
    check("namespaces", &Vec::clear);
    check("namespace rows", &|bytes| {
        bytes[0..4].copy_from_slice(&77u32.to_le_bytes())
    });
    check("namespace rows", &Vec::clear);
    check("unembedded", &|bytes| bytes.extend([0xff; 4]));

    let mut swapped = original.clone();
    swapped.swap(3, 4);
    forge(dir.path(), &swapped);
    assert!(matches!(
        load(dir.path(), None),
        Err(Error::Inconsistent { .. })
    ));
    forge(dir.path(), &original[..9]);
    assert!(matches!(
        load(dir.path(), None),
        Err(Error::Inconsistent { .. })
    ));
}

#[test]
fn lengths_beyond_the_file_are_refused_before_memory_is_taken() {
    let (dir, bytes) = saved(3);
    let head = 24 + 64 * usize::from(u16::from_le_bytes([bytes[10], bytes[11]]));
    for (at, value) in [
        (16, u64::MAX),
        (24 + 24, u64::MAX),
        (24 + 24, 1 << 60),
        (24 + 16, u64::MAX - 63),
    ] {
        let mut forged = bytes.clone();
        forged[at..at + 8].copy_from_slice(&value.to_le_bytes());
        let sum = *blake3::hash(&forged[..head]).as_bytes();
        forged[head..head + 32].copy_from_slice(&sum);
        let fault = load_bytes(dir.path(), &forged).unwrap_err();
        let expected = matches!(fault, Error::Damaged { .. } | Error::Truncated { .. });
        assert!(expected, "{at}: {fault}");
    }
}

/// Uses all that an index has.
fn exercise(index: &Index) {
    let all = permitted(index.catalog.len(), |_| true);
    let query = vec![0.5; index.dense.dim()];
    index
        .dense
        .nearest(&[&query], &all, 3, DensePath::Exact)
        .unwrap();
    let config = Bm25f {
        k1: 1.2,
        b: [0.7; FIELDS],
        weight: [1.0; FIELDS],
    };
    let term = QueryTerm {
        text: "letter".into(),
        weight: 1.0,
    };
    let statistics = index.lexical.statistics(&all);
    index.lexical.score(&[term], &statistics, &all, &config);
    for at in 0..index.catalog.namespaces().len() {
        index.namespace_vector(crate::tool::NamespaceId(at as u32));
    }
    index.etag(&all);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Whatever a section holds behind a good checksum, loading ends in an error or in an index
    /// that can be used.
    #[test]
    fn forged_bytes_never_panic(seed: u64, changes in 1usize..4) {
        thread_local! {
            static SAVED: (TempDir, Vec<u8>) = saved(4);
        }
        SAVED.with(|(dir, bytes)| {
            let mut noise = crate::index::fixture::Noise(seed);
            let mut forged = sections(bytes);
            for _ in 0..changes {
                let section = noise.below(forged.len());
                let body = &mut forged[section].1;
                if !body.is_empty() {
                    let at = noise.below(body.len());
                    body[at] = noise.number() as u8;
                }
            }
            forge(dir.path(), &forged);
            if let Ok(index) = load(dir.path(), None) {
                exercise(&index);
            }
        });
    }
}
