"""Supersession: a new statement confirms, ends, puts in doubt or is added to stored memories.

Most is told by the reader (`revise`). Of names, and of facts that a language model read in words,
relations of one value end the old value and relations of several add one. The later statement wins,
also if history is imported out of order. Where it is hedged, or may be about another person or
thing, the earlier one is only marked as possibly outdated. Nothing is deleted, so that "where did I
live before?" can be answered.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import date, datetime
from difflib import SequenceMatcher
from typing import Final

from hotmem.models.reader import Effects, ReaderLimits
from hotmem.revision.same_subject import is_any_of_several, is_identified, is_named
from hotmem.text.stemming import STOP_STEMS, stems
from hotmem.text.validation import normalize_value
from hotmem.types import (
    Correction,
    Revision,
    Statement,
    StoredMemory,
    Supersession,
    Vector,
)
from hotmem.understanding.facts.corrections import LIVES_IN
from hotmem.understanding.facts.relations import ANY_NAME, ASKS, IS_CALLED
from hotmem.understanding.life_relations import IMPORTANCE as LIFE_RELATIONS
from hotmem.understanding.named_subjects import is_absent, names_another
from hotmem.understanding.turn_reader import TurnReader, unnamed

_DAY: Final = re.compile(r"(\d{4}-\d{2}-\d{2})(?: \(\w+\))?")
"""A day as facts state it: "2026-11-24 (Tuesday)". A correction of the day keeps the hour."""

MISHEARD_RATIO: Final = 0.6
"""Minimum similarity, by common subsequences, of a value and one misheard for it."""


_HOMES: Final = frozenset({LIVES_IN, "lives-in"})
"""Relations whose place "no, I live in Denver, not in Boston" corrects: not that of a birth."""

OTHER_VALUE: Final = "Something said later cannot be true at the same time."
HEDGED: Final = "Something said later, with doubt or by another speaker, contradicts it."
OTHER_SUBJECT: Final = "Something said later contradicts it, if it is about the same subject."
CONFIRMED_OTHER: Final = "What it had put in doubt was said again."
"""Reasons of endings and doubts."""


def find_supersession(
    statement: Statement,
    order_time: datetime,
    known: Sequence[StoredMemory],
    *,
    certain: bool = True,
) -> Supersession:
    """Find the effect of a statement on stored memories of its subject.

    Args:
        statement: The new statement.
        order_time: Its position in the order of statements.
        known: Memories of the subject and of its relation or one it ends, latest first.
        certain: Whether they are certainly about the same subject, as far as is known.
    """
    confirmed = next(
        (one for one in known if _holds_at(one, order_time) and _repeats(statement, one)), None
    )
    if confirmed and confirmed.hedged and not statement.hedged and statement.replaces:
        return Supersession(ends=(confirmed.id,))  # said with certainty now
    if confirmed:
        # What had put it in doubt is in doubt itself now.
        by = confirmed.doubted_by if statement.replaces else None
        doubting = [one for one in known if one.id == by and one.current]
        return Supersession(
            confirms=confirmed.id,
            doubts=tuple(one.id for one in doubting if one.order_time <= order_time),
            reason=CONFIRMED_OTHER,
        )
    if not statement.replaces:
        held = next((one for one in known if _holds_instead(one, statement)), None)
        return Supersession(doubted_by=None if held is None else held.id)
    denied = [memory for memory in known if _contradicts(statement, memory)]
    unsure = [memory for memory in denied if _is_doubtful(statement, memory, certain=certain)]
    sure = [memory for memory in denied if memory not in unsure]
    if _is_mostly_another(statement, certain=certain):
        unsure = []
    later = next((one for one in unsure if one.order_time > order_time and one.current), None)
    ending = min(
        (memory for memory in sure if memory.order_time > order_time),
        key=lambda memory: memory.said_at,
        default=None,
    )
    return Supersession(
        ends=_before(sure, order_time),
        doubts=_before(unsure, order_time),
        ended_by=None if ending is None else ending.id,
        doubted_by=None if later is None else later.id,
        reason=HEDGED if unsure and statement.hedged else OTHER_SUBJECT if unsure else OTHER_VALUE,
    )


def _holds_at(memory: StoredMemory, time: datetime) -> bool:
    """Whether a memory holds, or held when something was said that is only read now."""
    ended = memory.valid_until
    return memory.current or (ended is not None and memory.order_time <= time < ended)


def _holds_instead(memory: StoredMemory, statement: Statement) -> bool:
    """Whether a certain name of a person holds against one that may be a role: "I'm Batman".

    Whatever belongs to somebody may be another one of its kind, also "my wife".
    """
    certain = memory.current and not memory.hedged and memory.doubted_at is None
    named = statement.relation == IS_CALLED.name and is_named(statement.subject)
    return certain and named and _contradicts(statement, memory)


def _before(memories: Iterable[StoredMemory], order_time: datetime) -> tuple[str, ...]:
    """Ids of those that were said before a time and held then."""
    return tuple(
        memory.id
        for memory in memories
        if memory.order_time <= order_time
        and (memory.valid_until is None or memory.valid_until > order_time)
    )


def find_corrected(
    correction: Correction, recent: Sequence[StoredMemory]
) -> tuple[StoredMemory, Statement] | None:
    """Find the memory that a correction applies to, and the corrected statement.

    Returns None if no recent memory matches.

    Args:
        correction: The correction.
        recent: Current memories, latest first.
    """
    old, wrong = next(
        ((memory, wrong) for memory in recent if (wrong := _corrected_words(correction, memory))),
        (None, ""),
    )
    if old is None:
        return None
    return old, replace(
        as_statement(old),
        text=_substitute(old.text, wrong, correction.right),
        subject=_substitute(old.subject, wrong, correction.right),
        object=_substitute(old.object, wrong, correction.right),
        start=correction.start,
        stop=correction.stop,
        entities=(correction.right,) if correction.right[:1].isupper() else (),
        hedged=False,
    )


def as_statement(memory: StoredMemory) -> Statement:
    """What a memory states, without the place where it was said."""
    return Statement(
        text=memory.text,
        subject=memory.subject,
        relation=memory.relation,
        object=memory.object,
        kind=memory.kind,
        category=memory.category,
        importance=memory.importance,
        start=0,
        stop=0,
        hedged=memory.hedged,
        negated=memory.negated,
        changes=memory.changes,
        single=memory.single,
    )


def as_memory(statement: Statement, said_at: datetime) -> StoredMemory:
    """A statement as the memory that it will be, with its text for an id.

    Args:
        statement: The statement.
        said_at: When it was said, UTC.
    """
    return StoredMemory(
        id=statement.text,
        text=statement.text,
        subject=statement.subject,
        relation=statement.relation,
        object=statement.object,
        kind=statement.kind,
        category=statement.category,
        importance=statement.importance,
        negated=statement.negated,
        changes=statement.changes,
        single=statement.single,
        said_at=said_at,
        order_time=said_at,
        valid_until=None,
        confirmations=0,
        turn_ids=(),
        hedged=statement.hedged,
    )


def _repeats(statement: Statement, memory: StoredMemory) -> bool:
    return (
        memory.relation == statement.relation
        and memory.negated == statement.negated
        and normalize_value(memory.object) == normalize_value(statement.object)
    )


def _contradicts(statement: Statement, memory: StoredMemory) -> bool:
    """Whether a statement and a memory cannot both be true.

    One negates or ends the other, or they give a single-valued relation different values.
    """
    if statement.ending and not memory.negated and _is_unwanted(statement.ending, memory):
        return True
    if memory.relation != statement.relation:
        return False
    if statement.negated and not memory.negated:
        return _is_denied(normalize_value(statement.object), normalize_value(memory.object))
    if memory.negated and not statement.negated:
        return normalize_value(statement.object) == normalize_value(memory.object)
    one_value = statement.single and memory.single and statement.changes == memory.changes
    return (
        one_value
        and not statement.negated
        and not _refines(normalize_value(statement.object), normalize_value(memory.object))
    )


def _is_doubtful(statement: Statement, memory: StoredMemory, *, certain: bool) -> bool:
    """Whether it is in doubt that a statement ends a memory that it contradicts.

    "My sister lives in Leeds" may be about another sister than "my sister lives in Bath", but "my
    sister doesn't live in Bath any more" is about the one who did.
    """
    by_value = statement.negated or memory.negated or memory.relation != statement.relation
    distinct = by_value or is_identified(statement.subject)
    return not certain or statement.hedged or not (distinct or _renames(statement))


def _renames(statement: Statement) -> bool:
    """Whether a statement gives a new name to what had one: "my dog is called Max now"."""
    return statement.ending == ANY_NAME


def _is_mostly_another(statement: Statement, *, certain: bool) -> bool:
    """Whether a statement is rather about another subject: a friend, or one of another name."""
    return not (certain and (is_identified(statement.subject) or _renames(statement))) and (
        statement.relation == IS_CALLED.name or is_any_of_several(statement.subject)
    )


def _is_denied(value: str, held: str) -> bool:
    """Whether a negated value covers a stored one, or any ("I don't work there any more")."""
    return not value or f"{held} ".startswith(f"{value} ")


def _is_unwanted(name: str, memory: StoredMemory) -> bool:
    """Whether a memory is a form of address: whom nobody shall call Rebecca may be called so."""
    address = memory.relation == IS_CALLED.name and memory.changes
    return address and normalize_value(name) in normalize_value(memory.object).split()


def _refines(value: str, other: str) -> bool:
    """Whether one value equals or extends the other: "Friday at nine", "Friday"."""
    return f"{value} ".startswith(f"{other} ") or f"{other} ".startswith(f"{value} ")


def _corrected_words(correction: Correction, memory: StoredMemory) -> str:
    """The words of a memory that a correction replaces; "" if it does not apply to it."""
    wrong = correction.wrong
    if correction.relation == LIVES_IN and memory.relation not in _HOMES:
        return ""
    if wrong:
        return wrong if _whole_words(wrong).search(memory.text) else ""
    if _DAY.fullmatch(correction.right):
        today = memory.said_at.date()
        days = _DAY.finditer(memory.text)
        wrong = next((day[0] for day in days if date.fromisoformat(day[1]) >= today), "")
    elif not correction.relation and " " in correction.right:
        same_thing = _same_noun(correction.right).search(memory.object)
        wrong = same_thing[0] if same_thing and same_thing[0] in memory.text else ""
    elif correction.relation:
        applies = memory.relation == correction.relation and (
            memory.single or _is_similar(memory.object, correction.right)
        )
        wrong = memory.object if applies else ""
    elif memory.object[:1].isupper() and _is_similar(memory.object, correction.right):
        wrong = memory.object
    return wrong if normalize_value(wrong) != normalize_value(correction.right) else ""


def _is_similar(value: str, right: str) -> bool:
    """Whether one value may have been misheard as the other."""
    return SequenceMatcher(None, value.casefold(), right.casefold()).ratio() >= MISHEARD_RATIO


def _substitute(text: str, wrong: str, right: str) -> str:
    """Replace the wrong words by the right ones, with the right indefinite article."""
    article = re.compile(rf"(?<!\w)an? (?={re.escape(right)}(?!\w))", re.IGNORECASE)
    return article.sub(
        "an " if right[:1].lower() in "aeiou" else "a ",
        _whole_words(wrong).sub(lambda _: right, text),
    )


def _same_noun(words: str) -> re.Pattern[str]:
    """A pattern of the same noun after another word: "two kids" for "three kids"."""
    return re.compile(
        rf"(?<![\w'’])[\w-]+ {re.escape(words.partition(' ')[2])}(?!\w)", re.IGNORECASE
    )


def _whole_words(words: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(words.strip())}(?!\w)", re.IGNORECASE)


REASON: Final = "what was said later changes it"

PERMANENT: Final = frozenset({ASKS.name, IS_CALLED.name, "is from", "was born in", "did", "origin"})
"""Relations that no event ends, such as what somebody did; they can only have been wrong. Orders
end by orders."""

MIN_SIMILARITY: Final = 0.12
"""Cosine of a turn and a memory below which it changes nothing.

