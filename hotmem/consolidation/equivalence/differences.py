"""Differences between two statements, from their features."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile
from typing import Final

from hotmem.consolidation.equivalence.features import SPEAKER, Qualifier, StatementFeatures
from hotmem.consolidation.equivalence.vocabulary import EXCLUSIVE_WORDS, PEOPLE, WEAK_WORDS

ROOT_LENGTH: Final = 5
"""Length of the common prefix of stems with the same root; shorter stems are prefixes."""

_DIRECTIONS: Final = frozenset({"to", "than", "from", "with"})
_SCOPE: Final = frozenset({Qualifier.ONLY, Qualifier.ALL, Qualifier.SOME})
_MODALITY: Final = frozenset({Qualifier.INTENDED, Qualifier.OBLIGED, Qualifier.ENDED})
_COMPLETED: Final = frozenset({Qualifier.PAST, Qualifier.PERFECT})


@dataclass(frozen=True, slots=True)
class Differences:
    """The differences between a statement and another.

    Attributes:
        dropped: Content words of the first without a counterpart in the other, weak words aside.
        added: Content words of the other without a counterpart in the first, weak words aside.
        shared: Content words of both.
        people: Whether they mention different people.
        speaker: Whether only one mentions the speaker.
        reordered: Whether the same words are in a different order or have swapped roles.
        negated: Whether only one is negated.
        dropped_numbers: Numbers only in the first.
        added_numbers: Numbers only in the other.
        shared_numbers: Numbers in both.
        names: Names only in one.
        exclusive: Pairs of mutually exclusive words.
        past: Whether only one is in the past tense.
        progressive: Whether one is completed and the other in progress.
        modality: Whether only one is intended, obligatory or ended.
        scope: Number of "only", "all" and "some" that only one has.
    """

    dropped: int
    added: int
    shared: int
    people: bool
    speaker: bool
    reordered: bool
    negated: bool
    dropped_numbers: int
    added_numbers: int
    shared_numbers: int
    names: int
    exclusive: int
    past: bool
    progressive: bool
    modality: bool
    scope: int

    @property
    def other_differences(self) -> int:
        """Number of ways in which they differ besides content words."""
        found = (
            self.people,
            self.reordered,
            self.negated,
            self.dropped_numbers or self.added_numbers,
            self.names,
            self.exclusive,
            self.past or self.progressive,
            self.modality,
            self.scope,
        )
        return sum(map(bool, found))


def find_differences(one: StatementFeatures, other: StatementFeatures) -> Differences:
    """Find the differences between two statements."""
    names = one.names | other.names
    apart = one.qualifiers ^ other.qualifiers
    words, other_words = frozenset(one.words), frozenset(other.words)
    return Differences(
        dropped=len(_unmatched(one, other, names)),
        added=len(_unmatched(other, one, names)),
        shared=len(one.content & other.content),
        people=words & PEOPLE != other_words & PEOPLE,
        speaker=(SPEAKER in words) != (SPEAKER in other_words),
        reordered=_has_swapped_participants(one, other, names)
        or _has_swapped_directions(one, other)
        or _has_other_order(one, other),
        negated=one.negations % 2 != other.negations % 2,
        dropped_numbers=len(one.numbers - other.numbers),
        added_numbers=len(other.numbers - one.numbers),
        shared_numbers=len(one.numbers & other.numbers),
        names=len((one.names - other_words) | (other.names - words)),
        exclusive=_count_exclusive(words - other_words, other_words - words),
        past=Qualifier.PAST in apart and Qualifier.PERFECT not in one.qualifiers | other.qualifiers,
        progressive=_is_progressive_of(one, other) or _is_progressive_of(other, one),
        modality=bool(apart & _MODALITY),
        scope=len(apart & _SCOPE),
    )


def _unmatched(
    one: StatementFeatures, other: StatementFeatures, names: frozenset[str]
) -> frozenset[str]:
    """Content words of the first without a word of the same root in the other.

    Names must match exactly.
    """
    likes = [word for word in other.content if word not in names]
    return frozenset(
        word
        for word in one.content - other.content - WEAK_WORDS
        if word in names or not any(_share_root(word, like) for like in likes)
    )


def _share_root(word: str, other: str) -> bool:
    shorter = min(len(word), len(other))
    alike = sum(
        1
        for _ in takewhile(lambda letters: letters[0] == letters[1], zip(word, other, strict=False))
    )
    return (alike == shorter >= 4) or (alike >= ROOT_LENGTH and alike >= shorter - 3)


def _has_swapped_participants(
    one: StatementFeatures, other: StatementFeatures, names: frozenset[str]
) -> bool:
    """Whether two participants are in reverse order: "Ana owes Tom", "Tom owes Ana"."""
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


def _has_swapped_directions(one: StatementFeatures, other: StatementFeatures) -> bool:
    """Whether objects of prepositions are swapped: "from A to B", "from B to A"."""
    objects, other_objects = _prepositional_objects(one.words), _prepositional_objects(other.words)
    return any(
        objects[word] != other_objects[word]
        and objects[word] in other.words
        and other_objects[word] in one.words
        for word in objects.keys() & other_objects.keys()
    )


def _prepositional_objects(words: Sequence[str]) -> dict[str, str]:
    return {word: following for word, following in pairwise(words) if word in _DIRECTIONS}


def _has_other_order(one: StatementFeatures, other: StatementFeatures) -> bool:
    """Whether the same words are in a different order that changes the meaning.

    A fronted adverbial, "and" and "is" allow different orders.
    """
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


def _count_exclusive(alone: frozenset[str], alone_back: frozenset[str]) -> int:
    """Count the pairs of mutually exclusive words, one in each statement."""
    undone = any(
        word.startswith("un") and word[2:] in others
        for words, others in ((alone, alone_back), (alone_back, alone))
        for word in words
    )
    return (
        sum(
            not (alone.isdisjoint(group) or alone_back.isdisjoint(group))
            for group in EXCLUSIVE_WORDS
        )
        + undone
    )


def _is_progressive_of(one: StatementFeatures, other: StatementFeatures) -> bool:
    """Whether the first is in progress and the other completed."""
    return (
        Qualifier.PROGRESSIVE in one.qualifiers
        and bool(other.qualifiers & _COMPLETED)
        and Qualifier.PROGRESSIVE not in other.qualifiers
    )
