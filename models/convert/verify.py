"""Comparing a built model with vectors of the implementation that it was converted from."""

import json
from pathlib import Path

import numpy as np

from embedder import Embedder

REFERENCES = Path(__file__).with_name("reference")


def verify(folder, name):
    """Return the worst cosine against the stored vectors; stop if it is below their bound."""
    reference = json.loads((REFERENCES / f"{name}.json").read_text(encoding="utf-8"))
    embedder = Embedder(folder)
    worst = 1.0
    for case in reference["cases"]:
        (vector,) = embedder.embed([case["text"]], case["side"])
        expected = np.array(case["vector"], np.float32)
        cosine = float(vector @ expected / (np.linalg.norm(vector) * np.linalg.norm(expected)))
        if not cosine >= reference["least_cosine"]:  # also catches a vector that is not a number
            raise SystemExit(
                f"{name} is wrong: cosine {cosine:.5f} to its reference for {case['text']!r}, "
                f"at least {reference['least_cosine']} is expected"
            )
        worst = min(worst, cosine)
    return worst
