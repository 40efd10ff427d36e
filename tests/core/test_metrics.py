"""OpenTelemetry metrics of searches."""

from collections.abc import Callable
from typing import Any

from hotmem import Memory
from tests.conversation import remember


async def test_a_search_is_counted_with_numbers_only(
    memory: Memory, measured: Callable[[], dict[str, list[Any]]]
) -> None:
    await remember(memory, "My parrot is called Umlaut.")
    before = measured()
    for _ in range(2):
        await memory.recall("What's my parrot called?", user_id="ana")
    await memory.search_memory("parrot", user_id="ana")
    await memory.search_contextual("parrot", user_id="ana")
    after = measured()

    def risen(name: str, **attributes: object) -> float:
        """By how much a sum, or the number of durations, has risen."""
        return sum(
            sign * getattr(point, "value", getattr(point, "count", 0))
            for sign, points in ((1, after), (-1, before))
            for point in points.get(name, [])
            if attributes.items() <= point.attributes.items()
        )

    assert risen("hotmem.search", kind="recall") == 2
    assert risen("hotmem.search", kind="search_memory") == 1
    assert risen("hotmem.search", kind="search_contextual") == 1
    assert risen("hotmem.search_hits", kind="recall", source="facts") >= 2
    assert risen("hotmem.search_hits", kind="search_memory") >= 1
    assert risen("hotmem.embeddings", cached=True) >= 1, "the question was asked twice"
    assert risen("hotmem.embeddings", cached=False) >= 1
    assert "mlaut" not in str(after)
