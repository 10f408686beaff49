#!/usr/bin/env python3
"""Train the means and heads of a model.

    python3 models/train/train.py MODEL [--data DIR] [--catalogue NAME=DIR]... [--extra DIR]... [--check]

Learns from the project's own pairs in `data/train` and writes `heads.bin` and its entry in the
model's manifest. `--catalogue` says where the tools are of a set in `data/train` that names tools
of a public catalogue; `--extra` adds the training split (`train_queries.jsonl`,
`train_qrels.tsv`) of another labelled set. The same input gives the same file on one machine:
with --check nothing is written, and a difference from the manifest is an error.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "convert"))

import environment  # noqa: E402

FILE = "heads.bin"
SEED = 1
# Sums must not depend on how many threads shared them.
ONE_THREAD = {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}


def main():
    """Run in the pinned environment, or start again inside it."""
    arguments = parse_arguments()
    if arguments.this_python:
        return build(arguments)
    try:
        interpreter = environment.python(arguments.cache)
    except subprocess.CalledProcessError as failed:
        print(f"pip failed ({failed}). Its message is above; is its index within reach?", file=sys.stderr)
        return 1
    command = [str(interpreter), "-B", __file__, *sys.argv[1:], "--this-python"]
    return subprocess.run(command, env={**os.environ, **ONE_THREAD}).returncode


def parse_arguments():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help="a folder under models/")
    parser.add_argument("--data", type=Path, default=HERE.parent.parent / "data" / "train")
    parser.add_argument("--catalogue", type=named_folder, action="append", default=[], metavar="NAME=DIR")
    parser.add_argument("--extra", type=Path, action="append", default=[], metavar="DIR")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--out", type=Path, help="folder to write (default: the model's own)")
    parser.add_argument("--cache", type=Path, default=environment.default_cache())
    parser.add_argument("--check", action="store_true", help="compare with the manifest, write nothing")
    parser.add_argument("--this-python", action="store_true", help="use this Python's packages")
    return parser.parse_args()


def named_folder(argument):
    """`NAME=DIR` as a pair."""
    name, equals, folder = argument.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError("expected NAME=DIR")
    return name, Path(folder)


def build(arguments):
    """Embed, train, then write or compare. Returns the exit code."""
    from corpus import read_set, read_training
    from fit import Embedded, recipe, train
    from headfile import pack, with_entry
    from vectors import Vectors

    home = HERE.parent / arguments.model
    labelled = read_training(arguments.data, dict(arguments.catalogue))
    labelled += [read_set(folder, split="train_") for folder in arguments.extra]
    vectors = Vectors(home, arguments.cache)
    sets = [Embedded(one, vectors.embed) for one in labelled]
    for one in labelled:
        print(f"{one.name}: {len(one.tools)} tools, {len(one.requests)} requests")
    chosen = recipe(arguments.model, len(sets))
    content = pack(*train(sets, chosen, arguments.seed, report=lambda line: print(line, flush=True)))
    committed = (home / "manifest.toml").read_text(encoding="utf-8")
    manifest = with_entry(committed, FILE, content)
    print("identical to the manifest" if manifest == committed else "differs from the manifest")
    if arguments.check:
        return int(manifest != committed)
    out = arguments.out or home
    out.mkdir(parents=True, exist_ok=True)
    (out / FILE).write_bytes(content)
    (out / "manifest.toml").write_text(manifest, encoding="utf-8")
    print(f"written to {out}: {len(content)} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
