use super::*;
use serde_json::{Value, json};

enum Data {
    F32(Vec<f32>),
    I8(Vec<i8>),
}

/// A file with these tensors.
fn file(dimension: usize, tensors: &[(&str, &[usize], Data)]) -> Vec<u8> {
    let mut body = Vec::new();
    let mut entries = Vec::new();
    for (name, shape, data) in tensors {
        let offset = body.len();
        let kind = match data {
            Data::F32(numbers) => {
                body.extend(numbers.iter().flat_map(|x| x.to_le_bytes()));
                "f32"
            }
            Data::I8(numbers) => {
                body.extend(numbers.iter().map(|x| x.cast_unsigned()));
                "i8"
            }
        };
        body.resize(body.len().next_multiple_of(ALIGNMENT), 0);
        entries.push(json!({"name": name, "type": kind, "shape": shape, "offset": offset}));
    }
    let header =
        json!({"format": FORMAT, "version": 1, "dimension": dimension, "tensors": entries});
    with_header(&header, &body)
}

fn with_header(header: &Value, body: &[u8]) -> Vec<u8> {
    let mut line = header.to_string().into_bytes();
    line.resize((line.len() + 1).next_multiple_of(ALIGNMENT) - 1, b' ');
    line.push(b'\n');
    [line, body.to_vec()].concat()
}

fn assert_close(found: &[f32], expected: &[f32]) {
    let close = found
        .iter()
        .zip(expected)
        .all(|(x, y)| (x - y).abs() < 1e-6);
    assert!(
        found.len() == expected.len() && close,
        "{found:?} is not {expected:?}"
    );
}

fn fault_of(bytes: &[u8]) -> String {
    Heads::parse(bytes, 2).unwrap_err().to_string()
}

#[test]
fn centred_by_side_and_script_then_moved_by_the_head() {
    let bytes = file(
        2,
        &[
            ("mean.query.han", &[2], Data::F32(vec![0.2, 0.0])),
            ("head.query", &[2, 2], Data::F32(vec![0.0, 1.0, 0.0, 0.0])),
        ],
    );
    let heads = Heads::parse(&bytes, 2).unwrap();
    let half = std::f32::consts::FRAC_1_SQRT_2;
    // (1, 0) - (.2, 0) is (1, 0) again at unit length; times A it gives (0, 1).
    assert_close(
        &heads.apply(Side::Query, Script::Han, vec![1.0, 0.0]),
        &[half, half],
    );
    // Without a mean for its script only the head applies.
    assert_close(
        &heads.apply(Side::Query, Script::Other, vec![1.0, 0.0]),
        &[half, half],
    );
    let centred = unit(vec![-0.2, 1.0]);
    let moved = unit(vec![centred[0], centred[1] + centred[0]]);
    assert_close(
        &heads.apply(Side::Query, Script::Han, vec![0.0, 1.0]),
        &moved,
    );
    assert_close(
        &heads.apply(Side::Document, Script::Han, vec![1.0, 0.0]),
        &[1.0, 0.0],
    );
}

#[test]
fn bytes_are_scaled_by_row_and_a_product_of_two_is_a_head() {
    let whole = file(
        2,
        &[(
            "head.document",
            &[2, 2],
            Data::F32(vec![2.0, 4.0, 9.0, 18.0]),
        )],
    );
    let packed = file(
        2,
        &[
            ("head.document", &[2, 2], Data::I8(vec![2, 4, 3, 6])),
            ("head.document.scale", &[2], Data::F32(vec![1.0, 3.0])),
        ],
    );
    let narrow = file(
        2,
        &[
            ("head.document.down", &[2, 1], Data::F32(vec![2.0, 9.0])),
            ("head.document.up", &[1, 2], Data::F32(vec![1.0, 2.0])),
        ],
    );
    let vector = vec![0.6, 0.8];
    let moved = |bytes: &[u8]| {
        let heads = Heads::parse(bytes, 2).unwrap();
        heads.apply(Side::Document, Script::Other, vector.clone())
    };
    assert_close(&moved(&packed), &moved(&whole));
    assert_close(&moved(&narrow), &moved(&whole));
}

#[test]
fn faults_name_the_tensor_or_what_the_file_is() {
    let one = |name: &'static str, shape: &'static [usize], data: Data| {
        fault_of(&file(2, &[(name, shape, data)]))
    };
    let mean = |numbers: Vec<f32>| Data::F32(numbers);
    let cases = [
        (fault_of(b"\x00\x01 no header"), "no header line"),
        (fault_of(b"{}\n"), "missing field"),
        (
            fault_of(&file(3, &[])),
            "is for vectors of 3 numbers, but the model's have 2",
        ),
        (
            one("mean.query.latin", &[2], mean(vec![0.0; 2])),
            "'mean.query.latin' has no meaning",
        ),
        (
            one("mean.query.han", &[3], mean(vec![0.0; 3])),
            "'mean.query.han' has shape [3]",
        ),
        (
            one("mean.query.han", &[2], mean(vec![0.0, f32::NAN])),
            "is not finite",
        ),
        (
            one("mean.query.han", &[2], mean(Vec::new())),
            "reaches beyond the end",
        ),
        (
            one("head.query", &[2, 2], Data::I8(vec![1; 4])),
            "'head.query.scale' is missing",
        ),
        (
            one("head.query.up", &[1, 2], mean(vec![0.0; 2])),
            "is there in part, or twice",
        ),
    ];
    for (found, expected) in cases {
        assert!(found.contains(expected), "{expected} is not in {found}");
    }
}

#[test]
fn other_formats_and_versions_are_refused() {
    let header = |format: &str, version: u32| json!({"format": format, "version": version, "dimension": 2, "tensors": []});
    assert_eq!(
        Heads::parse(&with_header(&header(FORMAT, 2), &[]), 2).unwrap_err(),
        HeadsError::Version(2)
    );
    assert!(
        fault_of(&with_header(&header("safetensors", 1), &[]))
            .contains("its format is 'safetensors'")
    );
    let huge = json!({"format": FORMAT, "version": 1, "dimension": 2, "tensors": [
        {"name": "head.query.down", "type": "f32", "shape": [2, u64::MAX], "offset": 0}]});
    assert!(fault_of(&with_header(&huge, &[])).contains("reaches beyond the end"));
}
