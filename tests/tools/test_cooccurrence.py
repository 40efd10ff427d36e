"""concept_network: co-occurrence of names and concepts."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hotmem import InvalidInput, Memory
from hotmem.operations.requests import checked
from hotmem.tools.maintenance import (
    EDGES_PER_NODE,
    NetworkArguments,
    concept_network,
    select_network,
)
from hotmem.types import Label, LabelMentions
from tests.conversation import said


async def tell(memory: Memory) -> None:
    """Two sessions about a dog, a friend and a town.

    Another user's words; something stored with a tag.
    """
    for place, text in enumerate(
        (
            "Potola and Rui went to Porto.",
            "Rui likes Potola a lot.",
            "Glad you like Potola.",
            "I am glad it rains, so glad.",
        )
    ):
        await memory.remember(said(text, minutes=place))
    await memory.remember(
        said("My friend Rui moved to Porto last spring.", session="tuesday", minutes=1500)
    )
    await memory.remember(said("Rui has a yacht in Porto.", user="ben", speaker="Ben"))
    for session in ("monday", "tuesday"):
        await memory.end_session(user_id="ana", session_id=session)
    await memory.settle()
    await memory.store_memory(
        "Rui keeps the boat's papers.", user_id="ana", context={"tags": ["sailing"]}
    )


async def test_names_mentioned_together(memory: Memory) -> None:
    await tell(memory)
    found = await concept_network(memory, "ana", NetworkArguments())
    nodes = {node.name: node for node in found.nodes}
    assert {"Rui", "Potola", "Porto"} <= nodes.keys() and nodes["Rui"].kind == "name"
    assert "Ana" not in nodes, "who speaks goes with everything"
    assert nodes["Potola"].turns == 3
    edges = {frozenset((edge.one, edge.other)): edge for edge in found.edges}
    together = edges[frozenset(("Rui", "Porto"))]
    assert together.weight >= 2 and any("Porto" in one.content for one in together.memories)
    known = {one.id: one.text for one in await memory.memories("ana", past=True)}
    assert all(known[one.id] == one.content for edge in found.edges for one in edge.memories)
    assert together.strength == pytest.approx(
        together.weight
        / math.sqrt(
            (nodes["Rui"].turns + nodes["Rui"].memories)
            * (nodes["Porto"].turns + nodes["Porto"].memories)
        )
    )
    assert await concept_network(memory, "nobody", NetworkArguments()) == await concept_network(
        memory, "nobody", NetworkArguments(about="Rui")
    )


async def test_network_around_a_name_or_words(memory: Memory) -> None:
    await tell(memory)
    around = await concept_network(memory, "ana", NetworkArguments(about="porto"))
    assert around.nodes[0].name == "Porto" and {
        edge.one for edge in around.edges if edge.weight
    }.issuperset({"Porto"})
    tagged = await concept_network(memory, "ana", NetworkArguments(about="sailing"))
    assert [(node.name, node.memories) for node in tagged.nodes][:1] == [("sailing", 1)]
    assert "Rui" in {node.name for node in tagged.nodes}
    for unsaid in ("violin", "yacht"):
        assert (await concept_network(memory, "ana", NetworkArguments(about=unsaid))).nodes == ()


async def test_a_capitalised_first_word_is_not_a_name(memory: Memory) -> None:
    await tell(memory)
    found = await concept_network(memory, "ana", NetworkArguments(min_count=1))
    assert ("Glad", "name") not in {(node.name, node.kind) for node in found.nodes}


@pytest.mark.parametrize(
    ("asked", "error"),
    [
        ({"limit": 1}, "limit is 1"),
        ({"about": ""}, "about is ''"),
        ({"min_weight": 0}, "min_weight is 0"),
    ],
)
def test_an_invalid_limit_is_named(asked: dict[str, object], error: str) -> None:
    with pytest.raises(InvalidInput, match=error):
        checked(NetworkArguments, asked)


async def test_blank_text_is_refused(memory: Memory) -> None:
    with pytest.raises(InvalidInput, match="about is empty"):
        await concept_network(memory, "ana", NetworkArguments(about=" "))


def mention(name: str, turns: set[int], memories: set[int]) -> LabelMentions:
    return LabelMentions(Label(name, name, named=True), frozenset(turns), frozenset(memories))


def test_edges_by_arithmetic() -> None:
    chosen, pairs = select_network(
        [mention("a", {1, 2, 3}, {9}), mention("b", {2, 3}, {8, 9}), mention("c", {4}, set())],
        NetworkArguments(),
        centred=False,
    )
    assert [one.label.name for one in chosen] == ["a", "b"]
    (pair,) = pairs
    assert (pair.one, pair.other, pair.weight, pair.memories) == (
        0,
        1,
        3,
        (9,),
    ) and pair.strength == pytest.approx(3 / 4)


rows = st.frozensets(st.integers(0, 12), max_size=8)


@given(
    st.lists(st.tuples(rows, rows), max_size=8), st.integers(2, 6), st.integers(1, 3), st.booleans()
)
def test_the_network_keeps_its_limits(
    held: list[tuple[frozenset[int], frozenset[int]]], limit: int, least: int, centred: bool
) -> None:
    mentions = [
        LabelMentions(Label(str(place), str(place), named=True), *both)
        for place, both in enumerate(held)
    ]
    asked = NetworkArguments(limit=limit, min_weight=least)
    if centred and not mentions:
        return
    chosen, pairs = select_network(mentions, asked, centred=centred)
    assert len(chosen) <= limit and len(pairs) <= EDGES_PER_NODE * limit
    for pair in pairs:
        one, other = chosen[pair.one], chosen[pair.other]
        assert (
            pair.weight
            == len(one.turns & other.turns) + len(one.memories & other.memories)
            >= least
        )
        assert 0 < pair.strength <= 1 and set(pair.memories) <= one.memories & other.memories
