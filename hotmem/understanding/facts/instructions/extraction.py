"""Extraction of standing instructions from an utterance.

"Call me Annie" and "use Celsius" hold until they are revoked; "call me a taxi" and "stop the music"
are one-time requests. A clause is an instruction if it begins with one of `patterns.PATTERNS`, or
if it is an imperative that is said to last. Those that `safety` rejects are left out.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Final

from hotmem.types import Statement, Termination
from hotmem.types.parse import Doc, Span, Token
from hotmem.understanding.facts.assertion import VERB_TAGS, is_quoted, is_reported
from hotmem.understanding.facts.instructions.patterns import (
    CLAUSE_STARTS,
    CONDITION,
    LASTING_SUFFIX,
    LASTING_WORDS,
    ONE_TIME_WORDS,
    PATTERNS,
    POLITE_OPENING,
    SPEECH_VERBS,
    Pattern,
)
from hotmem.understanding.facts.instructions.safety import is_unsafe
from hotmem.understanding.facts.instructions.topics import refused_name
from hotmem.understanding.facts.instructions.withdrawals import (
    content_topics,
    find_withdrawal,
    revokes_explicitly,
)
from hotmem.understanding.facts.relations import ASKS, IS_CALLED
from hotmem.understanding.facts.third_person import sentence


@dataclass(frozen=True, slots=True)
class Instruction:
    """A standing instruction.

    Attributes:
        words: Its words, without courtesies and reasons.
        span: First character of its words in the text, and one past the last.
    """

    words: str
    span: tuple[int, int]


MAX_WORDS: Final = 32
"""Words of an instruction; a longer one is cut at a comma, or dropped."""

MAX_SENTENCE_CHARACTERS: Final = 1000
"""Characters of the longest sentence that is read."""

REPORTING_WINDOW: Final = 60
"""Characters before a clause that are searched for reported speech."""

_WANTS_NAME: Final = re.compile(
    r"(?:the\s+)?user\s+(?:wants|prefers|likes|asks)\s+to\s+be\s+(?:called|addressed)\b",
    re.IGNORECASE,
)

_ADVERBS: Final = frozenset({"please", "just", "only", "double", "also", "ever", "always", "never"})
_DO_FORMS: Final = frozenset({"do", "don", "dont", "not"})
_SUBJECTS: Final = frozenset({"you", "i", "we", "they"})
_NON_IMPERATIVES: Final = frozenset({"am", "are", "is", "was", "were", "been", "thanks", "m"})

_POLITE: Final = re.compile(POLITE_OPENING, re.IGNORECASE)
_INCOMPLETE: Final = re.compile(
    rf"{POLITE_OPENING}(?:{CONDITION}|before|unless|by|after)\b[^.?!]*$", re.IGNORECASE
)
"""A condition that the parser took for a sentence, as in text without punctuation."""

_REPORTED: Final = re.compile(
    r"(?<!\bto\s)\b(?:said|says|say|told|tells|asked|asks|wrote|writes|shouted|sang|sings|goes"
    r"|reads|called|thinks?|hears?|heard)\b[\w\s]{0,20}[,:]?\s*[\"“'‘]?\s*$",
    re.IGNORECASE,
)
"""The end of text that introduces reported speech."""

_THEY_SAY: Final = r"\s+(?:always\s+)?(?:said|says|used\s+to\s+say|told\s+\w+)\W*"
_REPORTING_END: Final = re.compile(
    rf"(?:,\s*\w+|\s(?:he|she|they|(?:my|the)\s\w+)){_THEY_SAY}$", re.IGNORECASE
)
_REPORTING_SENTENCE: Final = re.compile(
    rf"(?:he|she|they|i|(?:my|the)\s\w+){_THEY_SAY}", re.IGNORECASE
)
_TAG: Final = re.compile(
    r"[\s,]+(?:ok(?:ay)?|alright|all\s+right|please|will\s+you|would\s+you|can\s+you|yeah"
    r"|yes)\s*\?$",
    re.IGNORECASE,
)
_ASKING: Final = re.compile(r"\b(?:can|could|would|will)\s+you\b", re.IGNORECASE)
_REASON: Final = re.compile(
    r"[,;]?\s+(?:because|cause)\b.*$"
    r"|[,;]\s+(?:(?:and\s+)?i(?:['’]m|\s+am|\s+was|\s+had|['’]ve|\s+have|\s+get|\s+can['’]?t"
    r"|\s+live|\s+work)|it['’]s\s+(?:too|just|so)|it\s+(?:is|was|makes|drives)"
    r"|that['’]s|nobody|everyone|everybody|she|he|they|my\s+last|the\s+last|for\s+i|as\s+i"
    r"|since\s+i|or\s+i)\b.*$",
    re.IGNORECASE | re.DOTALL,
)
"""A reason at the end, which is not part of the instruction."""

_DEFINITION: Final = re.compile(
    rf"{CONDITION}\s+i\b[^,]*,?\s+(?:that['’]s|it['’]s|i\s+mean|i['’]m)\b", re.IGNORECASE
)
"""A definition of a word, whose second part is no reason."""

_JOINING: Final = re.compile(r"[\s,;]+(?:and|but|so|or|then)?[\s,]*$", re.IGNORECASE)
_LEADING: Final = re.compile(
    r"^(?:(?:please|just|and|so|then|but|ok(?:ay)?|um+|uh+)[\s,]+)+", re.IGNORECASE
)
_ENDING: Final = re.compile(
    r"(?:[\s,]+(?:please|okay|ok|and|but|so|thanks|thank\s+you|or|then|alright))+\W*$",
    re.IGNORECASE,
)


def read_instructions(doc: Doc, speaker: str) -> Iterator[Statement]:
    """Yield the standing instructions of an utterance as statements.

    Args:
        doc: The parsed utterance.
        speaker: The speaker's name.
    """
    for instruction in find_instructions(doc):
        statement = ASKS.statement(
            speaker,
            instruction.words,
            sentence(f"{speaker} asks:", instruction.words),
            *instruction.span,
        )
        refused = refused_name(instruction.words)
        yield (
            replace(statement, ending=Termination((refused,), (IS_CALLED.name,)))
            if refused
            else statement
        )


def find_instructions(doc: Doc) -> Iterator[Instruction]:
    """Yield the standing instructions of a text, in order."""
    spans = list(doc.sents)
    for span, following in zip_longest(spans, spans[1:]):
        if following is not None and _REPORTING_SENTENCE.fullmatch(following.text):
            continue
        found = list(_read_sentence(span))
        if not found and following is not None and _is_incomplete(span.text):
            found = list(_read_sentence(doc[span.start : following.end]))
        yield from found


def is_instruction(doc: Doc) -> bool:
    """Whether a note is a standing instruction from its first word on.

    "Always call me Annie", "The user wants to be called Annie".
    """
    if _WANTS_NAME.match(doc.text):
        return True
    first = next(find_instructions(doc), None)
    return first is not None and first.span[0] <= (
        polite.end() if (polite := _POLITE.match(doc.text)) else 0
    )


def _is_incomplete(text: str) -> bool:
    """Whether the parser took a condition or a polite opening for a sentence."""
    return bool(_INCOMPLETE.match(text) or _POLITE.fullmatch(f"{text} "))


def _read_sentence(span: Span) -> Iterator[Instruction]:
    text = span.text.rstrip()
    if len(text) > MAX_SENTENCE_CHARACTERS or _REPORTING_END.search(text):
        return
    found = list(_instruction_starts(span, text))
    ends = [*(place for place, _ in found), len(text)][1:]
    for (_, start), end in zip(found, ends, strict=True):
        end = start + len(_JOINING.sub("", text[start:end]))
        words = _clean(text[start:end])
        if (
            words
            and len(text[:start].split()) > 2
            and not content_topics(words)
            and find_withdrawal(text, start) is not None
        ):
            words = _clean(text[:end])
        if (
            words
            and len(words.split()) <= MAX_WORDS
            and (revokes_explicitly(words) or not is_unsafe(words, text))
        ):
            yield Instruction(words, (span.start_char + start, span.start_char + end))


def _instruction_starts(span: Span, text: str) -> Iterator[tuple[int, int]]:
    """Yield the offsets of the clause and of the instruction within it."""
    asks = text.endswith("?") and not _TAG.search(text)
    lasting = LASTING_SUFFIX.search(text)
    last, withdrawn = -1, 0
    for boundary in CLAUSE_STARTS.finditer(text):
        place = boundary.end()
        if not asks and place > last and (back := find_withdrawal(text, place)) is not None:
            yield place, back[0]
            last = withdrawn = back[1]
            continue
        polite = _POLITE.match(text, place)
        start = polite.end() if polite else place
        if not last < start < len(text) or _REPORTED.search(
            text[max(place - REPORTING_WINDOW, withdrawn) : place]
        ):
            continue
        if _is_anothers(span, place, start):
            continue
        if asks and not _ASKING.search(text[place:start]):
            continue
        joined = place > 0 and "please" not in text[place:start].lower()
        lasts = (
            lasting is not None
            and lasting.start() > start
            and _is_imperative(span, start, joined=place > 0)
        )
        begun = (_opening_end(pattern, span, text, start, joined=joined) for pattern in PATTERNS)
        end = next((end for end in begun if end is not None), start if lasts else None)
        if end is not None:
            yield place, start
            last = end


def _is_anothers(span: Span, place: int, start: int) -> bool:
    """Whether what begins at an offset is quoted, or somebody else said it to others."""
    words = [token for token in span if token.idx + len(token) > span.start_char + start]
    verb = next((token for token in words if token.pos_ in VERB_TAGS), None)
    return place > 0 and verb is not None and (is_quoted(verb) or is_reported(verb))


def _opening_end(
    pattern: Pattern, span: Span, text: str, start: int, *, joined: bool
) -> int | None:
    """Return the end of the words that match a pattern; None if they do not."""
    match = pattern.form.match(text, start)
    if match is None or (
        pattern.once
        and ONE_TIME_WORDS.search(text, start)
        and not LASTING_WORDS.search(text, start)
    ):
        return None
    return (
        match.end()
        if not pattern.verb or _is_imperative(span, match.end(), joined=joined)
        else None
    )


def _is_imperative(span: Span, place: int, *, joined: bool) -> bool:
    """Whether an imperative begins at an offset: a verb without a subject but "you".

    Args:
        span: The sentence.
        place: Offset in the sentence.
        joined: Whether the verb may share an earlier subject: "I get up and always make coffee".
    """
    words = [token for token in span if token.idx >= span.start_char + place]
    words = [token for token in words if not token.is_space and not token.is_punct]
    if words and words[0].lower_ in _ADVERBS:
        words = words[1:]
    if not words:
        return False
    verb = words[0]
    if verb.lower_ in _DO_FORMS:
        return len(words) > 1 and words[1].lower_ not in _SUBJECTS
    if verb.lower_ in _NON_IMPERATIVES or (
        verb.tag_ not in ("VB", "VBP") and verb.lower_ not in SPEECH_VERBS
    ):
        return False
    subjects = [child for child in verb.children if child.dep_ in ("nsubj", "nsubjpass", "expl")]
    imperative = all(child.lower_ == "you" and child.i < verb.i for child in subjects)
    return imperative and not (joined and _shares_subject(verb))


def _shares_subject(verb: Token) -> bool:
    """Whether the verb shares the subject of the verb it is coordinated with."""
    return verb.dep_ == "conj" and any(
        child.dep_ == "nsubj" and child.lower_ != "you" for child in verb.head.children
    )


def _clean(text: str) -> str:
    """Remove courtesies and reasons, and put the first word into lower case."""
    words = text.strip(" ,;:-–—")
    short = words if _DEFINITION.match(words) else _REASON.sub("", words)
    words = short if len(short.split()) > 1 else words
    spans = [match.end() for match in re.finditer(r"\S+", words)]
    if len(spans) > MAX_WORDS:
        words = words[: spans[MAX_WORDS - 1]].rpartition(",")[0]
    words = _LEADING.sub("", _ENDING.sub("", words)).strip(" .!?,;:")
    return words if re.match(r"I\b", words) else f"{words[:1].lower()}{words[1:]}"
