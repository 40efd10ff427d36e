"""Changes of subcategories by a person, on both engines."""

from typing import Final

import numpy as np
import pytest

from hotmem.errors import InvalidInput
from hotmem.storage import queries
from hotmem.storage.database import Database
from hotmem.text.names import name_finder
from hotmem.types import (
    Category,
    DecisionAction,
    EvolutionDraft,
    Subcategory,
    SubcategoryState,
    UserKey,
)
from hotmem.types.maintenance import ForgetMemory
from tests.storage.contract.story import NOW, note
from tests.storage.contract.test_editing import evolve

OWN: Final = Category.CONTEXTS


async def begin(database: Database, ana: UserKey) -> None:
    """Store two memories, in a subcategory each."""
    await database.write_all(note, "The Heron likes fish.", ana)
    await database.write_all(note, "The ferry costs two euros.", ana)
    assert await evolve(database, ana)


async def known(database: Database, ana: UserKey) -> dict[str, Subcategory]:
    """The subcategories by name."""
    return {one.name: one for one in await database.read(queries.subcategories.of_user, ana)}


async def test_a_subcategory_is_renamed_and_pinned(
    database: Database, ana: UserKey, ben: UserKey
) -> None:
    await begin(database, ana)
    rename = queries.subcategories.rename
    decision = await database.write(rename, ana, OWN, "heron", "Heron trips", NOW)
    found = await known(database, ana)
    assert {name: one.pinned for name, one in found.items()} == {
        "Heron trips": True,
        "ferry": False,
    }
    assert found["Heron trips"].digest == ("The Heron likes fish.",)
    (latest, *_) = await database.read(queries.decisions.of_user, ana, 9)
    assert (latest.id, latest.action, latest.reason) == (
        decision,
        DecisionAction.REGROUPED,
        "a subcategory of contexts renamed",
    )
    with pytest.raises(InvalidInput, match="already"):
        await database.write(rename, ana, OWN, "ferry", "Heron trips", NOW)
    for user, category, name in (
        (ana, OWN, "heron"),
        (ana, Category.SYSTEM, "ferry"),
        (ben, OWN, "ferry"),
    ):
        with pytest.raises(InvalidInput, match="has no subcategory"):
            await database.write(rename, user, category, name, "x", NOW)
    assert (await database.write(queries.undoing.undo, ana, decision, NOW)).restored == 2
    assert {one.pinned for one in (await known(database, ana)).values()} == {False}
    assert set(await known(database, ana)) == {"heron", "ferry"}


@pytest.mark.parametrize("new", ["(Fish)", "the Fish's pond", "Fish/Straßer"])
async def test_a_new_name_does_not_outlive_the_memory_that_has_its_words(
    database: Database, ana: UserKey, new: str
) -> None:
    forgotten = await database.write_all(note, "Straßer’s fish is fresh.", ana)
    await database.write_all(note, "The ferry costs two euros.", ana)
    await evolve(database, ana)
    edits = queries.subcategories
    await database.write(edits.merge, ana, OWN, "heron", ["ferry"], NOW)
    await database.write(edits.rename, ana, OWN, "heron", new, NOW)
    assert new in await known(database, ana)
    await database.write(queries.forget.remove, ana, ForgetMemory(forgotten))
    assert new not in await known(database, ana)


async def test_subcategories_are_merged(database: Database, ana: UserKey) -> None:
    await begin(database, ana)
    merge = queries.subcategories.merge
    decision = await database.write(merge, ana, OWN, "ferry", ["heron"], NOW)
    (found,) = (await known(database, ana)).values()
    assert (found.name, found.memories, found.pinned) == ("ferry", 2, True)
    assert set(found.keywords) == {"heron", "ferry", "old"}
    members = await database.read(queries.evolutions.members, ana, OWN, 9)
    (centroid,) = (one.centroid for one in members.named.values())
    mean = members.rows.mean(axis=0)
    assert centroid is not None
    np.testing.assert_allclose(centroid, mean / np.linalg.norm(mean), atol=0.02)
    with pytest.raises(InvalidInput, match="into itself"):
        await database.write(merge, ana, OWN, "ferry", ["ferry"], NOW)
    await database.write(queries.undoing.undo, ana, decision, NOW)
    assert {name: one.memories for name, one in (await known(database, ana)).items()} == {
        "heron": 1,
        "ferry": 1,
    }


async def test_a_subcategory_is_split(database: Database, ana: UserKey) -> None:
    await begin(database, ana)
    await database.write(queries.subcategories.merge, ana, OWN, "ferry", ["heron"], NOW)
    members = await database.read(queries.evolutions.members, ana, OWN, 9)
    parts = tuple(
        SubcategoryState(name, (), (memory,), NOW, row, frozenset({key}), True)
        for name, key, memory, row in zip(
            ("birds", "boats"), members.keys, members.ids, members.rows, strict=True
        )
    )
    split, draft = queries.subcategories.split, EvolutionDraft(parts, members.rows[0])
    decision = await database.write(split, ana, OWN, "ferry", draft, NOW)
    assert {
        name: (one.memories, one.pinned) for name, one in (await known(database, ana)).items()
    } == {"birds": (1, True), "boats": (1, True)}
    await database.write(queries.undoing.undo, ana, decision, NOW)
    assert {name: one.memories for name, one in (await known(database, ana)).items()} == {
        "ferry": 2
    }


async def test_a_pin_is_exported_and_taken_off(database: Database, ana: UserKey) -> None:
    await begin(database, ana)
    pin = queries.subcategories.pin
    await database.write(pin, ana, OWN, "heron", True, NOW)
    (record,) = await database.read(queries.evolutions.records, ana)
    assert {one.name: one.pinned for one in record.subcategories} == {"heron": True, "ferry": False}
    await database.write(pin, ana, OWN, "heron", False, NOW)
    assert not any(one.pinned for one in (await known(database, ana)).values())


async def test_a_name_given_by_a_person_is_forgotten(database: Database, ana: UserKey) -> None:
    await begin(database, ana)
    rename = queries.subcategories.rename
    await database.write(rename, ana, OWN, "heron", "Gustav", NOW)
    await database.write(rename, ana, OWN, "ferry", "My boats", NOW)
    await database.write(queries.subcategories.remove_stale_words, ana, [OWN])
    assert set(await known(database, ana)) == {"Gustav", "My boats"}, "not words of memories"
    await database.write(queries.subcategories.remove_names, ana, name_finder("Gustav"))
    assert set(await known(database, ana)) == {"My boats"}
