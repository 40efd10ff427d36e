"""Builds long histories fast, as the background work would leave them.

Rows are written by the storage operations, but a hundred turns share a transaction without fsync,
and each distinct sentence is embedded and analysed once: a turn's vector is the mean of its
sentences' vectors, and its statements are theirs. A session's summary is its longest sentences.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import chain, groupby, islice
from pathlib import Path
from typing import Final, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from eval.bench.baseline import BaselineSearch
from eval.bench.synthetic import SESSION_TURNS, START, USER, SyntheticConversations
from hotmem.consolidation.summary import render_summary
from hotmem.models import Encoder, Language, encode_tokens
from hotmem.models.encoder import Vectors, unit_rows
from hotmem.readings import store_understanding
from hotmem.storage.database import Connection
from hotmem.storage.queries import jobs, sessions, turns, users
from hotmem.storage.search import vectors
from hotmem.storage.sqlite.connection import connect
from hotmem.storage.sqlite.migrations import migrate
from hotmem.types import (
    EvidenceKind,
    JobKind,
    Role,
    SessionSummary,
    SignBits,
    SummarySentence,
    Turn,
    Understanding,
    Vector,
)
from hotmem.understanding.facts import extract_from_parse, tags
from hotmem.understanding.query.entities import find_entities

T = TypeVar("T")

BATCH: Final = 100
"""Turns per transaction."""

SUMMARY_SENTENCES: Final = 3

Keys: TypeAlias = NDArray[np.int64]
"""Row ids of passages."""

_SENTENCE: Final = re.compile(r"\S.*?[.?!](?=\s|$)")


class SentenceCache:
    """Vectors and statements of texts composed of sentences, each analysed once.

    Args:
        encoder: Encodes sentences.
        language: Parses sentences.
    """

    def __init__(self, encoder: Encoder, language: Language) -> None:
        self.encoder = encoder
        self._language = language
        self._read: dict[str, tuple[Vector, SignBits]] = {}
        self._said: dict[tuple[str, Role], Understanding] = {}
        self._filed: dict[str, tuple[Sequence[str], Sequence[str]]] = {}

    def vectors(self, texts: Sequence[str]) -> tuple[Vectors, list[SignBits]]:
        """Return unit vectors and token signs.

        A vector is the mean of a text's sentences, weighted by their words.
        """
        said = [_SENTENCE.findall(text) or [text] for text in texts]
        unread = [
            sentence
            for sentence in dict.fromkeys(chain.from_iterable(said))
            if sentence not in self._read
        ]
        self._read |= {
            sentence: (one.vector, one.token_signs)
            for sentence, one in zip(unread, encode_tokens(self.encoder, unread), strict=True)
        }
        rows = [
            np.sum([len(sentence.split()) * self._read[sentence][0] for sentence in parts], axis=0)
            for parts in said
        ]
        return unit_rows(np.array(rows, dtype=np.float32)), [
            np.concatenate([self._read[sentence][1] for sentence in parts]) for parts in said
        ]

    def understandings(self, turns: Sequence[Turn]) -> list[Understanding]:
        """Return the statements of each turn, at their offsets in the turn."""
        unread = {
            (text, Role(turn.role)): turn.speaker
            for turn in turns
            for text in _SENTENCE.findall(turn.text)
        }
        unread = {asked: speaker for asked, speaker in unread.items() if asked not in self._said}
        for (asked, speaker), doc in zip(
            unread.items(), self._language.parse([text for text, _ in unread]), strict=True
        ):
            self._said[asked] = extract_from_parse(doc, speaker, asked[1], START)
        return [self._joined(turn) for turn in turns]

    def filed(self, text: str) -> tuple[dict[str, Vector], tuple[str, ...]]:
        """What a statement is filed under.

        The tags of its sentences with their unit rows, and their names.
        """
        said = _SENTENCE.findall(text) or [text]
        unread = [sentence for sentence in said if sentence not in self._filed]
        for sentence, doc in zip(unread, self._language.parse(unread, names=False), strict=True):
            self._filed[sentence] = tags.extract_tags(doc), find_entities(doc)
        found = list(
            dict.fromkeys(chain.from_iterable(self._filed[sentence][0] for sentence in said))
        )[: tags.MAX_TAGS]
        names = dict.fromkeys(chain.from_iterable(self._filed[sentence][1] for sentence in said))
        return dict(zip(found, self.vectors(found)[0], strict=True)) if found else {}, tuple(names)

    def _joined(self, turn: Turn) -> Understanding:
        found = Understanding()
        for sentence in _SENTENCE.finditer(turn.text):
            encode_tokens, start = self._said[sentence[0], Role(turn.role)], sentence.start()
            found = Understanding(
                statements=(
                    *found.statements,
                    *(
                        replace(one, start=one.start + start, stop=one.stop + start)
                        for one in encode_tokens.statements
                    ),
                ),
                corrections=(
                    *found.corrections,
                    *(
                        replace(one, start=one.start + start, stop=one.stop + start)
                        for one in encode_tokens.corrections
                    ),
                ),
                entities=tuple(dict.fromkeys((*found.entities, *encode_tokens.entities))),
            )
        return found


@dataclass(slots=True)
class Nearest:
    """Exact nearest passages of each question, computed while the passages are added.

    Attributes:
        questions: Unit vectors, float32 (questions, dimension).
        limit: Number of passages per question.
        keys: Row ids, int64 (questions, limit), unordered; 0 while there are fewer.
        cosines: Cosine similarities, float32, of the same shape.
    """

    questions: Vectors
    limit: int
    keys: Keys
    cosines: Vectors

    @classmethod
    def to(cls, questions: Vectors, limit: int) -> "Nearest":
        """Create an empty result."""
        shape = (len(questions), limit)
        return cls(
            questions,
            limit,
            np.zeros(shape, dtype=np.int64),
            np.full(shape, -np.inf, dtype=np.float32),
        )

    def see(self, keys: Sequence[int], rows: Vectors) -> None:
        """Add passages; vectors float32 (passages, dimension)."""
        cosines = np.hstack([self.cosines, self.questions @ rows.T])
        numbers = np.hstack(
            [
                self.keys,
                np.broadcast_to(np.array(keys, dtype=np.int64), (len(self.keys), len(keys))),
            ]
        )
        best = np.argpartition(-cosines, self.limit - 1, axis=1)[:, : self.limit]
        self.keys, self.cosines = (
            np.take_along_axis(numbers, best, axis=1),
            np.take_along_axis(cosines, best, axis=1),
        )

    def ordered(self) -> Keys:
        """Return the row ids, nearest first."""
        return np.take_along_axis(self.keys, np.argsort(-self.cosines, axis=1), axis=1)


def spoken(people: int, each: int) -> Iterator[Turn]:
    """Yield the turns of all users, alternating by session, so that their rows interleave."""
    talks = [
        SyntheticConversations(user=USER if number == 0 else f"{USER}-{number}").turns(each)
        for number in range(people)
    ]
    for _ in range(0, each, SESSION_TURNS):
        yield from chain.from_iterable(islice(talk, SESSION_TURNS) for talk in talks)


def batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Yield lists of a size, the last one of what is left."""
    rest = iter(items)
    return iter(lambda: list(islice(rest, size)), [])


