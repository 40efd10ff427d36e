"""The contract of all four layers, and what each finds."""

import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from hotmem import Memory
from hotmem.errors import DeadlineExceeded
from hotmem.models import Language, encode_tokens
from hotmem.retrieval.layers import LAYER_SEARCHES
from hotmem.retrieval.layers.base import LayerSearch
from hotmem.retrieval.layers.facts import Facts
from hotmem.retrieval.layers.semantic import Semantic
from hotmem.retrieval.layers.sessions import Sessions, blend_scores
from hotmem.retrieval.layers.verbatim import Verbatim, phrases
from hotmem.storage import Storage, open_storage, queries, steps
from hotmem.types import Analysis, Complexity, EvidenceKind, Hit, Intent, Layer, Query, UserKey
from tests.conversation import START, said, user_of
from tests.letters import LetterEncoder
from tests.tables import tables

CASES = tables(__file__)

TOLD = CASES["told"]


def query(text: str, user: UserKey, *terms: str, entities: tuple[str, ...] = ()) -> Query:
    """A question that asks all layers."""
    analysis = Analysis(
        Intent.FACT, Complexity.HIGH, terms, entities, None, (), (), True, True, tuple(Layer)
    )
    reading = encode_tokens(LetterEncoder(), [text])[0]
    return Query(text, user, None, START, analysis, ("Ana",), reading.vector, reading.token_states)


@pytest.fixture
async def storage(database: Path, language: Language) -> AsyncIterator[Storage]:
    """Two users' sessions, understood and summarised."""
    async with Memory.open(database, encoder=LetterEncoder(), language=language) as memory:
        for user, lines in TOLD.items():
            for number, (session, text) in enumerate(lines):
                await memory.remember(
                    said(text, user=user, session=session, minutes=number, name=f"{user}-{number}")
                )
            for session in {session for session, _ in lines}:
                await memory.end_session(user_id=user, session_id=session)
        await memory.settle()
    opened = open_storage(database)
    yield opened
    await opened.database.close()


@pytest.fixture
async def ana(storage: Storage) -> UserKey:
    found = await user_of(storage.database)
    return found


async def texts(storage: Storage, user: UserKey, hits: list[Hit]) -> list[str]:
    """The words of the hits, in their order."""
    return [
        found.text
        for hit in hits
        for found in await storage.database.read(queries.evidence.load, user, {hit.kind: [hit.key]})
    ]


@pytest.mark.parametrize("kind", LAYER_SEARCHES)
class TestEveryLayer:
    async def test_finds_the_users_own_rows_only(
        self, kind: type[Facts], storage: Storage, ana: UserKey
    ) -> None:
        terms = ("dog", "kitchen", "oak", "porto", "ferry")
        asked = query("dog kitchen oak Porto ferry", ana, *terms, entities=("Porto",))
        hits = await kind(storage.engine).search(asked, None)
        assert hits
        ben = await user_of(storage.database, "ben")
        for hit in hits:
            assert hit.layer is kind(storage.engine).layer
            found = await storage.database.read(queries.evidence.load, ana, {hit.kind: [hit.key]})
            assert hit.key in {one.key for one in found if one.kind is hit.kind}
            assert (
                await storage.database.read(queries.evidence.load, ben, {hit.kind: [hit.key]}) == []
            )

    async def test_returns_the_best_first_and_each_row_once(
        self, kind: type[Facts], storage: Storage, ana: UserKey
    ) -> None:
        hits = await kind(storage.engine).search(
            query("Where is the dog in Porto?", ana, "dog", "porto", entities=("Porto",)), None
        )
        for sort in EvidenceKind:
            scores = [hit.score for hit in hits if hit.kind is sort]
            assert scores == sorted(scores, reverse=True)
        assert len({(hit.kind, hit.key) for hit in hits}) == len(hits)

    async def test_stops_at_its_deadline(
        self, kind: type[Facts], storage: Storage, ana: UserKey
    ) -> None:
        with pytest.raises(DeadlineExceeded):
            await kind(storage.engine).search(
                query("Where is the dog?", ana, "dog"), time.monotonic() - 1
            )

    async def test_finds_nothing_for_an_unknown_user(
        self, kind: type[Facts], storage: Storage
    ) -> None:
        assert (
            list(
                await kind(storage.engine).search(
                    query("Where is the dog?", UserKey(0), "dog"), None
                )
            )
            == []
        )

    async def test_finds_nothing_in_an_empty_file(self, kind: type[Facts], tmp_path: Path) -> None:
        empty = open_storage(tmp_path / "empty.db")
        await steps.adopt_encoder(empty.database, LetterEncoder.name, LetterEncoder.dimension)
        assert (
            list(
                await kind(empty.engine).search(query("Where is the dog?", UserKey(1), "dog"), None)
            )
            == []
        )
        await empty.database.close()

    async def test_needs_no_words(self, kind: type[Facts], storage: Storage, ana: UserKey) -> None:
        assert all(
            hit.layer is kind(storage.engine).layer
            for hit in await kind(storage.engine).search(query("?!", ana), None)
        )

    async def test_is_a_layer(self, kind: type[Facts], storage: Storage) -> None:
        layer: LayerSearch = kind(storage.engine)
        assert layer.layer.value == kind.__name__.lower()


