"""What is known, derived from what was said: a pure function of statements and recorded links.

To forget, withdraw or roll back is to take statements away and derive again. What is left is then
as if they had never been made.

    derive(all statements but some) == what the history without them would have stored
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import accumulate

from hotmem.revision.supersession import as_statement, find_supersession
from hotmem.text.validation import ascii_lower, normalize_value
from hotmem.types import StoredMemory, Supersession


@dataclass(frozen=True, slots=True)
class Said:
    """A statement, at one of the times that it was made.

    Attributes:
        memory: The stored memory that it belongs to now.
        turn: Row number of the turn; None for what was stored without one.
        said_at: When it was said, UTC.
        order_time: Its position in the order of statements.
        separate: Whether it stays a memory of its own, as a person or a correction made it so.
        corrects: Whether it is a correction, which ends only what it corrects.
    """

    memory: StoredMemory
    turn: int | None
    said_at: datetime
    order_time: datetime
    separate: bool = False
    corrects: bool = False


@dataclass(frozen=True, slots=True)
class Link:
    """A recorded effect of one memory on another.

    Attributes:
        cause: Id of the memory that ended the other, or put it in doubt.
        target: Id of the other.
        at: When that was said, UTC.
        ended: Whether it ended.
    """

    cause: str
    target: str
    at: datetime
    ended: bool


@dataclass(slots=True)
class Derived:
    """A memory as it follows from what was said.

    Attributes:
        memory: Its content and validity; the id is that of the memory of its first statement.
        said: Its statements, in the order in which they were stored.
        ended_by: What ended it.
        doubted_by: What puts it in doubt.
    """

    memory: StoredMemory
    said: list[Said]
    ended_by: "Derived | None" = None
    doubted_by: "Derived | None" = None

    def end(self, at: datetime, by: "Derived") -> None:
        """Ends it."""
        self.memory, self.ended_by = replace(self.memory, valid_until=at), by

    def doubt(self, at: datetime, by: "Derived") -> None:
        """Puts it in doubt, unless it has ended by then."""
        until = self.memory.valid_until
        if until is None or until > at:
            self.memory, self.doubted_by = replace(self.memory, doubted_at=at), by

    def lasts(self, since: datetime) -> bool:
        """Whether it holds, or was said, after a position in the order of statements."""
        until = self.memory.valid_until
        return until is None or until > since or self.memory.order_time > since

    def repeat(self, said: Said) -> None:
        """Adds a repetition; a doubt from before it ends."""
        self.said.append(said)
        memory = self.memory
        if said.order_time >= memory.order_time:
            memory = replace(memory, said_at=said.said_at, order_time=said.order_time)
        if memory.doubted_at is not None and memory.doubted_at <= said.order_time:
            memory, self.doubted_by = replace(memory, doubted_at=None), None
        self.memory = memory


@dataclass(slots=True)
class _Known:
    """The memories derived so far, by what a statement can have an effect on."""

    all: list[Derived] = field(default_factory=list)
    by_relation: defaultdict[str, list[Derived]] = field(default_factory=lambda: defaultdict(list))
    by_value: defaultdict[tuple[str, str], list[Derived]] = field(
        default_factory=lambda: defaultdict(list)
    )

    def add(self, one: Derived) -> None:
        memory = one.memory
        self.all.append(one)
        self.by_relation[memory.relation].append(one)
        self.by_value[memory.relation, normalize_value(memory.object)].append(one)

    def related(
        self, memory: StoredMemory, subjects: Collection[str], since: datetime
    ) -> list[Derived]:
        """Those of the memory's relation and subject, and value if it can have several.

        Those that nothing said from `since` on can concern are dropped.
        """
        if memory.single or memory.negated:
            found = self.by_relation[memory.relation]
            found[:] = [one for one in found if one.lasts(since)]
        else:
            found = self.by_value[memory.relation, normalize_value(memory.object)]
        return [one for one in found if ascii_lower(one.memory.subject) in subjects]


def derive(
    said: Iterable[Said],
    links: Sequence[Link] = (),
    apart: AbstractSet[tuple[str, str]] = frozenset(),
    same: Mapping[str, Collection[str] | None] = {},
) -> list[Derived]:
    """Derives memories from statements, as if these were stored one after the other.

    Args:
        said: The statements of some subjects and relations, in the order in which they were stored.
        links: Recorded effects; one counts while both of its memories do.
        apart: Ids of two memories that have no effect on each other, as a person decided.
        same: Subjects, in lower case, that are certainly the same as one, for relations of one
            value and denials; None if that is uncertain. One that is missing is itself alone.

    Returns:
        The memories, in the order of their first statements.
    """
    known = _Known()
    of: dict[str, Derived] = {}
    said = [*said]
    places = (one.order_time for one in reversed(said))
    first_left = reversed([*accumulate(places, min)])
    for one, since in zip(said, first_left, strict=True):
        subject = ascii_lower(one.memory.subject)
        any_value = one.memory.single or one.memory.negated
        subjects = same.get(subject, (subject,)) if any_value else (subject,)
        related = [
            other
            for other in known.related(one.memory, subjects or (subject,), since)
            if not {(other.memory.id, one.memory.id), (one.memory.id, other.memory.id)} & apart
        ]
        effect = _effect(one, related, certain=subjects is not None)
        found = {str(place): other for place, other in enumerate(related)}
        if effect.confirms is not None and not (one.separate and one.memory.id not in of):
            new = found[effect.confirms]
            new.repeat(one)
        elif one.turn is None and one.memory.id in of:
            continue  # nothing that it repeats holds
        else:
            new = Derived(_fresh(one), [one])
            known.add(new)
            if effect.ended_by is not None:
                new.end(found[effect.ended_by].memory.said_at, found[effect.ended_by])
        of[one.memory.id] = new
        if effect.doubted_by is not None:
            new.doubt(found[effect.doubted_by].memory.said_at, found[effect.doubted_by])
        for place in effect.ends:
            found[place].end(one.said_at, new)
        for place in effect.doubts:
            if place not in effect.ends:
                found[place].doubt(one.said_at, new)
        for link in links:
            target = of.get(link.target)
            if link.cause == one.memory.id and link.at == one.said_at and target is not None:
                _apply(link, target, new)
    return known.all


def _effect(one: Said, related: Sequence[Derived], *, certain: bool) -> Supersession:
    """What a statement does to memories, which are named by their place."""
    if one.corrects:
        return Supersession()
    places = {id(other): str(place) for place, other in enumerate(related)}
    memories = [
        replace(
            other.memory,
            id=places[id(other)],
            doubted_by=places.get(id(other.doubted_by)) if other.doubted_by else None,
        )
        for other in related
    ]
    memories.sort(key=lambda memory: (memory.order_time, int(memory.id)), reverse=True)
    return find_supersession(as_statement(one.memory), one.order_time, memories, certain=certain)


def _fresh(one: Said) -> StoredMemory:
    """The memory of a statement when it is first made."""
    return replace(
        one.memory,
        said_at=one.said_at,
        order_time=one.order_time,
        doubted_at=None,
        doubted_by=None,
    )


def _apply(link: Link, target: Derived, cause: Derived) -> None:
    """Applies a recorded effect, unless what it ended was said again since."""
    until = target.memory.valid_until
    if target is cause or target.memory.said_at > link.at:
        return
    if not link.ended:
        target.doubt(link.at, cause)
    elif until is None or until > link.at:
        target.end(link.at, cause)
