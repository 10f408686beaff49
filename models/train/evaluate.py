#!/usr/bin/env python3
"""Measure raw, centred and headed vectors on labelled sets, alone and with keywords.

    PYTHON models/train/evaluate.py MODEL --set DIR... [--learn] [--seeds N]

PYTHON is the one that `train.py` set up. With --learn the training splits of the sets are learned
from as well, except that of the set being measured: every figure is of a catalogue not seen in
training. Sets without a `tools.jsonl` of their own are given as DIR:CATALOGUE_DIR.
"""

import argparse
from pathlib import Path

import numpy as np

from corpus import read_set, read_training
from fit import MANY_CATALOGUES, OWN_DATA, Embedded, centre, find_means, train
from heads import unit
from headfile import apply, pack, unpack
from lexical import Keywords, evidence
from measures import NAMES, by_request
from vectors import Vectors

HERE = Path(__file__).resolve().parent
KEYWORD_WEIGHT = 6.0
COSINE_WEIGHTS = (1.5, 2.5, 4.0)


def main():
    """Print one line a variant and set, and the mean over sets."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--set", action="append", required=True)
    parser.add_argument("--data", type=Path, default=HERE.parent.parent / "data" / "train")
    parser.add_argument("--learn", action="store_true")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--cache", type=Path, required=True)
    arguments = parser.parse_args()

    vectors = Vectors(HERE.parent / arguments.model, arguments.cache)
    folders = [one.partition(":")[::2] for one in arguments.set]
    tests = [Test(Embedded(read_set(folder, tools or None), vectors.embed)) for folder, tools in folders]
    own = [Embedded(one, vectors.embed) for one in read_training(arguments.data, {})]
    splits = {}
    if arguments.learn:
        for test, (folder, _) in zip(tests, folders):
            if (Path(folder) / "train_queries.jsonl").exists():
                splits[test.name] = Embedded(read_set(folder, split="train_"), vectors.embed)

    show("keywords", tests, [test.keywords[None] for test in tests], fuse=False)
    show("raw", tests, [test.cosines(lambda one, side: unit(one.rows[side]))[None] for test in tests])
    means = find_means(own)
    show("centred", tests, [test.cosines(lambda one, side: centre(one, side, means))[None] for test in tests])
    results, trained = [], {}
    for test in tests:
        rows = []
        for seed in range(1, arguments.seeds + 1):
            left = tuple(name for name in splits if name != test.name)
            if (left, seed) not in trained:
                sets = own + [splits[name] for name in left]
                recipe = MANY_CATALOGUES if left else OWN_DATA
                trained[left, seed] = unpack(pack(*train(sets, recipe, seed)))
            model = trained[left, seed]
            rows.append(test.cosines(lambda one, side: apply(*model, one.rows[side], side, one.han[side])))
        results.append(np.stack(rows))
    show("head", tests, results)


class Test:
    """A set to measure on."""

    def __init__(self, one):
        self.one, self.name, self.needs = one, one.labelled.name, one.labelled.needs
        self.keywords = evidence(Keywords(one.labelled.tools).scores(one.labelled.requests))

    def cosines(self, vectors):
        """A tool's cosine is the better of its two texts'."""
        both = vectors(self.one, "query") @ vectors(self.one, "document").T
        return np.maximum(both[:, : self.one.tools], both[:, self.one.tools :])


def show(variant, tests, tables, fuse=True):
    """Means over seeds and requests, a line a set; the last line is the mean over sets."""
    settings = {"alone": lambda test, cosines: cosines}
    for weight in COSINE_WEIGHTS if fuse else ():
        settings[f"fused {weight}"] = (
            lambda test, cosines, weight=weight: weight * cosines + KEYWORD_WEIGHT * test.keywords
        )
    for setting, combine in settings.items():
        rows = []
        for test, seeds in zip(tests, tables):
            figures = np.array([by_request(combine(test, table), test.needs).mean(axis=0) for table in seeds])
            rows.append(figures.mean(axis=0))
            line(f"{variant}, {setting}", test.name, rows[-1])
        line(f"{variant}, {setting}", "mean", np.mean(rows, axis=0))


def line(variant, name, figures):
    """One row of the table."""
    print(f"{variant:20}{name:14}" + "".join(f"  {label} {value:.3f}" for label, value in zip(NAMES, figures)), flush=True)


if __name__ == "__main__":
    main()
