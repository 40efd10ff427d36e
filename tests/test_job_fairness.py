"""Jobs are claimed in turn for all users, and a failing job delays no other."""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hotmem import Memory, Options, worker
from hotmem.consolidation.evolution import evolve
from hotmem.core.threads import ForegroundPriority
from hotmem.models import Language
from hotmem.models.encoder import Vectors
from hotmem.options import BackgroundOptions, EvolutionOptions
from hotmem.storage import Storage, queries
from hotmem.storage.queries import jobs, sessions, turns
from hotmem.storage.queries.jobs import UserRotation
from hotmem.storage.sqlite.connection import Connection, connect
from hotmem.types import Category, EvolutionResult, JobKind, UserKey
from tests.conversation import OpenMemory, remember, said
from tests.letters import LetterEncoder

ENCODER = queries.reembedding.identified(LetterEncoder.name, LetterEncoder.dimension)
SERVED = UserRotation()

if TYPE_CHECKING:
    from spacy.tokens import Doc

POISON = "poison"

SOON = Options(background=BackgroundOptions(pause_s=0.01))

NOW = datetime(2026, 3, 2, tzinfo=UTC)


class Choking(Language):
    """spaCy's model, failing on some texts."""

    def __init__(self, language: Language) -> None:
        self._language = language

    def parse(self, texts: Sequence[str], *, names: bool = True) -> "list[Doc]":
        if any(POISON in text for text in texts):
            raise ZeroDivisionError
        return self._language.parse(texts, names=names)

    def is_word(self, word: str) -> bool:
        return self._language.is_word(word)


class Failing(LetterEncoder):
    """A letter encoder that fails on some texts."""

    broken = True
    tried: Counter[str]

    def __init__(self) -> None:
        self.tried = Counter()

    def encode(self, texts: Sequence[str]) -> Vectors:
        self.tried.update(text for text in texts if POISON in text)
        if self.broken and any(POISON in text for text in texts):
            raise MemoryError
        return super().encode(texts)


def tell(conn: Connection, user: str, count: int, *, session: str = "monday") -> None:
    """Store turns of a user that have not been processed yet."""
    conn.execute("BEGIN")
    for number in range(count):
        turns.add(
            conn,
            said(f"I said {number}.", user=user, session=session, name=f"{user}{session}{number}"),
            NOW,
        )
    conn.execute("COMMIT")


def count(conn: Connection, sql: str) -> int:
    return int(conn.scalar(sql))


async def test_an_encoder_error_on_one_text_leaves_only_that_text_without_a_vector(
    database: Path, language: Language
) -> None:
    async with Memory.open(database, SOON, encoder=Failing(), language=language) as memory:
        await memory.remember(said(f"The {POISON} is in the cupboard.", user="eve"))
        for number in range(40):
            await memory.remember(said(f"I like walnuts with number {number}.", name=str(number)))
        async with asyncio.timeout(60):
            await memory.settle()
        (failure,) = [
            one
            for one in await memory.runtime.database.read_all(queries.job_failures.latest, 10)
            if one.work is JobKind.PASSAGE
        ]
        assert (failure.user_id, failure.tries, failure.error, failure.again_at) == (
            "eve",
            3,
            "MemoryError",
            None,
        )
        eve, ana = (
            await memory.runtime.database.read_all(queries.users.find, "eve"),
            await memory.runtime.database.read_all(queries.users.find, "ana"),
        )
        assert eve is not None and ana is not None
        assert (
            (await memory.runtime.database.read(queries.maintenance.stats, eve)).failed,
            (await memory.runtime.database.read(queries.maintenance.stats, ana)).failed,
        ) == (
            2,  # the passage, and what is remembered of it
            0,
        )
    with closing(connect(database, read_only=True)) as conn:
        assert count(conn, "SELECT count(*) FROM passages WHERE vector IS NULL") == 1
        assert count(conn, "SELECT count(*) FROM memories WHERE vector IS NULL") == 0


async def test_a_failing_summary_does_not_affect_others(database: Path, language: Language) -> None:
    async with Memory.open(
        database, SOON, encoder=LetterEncoder(), language=Choking(language)
    ) as memory:
        for number in range(5):
            text = (
                f"I keep the {POISON} in the cupboard."
                if number == 2
                else f"I like walnuts with number {number}."
            )
            await memory.remember(said(text, session=f"day {number}", name=str(number)))
            await memory.end_session(user_id="ana", session_id=f"day {number}")
        async with asyncio.timeout(60):
            await memory.settle()
        present = [
            await memory.lookup.summary(user_id="ana", session_id=f"day {number}") is not None
            for number in range(5)
        ]
        assert present == [True, True, False, True, True]
        assert {
            (one.work, one.piece)
            for one in await memory.runtime.database.read_all(queries.job_failures.latest, 10)
        } == {
            (JobKind.TURN, "2"),
            (JobKind.SESSION, "day 2"),
        }


