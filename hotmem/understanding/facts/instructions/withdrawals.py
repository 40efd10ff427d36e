"""Withdrawals of standing instructions.

"you can give longer answers again", "forget what I said about Celsius".
"""

import re
from collections.abc import Sequence
from typing import Final

from hotmem.text.stemming import STOP_STEMS, stems
from hotmem.understanding.facts.instructions.topics import EXCLUSIVE_TOPICS, preferred_name

SPEECH_VERBS: Final = {
    "address": "addressing", "apologise": "apologising", "apologize": "apologizing",
    "ask": "asking", "assume": "assuming", "bring": "bringing", "call": "calling",
    "comment": "commenting", "correct": "correcting", "criticise": "criticising",
    "curse": "cursing", "discuss": "discussing", "exaggerate": "exaggerating",
    "explain": "explaining", "flatter": "flattering", "interrupt": "interrupting",
    "joke": "joking", "judge": "judging", "lecture": "lecturing", "let on": "letting on",
    "list": "listing", "mention": "mentioning", "mumble": "mumbling", "nag": "nagging",
    "name": "naming", "offer": "offering", "patronise": "patronising", "praise": "praising",
    "propose": "proposing", "push": "pushing", "quote": "quoting", "read": "reading",
    "recommend": "recommending", "refer": "referring", "remind": "reminding",
    "repeat": "repeating", "reveal": "revealing", "say": "saying", "scold": "scolding",
    "share": "sharing", "spoil": "spoiling", "suggest": "suggesting", "sugarcoat": "sugarcoating",
    "sugar-coat": "sugar-coating", "swear": "swearing", "talk": "talking", "speak": "speaking",
    "tell": "telling", "use": "using", "give": "giving", "spell": "spelling",
    "remember": "remembering", "answer": "answering", "respond": "responding",
    "reply": "replying", "add": "adding", "start": "starting", "end": "ending",
}  # fmt: skip
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


def find_withdrawal(text: str, place: int) -> tuple[int, int] | None:
    """Return the span of a withdrawal that begins at an offset; None if there is none.

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