def build(
    path: Path,
    history: Iterator[Turn],
    reading: SentenceCache,
    floor: BaselineSearch,
    nearest: Nearest,
    tell: Callable[[int], None],
) -> None:
    """Write a history into a new memory file, and its passages into the baseline's file.

    Args:
        path: The memory file.
        history: Turns, session by session.
        reading: Vectors and statements.
        floor: The baseline, which receives the same passages.
        nearest: Receives the first user's passages.
        tell: Called with the number of turns written, once per batch.
    """
    conn = connect(path)
    try:
        migrate(conn, path)
        conn.execute("PRAGMA synchronous = OFF")
        conn.execute("BEGIN")
        vectors.adopt(conn, reading.encoder.name, reading.encoder.dimension)
        for batch in batches(history, BATCH):
            _write_batch(conn, batch, reading, floor, nearest)
            conn.execute("COMMIT")
            conn.execute("BEGIN")
            tell(len(batch))
        conn.execute("COMMIT")
    finally:
        conn.close()


def _write_batch(
    conn: Connection,
    batch: Sequence[Turn],
    reading: SentenceCache,
    floor: BaselineSearch,
    nearest: Nearest,
) -> None:
    """Store turns, whole sessions, with their vectors, statements and summaries."""
    now = datetime.now(UTC)
    for turn in batch:
        turns.add(conn, turn, now)
    waiting = turns.numbered(
        conn, jobs.next_rows(conn, JobKind.TURN, jobs.UserRotation(), len(batch))
    )
    for (key, _), understanding in zip(
        waiting, reading.understandings([turn for _, turn in waiting]), strict=True
    ):
        store_understanding(conn, key, understanding)
    first = users.find(conn, USER)
    _embed(conn, reading, floor, nearest, [turn.user_id for turn in batch], first)
    for (user_id, session_id), _ in groupby(
        batch, key=lambda turn: (turn.user_id, turn.session_id)
    ):
        _summarise(conn, user_id, session_id, now)
    _embed(conn, reading, floor, nearest, [], first)


def _embed(
    conn: Connection,
    reading: SentenceCache,
    floor: BaselineSearch,
    nearest: Nearest,
    speaking: Sequence[str],
    first: int | None,
) -> None:
    for kind, group in groupby(vectors.waiting(conn, 100 * BATCH), key=lambda row: row[0]):
        of_kind = list(group)
        keys = [key for _, key, _ in of_kind]
        rows, signs = reading.vectors([text for _, _, text in of_kind])
        vectors.put(conn, kind, keys, list(rows), signs)
        if kind is EvidenceKind.PASSAGE:
            owners = [users.ensure(conn, user_id) for user_id in speaking]
            floor.add(keys, owners, [text for _, _, text in of_kind], rows)
            own = [place for place, owner in enumerate(owners) if owner == first]
            nearest.see([keys[place] for place in own], rows[own])


def _summarise(conn: Connection, user_id: str, session_id: str, now: datetime) -> None:
    user = users.ensure(conn, user_id)
    sessions.end(conn, user, session_id)
    due = jobs.next_session(conn, jobs.UserRotation())[0]
    seen = None if due is None else sessions.unsummarised(conn, due.user, due.key)
    if seen is None:
        return
    told = sorted(
        ((sentence, turn.id) for turn in seen.turns for sentence in _SENTENCE.findall(turn.text)),
        key=lambda pair: -len(pair[0]),
    )
    summary = SessionSummary(
        narrative=tuple(SummarySentence(*pair) for pair in told[:SUMMARY_SENTENCES])
    )
    sessions.put(conn, user, seen, summary, {}, render_summary(summary))