async def test_a_session_is_summarised_without_a_turn_that_cannot_be_embedded(
    database: Path, language: Language
) -> None:
    async with Memory.open(database, SOON, encoder=Failing(), language=language) as memory:
        await memory.remember(said(f"The {POISON} is in the cupboard."))
        await memory.remember(said("I like walnuts."))
        await memory.end_session(user_id="ana", session_id="monday")
        async with asyncio.timeout(60):
            await memory.settle()
        summary = await memory.lookup.summary(user_id="ana", session_id="monday")
        assert summary is not None and summary.topics == ("walnuts",)


async def test_a_turn_is_processed_while_another_user_has_thousands_waiting(
    database: Path, conn: Connection, language: Language
) -> None:
    tell(conn, "ana", 5000)
    turns.add(conn, said("My dog is called Potola.", user="ben", name="b"), NOW)
    async with Memory.open(database, encoder=LetterEncoder(), language=language) as memory:
        async with asyncio.timeout(60):
            while not await memory.memories("ben"):  # noqa: ASYNC110 - a background job stores them
                await asyncio.sleep(0.01)
        assert count(conn, "SELECT count(*) FROM pending_turns") > 4900
        assert [one.object for one in await memory.memories("ben")] == ["Potola"]


@settings(max_examples=60)
@given(
    st.lists(st.tuples(st.integers(1, 6), st.sampled_from([None, 1, 2, 3])), max_size=60),
    st.integers(1, 8),
)
def test_no_user_waits_longer_than_one_round_of_all_users(
    rows: list[tuple[int, int | None]], limit: int
) -> None:
    """Imports 1 and 2 are complete, 3 is not; spoken turns come first."""
    with closing(Connection(":memory:", apsw.SQLITE_OPEN_READWRITE, None)) as conn:
        conn.execute(
            "CREATE TABLE pending_turns (turn INTEGER PRIMARY KEY, user_key INTEGER, import "
            "INTEGER, held INTEGER DEFAULT 0)"
        )
        conn.execute("CREATE TABLE imports (id INTEGER PRIMARY KEY, state TEXT, user_key INTEGER)")
        conn.execute(
            "INSERT INTO imports VALUES (1, 'taken', 1), (2, 'taken', 2), (3, 'taking', 3)"
        )
        conn.executemany("INSERT INTO pending_turns (user_key, import) VALUES (?, ?)", rows)
        served, waits = jobs.UserRotation(), Counter[int]()
        while keys := jobs.next_rows(conn, JobKind.TURN, served, limit):
            assert len(keys) == len(set(keys)) <= limit
            said_by = {
                user
                for user, imported in conn.execute("SELECT user_key, import FROM pending_turns")
                if imported is None
            }
            taken = [
                conn.execute(
                    "SELECT user_key, import FROM pending_turns WHERE turn = ?", (key,)
                ).fetchone()
                for key in keys
            ]
            assert len({user for user, imported in taken if imported is None}) == min(
                limit, len(said_by)
            )
            for user in said_by:
                waits[user] = 0 if user in {who for who, _ in taken} else waits[user] + 1
                assert waits[user] <= 6 // limit + 1
            conn.executemany("DELETE FROM pending_turns WHERE turn = ?", [(key,) for key in keys])
        assert set(conn.column("SELECT import FROM pending_turns")) <= {3}


def instructions(conn: Connection, run: Callable[[], object]) -> int:
    """Return the number of SQLite instructions that a call takes, in tens."""
    taken = 0

    def counting() -> bool:
        nonlocal taken
        taken += 1
        return False

    conn.set_progress_handler(counting, 10)
    run()
    conn.set_progress_handler(None)
    return taken


@pytest.mark.parametrize("held", [0, 1], ids=["waiting", "set aside"])
def test_choosing_a_job_does_not_get_slower_with_ten_times_as_many_waiting(
    conn: Connection, held: int
) -> None:
    def chosen() -> None:
        jobs.next_rows(conn, JobKind.TURN, jobs.UserRotation(), 4)
        jobs.next_rows(conn, JobKind.PASSAGE, jobs.UserRotation(), 4)
        jobs.next_session(conn, jobs.UserRotation())
        jobs.any_idle_session(conn, NOW + timedelta(days=1), 600)

    def more(users: range) -> int:
        conn.execute("BEGIN")
        for user in users:
            for number in range(4):
                turns.add(conn, said("I said it.", user=f"u{user}", name=f"{user}/{number}"), NOW)
        for table in ("pending_turns", "passages", "sessions"):
            conn.execute(f"UPDATE {table} SET held = ?", (held,))
        conn.execute("UPDATE sessions SET summary_due = 2 WHERE id % 2")
        conn.execute("COMMIT")
        return instructions(conn, chosen)

    few = more(range(200))
    assert more(range(200, 2000)) <= few * 1.2 + 5


