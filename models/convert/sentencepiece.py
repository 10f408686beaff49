"""Reading a SentencePiece unigram model and writing it as a Hugging Face `tokenizer.json`."""

import base64
import json
import struct
from dataclasses import dataclass

# SentencePiece writes a space as this character.
SPACE_MARK = "\u2581"


@dataclass(frozen=True)
class Unigram:
    """A unigram vocabulary: pieces with their log probabilities, in id order."""

    pieces: list  # of (text, score)
    charsmap: bytes  # SentencePiece's precompiled normaliser (nmt_nfkc)


def read_model(data):
    """Read `sp.model`, a protobuf: field 1 repeats the pieces, field 3 holds the normaliser."""
    pieces, charsmap = [], b""
    for field, value in _protobuf_fields(data):
        if field == 1:
            piece = dict(_protobuf_fields(value))
            score = struct.unpack("<f", piece[2])[0] if 2 in piece else 0.0
            pieces.append((piece[1].decode("utf-8"), score))
        elif field == 3:
            charsmap = dict(_protobuf_fields(value))[2]
    return Unigram(pieces, charsmap)


def tokenizer_json(unigram, *, unknown, begin, end, special, pair_separators=1):
    """The tokenizer file, as bytes.

    `special` maps the id of each special token to `True` where spaces before it belong to it;
    `begin` and `end` are the ids that enclose a text; `pair_separators` is how many `end`
    tokens stand between the two texts of a pair.
    """

    def token(identifier):
        return {"SpecialToken": {"id": unigram.pieces[identifier][0], "type_id": 0}}

    def text(name):
        return {"Sequence": {"id": name, "type_id": 0}}

    metaspace = {"type": "Metaspace", "replacement": SPACE_MARK, "prepend_scheme": "always", "split": True}
    return compact_json(
        {
            "version": "1.0",
            "truncation": None,
            "padding": None,
            "added_tokens": [
                {
                    "id": identifier,
                    "content": unigram.pieces[identifier][0],
                    "single_word": False,
                    "lstrip": takes_spaces,
                    "rstrip": False,
                    "normalized": False,
                    "special": True,
                }
                for identifier, takes_spaces in special.items()
            ],
            "normalizer": {
                "type": "Precompiled",
                "precompiled_charsmap": base64.b64encode(unigram.charsmap).decode("ascii"),
            },
            "pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, metaspace]},
            "post_processor": {
                "type": "TemplateProcessing",
                "single": [token(begin), text("A"), token(end)],
                "pair": [token(begin), text("A")] + [token(end)] * pair_separators + [text("B"), token(end)],
                "special_tokens": {
                    unigram.pieces[identifier][0]: {
                        "id": unigram.pieces[identifier][0],
                        "ids": [identifier],
                        "tokens": [unigram.pieces[identifier][0]],
                    }
                    for identifier in (begin, end)
                },
            },
            "decoder": metaspace,
            "model": {
                "type": "Unigram",
                "unk_id": unknown,
                "byte_fallback": False,
                # Nine digits are enough to tell any two float32 apart.
                "vocab": [[piece, float(f"{score:.9g}")] for piece, score in unigram.pieces],
            },
        }
    )


def compact_json(value):
    """JSON without spaces, as UTF-8."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8")


def _protobuf_fields(data):
    """Yield (field number, value) of one protobuf message: an int, or the raw bytes."""
    position = 0
    while position < len(data):
        key, position = _varint(data, position)
        field, wire_type = key >> 3, key & 7
        if wire_type == 0:
            value, position = _varint(data, position)
            yield field, value
            continue
        if wire_type == 2:
            length, position = _varint(data, position)
        else:
            length = {1: 8, 5: 4}[wire_type]
        yield field, data[position : position + length]
        position += length


def _varint(data, position):
    """Read a base-128 integer; return it and the position after it."""
    value = shift = 0
    while True:
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, position
