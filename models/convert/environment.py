"""The Python environment of the conversion: made once, from hash-pinned wheels, and kept.

The only module besides `convert.py` that runs under the caller's own Python, so it uses the
standard library alone.
"""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

REQUIREMENTS = Path(__file__).with_name("requirements.txt")
OLDEST_PYTHON = (3, 11)


def default_cache():
    """Where wheels and the environment are kept unless the caller says otherwise."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "toolscout" / "convert"


def python(cache):
    """The interpreter of an environment that holds exactly `requirements.txt`."""
    if sys.version_info < OLDEST_PYTHON:
        wanted = ".".join(map(str, OLDEST_PYTHON))
        raise SystemExit(f"Python {wanted} or newer is needed; this is {sys.version.split()[0]}")
    fingerprint = hashlib.sha256(REQUIREMENTS.read_bytes() + sys.version.encode()).hexdigest()[:12]
    folder = cache / f"python-{fingerprint}"
    interpreter = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    finished = folder / "finished"
    if not finished.exists():
        _create(folder, interpreter)
        finished.touch()
    return interpreter


def _create(folder, interpreter):
    print("setting up a Python environment (once)", flush=True)
    shutil.rmtree(folder, ignore_errors=True)
    made = subprocess.run([sys.executable, "-m", "venv", str(folder)])
    if made.returncode != 0:
        raise SystemExit(
            "python3 -m venv failed. On Debian and Ubuntu: apt install python3-venv. Or install\n"
            f"  pip install --no-deps --require-hashes -r {REQUIREMENTS}\n"
            "into a Python of your own and run this command in it with --this-python."
        )
    subprocess.run(
        [str(interpreter), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        + ["--no-deps", "--only-binary=:all:", "--require-hashes", "--requirement", str(REQUIREMENTS)],
        check=True,
    )
