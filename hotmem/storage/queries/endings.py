"""When memories ended or became doubtful, and what superseded them."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from hotmem.storage.database import Connection, Pending
from hotmem.storage.queries.times import from_stored
from hotmem.types import EvidenceKind, UserKey

WANTED: Final = """
    near AS (SELECT session, position FROM passages WHERE user_key = :user AND id = ANY(:around)),
    wanted AS (
        SELECT p.id FROM near n JOIN passages p ON p.session = n.session
            AND p.position BETWEEN n.position - :reach AND n.position + :reach
        UNION SELECT id FROM passages WHERE user_key = :user AND id = ANY(:passages))"""
"""The passages `:passages`, and those around the passages `:around` in their session."""

OVER: Final = "(valid_until IS NOT NULL OR doubted_at IS NOT NULL)"

FOLLOWING: Final = "coalesce(merged_into, superseded_by, doubted_by)"
"""The memory that a memory was merged into, that superseded it, or that made it doubtful."""

ENDED: Final = f"""
    WITH RECURSIVE {WANTED}, ended AS (
        SELECT CAST(NULL AS BIGINT) AS passage, id AS memory FROM memories
            WHERE +user_key = :user AND id = ANY(:memories) AND {OVER}
        UNION ALL SELECT p.id, m.id FROM passages p
            JOIN sources x ON x.turn = p.turn AND x.start < p.stop AND x.stop > p.start
            JOIN memories m ON m.id = x.memory AND {OVER}
            WHERE p.user_key = :user AND p.id IN (SELECT id FROM wanted)
    ), later (ended, id, following) AS (
        SELECT id, id, {FOLLOWING} FROM memories
            WHERE id IN (SELECT memory FROM ended)
        UNION SELECT l.ended, m.id, {FOLLOWING} FROM later l
            JOIN memories m ON m.id = l.following
    )
    SELECT e.passage, m.id, m.valid_until, m.doubted_at, (SELECT l.id FROM later l
        WHERE l.ended = m.id AND l.following IS NULL AND l.id <> m.id)
    FROM ended e JOIN memories m ON m.id = e.memory
    ORDER BY m.valid_until IS NULL, m.valid_until, m.doubted_at, m.id"""


class Ending(NamedTuple):
    """The end of a memory, or what makes it possibly outdated.

    Attributes:
        valid_until: When it ended; None if it only is in doubt.
        doubted_at: When something said later made it possibly outdated, if it did.
        replaced_by: Row number of the current memory at the end of the chain of supersession; None
            if nothing superseded it.
    """

    valid_until: datetime | None
    doubted_at: datetime | None
    replaced_by: int | None


def ask(
    conn: Connection,
    user: UserKey,
    keys: Mapping[EvidenceKind, Sequence[int]],
    around: Sequence[int] = (),
    reach: int = 0,
) -> Pending[dict[tuple[EvidenceKind, int], Ending]]:
    """The endings of memories, and of memories that were read from passages, by kind and row.

    A passage has the ending of the memory of its that ended first, or else became doubtful first.

    Args:
        conn: A connection.
        user: The user.
        keys: Row numbers by kind.
        around: Row numbers of the passages whose neighbours count too.
        reach: Positions before and after them in their session.
    """
    passages, memories = (
        [*keys.get(kind, ())] for kind in (EvidenceKind.PASSAGE, EvidenceKind.MEMORY)
    )
    if not (passages or memories):
        return dict
    values = {"user": user, "passages": passages, "memories": memories}
    rows = conn.execute(ENDED, values | {"around": [*around], "reach": reach})

    def found() -> dict[tuple[EvidenceKind, int], Ending]:
        endings: dict[tuple[EvidenceKind, int], Ending] = {}
        for passage, memory, valid_until, doubted_at, successor in rows:
            of = (
                (EvidenceKind.MEMORY, memory)
                if passage is None
                else (EvidenceKind.PASSAGE, passage)
            )
            ending = Ending(
                None if valid_until is None else from_stored(valid_until),
                None if doubted_at is None else from_stored(doubted_at),
                successor,
            )
            endings.setdefault(of, ending)
        return endings

    return found
