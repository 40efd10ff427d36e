"""Stores what was read of a turn, or is stored explicitly, in one transaction, one line a step.

    turn ─▶ mentions ─▶ a joke taken back ─▶ corrections ─▶ statements ─▶ what else it changes

A statement confirms the memory that it repeats, or becomes one; what it contradicts ends or is in
doubt (`supersession`).
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Final

from hotmem.revision.same_subject import find_same_subjects
from hotmem.revision.supersession import find_corrected, find_supersession
from hotmem.storage import queries
from hotmem.storage.database import Connection
from hotmem.storage.queries.effects import apply_effects, apply_later
from hotmem.storage.queries.statements import SaidTurn
from hotmem.text.validation import normalize_value
from hotmem.types import (
    Correction,
    DecisionAction,
    ExtractionBatch,
    ExtractionResult,
    InsertedMemory,
    NewMemory,
    RevisedMemory,
    Revision,
    SignBits,
    Statement,
    Supersession,
    Understanding,
    UserKey,
    Vector,
)

CORRECTED: Final = "The user corrected it."
LATER_KNOWN: Final = "Something said later, which was stored already, replaces it."
DOUBTED_AT_ONCE: Final = "Something that is stored already contradicts it."
"""Reasons of endings and doubts."""

NO_REVISION: Final = Revision()


def store_understanding(
    conn: Connection,
    turn: int,
    understanding: Understanding,
    revision: Revision = NO_REVISION,
    later: Mapping[str, Supersession] = {},
    *,
    to_model: bool = False,
) -> None:
    """Stores what was read of a turn, and removes its pending job.

    Nothing is stored for a turn that was forgotten or understood meanwhile.

    Args:
        conn: The writer, within a transaction.
        turn: Row number of the turn.
        understanding: What was read of it.
        revision: Memories that end, or become possibly outdated, because of its words as a whole.
        later: What ends its statements, or makes them possibly outdated, by their text, though it
            was stored before.
        to_model: Whether the turn then waits to be sent to a language model.
    """
    queries.users.lock_owners(conn, "turns", [turn])
    if to_model:
        queries.extractions.enqueue(conn, turn, jest=understanding.jest)
    said = queries.statements.take(conn, turn)
    if said is None:
        return
    names = [one.right for one in understanding.corrections if one.right[:1].isupper()]
    mentioned = (*understanding.entities, *names)
    queries.statements.put_mentions(conn, said, mentioned, understanding.event_times)
    if understanding.jest:
        queries.undoing.retract_previous_turn(conn, said.user, turn, said.said_at)
    corrected = {
        correction: memory
        for correction in understanding.corrections
        if (memory := _correct(conn, said, correction)) is not None
    }
    stored = {
        statement: store_statement(conn, said, statement)
        for statement in understanding.statements
        if not any(statement.start < one.stop and one.start < statement.stop for one in corrected)
        and not queries.statements.is_read(conn, said, statement)
    }
    for statement, (memory, repeated) in stored.items():
        if repeated is None and statement.text in later:
            _apply_known(conn, said.user, memory, later[statement.text])
    memories = [*corrected.values(), *(memory for memory, _ in stored.values())]
    confirmed = {name for _, name in stored.values()}
    apply_effects(
        conn,
        said.user,
        memory=memories[-1] if memories else None,
        turn=turn,
        said_at=said.said_at,
        reason=revision.reason,
        ends=[name for name in revision.ends if name not in confirmed],
        doubts=[name for name in revision.doubts if name not in confirmed],
    )
    if memories and queries.statements.is_late(conn, said):
        groups = queries.effects.groups_of(conn, said.user, memories)
        queries.derivation.rederive(conn, said.user, groups)


def _correct(conn: Connection, said: SaidTurn, correction: Correction) -> int | None:
    """Replaces the recent memory that a correction is about; the row number of the new one.

    If there is none, the correction counts for the turns that have the wrong words.
    """
    recent = queries.memories.latest_until(conn, said.user, said.order_time)
    amended = find_corrected(correction, recent)
    if amended is None and correction.wrong:
        queries.statements.count_corrected_turns(conn, said.key, correction.wrong)
    if amended is None or queries.statements.is_read(conn, said, amended[1]):
        return None
    old, statement = amended
    memory = queries.statements.insert(conn, said, statement)
    apply_effects(
        conn,
        said.user,
        memory=memory,
        turn=said.key,
        said_at=said.said_at,
        reason=CORRECTED,
        ends=[old.id],
    )
    queries.statements.amend(conn, said.user, memory, old.id)
    return memory


def store_statement(
    conn: Connection, said: SaidTurn, statement: Statement
) -> tuple[int, str | None]:
    """Stores a statement of a turn, or confirms the memory that it repeats; ends what it ends.

    Returns:
        The row number of the memory, and its id if it is confirmed.
    """
    user, at = said.user, said.said_at
    effect = find_effect(conn, user, statement, said.order_time, said.speaker)
    if effect.confirms:
        memory = queries.statements.confirm(conn, said, statement, effect.confirms)
    else:
        memory = queries.statements.insert(conn, said, statement)
    _apply_known(conn, user, memory, effect)
    apply_effects(
        conn,
        user,
        memory=memory,
        turn=said.key,
        said_at=at,
        reason=effect.reason,
        ends=effect.ends,
        doubts=effect.doubts,
    )
    return memory, effect.confirms


def _apply_known(conn: Connection, user: UserKey, memory: int, effect: Supersession) -> None:
    """Ends a memory, or puts it in doubt, by what was said later and is stored already."""
    if effect.ended_by is not None:
        apply_later(conn, user, memory, effect.ended_by, DecisionAction.ENDED, LATER_KNOWN)
    if effect.doubted_by is not None:
        apply_later(conn, user, memory, effect.doubted_by, DecisionAction.DOUBTED, DOUBTED_AT_ONCE)


def find_effect(
    conn: Connection,
    user: UserKey,
    statement: Statement,
    order_time: datetime,
    speaker: str | None,
    memory: str | None = None,
) -> Supersession:
    """Finds what a statement does to stored memories; changes nothing.

    Args:
        conn: A connection.
        user: The user.
        statement: The statement.
        order_time: Its position in the order of statements.
        speaker: The name that stands for the user in stored memories.
        memory: Id of its own memory, if it is stored already.
    """
    same: Collection[str] | None = (statement.subject,)
    if statement.subject != speaker and (
        statement.single or statement.negated or statement.ending is not None
    ):
        known = queries.memories.known_subjects(conn, user, statement.subject)
        same = find_same_subjects(statement.subject, known, denies=statement.negated)
    subjects = same or (statement.subject,)
    others = queries.memories.related(conn, user, statement, order_time, subjects)
    # If it may be about another subject, it confirms or doubts only what has the same words.
    return find_supersession(
        statement,
        order_time,
        [one for one in others if one.id != memory],
        certain=same is not None,
    )


def store_facts(
    conn: Connection,
    user: UserKey,
    batch: ExtractionBatch,
    result: ExtractionResult,
    facts: Sequence[tuple[int, Statement]],
) -> int:
    """Stores the facts that a language model read, by turn, and completes the record of the call.

    The turns wait no longer. Facts of a turn that was forgotten meanwhile, or corrected, are
    dropped, and those that were known from the same turn.

    Returns:
        Number of facts stored.
    """
    conn.lock_user(user)
    usable = queries.extractions.uncorrected(conn, user, [key for key, _ in batch.turns])
    stored = sum(_store_fact(conn, user, turn, fact) for turn, fact in facts if turn in usable)
    queries.extractions.settle(conn, user, batch.turns)
    queries.model_calls.complete(conn, user, batch.call, result, facts=stored)
    return stored


def _store_fact(conn: Connection, user: UserKey, turn: int, statement: Statement) -> bool:
    """Stores a fact, unless it was known from its turn or has ended since; whether it was."""
    if queries.extractions.is_known(conn, user, turn, statement):
        return False
    said = queries.statements.said(conn, user, turn)
    if any(
        normalize_value(memory.object) == normalize_value(statement.object)
        and memory.negated == statement.negated
        and memory.valid_until is not None
        and memory.valid_until >= said.said_at
        for memory in queries.memories.related(conn, user, statement, said.order_time)
    ):
        return False
    store_statement(conn, said, statement)
    return True


def store_note(
    conn: Connection,
    encoder: str,
    user_id: str,
    note: NewMemory,
    vector: Vector,
    signs: SignBits,
    now: datetime,
    reason: str,
    revision: Revision,
) -> InsertedMemory:
    """Stores a memory explicitly; ends, or puts in doubt, what it contradicts, as if it were said.

    Args:
        conn: The writer, within a transaction.
        encoder: Identity of the encoder that made the vectors.
        user_id: The user, who is created if there is none.
        note: The memory.
        vector: Its vector.
        signs: Its token signs.
        now: When it is stored.
        reason: The reason of its classification.
        revision: What its words as a whole do to stored memories.
    """
    insert = queries.embedding.insert_memory
    name = insert(conn, encoder, user_id, note, vector, signs, now, reason)
    user = queries.users.ensure(conn, user_id)
    return InsertedMemory(name, tuple(_revise(conn, user, name, note.states, revision)))


def _revise(
    conn: Connection, user: UserKey, name: str, states: Sequence[Statement], revision: Revision
) -> list[RevisedMemory]:
    """Applies the effects of a new memory's statements, then those of its words as a whole."""
    key, order_time, said_at = queries.new_memories.said(conn, user, name)
    speaker = queries.sessions.speaker(conn, user)
    found = [find_effect(conn, user, one, order_time, speaker, name) for one in states]
    settled = {one.confirms for one in found}
    effects: list[Supersession | Revision] = [*found, revision]
    revised: list[RevisedMemory] = []
    for effect in effects:
        revised += apply_effects(
            conn,
            user,
            memory=key,
            turn=None,
            said_at=said_at,
            reason=effect.reason,
            ends=[one for one in effect.ends if one not in settled],
            doubts=[one for one in effect.doubts if one not in settled],
        )
        settled |= {one.id for one in revised}
    return revised
