"""The texts of a tool that are embedded: the same as the program makes, so that heads fit them."""

import re

MAX_DESCRIPTION = 1000
MAX_INPUTS = 16
MAX_DEPTH = 8

_SEPARATORS = re.compile(r"[_\-./\s]+")
_WORD_STARTS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_HAN = re.compile("[\u3005\u3007\u3021-\u3029\u3038-\u303b\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufad9\U00020000-\U0003347f]")


def spaced(identifier):
    """`get_shippingETA` becomes `get shipping ETA`."""
    return _SEPARATORS.sub(" ", _WORD_STARTS.sub(" ", identifier)).strip()


def has_han(text):
    """Whether a text counts as Chinese: it has a character of the Han script."""
    return bool(_HAN.search(text))


def document(tool):
    """Namespace, name, description and parameter names."""
    group = f"{spaced(tool['namespace'])}: " if tool.get("namespace") else ""
    names = ", ".join([spaced(tool["name"]), *(tool.get("aliases") or [])])
    paths = parameter_paths(tool.get("input_schema") or {})[:MAX_INPUTS]
    inputs = f" Inputs: {', '.join(paths)}" if paths else ""
    return f"{group}{names}. {_description(tool)}{inputs}"


def short(tool):
    """Name and description alone."""
    return f"{spaced(tool['name'])}. {_description(tool)}"


def _description(tool):
    return (tool.get("description") or "")[:MAX_DESCRIPTION]


def parameter_paths(schema):
    """The parameters of a schema by path, parents before children, names in sorted order."""
    paths, following = {}, []

    def walk(node, path, depth):
        if depth > MAX_DEPTH or not isinstance(node, dict):
            return
        reference = node.get("$ref")
        if isinstance(reference, str) and reference not in following:
            following.append(reference)
            walk(_resolve(schema, reference), path, depth + 1)
            following.pop()
        properties = node.get("properties")
        for name in sorted(properties) if isinstance(properties, dict) else ():
            child = f"{path}.{name}" if path else name
            paths.setdefault(child)
            walk(properties[name], child, depth + 1)
        for keyword in ("allOf", "anyOf", "oneOf"):
            for branch in node.get(keyword) or ():
                walk(branch, path, depth + 1)
        if "items" in node:
            walk(node["items"], f"{path}[]", depth + 1)

    walk(schema, "", 0)
    return list(paths)


def _resolve(schema, reference):
    node = schema
    for part in reference.removeprefix("#").strip("/").split("/"):
        node = node.get(part.replace("~1", "/").replace("~0", "~")) if isinstance(node, dict) else None
    return node