async def test_permanent_failures_are_retried_in_part_at_each_open_and_repaired_ones_in_full(
    database: Path, language: Language
) -> None:
    encoder = Failing()
    options = Options(background=BackgroundOptions(attempts=1))
    async with Memory.open(
        database, options, encoder=encoder, language=Choking(language)
    ) as memory:
        for number in range(150):
            await memory.remember(said(f"{POISON} {number}", name=str(number)))
        await memory.settle()
    with closing(connect(database)) as conn:
        assert count(conn, "SELECT count(*) FROM failures WHERE again_at IS NULL") == 300
        encoder.tried.clear()
        async with Memory.open(
            database, options, encoder=encoder, language=Choking(language)
        ) as memory:
            await memory.settle()
        assert len(encoder.tried) <= 64
        encoder.broken = False
        async with Memory.open(database, options, encoder=encoder, language=language) as memory:
            await memory.settle()
        assert count(conn, "SELECT count(*) FROM failures") == 0
        assert (
            count(conn, "SELECT count(*) FROM pending_turns")
            == count(conn, "SELECT count(*) FROM passages WHERE vector IS NULL")
            == 0
        )


async def test_another_encoder_embeds_failed_texts_too(database: Path, language: Language) -> None:
    class Another(LetterEncoder):
        name = "another"

    async with Memory.open(
        database,
        Options(background=BackgroundOptions(attempts=1)),
        encoder=Failing(),
        language=language,
    ) as memory:
        await remember(memory, f"The {POISON} is in the cupboard.")
    async with Memory.open(database, encoder=Another(), language=language) as memory:
        await memory.settle()
        assert await memory.runtime.database.read_all(queries.job_failures.latest, 10) == []
        assert (
            await memory.runtime.database.read_all(queries.embedding.waiting, ENCODER, 10, SERVED)
            == []
        )


async def test_an_import_that_cannot_be_rolled_back_does_not_affect_others(
    database: Path, conn: Connection
) -> None:
    conn.execute("INSERT INTO users (public_id) VALUES ('ana'), ('ben')")
    conn.execute(
        "INSERT INTO imports (user_key, source, state, begun_at, new_user) VALUES (1, 'a', "
        "'failed', 0, 0), (2, 'b', 'failed', 0, 0)"
    )
    conn.execute("INSERT INTO import_changes VALUES (1, 'nonsense', '', '0')")
    async with Memory.open(
        database, SOON, encoder=LetterEncoder(), language=Language.__new__(Language)
    ) as memory:
        async with asyncio.timeout(60):
            await memory.settle()
        assert [
            (one.work, one.user_id, one.error)
            for one in await memory.runtime.database.read_all(queries.job_failures.latest, 10)
        ] == [(JobKind.IMPORT, "ana", "KeyError")]
    assert conn.execute("SELECT id FROM imports").fetchall() == [(1,)]


def test_sessions_are_summarised_in_turn_for_all_users(conn: Connection) -> None:
    for number in range(30):
        tell(conn, "ana", 1, session=str(number))
    tell(conn, "ben", 1)
    conn.execute("UPDATE passages SET vector = x'00'")
    assert jobs.any_idle_session(conn, NOW + timedelta(hours=1), 600)
    jobs.end_idle_sessions(conn, NOW + timedelta(hours=1), 600)
    assert not jobs.any_idle_session(conn, NOW + timedelta(hours=1), 600)
    served, owners = jobs.UserRotation(), []
    for _ in range(3):
        due = jobs.next_session(conn, served)[0] or jobs.next_session(conn, served)[0]
        assert due is not None
        sessions.done(conn, due.user, due.key)
        owners.append(due.user)
    assert owners == [1, 2, 1]


async def test_a_category_that_cannot_evolve_does_not_affect_others(
    database: Path, open_memory: OpenMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def evolving(
        storage: Storage,
        precedence: ForegroundPriority,
        user: UserKey,
        category: Category,
        *rest: Any,  # noqa: ANN401
    ) -> EvolutionResult:
        if category is Category.PROJECTS:
            raise ZeroDivisionError
        return await evolve(storage, precedence, user, category, *rest)

    monkeypatch.setattr(worker, "evolve", evolving)
    options = Options(
        background=BackgroundOptions(pause_s=0.01),
        evolution=EvolutionOptions(every_s=0.0, cluster_size=2),
    )
    async with open_memory(database, options) as memory:
        for category in (Category.PROJECTS, Category.LEARNINGS):
            for text in ("The boiler hums.", "The ferry is late.", "The cello is out of tune."):
                await memory.store_memory(
                    f"{text} ({category})", user_id="ana", context={"category": category}
                )
        async with asyncio.timeout(60):
            await memory.settle()
        (failure,) = await memory.runtime.database.read_all(queries.job_failures.latest, 10)
        assert (failure.work, failure.piece, failure.tries, failure.again_at) == (
            JobKind.CATEGORY,
            "projects",
            3,
            None,
        )
    with closing(connect(database, read_only=True)) as conn:
        assert conn.execute("SELECT DISTINCT category FROM evolutions").fetchall() == [
            ("learnings",)
        ]
