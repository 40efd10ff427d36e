"""Turns before another, memories of a kind or tag, and reminders that no turn states."""

from datetime import timedelta
from functools import partial

from hotmem.readings import store_understanding
from hotmem.storage import queries
from hotmem.storage.database import Connection, Database
from hotmem.storage.queries.jobs import UserRotation
from hotmem.types import Category, Interval, Kind, NewMemory, Statement, Understanding, UserKey
from tests.letters import NO_SIGNS, LetterEncoder
from tests.storage.contract.story import NOW, say


def store(conn: Connection, user: UserKey, text: str, kind: Kind) -> str:
    """Store a memory as written; return its id."""
    category = Category.REMINDERS if kind is Kind.REMINDER else Category.CONTEXTS
    vector = LetterEncoder().encode([text])[0]
    memory = NewMemory(text, kind, category, 3)
    return queries.new_memories.insert(conn, user, memory, vector, NO_SIGNS, NOW, "a test")


def state_reminder(conn: Connection, text: str) -> None:
    """Store a reminder that the next waiting turn states."""
    ((key, said),) = queries.turns.waiting(conn, UserRotation(), 1)
    kind, category = Kind.REMINDER, Category.REMINDERS
    stated = Statement(text, "Skipper", "has to", text, kind, category, 3, 0, len(said.text))
    read = Understanding((stated,))
    store_understanding(conn, key, read)


def state_tide(conn: Connection) -> None:
    """Store that the tide turns at six as read from the next waiting turn."""
    ((key, said),) = queries.turns.waiting(conn, UserRotation(), 1)
    words = ("The tide turns at six.", "tide", "turns at", "six")
    stated = Statement(*words, Kind.FACT, Category.CONTEXTS, 3, 0, len(said.text))
    read = Understanding((stated,))
    store_understanding(conn, key, read)


def of_kind(
    conn: Connection, user: UserKey, kind: Kind, among: list[int], latest: int
) -> list[str]:
    """Texts of the memories of a kind."""
    keys = queries.memories.of_kind(conn, user, kind, among, latest)
    return [text_of(conn, key) for key in keys]


def stored_reminders(conn: Connection, user: UserKey, limit: int) -> list[str]:
    """Texts of the reminders that no turn states."""
    return [text_of(conn, key) for key in queries.memories.stored_reminders(conn, user, limit)]


def text_of(conn: Connection, key: int) -> str:
    ((text,),) = conn.execute("SELECT text FROM memories WHERE id = ?", (key,))
    return str(text)


def all_keys(conn: Connection) -> list[int]:
    return conn.column("SELECT id FROM memories ORDER BY id")


async def test_turns_directly_before_another(
    database: Database, ana: UserKey, ben: UserKey
) -> None:
    await database.write_all(say, "One.", "Two.", "Three.")
    await database.write_all(say, "Of the cabin.", session="cabin")
    await database.write_all(say, "Of Ben.", user="ben")
    await database.write_all(say, "One.", "Two.", "Three.", "Four.", session="pier")

    def before(conn: Connection, text: str, limit: int) -> list[str]:
        key = max(key for key, one in queries.turns.of_user(conn, ana, 0, 99) if one.text == text)
        return [one.text for one in queries.turns.preceding(conn, key, limit)]

    assert await database.read_all(before, "Four.", 2) == ["Three.", "Two."]
    assert await database.read_all(before, "Three.", 9) == ["Two.", "One."]
    assert await database.read_all(before, "One.", 9) == []
    assert await database.read_all(before, "Of the cabin.", 9) == []


async def test_current_memories_from_before_a_turn(
    database: Database, ana: UserKey, ben: UserKey
) -> None:
    for text in ("One.", "Two.", "Three."):
        await database.write(store, ana, text, Kind.FACT)
    await database.write(store, ben, "Of Ben.", Kind.FACT)
    await database.write_all(say, "Later.")

    def before(conn: Connection, keys: list[int], latest: int) -> list[str]:
        (turn,) = [key for key, one in queries.turns.of_user(conn, ana, 0, 99)]
        found = queries.memories.current_around(conn, ana, turn, keys, latest)
        return [one.text for one in found]

    first, *others = await database.read_all(all_keys)
    assert await database.read_all(before, [], 2) == ["Three.", "Two."]
    assert await database.read_all(before, [first], 1) == ["One.", "Three."]
    assert await database.read_all(before, [first, *others], 0) == ["Three.", "Two.", "One."]


async def test_current_memories_from_after_a_turn(
    database: Database, ana: UserKey, ben: UserKey
) -> None:
    await database.write_all(say, "Earlier.")
    for text in ("One.", "Two.", "Three."):
        await database.write(store, ana, text, Kind.FACT)
    await database.write(store, ben, "Of Ben.", Kind.FACT)

    def after(conn: Connection, keys: list[int], latest: int) -> list[str]:
        (turn,) = [key for key, one in queries.turns.of_user(conn, ana, 0, 99)]
        found = queries.memories.current_around(conn, ana, turn, keys, latest, after=True)
        return [one.text for one in found]

    first, *others = await database.read_all(all_keys)
    assert await database.read_all(after, [], 1) == ["Three."]
    assert await database.read_all(after, [first, *others], 0) == ["Three.", "Two.", "One."]


