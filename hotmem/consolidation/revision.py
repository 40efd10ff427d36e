"""What a turn does to known statements: which end, and which are possibly outdated.

turn ─▶ candidates (by words, meaning and time) ─▶ the reader, pair by pair ─▶ revision

The closed relations (`supersession`) know some changes for certain; this knows the others: "we
broke up", "he's retired". It compares the turn's own words, so that pronouns count too.
"""

from collections.abc import Sequence
from typing import Final

from hotmem.models.reader import Effects, Settings
from hotmem.retrieval.rank_fusion import reciprocal_rank_fusion
from hotmem.storage.database import Connection
from hotmem.storage.queries.memories import current_before
from hotmem.storage.search.searches import IndexOf, LexicalSearch, VectorSearch, run
from hotmem.text.validation import normalize_value
from hotmem.types import (
    Correction,
    EvidenceKind,
    QueryVectors,
    Revision,
    StoredMemory,
    UserKey,
    Vector,
)
from hotmem.understanding.facts.relations import ASKS, BORN_IN, DID, IS_CALLED, IS_FROM
from hotmem.understanding.named_subjects import is_absent, names_another

NEAREST: Final = 10
"""Memories by words and meaning that a turn is compared with."""

REASON: Final = "what was said later changes it"

PERMANENT: Final = frozenset({ASKS.name, IS_CALLED.name, IS_FROM.name, BORN_IN.name, DID.name})
"""Relations that no event ends, such as what somebody did; they can only have been wrong. Orders
end by orders."""

MIN_SIMILARITY: Final = 0.12
"""Cosine of a turn and a memory below which it changes nothing.

Of the pairs of batch `l` (`python -m eval reader fit-limits`), 4 in 100 of what is over are less
similar, and 7 in 10 statements about other things.
"""

PASSING_DOUBT: Final = 0.7
"""Probability from which a turn without anything lasting puts a statement in doubt.

Of 534 pairs in eleven everyday talks that only such turns make, 7 are in doubt from 0.49, the limit
of other turns, all of them falsely, and none from 0.7. Of what is over in batch `l` by such
turns, 25 of 70 are in doubt instead of 41.
"""

LATEST: Final = 4
"""Latest memories that it is compared with too, as they may not be embedded yet."""


def find_candidates(
    conn: Connection,
    user: UserKey,
    turn: int | None,
    terms: Sequence[str],
    vectors: QueryVectors,
    index_of: IndexOf,
) -> list[StoredMemory]:
    """Return current memories from before a turn that it may change.

    Args:
        conn: A connection.
        user: The user.
        turn: Row number of the turn; None for what is stored without one.
        terms: Its words.
        vectors: Its embeddings.
        index_of: The user's indexes.
    """
    searches = (
        LexicalSearch(EvidenceKind.MEMORY, terms, NEAREST),
        VectorSearch(EvidenceKind.MEMORY, vectors, NEAREST),
    )
    rankings = run(conn, user, searches, index_of)
    ranked = reciprocal_rank_fusion([key for key, _ in ranking] for ranking in rankings)
    return current_before(conn, user, turn, [key for key, _ in ranked[:NEAREST]], LATEST)


def is_near(memory: Vector, turn: Vector) -> bool:
    """Whether a memory is near enough to a turn to be changed by it.

    Args:
        memory: Unit vector of the memory's text.
        turn: Unit vector of the turn.
    """
    return float(memory @ turn) >= MIN_SIMILARITY


def about_another(
    memory: StoredMemory, named: frozenset[str], text: str, speaker: str | None
) -> bool:
    """Whether a memory is about somebody, and a turn about others.

    Args:
        memory: The memory.
        named: Names in the subjects of the turn.
        text: The turn.
        speaker: The name that stands for the user in memories.
    """
    subject = memory.object if memory.relation == IS_CALLED.name else memory.subject
    return names_another(subject, named, memory.text) or is_absent(
        memory.subject, speaker, memory.text, text
    )


def is_as_corrected(memory: StoredMemory, corrections: Sequence[Correction]) -> bool:
    """Whether a memory has the value that a turn corrects to: the correction was said again."""
    value = f" {normalize_value(memory.object)} "
    return any(f" {normalize_value(one.right)} " in value for one in corrections)


def revise(
    known: Sequence[StoredMemory],
    effects: Sequence[Effects],
    limits: Settings,
    lasting: float = 1.0,
) -> Revision:
    """Decide what ends and what is possibly outdated.

    Relations of one value, such as where somebody lives, end by a value of theirs alone
    (`supersession`); here they only become possibly outdated.

    Args:
        known: The candidates.
        effects: What the turn probably does to each.
        limits: The probabilities from which it is done.
        lasting: Probability that the turn holds something lasting. One that does not, by its
            limit, has to say more clearly what it changes.
    """
    doubted = limits.doubted if lasting >= limits.kept else max(limits.doubted, PASSING_DOUBT)
    pairs = list(zip(known, effects, strict=True))
    ends = [
        memory.id
        for memory, effect in pairs
        if not memory.single
        and memory.relation not in PERMANENT
        and effect.outdated >= limits.outdated
    ]
    doubts = [
        memory.id
        for memory, effect in pairs
        if memory.id not in ends and _doubt(memory, effect) >= doubted
    ]
    return Revision(tuple(ends), tuple(doubts), REASON)


def _doubt(memory: StoredMemory, effect: Effects) -> float:
    return effect.corrects if memory.relation in PERMANENT else effect.doubted
