"""Stores what was understood of a turn: entities, event times, corrections and statements."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final, NamedTuple, Protocol
from uuid import uuid4

from hotmem.storage.database import Connection
from hotmem.storage.queries import (
    decisions,
    effects,
    event_times,
    index_entries,
    tags,
    undoing,
    users,
)
from hotmem.storage.queries.memories import (
    RECENT_FOR_CORRECTION,
    known_subjects,
    latest_until,
    related,
)
from hotmem.storage.queries.times import from_stored, to_stored
from hotmem.storage.queries.users import lock_owners
from hotmem.text.validation import normalize_value
from hotmem.types import (
    Correction,
    DecisionAction,
    EvidenceKind,
    KnownSubjects,
    Revision,
    Statement,
    StoredMemory,
    Supersession,
    Understanding,
    UserKey,
)


class Supersede(Protocol):
    """Decides what a statement, said at a time, does to memories with its subject and relation."""

    def __call__(
        self,
        statement: Statement,
        order_time: datetime,
        known: Sequence[StoredMemory],
        *,
        certain: bool,
    ) -> Supersession:
        """The effect; `certain` tells whether the subject of the memories is surely the same."""


ApplyCorrection = Callable[
    [Correction, Sequence[StoredMemory]], tuple[StoredMemory, Statement] | None
]
"""Finds the memory that a correction is about and the statement that replaces it."""


CORRECTED: Final = "The user corrected it."
"""The reason recorded with a memory that a correction ends."""

LATER_KNOWN: Final = "Something said later, which was stored already, replaces it."

DOUBTED_AT_ONCE: Final = "Something that is stored already contradicts it."


NO_REVISION: Final = Revision()
NO_REVISIONS: Final[Mapping[int, Revision]] = {}


class StatementTime(NamedTuple):
    """When a statement was said, and its position in the order of statements."""

    said_at: datetime
    order_time: datetime


class MatchSubjects(Protocol):
    """Finds the stored subjects that are certainly the given one; None if that is uncertain."""

    def __call__(
        self, subject: str, known: KnownSubjects, *, denies: bool
    ) -> Collection[str] | None:
        """The subjects; `denies` tells whether the statement denies something."""


def match_exact(subject: str, known: KnownSubjects, *, denies: bool) -> Collection[str]:
    """Matches the subject itself alone."""
    return (subject,)


def store_all(
    conn: Connection,
    understandings: Mapping[int, Understanding],
    revise: Supersede,
    amend: ApplyCorrection,
    identify: MatchSubjects,
    revisions: Mapping[int, Revision] = NO_REVISIONS,
) -> None:
    """Stores the understandings of turns, by row number, in this order (see `store`)."""
    lock_owners(conn, "turns", understandings)
    for turn, understanding in understandings.items():
        store(conn, turn, understanding, revise, amend, identify, revisions.get(turn, Revision()))


def store(
    conn: Connection,
    turn: int,
    understanding: Understanding,
    revise: Supersede,
    amend: ApplyCorrection,
    identify: MatchSubjects = match_exact,
    revision: Revision = NO_REVISION,
) -> None:
    """Stores the understanding of a turn and removes its pending job, in one transaction.

    Nothing is stored for a turn that was forgotten or understood meanwhile. Memories of `revision`
    end, or become possibly outdated, because of what the turn says last of them.
    """
    row = conn.execute(
        "DELETE FROM pending_turns WHERE turn = ? RETURNING turn", (turn,)
    ).fetchone()
    if not row:
        return
    user, spoken_at, order_time, speaker = conn.execute(
        "SELECT user_key, spoken_at, order_time, speaker FROM turns WHERE id = ?", (turn,)
    ).fetchone()
    conn.lock_user(user)
    said = StatementTime(from_stored(spoken_at), from_stored(order_time))
    for entity in users.ensure_entities(
        conn, user, (*understanding.entities, *_corrected_names(understanding.corrections))
    ):
        conn.execute(
            "INSERT INTO turn_entities (entity, turn) VALUES (?, ?) ON CONFLICT DO NOTHING",
            (entity, turn),
        )
    event_times.put(conn, user, turn, understanding.event_times)
    if understanding.jest:
        undoing.retract_previous_turn(conn, user, turn, said.said_at)
    corrected: list[Correction] = []
    new: int | None = None
    confirmed: set[str | None] = set()
    for correction in understanding.corrections:
        amended = amend(correction, latest_until(conn, user, said.order_time))
        if amended:
            old, statement = amended
            new = _insert(conn, user, turn, statement, said, None)
            effects.apply_effects(
                conn,
                user,
                memory=new,
                turn=turn,
                said_at=said.said_at,
                reason=CORRECTED,
                ends=[old.id],
            )
            conn.execute(
                """UPDATE memories SET amends = (SELECT id FROM memories WHERE user_key = ?
                    AND public_id = ?) WHERE user_key = ? AND id = ?""",
                (user, old.id, user, new),
            )
            _count_corrected_memory(conn, user, old.id)
            corrected.append(correction)
        elif correction.wrong:
            _count_corrected_turns(conn, turn, correction.wrong)
    for statement in understanding.statements:
        if any(
            statement.start < correction.stop and correction.start < statement.stop
            for correction in corrected
        ):
            continue
        new, repeated = add_statement(conn, user, turn, statement, said, speaker, revise, identify)
        confirmed.add(repeated)
    effects.apply_effects(
        conn,
        user,
        memory=new,
        turn=turn,
        said_at=said.said_at,
        reason=revision.reason,
        ends=[memory for memory in revision.ends if memory not in confirmed],
        doubts=[memory for memory in revision.doubts if memory not in confirmed],
    )


def add_statement(
    conn: Connection,
    user: UserKey,
    turn: int,
    statement: Statement,
    said: StatementTime,
    speaker: str | None,
    revise: Supersede,
    identify: MatchSubjects,
) -> tuple[int, str | None]:
    """Stores a statement of a turn, or confirms the memory that it repeats; ends what it ends.

    Returns:
        The row number of the memory, and its id if it is confirmed.
    """
    revision = find_effect(conn, user, statement, said.order_time, speaker, revise, identify)
    if revision.confirms:
        new = _confirm(conn, user, revision.confirms, turn, statement, said)
    else:
        new = _insert(conn, user, turn, statement, said, revision.valid_until)
        if revision.valid_until is not None:
            action, at = DecisionAction.ENDED, revision.valid_until
            decisions.record(conn, user, action, LATER_KNOWN, [(new, None)], at)
    if revision.doubted_by is not None:
        effects.doubt_new(conn, user, new, revision.doubted_by, DOUBTED_AT_ONCE)
    effects.apply_effects(
        conn,
        user,
        memory=new,
        turn=turn,
        said_at=said.said_at,
        reason=revision.reason,
        ends=revision.ends,
        doubts=revision.doubts,
    )
    return new, revision.confirms


def find_effect(
    conn: Connection,
    user: UserKey,
    statement: Statement,
    order_time: datetime,
    speaker: str | None,
    revise: Supersede,
    identify: MatchSubjects,
    memory: str | None = None,
) -> Supersession:
    """Finds what a statement does to stored memories other than its own; changes nothing."""
    same: Collection[str] | None = (statement.subject,)
    if statement.subject != speaker and (
        statement.single or statement.negated or statement.ending is not None
    ):
        same = identify(
            statement.subject,
            known_subjects(conn, user, statement.subject),
            denies=statement.negated,
        )

    # It may be about another subject, so it confirms or doubts only what has the same words.
    certain = same is not None
    known = related(conn, user, statement, order_time, same or (statement.subject,))
    others = [one for one in known if one.id != memory]
    return revise(statement, order_time, others, certain=certain)


def _insert(
    conn: Connection,
    user: UserKey,
    turn: int,
    statement: Statement,
    said: StatementTime,
    valid_until: datetime | None,
) -> int:
    key: int = conn.execute(
        """INSERT INTO memories (user_key, public_id, text, subject, relation, object, value, kind,
               category, category_percent, importance, hedged, negated, changes,
               single, said_at, order_time, valid_until)
                   VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id""",
        (
            user,
            uuid4().hex,
            statement.text,
            statement.subject,
            statement.relation,
            statement.object,
            normalize_value(statement.object),
            statement.kind,
            statement.category,
            None if (sure := statement.category_probability) is None else round(100 * sure),
            statement.importance,
            statement.hedged,
            statement.negated,
            statement.changes,
            statement.single,
            to_stored(said.said_at),
            to_stored(said.order_time),
            None if valid_until is None else to_stored(valid_until),
        ),
    ).fetchone()[0]
    index_entries.add(conn, user, EvidenceKind.MEMORY, key, 0, statement.text)
    tags.attach(conn, user, key, statement.circumstances, said.said_at)
    tags.attach_found(conn, user, key, statement.tags, said.said_at)
    _add_source(conn, key, turn, statement)
    for entity in users.ensure_entities(conn, user, statement.entities):
        conn.execute(
            "INSERT INTO memory_entities (entity, memory) VALUES (?, ?) ON CONFLICT DO NOTHING",
            (entity, key),
        )
    return key


def _corrected_names(corrections: Sequence[Correction]) -> tuple[str, ...]:
    """Names in corrections, which are stored as entities."""
    return tuple(correction.right for correction in corrections if correction.right[:1].isupper())


def _count_corrected_memory(conn: Connection, user: UserKey, memory: str) -> None:
    """Increments the correction counts of a memory's turns."""
    turns = conn.execute(
        """SELECT x.turn FROM sources x JOIN memories m ON m.id = x.memory
            WHERE m.user_key = ? AND m.public_id = ?""",
        (user, memory),
    )
    _count_corrections(conn, [turn for (turn,) in turns.fetchall()])