async def test_facts_finds_by_word_and_by_entity(storage: Storage, ana: UserKey) -> None:
    by_word = await Facts(storage.engine).search(
        query("What is my dog called?", ana, "dog", "called"), None
    )
    assert (await texts(storage, ana, list(by_word)))[0] == "Ana's dog is called Potola."
    by_entity = await Facts(storage.engine).search(
        query("What about it?", ana, entities=("PORTO",)), None
    )
    assert "Ana lives in Porto." in await texts(storage, ana, list(by_entity))


async def test_sessions_finds_sessions_then_their_passages(storage: Storage, ana: UserKey) -> None:
    hits = await Sessions(storage.engine).search(query("What about the ferry?", ana, "ferry"), None)
    summaries = [hit for hit in hits if hit.kind is EvidenceKind.SUMMARY]
    passages = [hit for hit in hits if hit.kind is EvidenceKind.PASSAGE]
    best = (
        await storage.database.read(
            queries.evidence.load, ana, {EvidenceKind.SUMMARY: [summaries[0].key]}
        )
    )[0]
    assert best.session_id == "travel"
    assert (await texts(storage, ana, passages))[0] == "The ferry to Porto leaves at nine."


async def test_verbatim_ranks_an_exact_phrase_first(storage: Storage, ana: UserKey) -> None:
    hits = await Verbatim(storage.engine).search(
        query(
            'Who said "never on Sundays" in Porto, to Rui, with the ferry?',
            ana,
            "porto",
            "rui",
            "sundays",
        ),
        None,
    )
    assert (await texts(storage, ana, list(hits)))[0].startswith("Marta learns the cello.")


async def test_semantic_ranks_the_nearest_passage_first(storage: Storage, ana: UserKey) -> None:
    hits = await Semantic(storage.engine).search(
        query("The ferry to Porto leaves at nine", ana), None
    )
    assert (await texts(storage, ana, list(hits)))[0] == "The ferry to Porto leaves at nine."
    assert all(-1.001 <= hit.score <= 1.001 for hit in hits)


def test_phrases_are_quotes_and_names_of_several_words() -> None:
    asked = query(
        'Who said “never on Sundays” and "ok" to Rui?', UserKey(1), entities=("Rui", "Marta Lopes")
    )
    assert phrases(asked) == ("never on Sundays", "Marta Lopes")


def test_sessions_blend_bm25_and_cosine_equally() -> None:
    assert blend_scores({1: 4.0, 2: 2.0}, {2: 0.8, 3: 0.6, 4: -0.5}) == [
        (2, 0.25 + 0.4),
        (1, 0.5),
        (3, 0.3),
        (4, 0.0),
    ]
    assert blend_scores({}, {}) == []
