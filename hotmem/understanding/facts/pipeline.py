"""The entry point of fact extraction: one turn → `Understanding`, without a language model.

`extract_facts` runs the steps in this order:

1. `stutter`: leave out what is repeated at once ("my my dog").
   `contractions`: expand contractions that the parser misreads ("my sister's a vet").
2. `repairs`: remove self-repairs ("on Monday, no, on Tuesday").
   `contrasts`: leave out what is denied beside it ("in Dublin, not in Cork").
3. `extract_from_parse`: read the parse.
    a. Names and times: `query.entities`, `time_direction`, `event_times`.
    b. Statements: `names`, `instructions`, `reminders`, and `clause_statements` (clause →
       subject → fact).
    c. Drop jokes (`jokes`), retracted clauses (`repairs`) and duplicates; add `tags`.
    d. Corrections of earlier turns: `corrections`.
4. `classification`: set kind, category and importance, if a classifier is given.
5. `plans`: mark plans and reminders, and add their times.
6. Map all offsets back to the words as they were spoken.

Before it, `truecasing` restores the capitals that a speech recogniser left out; after it,
`hearsay` marks what other speakers say of the user.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final, TypeAlias

from hotmem.temporal import TimeMention
from hotmem.types import Correction, Role, Statement, Understanding
from hotmem.types.understanding import Doc
from hotmem.understanding.facts.assertion import joke_spans, retracts_previous_turn
from hotmem.understanding.facts.corrections import (
    admits_mistake,
    expand_contractions,
    read_corrections,
    remove_repairs,
    remove_stutter,
    retracted_spans,
)
from hotmem.understanding.facts.events import (
    mark_plans,
    read_event_times,
    read_reminders,
    upcoming_times,
)
from hotmem.understanding.facts.instructions import read_instructions
from hotmem.understanding.facts.names import read_name_statements
from hotmem.understanding.facts.statements import RewrittenText, without_contrasts
from hotmem.understanding.facts.tags import circumstance_tags, tag_spans, tags_within
from hotmem.understanding.facts.time_direction import resolve_times
from hotmem.understanding.facts.verbs import (
    read_admitted_correction,
    read_clause_statements,
)
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
    rewrites: list[RewrittenText] = []
    for rewrite in (remove_stutter, expand_contractions, remove_repairs):
        if (rewritten := rewrite(doc)) is not None:
            rewrites.append(rewritten)
            doc = parse(rewritten.text)
    corrections: tuple[Correction, ...] = ()
    contrasted = without_contrasts(doc)
    if contrasted is not None:
        corrections = tuple(read_corrections(doc, said_at))
        doc = parse(contrasted.text)
    understanding = extract_from_parse(doc, speaker, role, said_at)
    defaults = understanding.statements
    if classify is not None and defaults:
        understanding = replace(understanding, statements=tuple(classify(doc, defaults)))
    understanding = mark_plans(doc, understanding, defaults, said_at)
    if contrasted is not None:
        understanding = contrasted.restore_offsets(understanding)
        understanding = replace(understanding, corrections=corrections or understanding.corrections)
    for rewritten in reversed(rewrites):
        understanding = rewritten.restore_offsets(understanding)
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
    statements = _read_statements(doc, name, entities, mentions, said_at)
    return Understanding(
        tuple(_sorted_with_tags(doc, _without_duplicates(statements))),
        _read_corrections(doc, name, said_at, has_statements=bool(statements)),
        entities,
        retracts_previous_turn(doc.text),
        event_times,
    )


def _read_statements(
    doc: Doc,
    speaker: str,
    entities: Sequence[str],
    mentions: Sequence[TimeMention],
    said_at: datetime,
) -> list[Statement]:
    """Read all statements that are neither jokes nor retracted in the same breath."""
    ignored = (*joke_spans(doc.text), *retracted_spans(doc.text))
    found = (
        *read_name_statements(doc, speaker),
        *read_instructions(doc, speaker),
        *read_reminders(doc, speaker, upcoming_times(doc.text, said_at), entities),
        *read_clause_statements(doc, speaker, entities, mentions, said_at),
    )
    return [
        statement
        for statement in found
        if not any(start <= statement.start < stop for start, stop in ignored)
    ][:MAX_STATEMENTS]


def _without_duplicates(statements: Sequence[Statement]) -> list[Statement]:
    """Keep the first statement of each subject, relation, object and polarity."""
    unique = {
        (
            statement.subject.casefold(),
            statement.relation,
            statement.object.casefold(),
            statement.negated,
        ): statement
        for statement in reversed(statements)
    }
    return list(unique.values())


def _sorted_with_tags(doc: Doc, statements: Sequence[Statement]) -> Iterator[Statement]:
    """Yield the statements in the order of their words, each with its tags."""
    spans = tag_spans(doc) if statements else []
    for statement in sorted(statements, key=lambda statement: (statement.start, statement.stop)):
        words = doc.text[statement.start : statement.stop]
        topics = tags_within(spans, statement.start, statement.stop, statement.text)
        yield replace(statement, tags=topics, circumstances=circumstance_tags(words))


def _read_corrections(
    doc: Doc, speaker: str, said_at: datetime, *, has_statements: bool
) -> tuple[Correction, ...]:
    """Read corrections; an admitted mistake corrects only if the turn says nothing else."""
    corrections = tuple(read_corrections(doc, said_at))
    if corrections or has_statements or any(retracted_spans(doc.text)):
        return corrections
    if not admits_mistake(doc.text):
        return ()
    return tuple(read_admitted_correction(doc, speaker, said_at))
