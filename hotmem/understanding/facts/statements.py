"""Facts → statements: self-contained sentences in the third person."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import pairwise
from typing import Final

from hotmem.temporal import WEEKDAYS, TimeMention
from hotmem.text.word_sets import wordlist
from hotmem.types import Statement, Termination, Understanding
from hotmem.types.understanding import Doc, Token
from hotmem.understanding.facts.clauses import Clause, Tense
from hotmem.understanding.facts.events import RELOCATION_VERBS, find_ended_activity
from hotmem.understanding.facts.lexicon import EVENT_NOUNS, EXCLUSIVE_VALUES
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
    STUDIES_AT,
    WANTS,
    WORKS_AS,
    WORKS_AT,
    Relation,
    is_in_mention,
    is_self_contained,
    loses_restriction,
)
from hotmem.understanding.facts.spelled_codes import is_code_token, keeps_codes_whole
from hotmem.understanding.facts.subjects import Subject
from hotmem.understanding.facts.third_person import FIRST_PERSON_PRONOUNS, sentence, to_third_person

_MULTIPLE_RELATIONS: Final = frozenset({LIVES_IN, STUDIES_AT, WORKS_AS, WORKS_AT})
_SIDE_JOB_VERBS: Final = frozenset({"volunteer", "freelance"})
_ADDITIVE_ADVERBS: Final = wordlist("also too additionally besides sometimes occasionally")
_SEASONS: Final = wordlist(
    "weekend weekday week evening night morning afternoon summer winter spring autumn fall "
    "season holiday vacation"
)


def is_secondary(clause: Clause, relation: Relation) -> bool:
    """Whether a job, school or home is one of several.

    Marked by "also", "part-time", or certain days or seasons.
    """
    if relation not in _MULTIPLE_RELATIONS or clause.tense is not Tense.PRESENT:
        return False
    if clause.verb.lemma_ in _SIDE_JOB_VERBS:
        return True
    of_speaker = clause.subject is None or clause.subject.lower_ in FIRST_PERSON_PRONOUNS
    also = (
        relation is not LIVES_IN or of_speaker
    )  # "she also lives in Oslo" may be said because somebody else does
    return any(
        (also and token.lower_ in _ADDITIVE_ADVERBS) or _is_part_time(token) or _is_recurring(token)
        for token in _adverbials(clause)
    )


def _adverbials(clause: Clause) -> Iterator[Token]:
    """Yield the adverbs of a clause and the nouns of its adverbial phrases."""
    for child in (
        *clause.verb.children,
        *(clause.finite.children if clause.finite != clause.verb else ()),
    ):
        if child.dep_ == "prep":
            yield from (part for part in child.children if part.dep_ == "pobj")
            yield from (
                inner
                for part in child.children
                for inner in part.children
                if inner.dep_ in ("advmod", "npadvmod")
            )
        yield child
        yield from (part for part in child.children if child.dep_ == "prep" and part.dep_ == "prep")


def _is_part_time(token: Token) -> bool:
    return token.lower_ in ("part-time", "parttime") or (
        token.lower_ == "time" and any(child.lower_ == "part" for child in token.lefts)
    )


def _is_recurring(token: Token) -> bool:
    """Whether a noun is a recurring time: "at the weekend", "on Saturdays", "every winter"."""
    lemma = token.lemma_.lower()
    if token.dep_ not in ("pobj", "npadvmod"):
        return False
    if lemma in _SEASONS:
        return not any(child.lower_ in ("this", "next", "last") for child in token.lefts)
    return token.lower_.removesuffix("s") in WEEKDAYS and token.lower_.endswith("ays")


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


@dataclass(frozen=True, slots=True)
class Segment:
    """A segment of a rewritten utterance.

    Attributes:
        text: Its text.
        start: First character of the original span.
        stop: One past the last.
    """

    text: str
    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class RewrittenText:
    """A rewritten utterance.

    Attributes:
        segments: Its segments, in order.
    """

    segments: tuple[Segment, ...]

    @property
    def text(self) -> str:
        """The text of all segments."""
        return "".join(segment.text for segment in self.segments)

    def restore_offsets(self, understanding: Understanding) -> Understanding:
        """Map the offsets of an understanding of `text` to the original utterance."""
        return replace(
            understanding,
            statements=tuple(
                replace(one, start=self._start(one.start), stop=self._stop(one.stop))
                for one in understanding.statements
            ),
            corrections=tuple(
                replace(one, start=self._start(one.start), stop=self._stop(one.stop))
                for one in understanding.corrections
            ),
            event_times=tuple(
                replace(one, start=self._start(one.start), stop=self._stop(one.stop))
                for one in understanding.event_times
            ),
        )

    def _start(self, place: int) -> int:
        for segment in self.segments:
            if place < len(segment.text):
                return min(segment.start + place, max(segment.start, segment.stop - 1))
            place -= len(segment.text)
        return self.segments[-1].stop

    def _stop(self, place: int) -> int:
        return self._start(place - 1) + 1


_NAMES: Final = frozenset({"NOUN", "PROPN", "NUM"})
_WITHIN: Final = _NAMES | {"DET", "ADJ"}
"""Parts of speech of what is denied."""

_LINKS: Final = frozenset({",", "and"})


@dataclass(frozen=True, slots=True)
class Contrast:
    """What a speaker denies beside what is so.

    Attributes:
        start: First character of the words that can be left out, the comma before "not" included.
        stop: One past their last character.
        wrong: The value that is denied.
    """

    start: int
    stop: int
    wrong: str


def find_contrasts(doc: Doc) -> Iterator[Contrast]:
    """Yield the contrasts of an utterance, in order; an order keeps what shall not be done."""
    for negation in doc:
        if negation.lower_ != "not" or not negation.i or _is_order(negation.sent.root):
            continue
        first = negation.i
        while first and doc[first - 1].lower_ in _LINKS:
            first -= 1
        denied = list(_denied(negation))
        if not first or not denied or not _are_alike(doc[first - 1], denied, first):
            continue
        value = [token for token in denied if token.pos_ not in ("ADP", "DET")]
        last = denied[-1]
        yield Contrast(
            doc[first - 1].idx + len(doc[first - 1]),
            last.idx + len(last),
            doc.text[value[0].idx : last.idx + len(last)],
        )


def without_contrasts(doc: Doc) -> RewrittenText | None:
    """Leave out what is denied; None if there is nothing."""
    found = list(find_contrasts(doc))
    if not found:
        return None
    edges = [0, *(place for one in found for place in (one.start, one.stop)), len(doc.text)]
    return RewrittenText(
        tuple(
            Segment(doc.text[start:stop], start, stop)
            for start, stop in zip(edges[::2], edges[1::2], strict=True)
        )
    )


def _is_order(verb: Token) -> bool:
    """Whether a verb is an imperative: "call me Mrs Whitlock, not Dorothy"."""
    return verb.tag_ == "VB" and not any(
        one.dep_ in ("nsubj", "aux", "nsubjpass") for one in verb.children
    )


def _denied(negation: Token) -> Iterator[Token]:
    """Yield the words after "not" up to the end of their phrase; none if a clause follows."""
    rest = list(negation.doc[negation.i + 1 :])
    found: list[Token] = []
    for token in rest:
        opens = token.pos_ == "ADP" and not found
        if not opens and (token.is_sent_start or not (token.pos_ in _WITHIN or _is_name(token))):
            break
        found.append(token)
    following = rest[len(found) : len(found) + 1]
    if not any(token.pos_ in ("VERB", "AUX", "ADP", "PRON") for token in following):
        yield from found


def _are_alike(said: Token, denied: list[Token], stop: int) -> bool:
    """Whether a phrase and what is denied beside it have the same form."""
    last = denied[-1]
    if not (_is_name(said) and _is_name(last)) and {said.pos_, last.pos_} != {"ADJ"}:
        return False
    if denied[0].pos_ != "ADP":
        return True
    near = said.doc[said.sent.start : stop]
    return len(denied) > 1 and any(token.lower_ == denied[0].lower_ for token in near)


def _is_name(word: Token) -> bool:
    """Whether a word ends a name or number, whatever the parser took it for: "Leigh not Leeds"."""
    return word.pos_ in _NAMES or (word.is_alpha and word.text[0].isupper() and word.pos_ != "PRON")
