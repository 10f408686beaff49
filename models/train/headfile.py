"""The file of means and heads that a manifest's `[postprocess.heads]` names, and the entry itself.

The layout is described in `../README.md` under "Post-processing".
"""

import hashlib
import json
import re

import numpy as np

from heads import unit

FORMAT, VERSION = "toolscout-heads", 1
ALIGNMENT = 64
TYPES = {"f32": np.dtype("<f4"), "i8": np.dtype("i1")}
LARGEST = 127
SECTION = re.compile(r"\[postprocess\.heads\]\n(?:[a-z_]+ = .*\n)+\n?")
# What conversions write stands below this line of a manifest, what people and training write above.
MARK = "# The files, as the conversion made them"


def pack(means, heads):
    """The bytes of a file with f32 means and 8-bit heads."""
    tensors = {}
    for (side, script), mean in sorted(means.items()):
        tensors[f"mean.{side}.{script}"] = mean.astype("<f4")
    for side, matrix in sorted(heads.items()):
        scale = np.maximum(np.abs(matrix).max(axis=1), 1e-12).astype("<f4") / np.float32(LARGEST)
        tensors[f"head.{side}"] = np.rint(matrix / scale[:, None]).astype("i1")
        tensors[f"head.{side}.scale"] = scale
    entries, body = [], b""
    for name, tensor in tensors.items():
        body += bytes(-len(body) % ALIGNMENT)
        kind = next(kind for kind, dtype in TYPES.items() if dtype == tensor.dtype)
        entries.append({"name": name, "type": kind, "shape": list(tensor.shape), "offset": len(body)})
        body += tensor.tobytes()
    dimension = len(next(iter(means.values())))
    header = {"format": FORMAT, "version": VERSION, "dimension": dimension, "tensors": entries}
    line = json.dumps(header, separators=(",", ":")).encode()
    return line + b" " * (-(len(line) + 1) % ALIGNMENT) + b"\n" + body


def unpack(content):
    """Means and heads, as `pack` took them, up to the rounding to 8 bits."""
    line, _, body = content.partition(b"\n")
    tensors = {}
    for entry in json.loads(line)["tensors"]:
        dtype, count = TYPES[entry["type"]], int(np.prod(entry["shape"]))
        tensors[entry["name"]] = np.frombuffer(body, dtype, count, entry["offset"]).reshape(entry["shape"])
    means, heads = {}, {}
    for name, tensor in tensors.items():
        what, *rest = name.split(".")
        if what == "mean":
            means[tuple(rest)] = tensor
        elif len(rest) == 1:
            heads[rest[0]] = tensor.astype(np.float32) * tensors[f"{name}.scale"][:, None]
    return means, heads


def apply(means, heads, rows, side, han):
    """What the program does to a model's vectors; `han` says of each row whether its text is Chinese."""
    nothing = np.zeros(rows.shape[1], np.float32)
    other, chinese = (means.get((side, script), nothing) for script in ("other", "han"))
    rows = unit(rows - np.where(np.asarray(han)[:, None], chinese, other))
    return unit(rows + rows @ heads[side]) if side in heads else rows


def with_entry(manifest, path, content):
    """The manifest's text, with the file entered."""
    entry = (
        f'[postprocess.heads]\npath = "{path}"\n'
        f'sha256 = "{hashlib.sha256(content).hexdigest()}"\nbytes = {len(content)}\n\n'
    )
    manifest = SECTION.sub("", manifest)
    before, mark, after = manifest.partition(MARK)
    return f"{before.rstrip()}\n\n{entry}{mark}{after}" if mark else f"{before.rstrip()}\n\n{entry}"
