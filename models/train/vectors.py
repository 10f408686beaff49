"""Vectors of a model folder, without its post-processing, kept on disk by text."""

import hashlib
import os
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "convert"))

BATCH = 16


class Vectors:
    """`embed(texts, side)` for one model; a text is embedded once."""

    def __init__(self, folder, cache):
        from embedder import Embedder

        self._embedder = Embedder(folder)
        files = self._embedder.manifest["files"]
        identity = "".join(files[role]["unpacked_sha256"] for role in ("model", "tokenizer"))
        self._path = cache / f"vectors-{hashlib.sha256(identity.encode()).hexdigest()[:12]}.npz"
        self._rows = {}
        if self._path.exists():
            with np.load(self._path) as kept:
                self._rows = dict(zip(kept["keys"].tolist(), kept["rows"]))

    def embed(self, texts, side):
        """One row a text."""
        keys = [hashlib.blake2b(f"{side}\0{text}".encode(), digest_size=16).hexdigest() for text in texts]
        new = {key: text for key, text in zip(keys, texts) if key not in self._rows}
        if new:
            # Texts of one length share a batch, so that little padding is computed.
            order = sorted(new, key=lambda key: (len(new[key]), key))
            print(f"embedding {len(order)} texts", flush=True)
            rows = self._embedder.embed([new[key] for key in order], side, BATCH)
            self._rows.update(zip(order, rows.astype(np.float32)))
            self._keep()
        return np.stack([self._rows[key] for key in keys])

    def _keep(self):
        self._path.parent.mkdir(parents=True, exist_ok=True)
        partial = self._path.with_suffix(f".{os.getpid()}.npz")
        np.savez(partial, keys=np.array(list(self._rows)), rows=np.stack(list(self._rows.values())))
        os.replace(partial, self._path)
