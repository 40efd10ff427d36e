"""concept_network: names and concepts that are spoken of together, and what stands behind it.

mentions ─▶ the most frequent ─▶ pairs in the same turn or memory ─▶ the strongest
"""

import asyncio
import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Annotated, Final

from pydantic import Field

from hotmem.memory import Memory
from hotmem.operations.requests import CLOSED
from hotmem.retrieval.query import NOBODY
from hotmem.storage import queries
from hotmem.text.validation import validate_text
from hotmem.types import LabelMentions

LOOKED_AT: Final = 300
"""Names, and likewise concepts, among which the most frequent are sought."""

EDGES_A_NODE: Final = 3
"""Pairs kept for each node, in the mean."""

BEHIND: Final = 3
"""Memories told of each pair, the latest."""


@dataclass(frozen=True, slots=True)
class Network:
    """Which part of the network.

    Attributes:
        about: Only what is said beside this name, or these words.
        limit: Nodes at most, 2 to 200.
        min_count: Least turns and memories of a node.
        min_weight: Least turns and memories of a pair.
    """

    __pydantic_config__ = CLOSED

    about: (
        Annotated[
            str,
            Field(
                min_length=1,
                max_length=200,
                description="Only what is said beside this name, or these words.",
            ),
        ]
        | None
    ) = None
    limit: Annotated[int, Field(ge=2, le=200, description="Nodes at most.")] = 40
    min_count: Annotated[int, Field(ge=1, description="Least turns and memories of a node.")] = 2
    min_weight: Annotated[int, Field(ge=1, description="Least turns and memories of a pair.")] = 1


@dataclass(frozen=True, slots=True)
class Node:
    """A name or a concept.

    Attributes:
        name: How it is written.
        kind: "name" or "concept".
        turns: Turns that hold it.
        memories: Memories that hold it.
    """

    name: str
    kind: str
    turns: int
    memories: int


@dataclass(frozen=True, slots=True)
class Behind:
    """A memory that a pair stands in: its id and its words."""

    id: str
    content: str


@dataclass(frozen=True, slots=True)
class Edge:
    """Two nodes that are spoken of together.

    Attributes:
        one: The more frequent node.
        other: The other.
        weight: Turns and memories that hold both.
        strength: The same as a share, 0 to 1: weight / √(count of one × count of the other).
        memories: The latest memories among them.
    """

    one: str
    other: str
    weight: int
    strength: float
    memories: tuple[Behind, ...]


@dataclass(frozen=True, slots=True)
class ConceptNetwork:
    """Nodes, the most frequent first, and edges, the strongest first.

    What it is about, and its edges, stand before all.
    """

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two mentions by their places, how many turns and memories hold both, how strongly they go together, and the row numbers of the latest."""

    one: int
    other: int
    weight: int
    strength: float
    memories: tuple[int, ...]


async def concept_network(memory: Memory, user_id: str, asked: Network) -> ConceptNetwork:
    """The names and concepts of a user's memory that occur together.

    Args:
        memory: An open memory.
        user_id: Whose memory; an unknown user's is empty.
        asked: Which part of it.

    Raises:
        InvalidInput: If what it is to be about holds no visible character.
        StoreError: If the file cannot be read.
    """
    storage = memory.runtime.storage
    user = await storage.database.read(queries.users.find, user_id) or NOBODY
    about = None if asked.about is None else validate_text(asked.about, "about")
    mentions = await storage.database.read(queries.cooccurrence.mentions, user, about, LOOKED_AT)
    chosen, pairs = await asyncio.to_thread(woven, mentions, asked, centred=about is not None)
    told = await storage.database.read(
        queries.cooccurrence.texts, user, {key for pair in pairs for key in pair.memories}
    )
    nodes = tuple(
        Node(
            one.label.name,
            "name" if one.label.named else "concept",
            len(one.turns),
            len(one.memories),
        )
        for one in chosen
    )
    edges = tuple(
        Edge(
            nodes[pair.one].name,
            nodes[pair.other].name,
            pair.weight,
            pair.strength,
            tuple(Behind(*told[key]) for key in pair.memories if key in told),
        )
        for pair in pairs
    )
    return ConceptNetwork(nodes, edges)


def woven(
    mentions: Sequence[LabelMentions], asked: Network, *, centred: bool
) -> tuple[list[LabelMentions], list[Pair]]:
    """The mentions that become nodes, and the pairs among them.

    Args:
        mentions: Labels, the most frequent first.
        asked: The bounds.
        centred: Whether the first mention is the centre: then the others are those most often
            beside it.

    Returns:
        Nodes, the centre and then the most frequent first, and pairs of their places, those of the
        centre and then the strongest first.
    """
    if centred:
        centre, *others = mentions
        beside = [(_together(centre, one), one) for one in others]
        near = sorted(
            (pair for pair in beside if pair[0] >= asked.min_weight),
            key=lambda pair: (-pair[0], pair[1].label.key),
        )
        chosen = [centre, *(one for _, one in near[: asked.limit - 1])] if centre.count else []
    else:
        chosen = [one for one in mentions if one.count >= asked.min_count][: asked.limit]
    weights: Counter[tuple[int, int]] = Counter(
        pair
        for held in _by_place([one.turns for one in chosen]).values()
        for pair in combinations(held, 2)
    )
    behind: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
    for memory, held in sorted(_by_place([one.memories for one in chosen]).items(), reverse=True):
        for pair in combinations(held, 2):
            weights[pair] += 1
            if len(behind[pair]) < BEHIND:
                behind[pair].append(memory)
    pairs = [
        Pair(
            one,
            other,
            weight,
            weight / math.sqrt(chosen[one].count * chosen[other].count),
            tuple(behind[one, other]),
        )
        for (one, other), weight in weights.items()
        if weight >= asked.min_weight
    ]
    pairs.sort(
        key=lambda pair: (
            centred and pair.one > 0,
            -pair.strength,
            -pair.weight,
            pair.one,
            pair.other,
        )
    )
    return chosen, pairs[: EDGES_A_NODE * asked.limit]


def _together(one: LabelMentions, other: LabelMentions) -> int:
    return len(one.turns & other.turns) + len(one.memories & other.memories)


def _by_place(held: Sequence[frozenset[int]]) -> dict[int, list[int]]:
    """For each row number the places of the mentions it holds, ascending."""
    places: defaultdict[int, list[int]] = defaultdict(list)
    for place, keys in enumerate(held):
        for key in keys:
            places[key].append(place)
    return places
