"""The language by whose rules words are stemmed, on every engine."""

import pytest

from hotmem.errors import StoreUnusable
from hotmem.storage import Storage, queries
from hotmem.storage.database import Connection, Database
from hotmem.storage.search.searches import LexicalSearch
from hotmem.text.names import whole_words
from hotmem.types import EvidenceKind, UserKey
from tests.storage.contract.conftest import OpenIn
from tests.storage.contract.story import adopt, note, say, user_key

PASSAGE, MEMORY = EvidenceKind.PASSAGE, EvidenceKind.MEMORY
HOUSES = "Die alten Häuser am Fluss."
SISTERS = "Anas Schwestern wohnen in Ulm."


def tell(conn: Connection) -> UserKey:
    user = user_key(conn, "ana")
    say(conn, HOUSES, "Ein Boot lag im Hafen.")
    note(conn, SISTERS, user)
    return user


async def found(database: Database, user: UserKey, kind: EvidenceKind, word: str) -> int:
    (ranking,) = await Storage.of(database).engine.search(user, LexicalSearch(kind, [word], 10))
    return len(ranking)


async def stored_terms(database: Database, user: UserKey) -> list[str]:
    def read(conn: Connection, user: UserKey) -> list[str]:
        sql = "SELECT terms FROM passages WHERE user_key = ? ORDER BY id"
        return conn.column(sql, (user,))

    return await database.read(read, user)


async def test_a_database_keeps_its_language(
    open_in: OpenIn,
) -> None:
    german = open_in("de")
    assert not await german.read_all(queries.maintenance.is_recorded)
    await german.write_all(queries.maintenance.record, german.location)
    assert await german.read_all(queries.maintenance.is_recorded)
    user = await german.write_all(tell)
    assert await found(german, user, PASSAGE, "Haus") == 1
    assert await found(german, user, MEMORY, "Schwester") == 1
    assert "haus" in (await stored_terms(german, user))[0].split()
    await german.close()
    with pytest.raises(StoreUnusable, match="language 'de', and HOTMEM_LANGUAGE is 'fr'"):
        open_in("fr")
    again = open_in(None)
    assert again.language == "de"
    assert await found(again, user, PASSAGE, "Haus") == 1
    await again.close()


async def test_words_are_indexed_anew_in_another_language(
    open_in: OpenIn,
) -> None:
    english = open_in(None)
    await english.write_all(queries.maintenance.record, english.location)
    user = await english.write_all(tell)
    assert english.language == "en"
    assert await found(english, user, PASSAGE, "Haus") == 0
    assert await english.write_all(queries.maintenance.change, "de") == 3
    await english.close()
    german = open_in("de")
    assert await found(german, user, PASSAGE, "Haus") == 1
    assert await found(german, user, MEMORY, "Schwester") == 1
    assert "haus" in (await stored_terms(german, user))[0].split()
    assert not await german.read_all(queries.maintenance.faults)
    await german.close()


async def test_a_database_of_an_earlier_version_is_english(
    open_in: OpenIn,
) -> None:
    earlier = open_in(None)
    await earlier.write_all(adopt)
    await earlier.close()
    with pytest.raises(StoreUnusable, match="hotmem language de"):
        open_in("de")


async def test_two_programs_that_begin_in_different_languages(
    open_in: OpenIn,
) -> None:
    one, other = open_in("de"), open_in("fr")
    await one.write_all(queries.maintenance.record, one.location)
    with pytest.raises(StoreUnusable, match="'de'"):
        await other.write_all(queries.maintenance.record, other.location)
    await one.close()
    await other.close()


async def test_forgotten_words_are_whole_in_every_language(
    open_in: OpenIn,
) -> None:
    """They are compared with what a bot says, whatever the language of the index."""
    database = open_in("de")
    user = await database.write_all(tell)
    await database.write_all(say, "妹の名前は美咲です。", session="japanese")
    said, _ = await database.read(queries.forget.words_by_speaker, user)
    assert whole_words(f"{HOUSES} {SISTERS} 妹の名前は美咲です。") <= said
    assert not {"haus", "妹の", "名前"} & said
    await database.close()
