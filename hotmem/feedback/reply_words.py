"""Words of replies and items, as usage detection compares them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Final, NamedTuple, Self

from hotmem.text.numerals import numbers
from hotmem.text.stemming import STOP_STEMS, stems
from hotmem.text.word_sets import wordlist

COMMON_WORDS: Final = """
a about after again all also am an and any are as at back be because been before but by called can
could did do does doing done down for from get go going good got had has have he her here hers him
his how i if in into is it its just know like made make many may me mention mentioned might more
most much my name no not now of off ok okay on one only or other our out over own really remember
said same say says she should so some still such sure tell than that the their them then there these
they thing think this those through to today told too under until up us very want was way we well
were what when where which while who whom whose why will with would yeah yes you your
"""
"""Words that say nothing about the source of a reply."""

COMMON_STEMS: Final = stems(COMMON_WORDS) | STOP_STEMS

PERSON: Final = "@"
"""Replaces words that change with the speaker: "my" in an item is "your" in a reply."""

_PERSONS: Final = wordlist(
    "i me my mine we us our ours you your yours user users user's the he his him she her hers "
    "they their them am are is "
    "i'm you're i've you've i'd you'd i'll you'll we're we've he's she's"
)
_MONTHS: Final = wordlist(
    "january february march april june july august september october november december"
)
"""Month names without "May", which is also a verb."""

_WORD: Final = re.compile(r"\w+(?:'\w+)*")
_NAME: Final = re.compile(r"(?<=\S )[A-Z][\w'-]+")
_THOUSANDS: Final = re.compile(r"(?<=\d),(?=\d{3}\b)")
_CLAUSE_END: Final = re.compile(
    r"(?<=[.!?;:])\s+|,\s+(?=(?:and|but|so|or|because|since|as|which|who|that|if|when|though"
    r"|although)\b)|\s+[–—-]\s+|\n+"
)


def words(text: str) -> list[str]:
    """The words of a text in lower case, in order, with straight apostrophes."""
    return _WORD.findall(text.casefold().replace("’", "'"))


def person_neutral_words(text: str) -> list[str]:
    """The words of a text, with `PERSON` for every word that changes with the speaker."""
    return [PERSON if word in _PERSONS else word for word in words(text)]


def split_clauses(text: str) -> list[str]:
    """Split a text at stops, dashes, and commas before conjunctions."""
    return [clause.strip() for clause in _CLAUSE_END.split(text) if _WORD.search(clause)]


def content_stems(text: str) -> frozenset[str]:
    """Stems of the content words of a text."""
    return stems(text) - COMMON_STEMS


def numbers_and_months(text: str) -> frozenset[str]:
    """The numbers and months of a text."""
    return numbers(_THOUSANDS.sub("", text)) | _MONTHS.intersection(words(text))


def capitalized_words(text: str) -> frozenset[str]:
    """Capitalised words that do not begin the text, in lower case, without a final 's."""
    found = _NAME.findall(text.replace("’", "'"))
    return frozenset(word.casefold().removesuffix("'s") for word in found) - _PERSONS


def plain_words(text: str) -> frozenset[str]:
    """The words of a text, without duplicates and without a final 's."""
    return frozenset(word.removesuffix("'s") for word in words(text))


@dataclass(frozen=True, slots=True)
class TextWords:
    """The words of a text, as they are compared.

    Attributes:
        in_order: All words in order, with `PERSON` for words that change with the speaker.
        stems: Stems of all words.
        content: Stems of the content words.
        plain: All words, without a final 's.
        names: Capitalised words that do not begin the text.
        numbers: Numbers and months.
    """

    in_order: Sequence[str]
    stems: frozenset[str]
    content: frozenset[str]
    plain: frozenset[str]
    names: frozenset[str]
    numbers: frozenset[str]

    @classmethod
    def of(cls, text: str) -> Self:
        """The words of a text."""
        found = stems(text)
        return cls(
            person_neutral_words(text),
            found,
            found - COMMON_STEMS,
            plain_words(text),
            capitalized_words(text),
            numbers_and_months(text),
        )


class SharedRuns(NamedTuple):
    """The word sequences that two texts share.

    Attributes:
        longest: The longest one.
        total: Number of words in sequences of two and more.
    """

    longest: tuple[str, ...]
    total: int


class RunFinder:
    """Finds word sequences that texts share with a reply.

    Args:
        reply: The reply's words, from `person_neutral_words`.
    """

    def __init__(self, reply: Sequence[str]) -> None:
        self._matcher = SequenceMatcher(None, (), reply, autojunk=False)

    def shared(self, text: Sequence[str]) -> SharedRuns:
        """Find the word sequences that a text shares with the reply."""
        self._matcher.set_seq1(text)
        blocks = [block for block in self._matcher.get_matching_blocks() if block.size > 1]
        longest = (
            max(blocks, key=lambda block: block.size, default=None)
            or self._matcher.find_longest_match()
        )
        return SharedRuns(
            tuple(text[longest.a : longest.a + longest.size]), sum(block.size for block in blocks)
        )
