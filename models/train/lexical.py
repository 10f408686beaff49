"""A plain BM25 over tools: it finds hard negatives, and stands in for the keyword arm in tables."""

import re

import numpy as np

from passages import parameter_paths, spaced

SATURATION, LENGTH_SHARE = 1.2, 0.75
NAME_WEIGHT, DESCRIPTION_WEIGHT, INPUT_WEIGHT = 2.0, 1.0, 0.4
# Turns evidence in nats into 0..1: see `evidence`.
EVIDENCE_SCALE = 45.0

_RUNS = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]+|[^\W_\u3400-\u4dbf\u4e00-\u9fff]+")
_ENDINGS = (("ies", "y"), ("sses", "ss"), ("ing", ""), ("ed", ""), ("es", ""), ("s", ""))


class Keywords:
    """The index of one catalogue."""

    def __init__(self, tools):
        counts, lengths = {}, np.zeros(len(tools))
        for number, tool in enumerate(tools):
            for weight, text in (
                (NAME_WEIGHT, f"{tool.get('namespace') or ''} {tool['name']}"),
                (DESCRIPTION_WEIGHT, tool.get("description") or ""),
                (INPUT_WEIGHT, " ".join(parameter_paths(tool.get("input_schema") or {}))),
            ):
                for token in tokens(text):
                    lengths[number] += weight
                    row = counts.setdefault(token, {})
                    row[number] = row.get(number, 0.0) + weight
        discount = SATURATION * (1 - LENGTH_SHARE + LENGTH_SHARE * lengths / max(lengths.mean(), 1e-9))
        self._tools = len(tools)
        self._postings = {}
        for token, row in counts.items():
            numbers, found = np.fromiter(row, int), np.fromiter(row.values(), float)
            rarity = np.log(1 + (len(tools) - len(row) + 0.5) / (len(row) + 0.5))
            self._postings[token] = numbers, rarity * found / (found + discount[numbers])

    def scores(self, texts):
        """One row a text, one column a tool, in nats."""
        table = np.zeros((len(texts), self._tools), np.float32)
        for row, text in zip(table, texts):
            for token in sorted(set(tokens(text))):
                if token in self._postings:
                    numbers, weights = self._postings[token]
                    row[numbers] += weights
        return table


def evidence(scores):
    """Scores in 0..1 that mean the same from request to request."""
    return 1 - np.exp(-scores / EVIDENCE_SCALE)


def tokens(text):
    """Words with a light stem; Han characters alone and in pairs."""
    found = []
    for run in _RUNS.findall(spaced(text)):
        if "\u3400" <= run[0] <= "\u9fff":
            found += [*run, *(run[at : at + 2] for at in range(len(run) - 1))]
        else:
            found.append(_stem(run.lower()))
    return found


def _stem(word):
    if len(word) <= 4 or not word.isascii():
        return word
    for ending, instead in _ENDINGS:
        if word.endswith(ending) and not word.endswith("ss") and len(word) - len(ending) >= 3:
            word = word[: -len(ending)] + instead
            break
    return word[:-1] if word.endswith("e") and len(word) > 4 else word
