"""The mathematics of the heads: forward, gradients and the optimiser, by hand in numpy."""

import numpy as np

MOMENTUM, MOMENTUM_OF_SQUARES = 0.9, 0.999
TINY = np.float32(1e-12)
IMPOSSIBLE = -1e9


def unit(rows):
    """Rows scaled to length one."""
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), TINY)


class Head:
    """`z = unit(x + xA)`: starts as the identity."""

    def __init__(self, dimension, rate):
        self.matrix = np.zeros((dimension, dimension), np.float32)
        self._rate, self._steps = rate, 0
        self._mean, self._square = np.zeros_like(self.matrix), np.zeros_like(self.matrix)

    def forward(self, rows):
        """Vectors, and what `gradient` needs."""
        moved = rows + rows @ self.matrix
        vectors = unit(moved)
        return vectors, (rows, moved, vectors)

    @staticmethod
    def gradient(slope, kept):
        """From the slope of the loss in the vectors to that in the matrix."""
        rows, moved, vectors = kept
        along = (slope * vectors).sum(axis=1, keepdims=True)
        lengths = np.maximum(np.linalg.norm(moved, axis=1, keepdims=True), TINY)
        return rows.T @ ((slope - vectors * along) / lengths)

    def step(self, gradient, share):
        """One step of Adam, at a share of the learning rate."""
        self._steps += 1
        self._mean += np.float32(1 - MOMENTUM) * (gradient - self._mean)
        self._square += np.float32(1 - MOMENTUM_OF_SQUARES) * (gradient * gradient - self._square)
        mean = self._mean / np.float32(1 - MOMENTUM**self._steps)
        spread = np.sqrt(self._square / np.float32(1 - MOMENTUM_OF_SQUARES**self._steps))
        self.matrix -= np.float32(self._rate * share) * mean / (spread + np.float32(1e-8))


def contrast(queries, tools, right, ignored, temperature):
    """InfoNCE over one batch. `right` is each query's column; `ignored` marks tools that also serve
    a query or nearly equal one that does. Returns the loss and its slopes in both."""
    logits = (queries @ tools.T) / np.float32(temperature)
    logits[ignored] = IMPOSSIBLE
    logits -= logits.max(axis=1, keepdims=True)
    shares = np.exp(logits)
    shares /= shares.sum(axis=1, keepdims=True)
    rows = np.arange(len(queries))
    loss = float(-np.log(np.maximum(shares[rows, right], TINY)).mean())
    shares[rows, right] -= 1
    slope = shares / np.float32(temperature * len(queries))
    return loss, slope @ tools, slope.T @ queries
