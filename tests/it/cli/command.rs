//! Running the program, and files for it.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use serde_json::Value;
use tempfile::TempDir;

/// What a command did.
pub(super) struct Run {
    pub(super) code: i32,
    pub(super) out: String,
    pub(super) err: String,
}

impl Run {
    pub(super) fn of(mut command: Command) -> Self {
        let output = command.output().unwrap();
        Self {
            code: output.status.code().expect("ended by a signal"),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    pub(super) fn json(&self) -> Value {
        let said = format!("code {}\n{}\n{}", self.code, self.out, self.err);
        serde_json::from_str(&self.out).expect(&said)
    }
}

/// The program with nothing of ours in its environment.
pub(super) fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolscout"));
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy().into_owned();
        let ours = name.starts_with("TOOLSCOUT_") && name != "TOOLSCOUT_CACHE";
        if ours || ["RUST_LOG", "COLUMNS", "NO_COLOR", "RUST_BACKTRACE"].contains(&name.as_str()) {
            command.env_remove(name);
        }
    }
    command.stdin(Stdio::null());
    command
}

pub(super) fn toolscout(args: &[&str]) -> Run {
    let mut command = program();
    command.args(args);
    Run::of(command)
}

/// A path in the demo data.
pub(super) fn demo(name: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    root.join("data/demo").join(name).display().to_string()
}

/// An index of the demo catalogue, by the model that only spells.
pub(super) fn demo_index() -> String {
    static INDEX: OnceLock<TempDir> = OnceLock::new();
    let folder = INDEX.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().display().to_string();
        let run = toolscout(&[
            "index",
            "--catalog",
            &demo(""),
            "--out",
            &out,
            "--model",
            "hashed",
        ]);
        assert_eq!(run.code, 0, "{}", run.err);
        folder
    });
    folder.path().display().to_string()
}

/// A folder of files that goes with the test.
pub(super) struct Sandbox(TempDir);

impl Sandbox {
    pub(super) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(super) fn path(&self, name: &str) -> String {
        self.0.path().join(name).display().to_string()
    }

    pub(super) fn file(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        let path: PathBuf = self.0.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path.display().to_string()
    }
}

/// A file with one key, "secret", which stands for the role of support.
pub(super) fn support_keys(sandbox: &Sandbox) -> String {
    let hash = toolscout::serve::auth::hash_of_key("secret");
    sandbox.file(
        "keys.toml",
        format!("[[key]]\nname = \"agent\"\nsha256 = \"{hash}\"\ntenant = \"t\"\nroles = [\"support\"]\n"),
    )
}
