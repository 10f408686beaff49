"""Recall and nDCG over needs. A need is met by any one of its tools."""

import numpy as np

DEPTH = 10
NAMES = ("R@1", "R@5", "nDCG@10")


def by_request(scores, needs):
    """One row a request: R@1, R@5 and nDCG@10. Ties go to the earlier tool."""
    order = np.argsort(-scores, axis=1, kind="stable")[:, :DEPTH]
    discount = 1 / np.log2(np.arange(DEPTH) + 2)
    table = np.zeros((len(scores), len(NAMES)))
    for row, tools, wanted in zip(table, order, needs):
        open_needs, met = list(wanted), np.zeros(DEPTH)
        for rank, tool in enumerate(tools):
            served = next((number for number, need in enumerate(open_needs) if tool in need), None)
            if served is not None:
                open_needs.pop(served)
                met[rank] = 1
        ideal = discount[: min(len(wanted), DEPTH)].sum()
        row[:] = met[0] / len(wanted), met[:5].sum() / len(wanted), (met * discount).sum() / ideal
    return table
