"""Facts → statements: self-contained sentences in the third person."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import pairwise
from typing import Final

from hotmem.temporal import TimeMention
from hotmem.types import Statement, Termination
from hotmem.types.parse import Token
from hotmem.understanding.facts.clauses import Clause, Tense
from hotmem.understanding.facts.events import RELOCATION_VERBS, find_ended_activity
from hotmem.understanding.facts.lexicon import EVENT_NOUNS, EXCLUSIVE_VALUES
from hotmem.understanding.facts.phrases import is_in_mention, is_self_contained, loses_restriction
from hotmem.understanding.facts.predicates import Fact, first_mention
from hotmem.understanding.facts.relations import (
    HAS_TO,
    IS,
    IS_BORN_ON,
    IS_DETAIL,
    IS_NOW,
    IS_ON,
    LIVES_IN,
    PLANS_TO,
    PURSUIT_RELATIONS,
    REGULARLY,
    WANTS,
)
from hotmem.understanding.facts.secondary_facts import is_secondary
from hotmem.understanding.facts.spelled_codes import is_code_token, keeps_codes_whole
from hotmem.understanding.facts.subjects import Subject
from hotmem.understanding.facts.third_person import sentence, to_third_person

DATED_RELATIONS: Final = frozenset({PLANS_TO, HAS_TO, WANTS, IS_ON})
"""Relations that keep their time in the present tense; elsewhere "these days" would go stale."""

DOUBT: Final = "perhaps"
"""First word of a statement that was said with doubt."""

_ARTICLES_AND_MODIFIERS: Final = re.compile(r"^(?:an?|some)\s+|\s+any\s+(?:more|longer)$")
"""Words left out of objects, so that equal values are equal."""


def _has_since(words: Sequence[Token]) -> bool:
    return any(token.lower_ == "since" for token in words)


def _is_ahead(words: Sequence[Token], mentions: Sequence[TimeMention], said_at: datetime) -> bool:
    """Whether the first time among the words is ahead: "starts at Bosch in May"."""
    mention = first_mention(words, mentions)
    return mention is not None and mention.interval.start > said_at


def _names_event(words: Sequence[Token]) -> bool:
    """Whether the words name a scheduled event: "has an exam on Wednesday"."""
    return any(token.lemma_ in EVENT_NOUNS for token in words)


def to_statement(
    clause: Clause,
    subject: Subject,
    fact: Fact,
    mentions: Sequence[TimeMention],
    speaker: str,
    entities: Sequence[str],
    said_at: datetime,
) -> Statement | None:
    """Convert a fact into a statement; None if it is not self-contained."""
    if (
        not fact.words
        or _may_retract(fact.words)
        or not (keeps_codes_whole(fact.words) and keeps_codes_whole(fact.value))
    ):
        return None
    if fact.relation is IS_DETAIL and any(
        is_code_token(token) and not is_in_mention(token, mentions)
        for token in _words_beside_value(fact)
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
        or _has_since(fact.words)
        or _names_event(fact.value)
        or _is_ahead(fact.words, mentions, said_at)
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
        verb = to_third_person(before, speaker, finite=clause.finite, plural=subject.plural)
        says = f"{verb} {fact.object}"
    value = fact.object or _ARTICLES_AND_MODIFIERS.sub(
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
    text = sentence(DOUBT if clause.hedged else "", subject.shown, says)
    return replace(
        relation.statement(subject.key, value, text, start, stop),
        entities=tuple(name for name in entities if name in text),
        hedged=clause.hedged,
        negated=negated,
        ending=_termination(clause, fact, negated=negated),
        single=relation.single and not subject.any_of and not is_secondary(clause, relation),
        replaces=not subject.any_of,
    )


def _words_beside_value(fact: Fact) -> Iterator[Token]:
    """Yield the words of a fact outside its value, and the word that follows it."""
    last = max(token.i for token in (*fact.words, *fact.value))
    yield from (
        token
        for token in (*fact.words, *fact.words[0].doc[last + 1 : last + 2])
        if token not in fact.value
    )


def _may_retract(words: Sequence[Token]) -> bool:
    """Whether a "no" after a noun may be an editing term: "in Bristol, no, Bath" without commas."""
    return any(
        token.lower_ == "no" and before.pos_ in ("NOUN", "PROPN")
        for before, token in pairwise(words)
    )


def _termination(clause: Clause, fact: Fact, *, negated: bool) -> Termination | None:
    """Return the facts that a clause ends: what was given up, or values that exclude a new one."""
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
