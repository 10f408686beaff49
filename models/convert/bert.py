"""A BERT encoder with block-quantised matrices as an ONNX graph.

Both transformer models are of this kind and differ only in size, in the width of their
weights and in where these come from. Activations are quantised row by row while running,
never by the batch's extremes, so a text's vector does not depend on its neighbours.
"""

from dataclasses import dataclass

import numpy as np

from graph import FLOAT, INT32, MICROSOFT, GraphBuilder

# MatMulNBits' own name for 8-bit integer activations.
INTEGER_ACTIVATIONS = 4


@dataclass(frozen=True)
class BlockQuantised:
    """A matrix `[rows, columns]` in blocks along its columns: value = (level - middle) * scale."""

    levels: np.ndarray  # uint8 [rows, blocks, block_size]
    scales: np.ndarray  # float32 [rows, blocks]
    bits: int  # 4 or 8; the middle level is half of the range

    @property
    def block_size(self):
        """How many neighbouring columns share a scale."""
        return self.levels.shape[2]

    def packed(self):
        """The levels as the runtime reads them: at 4 bits two a byte, the first in the low half."""
        if self.bits == 8:
            return self.levels
        pairs = self.levels.reshape(*self.levels.shape[:2], -1, 2)
        return pairs[..., 0] | (pairs[..., 1] << 4)

    @staticmethod
    def stack(matrices):
        """One matrix of the rows of several."""
        return BlockQuantised(
            np.concatenate([matrix.levels for matrix in matrices]),
            np.concatenate([matrix.scales for matrix in matrices]),
            matrices[0].bits,
        )


@dataclass(frozen=True)
class Linear:
    """`y = x W' + b`, with `W` as `[outputs, inputs]`."""

    weight: BlockQuantised
    bias: np.ndarray


@dataclass(frozen=True)
class Norm:
    """Gain and bias of a layer normalisation."""

    gain: np.ndarray
    bias: np.ndarray


@dataclass(frozen=True)
class Layer:
    """One transformer layer."""

    query: Linear
    key: Linear
    value: Linear
    attention_output: Linear
    attention_norm: Norm
    intermediate: Linear
    output: Linear
    output_norm: Norm


@dataclass(frozen=True)
class Encoder:
    """A whole encoder."""

    heads: int
    norm_epsilon: float
    words: BlockQuantised  # [vocabulary, hidden]
    positions: np.ndarray  # [longest text, hidden], with the embedding of token type 0 added
    embedding_norm: Norm
    layers: list


def build_graph(name, encoder):
    """The encoder as an ONNX model with output `last_hidden_state` `[batch, sequence, hidden]`."""
    graph = GraphBuilder(name)
    hidden_size = encoder.positions.shape[1]
    mask = graph.node("Cast", "attention_mask", to=INT32)
    hidden = _norm(graph, _embeddings(graph, encoder), encoder.embedding_norm, encoder, "embedding.norm")
    for number, layer in enumerate(encoder.layers):
        prefix = f"layer{number}"
        is_last = number + 1 == len(encoder.layers)
        attended = _attention(graph, hidden, mask, layer, encoder.heads, prefix)
        hidden = graph.node("Add", hidden, attended)
        hidden = _norm(graph, hidden, layer.attention_norm, encoder, f"{prefix}.attention.norm")
        wide = graph.node("Gelu", _linear(graph, hidden, layer.intermediate, f"{prefix}.wide"), domain=MICROSOFT)
        hidden = graph.node("Add", hidden, _linear(graph, wide, layer.output, f"{prefix}.narrow"))
        output = "last_hidden_state" if is_last else None
        hidden = _norm(graph, hidden, layer.output_norm, encoder, f"{prefix}.output.norm", output)
    return graph.model("last_hidden_state", ["batch", "sequence", hidden_size])


def _embeddings(graph, encoder):
    """Word plus position embeddings; the words are unpacked only as they are looked up."""
    words = graph.node(
        "GatherBlockQuantized",
        graph.constant("words.levels", encoder.words.packed().reshape(len(encoder.words.levels), -1)),
        "input_ids",
        graph.constant("words.scales", encoder.words.scales.astype(np.float16)),
        domain=MICROSOFT,
        bits=encoder.words.bits,
        block_size=encoder.words.block_size,
        gather_axis=0,
        quantize_axis=1,
    )
    positions = graph.slice(graph.constant("positions", encoder.positions), 0, graph.sequence_length(), 0)
    return graph.node("Add", graph.node("Cast", words, to=FLOAT), positions)


def _attention(graph, hidden, mask, layer, heads, prefix):
    """Self-attention; the three input projections are one product."""
    inputs = (layer.query, layer.key, layer.value)
    joined = Linear(
        BlockQuantised.stack([linear.weight for linear in inputs]),
        np.concatenate([linear.bias for linear in inputs]),
    )
    projected = _linear(graph, hidden, joined, f"{prefix}.attention.input")
    query, key, value = graph.split_last_axis(projected, 3, len(layer.query.bias))
    no_bias = ""
    context = graph.node("MultiHeadAttention", query, key, value, no_bias, mask, domain=MICROSOFT, num_heads=heads)
    return _linear(graph, context, layer.attention_output, f"{prefix}.attention.output")


def _linear(graph, tensor, linear, name):
    weight = linear.weight
    rows, blocks, block_size = weight.levels.shape
    product = graph.node(
        "MatMulNBits",
        tensor,
        graph.constant(f"{name}.levels", weight.packed()),
        graph.constant(f"{name}.scales", weight.scales.reshape(-1)),
        domain=MICROSOFT,
        K=blocks * block_size,
        N=rows,
        bits=weight.bits,
        block_size=block_size,
        accuracy_level=INTEGER_ACTIVATIONS,
    )
    return graph.node("Add", product, graph.constant(f"{name}.bias", linear.bias))


def _norm(graph, tensor, norm, encoder, name, output=None):
    return graph.layer_norm(tensor, norm.gain, norm.bias, encoder.norm_epsilon, name=name, output=output)
