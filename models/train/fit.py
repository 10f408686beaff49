"""Means and heads from labelled sets."""

from dataclasses import dataclass

import numpy as np

from heads import Head, contrast, unit
from lexical import Keywords
from passages import document, has_han, short

SIDES = ("query", "document")
SCRIPTS = ("other", "han")
# Fewer texts than this make no mean of their own.
FEWEST_FOR_A_MEAN = 5


@dataclass(frozen=True)
class Recipe:
    """How to train. `stay` holds the vectors of random texts near those of the frozen model."""

    steps: int
    stay: float
    rate: float = 3e-4
    temperature: float = 0.1
    queries: int = 96
    tools: int = 384
    hard: int = 2
    anchors: int = 128
    short_share: float = 0.35
    warm_up: int = 20
    last_rate: float = 0.1
    from_keywords: int = 8
    from_vectors: int = 12
    near: float = 0.93


# The fewer catalogues there are to learn from, the nearer to the frozen model is best.
OWN_DATA = Recipe(steps=200, stay=3.0)
MANY_CATALOGUES = Recipe(steps=400, stay=1.0)
# A transformer whose raw vectors lie close together has further to go, and needs to be held more.
TRANSFORMER_OWN_DATA = Recipe(steps=300, stay=6.0, rate=1e-3)
TRANSFORMER_MANY_CATALOGUES = Recipe(steps=400, stay=3.0, rate=1e-3)


def recipe(model, catalogues):
    """The recipe for a model's name and a number of labelled sets."""
    if model.startswith("multilingual-e5"):
        return TRANSFORMER_MANY_CATALOGUES if catalogues > 1 else TRANSFORMER_OWN_DATA
    return MANY_CATALOGUES if catalogues > 1 else OWN_DATA


class Embedded:
    """A labelled set with the frozen model's vectors."""

    def __init__(self, labelled, embed):
        self.labelled = labelled
        texts = [document(tool) for tool in labelled.tools], [short(tool) for tool in labelled.tools]
        self.rows = {
            "query": embed(labelled.requests, "query"),
            "document": np.concatenate([embed(part, "document") for part in texts]),
        }
        self.han = {
            "query": np.array([has_han(text) for text in labelled.requests], bool),
            "document": np.array([has_han(text) for part in texts for text in part], bool),
        }

    @property
    def tools(self):
        """How many tools there are; their documents are the first rows, their short texts the rest."""
        return len(self.labelled.tools)


def find_means(sets):
    """The mean vector by side and script. A set counts by the square root of its size."""
    means = {}
    for side in SIDES:
        for script in SCRIPTS:
            total, weight = 0.0, 0.0
            for one in sets:
                rows = one.rows[side][one.han[side] == (script == "han")]
                if len(rows) >= FEWEST_FOR_A_MEAN:
                    total, weight = total + len(rows) ** 0.5 * rows.mean(axis=0), weight + len(rows) ** 0.5
            if weight:
                means[side, script] = (total / weight).astype(np.float32)
    return means


def centre(one, side, means):
    """A set's vectors less their means, of unit length again."""
    nothing = np.zeros(one.rows[side].shape[1], np.float32)
    other, han = (means.get((side, script), nothing) for script in SCRIPTS)
    return unit(one.rows[side] - np.where(one.han[side][:, None], han, other))


def train(sets, recipe, seed, report=None):
    """Means, and a trained head a side."""
    chance = np.random.default_rng(seed)
    means = find_means(sets)
    sources = [Source(one, means, recipe) for one in sets]
    shares = np.array([len(source.pairs) ** 0.5 for source in sources])
    shares /= shares.sum()
    heads = {side: Head(sources[0].rows[side].shape[1], recipe.rate) for side in SIDES}
    losses = []
    for step in range(recipe.steps):
        source = sources[chance.choice(len(sources), p=shares)]
        queries, tools, right, ignored = source.batch(chance, recipe)
        vectors, kept = {}, {}
        for side, chosen in (("query", queries), ("document", tools)):
            vectors[side], kept[side] = heads[side].forward(source.rows[side][chosen])
        loss, *slopes = contrast(vectors["query"], vectors["document"], right, ignored, recipe.temperature)
        share = min(1.0, (step + 1) / recipe.warm_up) * (1 - (1 - recipe.last_rate) * step / recipe.steps)
        gradients = [heads[side].gradient(slope, kept[side]) for side, slope in zip(SIDES, slopes)]
        for side, gradient in zip(SIDES, gradients):
            rows = sources[chance.integers(len(sources))].rows[side]
            rows = rows[chance.choice(len(rows), min(recipe.anchors, len(rows)), replace=False)]
            moved, kept_rows = heads[side].forward(rows)
            pull = np.float32(2 * recipe.stay / len(rows)) * (moved - rows)
            heads[side].step(gradient + heads[side].gradient(pull, kept_rows), share)
        losses.append(loss)
        if report and (step + 1) % 50 == 0:
            report(f"step {step + 1}: loss {np.mean(losses[-50:]):.3f}")
    return means, {side: heads[side].matrix for side in SIDES}


class Source:
    """One set made ready for batches."""

    def __init__(self, one, means, recipe):
        self.rows = {side: centre(one, side, means) for side in SIDES}
        self.tools = one.tools
        labelled = one.labelled
        self.pairs = np.array([(query, tool) for query, tools in enumerate(labelled.gold) for tool in tools])
        documents = self.rows["document"][: one.tools]
        likely = np.argsort(-(self.rows["query"] @ documents.T), axis=1, kind="stable")[:, : recipe.from_vectors]
        named = Keywords(labelled.tools).scores(labelled.requests)
        named = np.argsort(-named, axis=1, kind="stable")[:, : recipe.from_keywords]
        self.alike, self.hard = [], []
        for query, tools in enumerate(labelled.gold):
            alike = set(np.flatnonzero((documents @ documents[tools].T).max(axis=1) > recipe.near)) | set(tools)
            written = labelled.hard[query] if labelled.hard else []
            # Those written by hand are drawn twice as often.
            hard = [*named[query], *likely[query], *written, *written]
            self.alike.append(sorted(alike))
            self.hard.append(np.array([tool for tool in hard if tool not in alike], int))

    def batch(self, chance, recipe):
        """Rows of queries and of tools, each query's column, and which columns to ignore."""
        pairs = self.pairs[chance.choice(len(self.pairs), min(recipe.queries, len(self.pairs)), replace=False)]
        chosen = dict.fromkeys(pairs[:, 1].tolist())
        for query in pairs[:, 0]:
            hard = self.hard[query]
            chosen.update(dict.fromkeys(chance.choice(hard, min(recipe.hard, len(hard)), replace=False).tolist()))
        tools = list(chosen)[: recipe.tools]
        missing = min(recipe.tools - len(tools), self.tools)
        if missing > 0:
            tools = list(dict.fromkeys(tools + chance.choice(self.tools, missing, replace=False).tolist()))
        column = {tool: number for number, tool in enumerate(tools)}
        right = np.array([column[tool] for tool in pairs[:, 1]])
        ignored = np.zeros((len(pairs), len(tools)), bool)
        for number, query in enumerate(pairs[:, 0]):
            ignored[number, [column[tool] for tool in self.alike[query] if tool in column]] = True
        ignored[np.arange(len(pairs)), right] = False
        use_short = chance.random(len(tools)) < recipe.short_share
        return pairs[:, 0], np.array(tools) + self.tools * use_short, right, ignored