Of the pairs of batch `l` (`python -m eval reader fit-limits`), 4 in 100 of what is over are less
similar, and 7 in 10 statements about other things.
"""

PASSING_DOUBT: Final = 0.7
"""Probability from which a turn without anything lasting puts a statement in doubt.

Of 534 pairs in eleven everyday talks that only such turns make, 7 are in doubt from 0.49, the limit
of other turns, all of them falsely, and none from 0.7. Of what is over in batch `l` by such
turns, 25 of 70 are in doubt instead of 41.
"""


def is_near(memory: Vector, turn: Vector) -> bool:
    """Whether a memory is near enough to a turn to be changed by it.

    Args:
        memory: Unit vector of the memory's text.
        turn: Unit vector of the turn.
    """
    return float(memory @ turn) >= MIN_SIMILARITY


def about_another(
    memory: StoredMemory, named: frozenset[str], text: str, speaker: str | None
) -> bool:
    """Whether a memory is about somebody, and a turn about others.

    Args:
        memory: The memory.
        named: Names in the subjects of the turn.
        text: The turn.
        speaker: The name that stands for the user in memories.
    """
    subject = memory.object if memory.relation == IS_CALLED.name else memory.subject
    return names_another(subject, named, memory.text) or is_absent(
        memory.subject, speaker, memory.text, text
    )


def is_as_corrected(memory: StoredMemory, corrections: Sequence[Correction]) -> bool:
    """Whether a memory has the value that a turn corrects to: the correction was said again."""
    value = f" {normalize_value(memory.object)} "
    return any(f" {normalize_value(one.right)} " in value for one in corrections)


def revise(
    known: Sequence[StoredMemory],
    effects: Sequence[Effects],
    limits: ReaderLimits,
    statements: Sequence[Statement],
    text: str,
    speaker: str | None,
    lasting: float = 1.0,
) -> Revision:
    """Decide what ends and what is possibly outdated.

    Relations of one value end by a value of theirs alone (`find_supersession`); here they only
    become possibly outdated, and names not even that.

    Args:
        known: The candidates.
        effects: What the turn probably does to each.
        limits: The probabilities from which it is done.
        statements: What the turn states. What is known of a life, such as an allergy or a home,
            ends only by a statement of that kind, or by a denial in its own words.
        text: The turn.
        speaker: The name that stands for the user in memories.
        lasting: Probability that the turn holds something lasting. One that does not, by its
            limit, has to say more clearly what it changes.
    """
    doubted = limits.doubted if lasting >= limits.kept else max(limits.doubted, PASSING_DOUBT)
    pairs = list(zip(known, effects, strict=True))
    stated = {one.relation for one in statements}
    ends = [
        memory.id
        for memory, effect in pairs
        if (effect.outdated >= limits.outdated and _may_end(memory, stated))
        or (
            effect.outdated >= limits.doubted
            and _no_longer_holds(unnamed(memory.text, speaker), text)
        )
        or _is_certain_now(memory, statements)
    ]
    doubts = [
        memory.id
        for memory, effect in pairs
        if memory.id not in ends and _doubt(memory, effect) >= doubted
    ]
    return Revision(tuple(ends), tuple(doubts), REASON)


def _may_end(memory: StoredMemory, stated: Collection[str]) -> bool:
    """Whether a turn that states some relations may end a memory, or only put it in doubt."""
    if memory.single or memory.relation in PERMANENT:
        return False
    return memory.relation not in LIFE_RELATIONS or memory.relation in stated


_NO_LONGER: Final = re.compile(
    r"(?:\bnot|n['’]?t)\b(?P<denied>[^.,;?!]*?)\bany ?more\b|\bno longer\b", re.IGNORECASE
)
"""What says of the words beside it that they held and do not hold now."""

_CLAUSES: Final = re.compile(r"[.,;!]")
_USER: Final = stems("the user user's")


def _no_longer_holds(known: str, text: str) -> bool:
    """Whether a clause of a turn says in a statement's own words that it no longer holds."""
    return not text.rstrip().endswith("?") and any(
        _content(_NO_LONGER.sub(_denied, clause)) == _content(known)
        for clause in _CLAUSES.split(text)
        if _NO_LONGER.search(clause)
    )


