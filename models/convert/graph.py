"""A small builder for ONNX graphs: constants, nodes and a finished model.

It knows ONNX and nothing of any particular network. Nodes and constants keep the order in
which they were added, so that the same calls always give the same bytes.
"""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

# Opset 17 is the first with LayerNormalization; IR 8 is what belongs to it. Every ONNX
# Runtime that toolscout accepts reads both.
OPSET = 17
IR_VERSION = 8

# Operators of ONNX Runtime itself (4-bit and 8-bit matrices, fused attention).
MICROSOFT = "com.microsoft"

FLOAT = TensorProto.FLOAT
INT32 = TensorProto.INT32
INT64 = TensorProto.INT64


class GraphBuilder:
    """Collects constants and nodes; every method that adds one returns its output's name."""

    def __init__(self, name):
        self._name = name
        self._nodes = []
        self._constants = {}

    def constant(self, name, array):
        """Add a named weight. A name stands for one array: a second, different one is an error."""
        array = np.ascontiguousarray(array)
        known = self._constants.setdefault(name, array)
        if known is not array and not np.array_equal(known, array):
            raise ValueError(f"constant {name!r} was already given another value")
        return name

    def ints(self, *values):
        """A 1-D int64 constant: axes, shapes, slice bounds."""
        return self.constant("ints_" + "_".join(str(value) for value in values), np.array(values, np.int64))

    def scalar(self, value):
        """A float32 scalar constant."""
        return self.constant(f"scalar_{value!r}", np.array(value, np.float32))

    def codebook(self, name, matrix):
        """Add a float matrix of few distinct values as one byte an element and a table of values.

        Exact, not an approximation: the runtime looks the values up once, while it loads, and
        works on the float matrix from then on. A matrix of more than 256 values is kept as it is.
        """
        values, codes = np.unique(matrix, return_inverse=True)
        if len(values) > 256:
            return self.constant(name, matrix)
        codes = self.constant(name + ".codes", codes.reshape(matrix.shape).astype(np.uint8))
        values = self.constant(name + ".values", values)
        return self.node("Gather", values, self.node("Cast", codes, to=INT32))

    def node(self, operator, *inputs, output=None, domain="", **attributes):
        """Add one operator with a single output."""
        output = output or f"{operator}_{len(self._nodes)}"
        self._nodes.append(
            helper.make_node(operator, list(inputs), [output], name=output, domain=domain, **attributes)
        )
        return output

    def split_last_axis(self, tensor, count, size):
        """Cut the last axis into `count` tensors of `size`."""
        first = f"Split_{len(self._nodes)}"
        outputs = [f"{first}_{part}" for part in range(count)]
        self._nodes.append(
            helper.make_node("Split", [tensor, self.ints(*[size] * count)], outputs, name=first, axis=-1)
        )
        return outputs

    def slice(self, tensor, start, stop, axis):
        """`tensor[start:stop]` along one axis; the bounds are integers or names of tensors."""
        bounds = [bound if isinstance(bound, str) else self.ints(bound) for bound in (start, stop)]
        return self.node("Slice", tensor, *bounds, self.ints(axis))

    def layer_norm(self, tensor, gain, bias, epsilon, *, name, output=None):
        """Layer normalisation over the last axis."""
        return self.node(
            "LayerNormalization",
            tensor,
            self.constant(name + ".gain", gain),
            self.constant(name + ".bias", bias),
            output=output,
            axis=-1,
            epsilon=float(epsilon),
        )

    def sequence_length(self):
        """The padded length of the batch, as a 1-D int64 tensor."""
        return self.slice(self.node("Shape", "input_ids"), 1, 2, 0)

    def model(self, output, shape):
        """The finished model over `input_ids` and `attention_mask`, both int64 `[batch, sequence]`."""
        inputs = [
            helper.make_tensor_value_info(name, INT64, ["batch", "sequence"])
            for name in ("input_ids", "attention_mask")
        ]
        graph = helper.make_graph(
            self._nodes,
            self._name,
            inputs,
            [helper.make_tensor_value_info(output, FLOAT, shape)],
            [numpy_helper.from_array(array, name) for name, array in self._constants.items()],
        )
        operator_sets = [helper.make_opsetid("", OPSET)]
        if any(node.domain == MICROSOFT for node in self._nodes):
            operator_sets.append(helper.make_opsetid(MICROSOFT, 1))
        model = helper.make_model(
            graph, opset_imports=operator_sets, ir_version=IR_VERSION, producer_name="toolscout"
        )
        onnx.checker.check_model(model)
        return model.SerializeToString(deterministic=True)
