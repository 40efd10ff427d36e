"""Standing wishes taken back.

"you can give longer answers again", "forget what I said about Celsius".
"""

import re
from collections.abc import Sequence
from typing import Final

from hotmem.text.stemming import STOP_STEMS, stems
from hotmem.understanding.facts.instructions.patterns import SPEECH_VERBS
from hotmem.understanding.facts.instructions.topics import EXCLUSIVE_TOPICS, preferred_name

_AGAIN: Final = (
    r"(?:again|after\s+all|any\s?more|any\s+longer|as\s+\w+\s+as\s+you\s+(?:like|want))\b"
)
_NOW: Final = rf"(?:now\b|{_AGAIN})"
_SAYS: Final = rf"(?:{'|'.join((*SPEECH_VERBS, 'make', 'keep', 'be', 'go', 'turn', 'bring'))})"
_SAYING: Final = rf"(?:{'|'.join(SPEECH_VERBS.values())})"
_REST: Final = r"[^.?!;]*?"
_USUAL: Final = r"(?:normal|usual|regular|ordinary)"
_DROP: Final = r"(?:forget|scrap|drop|ignore|cancel|disregard)"

_LEAVE: Final = (
    rf"you\s+(?:can|may|could)\s+{_SAYS}\b{_REST}\b{_NOW}",
    rf"you\s+(?:(?:don['’]?t|do\s+not|no\s+longer)\s+(?:have|need|got)\s+to|needn['’]?t|need\s+not)\s+\w+\b{_REST}\b{_AGAIN}",
    rf"you\s+no\s+longer\s+(?:have|need)\s+to\s+{_SAYS}\b",
    rf"(?:there['’]?s\s+|there\s+is\s+)?no\s+need\s+to\s+{_SAYS}\b{_REST}\b{_AGAIN}",
    rf"(?:it['’]?s|it\s+is)\s+(?:okay|ok|fine|all\s*right)\s+(?:to|if\s+you)\s+{_SAYS}\b{_REST}\b{_NOW}",
    rf"i\s+don['’]?t\s+mind\s+(?:you\s+)?{_SAYING}\b{_REST}\b{_NOW}",
    rf"(?:you\s+(?:can|may)\s+)?(?:go|switch|change)\s+back\s+to\s+(?:the\s+|your\s+)?{_USUAL}\b",
    rf"(?:you\s+(?:can|may)\s+)?{_SAYS}\s+{_REST}\b(?:as\s+\w+\s+as\s+you\s+(?:like|want)|as\s+usual|normally(?:\s+again)?)(?=\s*(?:[.,!;]|$|again\b))",
)
"""What gives leave to do otherwise."""

_FORGET: Final = (
    rf"{_DROP}\s+(?:about\s+)?what\s+i\s+(?:said|asked|told\s+you)\b",
    rf"{_DROP}\s+(?:about\s+)?(?:the|my|that)\s+[\w\s'’-]{{1,40}}?\s(?:thing|rule|wish|business|request|instruction)\b",
)
_ALL: Final = re.compile(
    rf"{_DROP}\s+(?:everything|all(?:\s+the\s+(?:things|rules))?)\s+(?:that\s+)?i(?:['’]?ve|\s+have)?\s+(?:ever\s+)?asked\b",
    re.IGNORECASE,
)
_COURTESY: Final = (
    r"(?:(?:ok(?:ay)?|um+|uh+|er+|so|oh|well|actually|and|but|now|then|yes|please|no)[\s,]+)*"
)
_LEAVES: Final = re.compile("|".join(_LEAVE), re.IGNORECASE)
_FORGETS: Final = re.compile(rf"{'|'.join(_FORGET)}|{_ALL.pattern}", re.IGNORECASE)
_BEGINS: Final = re.compile(
    rf"{_COURTESY}(?P<words>{'|'.join((*_LEAVE, *_FORGET))}|{_ALL.pattern})", re.IGNORECASE
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
        "thing rule wish business request instruction okay ok fine right mind like want need normal usual normally longer forget scrap drop ignore "
        "cancel disregard wont anymore dont don needn youre whenever every time straight away long"
    )
)
"""Stems of words that do not tell what a wish is about."""


def find_withdrawal(text: str, place: int) -> tuple[int, int] | None:
    """Where the words of a withdrawal begin that stands at a place of a text, and where what makes it one ends; None if none does.

    Args:
        text: A sentence.
        place: Where a clause may begin.
    """
    match = _BEGINS.match(text, place)
    if (
        match is None
        or _BACK.match(text, match.start("words"))
        or not (content_topics(text) or _NO_MORE.search(match[0]) or _ALL.search(text))
    ):
        return None
    return match.span("words")


def lifts_restriction(words: str) -> bool:
    """Whether an instruction gives leave to do what was not wished before."""
    return bool(_LEAVES.search(words)) and not preferred_name(words)


def revokes_explicitly(words: str) -> bool:
    """Whether an instruction only takes others back."""
    return bool(_FORGETS.match(words))


def revoked_instructions(words: str, earlier: Sequence[str]) -> frozenset[int]:
    """Which of the earlier wishes an instruction takes back, by their places.

    Those that are about the same, and of those the ones that share most.

    Args:
        words: The instruction.
        earlier: Wishes before it.
    """
    if _ALL.match(words):
        kept = _EXCEPT.search(words)
        return frozenset(
            place
            for place, one in enumerate(earlier)
            if kept is None or not _alike(kept["kept"], one)
        )
    if not (lifts_restriction(words) or revokes_explicitly(words)):
        return frozenset()
    shares = [_alike(words, one) for one in earlier]
    most = max(shares, default=0)
    return frozenset(place for place, share in enumerate(shares) if share and share == most)


def content_topics(words: str) -> frozenset[str]:
    """What words are about.

    The stems that tell it, and the subjects of which there is one wish at a time.
    """
    return frozenset(stems(words) - _EMPTY) | _subjects(words)


def _subjects(words: str) -> frozenset[str]:
    named = {"name"} if re.search(r"\bname\b", words, re.IGNORECASE) else set()
    return frozenset(
        f"about {name}"
        for name in named | {name for name, form in EXCLUSIVE_TOPICS.items() if form.search(words)}
    )


def _alike(words: str, other: str) -> int:
    """How much two wishes have in common.

    A subject outweighs any words; what is about nothing but speaking has its verbs.
    """
    if not content_topics(words):
        return len(stems(words) & stems(other) & _SPEAKING)
    common = content_topics(words) & content_topics(other)
    return len(common) + 10 * sum(1 for one in common if one.startswith("about "))
