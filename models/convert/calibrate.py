#!/usr/bin/env python3
"""Measure where a model's cosines lie: the `[calibration]` of its manifest.

    PYTHON models/convert/calibrate.py FOLDER --set SET...

PYTHON is the one that `convert.py` set up. A SET is a folder with `tools.jsonl`, `queries.jsonl`
(`id`, `text`) and `qrels.tsv` (query id, tool id, 1); where it has `train_queries.jsonl` and
`train_qrels.tsv`, these are used instead. For each set two distributions are printed: a query
with a random tool, and a query with a tool that serves it. Each set counts the same. It is the
graph's own vectors that are measured, without means and heads.
"""

import argparse
import json
from pathlib import Path

import numpy as np

from embedder import DOCUMENT, QUERY, Embedder

SEED = 7
MOST_QUERIES = 200
MOST_TOOLS = 300
PERCENTILES = (5, 25, 50, 75, 90, 95, 99)


def main():
    """Print a table by set, and the means that become the manifest's constants."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--set", type=Path, action="append", required=True)
    arguments = parser.parse_args()
    embedder = Embedder(arguments.folder)
    print(f"{'set':14}{'pairs':8}" + "".join(f"{f'p{percentile}':>8}" for percentile in PERCENTILES))
    random_rows, right_rows = [], []
    for folder in arguments.set:
        random, right = cosines(embedder, folder)
        for label, values, rows in (("random", random, random_rows), ("right", right, right_rows)):
            rows.append(np.percentile(values, PERCENTILES))
            print(f"{folder.name:14}{label:8}" + "".join(f"{value:8.3f}" for value in rows[-1]), flush=True)
    low = np.mean(random_rows, axis=0)[PERCENTILES.index(50)]
    high = np.mean(right_rows, axis=0)[PERCENTILES.index(90)]
    print(f"semantic_low = {low:.3f}  (median of random pairs)\nsemantic_high = {high:.3f}  (90 % of right pairs)")


def cosines(embedder, folder):
    """Cosines of random pairs and of right pairs."""
    chooser = np.random.default_rng(SEED)
    prefix = "train_" if (folder / "train_queries.jsonl").exists() else ""
    queries = {line["id"]: line["text"] for line in read_jsonl(folder / f"{prefix}queries.jsonl")}
    pairs = [
        line.split("\t")[:2]
        for line in (folder / f"{prefix}qrels.tsv").read_text(encoding="utf-8").splitlines()[1:]
    ]
    chosen = chooser.permutation(sorted({query for query, _ in pairs if query in queries}))[:MOST_QUERIES].tolist()
    pairs = [pair for pair in pairs if pair[0] in set(chosen)]
    tools = {tool["id"]: tool for tool in read_jsonl(folder / "tools.jsonl")}
    wanted = sorted({tool for _, tool in pairs if tool in tools})
    others = chooser.permutation(sorted(tools.keys() - set(wanted))).tolist()
    kept = wanted + others[: max(0, MOST_TOOLS - len(wanted))]

    query_rows = embedder.embed([queries[query] for query in chosen], QUERY)
    tool_rows = embedder.embed([document(tools[tool]) for tool in kept], DOCUMENT)
    table = query_rows @ tool_rows.T
    row_of = {query: row for row, query in enumerate(chosen)}
    column_of = {tool: column for column, tool in enumerate(kept)}
    right = [table[row_of[query], column_of[tool]] for query, tool in pairs if tool in column_of]
    return table.ravel(), right


def document(tool):
    """A tool's text, in the manner of the program's tool document."""
    inputs = ", ".join((tool.get("input_schema") or {}).get("properties") or {})
    lines = [
        ("Namespace", tool.get("namespace")),
        ("Name", tool["name"]),
        ("Description", tool.get("description")),
        ("Inputs", inputs),
    ]
    return "\n".join(f"{label}: {text}" for label, text in lines if text)


def read_jsonl(path):
    """One JSON value a line."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


if __name__ == "__main__":
    main()
