"""What a fleet's logs are compared with, and who calls."""

from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from eval.bench.fleet.bot import callers, foreign_words, secret
from eval.bench.fleet.log import Entry, Log
from eval.bench.fleet.verification import StoredTurn, Verified, verify

ENTRIES: list[tuple[Entry, dict[str, Any]]] = [
    (Entry.READY, {}),
    (Entry.CALL, {"session": "one", "user": "ana"}),
    (Entry.SAID, {"session": "one", "text": "first"}),
    (Entry.ACKNOWLEDGED, {"session": "one", "id": "1", "spooled": False}),
    (Entry.SAID, {"session": "one", "text": "second"}),
    (Entry.ACKNOWLEDGED, {"session": "one", "id": "2", "spooled": True}),
    (Entry.RECALL, {"foreign": 0, "ms": 1.0}),
    (Entry.DELIVERED, {"session": "one", "turns": ["1"]}),
    (Entry.ENDED, {"session": "one", "late": 1}),
]
STORED = [StoredTurn("ana", "one", "1", "first"), StoredTurn("ana", "one", "2", "second")]
GOOD = Verified(
    calls=1, acknowledged=2, spooled=1, stored=2, lost=0, doubled=0, disordered=0, told=0,
    killed=0, silent=0, foreign=0, late=1, unanswered=0,
)  # fmt: skip


def verified(
    tmp_path: Path, entries: list[tuple[Entry, dict[str, Any]]], stored: list[StoredTurn]
) -> dict[str, int]:
    """Return what differs from `GOOD`."""
    good = asdict(GOOD)
    log = Log(tmp_path / "bot.jsonl")
    for kind, fields in entries:
        log.write(kind, **fields)
    found = verify([list(log.entries())], stored)
    return {name: number for name, number in asdict(found).items() if number != good[name]}


@pytest.mark.parametrize(
    ("stored", "found"),
    [
        (STORED, {}),
        (STORED[:1], {"stored": 1, "lost": 1, "silent": 1}),
        (STORED[::-1], {"disordered": 1}),
        ([*STORED, StoredTurn("ana", "one", "3", "second")], {"stored": 3, "doubled": 1}),
        ([*STORED, StoredTurn("ana", "two", "3", "What?")], {"stored": 3, "doubled": 1}),
        (
            [StoredTurn("ben", "one", "1", "first"), STORED[1]],
            {"lost": 1, "foreign": 1},
        ),
    ],
)
def test_what_the_database_holds(
    stored: list[StoredTurn], found: dict[str, int], tmp_path: Path
) -> None:
    assert verified(tmp_path, ENTRIES, stored) == found


def test_turns_that_were_not_acknowledged(tmp_path: Path) -> None:
    said = (Entry.SAID, {"session": "one", "text": "third"})
    told = (Entry.ERROR, {"session": "one", "name": "remember: StoreUnreachable"})
    ended = ENTRIES[-1]
    before = ENTRIES[:-1]
    for place, (entries, found) in enumerate(
        [
            ([*before, said, ended], {"silent": 1}),
            ([*before, said, told, ended], {"told": 1}),
            ([*before, said], {"killed": 1, "late": 0}),
        ]
    ):
        folder = tmp_path / str(place)
        folder.mkdir()
        assert verified(folder, entries, STORED) == found


def test_words_of_other_users() -> None:
    texts = [f"I call this {secret(3)}.", f"{secret(30).title()} it is.", "A vault."]
    assert foreign_words(texts, 3) == 1
    assert len({secret(number) for number in range(2000)}) == 2000


def test_some_callers_call_again() -> None:
    assert list(islice(callers([1, 2, 3, 4]), 8)) == [1, 2, 3, 2, 4, 1, 2, 1]
    assert list(islice(callers([1]), 4)) == [1, 1, 1, 1]
