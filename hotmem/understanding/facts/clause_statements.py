"""Clauses → statements: resolve the subject, read the facts, put them into the third person."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final

from hotmem.temporal import TimeMention, find_times, format_time, format_time_bare
from hotmem.types import Correction, Statement
from hotmem.types.parse import Doc
from hotmem.understanding.facts.clauses import Clause, read_clauses
from hotmem.understanding.facts.copulas import read_copula
from hotmem.understanding.facts.events import rescheduled_event
from hotmem.understanding.facts.former_times import current_times
from hotmem.understanding.facts.general_verbs import read_general_verb
from hotmem.understanding.facts.lexicon import DETAIL_NOUNS, EVENT_NOUNS
from hotmem.understanding.facts.predicates import Fact, first_mention, predicate_words
from hotmem.understanding.facts.relations import IS_DETAIL, IS_ON
from hotmem.understanding.facts.spelled_codes import code_after
from hotmem.understanding.facts.statements import to_statement
from hotmem.understanding.facts.subjects import Subject, resolve
from hotmem.understanding.facts.third_person import sentence
from hotmem.understanding.facts.verbs import read_verb

_PRONOUN_NOUNS: Final = {"he": "friend", "she": "friend", "they": "friend", "it": "car"}
"""Third-person pronouns, each with a noun of the kind that it may stand for."""


def read_admitted_correction(doc: Doc, speaker: str, said_at: datetime) -> Iterator[Correction]:
    """Yield the correction in the first clause about "she", "he" or "it", if there is one.

    For turns that admit a mistake: "I said something silly, she's from Latvia".
    """
    mentions = find_times(doc.text, said_at, ahead=True)
    for clause in read_clauses(doc):
        pronoun = clause.subject
        if pronoun is None or pronoun.lower_ not in _PRONOUN_NOUNS or clause.negated:
            continue
        someone = Subject(
            pronoun.lower_,
            pronoun.lower_,
            _PRONOUN_NOUNS[pronoun.lower_],
            False,
            False,
            pronoun.idx,
            pronoun.idx + len(pronoun),
        )
        for fact in _read_facts(clause, someone, mentions):
            statement = to_statement(clause, someone, fact, mentions, speaker, (), said_at)
            if statement is not None and statement.object:
                yield Correction(
                    "", statement.object, statement.start, statement.stop, statement.relation
                )
                return


def read_clause_statements(
    doc: Doc,
    speaker: str,
    entities: Sequence[str],
    mentions: Sequence[TimeMention],
    said_at: datetime,
) -> Iterator[Statement]:
    """Yield the statements of all asserted clauses.

    Args:
        doc: The parsed turn.
        speaker: The speaker's name.
        entities: Names in the turn.
        mentions: Times in the turn.
        said_at: When it was said.
    """
    for clause in read_clauses(doc):
        moved = rescheduled_event(clause)
        appointment = resolve(moved, speaker) if moved is not None else None
        if (
            appointment is not None
            and appointment.head in EVENT_NOUNS
            and (day := _new_date(clause, said_at)) is not None
        ):
            yield _reschedule_statement(clause, appointment, day)
            continue
        subject = resolve(clause.subject, speaker)
        if subject is None:
            continue
        times = _relevant_mentions(doc, subject, mentions)
        for fact in _read_facts(clause, subject, times):
            if statement := to_statement(clause, subject, fact, times, speaker, entities, said_at):
                yield statement


def _relevant_mentions(
    doc: Doc, subject: Subject, mentions: Sequence[TimeMention]
) -> Sequence[TimeMention]:
    """Drop bare numbers from the times of a clause about a code: "my PIN is 1987" names no year."""
    if subject.head not in DETAIL_NOUNS:
        return mentions
    return [
        mention for mention in mentions if not doc.text[mention.start : mention.stop].isdecimal()
    ]


def _new_date(clause: Clause, said_at: datetime) -> TimeMention | None:
    """Return the future date of a rescheduled event: "they put the exam off until Monday"."""
    text = clause.verb.doc.text
    times = find_times(text, said_at, ahead=True)
    return first_mention(predicate_words(clause), list(current_times(text, times)))


def _reschedule_statement(clause: Clause, appointment: Subject, day: TimeMention) -> Statement:
    """State the new date of a rescheduled event."""
    words = predicate_words(clause)
    start = min(appointment.start, words[0].idx)
    stop = max(appointment.stop, *(token.idx + len(token) for token in words))
    text = sentence(appointment.shown, "is", format_time(day))
    return IS_ON.statement(appointment.key, format_time_bare(day), text, start, stop)


def _read_facts(
    clause: Clause, subject: Subject, mentions: Sequence[TimeMention]
) -> Sequence[Fact]:
    """Read the facts of a clause by the tables of relations, or else by the general rule."""
    if clause.copular:
        return tuple(read_copula(clause, subject, mentions))
    if subject.event:
        return ()
    if subject.head in DETAIL_NOUNS and clause.finite.lemma_ == "be" and not clause.negated:
        code = code_after(clause.finite)  # "is pancake seven seven", parsed as a verb
        if code:
            said = clause.verb.doc[code[0].i : code[-1].i + 1].text
            return (Fact(IS_DETAIL, code, (clause.finite, *code), object=said),)
    return tuple(read_verb(clause, subject, mentions)) or tuple(
        read_general_verb(clause, subject, mentions)
    )
