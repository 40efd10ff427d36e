"""Where two wordings differ: in what, in whom, in when, in how much, in whether."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile
from typing import Final

from hotmem.consolidation.equivalence.features import SPEAKER, Manner, Wording
from hotmem.consolidation.equivalence.vocabulary import FAINT, PEOPLE, RIVALS

ROOT: Final = 5
"""Letters that two stems of one root begin with; of shorter ones all but one."""

_DIRECTIONS: Final = frozenset({"to", "than", "from", "with"})
_SCOPES: Final = frozenset({Manner.ONLY, Manner.ALL, Manner.SOME})
_MODES: Final = frozenset({Manner.WISHED, Manner.OBLIGED, Manner.ENDED})
_DONE: Final = frozenset({Manner.PAST, Manner.PERFECT})


@dataclass(frozen=True, slots=True)
class Differences:
    """What one statement has and the other has not.

    Attributes:
        dropped: Words of content of the one without a like in the other; words that any rewording
            adds or leaves out do not count.
        added: Words of content of the other without a like in the one.
        shared: Words of content of both.
        people: Whether others are meant.
        speaker: Whether only one has the speaker as "I" or "we".
        turned: Whether the same are named in another order, as who does and whom it is done to.
        denied: Whether only one denies.
        figures_dropped: Figures that only the one has.
        figures_added: Figures that only the other has.
        figures_shared: Figures of both.
        names: Names that only one has.
        rivals: Pairs of words that exclude each other.
        past: Whether one tells the past, the other not.
        doing: Whether one is done and the other is being done.
        mode: Whether only one is wished, obliged or ended.
        scope: How many of "only", "all" and "some" only one has.
    """

    dropped: int
    added: int
    shared: int
    people: bool
    speaker: bool
    turned: bool
    denied: bool
    figures_dropped: int
    figures_added: int
    figures_shared: int
    names: int
    rivals: int
    past: bool
    doing: bool
    mode: bool
    scope: int

    @property
    def marks(self) -> int:
        """In how many ways they differ other than in content."""
        found = (
            self.people,
            self.turned,
            self.denied,
            self.figures_dropped or self.figures_added,
            self.names,
            self.rivals,
            self.past or self.doing,
            self.mode,
            self.scope,
        )
        return sum(map(bool, found))


def differences(one: Wording, other: Wording) -> Differences:
    """What differs between two statements."""
    names = one.names | other.names
    apart = one.manners ^ other.manners
    words, other_words = frozenset(one.words), frozenset(other.words)
    return Differences(
        dropped=len(_alone(one, other, names)),
        added=len(_alone(other, one, names)),
        shared=len(one.content & other.content),
        people=words & PEOPLE != other_words & PEOPLE,
        speaker=(SPEAKER in words) != (SPEAKER in other_words),
        turned=_swapped(one, other, names) or _redirected(one, other) or _reordered(one, other),
        denied=one.denials % 2 != other.denials % 2,
        figures_dropped=len(one.figures - other.figures),
        figures_added=len(other.figures - one.figures),
        figures_shared=len(one.figures & other.figures),
        names=len((one.names - other_words) | (other.names - words)),
        rivals=_rivals(words - other_words, other_words - words),
        past=Manner.PAST in apart and Manner.PERFECT not in one.manners | other.manners,
        doing=_done_or_doing(one, other) or _done_or_doing(other, one),
        mode=bool(apart & _MODES),
        scope=len(apart & _SCOPES),
    )


def _alone(one: Wording, other: Wording, names: frozenset[str]) -> frozenset[str]:
    """Content of the one that the other has no word of the same root for.

    A name has none but itself.
    """
    likes = [word for word in other.content if word not in names]
    return frozenset(
        word
        for word in one.content - other.content - FAINT
        if word in names or not any(_one_root(word, like) for like in likes)
    )


def _one_root(word: str, other: str) -> bool:
    shorter = min(len(word), len(other))
    alike = sum(
        1
        for _ in takewhile(lambda letters: letters[0] == letters[1], zip(word, other, strict=False))
    )
    return (alike == shorter >= 4) or (alike >= ROOT and alike >= shorter - 3)


def _swapped(one: Wording, other: Wording, names: frozenset[str]) -> bool:
    """Whether two of those who act stand the other way round."""
    if one.passive != other.passive or (one.linked and other.linked):
        return False
    actors, others = (
        [word for word in dict.fromkeys(words) if word == SPEAKER or word in names | PEOPLE]
        for words in (one.words, other.words)
    )
    both = [word for word in actors if word in others]
    return any(
        others.index(first) > others.index(second)
        and (SPEAKER in (first, second) or (first in PEOPLE) == (second in PEOPLE))
        for place, first in enumerate(both)
        for second in both[place + 1 :]
    )


def _redirected(one: Wording, other: Wording) -> bool:
    """Whether "from A to B" has become "from B to A"."""
    told, other_told = _directed(one.words), _directed(other.words)
    return any(
        told[word] != other_told[word]
        and told[word] in other.words
        and other_told[word] in one.words
        for word in told.keys() & other_told.keys()
    )


def _directed(words: Sequence[str]) -> dict[str, str]:
    return {word: following for word, following in pairwise(words) if word in _DIRECTIONS}


def _reordered(one: Wording, other: Wording) -> bool:
    """Whether the same words stand in another order, and neither a circumstance in front nor an "and" or "is" explains it."""
    if (
        set(one.words) != set(other.words)
        or one.fronted != other.fronted
        or one.passive != other.passive
    ):
        return False
    if (one.linked and other.linked) or (one.equated and other.equated):
        return False
    content, others = (
        [word for word in words.words if word in words.content] for words in (one, other)
    )
    return content != others


def _rivals(alone: frozenset[str], alone_back: frozenset[str]) -> int:
    """Pairs of words of which only one can be true, one on each side."""
    undone = any(
        word.startswith("un") and word[2:] in others
        for words, others in ((alone, alone_back), (alone_back, alone))
        for word in words
    )
    return (
        sum(not (alone.isdisjoint(group) or alone_back.isdisjoint(group)) for group in RIVALS)
        + undone
    )


def _done_or_doing(one: Wording, other: Wording) -> bool:
    """Whether the one is being done and the other is done."""
    return (
        Manner.DOING in one.manners
        and bool(other.manners & _DONE)
        and Manner.DOING not in other.manners
    )