def _denied(found: re.Match[str]) -> str:
    return found["denied"] or ""


def _content(text: str) -> frozenset[str]:
    return stems(text) - STOP_STEMS - _USER


def _is_certain_now(memory: StoredMemory, statements: Sequence[Statement]) -> bool:
    """Whether what was said with doubt is said in the same words without it: "I think"."""
    return memory.hedged and any(
        normalize_value(one.text) in normalize_value(memory.text)
        for one in statements
        if not one.hedged
    )


def _doubt(memory: StoredMemory, effect: Effects) -> float:
    """How probably a memory does not hold. What is permanent can only have been wrong."""
    return effect.corrects if memory.relation in PERMANENT else effect.doubted


def said_later(
    reader: TurnReader,
    statements: Sequence[Statement],
    said_at: datetime,
    later: Sequence[StoredMemory],
    speaker: str | None,
) -> dict[str, Supersession]:
    """Find what was said later, and is stored already, does to new statements. Blocking.

    Args:
        reader: Compares them.
        statements: The statements.
        said_at: When they were said.
        later: Memories of what was said later, latest first.
        speaker: The name that stands for the user in memories.

    Returns:
        What ends a statement or makes it possibly outdated, by its text: the earliest that does.
    """
    known = [as_memory(one, said_at) for one in statements]
    by_text = {one.id: unnamed(one.text, speaker) for one in later}
    compared = {one.id: reader.compare(known, by_text[one.id], speaker) for one in later}
    stated = {one.id: [as_statement(one)] for one in later}
    revisions = {
        by: revise(known, effects, reader.limits, stated[by], by_text[by], speaker)
        for by, effects in compared.items()
    }
    doubts = {
        text: Supersession(doubted_by=by) for by, one in revisions.items() for text in one.doubts
    }
    ends = {text: Supersession(ended_by=by) for by, one in revisions.items() for text in one.ends}
    return doubts | ends
