"""The entry point of fact extraction by rules: one turn → `Understanding`.

`extract_facts` leaves out self-repairs ("on Monday, no, on Tuesday") and what is denied beside it
("in Dublin, not in Cork"); reads names, wishes, requests to
be reminded, corrections and the times of events from the rest; drops jokes and what is taken back
in the same breath; adds tags; and maps all offsets back to the words as they were spoken. What else
a turn states is found by the reader (`kept_sentences`).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final, TypeAlias

from hotmem.types import Correction, Role, Statement, Understanding
from hotmem.types.understanding import Doc
from hotmem.understanding.facts.assertion import joke_spans, retracts_previous_turn
from hotmem.understanding.facts.corrections import (
    read_corrections,
    retracted_spans,
)
from hotmem.understanding.facts.events import (
    mark_reminders,
    read_event_times,
    read_reminders,
    upcoming_times,
)
from hotmem.understanding.facts.instructions import read_instructions
from hotmem.understanding.facts.names import read_name_statements
from hotmem.understanding.facts.rewriting import without_contrasts
from hotmem.understanding.facts.tags import circumstance_tags, tag_spans, tags_within
from hotmem.understanding.facts.time_direction import resolve_times
from hotmem.understanding.query.entities import find_entities

Classify: TypeAlias = Callable[[Doc, Sequence[Statement]], Sequence[Statement]]
"""Sets kind, category and importance of the statements of a parsed turn."""

MAX_STATEMENTS: Final = 60
"""Statements of one turn that are kept; more are read only in words said again and again."""

UNNAMED_SPEAKER: Final = "the user"
"""The subject of statements of a speaker without a name."""


def extract_facts(
    doc: Doc,
    parse: Callable[[str], Doc],
    speaker: str | None,
    role: Role,
    said_at: datetime,
    classify: Classify | None = None,
) -> Understanding:
    """Extract statements, corrections, names and event times from a turn.

    Args:
        doc: The parsed turn.
        parse: Parses a rewritten turn.
        speaker: The speaker's name, which replaces "I" and "my"; None for "the user".
        role: The speaker's role; the assistant's turns yield names and times only.
        said_at: When it was said; relative times are resolved against it.
        classify: Classifies the statements; without it they have the defaults of their relations.

    Returns:
        Statements in the order of their words, with offsets into `doc.text`.
    """
    if role is not Role.USER:
        return extract_from_parse(doc, speaker, role, said_at)
    corrections: tuple[Correction, ...] = ()
    contrasted = without_contrasts(doc)
    if contrasted is not None:
        corrections = tuple(read_corrections(doc, said_at))
        doc = parse(contrasted.text)
    understanding = extract_from_parse(doc, speaker, role, said_at)
    if classify is not None and understanding.statements:
        classified = tuple(classify(doc, understanding.statements))
        understanding = replace(understanding, statements=classified)
    understanding = mark_reminders(doc, understanding, said_at)
    if contrasted is not None:
        understanding = contrasted.restore_offsets(understanding)
        understanding = replace(understanding, corrections=corrections or understanding.corrections)
    return understanding


def extract_from_parse(
    doc: Doc, speaker: str | None, role: Role, said_at: datetime
) -> Understanding:
    """Extract from a parsed turn as it is, without rewriting it first.

    Args and result as in `extract_facts`.
    """
    entities = find_entities(doc)
    mentions = resolve_times(doc, said_at)
    event_times = tuple(read_event_times(said_at, mentions))
    if role is not Role.USER:
        return Understanding(entities=entities, event_times=event_times)
    name = speaker or UNNAMED_SPEAKER
    statements = _read_statements(doc, name, entities, said_at)
    return Understanding(
        tuple(sorted_with_tags(doc, _without_duplicates(statements))),
        tuple(read_corrections(doc, said_at)),
        entities,
        retracts_previous_turn(doc.text),
        event_times,
    )


def _read_statements(
    doc: Doc,
    speaker: str,
    entities: Sequence[str],
    said_at: datetime,
) -> list[Statement]:
    """Read all statements that are neither jokes nor retracted in the same breath."""
    ignored = (*joke_spans(doc.text), *retracted_spans(doc.text))
    found = (
        *read_name_statements(doc, speaker),
        *read_instructions(doc, speaker),
        *read_reminders(doc, speaker, upcoming_times(doc.text, said_at), entities),
    )
    return [
        statement
        for statement in found
        if not any(start <= statement.start < stop for start, stop in ignored)
    ][:MAX_STATEMENTS]


def _without_duplicates(statements: Sequence[Statement]) -> list[Statement]:
    """Keep the first statement of each subject, relation and object."""
    unique = {
        (
            statement.subject.casefold(),
            statement.relation,
            statement.object.casefold(),
        ): statement
        for statement in reversed(statements)
    }
    return list(unique.values())


def sorted_with_tags(doc: Doc, statements: Sequence[Statement]) -> Iterator[Statement]:
    """Yield the statements in the order of their words, each with its tags.

    Args:
        doc: The parsed turn.
        statements: Statements, with offsets into `doc.text`.
    """
    spans = tag_spans(doc) if statements else []
    for statement in sorted(statements, key=lambda statement: (statement.start, statement.stop)):
        words = doc.text[statement.start : statement.stop]
        topics = tags_within(spans, statement.start, statement.stop, statement.text)
        yield replace(statement, tags=topics, circumstances=circumstance_tags(words))
