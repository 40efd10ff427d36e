"""Extraction of standing instructions from an utterance.

"Call me Annie" and "use Celsius" hold until they are revoked; "call me a taxi" and "stop the music"
are one-time requests. A sentence is an instruction if `wish_model` takes it for a wish, alone and
beside its neighbours. Those that `safety` rejects are left out.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from hotmem.text.escaping import escape_for_prompt
from hotmem.text.stemming import STOP_STEMS, stems
from hotmem.types import Statement
from hotmem.types.understanding import Doc, Span
from hotmem.understanding.facts.instructions.safety import (
    EXCLUSIVE_TOPICS,
    exclusive_topics,
    is_unsafe,
    preferred_name,
    refused_name,
    wish,
)
from hotmem.understanding.facts.relations import ASKS
from hotmem.understanding.facts.third_person import sentence
from hotmem.understanding.query.command_rules import asks_to_delete
from hotmem.understanding.sharing import permits

SPEECH_VERBS: Final[Mapping[str, str]] = json.loads(
    Path(__file__).with_suffix(".json").read_text("utf-8")
)
"""Verbs of speaking, with their gerunds."""

_AGAIN: Final = (
    r"(?:again|after\s+all|any\s?more|any\s+longer|as\s+\w+\s+as\s+you\s+(?:like|want))\b"
)
_NOW: Final = rf"(?:now\b|{_AGAIN})"
_SAYS: Final = rf"(?:{'|'.join((*SPEECH_VERBS, 'make', 'keep', 'be', 'go', 'turn', 'bring'))})"
_SAYING: Final = rf"(?:{'|'.join(SPEECH_VERBS.values())})"
_REST: Final = r"[^.?!;]*?"
_USUAL: Final = r"(?:normal|usual|regular|ordinary)"
_DROP: Final = r"(?:forget|scrap|drop|ignore|cancel|disregard)"

_PERMISSION: Final = (
    rf"you\s+(?:can|may|could)\s+{_SAYS}\b{_REST}\b{_NOW}",
    rf"you\s+(?:(?:don['’]?t|do\s+not|no\s+longer)\s+(?:have|need|got)\s+to|needn['’]?t"
    rf"|need\s+not)\s+\w+\b{_REST}\b{_AGAIN}",
    rf"you\s+no\s+longer\s+(?:have|need)\s+to\s+{_SAYS}\b",
    rf"(?:there['’]?s\s+|there\s+is\s+)?no\s+need\s+to\s+{_SAYS}\b{_REST}\b{_AGAIN}",
    rf"(?:it['’]?s|it\s+is)\s+(?:okay|ok|fine|all\s*right)\s+(?:to"
    rf"|if\s+you)\s+{_SAYS}\b{_REST}\b{_NOW}",
    rf"i\s+don['’]?t\s+mind\s+(?:you\s+)?{_SAYING}\b{_REST}\b{_NOW}",
    rf"(?:you\s+(?:can|may)\s+)?(?:go|switch|change)\s+back\s+to\s+(?:the\s+|your\s+)?{_USUAL}\b",
    rf"(?:you\s+(?:can|may)\s+)?{_SAYS}\s+{_REST}\b(?:as\s+\w+\s+as\s+you\s+(?:like|want)"
    rf"|as\s+usual|normally(?:\s+again)?)(?=\s*(?:[.,!;]|$|again\b))",
)
"""Patterns that lift a restriction."""

_FORGET: Final = (
    rf"{_DROP}\s+(?:about\s+)?what\s+i\s+(?:said|asked|told\s+you)\b",
    rf"{_DROP}\s+(?:about\s+)?(?:the|my|that)\s+[\w\s'’-]{{1,40}}?\s(?:thing|rule|wish|business"
    rf"|request|instruction)\b",
)
_ALL: Final = re.compile(
    rf"{_DROP}\s+(?:everything|all(?:\s+the\s+(?:things|rules))?)\s+(?:that\s+)?i(?:['’]?ve"
    rf"|\s+have)?\s+(?:ever\s+)?asked\b",
    re.IGNORECASE,
)
_COURTESY: Final = (
    r"(?:(?:ok(?:ay)?|um+|uh+|er+|so|oh|well|actually|and|but|now|then|yes|please|no)[\s,]+)*"
)
_PERMITS: Final = re.compile("|".join(_PERMISSION), re.IGNORECASE)
_FORGETS: Final = re.compile(rf"{'|'.join(_FORGET)}|{_ALL.pattern}", re.IGNORECASE)
_BEGINS: Final = re.compile(
    rf"{_COURTESY}(?P<words>{'|'.join((*_PERMISSION, *_FORGET))}|{_ALL.pattern})", re.IGNORECASE
)
_BACK: Final = re.compile(
    r"you\s+(?:can|may|could)\s+(?:call|ring|phone)\s+(?:me|us)\s+(?:again|back|later|now)\b",
    re.IGNORECASE,
)
_NO_MORE: Final = re.compile(r"any\s?more$", re.IGNORECASE)
_EXCEPT: Final = re.compile(
    r"\b(?:apart\s+from|except(?:\s+for)?|other\s+than|but\s+not)\s+(?P<kept>.*)$", re.IGNORECASE
)

_SPEAKING: Final = stems(" ".join((*SPEECH_VERBS, *SPEECH_VERBS.values()))) - stems(
    "jokes joking lists quotes comments offers swear spoil"
)
_EMPTY: Final = (
    STOP_STEMS
    | _SPEAKING
    | stems(
        "thing rule wish business request instruction okay ok fine right mind like want need "
        "normal usual normally longer forget scrap drop ignore "
        "cancel disregard wont anymore dont don needn youre whenever every time straight away long"
    )
)
"""Stems that do not identify a topic."""


def find_withdrawal(text: str) -> tuple[int, int] | None:
    """Return the span of a withdrawal with which a sentence begins; None if there is none."""
    match = _BEGINS.match(text)
    if (
        match is None
        or _BACK.match(text, match.start("words"))
        or not (content_topics(text) or _NO_MORE.search(match[0]) or _ALL.search(text))
    ):
        return None
    return match.span("words")


def lifts_restriction(words: str) -> bool:
    """Whether an instruction permits what was not wanted before."""
    return bool(_PERMITS.search(words)) and not preferred_name(words)


def revokes_explicitly(words: str) -> bool:
    """Whether an instruction only revokes others."""
    return bool(_FORGETS.match(words))


def revoked_instructions(words: str, earlier: Sequence[str]) -> frozenset[int]:
    """Return the indices of the earlier instructions that an instruction revokes.

    Those on the same topic with the largest overlap.

    Args:
        words: The instruction.
        earlier: The instructions before it.
    """
    if _ALL.match(words):
        kept = _EXCEPT.search(words)
        return frozenset(
            place
            for place, one in enumerate(earlier)
            if kept is None or not _overlap(kept["kept"], one)
        )
    if not (lifts_restriction(words) or revokes_explicitly(words)):
        return frozenset()
    shares = [_overlap(words, one) for one in earlier]
    most = max(shares, default=0)
    return frozenset(place for place, share in enumerate(shares) if share and share == most)


def content_topics(words: str) -> frozenset[str]:
    """Return the content stems and the exclusive topics of an instruction."""
    return frozenset(stems(words) - _EMPTY) | _exclusive_topics_of(words)


def _exclusive_topics_of(words: str) -> frozenset[str]:
    named = {"name"} if re.search(r"\bname\b", words, re.IGNORECASE) else set()
    return frozenset(
        f"about {name}"
        for name in named | {name for name, form in EXCLUSIVE_TOPICS.items() if form.search(words)}
    )


def _overlap(words: str, other: str) -> int:
    """Return how much two instructions have in common.

    An exclusive topic outweighs any words; without content words the verbs of speaking count.
    """
    if not content_topics(words):
        return len(stems(words) & stems(other) & _SPEAKING)
    common = content_topics(words) & content_topics(other)
    return len(common) + 10 * sum(1 for one in common if one.startswith("about "))


@dataclass(frozen=True, slots=True)
class Instruction:
    """A standing instruction.

    Attributes:
        words: Its words, without courtesies.
        span: First character of its words in the text, and one past the last.
    """

    words: str
    span: tuple[int, int]


MAX_WORDS: Final = 32
"""Words of the longest instruction."""

MAX_SENTENCE_CHARACTERS: Final = 1000
"""Characters of the longest sentence that is read."""

MIN_WISH: Final = 0.6
"""Probability from which a sentence is a wish."""

MIN_AROUND: Final = 0.4
"""Probability that a wish must have together with the sentences before and after it."""

_WANTS_NAME: Final = re.compile(
    r"(?:the\s+)?user\s+(?:wants|prefers|likes|asks)\s+to\s+be\s+(?:called|addressed)\b",
    re.IGNORECASE,
)

_LEADING: Final = re.compile(
    r"^(?:(?:please|just|and|so|then|but|ok(?:ay)?|um+|uh+|hi|hey|hello|oh|well|by\s+the\s+way"
    r"|(?:can|could|would|will)\s+you)[\s,]+)+",
    re.IGNORECASE,
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
        if refused := refused_name(instruction.words):
            statement = replace(statement, ending=refused)
        yield statement


def find_instructions(doc: Doc) -> Iterator[Instruction]:
    """Yield the standing instructions of a text, in order."""
    spans = list(doc.sents)
    for index, span in enumerate(spans):
        text = span.text.rstrip()
        if len(text) > MAX_SENTENCE_CHARACTERS:
            continue
        near = spans[max(index - 1, 0) : index + 2]
        around = doc[near[0].start : near[-1].end]
        start, withdrawn = span.start_char, find_withdrawal(text)
        if withdrawn is not None:
            end = text.find(",", withdrawn[1])
            yield from _instruction(text if end < 0 else text[:end], start)
            rest = doc.char_span(start + end + 1, start + len(text), alignment_mode="contract")
            if end < 0 or not rest:
                continue
            span, text, start = rest, rest.text, rest.start_char
        if _is_wish(span, around):
            yield from _instruction(text, start)


def _instruction(text: str, start: int) -> Iterator[Instruction]:
    """Yield the instruction in a text that begins at an offset, if it is one to follow."""
    words = _clean(text)
    safe = revokes_explicitly(words) or not is_unsafe(words, text)
    if words and len(words.split()) <= MAX_WORDS and safe:
        yield Instruction(words, (start, start + len(text)))


def _is_wish(sentence: Span, around: Span) -> bool:
    """Whether a sentence is a wish, alone and beside those around it.

    No request to forget is one, and no permission to tell others.

    Beside what is unsafe, only one on a known topic is; one with fences or tags was not spoken.
    """
    if wish(sentence) < MIN_WISH or escape_for_prompt(sentence.text) != sentence.text:
        return False
    if asks_to_delete(sentence.text) or permits(sentence.text):
        return False
    safe = bool(exclusive_topics(sentence.text)) or not is_unsafe(around.text)
    return safe and (around == sentence or wish(around) >= MIN_AROUND)


def is_instruction(doc: Doc) -> bool:
    """Whether a note is a standing instruction from its first word on.

    "Always call me Annie", "The user wants to be called Annie".
    """
    if _WANTS_NAME.match(doc.text):
        return True
    first = next(find_instructions(doc), None)
    return first is not None and first.span[0] == 0


def is_setting(doc: Doc) -> bool:
    """Whether an utterance is an instruction on a known topic, which no memory helps to follow."""
    return bool(exclusive_topics(doc.text)) and is_instruction(doc)


def _clean(text: str) -> str:
    """Remove courtesies, and put the first word into lower case."""
    words = _LEADING.sub("", _ENDING.sub("", text.strip(" ,;:-–—"))).strip(" .!?,;:")
    return words if re.match(r"I\b", words) else f"{words[:1].lower()}{words[1:]}"
