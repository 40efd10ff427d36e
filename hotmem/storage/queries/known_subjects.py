"""The subjects of a user's current facts."""

import re
from typing import Final

from hotmem.storage.database import Connection
from hotmem.text.utterance import ascii_lower
from hotmem.types import KnownSubjects, UserKey

NAMES, POSSESSES = "is called", "has"
"""Relations that state a subject's name, and what it has."""


CURRENT: Final = "m.user_key = :user AND m.valid_until IS NULL AND m.merged_into IS NULL"

SUBJECTS: Final = f"""
    SELECT min(m.subject) FROM memories m INDEXED BY memories_by_relation
    WHERE {CURRENT} AND m.subject <> ''
    GROUP BY m.relation, lower(m.subject) ORDER BY m.relation, lower(m.subject)"""
"""The subjects of each relation's current facts. All facts are read once: seeking one subject after
the other in the index is quadratic in PostgreSQL, where row level security keeps a condition that
calls a function, such as `lower`, out of index scans."""

FACTS: Final = f"""
    SELECT m.subject, m.object, m.single FROM memories m INDEXED BY memories_by_relation
    WHERE {CURRENT} AND m.relation = :relation AND m.negated = 0"""

IN_ORDER: Final = "ORDER BY lower(m.subject), m.value, m.id"


STEM_LETTERS = 3
"""Letters that a word and its plural share at least."""


_OWNED = re.compile(r"['’]s? ")
"""Separator between an owner and what is owned: "Ana's dog", "Ana's parents' house"."""


def known_subjects(conn: Connection, user: UserKey, subject: str) -> KnownSubjects:
    """Subjects of the user's current facts that share a word with a subject."""
    words = tuple(word[: max(STEM_LETTERS, len(word) - 1)] for word in _own_words(subject))
    owners = [subject[: mark.start()] for mark in _OWNED.finditer(subject)]
    similar = [
        other
        for (other,) in conn.execute(SUBJECTS, {"user": user})
        if any(word.startswith(words) for word in _own_words(other))
    ]
    owned = (
        row
        for owner in owners
        for row in conn.execute(
            f"{FACTS} AND lower(m.subject) = :owner {IN_ORDER}",
            {"user": user, "relation": POSSESSES, "owner": ascii_lower(owner)},
        )
    )
    names = conn.execute(f"{FACTS} {IN_ORDER}", {"user": user, "relation": NAMES})
    return KnownSubjects(
        tuple(dict.fromkeys(similar)),
        tuple((owner, name, bool(sole)) for owner, name, sole in names),
        tuple((owner, value) for owner, value, _ in owned),
    )


def current_subjects(conn: Connection, user: UserKey) -> tuple[str, ...]:
    """The subjects of the user's current facts, each once."""
    rows = conn.execute(SUBJECTS, {"user": user}).fetchall()
    return tuple(dict.fromkeys(subject for (subject,) in rows))


def _own_words(subject: str) -> list[str]:
    """The words of a subject without those of its first owner: "son", "max" of "Ana's son Max"."""
    return re.findall(r"\w+", _OWNED.split(subject.casefold(), maxsplit=1)[-1])
