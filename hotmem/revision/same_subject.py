"""Resolution of subjects: which stored facts are about the same person or thing as a statement.

Facts match only if the subject is certainly the same. A subject is a chain of possessors: "Ana's
daughter Mia's shoe size". Parts of the same kind differ by name ("son Max", "son Leo") or by
qualifier ("work phone number"); a kind without a name ("my son") may be any of several.
"""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

from hotmem.types import KnownSubjects
from hotmem.understanding.lexicon import (
    ANIMATE,
    POSSESSIONS,
    SHARED_ROLES,
    UNIQUE_ROLES,
)

_POSSESSIVE: Final = re.compile(r"(?<=\w)['’]s? ")
"""Separates possessor and possession: "Ana's dog", "Ana's parents' house"."""

_IRREGULAR: Final = {
    "child": "children",
    "wife": "wives",
    "fish": "fish",
    "goldfish": "goldfish",
    "calf": "calves",
}

_COUNTED: Final = (ANIMATE | POSSESSIONS) - UNIQUE_ROLES
"""People, pets and things of which somebody may have several."""


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a chain of possessors, in lower case.

    Attributes:
        words: Its kind, qualifiers first: ("older", "son"); empty if it only has a name.
        name: Its name, or "".
    """

    words: tuple[str, ...]
    name: str = ""

    @property
    def head(self) -> str:
        """The noun of its kind: "son"."""
        return self.words[-1] if self.words else ""


Chain: TypeAlias = tuple[Part, ...]


def find_same_subjects(
    subject: str, known: KnownSubjects, *, denies: bool = False
) -> frozenset[str] | None:
    """Find the stored subjects that are certainly the same as a subject, itself included.

    Returns None if the subject may be one of several.

    Args:
        subject: The subject of a new statement.
        known: The subjects of current facts.
        denies: Whether the statement is negated: "my uncle isn't the mayor any more" is about the
            uncle who was.
    """
    chain = _parse_chain(subject)
    known = _related(chain, known)
    stored: dict[Chain, set[str]] = {chain: {subject}}
    for other in known.subjects:
        stored.setdefault(_parse_chain(other), set()).add(other)
    world = _KnownChains.of(
        (*stored, *(_with_name(_parse_chain(owner), name) for owner, name, _ in known.names)), known
    )
    same = world.same(chain, denies=denies)
    return None if same is None else frozenset(text for one in same for text in stored.get(one, ()))


def is_identified(subject: str) -> bool:
    """Whether the same words always have the same referent.

    "Ana's sister Beth", "Ana's older sister" and "Ana's wife" have; "Ana's sister" and "Ana's car"
    may be any of several.
    """
    return not any(
        part.words == (part.head,) and not part.name and part.head in _COUNTED
        for part in _parse_chain(subject)[1:]
    )


def is_named(subject: str) -> bool:
    """Whether a subject is a person or thing by name, or the user, and nobody's possession."""
    return len(_parse_chain(subject)) == 1


def is_any_of_several(subject: str) -> bool:
    """Whether people mostly have several of what a subject names only by kind: "Ana's friend"."""
    last = _parse_chain(subject)[-1]
    return not last.name and last.head in SHARED_ROLES


