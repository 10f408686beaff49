"""Running a model folder as its manifest says, in Python, but for its post-processing.

Verification, measuring and calibration use it; it is also the yardstick for what the program
gets from the graph before means and heads are applied.
"""

import hashlib
import tomllib

import numpy as np
import onnxruntime
import zstandard
from tokenizers import Tokenizer

QUERY, DOCUMENT = "query", "document"


class Embedder:
    """A loaded model. Vectors are float32 rows; of unit length where the manifest says so."""

    def __init__(self, folder, threads=1):
        self.manifest = tomllib.loads((folder / "manifest.toml").read_text(encoding="utf-8"))
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        self._session = onnxruntime.InferenceSession(
            self._read(folder, "model"), options, providers=["CPUExecutionProvider"]
        )
        self._tokenizer = Tokenizer.from_str(self._read(folder, "tokenizer").decode("utf-8"))
        self._tokenizer.enable_truncation(self.manifest["input"]["max_tokens"])
        self._tokenizer.no_padding()

    def _read(self, folder, role):
        entry = self.manifest["files"][role]
        content = (folder / entry["path"]).read_bytes()
        _check(content, entry["sha256"], entry["path"])
        if entry["path"].endswith(".zst"):
            content = zstandard.ZstdDecompressor().decompress(content, entry["unpacked_bytes"])
            _check(content, entry["unpacked_sha256"], f"inside {entry['path']}")
        return content

    def token_count(self, text):
        """How many tokens the network sees of a text, its begin and end marks included."""
        return len(self._tokenizer.encode(text).ids)

    def embed(self, texts, side, batch_size=16):
        """One row a text. `side` is QUERY or DOCUMENT and decides the prefix."""
        prefix = self.manifest["input"][f"{side}_prefix"]
        prefixed = [prefix + text for text in texts]
        rows = [
            self._embed_batch(prefixed[start : start + batch_size])
            for start in range(0, len(prefixed), batch_size)
        ]
        return np.concatenate(rows)

    def _embed_batch(self, texts):
        encoded = [encoding.ids for encoding in self._tokenizer.encode_batch(texts)]
        longest = max(len(tokens) for tokens in encoded)
        tokens = np.zeros((len(texts), longest), np.int64)
        mask = np.zeros((len(texts), longest), np.int64)
        for row, ids in enumerate(encoded):
            tokens[row, : len(ids)] = ids
            mask[row, : len(ids)] = 1
        (output,) = self._session.run(None, {"input_ids": tokens, "attention_mask": mask})
        vectors = self._pool(output, mask)
        if self.manifest["normalise"]:
            vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors

    def _pool(self, output, mask):
        pooling = self.manifest["pooling"]
        if pooling == "none":
            return output
        if pooling == "cls":
            return output[:, 0]
        weights = mask[..., None].astype(np.float32)
        return (output * weights).sum(axis=1) / weights.sum(axis=1)


def _check(content, expected, name):
    digest = hashlib.sha256(content).hexdigest()
    if digest != expected:
        raise SystemExit(f"{name} has sha256 {digest}, the manifest says {expected}")
