"""When memories ended, and what superseded them."""

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

ENDED: Final = f"""
    WITH RECURSIVE {WANTED}, ended AS (
        SELECT CAST(NULL AS BIGINT) AS passage, id AS memory FROM memories
            WHERE +user_key = :user AND id = ANY(:memories) AND valid_until IS NOT NULL
        UNION ALL SELECT p.id, m.id FROM passages p
            JOIN sources x ON x.turn = p.turn AND x.start < p.stop AND x.stop > p.start
            JOIN memories m ON m.id = x.memory AND m.valid_until IS NOT NULL
            WHERE p.user_key = :user AND p.id IN (SELECT id FROM wanted)
    ), later (ended, id, following) AS (
        SELECT id, id, coalesce(merged_into, superseded_by) FROM memories
            WHERE id IN (SELECT memory FROM ended)
        UNION SELECT l.ended, m.id, coalesce(m.merged_into, m.superseded_by) FROM later l
            JOIN memories m ON m.id = l.following
    )
    SELECT e.passage, m.id, m.valid_until, (SELECT l.id FROM later l WHERE l.ended = m.id
        AND l.following IS NULL AND l.id <> m.id)
    FROM ended e JOIN memories m ON m.id = e.memory ORDER BY m.valid_until, m.id"""


class Ending(NamedTuple):
    """The end of a memory.

    Attributes:
        valid_until: When it ended.
        replaced_by: Row number of the current memory at the end of the chain of supersession; None
            if nothing superseded it.
    """

    valid_until: datetime
    replaced_by: int | None


def ask(
    conn: Connection,
    user: UserKey,
    keys: Mapping[EvidenceKind, Sequence[int]],
    around: Sequence[int] = (),
    reach: int = 0,
) -> Pending[dict[tuple[EvidenceKind, int], Ending]]:
    """The endings of memories, and of memories that were read from passages, by kind and row.

    A passage has the ending of the memory of its that ended first.

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
        for passage, memory, valid_until, successor in rows:
            of = (
                (EvidenceKind.MEMORY, memory)
                if passage is None
                else (EvidenceKind.PASSAGE, passage)
            )
            endings.setdefault(of, Ending(from_stored(valid_until), successor))
        return endings

    return found