@dataclass(frozen=True, slots=True)
class _KnownChains:
    """The subjects of current facts.

    Attributes:
        chains: Their chains, those of possessors included.
        declared: Chains whose name was stated as the only one: "my son is called Max".
        several: Possessors with a word for what they have several of: "two sons".
    """

    chains: frozenset[Chain]
    declared: frozenset[Chain]
    several: frozenset[tuple[Chain, str]]

    @classmethod
    def of(cls, chains: Collection[Chain], known: KnownSubjects) -> "_KnownChains":
        owners = frozenset(chain[:end] for chain in chains for end in range(1, len(chain) + 1))
        declared = frozenset(
            _with_name(_parse_chain(owner), name) for owner, name, sole in known.names if sole
        )
        several = frozenset(
            (_parse_chain(owner), word)
            for owner, value in known.possessions
            for word in value.casefold().split()
        )
        return cls(owners, declared, several)

    def same(self, chain: Chain, *, denies: bool = False) -> frozenset[Chain] | None:
        """The chains that certainly have the same referent; None if that is uncertain."""
        if len(chain) == 1:
            return self._by_name(chain)
        owners = self.same(chain[:-1])
        if owners is None:
            return None
        part = chain[-1]
        kin = frozenset(
            one for one in self.chains if one[:-1] in owners and one[-1].head == part.head
        )
        found = (
            self._by_kind_and_name(part, kin)
            if part.name
            else self._by_kind(part, kin, owners, denies=denies)
        )
        return None if found is None else found | {chain}

    def _by_name(self, chain: Chain) -> frozenset[Chain] | None:
        """Resolve a name: "Max" is "Ana's son Max" if no other Max is known."""
        name = chain[0].name
        bearers = frozenset(
            one
            for one in self.chains
            if len(one) > 1 and _is_short_form(one[-1].name, name) and one[0].name != name
        )
        if len({(one[:-1], one[-1].head, one[-1].name) for one in bearers}) > 1:
            return None
        return frozenset(one for one in bearers if one[-1].name == name) | {chain}

    def _by_kind_and_name(self, part: Part, kin: frozenset[Chain]) -> frozenset[Chain]:
        """Resolve "my son Max": all chains with this name, whatever their qualifiers.

        "my son" is the same only if that was stated, or if there can be only one.
        """
        namesakes = frozenset(one for one in kin if one[-1].name == part.name)
        names = {one[-1].name for one in kin if one[-1].words == part.words} - {""}
        found = set(namesakes)
        if names <= {part.name} and (part.head in UNIQUE_ROLES or namesakes & self.declared):
            found |= {one for one in kin if one[-1] == Part(part.words)}
        bare = (Part((), part.name),)
        if (
            bare in self.chains
            and (by_name := self._by_name(bare)) is not None
            and by_name & namesakes
        ):
            found.add(bare)
        return frozenset(found)

    def _by_kind(
        self, part: Part, kin: frozenset[Chain], owners: frozenset[Chain], *, denies: bool
    ) -> frozenset[Chain] | None:
        """Resolve "my son": the only one known; None if there may be several."""
        others = {
            one[-1]
            for one in kin
            if part.head in ANIMATE - UNIQUE_ROLES or one[-1].words == part.words
        } - {part}
        if part.words == (part.head,) and part.head in SHARED_ROLES and (others or not denies):
            return None
        if len(others) > 1 or any(other.words != part.words for other in others):
            return None
        plurals = set(_plurals(part.head))
        if part.head in ANIMATE and any(
            (owner, word) in self.several for owner in owners for word in plurals
        ):
            return None
        if part.head in ANIMATE and any(
            one[:-1] in owners and one[-1].head in plurals for one in self.chains
        ):
            return None
        return frozenset(one for one in kin if one[-1].words == part.words)


def _related(chain: Chain, known: KnownSubjects) -> KnownSubjects:
    """Filter the known subjects for those that share a noun or name with a chain."""
    parts = chain[1:] or chain
    words = {
        word
        for part in parts
        for word in (*(_plurals(part.head) if part.words else ()), part.head, part.name)
        if word
    }
    held = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, words))})(?!\w)", re.IGNORECASE).search
    return KnownSubjects(
        tuple(subject for subject in known.subjects if held(subject)),
        tuple(
            (subject, name, sole)
            for subject, name, sole in known.names
            if held(subject) or held(name)
        ),
        tuple((owner, value) for owner, value in known.possessions if held(value)),
    )


def _parse_chain(subject: str) -> Chain:
    first, *rest = _POSSESSIVE.split(subject)
    return (Part((), first.casefold()), *map(_parse_part, rest))


def _parse_part(text: str) -> Part:
    """Parse a part: words in lower case are its kind, a capital begins its name."""
    words = text.split()
    end = next(
        (place for place, word in enumerate(words) if place and word[:1].isupper()), len(words)
    )
    return Part(tuple(word.casefold() for word in words[:end]), " ".join(words[end:]).casefold())


def _with_name(chain: Chain, name: str) -> Chain:
    """The chain with a name for its last part; a chain of a single name stays unchanged."""
    last = chain[-1]
    return (*chain[:-1], Part(last.words, name.casefold())) if last.words else chain


def _is_short_form(full: str, name: str) -> bool:
    """Whether a name is a short form of a full name: "Anna" of "Anna Berg"."""
    return f"{full} ".startswith(f"{name} ") and bool(full)


def _plurals(noun: str) -> Iterator[str]:
    yield _IRREGULAR.get(noun, f"{noun}s")
    yield f"{noun}es"
    yield f"{noun.removesuffix('y')}ies"
    if noun in ("son", "daughter", "boy", "girl"):
        yield from ("kids", "children", "twins")
    if noun in ("brother", "sister"):
        yield "siblings"
