#!/usr/bin/env python3
"""Measure a built model: the `[figures]` of its manifest, and whether batches change vectors.

    PYTHON models/convert/measure.py FOLDER...

PYTHON is the one that `convert.py` set up. Every figure is the best of several rounds, so that
other work on the machine disturbs it less.
"""

import sys
import threading
import time
from pathlib import Path

import numpy as np

from embedder import DOCUMENT, QUERY, Embedder

ROUNDS = 7
QUERIES = [
    "where is my parcel",
    "东西啥时候到",
    "book a table for two tonight",
    "把这个文件发给小王",
    "cancel my subscription",
    "Wie wird das Wetter morgen?",
    "list open pull requests",
    "查一下上个月的电费",
]
DOCUMENT_TEXT = (
    "Namespace: code hosting\nName: create_issue create issue\nDescription: Open a new issue in a repository, "
    "with labels, assignees and a milestone.\nUse when: the user reports a bug or asks for a feature\n"
    "Do not use when: an existing issue should be changed\nInputs: owner, repo, title, body, labels, assignees\n"
    "Outputs: issue number, address\nSide effect: write\nTags: issues, bugs, {number}"
)
BATCH = 16
BATCHES = 4


def main():
    """Print the figures of each folder."""
    for argument in sys.argv[1:]:
        measure(Path(argument))


def measure(folder):
    """Load, time and compare."""
    started = time.perf_counter()
    embedder = Embedder(folder)
    load_seconds = time.perf_counter() - started
    documents = [DOCUMENT_TEXT.format(number=number) for number in range(BATCH * BATCHES)]
    tokens = np.mean([embedder.token_count(document) for document in documents])
    worst_cosine, largest_difference = batch_difference(embedder, QUERIES + documents[:8])
    stored = sum((folder / entry["path"]).stat().st_size for entry in embedder.manifest["files"].values())
    query_ms = min(median_query_ms(embedder) for _ in range(ROUNDS))
    print(f"{embedder.manifest['name']}: {tokens:.0f} tokens a document")
    print(f"query_ms = {query_ms:.2f}")
    print(f"docs_per_second = {docs_per_second([embedder], documents):.0f}")
    print(f"docs_per_second_2_threads = {docs_per_second([embedder, Embedder(folder)], documents):.0f}")
    print(f"load_seconds = {load_seconds:.2f}")
    print(f"megabytes = {stored / 1e6:.1f}")
    print(f"batch of {BATCH} against one by one: cosine {worst_cosine:.7f}, component {largest_difference:.1e}")


def median_query_ms(embedder):
    """The median over short queries, tokenised and embedded one at a time."""
    times = []
    for query in QUERIES * 5:
        started = time.perf_counter()
        embedder.embed([query], QUERY)
        times.append(time.perf_counter() - started)
    return float(np.median(times)) * 1e3


def docs_per_second(embedders, documents):
    """All documents through each of the embedders at once, each in a thread of its own."""

    def one_round():
        threads = [
            threading.Thread(target=embedder.embed, args=(documents, DOCUMENT, BATCH)) for embedder in embedders
        ]
        started = time.perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return time.perf_counter() - started

    return len(documents) * len(embedders) / min(one_round() for _ in range(ROUNDS))


def batch_difference(embedder, texts):
    """Worst cosine and largest component difference between one by one and batched."""
    single = embedder.embed(texts, DOCUMENT, batch_size=1)
    batched = embedder.embed(texts, DOCUMENT, batch_size=BATCH)
    lengths = np.linalg.norm(single, axis=1) * np.linalg.norm(batched, axis=1)
    return float(((single * batched).sum(axis=1) / lengths).min()), float(np.abs(single - batched).max())


if __name__ == "__main__":
    main()
