"""concept_network: co-occurrence of names and concepts in turns and memories.

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

MAX_MENTIONS: Final = 300
"""Maximum names, and likewise concepts, considered."""

EDGES_PER_NODE: Final = 3
"""Mean number of edges per node."""

MEMORIES_PER_EDGE: Final = 3
"""Maximum memories listed per edge, latest first."""


@dataclass(frozen=True, slots=True)
class NetworkArguments:
    """Arguments of `concept_network`.

    Attributes:
        about: Only what is mentioned together with this name or these words.
        limit: Maximum nodes, 2 to 200.
        min_count: Minimum turns and memories that mention a node.
        min_weight: Minimum turns and memories that mention both nodes of an edge.
    """

    __pydantic_config__ = CLOSED

    about: (
        Annotated[
            str,
            Field(
                min_length=1,
                max_length=200,
                description="Only what is mentioned together with this name or these words.",
            ),
        ]
        | None
    ) = None
    limit: Annotated[int, Field(ge=2, le=200, description="Maximum nodes.")] = 40
    min_count: Annotated[int, Field(ge=1, description="Minimum turns and memories of a node.")] = 2
    min_weight: Annotated[int, Field(ge=1, description="Minimum turns and memories of a pair.")] = 1


@dataclass(frozen=True, slots=True)
class Node:
    """A name or a concept.

    Attributes:
        name: Its spelling.
        kind: "name" or "concept".
        turns: Number of turns that mention it.
        memories: Number of memories that mention it.
    """

    name: str
    kind: str
    turns: int
    memories: int


@dataclass(frozen=True, slots=True)
class EdgeMemory:
    """A memory that mentions both nodes of an edge: its ID and text."""

    id: str
    content: str


@dataclass(frozen=True, slots=True)
class Edge:
    """Two nodes that are mentioned together.

    Attributes:
        one: The more frequent node.
        other: The other node.
        weight: Number of turns and memories that mention both.
        strength: Normalised weight, 0 to 1: weight / √(count of one × count of the other).
        memories: The latest memories that mention both.
    """

    one: str
    other: str
    weight: int
    strength: float
    memories: tuple[EdgeMemory, ...]


@dataclass(frozen=True, slots=True)
class ConceptNetwork:
    """Nodes, most frequent first, and edges, strongest first.

    With `about`, that node and its edges come first.
    """

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]


@dataclass(frozen=True, slots=True)
class Pair:
    """An edge between two mentions, given by their indices.

    Attributes:
        one: Index of the more frequent mention.
        other: Index of the other.
        weight: Number of turns and memories that mention both.
        strength: Normalised weight, 0 to 1.
        memories: Row numbers of the latest memories that mention both.
    """

    one: int
    other: int
    weight: int
    strength: float
    memories: tuple[int, ...]


async def concept_network(
    memory: Memory, user_id: str, arguments: NetworkArguments
) -> ConceptNetwork:
    """Return the names and concepts of a user that are mentioned together.

    Args:
        memory: An open memory.
        user_id: User ID; an unknown user has an empty network.
        arguments: Limits and focus of the network.

    Raises:
        InvalidInput: If `about` has no visible character.
        StoreError: If the file cannot be read.
    """
    database = memory.runtime.database
    user = await database.read_all(queries.users.find, user_id) or NOBODY
    about = None if arguments.about is None else validate_text(arguments.about, "about")
    mentions = await database.read(queries.advice.mentions, user, about, MAX_MENTIONS)
    chosen, pairs = await asyncio.to_thread(
        select_network, mentions, arguments, centred=about is not None
    )
    texts = await database.read(
        queries.advice.texts, user, {key for pair in pairs for key in pair.memories}
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
            tuple(EdgeMemory(*texts[key]) for key in pair.memories if key in texts),
        )
        for pair in pairs
    )
    return ConceptNetwork(nodes, edges)


def select_network(
    mentions: Sequence[LabelMentions], arguments: NetworkArguments, *, centred: bool
) -> tuple[list[LabelMentions], list[Pair]]:
    """Select the mentions that become nodes, and the edges between them.

    Args:
        mentions: Mentions, most frequent first.
        arguments: Limits of the network.
        centred: The first mention is the centre; the others are those most often mentioned
            together with it.

    Returns:
        Nodes, the centre first and then by frequency; and edges, those of the centre first and
        then by strength.
    """
    if centred:
        centre, *others = mentions
        counted = [(_cooccurrences(centre, one), one) for one in others]
        nearest = sorted(
            (pair for pair in counted if pair[0] >= arguments.min_weight),
            key=lambda pair: (-pair[0], pair[1].label.key),
        )
        chosen = (
            [centre, *(one for _, one in nearest[: arguments.limit - 1])] if centre.count else []
        )
    else:
        chosen = [one for one in mentions if one.count >= arguments.min_count][: arguments.limit]
    weights: Counter[tuple[int, int]] = Counter(
        pair
        for held in _mentions_by_row([one.turns for one in chosen]).values()
        for pair in combinations(held, 2)
    )
    latest: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
    for memory, held in sorted(
        _mentions_by_row([one.memories for one in chosen]).items(), reverse=True
    ):
        for pair in combinations(held, 2):
            weights[pair] += 1
            if len(latest[pair]) < MEMORIES_PER_EDGE:
                latest[pair].append(memory)
    pairs = [
        Pair(
            one,
            other,
            weight,
            weight / math.sqrt(chosen[one].count * chosen[other].count),
            tuple(latest[one, other]),
        )
        for (one, other), weight in weights.items()
        if weight >= arguments.min_weight
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
    return chosen, pairs[: EDGES_PER_NODE * arguments.limit]


def _cooccurrences(one: LabelMentions, other: LabelMentions) -> int:
    return len(one.turns & other.turns) + len(one.memories & other.memories)


def _mentions_by_row(held: Sequence[frozenset[int]]) -> dict[int, list[int]]:
    """Return, for each row number, the ascending indices of the mentions in it."""
    places: defaultdict[int, list[int]] = defaultdict(list)
    for place, keys in enumerate(held):
        for key in keys:
            places[key].append(place)
    return places