def _count_corrected_turns(conn: Connection, turn: int, wrong: str) -> None:
    """Increments the correction counts of the latest turns that contain the wrong words.

    Used where no memory was extracted from them.
    """
    before = conn.execute(
        """SELECT t.id, t.text FROM turns t JOIN turns n ON n.session = t.session WHERE n.id = ?
            AND t.id < n.id ORDER BY t.id DESC LIMIT ?""",
        (turn, RECENT_FOR_CORRECTION),
    ).fetchall()
    held = re.compile(rf"(?<!\w){re.escape(wrong)}(?!\w)", re.IGNORECASE)
    _count_corrections(conn, [key for key, text in before if held.search(text)])


def _count_corrections(conn: Connection, turns: Iterable[int]) -> None:
    for turn in turns:
        counted = conn.execute(
            "UPDATE correction_counts SET times = times + 1 WHERE turn = ? RETURNING 1", (turn,)
        ).fetchone()
        if counted is None:
            conn.execute("INSERT INTO correction_counts (turn, times) VALUES (?, 1)", (turn,))


def _confirm(
    conn: Connection,
    user: UserKey,
    memory: str,
    turn: int,
    statement: Statement,
    said: StatementTime,
) -> int:
    """Confirms a memory; one that was in doubt before this was said is no longer."""
    later = {"place": to_stored(said.order_time), "user": user, "memory": memory}
    key: int = conn.execute(
        """UPDATE memories SET confirmations = confirmations + 1, said_at = CASE
               WHEN :place >= order_time THEN :at ELSE said_at END,
               order_time = greatest(order_time, :place)
            WHERE user_key = :user AND public_id = :memory RETURNING id""",
        {**later, "at": to_stored(said.said_at)},
    ).fetchone()[0]
    conn.execute(
        """UPDATE memories SET doubted_at = NULL, doubted_by = NULL, doubted_in = NULL
            WHERE user_key = :user AND public_id = :memory AND doubted_at <= :place""",
        later,
    )
    conn.execute(
        """UPDATE correction_counts SET times = times - 1 WHERE times > 0
            AND turn IN (SELECT turn FROM sources WHERE memory = ?)""",
        (key,),
    )
    conn.execute(
        """INSERT INTO sources (memory, turn, start, stop)
            SELECT CAST(:memory AS BIGINT), CAST(:turn AS BIGINT), CAST(:start AS BIGINT),
                CAST(:stop AS BIGINT)
            WHERE EXISTS (SELECT 1 FROM sources WHERE memory = :memory) ON CONFLICT DO NOTHING""",
        {"memory": key, "turn": turn, "start": statement.start, "stop": statement.stop},
    )  # what was stored without a turn does not depend on one that repeats it
    decisions.record(
        conn, user, DecisionAction.REPEATED, effects.SAID_AGAIN, [(key, None)], said.said_at
    )
    return key


def _add_source(conn: Connection, memory: int, turn: int, statement: Statement) -> None:
    conn.execute(
        """INSERT INTO sources (memory, turn, start, stop) VALUES (?, ?, ?, ?)
            ON CONFLICT DO NOTHING""",
        (memory, turn, statement.start, statement.stop),
    )
