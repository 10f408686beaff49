"""Writing a model folder: compressed files, and their hashes at the end of the manifest."""

import hashlib
from dataclasses import dataclass

import zstandard

# Everything below this line in a manifest is written by the conversion.
MARK = "# The files, as the conversion made them: do not edit below this line.\n"

# Role of each file, the name of its table in the manifest.
ROLES = {
    "model.onnx": "model",
    "tokenizer.json": "tokenizer",
    "config.json": "config",
    "tokenizer_config.json": "tokenizer_config",
    "special_tokens_map.json": "special_tokens_map",
}

# Weights hold no repetitions, only a skewed distribution of bytes. Looking for matches makes
# such a file larger (use: 30.1 MB at level 3, 26.5 MB like this) and higher levels take
# minutes; a tiny match table leaves all to the entropy coder.
WEIGHTS = zstandard.ZstdCompressionParameters(
    strategy=zstandard.STRATEGY_FAST, compression_level=1, min_match=7, hash_log=6, window_log=17
)
# The default window of level 19 is 8 MB, so any decoder reads it.
TEXT = zstandard.ZstdCompressionParameters.from_level(19)


@dataclass(frozen=True)
class Packed:
    """One file as it lies in the folder, and what is inside it."""

    path: str
    stored: bytes
    content: bytes


def pack(name, content):
    """Compress weights and tokenizer; leave the small files readable."""
    if name == "model.onnx":
        return Packed(name + ".zst", _compress(content, WEIGHTS), content)
    if name == "tokenizer.json":
        return Packed(name + ".zst", _compress(content, TEXT), content)
    return Packed(name, content, content)


def with_files(manifest, packed_by_name):
    """The manifest's text with its file tables replaced."""
    written_by_hand = manifest.split(MARK)[0].rstrip("\n")
    tables = [_table(ROLES[name], packed) for name, packed in packed_by_name.items()]
    return f"{written_by_hand}\n\n{MARK}\n" + "\n".join(tables)


def _table(role, packed):
    return (
        f"[files.{role}]\n"
        f'path = "{packed.path}"\n'
        f'sha256 = "{hashlib.sha256(packed.stored).hexdigest()}"\n'
        f"bytes = {len(packed.stored)}\n"
        f'unpacked_sha256 = "{hashlib.sha256(packed.content).hexdigest()}"\n'
        f"unpacked_bytes = {len(packed.content)}\n"
    )


def _compress(content, parameters):
    return zstandard.ZstdCompressor(compression_params=parameters).compress(content)
