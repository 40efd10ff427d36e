"""Turn → Understanding: clauses and names read, told in the third person, with their places."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import pairwise
from typing import Final, TypeAlias

from hotmem.temporal import TimeMention, find_times, format_time_bare
from hotmem.types import Correction, Role, Statement, Termination, Understanding
from hotmem.types.parse import Doc, Token
from hotmem.understanding.facts.clauses import Clause, Tense, read_clauses
from hotmem.understanding.facts.copulas import read_copula
from hotmem.understanding.facts.corrections import admits_mistake, read_corrections
from hotmem.understanding.facts.event_times import read_event_times
from hotmem.understanding.facts.events import (
    RELOCATION_VERBS,
    find_ended_activity,
    rescheduled_event,
)
from hotmem.understanding.facts.favourites import read_favourite
from hotmem.understanding.facts.general_verbs import read_general_verb
from hotmem.understanding.facts.instructions import read_instructions
from hotmem.understanding.facts.jokes import joke_spans, retracts_previous_turn
from hotmem.understanding.facts.names import NameStatement, normalize_thing, read_names
from hotmem.understanding.facts.predicates import (
    Fact,
    first_mention,
    is_in_mention,
    is_self_contained,
    loses_restriction,
    predicate_words,
)
from hotmem.understanding.facts.relations import (
    DETAIL_NOUNS,
    EVENT_NOUNS,
    EXCLUSIVE_VALUES,
    HAS_TO,
    IS,
    IS_BORN_ON,
    IS_CALLED,
    IS_DETAIL,
    IS_NOW,
    IS_ON,
    LIVES_IN,
    PLANS_TO,
    PURSUIT_RELATIONS,
    REGULARLY,
    WANTS,
)
from hotmem.understanding.facts.repairs import remove_repairs, retracted_spans
from hotmem.understanding.facts.rewrites import Rewrite, expand_contractions
from hotmem.understanding.facts.secondary_facts import is_secondary
from hotmem.understanding.facts.spelled_codes import is_code_token, keeps_codes_whole
from hotmem.understanding.facts.subjects import Subject, resolve
from hotmem.understanding.facts.tags import TagSpan, circumstance_tags, tag_spans, tags_within
from hotmem.understanding.facts.third_person import sentence, to_third_person
from hotmem.understanding.facts.time_direction import resolve_times
from hotmem.understanding.facts.verbs import read_verb
from hotmem.understanding.query.entities import find_entities

Classify: TypeAlias = Callable[[Doc, Sequence[Statement]], Sequence[Statement]]
"""Files the statements of a parsed turn by their words and their meaning."""

UNNAMED_SPEAKER: Final = "the user"
"""What a speaker without a name is called."""

DATED_RELATIONS: Final = frozenset({PLANS_TO, HAS_TO, WANTS, IS_ON})
"""Relations whose statements keep their time though they are in the present tense; elsewhere
"these days" would go stale."""

_THIRD: Final = {"he": "friend", "she": "friend", "they": "friend", "it": "car"}
"""Pronouns of the third person, and a noun of the sort they stand for."""

_DRESS: Final = re.compile(r"^(?:an?|some)\s+|\s+any\s+(?:more|longer)$")
"""What is left out where values are compared."""


def extract_from_parse(
    doc: Doc, speaker: str | None, role: Role, said_at: datetime
) -> Understanding:
    """Reads the statements, corrections and names of one turn.

    Args:
        doc: The parsed turn.
        speaker: The speaker's name; "I" and "my" become it, or "the user" without one.
        role: Who spoke; the assistant's turns yield names and times only.
        said_at: When it was said; "next Tuesday" becomes a date.

    Returns:
        Statements in the order of their words, each with a literal span of `doc.text`.
    """
    entities = find_entities(doc)
    times = resolve_times(doc, said_at)
    happenings = tuple(read_event_times(said_at, times))
    if role is not Role.USER:
        return Understanding(entities=entities, event_times=happenings)
    name = speaker or UNNAMED_SPEAKER
    wrong = tuple(retracted_spans(doc.text))
    idle = (*joke_spans(doc.text), *wrong)
    told = (
        *_named(doc, name),
        *read_instructions(doc, name),
        *_stated(doc, name, entities, times, said_at),
    )
    found = [
        statement
        for statement in told
        if not any(start <= statement.start < stop for start, stop in idle)
    ]
    unique = {
        (
            statement.subject.casefold(),
            statement.relation,
            statement.object.casefold(),
            statement.negated,
        ): statement
        for statement in reversed(found)
    }
    told_of = tag_spans(doc) if unique else []
    statements = sorted(
        (_tagged(doc, statement, told_of) for statement in unique.values()),
        key=lambda statement: (statement.start, statement.stop),
    )
    corrections = tuple(read_corrections(doc, said_at))
    if not (corrections or found or wrong) and admits_mistake(doc.text):
        corrections = tuple(_amended(doc, name, said_at))
    return Understanding(
        tuple(statements), corrections, entities, retracts_previous_turn(doc.text), happenings
    )


def _tagged(doc: Doc, statement: Statement, told: Sequence[TagSpan]) -> Statement:
    """The statement with what it is filed under."""
    words = doc.text[statement.start : statement.stop]
    return replace(
        statement,
        tags=(
            *tags_within(told, statement.start, statement.stop, statement.text),
            *circumstance_tags(words),
        ),
    )


def _amended(doc: Doc, speaker: str, said_at: datetime) -> Iterator[Correction]:
    """What holds instead of something said wrong before, of whomever "she" or "it" was.

    "I said something silly, she's from Latvia".
    """
    mentions = find_times(doc.text, said_at, ahead=True)
    for clause in read_clauses(doc):
        pronoun = clause.subject
        if pronoun is None or pronoun.lower_ not in _THIRD or clause.negated:
            continue
        someone = Subject(
            pronoun.lower_,
            pronoun.lower_,
            _THIRD[pronoun.lower_],
            False,
            False,
            pronoun.idx,
            pronoun.idx + len(pronoun),
        )
        for fact in _facts(clause, someone, mentions):
            told = _told(clause, someone, fact, mentions, speaker, ())
            if told is not None and told.object:
                yield Correction("", told.object, told.start, told.stop, told.relation)
                return


def extract_facts(
    doc: Doc,
    parse: Callable[[str], Doc],
    speaker: str | None,
    role: Role,
    said_at: datetime,
    filed: Classify | None = None,
) -> Understanding:
    """Reads a turn as it was meant.

    Contractions spelt out and what was taken back in the same breath left out; places are those of
    `doc`.

    Args:
        doc: The parsed turn.
        parse: Parses another wording of it.
        speaker: As in `extract_from_parse`.
        role: As in `extract_from_parse`.
        said_at: As in `extract_from_parse`.
        filed: Files the statements; without it they stay as their relations say.
    """
    if role is not Role.USER:
        return extract_from_parse(doc, speaker, role, said_at)
    wordings: list[Rewrite] = []
    for reword in (lambda said: expand_contractions(said.text), remove_repairs):
        if (reworded := reword(doc)) is not None:
            wordings.append(reworded)
            doc = parse(reworded.text)
    understanding = extract_from_parse(doc, speaker, role, said_at)
    if filed is not None and understanding.statements:
        understanding = replace(
            understanding, statements=tuple(filed(doc, understanding.statements))
        )
    for reworded in reversed(wordings):
        understanding = reworded.placed(understanding)
    return understanding


def _named(doc: Doc, speaker: str) -> Iterator[Statement]:
    for naming in read_names(doc):
        subject = f"{speaker}'s {normalize_thing(naming.thing)}" if naming.thing else speaker
        if naming.name.casefold() != speaker.casefold():
            yield _naming(naming, subject)


def _naming(naming: NameStatement, subject: str) -> Statement:
    told = IS_CALLED.statement(
        subject,
        naming.name,
        sentence(subject, IS_CALLED.name, naming.name),
        naming.start,
        naming.stop,
    )
    return replace(
        told,
        entities=(naming.name,),
        single=naming.sole,
        replaces=naming.renames,
        changes=naming.wished,
    )


def _stated(
    doc: Doc,
    speaker: str,
    entities: Sequence[str],
    mentions: Sequence[TimeMention],
    said_at: datetime,
) -> Iterator[Statement]:
    for clause in read_clauses(doc):
        if (favourite := read_favourite(clause, speaker)) is not None:
            yield favourite
            continue
        moved = rescheduled_event(clause)
        appointment = resolve(moved, speaker) if moved is not None else None
        if (
            appointment is not None
            and appointment.head in EVENT_NOUNS
            and (day := _new_day(clause, said_at)) is not None
        ):
            yield _rescheduled(clause, appointment, day)
            continue
        subject = resolve(clause.subject, speaker)
        if subject is None:
            continue
        times = _times(doc, subject, mentions)
        for fact in _facts(clause, subject, times):
            if statement := _told(clause, subject, fact, times, speaker, entities):
                yield statement


def _times(doc: Doc, subject: Subject, mentions: Sequence[TimeMention]) -> Sequence[TimeMention]:
    """The times that a clause may name: "my PIN is 1987" names no year."""
    if subject.head not in DETAIL_NOUNS:
        return mentions
    return [
        mention for mention in mentions if not doc.text[mention.start : mention.stop].isdecimal()
    ]


def _new_day(clause: Clause, said_at: datetime) -> TimeMention | None:
    """The day to come that something is moved to: "they put the exam off until Monday"."""
    return first_mention(
        predicate_words(clause), find_times(clause.verb.doc.text, said_at, ahead=True)
    )


def _rescheduled(clause: Clause, appointment: Subject, day: TimeMention) -> Statement:
    """When an appointment that was moved now takes place."""
    when = format_time_bare(day)
    words = predicate_words(clause)
    start = min(appointment.start, words[0].idx)
    stop = max(appointment.stop, *(token.idx + len(token) for token in words))
    return IS_ON.statement(
        appointment.key, when, sentence(appointment.shown, IS_ON.name, when), start, stop
    )


def _facts(clause: Clause, subject: Subject, mentions: Sequence[TimeMention]) -> Sequence[Fact]:
    """What the clause says, by the table of relations, or else in general."""
    if clause.copular:
        return tuple(read_copula(clause, subject, mentions))
    if subject.event:
        return ()
    return tuple(read_verb(clause, subject, mentions)) or tuple(
        read_general_verb(clause, subject, mentions)
    )


def _since(words: Sequence[Token]) -> bool:
    return any(token.lower_ == "since" for token in words)


def _eventful(words: Sequence[Token]) -> bool:
    """Whether it is of something that takes place at a time: "has an exam on Wednesday"."""
    return any(token.lemma_ in EVENT_NOUNS for token in words)


def _told(
    clause: Clause,
    subject: Subject,
    fact: Fact,
    mentions: Sequence[TimeMention],
    speaker: str,
    entities: Sequence[str],
) -> Statement | None:
    """The fact as a statement, or None if it cannot stand alone."""
    if (
        not fact.words
        or _takes_back(fact.words)
        or not (keeps_codes_whole(fact.words) and keeps_codes_whole(fact.value))
    ):
        return None
    if fact.relation is IS_DETAIL and any(
        is_code_token(token) and not is_in_mention(token, mentions) for token in _beside(fact)
    ):
        return None
    negated = clause.negated if fact.negated is None else fact.negated
    gone = not fact.value and not fact.object and negated
    if not gone and (
        not is_self_contained(fact.words, mentions)
        or loses_restriction(fact.words, negated=negated)
    ):
        return None
    relation = fact.relation
    dated = (
        clause.tense is not Tense.PRESENT
        or relation in DATED_RELATIONS
        or _since(fact.words)
        or _eventful(fact.value)
    )
    says = to_third_person(
        fact.words,
        speaker,
        finite=clause.finite,
        plural=subject.plural,
        mentions=mentions,
        dated=dated,
    )
    if relation is IS_BORN_ON:
        says = f"{relation.name} {fact.object}"
    elif relation is IS_DETAIL and fact.object:
        before = [token for token in fact.words if token not in fact.value]
        says = f"{to_third_person(before, speaker, finite=clause.finite, plural=subject.plural)} {fact.object}"
    value = fact.object or _DRESS.sub(
        "",
        to_third_person(
            fact.value, speaker, mentions=mentions, dated=relation in (PLANS_TO, HAS_TO, REGULARLY)
        ),
    )
    if not value and not gone:
        return None
    start = min(token.idx for token in fact.words)
    if clause.subject is not None and clause.subject.head in (
        clause.finite,
        clause.verb,
        *clause.verb.ancestors,
    ):
        start = min(start, subject.start)
    stop = max(token.idx + len(token) for token in fact.words)
    text = sentence(subject.shown, says)
    return replace(
        relation.statement(subject.key, value, text, start, stop),
        entities=tuple(name for name in entities if name in text),
        hedged=clause.hedged,
        negated=negated,
        ending=_ending(clause, fact, negated=negated),
        single=relation.single and not subject.any_of and not is_secondary(clause, relation),
        replaces=not subject.any_of,
    )


def _beside(fact: Fact) -> Iterator[Token]:
    """The words of a fact that are not of its value, and the one that follows it."""
    last = max(token.i for token in (*fact.words, *fact.value))
    yield from (
        token
        for token in (*fact.words, *fact.words[0].doc[last + 1 : last + 2])
        if token not in fact.value
    )


def _takes_back(words: Sequence[Token]) -> bool:
    """Whether a "no" behind a noun may take it back, as recognisers write "in Bristol, no, Bath"."""
    return any(
        token.lower_ == "no" and before.pos_ in ("NOUN", "PROPN")
        for before, token in pairwise(words)
    )


def _ending(clause: Clause, fact: Fact, *, negated: bool) -> Termination | None:
    """What the clause says to be over, in whatever words it was told before.

    What was given up, or another value of which there is one at a time.
    """
    over = fact.over or (find_ended_activity(clause.verb) if clause.no_longer else None)
    if over is not None:
        return Termination(
            (over.lower_,),
            (*PURSUIT_RELATIONS, LIVES_IN.name)
            if fact.over and clause.verb.lemma_ in RELOCATION_VERBS
            else PURSUIT_RELATIONS,
        )
    if negated:
        return None
    value = fact.value[-1:] if fact.relation in (IS, IS_NOW) else (clause.verb,)
    others = next(
        (values for values in EXCLUSIVE_VALUES for token in value if token.lower_ in values),
        frozenset(),
    )
    return (
        Termination(tuple(sorted(others - {token.lower_ for token in value})), (IS.name,))
        if others
        else None
    )
