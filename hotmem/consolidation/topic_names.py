"""Common topics of personal memories: the names that a subcategory can have.

`topic_names.tsv` has a line for each: the name, the categories in which it is common, and words
that memories on the topic use.
"""

import csv
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

import numpy as np

from hotmem.core.vector_math import normalize_rows, remove_direction
from hotmem.models.encoder import Encoder, Vectors
from hotmem.types import Category

BATCH: Final = 32
"""Texts that are encoded at once, between two looks for recalls."""


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic.

    Attributes:
        name: Its name.
        categories: The categories in which it is common.
        words: Words that memories on the topic use.
    """

    name: str
    categories: tuple[Category, ...]
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Topics:
    """Topics of a category and their embeddings.

    Attributes:
        names: Name of each.
        rows: Unit rows, without what all of them share, float32 (topics, dimension).
    """

    names: tuple[str, ...]
    rows: Vectors


@cache
def common_topics() -> tuple[Topic, ...]:
    """All topics, by name."""
    text = (files(__package__) / "topic_names.tsv").read_text(encoding="utf-8")
    return tuple(
        Topic(
            row["name"],
            tuple(map(Category, row["categories"].split())),
            tuple(row["words"].split(", ")),
        )
        for row in csv.DictReader(text.splitlines(), delimiter="\t")
    )


def encode_topics(
    encoder: Encoder, wait_idle_blocking: Callable[[], None] = lambda: None
) -> dict[Category, Topics]:
    """Embed the topics of each category.

    A topic's row is the mean of three: its name, its words, and both as one text.

    Args:
        encoder: The encoder of the memories.
        wait_idle_blocking: Called before each batch; blocks while recalls run.
    """
    known = common_topics()
    texts = [
        text
        for one in known
        for text in (one.name, f"{one.name}: {', '.join(one.words)}", *one.words)
    ]
    vectors = []
    for start in range(0, len(texts), BATCH):
        wait_idle_blocking()
        vectors.append(encoder.encode(texts[start : start + BATCH]))
    encoded, start, means = np.concatenate(vectors), 0, []
    for one in known:
        stop = start + 2 + len(one.words)
        words = normalize_rows(encoded[start + 2 : stop].mean(axis=0))
        means.append(encoded[start] + encoded[start + 1] + words)
        start = stop
    rows = normalize_rows(np.array(means))
    found = {}
    for category in Category:
        places = [place for place, one in enumerate(known) if category in one.categories]
        own = rows[places]
        found[category] = Topics(
            tuple(known[place].name for place in places),
            remove_direction(own, normalize_rows(own.mean(axis=0))),
        )
    return found
