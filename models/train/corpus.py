"""Labelled sets: tools, requests, and which tools serve each request."""

import json
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class LabelledSet:
    """One catalogue with its requests; tools are named by their row."""

    name: str
    tools: list
    requests: list
    gold: list
    hard: list = field(default_factory=list)
    needs: list = field(default_factory=list)


def read_set(folder, tools_folder=None, split="", name=None):
    """A folder of labelled requests. `split` is a prefix of the file names, as `train_`."""
    folder = Path(folder)
    tools = read_tools(Path(tools_folder or folder))
    row = {key(tool): number for number, tool in enumerate(tools)}
    gold, hard, needs = {}, {}, {}
    for query, tool, *score in _table(folder / f"{split}qrels.tsv"):
        if tool in row and float((score or [1])[0]) > 0:
            gold.setdefault(query, set()).add(row[tool])
    for query, tool in _table(folder / "hard_negatives.tsv"):
        if tool in row:
            hard.setdefault(query, []).append(row[tool])
    for query, need, tool in () if split else _table(folder / "needs.tsv"):
        if tool in row:
            needs.setdefault(query, {}).setdefault(need, set()).add(row[tool])
    requests = [line for line in _lines(folder / f"{split}queries.jsonl") if line["id"] in gold]
    ids = [request["id"] for request in requests]
    return LabelledSet(
        name=name or folder.name,
        tools=tools,
        requests=[request["text"] for request in requests],
        gold=[sorted(gold[id]) for id in ids],
        hard=[hard.get(id, []) for id in ids],
        needs=[list(needs[id].values()) if id in needs else [{tool} for tool in sorted(gold[id])] for id in ids],
    )


def read_training(folder, catalogues):
    """The project's own sets: those that bring their tools are one catalogue, so that each is the
    others' negatives. A set over another catalogue is read if `catalogues` says where that is."""
    whole = LabelledSet("own", [], [], [], [])
    others = []
    for path in sorted(path for path in folder.iterdir() if path.is_dir()):
        if path.name in catalogues:
            others.append(read_set(path, catalogues[path.name]))
        elif (path / "tools").is_dir():
            part = read_set(path)
            first = len(whole.tools)
            whole.tools += part.tools
            whole.requests += part.requests
            whole.gold += [[first + tool for tool in tools] for tools in part.gold]
            whole.hard += [[first + tool for tool in tools] for tools in part.hard]
    return [whole, *others]


def read_tools(folder):
    """The tools of `tools.jsonl`, or of every file in `tools/`."""
    if (folder / "tools.jsonl").exists():
        return _lines(folder / "tools.jsonl")
    files = sorted((folder / "tools").glob("*.jsonl"))
    return [tool for path in files if path.name != "namespaces.jsonl" for tool in _lines(path)]


def key(tool):
    """What labels call a tool."""
    if tool.get("id"):
        return tool["id"]
    return f"{tool['namespace']}/{tool['name']}" if tool.get("namespace") else tool["name"]


def _lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def _table(path):
    if not path.exists():
        return []
    rows = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    return rows[1:] if rows and rows[0][0] == "query-id" else rows
