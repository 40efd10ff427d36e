"""Histories built quickly are what the background work would leave."""

from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from eval.bench.baseline import BaselineSearch
from eval.bench.history import Nearest, SentenceCache, build, spoken
from eval.bench.synthetic import SESSION_TURNS, USER, SyntheticConversations
from hotmem import Memory
from hotmem.models import CachedEncoder, Language
from hotmem.models.encoder import unit_rows
from hotmem.storage.sqlite.connection import connect

PEOPLE, EACH = 2, 2 * SESSION_TURNS


def test_the_sessions_of_all_users_take_turns() -> None:
    told = list(spoken(PEOPLE, EACH))
    assert len({(turn.user_id, turn.id) for turn in told}) == PEOPLE * EACH
    assert [turn.user_id for turn in told[::SESSION_TURNS]] == [USER, f"{USER}-1"] * 2
    assert [turn.text for turn in told if turn.user_id == USER] == [
        turn.text for turn in SyntheticConversations().turns(EACH)
    ]


async def test_a_built_history_is_complete_and_answers(
    database: Path, tmp_path: Path, encoder: CachedEncoder, language: Language
) -> None:
    floor = BaselineSearch(tmp_path / "floor", encoder.dimension)
    told: list[int] = []
    build(
        database,
        spoken(PEOPLE, EACH),
        SentenceCache(encoder, language),
        floor,
        Nearest.to(encoder.encode(["Marta"]), 3),
        told.append,
    )
    assert sum(told) == PEOPLE * EACH
    with closing(connect(database, read_only=True)) as conn:

        def number(sql: str) -> int:
            return int(conn.scalar(sql))

        assert (
            number("SELECT count(*) FROM turns")
            == number("SELECT count(*) FROM passages")
            == PEOPLE * EACH
        )
        assert number("SELECT count(*) FROM passage_signs") == PEOPLE * EACH
        assert (
            number("SELECT count(*) FROM summaries WHERE vector NOT NULL")
            == number("SELECT count(*) FROM sessions")
            == 4
        )
        assert number("SELECT count(*) FROM memories WHERE vector NOT NULL") > 5
        spans = conn.execute(
            "SELECT substr(t.text, x.start + 1, x.stop - x.start) FROM sources x "
            "JOIN turns t ON t.id = x.turn"
        ).fetchall()
        assert all(len(span) > 5 for (span,) in spans)
    near, held = floor.search("Did my sister Marta call?", 1, encoder)
    assert near and held and len(near) <= EACH
    floor.close()
    async with Memory.open(database, encoder=encoder, language=language) as memory:
        await memory.settle()
        question = SyntheticConversations().turns(EACH)
        block = await memory.recall(next(question).text, user_id=USER)
        assert block.items


@pytest.mark.parametrize("portion", [7, 50])
def test_the_exact_nearest_are_those_of_one_search(portion: int) -> None:
    drawn = np.random.default_rng(3).normal(size=(60, 16)).astype(np.float32)
    rows, asked = unit_rows(drawn[:50]), unit_rows(drawn[50:])
    nearest = Nearest.to(asked, 5)
    for start in range(0, 50, portion):
        nearest.see(
            range(start + 1, start + 1 + len(rows[start : start + portion])),
            rows[start : start + portion],
        )
    wanted = 1 + np.argsort(-(asked @ rows.T), axis=1)[:, :5]
    assert nearest.ordered().tolist() == wanted.tolist()
