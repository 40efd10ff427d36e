"""What the words of a text say of where it comes from.

Clauses, runs, names, numbers, and words that tell.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Final, NamedTuple, Self

from hotmem.text.numerals import numbers
from hotmem.text.stemming import STOP_STEMS, stems
from hotmem.text.word_sets import wordlist

COMMON: Final = """
a about after again all also am an and any are as at back be because been before but by called can could did do does doing done down for
from get go going good got had has have he her here hers him his how i if in into is it its just know like made make many may me mention
mentioned might more most much my name no not now of off ok okay on one only or other our out over own really remember said same say says
she should so some still such sure tell than that the their them then there these they thing think this those through to today told too
under until up us very want was way we well were what when where which while who whom whose why will with would yeah yes you your
"""
"""Words that tell nothing of where a reply comes from."""

COMMON_STEMS: Final = stems(COMMON) | STOP_STEMS

PERSON: Final = "@"
"""Stands for a word that changes with who speaks: "my" in an item is "your" in a reply."""

_PERSONS: Final = wordlist(
    "i me my mine we us our ours you your yours user users user's the he his him she her hers they their them am are is "
    "i'm you're i've you've i'd you'd i'll you'll we're we've he's she's"
)
_MONTHS: Final = wordlist(
    "january february march april june july august september october november december"
)
"""Without May, which is also a verb."""

_WORD: Final = re.compile(r"\w+(?:'\w+)*")
_NAME: Final = re.compile(r"(?<=\S )[A-Z][\w'-]+")
_THOUSANDS: Final = re.compile(r"(?<=\d),(?=\d{3}\b)")
_CLAUSE_END: Final = re.compile(
    r"(?<=[.!?;:])\s+|,\s+(?=(?:and|but|so|or|because|since|as|which|who|that|if|when|though|although)\b)|\s+[–—-]\s+|\n+"
)


def words(text: str) -> list[str]:
    """The words of a text in lower case, in order, with one straight kind of apostrophe."""
    return _WORD.findall(text.casefold().replace("’", "'"))


def spoken(text: str) -> list[str]:
    """The same, with `PERSON` for every word that changes with who speaks."""
    return [PERSON if word in _PERSONS else word for word in words(text)]


def clauses(text: str) -> list[str]:
    """The clauses of a text.

    What stands between stops, dashes, and commas before a joining word.
    """
    return [clause.strip() for clause in _CLAUSE_END.split(text) if _WORD.search(clause)]


def telling(text: str) -> frozenset[str]:
    """Stems of the words that tell something."""
    return stems(text) - COMMON_STEMS


def figures(text: str) -> frozenset[str]:
    """Numbers and months of a text."""
    return numbers(_THOUSANDS.sub("", text)) | _MONTHS.intersection(words(text))


def names(text: str) -> frozenset[str]:
    """Capitalised words that do not begin the text, in lower case, without a closing 's."""
    found = _NAME.findall(text.replace("’", "'"))
    return frozenset(word.casefold().removesuffix("'s") for word in found) - _PERSONS


def plain_words(text: str) -> frozenset[str]:
    """The words of a text, each once, without a closing 's."""
    return frozenset(word.removesuffix("'s") for word in words(text))


@dataclass(frozen=True, slots=True)
class Words:
    """A text as its words are compared with those of others.

    Attributes:
        spoken: Its words in order, `PERSON` for every one that changes with who speaks.
        stems: Stems of all its words.
        telling: Stems of those that tell something.
        plain: The words as they stand, without a closing 's.
        names: Capitalised words that do not begin it.
        figures: Numbers and months.
    """

    spoken: Sequence[str]
    stems: frozenset[str]
    telling: frozenset[str]
    plain: frozenset[str]
    names: frozenset[str]
    figures: frozenset[str]

    @classmethod
    def of(cls, text: str) -> Self:
        """Reads a text."""
        found = stems(text)
        return cls(
            spoken(text), found, found - COMMON_STEMS, plain_words(text), names(text), figures(text)
        )


class Runs(NamedTuple):
    """What two texts hold word for word.

    Attributes:
        longest: The longest run of words in both.
        together: Words in runs of two and more.
    """

    longest: tuple[str, ...]
    together: int


class RunFinder:
    """Finds what texts share with one reply word for word.

    Args:
        reply: The reply's words as `spoken` gives them.
    """

    def __init__(self, reply: Sequence[str]) -> None:
        self._matcher = SequenceMatcher(None, (), reply, autojunk=False)

    def shared(self, text: Sequence[str]) -> Runs:
        """The runs that the text shares with the reply."""
        self._matcher.set_seq1(text)
        blocks = [block for block in self._matcher.get_matching_blocks() if block.size > 1]
        longest = (
            max(blocks, key=lambda block: block.size, default=None)
            or self._matcher.find_longest_match()
        )
        return Runs(
            tuple(text[longest.a : longest.a + longest.size]), sum(block.size for block in blocks)
        )
