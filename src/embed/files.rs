//! The bytes of a model's files: read, unpacked in memory, verified against the manifest.
//!
//! Nothing is unpacked to disk. Unpacking 80 MB takes about as long as reading it would, spares
//! the space, and leaves no second copy that could go stale or be tampered with.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use sha2::{Digest, Sha256};

use super::Error;

/// What a file must be.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Expected {
    /// Lower-case hex SHA-256 of the file as it lies on disk.
    pub(super) sha256: Option<String>,
    /// Bytes once unpacked.
    pub(super) unpacked_bytes: Option<u64>,
    /// Lower-case hex SHA-256 once unpacked.
    pub(super) unpacked_sha256: Option<String>,
}

/// Nothing we run is larger; a file that claims to be would only exhaust memory.
const MOST_BYTES: u64 = 4 << 30;

/// The file's content, unpacked where its name ends in `.zst`.
///
/// The packed bytes are verified in a thread of their own while they are being unpacked.
///
/// # Errors
/// [`Error::File`] where the file is missing, unreadable, damaged or not what was expected.
pub(super) fn read(path: &Path, expected: &Expected) -> Result<Vec<u8>, Error> {
    let fault = |reason: String| Error::File {
        path: path.to_owned(),
        reason,
    };
    let bytes = load(path).map_err(&fault)?;
    if path.extension().is_none_or(|extension| extension != "zst") {
        verify(&bytes, expected.sha256.as_deref()).map_err(&fault)?;
        return Ok(bytes);
    }
    let (checked, unpacked) = std::thread::scope(|scope| {
        let check = scope.spawn(|| verify(&bytes, expected.sha256.as_deref()));
        let unpacked = unpack(&bytes, expected.unpacked_bytes);
        let checked = check
            .join()
            .unwrap_or_else(|_| Err("could not be verified".to_owned()));
        (checked, unpacked)
    });
    // Damage shows in both; the checksum is the better explanation.
    checked.map_err(&fault)?;
    let unpacked = unpacked.map_err(&fault)?;
    if expected.sha256.is_none() {
        verify(&unpacked, expected.unpacked_sha256.as_deref()).map_err(&fault)?;
    }
    Ok(unpacked)
}

fn load(path: &Path) -> Result<Vec<u8>, String> {
    let explain = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => "is missing".to_owned(),
        _ => format!("cannot be read: {error}"),
    };
    let file = File::open(path).map_err(explain)?;
    let bytes = file.metadata().map_err(explain)?.len();
    if bytes > MOST_BYTES {
        return Err(format!(
            "has {bytes} bytes, more than the {MOST_BYTES} that can be loaded"
        ));
    }
    let mut content = Vec::with_capacity(usize::try_from(bytes).unwrap_or_default());
    file.take(MOST_BYTES)
        .read_to_end(&mut content)
        .map_err(explain)?;
    Ok(content)
}

fn verify(bytes: &[u8], sha256: Option<&str>) -> Result<(), String> {
    let Some(expected) = sha256 else {
        return Ok(());
    };
    let found = hex(&Sha256::digest(bytes));
    if found == expected {
        return Ok(());
    }
    Err(format!(
        "has sha256 {found}, but its manifest says {expected}: it is damaged or was replaced; get \
         it again"
    ))
}

fn unpack(bytes: &[u8], expected: Option<u64>) -> Result<Vec<u8>, String> {
    let most = expected.unwrap_or(MOST_BYTES);
    let explain =
        |error: io::Error| format!("cannot be unpacked ({error}): it is cut short or damaged");
    let reader = zstd::stream::read::Decoder::with_buffer(bytes).map_err(explain)?;
    let room = usize::try_from(expected.unwrap_or_default().min(MOST_BYTES)).unwrap_or_default();
    let mut content = Vec::with_capacity(room);
    // One byte more than there should be is enough to know that there are too many.
    reader
        .take(most.saturating_add(1))
        .read_to_end(&mut content)
        .map_err(explain)?;
    let found = content.len() as u64;
    if found > most || expected.is_some_and(|expected| found != expected) {
        return Err(format!(
            "does not unpack to the {most} bytes its manifest says"
        ));
    }
    Ok(content)
}

/// SHA-256 of a file of any size, in lower-case hex.
pub(super) fn hash_file(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let mut hasher = Sha256::new();
    let mut block = vec![0; 1 << 20];
    loop {
        match file.read(&mut block)? {
            0 => return Ok(hex(&hasher.finalize())),
            bytes => hasher.update(&block[..bytes]),
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    const TEXT: &[u8] = b"content that is long enough to be packed packed packed packed";

    fn file(name: &str, bytes: &[u8]) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        (folder, path)
    }

    fn packed() -> Vec<u8> {
        zstd::encode_all(TEXT, 3).unwrap()
    }

    fn fault(path: &Path, expected: &Expected) -> String {
        read(path, expected).unwrap_err().to_string()
    }

    #[test]
    fn plain_and_packed_files_are_read_and_verified() {
        let (_folder, path) = file("a.onnx", TEXT);
        let sha256 = Some(hash_file(&path).unwrap());
        let expected = Expected {
            sha256,
            ..Expected::default()
        };
        assert_eq!(read(&path, &expected).unwrap(), TEXT);

        let (_folder, path) = file("a.onnx.zst", &packed());
        let expected = Expected {
            sha256: Some(hash_file(&path).unwrap()),
            unpacked_bytes: Some(TEXT.len() as u64),
            unpacked_sha256: None,
        };
        assert_eq!(read(&path, &expected).unwrap(), TEXT);
    }

    #[test]
    fn a_missing_file_is_named() {
        let text = fault(Path::new("/nowhere/model.onnx"), &Expected::default());
        assert_eq!(text, "model file /nowhere/model.onnx: is missing");
    }

    #[test]
    fn a_wrong_checksum_is_told_with_both() {
        let (_folder, path) = file("a.onnx.zst", &packed());
        let expected = Expected {
            sha256: Some("00".repeat(32)),
            ..Expected::default()
        };
        let text = fault(&path, &expected);
        assert!(
            text.contains("has sha256") && text.contains("manifest says 0000"),
            "{text}"
        );
    }

    #[test]
    fn a_file_cut_short_or_of_another_size_is_refused() {
        let whole = packed();
        let (_folder, path) = file("a.onnx.zst", &whole[..whole.len() - 5]);
        let text = fault(&path, &Expected::default());
        assert!(text.contains("cut short or damaged"), "{text}");

        let (_folder, path) = file("a.onnx.zst", &whole);
        for bytes in [10, 10_000] {
            let expected = Expected {
                unpacked_bytes: Some(bytes),
                ..Expected::default()
            };
            let text = fault(&path, &expected);
            assert!(
                text.contains(&format!("does not unpack to the {bytes} bytes")),
                "{text}"
            );
        }
    }
}