async def test_memories_of_a_kind(database: Database, ana: UserKey, ben: UserKey) -> None:
    names = [f"Reminder {number}." for number in range(4)]
    for text in names:
        await database.write(store, ana, text, Kind.REMINDER)
    await database.write(store, ana, "A fact.", Kind.FACT)
    await database.write(store, ben, "Reminder of Ben.", Kind.REMINDER)
    everything = await database.read_all(all_keys)
    *_, last = names
    assert await database.read(of_kind, ana, Kind.REMINDER, [], 2) == [last, names[2]]
    assert sorted(await database.read(of_kind, ana, Kind.REMINDER, everything, 1)) == names
    assert (await database.read(of_kind, ana, Kind.REMINDER, everything, 1))[0] == last
    assert await database.read(of_kind, ana, Kind.FACT, everything, 9) == ["A fact."]
    assert await database.read(of_kind, ben, Kind.REMINDER, everything, 9) == ["Reminder of Ben."]
    assert await database.read(of_kind, ana, Kind.PREFERENCE, everything, 9) == []


async def test_the_latest_memories_of_kinds_categories_and_a_period(
    database: Database, ana: UserKey, ben: UserKey
) -> None:
    for user in (ana, ben):
        await database.write(store, user, "A preference.", Kind.PREFERENCE)
        await database.write(store, user, "A reminder.", Kind.REMINDER)
        await database.write(store, user, "A fact.", Kind.FACT)

    def latest(
        conn: Connection, kinds: list[Kind], categories: list[Category], hours: int, limit: int
    ) -> list[str]:
        end = NOW + timedelta(hours=hours)
        period = Interval(end - timedelta(hours=1), end) if hours else None
        keys = queries.memories.latest_of(conn, ana, kinds, categories, period, limit)
        return [text_of(conn, key) for key in keys]

    read = database.read_all
    assert await read(latest, [Kind.PREFERENCE], [], 0, 9) == ["A preference."]
    both = await read(latest, [Kind.PREFERENCE], [Category.REMINDERS], 0, 9)
    assert both == ["A reminder.", "A preference."]
    assert await read(latest, [], [Category.REMINDERS], 1, 9) == ["A reminder."]
    assert await read(latest, [], [Category.REMINDERS], -1, 9) == []
    everything = ["A fact.", "A reminder.", "A preference."]
    assert await read(latest, [], [], 1, 9) == everything
    assert await read(latest, [], [], 1, 2) == everything[:2]


async def test_memories_with_a_tag(database: Database, ana: UserKey, ben: UserKey) -> None:
    for user in (ana, ben):
        for text, tags in (("Oak.", ["tree"]), ("Elm.", ["trees"]), ("Fern.", ["plant"])):
            memory = NewMemory(text, Kind.FACT, Category.CONTEXTS, 3, tags=tuple(tags))
            vector = LetterEncoder().encode([text])[0]
            await database.write(
                queries.new_memories.insert, user, memory, vector, NO_SIGNS, NOW, "a test"
            )
    await database.write(queries.tags.take, ana, {"trees": "tree"})

    def tagged(conn: Connection, names: list[str], limit: int) -> list[str]:
        return [text_of(conn, key) for key in queries.memories.tagged(conn, ana, names, limit)]

    assert await database.read_all(tagged, ["tree"], 9) == ["Elm.", "Oak."]
    assert await database.read_all(tagged, ["trees"], 9) == ["Elm.", "Oak."]
    assert await database.read_all(tagged, ["Trees", "plants"], 2) == ["Fern.", "Elm."]
    assert await database.read_all(tagged, ["stone"], 9) == []


async def test_reminders_that_no_turn_states(
    database: Database, ana: UserKey, ben: UserKey
) -> None:
    for number in range(3):
        await database.write(store, ana, f"Reminder {number}.", Kind.REMINDER)
    kept = await database.write(store, ana, "Reminder 3.", Kind.REMINDER)
    await database.write(store, ana, "A fact.", Kind.FACT)
    await database.write(store, ben, "Reminder of Ben.", Kind.REMINDER)
    await database.write_all(say, "Remind me to water the ferns.")
    await database.write_all(state_reminder, "Skipper has to water the ferns.")
    assert "Skipper has to water the ferns." in await database.read(
        of_kind, ana, Kind.REMINDER, [], 9
    )
    assert await database.read(stored_reminders, ana, 2) == ["Reminder 3.", "Reminder 2."]
    assert len(await database.read(stored_reminders, ana, 9)) == 4
    assert await database.read(stored_reminders, ben, 9) == ["Reminder of Ben."]
    other = await database.write(store, ana, "Reminder 4.", Kind.REMINDER)
    await database.write(queries.decisions.merge, ana, other, [kept], "the same", NOW)
    assert "Reminder 3." not in await database.read(stored_reminders, ana, 9)
    assert "Reminder 3." not in await database.read(of_kind, ana, Kind.REMINDER, [], 9)


async def test_all_turns_of_a_memory(database: Database, ana: UserKey, ben: UserKey) -> None:
    for session, text in (("pier", "The tide turns at six."), ("quay", "Really, at six.")):
        await database.write_all(partial(say, session=session), text)
        await database.write_all(state_tide)
    await database.write_all(say, "Of Ben.", user="ben")

    def turns_of(conn: Connection, user: UserKey) -> list[list[str]]:
        found = queries.memories.turns_of(conn, user, all_keys(conn))
        texts = dict(conn.execute("SELECT public_id, text FROM turns").fetchall())
        return [[texts[turn] for turn in turns] for turns in found.values()]

    assert await database.read(turns_of, ana) == [["The tide turns at six.", "Really, at six."]]
    assert await database.read(turns_of, ben) == []
